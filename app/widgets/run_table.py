"""A table of kept runs: tick the runs to draw, rename one in place, open one, delete one with two presses."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import param

from stickbreaker.app.fixes.page import PlainScript
from stickbreaker.app.frames.compare_frames import COLUMNS
from stickbreaker.app.widgets.scripts import read_script


@dataclass(frozen=True)
class RunActions:
    """What the table does with a run, by its key: select or deselect it, name it, delete it, open it in full."""

    tick: Callable[[str, bool], None]
    rename: Callable[[str, str], None]
    delete: Callable[[str], None]
    open: Callable[[str], None]


class RunTable(PlainScript):
    """A table of runs by key, written as text; a click or a new name calls one of its actions."""

    rows = param.List(doc="As `compare_frames.run_rows` makes them.")
    columns = param.List(default=list(COLUMNS))
    is_fixed = param.Boolean(False, doc="Whether runs cannot be renamed, opened or deleted.")
    empty = param.String(default="No kept runs yet: a run is kept when it finishes.")

    _esm = read_script(Path(__file__).with_name("run_table.js"))
    _stylesheets: ClassVar = [Path(__file__).with_name("run_table.css").read_text(encoding="utf-8")]

    def __init__(self, act: RunActions, **params: Any):
        self._act = act
        super().__init__(**{"sizing_mode": "stretch_width", "margin": (0, 10)} | params)

    def _handle_msg(self, message: Any) -> None:
        if not isinstance(message, dict) or not any(row["key"] == message.get("key") for row in self.rows):
            return
        key, value = message["key"], message.get("value")
        if message.get("do") == "tick":
            self._act.tick(key, bool(value))
        elif message.get("do") == "rename":
            self._act.rename(key, str(value))
        elif message.get("do") == "delete":
            self._act.delete(key)
        elif message.get("do") == "open":
            self._act.open(key)
