"""The stick: a piece for each topic in use, as long as its share of the tokens."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import param

from stickbreaker.app.fixes.page import PlainScript
from stickbreaker.app.frames.word_table import list_shares
from stickbreaker.app.state import RunState, guarded
from stickbreaker.app.theme import ink_on, topic_color
from stickbreaker.app.widgets.layouts import StateView
from stickbreaker.app.widgets.scripts import read_script


class StickPieces(PlainScript):
    """The pieces in HTML, in the order of the topics' ids, so that they keep their places.

    Sends {"key": id} when a piece is pressed, and {"pointed": id or None} for the piece that the
    pointer or the focus is on.
    """

    ids = param.List(item_type=int)
    shares = param.List(item_type=float)
    titles = param.List(item_type=str)
    colors = param.List(item_type=str)
    inks = param.List(item_type=str, doc="Colours of the texts on the pieces.")
    topic = param.Integer(default=None, allow_None=True, doc="The selected topic.")
    pointed = param.Integer(default=None, allow_None=True, doc="The topic to highlight.")

    _esm = read_script(Path(__file__).with_name("stick.js"))
    _stylesheets: ClassVar = [Path(__file__).with_name("stick.css").read_text(encoding="utf-8")]

    def __init__(self, take: Callable[[dict[str, Any]], None], **params: Any):
        super().__init__(**params)
        self._take = take

    def _hear(self, message: dict[str, Any]) -> None:
        self._take(message)


class Stick(StateView):
    """The stick of the run; it sets the topic that is pointed at and the one that is selected."""

    def __init__(self, state: RunState) -> None:
        super().__init__(state)
        self.pieces = self._layout = StickPieces(self._take, sizing_mode="stretch_width", margin=0)
        self._draw()

    @param.depends("state.shown", "state.titles", watch=True)
    @guarded
    def _draw(self) -> None:
        shares = list_shares(self.state.shown.now)
        ids = list(shares)
        changes: dict[str, Any] = {
            "ids": ids,
            "shares": list(shares.values()),
            "titles": [self.state.shown.topic_title(topic_id) for topic_id in ids],
        }
        if ids != self.pieces.ids:
            colors = [topic_color(topic_id) for topic_id in ids]
            changes |= {"colors": colors, "inks": [ink_on(color) for color in colors]}
        self.pieces.param.update(
            **{name: new for name, new in changes.items() if new != getattr(self.pieces, name)}
        )

    @param.depends("state.topic", "state.pointed_topic", watch=True)
    @guarded
    def _mark(self) -> None:
        self.pieces.param.update(topic=self.state.topic, pointed=self.state.pointed_topic)

    def _take(self, said: dict[str, Any]) -> None:
        """Take what the browser tells, if it is about a piece."""
        pieces = self.pieces.ids
        if said.get("key") in pieces:
            self.state.pick_topic(said["key"])
        elif "pointed" in said and said["pointed"] in (None, *pieces):
            self.state.pointed_topic = said["pointed"]
