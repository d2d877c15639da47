"""A text that the user types: its words in the colours of their topics, and its topics as bars."""

from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np
import panel_material_ui as pmui
import param

from stickbreaker.app.frames.reading_frames import percent
from stickbreaker.app.frames.typed_text import TypedReading, read_typed
from stickbreaker.app.model.counting import count, only_if
from stickbreaker.app.model.reading import Model
from stickbreaker.app.state import RunState, guarded
from stickbreaker.app.theme import topic_color
from stickbreaker.app.widgets.colored_text import WORD_STYLE, prose_html
from stickbreaker.app.widgets.help_button import make_heading
from stickbreaker.app.widgets.layouts import StateView, html_pane, stack
from stickbreaker.app.widgets.pick_list import PickList
from stickbreaker.engine.algorithm import TopicSummary
from stickbreaker.engine.corpora.rows import CorpusError

TITLE = "Type a text"
HELP = (
    "The current model infers the topics of your text, as of any document. Words that are not in"
    " its vocabulary do not count. The model does not learn from it."
)
MOST_LETTERS = 20_000
MOST_TOPICS = 5
LEAST_SHARE = 0.02
NUM_LISTED = 8


class TypedText(StateView):
    """Reads a text with the model of the moment, at once as the user types.

    find_model() -> the current model; None before its first mini-batch.
    """

    def __init__(self, state: RunState, find_model: Callable[[], Model | None]) -> None:
        super().__init__(state)
        self._find_model = find_model
        self._summary: tuple[Any, TopicSummary] | None = None
        self.text = pmui.TextAreaInput(
            label="Your text",
            placeholder="For example: The canal at Panama was built by engineers of the army.",
            max_length=MOST_LETTERS,
            rows=2,
            auto_grow=True,
            max_rows=8,
            sizing_mode="stretch_width",
        )
        self.text.param.watch(lambda event: self._read(), "value_input")
        self.said = html_pane(stylesheets=[WORD_STYLE])
        self.topics = PickList(self._pick)
        self._layout = stack(make_heading(TITLE, "", HELP), self.text, self.said, self.topics)

    @param.depends("state.progress", "state.titles", watch=True)
    @guarded
    def _follow(self) -> None:
        """Read the text again with a model that has learned more."""
        if self.text.value_input:
            self._read()

    @guarded
    def _read(self) -> None:
        text = self.text.value_input or ""
        model = self._find_model()
        if not text.strip():
            self.said.object = ""
            self.topics.show([])
            return
        if model is None:
            self.said.object = "<p>The model reads your text after its first mini-batch.</p>"
            return
        summary = self._summarize(model)
        try:
            reading = read_typed(model, summary, text)
        except CorpusError as error:
            self.said.object = f"<p>{escape(str(error))}</p>"
            self.topics.show([])
            return
        title = self.state.progress.topic_title
        by = f"Read with the model after {count(model.documents_seen, 'document')}."
        self.said.object = f"{prose_html(reading.pieces, title)}<p>{by} {describe(reading)}</p>"
        order = np.argsort(-reading.shares, kind="stable")[:MOST_TOPICS]
        shown = [place for place in order if reading.shares[place] >= LEAST_SHARE]
        self.topics.show([self._row(model, summary, reading, place) for place in shown])

    def _summarize(self, model: Model) -> TopicSummary:
        if self._summary is None or self._summary[0] is not model.state:
            self._summary = (model.state, model.algorithm.summarize(model.config, model.state))
        return self._summary[1]

    def _row(
        self, model: Model, summary: TopicSummary, reading: TypedReading, place: int
    ) -> dict[str, Any]:
        topic_id = int(summary.topic_ids[place])
        words = np.argsort(-summary.topics[place], kind="stable")[:5]
        return {
            "key": topic_id,
            "title": self.state.progress.topic_title(topic_id),
            "color": topic_color(topic_id),
            "weight": percent(reading.shares[place]),
            "share": float(reading.shares[place]),
            "words": " ".join(model.corpus.vocabulary[int(word)] for word in words),
            "action": "select",
        }

    def _pick(self, topic_id: int) -> None:
        self.state.topic = topic_id


def describe(reading: TypedReading) -> str:
    """Say how many words counted, and which ones did not, as HTML."""
    number = sum(piece.topic_id is not None for piece in reading.pieces)
    said = f"{number:,} of {count(reading.num_words, 'word')} counted."
    if not reading.unknown:
        return said
    listed = ", ".join(map(escape, reading.unknown[:NUM_LISTED]))
    more = len(reading.unknown) - NUM_LISTED
    others = only_if(more > 0, f" and {more:,} more")
    return f"{said} Not in the vocabulary: {listed}{others}."
