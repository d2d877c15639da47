"""Every workaround for Panel, Bokeh, HoloViews or panel-material-ui: what it fixes, why, and the checked versions.

Where no address of an issue is given, no issue of the library is known. `tests/app/test_panel_fixes*.py` fail if the
versions change, and as soon as a workaround is no longer needed. The scripts are in `panel_scripts`.
"""

import asyncio
import base64
import hmac
import inspect
import json
import logging
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, wraps
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import bokeh.server.urls
import pandas as pd
import panel as pn
import panel.auth
import panel.command.serve
import panel.io.document
import panel.io.location
import panel.reactive
import panel_material_ui as pmui
import param
import pyviz_comms
from bokeh.core.has_props import HasProps
from bokeh.core.property.descriptors import PropertyDescriptor, UnsetValueError
from bokeh.document import Document
from bokeh.models import ColumnDataSource, CustomJSTickFormatter, Plot, Scatter
from bokeh.plotting import figure
from bokeh.resources import Resources as BokehResources
from bokeh.server.server import Server as BokehServer
from bokeh.settings import settings
from jinja2 import Template
from panel.auth import BasicAuthProvider, BasicLoginHandler, LogoutHandler
from panel.custom import ReactiveESM
from panel.io import resources, with_lock
from panel.io.notifications import NotificationArea
from panel.io.resources import BASIC_LOGIN_TEMPLATE, LOCAL_DIST
from panel.io.server import AutoloadJsHandler, ComponentResourceHandler, DocHandler, Server, WSHandler
from panel.models.esm import ReactiveESM as ReactiveESMModel
from panel.reactive import Syncable
from panel.util import classproperty
from panel.util.parameters import edit_readonly
from panel_material_ui.base import FONT_CSS, MaterialComponent
from tornado.httputil import HTTPServerRequest
from tornado.log import access_log
from tornado.web import HTTPError, OutputTransform, RequestHandler
from tornado.websocket import WebSocketClosedError

CHECKED_WITH = {
    "bokeh": "3.9",
    "panel": "1.9",
    "tornado": "6.6",
    "panel_material_ui": "0.16",
    "pyviz_comms": "3.0",
    "holoviews": "1.23",
}
SCRIPTS = Path(__file__).with_name("panel_scripts")


def read_fix(name: str) -> str:
    """Read one of the scripts of the workarounds."""
    return (SCRIPTS / f"{name}.js").read_text(encoding="utf-8")


class PlainScript(pn.custom.JSComponent):
    """A component with a script of plain JavaScript, which browsers run as it is.

    Panel 1.9 translates every script from TypeScript and JSX each time a page opens, unless the script is in a bundle:
    then it has a name here (no issue known).
    """

    def _get_properties(self, doc: Document | None) -> dict[str, Any]:
        return super()._get_properties(doc) | {"bundle": type(self).__name__}


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
    replacements: dict[Any, Any] = {DocHandler: parts.page, WSHandler: parts.socket}
    patterns: list[Any] = bokeh.server.urls.per_app_patterns  # Bokeh types them as pairs and triples of handlers.
    patterns[:] = [
        (route, replacements.get(handler, handler)) for route, handler in patterns if handler is not AutoloadJsHandler
    ]
    # `panel serve --basic-auth` makes this one (Panel 1.9).
    setattr(panel.command.serve, "BasicAuthProvider", parts.login)  # noqa: B010 - mypy knows no such name there
    _refuse_foreign_next(parts.is_local_path)
    skip_closed_pages()
    _set_safe_cookies()
    # Tornado writes the query of a request that fails into the log: it may hold a token (Tornado 6.6).
    RequestHandler._request_summary = _summarize_request  # type: ignore[method-assign, assignment]  # the workaround
    # Together with the traceback of an error it writes the whole request.
    HTTPServerRequest.__repr__ = name_request  # type: ignore[method-assign]  # the workaround


def _summarize_request(handler: RequestHandler) -> str:
    return name_request(handler.request)


def name_request(request: HTTPServerRequest) -> str:
    """Name a request without its query."""
    return f"{request.method} {request.path}"


