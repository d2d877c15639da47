"""Workarounds for the server: its parts, its secret, and pages that leave at a bad moment."""

import asyncio
from functools import partial
from typing import Any

import bokeh.server.server
import panel
from bokeh.server.tornado import BokehTornado
from bokeh.settings import settings
from panel.io.server import Server, WSHandler
from tornado.httpserver import HTTPServer
from tornado.websocket import WebSocketClosedError

PARTS = ("BokehTornado", "HTTPServer")
NEEDED = (
    *((bokeh.server.server, name) for name in PARTS),
    (BokehTornado, "websocket_origins"),
    (BokehTornado, "get_handler_delegate"),
    (BokehTornado, "add_transform"),
)
CANNOT_PROTECT = (
    "This server cannot be protected with the installed version of Bokeh or Tornado: {} is missing."
)


def find_missing() -> str:
    """Say which name is missing without which no server is protected; empty if none is."""
    missing = [name for owner, name in NEEDED if not hasattr(owner, name)]
    return CANNOT_PROTECT.format(missing[0]) if missing else ""


def make_servers_of(application: type[BokehTornado], http: type[HTTPServer], secret: str) -> None:
    """Make each server of this application and this HTTP server; sign tokens with this secret.

    `panel serve` has no option for the parts of its server.
    """
    for name, part in zip(PARTS, (application, http), strict=True):
        setattr(bokeh.server.server, name, part)
    settings.sign_sessions = True
    settings.secret_key = secret
    # Bokeh remembers that it had no secret when it was imported.
    vars(settings).pop("_secret_key_bytes", None)


def open_browser_with_token() -> None:
    """Let `panel serve --show` open the address that contains the start-up token."""
    show: Any = getattr(Server, "show", None)

    def show_with_token(server: Any, *arguments: Any, **options: Any) -> None:
        own = getattr(getattr(server, "_tornado", None), "show", partial(show, server))
        own(*arguments, **options)

    if show is not None:
        setattr(Server, "show", show_with_token)  # noqa: B010


def skip_closed_pages(loop: asyncio.AbstractEventLoop) -> None:
    """Log no error for a message to a page that has just left.

    Panel sends a message in parts, and asyncio logs a traceback for the part after the end.
    """
    before = loop.get_exception_handler() or type(loop).default_exception_handler

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if not isinstance(context.get("exception"), WebSocketClosedError):
            before(loop, context)

    loop.set_exception_handler(handle)


def start_cleaning_up() -> None:
    """Let Panel start its cleaning up of what the server is busy with, on its own loop.

    Panel 1.10.0 starts it with the first callback of a page. That runs on a thread, so the start is
    put off to the next callback, and so on: one core is busy. Panel 1.9 does not have this fault.
    """
    if not hasattr(panel.state, "_on_loop_thread"):
        return
    panel.state.add_periodic_callback(lambda: None, period=1, count=1)


class LeavingSocket(WSHandler):
    """The websocket of a page that may leave at any moment, even while it is loading.

    The keep-alive job of Bokeh detaches the session of a connection that is closed already. If
    Bokeh then hears of the end, or of a message before it, it fails an assertion. A page that
    leaves before its session is made stays among the open ones until a ping.
    """

    @property
    def _is_detached(self) -> bool:
        return self.connection is not None and getattr(self.connection, "_session", self) is None

    async def on_message(self, message: str | bytes) -> None:
        """Handle a message, unless its page has left."""
        if not self._is_detached:
            await super().on_message(message)

    def on_close(self) -> None:
        """Tell the session that its page has left, unless it knows already."""
        if not self._is_detached:
            super().on_close()

    async def _async_open(self, token: str) -> None:
        await super()._async_open(token)
        if self.ws_connection is None:
            self.on_close()
        self.note_open(token)

    def note_open(self, token: str) -> None:
        """Note that the websocket is open, for which Bokeh has no public name; to be overridden."""
