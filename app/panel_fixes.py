"""Every workaround of Panel and Bokeh for the server: what it changes, why, and the versions it was checked with."""

import asyncio
import base64
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import bokeh.server.urls
import panel.auth
import panel.command.serve
import panel.reactive
import pyviz_comms
from bokeh.core.property.descriptors import UnsetValueError
from bokeh.models import ColumnDataSource, Plot, Scatter
from bokeh.settings import settings
from panel.auth import BasicAuthProvider
from panel.io import resources
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


# Plots, lists of choices and notebooks. tests/app/test_panel_fixes_plots.py fails if a fix is no longer needed.
CHECKED_PLOTS_WITH = {"bokeh": "3.9", "panel": "1.9", "panel_material_ui": "0.16", "pyviz_comms": "3.0"}

# Bokeh's autohide sets `visibility: hidden`, so the keyboard cannot reach the tools (Bokeh 3.9; no issue known).
TOOLS_STYLE = """
:host(.bk-hidden) { visibility: visible; pointer-events: none; }
:host(.bk-hidden:focus-within) { opacity: 1; }
"""
CORNERS = {"x": [0, 1], "y": [0, 1]}


def hide_tools(figure: Any) -> None:
    """Show the tools of a Bokeh figure only while the pointer is over it or one of them has the keyboard focus."""
    figure.toolbar.update(logo=None, autohide=True, stylesheets=[TOOLS_STYLE])


def unseen_points() -> Scatter:
    """Invisible points that only give a plot its ranges."""
    return Scatter(x="x", y="y", line_alpha=0, fill_alpha=0)


class Seed:
    """Invisible points that give a plot its ranges while it is empty.

    Without data an automatic range is undefined: the browser logs "could not set initial ranges" at each repaint, and
    the plot may stay empty (https://github.com/bokeh/bokeh/issues/6639, Bokeh 3.9).
    """

    def __init__(self, fig: Any) -> None:
        self.source = ColumnDataSource(CORNERS)
        fig.add_glyph(self.source, unseen_points())

    def stand_in(self, is_needed: bool) -> None:
        """Add the points if they are needed, and remove them otherwise."""
        self.source.data = CORNERS if is_needed else {"x": [], "y": []}


def resend_value(select: Any) -> None:
    """Send the value of a select again after its options have changed.

    The browser knows the value by its label. If only the label changes, no new value is sent, and the select shows
    none (panel-material-ui 0.16; no issue known).
    """
    select.param.trigger("value")


_PATCH, _HANDLE = resources.patch_stylesheet, pyviz_comms.JupyterCommJS._handle_msg


def fix_notebook(loop: asyncio.AbstractEventLoop) -> None:
    """Make Panel send its style sheets inline and handle messages of the browser on this loop, which runs the cells."""
    resources.patch_stylesheet = panel.reactive.patch_stylesheet = inline_stylesheet
    # JupyterLab handles messages on another thread while a cell runs, since
    # https://github.com/jupyterlab/jupyterlab/pull/17363. There, pyviz_comms 3.0 captures the standard output of all
    # threads, and two threads would change one view.
    pyviz_comms.JupyterCommJS._handle_msg = lambda comm, message: loop.call_soon_threadsafe(_HANDLE, comm, message)


def inline_stylesheet(sheet: Any, address: str) -> None:
    """Replace the address of one of Panel's style sheets by its text; other sheets do not change.

    Panel's `inline` does so only at the first rendering (https://github.com/holoviz/panel/issues/8707, Panel 1.9).
    """
    _PATCH(sheet, address)
    path = resources.DIST_DIR / sheet.url.removeprefix(resources.CDN_DIST).partition("?")[0]
    if sheet.url.startswith(resources.CDN_DIST) and path.is_file():
        sheet.url = f"data:text/css;base64,{base64.b64encode(path.read_bytes()).decode()}"


def is_drawn(root: Any, comm: Any) -> bool:
    """Whether a browser has opened its connection and drawn a plot, if there is one.

    Changes before that are lost: at the first message from the browser, Panel 1.9 drops unsent events (no issue known).
    """
    plots = list(root.select({"type": Plot}))
    return comm is None or (bool(comm._comm) and (not plots or any(map(_is_laid_out, plots))))


def _is_laid_out(plot: Any) -> bool:
    """Whether the browser has sent the width of a plot."""
    try:
        return plot.inner_width is not None
    except UnsetValueError:
        return False