def _refuse_foreign_next(is_local_path: Callable[[str], bool]) -> None:
    """Refuse ///evil.example after a login: Panel refuses only what `urlparse` gives a host (Panel 1.9)."""
    check = panel.auth._validate_next_url

    @wraps(check)
    def check_strictly(next_url: str | None) -> Any:
        if next_url and not is_local_path(next_url):
            raise HTTPError(400, "The address after the login is not on this server")
        return check(next_url)

    panel.auth._validate_next_url = check_strictly


def skip_closed_pages() -> None:
    """Send nothing more to a page that has left while a message was being sent to it.

    Panel 1.9 writes a message in several parts, in a task. If the connection ends at the first one, the second raises
    WebSocketClosedError, and asyncio logs a traceback for the task (no issue known).
    """
    dispatch = panel.io.document.dispatch_tornado

    @wraps(dispatch)
    def send(*arguments: Any, **options: Any) -> Any:
        try:
            return dispatch(*arguments, **options)
        except WebSocketClosedError:
            return []

    panel.io.document.dispatch_tornado = send


def _set_safe_cookies() -> None:
    """Give every cookie SameSite=Lax, HttpOnly and, under TLS, Secure: Tornado has no such setting (Tornado 6.6)."""
    set_cookie = RequestHandler.set_cookie
    names = list(inspect.signature(set_cookie).parameters)
    assert {"samesite", "httponly", "secure"} <= set(names)

    @wraps(set_cookie)
    def set_safely(handler: RequestHandler, *arguments: Any, **options: Any) -> None:
        safe = {"samesite": "Lax", "httponly": True, "secure": handler.request.protocol == "https"}
        set_cookie(handler, *arguments, **(options | safe))

    RequestHandler.set_cookie = set_safely  # type: ignore[method-assign, assignment]  # the workaround


def keep_requests_private(options: dict[str, Any]) -> None:
    """Leave the headers and cookies of a request out of the token of its page.

    The HTML of a page shows its token. By default Bokeh 3.9 writes all headers and cookies into it, and it refuses a
    list of those to write next to a list of those to leave out. Related: https://github.com/bokeh/bokeh/issues/11301.
    """
    for name in ("exclude_headers", "exclude_cookies"):
        options.pop(name, None)
    options |= {"include_headers": [], "include_cookies": []}


def find_origins(server: BokehServer) -> set[str]:
    """Return the origins that may open a websocket, as a set to add to.

    Bokeh 3.9 takes them before it knows the port that it listens on, and a server has no public name for its Tornado
    application, which holds them (no issue known).
    """
    origins: set[str] = server._tornado.websocket_origins
    return origins


def protect_responses(server: BokehServer, protect: type[OutputTransform]) -> None:
    """Let a transform change every response, and leave queries out of the log.

    Bokeh 3.9 has no option for either, and no public name for its Tornado application (no issue known). A query may
    hold a token or the address of a run, and Tornado 6.6 logs it.
    """
    server._tornado.add_transform(protect)
    server._tornado.settings["log_function"] = log_without_query


FIRST_CLIENT_ERROR, FIRST_SERVER_ERROR = 400, 500


def log_without_query(handler: RequestHandler) -> None:
    """Log a request by its path."""
    status, request = handler.get_status(), handler.request
    level = logging.INFO if status < FIRST_CLIENT_ERROR else logging.WARNING
    level = logging.ERROR if status >= FIRST_SERVER_ERROR else level
    milliseconds = 1_000 * request.request_time()
    access_log.log(level, "%d %s %s %.2fms", status, request.method, request.path, milliseconds)


DEFAULT_PORTS = (80, 443)


def port_of_origin(port: int) -> int:
    """Return the port that Bokeh compares for a page on this port.

    Bokeh 3.9 adds port 80 to an origin without a port, even under https, where the port is 443 (no issue known).
    """
    return 80 if port in DEFAULT_PORTS else port


# Modules whose components may have files of their own; any other name is not imported.
COMPONENT_PACKAGES = ("panel", "panel_material_ui", "stickbreaker")


