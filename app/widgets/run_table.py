"""A table of kept runs: tick the runs to draw, rename one in place, open one, delete one with two
presses.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import param

from stickbreaker.app.fixes.page import PlainScript
from stickbreaker.app.frames.compare_frames import COLUMNS
from stickbreaker.app.widgets.scripts import read_script


class RunTable(PlainScript):
    """A table of runs by key, written as text.

    tick(key, is_ticked), rename(key, name), delete(key) and open(key) are called when the user asks
    for it.
    """

    rows = param.List(doc="As `compare_frames.run_rows` makes them.")
    columns = param.List(default=list(COLUMNS))
    is_fixed = param.Boolean(False, doc="Whether runs cannot be renamed, opened or deleted.")
    empty = param.String(default="No kept runs yet: a run is kept when it finishes.")

    _esm = read_script(Path(__file__).with_name("run_table.js"))
    _stylesheets: ClassVar = [Path(__file__).with_name("run_table.css").read_text(encoding="utf-8")]

    def __init__(
        self,
        tick: Callable[[str, bool], None],
        rename: Callable[[str, str], None],
        delete: Callable[[str], None],
        open: Callable[[str], None],
        **params: Any,
    ):
        self._on_tick = tick
        self._on_rename = rename
        self._on_delete = delete
        self._on_open = open
        super().__init__(**{"sizing_mode": "stretch_width", "margin": (0, 10)} | params)

    def _hear(self, message: dict[str, Any]) -> None:
        key: Any = message.get("key")
        value = message.get("value")
        if all(row["key"] != key for row in self.rows):
            return
        if message.get("do") == "tick":
            self._on_tick(key, bool(value))
        elif message.get("do") == "rename":
            self._on_rename(key, str(value))
        elif message.get("do") == "delete":
            self._on_delete(key)
        elif message.get("do") == "open":
            self._on_open(key)
