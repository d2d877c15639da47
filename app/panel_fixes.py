"""Every workaround of Panel and Bokeh for the server: what it changes, why, and the versions it was checked with."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import bokeh.server.urls
import panel.auth
import panel.command.serve
from bokeh.settings import settings
from panel.auth import BasicAuthProvider
from panel.io.server import AutoloadJsHandler, BokehServer, DocHandler, Server, WSHandler
from tornado.web import HTTPError, RequestHandler

CHECKED_WITH = {"bokeh": "3.9", "panel": "1.9", "tornado": "6.6"}


@dataclass(frozen=True)
class ServerParts:
    """What takes the place of Panel's own parts of a server.

    server: what Panel's server is made of. page, socket: the handlers of a page and of its websocket.
    login: makes the login page. is_local_path: whether an address after a login is on this server.
    """

    server: type[BokehServer]
    page: type[DocHandler]
    socket: type[WSHandler]
    login: type[BasicAuthProvider]
    is_local_path: Callable[[str], bool]


def protect_server(secret: str, parts: ServerParts) -> None:
    """Have `panel serve` make a server of these parts that signs session tokens with this secret.

    Call it before the server is made. Bokeh runs hooks more than once: the first call counts.
    """
    if issubclass(Server, parts.server):
        return
    settings.sign_sessions = True
    settings.secret_key = secret
    # Bokeh remembers the secret it had at import, which is none (Bokeh 3.9).
    settings._secret_key_bytes = secret.encode()
    # `panel serve` has already imported the class of its server when it runs our hooks (Panel 1.9, Bokeh 3.9).
    Server.__bases__ = (parts.server,)
    # Bokeh has no setting for the handlers of a page; Panel replaces this list too (Panel 1.9, Bokeh 3.9).
    # autoload.js is left out: it hands a session's token to any site that asks, with the visitor's cookies.
    replacements = {DocHandler: parts.page, WSHandler: parts.socket}
    bokeh.server.urls.per_app_patterns[:] = [
        (route, replacements.get(handler, handler))
        for route, handler in bokeh.server.urls.per_app_patterns
        if handler is not AutoloadJsHandler
    ]
    # `panel serve --basic-auth` makes this one (Panel 1.9).
    setattr(panel.command.serve, "BasicAuthProvider", parts.login)  # noqa: B010  # mypy takes it for a type
    _refuse_foreign_next(parts.is_local_path)
    _set_safe_cookies()
    # Tornado writes the query of a request that fails into the log: it may hold a token (Tornado 6.6).
    RequestHandler._request_summary = _summarize_request  # type: ignore[assignment, method-assign]  # on purpose


def _summarize_request(handler: RequestHandler) -> str:
    """The method and the path of a request, without its query."""
    return f"{handler.request.method} {handler.request.path}"


def _refuse_foreign_next(is_local_path: Callable[[str], bool]) -> None:
    """Refuse ///evil.example after a login: Panel refuses only what `urlparse` gives a host (Panel 1.9)."""
    check = panel.auth._validate_next_url

    @wraps(check)
    def check_strictly(next_url: str | None) -> Any:
        if next_url and not is_local_path(next_url):
            raise HTTPError(400, "The address after the login is not on this server")
        return check(next_url)

    panel.auth._validate_next_url = check_strictly


def _set_safe_cookies() -> None:
    """Give every cookie SameSite=Lax, HttpOnly and, under TLS, Secure: Tornado has no such setting (Tornado 6.6)."""
    set_cookie = RequestHandler.set_cookie
    names = list(inspect.signature(set_cookie).parameters)
    assert {"samesite", "httponly", "secure"} <= set(names)

    @wraps(set_cookie)
    def set_safely(handler: RequestHandler, *arguments: Any, **options: Any) -> None:
        safe = {"samesite": "Lax", "httponly": True, "secure": handler.request.protocol == "https"}
        set_cookie(handler, *arguments, **(options | safe))

    RequestHandler.set_cookie = set_safely  # type: ignore[assignment, method-assign]  # on purpose