class ComponentHandler(ComponentResourceHandler):
    """Files of components that are already imported.

    Panel 1.9 would import any module that a visitor names (no issue known).
    """

    def parse_url_path(self, path: str) -> str:
        """Find the file, or answer 404."""
        module = path.partition("/")[0]
        if module.partition(".")[0] not in COMPONENT_PACKAGES or module not in sys.modules:
            raise HTTPError(404)
        return super().parse_url_path(path)


def replace_route(route: tuple[Any, ...]) -> tuple[Any, ...]:
    """Put our handler of component files in the place of Panel's, which has no setting for it (Panel 1.9)."""
    return (route[0], ComponentHandler, *route[2:]) if route[1] is ComponentResourceHandler else route


# The login.


class LoginPage(BasicLoginHandler):
    """What a login page takes from Panel, with four changes (Panel 1.9).

    Panel compares passwords with `==`, which takes longer the more characters are right, and answers at once for an
    unknown user. It shows any text that the address has as `error`. It loads its style from a CDN. After a wrong
    password it answers as after a right one, with another address.
    """

    def note_next(self) -> None:
        """Remember where the login leads to if that is on this server."""
        if next_url := panel.auth._validate_next_url(self.get_argument("next", pn.state.base_url)):
            self.set_cookie("next_url", next_url)

    def let_in(self, user: str) -> None:
        """Note the user, and go where the login leads to."""
        self.set_current_user(user)
        next_url = panel.auth._validate_next_url(self.get_cookie("next_url", pn.state.base_url))
        self.redirect(next_url or pn.state.base_url)

    def show_form(self, form: Template, fault: str) -> None:
        """Show this form, or the administrator's own; its address is relative, as in Panel's own form."""
        template = form if self._login_template is BASIC_LOGIN_TEMPLATE else self._login_template
        self.write(template.render(login_endpoint=f".{self._login_endpoint}", errormessage=fault, PANEL_CDN=""))

    def passwords(self) -> Any:
        """Return passwords by user, or the one password of all."""
        given = pn.config.basic_auth
        if isinstance(given, str) and Path(given).is_file():
            return json.loads(Path(given).read_text("utf-8"))
        return given

    def _validate(self, username: str, password: str) -> bool:
        """Whether a password is right; takes the same time for an unknown user."""
        passwords = self.passwords()
        expected = passwords.get(username, "") if isinstance(passwords, dict) else passwords
        is_known = username in passwords if isinstance(passwords, dict) else True
        return hmac.compare_digest(password.encode(), str(expected).encode()) and is_known


class LogoutPage(LogoutHandler):
    """Logs out, with a page of its own: that of Panel 1.9 loads its style from a CDN (no issue known)."""

    page = ""

    def get(self) -> None:
        """Remove the cookies of the login."""
        super().get()
        self._write_buffer.clear()
        self.write(self.page)


class LoginProvider(BasicAuthProvider):
    """Panel's login with other handlers: Panel 1.9 has options for their templates only (no issue known)."""

    login_page: type[BasicLoginHandler] = BasicLoginHandler
    logout_page: type[LogoutHandler] = LogoutHandler

    @property
    def login_handler(self) -> type[RequestHandler]:
        """The login page."""
        self.login_page._login_endpoint = self._login_endpoint
        self.login_page._login_template = self._login_template
        return self.login_page

    @property
    def logout_handler(self) -> type[RequestHandler]:
        """The page that logs out."""
        return self.logout_page


# Pages and sessions.

# What Bokeh 3.9 finds out again at each access of a property that has its default: the defaults of the model's class,
# and whether this default may be a new object each time. Related: https://github.com/bokeh/bokeh/pull/13174.
collect_defaults: Any = cache(vars(HasProps)["_overridden_defaults"].__func__)
judge_default: Any = cache(PropertyDescriptor.has_unstable_default)
# It also copies, checks and converts the default again at each access; numbers and texts can be remembered.
SHAREABLE = (bool, int, float, str, type(None))
find_default: Any = PropertyDescriptor.instance_default
# For each page, Panel 1.9 compares the path of each component's style sheet with each folder of extensions.
is_subpath: Any = cache(resources._is_subpath)
# For each component of a page, it looks for the script and the style sheet of its class on disk, several times.
FIND_FILES: dict[tuple[type, str], Callable[[type], Any]] = {
    (kind, name): vars(kind)[name].f
    for kind, name in ((ReactiveESM, "_bundle_path"), (ReactiveESM, "_bundle_css"), (MaterialComponent, "_bundle_css"))
}

