"""A table of topics with numbers by which a user sorts; a press of a topic's name selects it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import param

from stickbreaker.app.fixes.page import PlainScript
from stickbreaker.app.frames.quality_frames import COLUMNS
from stickbreaker.app.widgets.scripts import read_script


class TopicTable(PlainScript):
    """Topics by id, written as text; a press of a name calls `choose(topic_id)`."""

    rows = param.List(doc="As `quality_frames.quality_rows` makes them.")
    columns = param.List(default=list(COLUMNS))
    chosen = param.Integer(default=None, allow_None=True, doc="The id of the selected topic.")
    empty = param.String(default="")

    _esm = read_script(Path(__file__).with_name("topic_table.js"))
    _stylesheets: ClassVar = [
        Path(__file__).with_name("topic_table.css").read_text(encoding="utf-8")
    ]

    def __init__(self, choose: Callable[[int], None], **params: Any):
        self._choose = choose
        super().__init__(**{"sizing_mode": "stretch_width", "margin": (0, 10)} | params)

    def _hear(self, message: dict[str, Any]) -> None:
        found = [row["key"] for row in self.rows if row["key"] == message.get("key")]
        if found:
            self._choose(found[0])
