"""Workarounds for pages: files, scripts, the lock of the document, what a closed page leaves."""

from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qsl

import panel as pn
import panel.io.location
import param
from bokeh.document import Document
from bokeh.settings import settings
from panel.io import with_lock
from panel.io.resources import LOCAL_DIST
from panel.reactive import Syncable
from panel.util.parameters import edit_readonly
from param import parameterized

SCRIPTS = Path(__file__).with_name("scripts")


def read_fix(name: str) -> str:
    """Read one of the scripts of the workarounds."""
    return (SCRIPTS / f"{name}.js").read_text(encoding="utf-8")


# A script of the page, to be run before a component is imported.
# - A browser keeps the compiled form of a module only if it imports the module itself. Panel
#   imports modules with es-module-shims, which this script replaces.
# - If the server changes a value twice in a short time, a component of Panel sends the first value
#   back and keeps it: a button then stays disabled. Here only a user's change is sent.
COMPONENTS = read_fix("components")

# A script of the page: it is as dark as the system until a person chooses, and remembers the
# choice. https://github.com/panel-extensions/panel-material-ui/issues/288
THEME_CHOICE = read_fix("theme_choice")

LOCKED = ("_event_coroutine", "_change_coroutine")


def lock_documents() -> None:
    """Let what a user does change plots while another change from the same browser waits.

    Panel runs the callback later without the lock of the document, and Bokeh raises
    "_pending_writes should be non-None". Related: https://github.com/holoviz/panel/issues/4324.
    """
    for name in LOCKED:
        callback = getattr(Syncable, name, None)
        if callback is not None and not hasattr(callback, "lock"):
            setattr(Syncable, name, with_lock(callback))


def load_fonts_once() -> None:
    """Leave out the second style sheet of panel-material-ui: the fonts of the first once more.

    It does not say for which characters each font is, so that a browser loads all of them.
    """
    getattr(import_module("panel_material_ui.base"), "FONT_CSS", []).clear()


def compare_all_values() -> None:
    """Let a view that is given another state draw if any value that it depends on differs.

    Param compares only the first of the values that a method depends on.
    """
    make_caller = getattr(parameterized, "_m_caller", None)
    if make_caller is None or hasattr(make_caller, "__wrapped__"):
        return

    @wraps(make_caller)
    def make(view: Any, method: str, what: str = "value", changed: Any = None, *rest: Any) -> Any:
        if changed is not None:
            others = view.param.method_dependencies(method)
            changed = [*changed, *(each.name for each in others if each.inst is not view)]
        return make_caller(view, method, what, changed, *rest)

    parameterized._m_caller = cast(Any, make)


def stop_following_the_server(page: Any) -> None:
    """Stop a page from showing whether the server is busy with any page.

    Panel would update each open page at each event of any page, and keep closed pages in memory.
    """
    with edit_readonly(page):
        page.busy = False
    for watcher in list(pn.state.param.watchers.get("busy", {}).get("value", ())):
        if getattr(getattr(watcher.fn, "__self__", None), "self", None) is page:
            pn.state.param.unwatch(watcher)


def keep_addresses_as_text() -> None:
    """Read addresses as texts: Panel makes no page for a number of more than 4,300 digits."""
    if hasattr(panel.io.location, "parse_query"):
        panel.io.location.parse_query = lambda query: dict(parse_qsl(query[1:]))


def keep_to_own_files(document: Document) -> None:
    """Tell Panel where a page finds its style sheets.

    It takes them from a CDN if it creates a session again for a websocket that opens late.
    """
    if settings.resources("server") == "server":
        prefix = f"{pn.state.rel_path}/" if pn.state.rel_path else ""
        document.template_variables["dist_url"] = prefix + LOCAL_DIST


def forget_views(document: Document, context: Any) -> None:
    """Remove the notifications that Panel holds of a document whose session has ended.

    https://github.com/holoviz/panel/issues/8605
    """
    views = getattr(pn.state, "_views", {})
    for reference, (view, root, shown_in, _) in list(views.items()):
        if shown_in is document:
            getattr(view, "_cleanup", lambda root: None)(root)
            del views[reference]


class PlainScript(pn.custom.JSComponent):
    """A component with a script of plain JavaScript, which browsers run as it is.

    Panel translates scripts from TypeScript each time a page opens, unless they have a bundle.
    """

    def _get_properties(self, doc: Document | None) -> dict[str, Any]:
        return super()._get_properties(doc) | {"bundle": type(self).__name__}

    def _handle_msg(self, message: Any) -> None:
        if isinstance(message, dict):
            self._hear(message)

    def _hear(self, message: dict[str, Any]) -> None:
        """Act on what the browser says."""


class SideDrawer(PlainScript):
    """Opens the side of a page as the user left it; closed at the first visit and under 900 px.

    While it `is_closed`, the side leaves its room to the page, until the user opens it.
    Related: https://github.com/panel-extensions/panel-material-ui/issues/687.
    """

    is_closed = param.Boolean(False)
    is_open = param.Boolean(False, doc="The browser shows the side.")
    num_pressed = param.Integer(0, doc="Each press opens or closes the side.")

    _esm = read_fix("side_drawer")

    def press(self, event: Any) -> None:
        """Open the side, or close it."""
        self.num_pressed += 1


class Keyboard(PlainScript):
    """Opens selects by keys, returns the focus of a closed dialog, and lets Escape close dialogs.

    The select of panel-material-ui opens at a click only. A dialog cannot return the focus into a
    shadow root (https://github.com/mui/material-ui/issues/34980), and does not hear Escape after
    the button with the focus has disappeared.
    """

    _esm = read_fix("keyboard")


class TypedNumbers(PlainScript):
    """Sends a number as soon as the user leaves its input.

    The number input of panel-material-ui sends it two renderings later: on a busy machine, after
    the next button that the user presses.
    """

    _esm = read_fix("typed_numbers")


class UndrawnFigures(PlainScript):
    """Lets a layout pass over a figure that is not drawn yet, where Bokeh throws."""

    _esm = read_fix("undrawn_figures")