# Files that a page of the server does not need; a page that is saved to a file may need them.
UNUSED_FILES: dict[tuple[type, str], Callable[[type], list[str]]] = {
    (kind, name): vars(kind)[name].f
    for kind, name in (
        (NotificationArea, "__javascript__"),
        (NotificationArea, "__css__"),
        (ReactiveESMModel, "__javascript__"),
    )
}


def speed_up_models() -> None:
    """Remember what the libraries find out again each time."""
    # Bokeh 3.9 would look at the signature of each callback, only to word an error better.
    settings.perform_error_diagnostics = False
    HasProps._overridden_defaults = classmethod(collect_defaults)  # type: ignore[method-assign, assignment]
    PropertyDescriptor.has_unstable_default = _has_unstable_default
    PropertyDescriptor.instance_default = find_default_once
    resources._is_subpath = is_subpath
    # A second style sheet of panel-material-ui 0.16 has the fonts of the first once more, without the characters that
    # each one is for: a browser then loads all of them, one after the other, and draws the page again after each.
    FONT_CSS.clear()
    _leave_out_unused_files()
    for (kind, name), find in FIND_FILES.items():
        setattr(kind, name, classproperty(_remember_files(find)))


def _leave_out_unused_files() -> None:
    """Leave out of each served page the files that no part of it needs.

    They are WebGL for plots (Bokeh 3.9), messages with their icons that those of panel-material-ui replace (Panel 1.9),
    and es-module-shims, which reads through every module before the browser does (`NATIVE_IMPORT`).
    """
    BokehResources._default_components = [name for name in BokehResources._default_components if name != "bokeh-gl"]
    for (kind, name), find in UNUSED_FILES.items():
        setattr(kind, name, classproperty(_find_unless_served(find)))


def _find_unless_served(find: Callable[[type], list[str]]) -> Callable[[type], list[str]]:
    """Find the files of a class, except for pages of a server."""
    return lambda kind: [] if resources.RESOURCE_MODE == "server" else find(kind)


def _remember_files(find: Callable[[type], Any]) -> Callable[[type], Any]:
    """Find the files of a class of components once for each way to serve them."""
    found = cache(lambda kind, reloads, mode: find(kind))
    return lambda kind: found(kind, pn.config.autoreload, resources.RESOURCE_MODE)


def _has_unstable_default(descriptor: Any, model: HasProps) -> bool:
    return bool(judge_default(descriptor, type(model)))


def find_default_once(descriptor: Any, model: HasProps) -> Any:
    """Return the default of a property of a model, from memory where all models of its class have the same one."""
    shared = _share_default(descriptor, type(model))
    if not shared or descriptor.name in (model.themed_values() or ()):
        return find_default(descriptor, model)
    return shared[0]


@cache
def _share_default(descriptor: Any, kind: type[HasProps]) -> tuple[Any, ...]:
    """The default of a class in a tuple; an empty tuple if each model needs an object of its own."""
    if judge_default(descriptor, kind):
        return ()
    default = descriptor.class_default(kind)
    return (default,) if isinstance(default, SHAREABLE) else ()


def lock_documents() -> None:
    """Let what a user does change plots, even while another change from the same browser waits for its turn.

    Panel 1.9 then runs the callback later without the lock of the document, and Bokeh raises "_pending_writes should be
    non-None". Related: https://github.com/holoviz/panel/issues/4324.
    """
    for name in ("_event_coroutine", "_change_coroutine"):
        setattr(Syncable, name, with_lock(getattr(Syncable, name)))


