"""One browser on a server that follows a stream without an end: all visitors watch it, on one page."""

import logging
from collections.abc import Callable
from typing import Any

import panel as pn

from stickbreaker.app.fixes.page import Keyboard, UndrawnFigures
from stickbreaker.app.model.limits import find_fault
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.server.stream import Stream
from stickbreaker.app.server.subscribers import call_on_loop
from stickbreaker.app.session.opening import describe_opening
from stickbreaker.app.session.pages import lay_side_by_side
from stickbreaker.app.views.curves import Curves
from stickbreaker.app.views.header import StatusBar, describe_progress
from stickbreaker.app.views.run_summary import RunSummary
from stickbreaker.app.views.stream_facts import StreamFactsView
from stickbreaker.app.views.topics_now import TopicsNow
from stickbreaker.app.views.word_table import WordTable
from stickbreaker.app.widgets.layouts import NO_HEIGHT_LIMIT

LOOK_MILLISECONDS = 1_000
ERROR_MILLISECONDS = 60_000

_log = logging.getLogger(__name__)


class StreamSession:
    """The views of one browser. `start` when its websocket opens, `stop` when it closes.

    A page looks once a second whether the stream has moved, so the thread of the stream knows no page.
    """

    def __init__(self, stream: Stream):
        self._stream = stream
        self._document: Any = None
        self._has_joined = False
        self._shown: Progress | None = None
        self._reported: set[str] = set()
        self.bar = StatusBar(sizing_mode="stretch_width", margin=(0, 10))
        self.summary, self.table, self.now, self.facts = RunSummary(), WordTable(), TopicsNow(), StreamFactsView()
        self.curves = Curves(waits=True, axes=("documents", "dates"), title="Curves")
        self.now.param.watch(lambda event: self.table.show(event.new), "picked", onlychanged=False)
        self._parts = pn.Column(sizing_mode="stretch_width", margin=0)
        self.look()

    def describe_opening(self) -> dict[str, Any]:
        """Describe the stream for what a browser shows until the page is drawn."""
        progress = self._stream.progress
        return describe_opening(progress, progress.corpus_name)

    def start(self) -> None:
        """Follow the stream."""
        self._document, self._has_joined = pn.state.curdoc, True
        self._stream.join()
        pn.state.add_periodic_callback(self._beat, LOOK_MILLISECONDS)
        # Panel may deliver changes that are made during loading after later ones.
        for act in (self.look, self.unfold):
            call_on_loop(self._document, act)

    def unfold(self) -> None:
        """Send the page in one message, after the browser has the state of the stream."""
        right = pn.Column(self.now, self.facts, sizing_mode="stretch_width", margin=0)
        with pn.io.hold(self._document):
            self._parts.objects = [self.summary, lay_side_by_side(self.table, right), self.curves]
            self.bar.is_unfolded = True

    def stop(self) -> None:
        """Release the document of this session."""
        self._document = None
        if self._has_joined:
            self._stream.leave()
        self._has_joined = False

    def _beat(self) -> None:
        """Tell a served page that the connection works, and look again."""
        if self._document is not None and self._document.session_context is not None:
            self.bar.beat += 1
            self.look()

    def look(self) -> None:
        """Show what has changed since the last call, in one message."""
        progress = self._stream.progress
        if progress is self._shown:
            return
        self._shown = progress
        with pn.io.hold(self._document):
            views = (self.summary, self.table, self.now, self.facts, self.curves)
            for draw in (*(view.update for view in views), self._draw_bar):
                self._attempt(draw, progress)

    def _draw_bar(self, progress: Progress) -> None:
        self.bar.write(describe_progress(progress))

    def _attempt(self, draw: Callable[[Progress], None], progress: Progress) -> None:
        """Let a view draw; an error does not stop the other views."""
        try:
            draw(progress)
        except Exception as error:
            self.report(error)

    def report(self, error: Exception) -> None:
        """Show an error of the page once; the log has the traceback."""
        _log.error("An error on the page", exc_info=error)
        text = f"Error on this page: {type(error).__name__}: {error}"
        if text in self._reported:
            return
        self._reported.add(text)
        self._stream.events.write_fault("page_error", find_fault(error))
        if pn.state.notifications is not None:
            pn.state.notifications.error(text, duration=ERROR_MILLISECONDS)

    def layout(self) -> pn.viewable.Viewable:
        """Lay out the line at the top, and room for the rest; `unfold` fills it."""
        parts = (self.bar, self._parts, Keyboard(), UndrawnFigures(margin=0))
        return pn.Column(*parts, sizing_mode="stretch_width", margin=(0, 12), styles=NO_HEIGHT_LIMIT)
