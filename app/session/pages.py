"""The pages of one browser: one is open, and each is made and sent when it is first opened."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import panel as pn

from stickbreaker.app.model.class_tasks import Result
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.selection import Selection
from stickbreaker.app.session.tabs import DOCUMENTS, EXPORT, READING_PAGES, TIME, TOPICS
from stickbreaker.app.views.calendar import Calendar
from stickbreaker.app.views.documents import DocumentBrowser
from stickbreaker.app.views.export_panel import ExportPanel
from stickbreaker.app.views.reading_note import ReadingNote
from stickbreaker.app.views.topic_explorer import TopicExplorer
from stickbreaker.app.views.topic_life import TopicLife
from stickbreaker.app.views.topic_map import TopicMap
from stickbreaker.app.views.topic_quality import TopicQualityView
from stickbreaker.app.views.word_life import WordLife
from stickbreaker.app.widgets.layouts import fill_if_shown
from stickbreaker.engine.corpora.texts import Texts

AT_END_STYLE = """
:host { display: grid; grid-template-columns: minmax(0, 1fr); align-items: end; }
@media (min-width: 900px) { :host { grid-template-columns: minmax(0, 1fr) auto; } }
"""
SIDE_BY_SIDE_STYLE = """
:host { display: grid; grid-template-columns: minmax(0, 1fr); gap: 16px; align-items: start; }
@media (min-width: 1300px) { :host { grid-template-columns: minmax(0, 18fr) minmax(300px, 7fr); } }
"""
TOPICS_STYLE = """
:host { display: grid; grid-template-columns: minmax(0, 1fr); gap: 8px 24px; align-items: start; }
@media (min-width: 1200px) { :host { grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); } }
@media (min-width: 1350px) { :host { grid-template-columns: minmax(0, 7fr) minmax(0, 3fr); } }
@media (min-width: 1200px) { :host { grid-template-rows: auto 1fr; } .aside { grid-column: 2; grid-row: 1 / span 2; } }
"""


class Readers:
    """The views of a reading of the corpus, by page; they are made when a page that shows them is opened.

    ask: read the corpus with the current model. rename: name a topic. earlier: the runs before this one.
    find_texts: the stored texts of a corpus of the run's owner. find_results: the answers of the class.
    note_fault(event, fault): writes a failure into the log of the server; replaced by the session.
    """

    def __init__(
        self,
        selection: Selection,
        ask: Callable[[], None],
        rename: Callable[[int, str], None],
        earlier: Callable[[], tuple[Progress, ...]],
        find_texts: Callable[[str], Texts | None],
        find_results: Callable[[], tuple[Result, ...]],
    ):
        self.note = ReadingNote(ask)
        self.note_fault: Callable[[str, str], None] = lambda event, fault: None
        self._selection, self._rename, self._find_texts = selection, rename, find_texts
        self._may_act = True
        self._make = {
            TOPICS: lambda: (TopicMap(selection), TopicQualityView(selection)),
            TIME: lambda: (Calendar(selection), TopicLife(selection)),
            EXPORT: lambda: (ExportPanel(selection, earlier, find_results, self._note_fault),),
        }
        self._made: dict[str, tuple[Any, ...]] = {}

    def _note_fault(self, event: str, fault: str) -> None:
        self.note_fault(event, fault)

    @cached_property
    def explorer(self) -> TopicExplorer:
        """The selected topic in full."""
        explorer = TopicExplorer(self._selection, self._rename, self._word)
        explorer.let_act(self._may_act)
        return explorer

    @cached_property
    def _word(self) -> WordLife:
        return WordLife(self._selection)

    @cached_property
    def _documents(self) -> DocumentBrowser:
        return DocumentBrowser(self._selection, self._find_texts)

    def let_act(self, may_act: bool) -> None:
        """Allow or forbid renaming of topics."""
        self._may_act = may_act
        if "explorer" in vars(self):
            self.explorer.let_act(may_act)

    def parts(self, name: str) -> tuple[Any, ...]:
        """Return the views of a page, from top to bottom."""
        if name == DOCUMENTS:
            return (self._documents,)
        own = self._own(name)
        if name != TOPICS:
            return own
        topic_map, quality = own
        explorer = self.explorer
        return lay_topics(topic_map, explorer.chosen, explorer.others), explorer.documents, quality

    def on_page(self, name: str) -> tuple[Any, ...]:
        """Return the views that follow a reading while a page is open.

        The explorer, which selects the first topic, and the documents, which other pages open, always follow it.
        """
        word = (self._word,) if name == TOPICS else ()
        return self.note, self.explorer, self._documents, *word, *self._own(name)

    def open_export(self, is_open: bool) -> None:
        """Prepare figures for export while its page is open."""
        if is_open or EXPORT in self._made:
            (export,) = self._own(EXPORT)
            export.is_open = is_open

    def replay(self, progress: Progress) -> None:
        """Show on the Topics page how large each topic was at this moment of the run."""
        topic_map, *_ = self._own(TOPICS)
        topic_map.replay(progress)

    def close(self) -> None:
        """Release files that are being sent, at the end of the page."""
        for export in self._made.get(EXPORT, ()):
            export.close()

    def _own(self, name: str) -> tuple[Any, ...]:
        """Return the views that only this page has; the first call makes them."""
        if name not in self._made and name in self._make:
            self._made[name] = self._make[name]()
        return self._made.get(name, ())


class Pages:
    """The columns of the layout, each empty until its page is opened.

    make_parts: for each page, what returns its views. note: shown above the pages that read the corpus.
    """

    def __init__(self, make_parts: Mapping[str, Callable[[], tuple[Any, ...]]], note: Any):
        self._make_parts = make_parts
        self._note, self._note_place = note, pn.Column(sizing_mode="stretch_width", margin=0, visible=False)
        self._pages = {name: pn.Column(sizing_mode="stretch_width", margin=0, visible=False) for name in make_parts}

    @property
    def columns(self) -> tuple[pn.Column, ...]:
        """All columns, in order."""
        return self._note_place, *self._pages.values()

    def open(self, name: str) -> None:
        """Show this page and no other."""
        fill_if_shown(self._note_place, [self._note], name in READING_PAGES)
        for each, page in self._pages.items():
            page.visible = each == name
        page = self._pages[name]
        if not page.objects:
            page.objects = list(self._make_parts[name]())


def lay_side_by_side(wide: Any, narrow: Any) -> pn.Column:
    """Lay out two views side by side, or one below the other in a narrow window."""
    return pn.Column(wide, narrow, sizing_mode="stretch_width", stylesheets=[SIDE_BY_SIDE_STYLE], margin=0)


def lay_topics(topic_map: Any, topic: Any, others: Any) -> pn.Column:
    """Lay out the selected topic next to the map, so that both are seen together, or below it in a narrow window.

    Other topics are below the map, or below the topic.
    """
    aside = pn.Column(topic, css_classes=["aside"], sizing_mode="stretch_width", margin=0)
    return pn.Column(topic_map, aside, others, sizing_mode="stretch_width", stylesheets=[TOPICS_STYLE], margin=0)


def lay_at_end(wide: Any, narrow: Any) -> pn.Column:
    """Lay out a small part at the right end of a view, or below it in a narrow window."""
    return pn.Column(wide, narrow, sizing_mode="stretch_width", stylesheets=[AT_END_STYLE], margin=0)