# The page has an empty heading where a title could be, out of order (panel-material-ui 0.16, no issue known).
# On phones the settings are outside the page, where only the theme reaches them.
NO_EMPTY_HEADING = {"& .MuiToolbar-root > h5": {"visibility": "hidden"}}
NO_EMPTY_DRAWER_HEADING = {"MuiDrawer": {"styleOverrides": {"paper": NO_EMPTY_HEADING}}}
# `busy_indicator=None` does not remove the busy line of the page (panel-material-ui 0.16; from its pull request 235).
NO_BUSY_LINE = {"& .MuiAppBar-root > .MuiLinearProgress-root": {"display": "none"}}
# A page without a side would be moved to the left by the width of the side, which is closed (panel-material-ui 0.16).
NO_SIDE = {"sidebar_variant": "temporary"}


def stop_following_the_server(page: Any) -> None:
    """Stop a page from showing whether the server is busy with any page.

    Panel 1.9 would update each open page at each event of any page. Its watcher also keeps a closed page in memory.
    """
    with edit_readonly(page):
        page.busy = False
    for watcher in list(pn.state.param.watchers.get("busy", {}).get("value", ())):
        if getattr(getattr(watcher.fn, "__self__", None), "self", None) is page:
            pn.state.param.unwatch(watcher)


def keep_addresses_as_text() -> None:
    """Read the values of an address as texts.

    Panel 1.9 reads them as numbers and Python objects, which this page does not use, and makes no page at all if a
    number has more than 4,300 digits.
    """
    panel.io.location.parse_query = lambda query: dict(parse_qsl(query[1:]))


def keep_to_own_files(document: Document) -> None:
    """Tell Panel where a page finds its style sheets.

    Panel 1.9 does this when it answers a request for a page, but not if it creates the session again for a websocket
    that opens late. The style sheets would then come from a CDN, and would be missing without a network.
    """
    if settings.resources("server") == "server":
        prefix = f"{pn.state.rel_path}/" if pn.state.rel_path else ""
        document.template_variables["dist_url"] = prefix + LOCAL_DIST


def forget_views(document: Document, context: Any) -> None:
    """Remove what Panel still holds of a document whose session has ended.

    Panel does this except for the notifications of panel-material-ui 0.16, which would keep the document in memory.
    Related: https://github.com/holoviz/panel/issues/8605.
    """
    for reference, (view, root, shown_in, _) in list(pn.state._views.items()):
        if shown_in is document:
            view._cleanup(root)
            del pn.state._views[reference]


# The status bar says that the connection is lost. Panel would say it a second time, in a toast that covers the page.
# Its option for no such toast, `disconnect_notification=""`, makes panel-material-ui 0.16 fail where it reads the text.
NO_LOST_TOAST = "[id^='reconnect-notification-'] { display: none !important; }"

# A part of a layout is never higher than the part around it (Bokeh 3.9), which a page gives the height of the window:
# later parts would overlap. Related: https://github.com/bokeh/bokeh/issues/11396.
NO_HEIGHT_LIMIT = {"max-height": "none"}

# A script of the page, to be run before a module is imported: it takes the place of es-module-shims, with which Panel
# 1.9 imports modules. A browser keeps the compiled form of a module only if it imports the module itself.
NATIVE_IMPORT = read_fix("native_import")

# A script of the page: it is as dark as the system until a person chooses, and remembers the choice.
# panel-material-ui 0.16 does neither (https://github.com/panel-extensions/panel-material-ui/issues/288). It takes the
# theme from an attribute of the page as long as the attribute is there, so the script removes it when a person chooses.
THEME_CHOICE = read_fix("theme_choice")

# A script of the page, to be run before the page is drawn: the model of a component holds its values, and the component
# sends a value only when the user changes it. A component of Panel 1.9 has values of its own besides, and sends each
# one that it has drawn. If the server changes a value twice in a short time, the component sends the first one back and
# keeps it: a button then stays disabled. It also misses a change between its drawing and its listening (no issue
# known).
SINGLE_STATE = read_fix("single_state")


class SideDrawer(PlainScript):
    """Opens the side of a page wide enough for it; under 900 px the side is a drawer, closed at first.

    While it `is_closed`, the side leaves its room to the page, until the user opens it.

    panel-material-ui 0.16 makes a drawer of it under 600 px only, and opens or closes it in all windows alike. Related:
    https://github.com/panel-extensions/panel-material-ui/issues/687.
    """

    is_closed = param.Boolean(False)

    _esm = read_fix("side_drawer")


