"""One browser on a server that follows a stream without an end: all watch it, on one page."""

from typing import Any

import panel as pn

from stickbreaker.app.fixes.page import Keyboard, UndrawnFigures
from stickbreaker.app.pages.stream import StreamPage
from stickbreaker.app.server.stream import Stream
from stickbreaker.app.session.browser_session import BrowserSession
from stickbreaker.app.state import LAST
from stickbreaker.app.views.header import StatusBar, describe_progress
from stickbreaker.app.views.stick import Stick
from stickbreaker.app.widgets.layouts import NO_HEIGHT_LIMIT, stack


class StreamSession(BrowserSession):
    """The session of one browser that watches a stream.

    It looks once a second whether the stream has moved, so the thread of the stream knows no page.
    """

    def __init__(self, stream: Stream):
        super().__init__()
        self._stream = stream
        self._has_joined = False
        self.bar = StatusBar(
            stick=Stick(self.state).pieces, sizing_mode="stretch_width", margin=(0, 10)
        )
        self.state.page = StreamPage.title
        self.list_pages([StreamPage(self.state.freeze())])
        self.state.param.watch(self._write_bar, "progress", precedence=LAST)
        self.look()

    def start(self) -> None:
        """Follow the stream."""
        self.document = pn.state.curdoc
        self._has_joined = True
        self._stream.join()
        self.follow()

    def stop(self) -> None:
        """Release the document of this session."""
        super().stop()
        if self._has_joined:
            self._stream.leave()
        self._has_joined = False

    def look(self) -> None:
        """Show what has changed since the last call, in one message."""
        with pn.io.hold(self.document):
            self.state.publish(self._stream.progress)

    def _write_bar(self, event: Any) -> None:
        self.bar.write(describe_progress(event.new))

    def note_fault(self, event: str, fault: str) -> None:
        """Write a failure of this page into the log of the server."""
        self._stream.events.write_fault(event, fault)

    def layout(self) -> pn.viewable.Viewable:
        """Lay out the line at the top, and room for the rest; `unfold` fills it."""
        parts = (self.bar, *self.pages.columns, Keyboard(), UndrawnFigures(margin=0))
        return stack(*parts, margin=(0, 12), styles=NO_HEIGHT_LIMIT)
