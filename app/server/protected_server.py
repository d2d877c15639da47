"""The server that serves the page: it starts with safe settings only, and protects every response."""

import logging
import secrets
import sys
from collections.abc import Mapping
from typing import Any

from bokeh.server.auth_provider import NullAuth
from bokeh.util.browser import view
from panel.config import config
from panel.io.server import BokehServer, ComponentResourceHandler
from tornado.log import access_log
from tornado.web import RequestHandler

from stickbreaker.app.server.handlers import ComponentHandler
from stickbreaker.app.server.origins import EVERY_ADDRESS, list_origins
from stickbreaker.app.server.response_headers import ProtectedResponse
from stickbreaker.app.server.safe_settings import UnsafeSettingsError, check_settings
from stickbreaker.app.server.start_token import ARGUMENT, START_TOKEN

FIRST_CLIENT_ERROR, FIRST_SERVER_ERROR = 400, 500


class ProtectedServer(BokehServer):  # type: ignore[misc]  # Bokeh's hints are not read
    """What Panel's server is made of, however it is started."""

    def __init__(self, applications: Mapping[str, Any], **options: Any):
        routes = [_replace_route(route) for route in options.get("extra_patterns") or ()]
        options |= {"extra_patterns": routes}
        try:
            check_settings(options)
        except UnsafeSettingsError as error:
            sys.exit(f"Not started. {error}")
        self._is_secure = bool(options.get("ssl_certfile"))
        self._asks_for_login = not isinstance(options.get("auth_provider", NullAuth()), NullAuth)
        options["cookie_secret"] = options.get("cookie_secret") or secrets.token_urlsafe(48)
        config.cookie_secret = options["cookie_secret"]  # type: ignore[misc]  # Panel sets it in this way too
        # A page's HTML shows its token: it names the user, and holds neither cookies nor headers.
        for name in ("exclude_headers", "exclude_cookies"):
            options.pop(name, None)
        options |= {"include_headers": [], "include_cookies": []}
        super().__init__(applications, **options)
        self._paths = sorted(applications)
        if self.port:
            named = self._tornado.websocket_origins if options.get("allow_websocket_origin") else ()
            self._tornado.websocket_origins.update(list_origins(self.address, self.port, named))
        self._tornado.add_transform(ProtectedResponse)
        self._tornado.settings["log_function"] = log_without_query

    def start(self) -> None:
        """Start, and print the address with the token where no login gives users their rights."""
        super().start()
        if self.port and not self._asks_for_login:
            print("Open this address for full access. It contains the start-up token; do not share it:", flush=True)
            for path in self._paths:
                print(f"    {self.address_of(path)}", flush=True)

    def address_of(self, path: str) -> str:
        """Return the address to open on this machine, with the token where there is no login."""
        host = "localhost" if not self.address or self.address in EVERY_ADDRESS else self.address
        host = f"[{host}]" if ":" in host else host
        token = "" if self._asks_for_login else f"?{ARGUMENT}={START_TOKEN.text}"
        return f"{'https' if self._is_secure else 'http'}://{host}:{self.port}{self.prefix}{path}{token}"

    def show(self, app_path: str, browser: str | None = None, new: Any = "tab") -> None:
        """Open the page in a browser."""
        view(self.address_of(app_path), browser=browser, new=new)


def log_without_query(handler: RequestHandler) -> None:
    """Log a request by its path: a query may hold a token or the address of a run."""
    status, request = handler.get_status(), handler.request
    level = logging.INFO if status < FIRST_CLIENT_ERROR else logging.WARNING
    level = logging.ERROR if status >= FIRST_SERVER_ERROR else level
    milliseconds = 1_000 * request.request_time()
    access_log.log(level, "%d %s %s %.2fms", status, request.method, request.path, milliseconds)


def _replace_route(route: tuple[Any, ...]) -> tuple[Any, ...]:
    """Put our handler of component files in the place of Panel's."""
    return (route[0], ComponentHandler, *route[2:]) if route[1] is ComponentResourceHandler else route
