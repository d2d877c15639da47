"""A list to select from, such as topics or documents: a colour, a share as a bar, and a line of text for each."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import panel as pn
import param

from stickbreaker.app.widgets.scripts import read_script


class PickList(pn.custom.JSComponent):
    """Rows have keys; only changes are written, always as text. `on_pick(key)` is called when one is pressed."""

    rows = param.List(
        doc="One dict a row: key (int), title, color, weight (text), share (0 to 1), words, action, and if the button "
        "has a shorter text, button."
    )
    note = param.String(doc="The text above the rows, or instead of them.")

    _esm = read_script(Path(__file__).with_name("pick_list.js"))
    _stylesheets: ClassVar = [Path(__file__).with_name("pick_list.css").read_text(encoding="utf-8")]

    def __init__(self, on_pick: Callable[[int], None], **params: Any):
        self._on_pick = on_pick
        super().__init__(**{"sizing_mode": "stretch_width", "margin": (0, 10)} | params)

    def show(  # type: ignore[override]  # JSComponent.show serves a component by itself
        self, rows: list[dict[str, Any]], empty: str = "", note: str = ""
    ) -> None:
        """Show these rows under a note, or the text `empty` if there are none."""
        changes = {"rows": rows, "note": note if rows else empty}
        self.param.update(**{name: new for name, new in changes.items() if new != getattr(self, name)})

    def _handle_msg(self, message: Any) -> None:
        key = message.get("key") if isinstance(message, dict) else None
        if isinstance(key, int) and any(row["key"] == key for row in self.rows):
            self._on_pick(key)