def change_after_loading(document: Document, *acts: Callable[[], None]) -> None:
    """Run these when the page has loaded.

    Panel 1.9 sends changes that are made during loading in another way, and may deliver them after later changes.
    """
    for act in acts:
        document.add_next_tick_callback(act)


# Inputs.

# The buttons next to a number have no name for a screen reader; the arrow keys do the same (panel-material-ui 0.16).
NO_SPINNERS = {"& .MuiIconButton-root": {"display": "none"}}


# Panel writes the width of a component into the style of what it contains, where a style sheet cannot reduce it
# (Panel 1.9).
FREE_WIDTH = ":host, :host > div { width: auto !important; min-width: 0 !important; }"

# The default colour of a button that is not selected has too little contrast under the pointer: 4.48 on white, where
# WCAG 2 asks for 4.5 (panel-material-ui 0.16).
READABLE_TOGGLES = {"& .MuiButtonBase-root:not(.Mui-selected)": {"color": "text.primary"}}

# For the theme: a menu has its full size at once. In one that still grows, the items move: a press that begins on one
# item and ends on the next chooses neither, and the menu stays open (panel-material-ui 0.16). Related:
# https://github.com/mui/material-ui/issues/45301.
FULL_MENUS = {"MuiMenu": {"defaultProps": {"transitionDuration": 0}}}


def empty_if_zero() -> CustomJSTickFormatter:
    """The format of a number that is never 0: panel-material-ui 0.16 sends 0 for a number without a value."""
    return CustomJSTickFormatter(code="return tick ? String(tick) : ''")


class Keyboard(PlainScript):
    """Opens selects by keys, returns the focus when a dialog or a menu closes, and Escape always closes a dialog.

    The select of panel-material-ui 0.16 opens at a click only. A dialog returns the focus to the element that had it,
    which is the host if the focus was inside a shadow root, and a host cannot have it. Related:
    https://github.com/mui/material-ui/issues/34980. A dialog looks twenty times a second whether the focus has left it,
    as it does when the button with the focus disappears, and until then Escape does not reach it.
    """

    _esm = read_fix("keyboard")


class Echoes:
    """Tells values that a menu sends back from values that the user has chosen.

    In a notebook, a menu that gets a second value while it draws the first sends the first one back, and on a busy
    machine it does so late (Panel 1.9: each component sends a value that it has drawn; a page has `SINGLE_STATE`).
    """

    SECONDS = 30.0

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._replaced: list[tuple[Any, float]] = []

    def note(self, value: Any) -> None:
        """Remember a value of the menu that the page replaces now."""
        self._replaced = [*self._recent(), (value, self._clock())]

    def holds(self, value: Any) -> bool:
        """Whether a value that the menu has sent is one that the page has just replaced."""
        return any(value == before for before, _ in self._recent())

    def forget(self) -> None:
        """Take the next value for the user's: the user has chosen another one."""
        self._replaced.clear()

    def _recent(self) -> list[tuple[Any, float]]:
        now = self._clock()
        return [(value, at) for value, at in self._replaced if now - at < self.SECONDS]


class PlacesSlider(pmui.DiscreteSlider):
    """A slider over a list of values that works with `throttled=True`.

    panel-material-ui 0.16 sends the index of a value. It looks up the value for `value`, but not for `value_throttled`,
    from which Panel then sets `value`. Panel's own slider had a similar fault:
    https://github.com/holoviz/panel/issues/1253.
    """

    def _process_property_change(self, msg: dict[str, Any]) -> dict[str, Any]:
        place = msg.pop("value_throttled", None)
        if place is None:
            return {} if pn.config.throttled else dict(super()._process_property_change(msg))
        value = self.values[place]
        return {"value": value, "value_throttled": value}


class TypedNumbers(PlainScript):
    """Sends a number as soon as the user leaves its input, so that it is sent before a press of the next button.

    The number input of panel-material-ui 0.16 sends it two renderings later. On a busy machine a button that is pressed
    meanwhile acts with the previous number, and the page then shows that number again.
    """

    _esm = read_fix("typed_numbers")


