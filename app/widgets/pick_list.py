"""A list to select from, such as topics or documents: a colour, a share as a bar, and a line of
text for each.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import param

from stickbreaker.app.fixes.page import PlainScript
from stickbreaker.app.widgets.scripts import read_script


class PickList(PlainScript):
    """Rows have keys; only changes are written, always as text.

    on_pick(key): called when a row is pressed. on_point(key): called with the row that the pointer
    or the focus is on, and with None when it has left the rows.
    """

    rows = param.List(
        doc=(
            "One dict a row: key (int), title, color, weight (text), share (0 to 1), words, action,"
            " and if the button has a shorter text, button."
        )
    )
    note = param.String(doc="The text above the rows, or instead of them.")
    pointed = param.Integer(default=None, allow_None=True, doc="The key of the row to highlight.")
    tells_pointed = param.Boolean(
        False, doc="Whether the browser tells which row the pointer or the focus is on."
    )

    _esm = read_script(Path(__file__).with_name("pick_list.js"))
    _stylesheets: ClassVar = [Path(__file__).with_name("pick_list.css").read_text(encoding="utf-8")]

    def __init__(
        self,
        on_pick: Callable[[int], None],
        on_point: Callable[[int | None], None] | None = None,
        **params: Any,
    ):
        self._on_pick = on_pick
        self._on_point = on_point
        own = {
            "sizing_mode": "stretch_width",
            "margin": (0, 10),
            "tells_pointed": on_point is not None,
        }
        super().__init__(**own | params)

    def show(  # type: ignore[override]  # JSComponent.show serves a component by itself
        self, rows: list[dict[str, Any]], empty: str = "", note: str = ""
    ) -> None:
        """Show these rows under a note, or the text `empty` if there are none."""
        changes = {"rows": rows, "note": note if rows else empty}
        self.param.update(
            **{name: new for name, new in changes.items() if new != getattr(self, name)}
        )

    def _hear(self, message: dict[str, Any]) -> None:
        if self._has(message.get("key")):
            self._on_pick(message["key"])
        elif self._on_point is not None and "pointed" in message:
            self._on_point(message["pointed"] if self._has(message["pointed"]) else None)

    def _has(self, key: Any) -> bool:
        return isinstance(key, int) and any(row["key"] == key for row in self.rows)
