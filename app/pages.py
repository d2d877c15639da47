"""The pages of one browser: one of them is open, and each is sent when it is first opened."""

from collections.abc import Callable
from typing import Any

import panel as pn

from app.selection import Selection
from app.tabs import DOCUMENTS, EXPORT, READING_PAGES, TIME, TOPICS
from app.views.calendar import Calendar
from app.views.documents import DocumentBrowser
from app.views.reading_note import ReadingNote
from app.views.take_away import TakeAway
from app.views.topic_explorer import TopicExplorer
from app.views.topic_life import TopicLife
from app.views.topic_map import TopicMap
from app.views.word_life import WordLife


class Readers:
    """The views that show what a model says of the corpus, and the pages that they are on.

    ask: reads the corpus anew; rename: calls a topic by a name; earlier: the runs before this one.
    """

    def __init__(self, selection: Selection, ask: Callable, rename: Callable, earlier: Callable):
        self.note = ReadingNote(ask)
        word, topic_map = WordLife(selection), TopicMap(selection)
        self.explorer, self.export = TopicExplorer(selection, rename, word), TakeAway(selection, earlier)
        calendar, life, documents = Calendar(selection), TopicLife(selection), DocumentBrowser(selection)
        self._always = self.note, self.explorer, documents
        self._on_page = {TOPICS: (word, topic_map), TIME: (calendar, life), EXPORT: (self.export,)}
        self.parts = {
            TOPICS: (topic_map, self.explorer),
            TIME: (calendar, life),
            DOCUMENTS: (documents,),
            EXPORT: (self.export,),
        }

    def on_page(self, name: str) -> tuple[Any, ...]:
        """Views to tell of a reading while a page is open.

        In any case the explorer, which chooses the first topic, and the documents, which are opened from other pages
        and must know the corpus that these show.
        """
        return self._always + self._on_page.get(name, ())


class Pages:
    """Columns to lay out, each empty until its page is opened.

    parts: what is on each page, by its name; note: stands above those that read the corpus.
    """

    def __init__(self, parts: dict[str, tuple], note: Any):
        self._parts = parts
        self._note = pn.Column(note, sizing_mode="stretch_width", margin=0, visible=False)
        self._pages = {name: pn.Column(sizing_mode="stretch_width", margin=0, visible=False) for name in parts}

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
            page.objects = list(self._parts[name])


def lay_side_by_side(wide: Any, narrow: Any) -> pn.FlexBox:
    """Lay out two views beside each other, or below each other where there is no room."""
    columns = [
        pn.Column(view, styles={"flex": flex, "min-width": "0"}, sizing_mode="stretch_width")
        for view, flex in ((wide, "3 1 690px"), (narrow, "1 1 300px"))
    ]
    return pn.FlexBox(*columns, gap="16px", align_items="flex-start", sizing_mode="stretch_width")
