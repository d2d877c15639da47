"""One topic in full: its name, its words by relevance, its nearest topics, and its most typical documents."""

from collections.abc import Callable
from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui
from panel.viewable import Viewer

from stickbreaker.app.frames.progress_frames import NO_TOPIC
from stickbreaker.app.frames.reading_frames import (
    holder_rows,
    nearest_rows,
    percent,
    topic_options,
    topic_share,
    typical_rows,
    word_rows,
)
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import Reading, ReadingJob
from stickbreaker.app.model.selection import Selection
from stickbreaker.app.widgets.pick_list import PickList

RELEVANCE = 0.6
EMPTY = "Nothing to show yet."


class TopicExplorer(Viewer):
    """Follows the selection's topic and word, and sets them. `rename(topic_id, name)` is called with a new name.

    of_word: more about the chosen word, to stand below the topics that hold it.
    """

    def __init__(self, selection: Selection, rename: Callable[[int, str], None], of_word: Any = None, **params):
        super().__init__(**params)
        self._of_word = of_word
        self._selection, self._rename = selection, rename
        self._reading: Reading | None = None
        self._progress = Progress()
        self._is_writing = False
        self._topic = pmui.Select(label="Topic", options={}, size="small", sizing_mode="stretch_width")
        self._search = pmui.TextInput(
            label="Find topics by a word",
            placeholder="a word of the corpus, then Enter",
            size="small",
            sizing_mode="stretch_width",
        )
        self._name = pmui.TextInput(
            label="Its name",
            placeholder="a name of your own, then Enter",
            size="small",
            sizing_mode="stretch_width",
            max_length=60,
        )
        self._weight = pmui.FloatSlider(
            label="Relevance λ",
            start=0.0,
            end=1.0,
            step=0.05,
            value=RELEVANCE,
            size="small",
            margin=(5, 20),
            sizing_mode="stretch_width",
        )
        self._words, self._holders = PickList(self._pick_word), PickList(self._pick_topic)
        self._near, self._typical = PickList(self._pick_topic), PickList(self._pick_document)
        self._facts, self._holders_heading = _text(), _heading("")
        self._watch()
        self._layout = self._lay_out()
        self._draw()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def let_act(self, may_act: bool) -> None:
        """Let the topic be renamed or not."""
        self._name.disabled = not may_act

    def read(self, job: ReadingJob, progress: Progress) -> None:
        """Show what a reading says; the largest topic until one is chosen."""
        is_same = job.reading is self._reading and dict(progress.names) == dict(self._progress.names)
        self._reading, self._progress = job.reading, progress
        if is_same:
            return
        reading = self._reading
        is_present = reading is not None and reading.model.run_id == progress.run_id
        if is_present and reading.position(self._selection.topic) is None and len(reading.used):
            self._selection.topic = int(reading.summary.topic_ids[reading.used[0]])
        self._draw()

    def _watch(self) -> None:
        self._topic.param.watch(self._choose, "value")
        self._name.param.watch(self._take_name, "value")
        self._search.param.watch(self._take_word, "value")
        self._weight.param.watch(lambda event: self._draw_words(), "value_throttled")
        self._selection.param.watch(lambda *events: self._draw(), ["topic", "span"])
        self._selection.param.watch(lambda event: self._draw_holders(), "word")

    def _lay_out(self) -> pn.viewable.Viewable:
        left = pn.Column(
            self._topic,
            self._name,
            self._facts,
            _heading("Words"),
            self._weight,
            _text(
                "1 ranks words by their probability in the topic, 0 by how much more often it has them than the corpus."
            ),
            self._words,
            sizing_mode="stretch_width",
            styles={"flex": "1 1 420px", "min-width": "0"},
        )
        right = pn.Column(
            self._search,
            self._holders_heading,
            self._holders,
            *([] if self._of_word is None else [self._of_word]),
            _heading("Nearest topics"),
            self._near,
            _heading("Most typical documents"),
            self._typical,
            sizing_mode="stretch_width",
            styles={"flex": "1 1 420px", "min-width": "0"},
        )
        return pn.FlexBox(left, right, gap="24px", align_items="flex-start", sizing_mode="stretch_width")

    def _position(self) -> int | None:
        position = None if self._reading is None else self._reading.position(self._selection.topic)
        return position if position is not None and position in self._reading.used else None

    def _draw(self) -> None:
        reading, position = self._reading, self._position()
        self._is_writing = True
        try:
            options = {} if reading is None else topic_options(reading, self._progress.topic_title)
            self._topic.param.update(options=options, value=None if position is None else self._selection.topic)
            # The page's select knows its value by its label, which may be another now.
            if position is not None:
                self._topic.param.trigger("value")
            self._name.value = self._progress.names.get(self._selection.topic, "")
        finally:
            self._is_writing = False
        with pn.io.hold():
            self._draw_words()
            self._draw_holders()
            self._draw_neighbours(reading, position)

    def _explain(self) -> str:
        """What lists say that are empty since there is no topic to choose."""
        return EMPTY if self._reading is None or len(self._reading.used) else NO_TOPIC

    def _draw_words(self) -> None:
        position = self._position()
        rows = [] if position is None else word_rows(self._reading, position, self._weight.value)
        self._words.show(rows, self._explain())
        text = ""
        if position is not None:
            tokens = self._reading.summary.expected_tokens[position]
            text = f"{percent(topic_share(self._reading, position))} of all words, about {tokens:,.0f} of them."
        self._facts.object = _paragraph(text)

    def _draw_neighbours(self, reading: Reading | None, position: int | None) -> None:
        title = self._progress.topic_title
        self._near.show([] if position is None else nearest_rows(reading, position, title), self._explain())
        has_documents = position is not None and reading.doc_shares is not None
        rows = typical_rows(reading, position, self._selection.span) if has_documents else []
        awaited = self._explain() if position is None else "They come once all are read."
        self._typical.show(rows, "No document is about it." if has_documents else awaited)

    def _draw_holders(self) -> None:
        word, reading = self._selection.word, self._reading
        if reading is None or word is None or word >= len(reading.corpus.vocabulary):
            self._holders_heading.object, rows = "", []
        else:
            self._holders_heading.object = _heading_html(f"Topics that hold “{reading.corpus.vocabulary[word]}”")
            rows = holder_rows(reading, word, self._progress.topic_title)
        self._holders.show(rows)

    def _choose(self, event) -> None:
        if not self._is_writing and event.new is not None:
            self._selection.topic = int(event.new)

    def _take_name(self, event) -> None:
        if not self._is_writing and self._selection.topic is not None:
            self._rename(self._selection.topic, event.new)

    def _take_word(self, event) -> None:
        if self._reading is None or not event.new.strip():
            return
        try:
            self._selection.word = self._reading.corpus.vocabulary.index(event.new.strip().casefold())
            self._search.param.update(error_state=False, helper_text="")
        except KeyError as error:
            self._selection.word = None
            self._search.param.update(error_state=True, helper_text=str(error.args[0]))

    def _pick_topic(self, topic_id: int) -> None:
        self._selection.topic = topic_id

    def _pick_word(self, word: int) -> None:
        self._selection.word = word

    def _pick_document(self, row: int) -> None:
        self._selection.document = row


def _heading(text: str) -> pn.pane.HTML:
    return pn.pane.HTML(_heading_html(text), sizing_mode="stretch_width", margin=(8, 10, 0, 10))


def _heading_html(text: str) -> str:
    return f"<h2 style='margin:4px 0;font-size:16px'>{escape(text)}</h2>" if text else ""


def _text(text: str = "") -> pn.pane.HTML:
    return pn.pane.HTML(_paragraph(text), sizing_mode="stretch_width", margin=(0, 10))


def _paragraph(text: str) -> str:
    return f"<p style='margin:0;font-size:13px'>{text}</p>" if text else ""
