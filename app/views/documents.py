"""Documents found by word, topic, date or title.

One of them with its topics, and its text or its counted words.
"""

from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np
import panel as pn
import panel_material_ui as pmui
import param

from stickbreaker.app.frames.pictures import document_html
from stickbreaker.app.frames.progress_frames import date_text
from stickbreaker.app.frames.prose import snippet, tint
from stickbreaker.app.frames.reading_frames import (
    NUM_FOUND,
    document_row,
    find_documents,
    read_shares,
    share_rows,
)
from stickbreaker.app.model.counting import count, only_if
from stickbreaker.app.model.reading import Reading
from stickbreaker.app.state import EARLIEST, LATEST, RunState, guarded
from stickbreaker.app.theme import topic_color
from stickbreaker.app.widgets.colored_text import WORD_STYLE, counts_html, prose_html
from stickbreaker.app.widgets.help_button import heading_html, make_heading
from stickbreaker.app.widgets.layouts import Reveal, StateView, html_pane, stack
from stickbreaker.app.widgets.pick_list import PickList
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.texts import TEXT_COMMANDS, Texts, find_texts

# A topic of less is often a few words that other topics have too.
LEAST_PERCENT = 10
TITLE = "Documents"
OF_DATES = "If a date range is selected on the Time page, only documents in that range are listed."
# Next to the list, the document stays in view while the list is scrolled.
STAYS_STYLE = """
@media (min-width: 1250px) {
  :host { position: sticky; top: 0; max-height: calc(100vh - 72px); overflow: hidden auto; }
}
"""


