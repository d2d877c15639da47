"""A list of things to pick from, each with a colour, a share as a bar, and a line of text: topics, documents."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import panel as pn
import param


class PickList(pn.custom.JSComponent):
    """Rows are kept by key, and only what differs is written, always as text. `on_pick(key)` is called at a press."""

    rows = param.List(doc="One dict a row: key (int), title, color, weight (text), share (0 to 1), words, action.")
    note = param.String(doc="What to say above the rows, or where there is none.")

    _esm = Path(__file__).with_name("pick_list.js")

    _stylesheets: ClassVar = [Path(__file__).with_name("pick_list.css").read_text(encoding="utf-8")]

    def __init__(self, on_pick: Callable[[int], None], **params: Any):
        self._on_pick = on_pick
        super().__init__(**{"sizing_mode": "stretch_width", "margin": (0, 10)} | params)

    def show(self, rows: list[dict], empty: str = "", note: str = "") -> None:
        """Show these rows under a note, or what to say where there is none."""
        changes = {"rows": rows, "note": note if rows else empty}
        self.param.update(**{name: new for name, new in changes.items() if new != getattr(self, name)})

    def _handle_msg(self, message: Any) -> None:
        key = message.get("key") if isinstance(message, dict) else None
        if any(row["key"] == key for row in self.rows):
            self._on_pick(int(key))
