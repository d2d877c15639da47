"""The parts of a server that protect its pages: unsafe settings are refused."""

import secrets
import sys
from collections.abc import Mapping
from socket import AF_INET, AF_INET6, socket
from typing import Any

import bokeh.server.urls
from bokeh.server.auth_provider import NullAuth
from bokeh.server.tornado import BokehTornado
from bokeh.util.browser import view
from panel.auth import BasicLoginHandler, LogoutHandler, OAuthLoginHandler
from panel.config import config
from panel.io.server import AutoloadJsHandler, ComponentResourceHandler, DocHandler, WSHandler
from tornado.httpserver import HTTPServer
from tornado.httputil import HTTPMessageDelegate, HTTPServerRequest
from tornado.web import ErrorHandler, RequestHandler

from stickbreaker.app.server.handlers import (
    ComponentHandler,
    LeaveHandler,
    PageHandler,
    PasswordHandler,
    SocketHandler,
    leads_elsewhere,
)
from stickbreaker.app.server.origins import EVERY_ADDRESS, list_origins, note_network
from stickbreaker.app.server.response_headers import ProtectedResponse
from stickbreaker.app.server.safe_handlers import log_without_query, make_safe
from stickbreaker.app.server.safe_settings import PROCESSES, UnsafeSettingsError, check_settings
from stickbreaker.app.server.start_token import ARGUMENT, START_TOKEN

# Handlers of Panel, and ours in their places.
REPLACED: dict[type[RequestHandler], type[RequestHandler]] = {
    DocHandler: PageHandler,
    WSHandler: SocketHandler,
    ComponentResourceHandler: ComponentHandler,
    BasicLoginHandler: PasswordHandler,
    LogoutHandler: LeaveHandler,
}
BAD_REQUEST = 400
NOT_FOUND = 404
FULL_ACCESS = "Open this address for full access. It contains the start-up token; do not share it:"
UNKNOWN_HANDLERS = (
    "The installed version of Panel has other handlers of a page, which are not protected."
)


class ProtectedTornado(BokehTornado):  # type: ignore[misc]  # Bokeh's hints are not read
    """What answers the requests of a server, however it is started."""

    def __init__(self, applications: Mapping[str, Any], **options: Any):
        try:
            check_settings(options)
            check_page_handlers()
        except UnsafeSettingsError as error:
            sys.exit(f"Not started. {error}")
        self._address, _, port = str(options.get("absolute_url") or "").rstrip("/").rpartition(":")
        self._port = int(port or 0)
        self._asks_for_login = not isinstance(options.get("auth_provider", NullAuth()), NullAuth)
        options["cookie_secret"] = options.get("cookie_secret") or secrets.token_urlsafe(48)
        config.cookie_secret = options["cookie_secret"]  # type: ignore[misc]  # Panel sets it in this way too
        # The HTML of a page shows its token, into which Bokeh would write all headers and cookies
        # of the request.
        for name in ("exclude_headers", "exclude_cookies"):
            options.pop(name, None)
        options |= {"include_headers": [], "include_cookies": [], "log_function": log_without_query}
        super().__init__(applications, **options)
        self.add_transform(ProtectedResponse)
        self._paths = sorted(applications)
        self._is_listening = False

    def get_handler_delegate(
        self,
        request: HTTPServerRequest,
        target_class: type[RequestHandler],
        *arguments: Any,
        **options: Any,
    ) -> HTTPMessageDelegate:
        """Handle a request, with a handler that protects it."""
        kind: Any = REPLACED.get(target_class, target_class)
        status = None
        if issubclass(kind, AutoloadJsHandler):
            # It hands a session's token to any site that asks, with the visitor's cookies.
            status = NOT_FOUND
        elif issubclass(kind, (BasicLoginHandler, OAuthLoginHandler)) and leads_elsewhere(request):
            status = BAD_REQUEST
        if status is not None:
            kind = ErrorHandler
            arguments = ({"status_code": status},)
            options = {}
        delegate: HTTPMessageDelegate = super().get_handler_delegate(
            request, make_safe(kind), *arguments, **options
        )
        return delegate

    def listen_at(self, addresses: set[str]) -> None:
        """Note at which addresses the server listens, so that their pages open websockets."""
        self._is_listening = bool(addresses)
        if addresses:
            origins = self.websocket_origins
            named = self._address.rpartition("://")[2]
            note_network(bool(addresses & {*EVERY_ADDRESS}))
            address = None if addresses & {*EVERY_ADDRESS} else named
            origins.update(list_origins(address, self._port, {*origins}))

    def start(self) -> None:
        """Start, and print the address with the token where no login gives users their rights."""
        super().start()
        if self._is_listening and not self._asks_for_login:
            addresses = [f"    {self.address_of(path)}" for path in self._paths]
            print(FULL_ACCESS, *addresses, sep="\n", flush=True)

    def address_of(self, path: str) -> str:
        """Return the address to open on this machine, with the token if there is no login."""
        scheme, _, host = self._address.partition("://")
        if host in EVERY_ADDRESS:
            host = "localhost"
        elif ":" in host:
            host = f"[{host}]"
        address = f"{scheme}://{host}:{self._port}{self.prefix}{path}"
        return address if self._asks_for_login else f"{address}?{ARGUMENT}={START_TOKEN.text}"

    def show(self, path: str, browser: str | None = None, new: Any = "tab") -> None:
        """Open a page in a browser."""
        view(self.address_of(path), browser=browser, new=new)


def check_page_handlers() -> None:
    """Raise UnsafeSettingsError if pages have handlers that ours do not replace."""
    handlers = {handler for _, handler in bokeh.server.urls.per_app_patterns}
    if not {DocHandler, WSHandler} <= handlers:
        raise UnsafeSettingsError(UNKNOWN_HANDLERS)


class ProtectedHTTP(HTTPServer):
    """Listens in one process, and tells the application where."""

    def start(self, num_processes: int | None = 1, max_restarts: int | None = None) -> None:
        """Start, in this process."""
        if num_processes != 1:
            sys.exit(f"Not started. {PROCESSES}")
        super().start(num_processes, max_restarts)

    def add_sockets(self, sockets: Any) -> None:
        """Listen on these sockets."""
        sockets = list(sockets)
        if isinstance(self.request_callback, ProtectedTornado):
            self.request_callback.listen_at({_read_address(each) for each in sockets} - {""})
        super().add_sockets(sockets)


def _read_address(listening: socket) -> str:
    return str(listening.getsockname()[0]) if listening.family in (AF_INET, AF_INET6) else ""