class DocumentBrowser(StateView):
    """The list of documents and one document. It follows the selected document, topic and span.

    find_texts: finds the stored texts of a corpus by its name; None if it has none.
    """

    def __init__(
        self, state: RunState, find_texts: Callable[[str], Texts | None] = find_texts
    ) -> None:
        super().__init__(state)
        self._find_texts = find_texts
        shared: dict[str, Any] = {"size": "small", "sizing_mode": "stretch_width"}
        hint = "a word, or part of a title or text, then Enter"
        self.search = pmui.TextInput(label="Find documents", placeholder=hint, **shared)
        self._is_by_topic = True
        self.filters = {name: self._make_filter(name) for name in ("topic", "span", "words")}
        self.least = pmui.IntSlider(
            label="Minimum topic share, %",
            start=1,
            end=100,
            value=LEAST_PERCENT,
            margin=(5, 20),
            **shared,
        )
        orders = {"Share": "share", "Date": "date"}
        self._order = pmui.RadioButtonGroup(
            label="Sort by", options=orders, value="share", size="small"
        )
        self.heading = make_heading(TITLE, "")
        self.count = html_pane()
        self.found = PickList(self._open)
        self.topics = PickList(self._pick_topic)
        self.words = html_pane(stylesheets=[WORD_STYLE])
        self.before = pmui.Button(
            icon="arrow_back", variant="text", size="small", on_click=lambda event: self._move(-1)
        )
        self.after = pmui.Button(
            end_icon="arrow_forward",
            variant="text",
            size="small",
            on_click=lambda event: self._move(1),
        )
        # A document that opens the page for the first time is scrolled into view too.
        self._reveal = Reveal(
            number=min(1, state.num_opened), margin=0, sizing_mode="stretch_width"
        )
        for widget in (self.search, self.least, self._order):
            widget.param.watch(lambda event: self._draw_found(), "value")
        self._layout = self._lay_out()
        self._draw_found()
        self._draw_document()

    def _lay_out(self) -> pn.viewable.Viewable:
        flex = {"flex": "1 1 420px", "min-width": "0"}
        left = stack(
            self.search,
            self.least,
            self._order,
            pn.FlexBox(*self.filters.values(), gap="4px", margin=(6, 10, 0, 10)),
            self.count,
            self.found,
            styles=flex,
        )
        neighbours = pn.FlexBox(
            self.before, self.after, justify_content="space-between", sizing_mode="stretch_width"
        )
        document = (self._reveal, neighbours, self.words, self.topics)
        right = stack(*document, styles=flex, stylesheets=[STAYS_STYLE])
        parts = pn.FlexBox(
            left, right, gap="24px", align_items="flex-start", sizing_mode="stretch_width"
        )
        return stack(self.heading, parts)

    def _reading(self) -> Reading | None:
        reading = self.state.reading
        return reading if reading is not None and reading.doc_shares is not None else None

    def _texts(self, reading: Reading) -> Texts | None:
        """The texts of the corpus; None if they are not stored or cannot be found any more."""
        try:
            return self._find_texts(reading.corpus.name)
        except CorpusError:
            return None

    def _make_filter(self, name: str) -> pmui.Button:
        """A button that shows a filter of the list, and removes it."""
        return pmui.Button(
            end_icon="close",
            variant="outlined",
            size="small",
            margin=0,
            visible=False,
            on_click=lambda event: self._remove(name),
        )

    def _remove(self, name: str) -> None:
        """Remove a filter; that of the selected topic comes back at the next press."""
        if name == "span":
            self.state.span = None
        elif name == "words":
            self.search.value = ""
        else:
            self._is_by_topic = not self._is_by_topic
            self._draw_found()

    @param.depends("state.topic", "state.num_picked", watch=True)
    @guarded
    def _follow_topic(self) -> None:
        self._is_by_topic = True
        self._draw_found()

    @param.depends("state.reading", "state.titles", "state.span", watch=True)
    @guarded
    def _draw_found(self) -> None:
        reading = self._reading()
        if reading is None:
            self.count.object = ""
            self.found.show([], "Available once all documents have been read.")
            return
        has_dates = reading.corpus.has_dates
        self.heading.object = heading_html(TITLE, "", OF_DATES * has_dates)
        self._order.visible = has_dates
        position = reading.position(self.state.topic)
        is_by_topic = self._is_by_topic and position is not None
        topic = (position, self.least.value / 100) if is_by_topic else None
        self.least.visible = is_by_topic
        asked = str(self.search.value)
        self._draw_filters(asked, position is not None)
        texts = self._texts(reading)
        try:
            in_text = texts.find(asked) if texts is not None and asked else None
            filters = {"topic": topic, "span": self.state.span, "words": (asked, in_text)}
            rows = self._find(reading, **filters)
            shown = rows[:NUM_FOUND]
            pieces = [""] * len(shown)
            if texts is not None:
                pieces = [snippet(text, asked) for text in texts.read(shown)]
        except CorpusError as error:
            self.count.object = ""
            self.found.show([], str(error))
            return
        said = f"{count(len(rows), 'document')}."
        if len(rows) > NUM_FOUND:
            said = f"{count(len(rows), 'document')}; the first {NUM_FOUND} are listed."
        if not len(rows):
            nothing = {"topic": None, "span": None, "words": ("", None)}
            others = {
                name: len(self._find(reading, **filters | {name: nothing[name]}))
                for name, chip in self.filters.items()
                if chip.visible and filters[name] != nothing[name]
            }
            said += "".join(
                f" Without “{self.filters[name].label}”: {count(number, 'document')}."
                for name, number in others.items()
                if number
            )
        self.count.object = f"<p style='margin:4px 0'>{escape(said)}</p>"
        color = ""
        shares = np.zeros(len(shown))
        if topic is not None:
            color = topic_color(self.state.topic)
            shares = read_shares(reading)[shown][:, [topic[0]]].toarray().ravel()
        listed = [
            document_row(reading, row, float(share), color, piece)
            for row, share, piece in zip(shown, shares, pieces, strict=True)
        ]
        self.found.show(listed, "No matching documents.")

    def _find(self, reading: Reading, topic: Any, span: Any, words: Any) -> np.ndarray:
        asked, in_text = words
        return find_documents(reading, asked, topic, span, self._order.value, in_text)

    def _draw_filters(self, asked: str, has_topic: bool) -> None:
        """Show what filters the list."""
        labels = dict.fromkeys(self.filters, "")
        if has_topic and self.state.topic is not None:
            title = self.state.progress.topic_title(self.state.topic)
            least = only_if(self._is_by_topic, f", at least {self.least.value} %")
            labels["topic"] = f"topic {title}{least}"
        if self.state.span is not None:
            labels["span"] = describe_span(self.state.span)
        if asked:
            labels["words"] = f"contains {asked}"
        for name, label in labels.items():
            icon = "close" if name != "topic" or self._is_by_topic else "add"
            self.filters[name].param.update(label=label, visible=bool(label), end_icon=icon)

    @param.depends("state.document", "state.num_opened", watch=True)
    @guarded
    def _follow_document(self) -> None:
        self._draw_document()
        if self.state.document is not None:
            self._reveal.number += 1

    @param.depends("state.reading", "state.titles", watch=True)
    @guarded
    def _draw_document(self) -> None:
        reading = self._reading()
        row = self.state.document
        if reading is None or row is None or row >= reading.corpus.num_documents:
            self.words.object = (
                "<p>Open a document to see its text or its words, and its topics.</p>"
            )
            self.topics.show([])
            self.before.visible = self.after.visible = False
            return
        titles = reading.corpus.titles
        self.before.param.update(visible=row > 0, label=str(titles[row - 1]))
        self.after.param.update(
            visible=row + 1 < len(titles), label=str(titles[min(row + 1, len(titles) - 1)])
        )
        self.topics.show(
            share_rows(reading, row, self.state.progress.topic_title), "This document has no words."
        )
        texts = self._texts(reading)
        title = self.state.progress.topic_title
        body = ""
        picture = document_html(reading.corpus, row)
        missing = picture or explain_missing_text(reading.corpus.name)
        try:
            if texts is not None:
                body = prose_html(tint(reading, row, texts.read([row])[0]), title)
        except CorpusError as error:
            missing = escape(str(error))
        date = escape(date_text(reading.corpus.dates[row]))
        head = f"<h3>{escape(str(titles[row]))}</h3><p>{date}</p>"
        self.words.object = head + (body or counts_html(reading, row, title, missing))

    def _move(self, by: int) -> None:
        """Open a neighbour of the document, in the order of the corpus."""
        if self.state.document is not None:
            self.state.document += by

    def _open(self, row: int) -> None:
        self.state.open_document(row)

    def _pick_topic(self, topic_id: int) -> None:
        self.state.topic = topic_id


def describe_span(span: tuple[Any, Any]) -> str:
    """Name a span of dates, which can be open at one end.

    >>> describe_span((np.datetime64("1860"), LATEST))
    'from 1860'
    """
    start, end = span
    if start == EARLIEST:
        return f"until {date_text(end)}"
    if end == LATEST:
        return f"from {date_text(start)}"
    return f"{date_text(start)} to {date_text(end)}"


def explain_missing_text(corpus_name: str) -> str:
    """Say how the texts of a corpus can be stored, as HTML; one click selects the whole command."""
    command = TEXT_COMMANDS.get(corpus_name)
    if command is None:
        return (
            "This corpus was built without its text. To read it, build it again with “Keep the"
            " document text”."
        )
    return (
        "This corpus contains word counts only. To read its text here, run <code"
        f" style='user-select: all'>{escape(command)}</code> in a checkout of the project."
    )
