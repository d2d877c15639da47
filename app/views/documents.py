"""Documents found by word, topic, date or title; one of them with its topics and its words by topic."""

from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui
from panel.viewable import Viewer

from stickbreaker.app.frames.progress_frames import date_text
from stickbreaker.app.frames.reading_frames import (
    NUM_FOUND,
    Title,
    document_row,
    find_documents,
    read_shares,
    share_rows,
    word_topics,
)
from stickbreaker.app.model.counting import count
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import Reading, ReadingJob
from stickbreaker.app.model.selection import Selection
from stickbreaker.app.theme import topic_color
from stickbreaker.app.widgets.pick_list import PickList

LINES = ("solid", "double", "dotted", "dashed", "wavy")
HEADING = (
    "<h2 style='margin:0'>Documents</h2><p style='margin:4px 0'>If a span of time is selected on the page Time, "
    "only its documents are listed.</p>"
)
WORD_STYLE = """
.words { line-height: 1.9; font-size: 15px; margin: 6px 0; overflow-wrap: anywhere; }
.words span { text-decoration-thickness: 2px; text-underline-offset: 4px; margin-right: .5em; }
.words sub { font-size: 11px; opacity: .8; }
h3 { margin: 4px 0; } p { margin: 4px 0; font-size: 14px; }
"""


class DocumentBrowser(Viewer):
    """The list of documents and one document. It follows the selected document, topic and span."""

    def __init__(self, selection: Selection, **params: Any) -> None:
        super().__init__(**params)
        self._selection = selection
        self._job, self._progress = ReadingJob(), Progress()
        shared: dict[str, Any] = {"size": "small", "sizing_mode": "stretch_width"}
        hint = "part of a title, or a word, then Enter"
        self._search = pmui.TextInput(label="Find documents", placeholder=hint, **shared)
        self._topic = pmui.Checkbox(label="Selected topic only", value=True)
        self._order = pmui.RadioButtonGroup(label="Sorted by", options=["share", "date"], value="share", size="small")
        self.count = pn.pane.HTML("", sizing_mode="stretch_width", margin=(0, 10))
        self._found, self.topics = PickList(self._open), PickList(self._pick_topic)
        self.words = pn.pane.HTML("", stylesheets=[WORD_STYLE], sizing_mode="stretch_width", margin=(0, 10))
        for widget in (self._search, self._topic, self._order):
            widget.param.watch(lambda event: self._draw_found(), "value")
        selection.param.watch(lambda *events: self._draw_found(), ["topic", "span"])
        selection.param.watch(lambda event: self._draw_document(), "document")
        self._layout = self._lay_out()
        self._draw_found()
        self._draw_document()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def _lay_out(self) -> pn.viewable.Viewable:
        flex = {"flex": "1 1 420px", "min-width": "0"}
        left = pn.Column(
            self._search, self._topic, self._order, self.count, self._found, sizing_mode="stretch_width", styles=flex
        )
        right = pn.Column(self.words, self.topics, sizing_mode="stretch_width", styles=flex)
        heading = pn.pane.HTML(HEADING, sizing_mode="stretch_width", margin=(10, 10, 0, 10))
        parts = pn.FlexBox(left, right, gap="24px", align_items="flex-start", sizing_mode="stretch_width")
        return pn.Column(heading, parts, sizing_mode="stretch_width", margin=0)

    def read(self, job: ReadingJob, progress: Progress) -> None:
        """Show the documents of a reading."""
        before, names = self._job.reading, self._progress.titles
        self._job, self._progress = job, progress
        if before is not job.reading or names != progress.titles:
            self._draw_found()
            self._draw_document()

    def _reading(self) -> Reading | None:
        reading = self._job.reading
        return reading if reading is not None and reading.doc_shares is not None else None

    def _draw_found(self) -> None:
        reading = self._reading()
        if reading is None:
            self.count.object = ""
            self._found.show([], "Available once all documents have been read.")
            return
        topic_id: int | None = self._selection.topic if self._topic.value else None
        position = reading.position(topic_id)
        rows = find_documents(reading, self._search.value, position, self._selection.span, self._order.value)
        more = f", the first {NUM_FOUND} are listed" if len(rows) > NUM_FOUND else ""
        of_topic = topic_id if position is not None else None
        about = f" with {self._progress.topic_title(of_topic)}" if of_topic is not None else ""
        self.count.object = f"<p style='margin:4px 0'>{count(len(rows), 'document')}{escape(about)}{more}</p>"
        color = topic_color(of_topic) if of_topic is not None else ""
        shares = None if position is None else read_shares(reading)[:, [position]].todense()
        listed = [
            document_row(reading, row, 0.0 if shares is None else float(shares[row, 0]), color)
            for row in rows[:NUM_FOUND]
        ]
        self._found.show(listed, "No matching documents.")

    def _draw_document(self) -> None:
        reading, row = self._reading(), self._selection.document
        if reading is None or row is None or row >= reading.corpus.num_documents:
            self.words.object = "<p>Open a document to see its topics and words.</p>"
            self.topics.show([])
            return
        self.topics.show(share_rows(reading, row, self._progress.topic_title), "This document has no words.")
        self.words.object = document_html(reading, row, self._progress.topic_title)

    def _open(self, row: int) -> None:
        self._selection.document = row

    def _pick_topic(self, topic_id: int) -> None:
        self._selection.topic = topic_id


def document_html(reading: Reading, row: int, title: Title) -> str:
    """Write a document's words, each underlined in the colour and pattern of its likeliest topic."""
    corpus, words = reading.corpus, word_topics(reading, row)
    order = list(dict.fromkeys(topic_id for *_, topic_id in words))
    lines = {topic_id: LINES[place % len(LINES)] for place, topic_id in enumerate(order)}
    spans = [
        f'<span style="text-decoration: underline {lines[topic_id]} {topic_color(topic_id)}"'
        f' title="{escape(title(topic_id))}">{escape(word)}{f"<sub>×{count}</sub>" if count > 1 else ""}</span>'
        for word, count, topic_id in words
    ]
    head = f"<h3>{escape(str(corpus.titles[row]))}</h3><p>{escape(date_text(corpus.dates[row]))}</p>"
    note = "<p>Words are grouped by topic, starting with the main topic, not in the order of the text.</p>"
    return f"{head}{note}<div class='words'>{' '.join(spans)}</div>"
