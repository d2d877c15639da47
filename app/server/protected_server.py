"""The server that serves the page: it starts with safe settings only, and protects every response."""

import secrets
import sys
from collections.abc import Mapping
from typing import Any

from bokeh.server.auth_provider import NullAuth
from bokeh.util.browser import view
from panel.config import config
from panel.io.server import BokehServer

from stickbreaker.app.panel_fixes import find_origins, keep_requests_private, protect_responses, replace_route
from stickbreaker.app.server.origins import EVERY_ADDRESS, list_origins
from stickbreaker.app.server.response_headers import ProtectedResponse
from stickbreaker.app.server.safe_settings import UnsafeSettingsError, check_settings
from stickbreaker.app.server.start_token import ARGUMENT, START_TOKEN


class ProtectedServer(BokehServer):  # type: ignore[misc]  # Bokeh's hints are not read
    """What Panel's server is made of, however it is started."""

    def __init__(self, applications: Mapping[str, Any], **options: Any):
        routes = [replace_route(route) for route in options.get("extra_patterns") or ()]
        options |= {"extra_patterns": routes}
        try:
            check_settings(options)
        except UnsafeSettingsError as error:
            sys.exit(f"Not started. {error}")
        self._is_secure = bool(options.get("ssl_certfile"))
        self._asks_for_login = not isinstance(options.get("auth_provider", NullAuth()), NullAuth)
        options["cookie_secret"] = options.get("cookie_secret") or secrets.token_urlsafe(48)
        config.cookie_secret = options["cookie_secret"]  # type: ignore[misc]  # Panel sets it in this way too
        keep_requests_private(options)
        super().__init__(applications, **options)
        self._paths = sorted(applications)
        if self.port:
            origins = find_origins(self)
            is_named = bool(options.get("allow_websocket_origin"))
            origins.update(list_origins(self.address, self.port, origins if is_named else ()))
        protect_responses(self, ProtectedResponse)

    def start(self) -> None:
        """Start, and print the address with the token where no login gives users their rights."""
        super().start()
        if self.port and not self._asks_for_login:
            print("Open this address for full access. It contains the start-up token; do not share it:", flush=True)
            for path in self._paths:
                print(f"    {self.address_of(path)}", flush=True)

    def address_of(self, path: str) -> str:
        """Return the address to open on this machine, with the token if there is no login."""
        host = "localhost" if not self.address or self.address in EVERY_ADDRESS else self.address
        host = f"[{host}]" if ":" in host else host
        token = "" if self._asks_for_login else f"?{ARGUMENT}={START_TOKEN.text}"
        return f"{'https' if self._is_secure else 'http'}://{host}:{self.port}{self.prefix}{path}{token}"

    def show(self, app_path: str, browser: str | None = None, new: Any = "tab") -> None:
        """Open the page in a browser."""
        view(self.address_of(app_path), browser=browser, new=new)
