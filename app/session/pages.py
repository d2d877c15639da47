"""The pages of one browser: one of them is open; each is sent, and most of it made, when it is first opened."""

from collections.abc import Callable, Sequence
from typing import Any

import panel as pn

from stickbreaker.app.model.selection import Selection
from stickbreaker.app.session.tabs import DOCUMENTS, EXPORT, READING_PAGES, TIME, TOPICS
from stickbreaker.app.views.calendar import Calendar
from stickbreaker.app.views.documents import DocumentBrowser
from stickbreaker.app.views.export_panel import ExportPanel
from stickbreaker.app.views.reading_note import ReadingNote
from stickbreaker.app.views.topic_explorer import TopicExplorer
from stickbreaker.app.views.topic_life import TopicLife
from stickbreaker.app.views.topic_map import TopicMap
from stickbreaker.app.views.word_life import WordLife


class Readers:
    """The views that show what a model says of the corpus, and the pages that they are on, whose own are made by these.

    ask: reads the corpus anew; rename: calls a topic by a name; earlier: the runs before this one.
    """

    def __init__(self, selection: Selection, ask: Callable, rename: Callable, earlier: Callable):
        self.note = ReadingNote(ask)
        self._word = WordLife(selection)
        self.explorer, self._documents = TopicExplorer(selection, rename, self._word), DocumentBrowser(selection)
        self._make = {
            TOPICS: lambda: (TopicMap(selection),),
            TIME: lambda: (Calendar(selection), TopicLife(selection)),
            EXPORT: lambda: (ExportPanel(selection, earlier),),
        }
        self._made: dict[str, tuple] = {}

    def parts(self, name: str) -> tuple[Any, ...]:
        """What is on a page, from above."""
        shared = {TOPICS: (self.explorer,), DOCUMENTS: (self._documents,)}
        return self._own(name) + shared.get(name, ())

    def on_page(self, name: str) -> tuple[Any, ...]:
        """Views to tell of a reading while a page is open.

        In any case the explorer, which chooses the first topic, and the documents, which are opened from other pages
        and must know the corpus that these show.
        """
        word = (self._word,) if name == TOPICS else ()
        return self.note, self.explorer, self._documents, *word, *self._own(name)

    def open_export(self, is_open: bool) -> None:
        """Let figures be drawn to take away, or not."""
        if is_open or EXPORT in self._made:
            (export,) = self._own(EXPORT)
            export.is_open = is_open

    def close(self) -> None:
        """Let go of a file on its way; for the end of the page."""
        for export in self._made.get(EXPORT, ()):
            export.close()

    def _own(self, name: str) -> tuple[Any, ...]:
        """The views that a page shares with no other, made at the first call."""
        if name not in self._made and name in self._make:
            self._made[name] = self._make[name]()
        return self._made.get(name, ())


class Pages:
    """Columns to lay out, each empty until its page is opened.

    find_parts: what is on a page of these names; note: stands above those that read the corpus.
    """

    def __init__(self, names: Sequence[str], find_parts: Callable[[str], tuple], note: Any):
        self._find_parts = find_parts
        self._note = pn.Column(note, sizing_mode="stretch_width", margin=0, visible=False)
        self._pages = {name: pn.Column(sizing_mode="stretch_width", margin=0, visible=False) for name in names}

    @property
    def columns(self) -> tuple[pn.Column, ...]:
        """All of them, in their order."""
        return self._note, *self._pages.values()

    def open(self, name: str) -> None:
        """Show this page and no other."""
        self._note.visible = name in READING_PAGES
        for each, page in self._pages.items():
            page.visible = each == name
        page = self._pages[name]
        if not page.objects:
            page.objects = list(self._find_parts(name))


def lay_side_by_side(wide: Any, narrow: Any) -> pn.FlexBox:
    """Lay out two views beside each other, or below each other where there is no room."""
    columns = [
        pn.Column(view, styles={"flex": flex, "min-width": "0"}, sizing_mode="stretch_width")
        for view, flex in ((wide, "3 1 690px"), (narrow, "1 1 300px"))
    ]
    return pn.FlexBox(*columns, gap="16px", align_items="flex-start", sizing_mode="stretch_width")
