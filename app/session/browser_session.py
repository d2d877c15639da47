"""What the sessions of a run and of a stream share: the state, the pages, one message an update."""

import logging
from collections.abc import Sequence
from typing import Any

import panel as pn

from stickbreaker.app.commands.run_commands import show_error
from stickbreaker.app.model.limits import find_fault
from stickbreaker.app.pages.page import Page, Pages
from stickbreaker.app.server.subscribers import call_on_loop
from stickbreaker.app.session.opening import describe_opening
from stickbreaker.app.state import RunState
from stickbreaker.app.views.header import StatusBar

BEAT_MILLISECONDS = 1_000

_log = logging.getLogger(__name__)


class BrowserSession:
    """The state and the pages of one browser, from `start`, when its websocket opens, to `stop`.

    bar: the line at the top.
    """

    bar: StatusBar

    def __init__(self) -> None:
        self.state = RunState(self.report)
        self.document: Any = None
        self._reported: set[str] = set()

    def list_pages(self, pages: Sequence[Page]) -> None:
        """Take these pages, of which `unfold` opens the selected one."""
        self.pages = Pages(self.state, pages)
        self.state.param.watch(lambda event: self.turn(), "page")

    def describe_opening(self) -> dict[str, Any]:
        """Describe the run for what a browser shows until the page is drawn."""
        return describe_opening(self.state.progress, self.state.progress.corpus_name)

    def follow(self) -> None:
        """Look at the run from now on, and open the selected page."""
        pn.state.add_periodic_callback(self._beat, BEAT_MILLISECONDS)
        # Panel may deliver changes that are made during loading after later ones.
        for act in (self.look, self.unfold):
            call_on_loop(self.document, act)

    def _beat(self) -> None:
        """Tell a served page that the connection works, and look again; called every second."""
        if self.document is not None and self.document.session_context is not None:
            self.bar.beat += 1
        self.look()

    def look(self) -> None:
        """Publish what has changed since the last call, in one message."""
        raise NotImplementedError

    def turn(self) -> None:
        """Open the selected page."""
        self.pages.open(self.state.page)

    def unfold(self) -> None:
        """Draw the open page in one message, after the browser has the state of the run."""
        with pn.io.hold(self.document):
            self.turn()
            self.bar.is_unfolded = True

    def stop(self) -> None:
        """Release the document and what the open page computes."""
        self.document = None
        self.pages.leave()

    def note_fault(self, event: str, fault: str) -> None:
        """Write a failure of this page into the log of the server."""
        raise NotImplementedError

    def notify(self, text: str) -> None:
        """Show a text on the page for a while."""
        show_error(text)

    def report(self, error: Exception) -> None:
        """Show an error of the page once; the log has the traceback."""
        _log.error("An error on the page", exc_info=error)
        text = f"Error on this page: {type(error).__name__}: {error}"
        if text not in self._reported:
            self._reported.add(text)
            self.note_fault("page_error", find_fault(error))
            self.notify(text)