class BrowserHistory(PlainScript):
    """Makes the browser's back button follow the pages and documents that a user has opened.

    Panel 1.9 adds an entry to the browser's history at every change of the address, and changes nothing on the page
    when the user goes back (https://github.com/holoviz/panel/issues/7357). Here another page, topic, document or span
    of time adds an entry. A change of the settings replaces the present one, and so does the first topic, which a page
    selects by itself. `on_back(query)` is called with the query of the entry that the user goes to, without its topic
    and moment if they belong to an earlier run.
    """

    topics_key = param.String(doc="The runs with the same key have the same topics.")

    _esm = read_fix("browser_history")

    def __init__(self, on_back: Callable[[str], None], **params: Any):
        self._on_back = on_back
        super().__init__(**params)

    def _handle_msg(self, message: Any) -> None:
        query = message.get("query") if isinstance(message, dict) else None
        if isinstance(query, str):
            self._on_back(query)


# Plots, lists of choices and notebooks.

# Bokeh's autohide sets `visibility: hidden`, so the keyboard cannot reach the tools (Bokeh 3.9; no issue known).
TOOLS_STYLE = """
:host(.bk-hidden) { visibility: visible; pointer-events: none; }
:host(.bk-hidden:focus-within) { opacity: 1; }
"""
CORNERS = {"x": [0, 1], "y": [0, 1]}


def make_figure(**options: Any) -> figure:
    """Make a figure without an outline.

    panel-material-ui 0.16 hides the outline of a figure on a light page, but not on a dark one (no issue known).
    """
    return figure(outline_line_color=None, **options)


def hide_tools(fig: figure) -> None:
    """Show the tools of a figure only while the pointer is over it or one of them has the keyboard focus."""
    fig.toolbar.update(logo=None, autohide=True, stylesheets=[TOOLS_STYLE])


def unseen_points() -> Scatter:
    """Invisible points that only give a plot its ranges."""
    return Scatter(x="x", y="y", line_alpha=0, fill_alpha=0)


class UndrawnFigures(PlainScript):
    """Lets a layout pass over a figure that is not drawn yet, for example if the user turns the page at once.

    Bokeh 3.9 measures and places the panels of such a figure, which it has not made yet, and throws (no issue known).
    """

    _esm = read_fix("undrawn_figures")


class Seed:
    """Invisible points that give a plot its ranges while it is empty.

    Without data an automatic range is undefined: the browser logs "could not set initial ranges" at each repaint, and
    the plot may stay empty (https://github.com/bokeh/bokeh/issues/6639, Bokeh 3.9).
    """

    def __init__(self, fig: figure) -> None:
        self.source = ColumnDataSource(CORNERS)
        fig.add_glyph(self.source, unseen_points())

    def stand_in(self, is_needed: bool) -> None:
        """Add the points if they are needed, and remove them otherwise."""
        self.source.data = CORNERS if is_needed else {"x": [], "y": []}


def hideable(fig: figure, **options: Any) -> pn.Column:
    """A column around a figure, to be hidden and shown instead of its pane; options are those of the pane.

    Panel 1.9 draws a figure whose pane is hidden before it is first drawn; a related fault of widgets:
    https://github.com/holoviz/panel/issues/5354.
    """
    pane = pn.pane.Bokeh(fig, sizing_mode="stretch_width", **options)
    return pn.Column(pane, sizing_mode="stretch_width", margin=0)


def offer(select: Any, options: dict[str, Any], value: Any) -> None:
    """Change the options of a select and its value, and send the value even if it is the same as before.

    The browser knows the value by its label. If only the label changes, no new value is sent, and the select shows
    none (panel-material-ui 0.16; no issue known). Without options the select keeps its last ones: Panel 1.9 sets the
    value of an empty select again at each event, without end, and refuses the browser's answer (no issue known).
    """
    if options:
        select.param.update(options=options, value=value)
        select.param.trigger("value")


