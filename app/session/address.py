"""The address of one page: it names the run and the selection, and the back button restores it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import param

from stickbreaker.app.fixes.page import PlainScript
from stickbreaker.app.model.counting import only_if
from stickbreaker.app.model.run_spec import RunSpec, title_corpus
from stickbreaker.app.server.origins import replace_local
from stickbreaker.app.session.links import Link, Place, read_place, write_link, write_watch_link
from stickbreaker.app.state import LIVE, RunState
from stickbreaker.app.widgets.scripts import read_script

SELECTED = ("topic", "document", "span", "moment")
RUN_CHANGED = (
    "The run in this link was restarted and no longer uses {}. Its finished runs are on Compare."
)


class Address:
    """Follows the selection and the open page of a browser after `open` has set them from a link.

    location: Panel's location; None without an address, as in a notebook. pages: the titles of all
    pages.
    """

    def __init__(self, location: Any, state: RunState, pages: Sequence[str]):
        self._location = location
        self._state = state
        self.pages = pages
        self._run: Any = None
        self._is_watching = self._is_going_back = False

    @property
    def query(self) -> str:
        """The query of the address."""
        return self._location.search if self._location is not None else ""

    def open(self, link: Link, run: Any, is_watching: bool = False) -> str:
        """Select what the link names, and write later selections into the address.

        Returns a sentence if the run has since been started again with another corpus or algorithm,
        or an empty text.
        """
        self._run = run
        self._is_watching = is_watching
        self._select(link.place)
        was = self._leave(link.spec)
        self._state.page = link.place.page or LIVE
        names = ["topic", "document", "span", "page", "progress"]
        self._state.param.watch(lambda *events: self.write(), names)
        if was:
            self.write()
        return only_if(was and link.run, RUN_CHANGED.format(was))

    def _leave(self, asked: RunSpec) -> str:
        """Drop the selection if the run has another corpus or algorithm; return what it had."""
        progress = self._run.runner.progress
        if progress.config is None or self._is_watching:
            return ""
        if progress.corpus_name != asked.corpus_name:
            self._state.leave_run(is_same_corpus=False)
            return title_corpus(asked.corpus_name)
        if progress.algorithm != asked.algorithm.name:
            self._state.leave_run(is_same_corpus=True)
            return asked.algorithm.title
        return ""

    def go_back(self, query: str) -> None:
        """Select what an earlier address names, after the back or forward button."""
        if self._run is None:
            return
        place = read_place(query, self._run.runner.progress, self.pages)
        if place.topic is None:
            # The address was written before a topic was selected; pages that need one keep theirs.
            place = replace(place, topic=self._state.topic)
        self._is_going_back = True
        try:
            self._select(place)
            self._state.page = place.page or LIVE
        finally:
            self._is_going_back = False
        self.write()

    def write(self) -> None:
        """Write the run, its settings and the selection into the address."""
        if self._run is None or self._location is None or self._is_going_back:
            return
        selected = {name: getattr(self._state, name) for name in SELECTED}
        place = Place(page=self._state.page if self._state.page != LIVE else None, **selected)
        if self._is_watching:
            query = write_watch_link(self._run.watch, place)
        else:
            query = write_link(self._run.key, self._run.runner.progress, place)
        if query != self._location.search:
            self._location.search = query

    def _select(self, place: Place) -> None:
        self._state.param.update(**{name: getattr(place, name) for name in SELECTED})

    def share(self) -> str:
        """Return the full link for watchers."""
        here = urlsplit(self._location.href if self._location is not None else "")
        query = write_watch_link(self._run.watch, Place()).lstrip("?")
        return replace_local(here._replace(query=query, fragment="").geturl())

    def close(self) -> None:
        """Release the run and the address."""
        self._run = self._location = None


class BrowserHistory(PlainScript):
    """Makes the browser's back button follow the pages and documents that a user has opened.

    Panel adds an entry to the browser's history at every change of the address, and changes nothing
    on the page when the user goes back (https://github.com/holoviz/panel/issues/7357). Here another
    page, topic, document or span of time adds an entry. A change of the settings replaces the
    present one, and so does the first topic, which a page selects by itself. `on_back(query)` is
    called with the query of the entry that the user goes to, without its topic and moment if they
    belong to an earlier run.
    """

    topics_key = param.String(doc="The runs with the same key have the same topics.")

    _esm = read_script(Path(__file__).with_name("browser_history.js"))

    def __init__(self, on_back: Callable[[str], None], **params: Any):
        self._on_back = on_back
        super().__init__(**params)

    def _hear(self, message: dict[str, Any]) -> None:
        if isinstance(query := message.get("query"), str):
            self._on_back(query)