def use_plain_texts(frame: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Return a frame whose columns of texts are Python strings.

    HoloViews 1.23 cannot arrange pandas' own column of texts. Related:
    https://github.com/holoviz/holoviews/issues/6308.
    """
    return frame.astype(dict.fromkeys(columns, object))


def draw_without_webgl(renderer: Any) -> None:
    """Let a renderer of HoloViews 1.23 draw without WebGL (no issue known).

    Without a graphics card, a browser logs a warning for each plot with it.
    """
    renderer.webgl = False


def is_loaded(extension: Any) -> bool:
    """Whether a cell has called this extension; HoloViews 1.23 has no public name for it (no issue known)."""
    return bool(extension._loaded)


patch_sheet, handle_message = resources.patch_stylesheet, pyviz_comms.JupyterCommJS._handle_msg


def fix_notebook(loop: asyncio.AbstractEventLoop) -> None:
    """Make Panel send its style sheets inline and handle messages of the browser on this loop, which runs the cells."""
    resources.patch_stylesheet = panel.reactive.patch_stylesheet = inline_stylesheet
    # JupyterLab handles messages on another thread while a cell runs, since
    # https://github.com/jupyterlab/jupyterlab/pull/17363. There, pyviz_comms 3.0 captures the standard output of all
    # threads, and two threads would change one view.
    pyviz_comms.JupyterCommJS._handle_msg = lambda comm, sent: loop.call_soon_threadsafe(handle_message, comm, sent)


def inline_stylesheet(sheet: Any, address: str) -> None:
    """Replace the address of one of Panel's style sheets by its text; other sheets do not change.

    Panel's `inline` does so only at the first rendering (https://github.com/holoviz/panel/issues/8707, Panel 1.9).
    """
    patch_sheet(sheet, address)
    path = resources.DIST_DIR / sheet.url.removeprefix(resources.CDN_DIST).partition("?")[0]
    if sheet.url.startswith(resources.CDN_DIST) and path.is_file():
        sheet.url = f"data:text/css;base64,{base64.b64encode(path.read_bytes()).decode()}"


def find_roots(views: Iterable[Any]) -> dict[str, Any]:
    """Panel's record of each place where views are shown, by its key: Panel 1.9 has no public one (no issue known)."""
    refs = {ref for view in views for ref in view.__panel__()._models}
    return {ref: pn.state._views[ref] for ref in refs if ref in pn.state._views}


def are_drawn(views: Iterable[Any]) -> bool:
    """Whether a browser has drawn each place where these views are shown."""
    return all(is_drawn(root, comm) for _, root, _, comm in find_roots(views).values())


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


# Pages that leave.


class LeavingSocket(WSHandler):
    """The websocket of a page that may leave at any moment, even while it is loading (no issues known).

    The keep-alive job of Bokeh 3.9 detaches the session of a connection that is closed already. If Bokeh then hears of
    the end, or of a message that came before it, it fails an assertion. This happens if a page leaves while the server
    is busy with another one. A page that leaves before its session is made stays among the open ones until a ping.
    """

    @property
    def _is_detached(self) -> bool:
        return self.connection is not None and self.connection._session is None

    async def on_message(self, fragment: str | bytes) -> None:
        """Handle a message, unless its page has left."""
        if not self._is_detached:
            await super().on_message(fragment)

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
        """Note that the websocket of this token is open; to be overridden.

        The `open` of Bokeh 3.9 only starts a task that opens it, and has no name for its end (no issue known).
        """

    def get_websocket_protocol(self) -> Any:
        """Let an error of a write count as seen even if it is not awaited.

        Panel 1.9 starts several writes and then awaits them. If the second one fails at once, it forgets the first, and
        asyncio logs a traceback for it (WebSocketClosedError).
        """
        protocol = super().get_websocket_protocol()
        if protocol is not None:
            write = protocol.write_message

            def write_message(message: Any, binary: bool = False) -> Any:
                future = write(message, binary)
                future.add_done_callback(_see_error)
                return future

            setattr(protocol, "write_message", write_message)  # noqa: B010 - mypy refuses a method in its place
        return protocol


def _see_error(future: Any) -> None:
    if not future.cancelled():
        future.exception()
