"""Workarounds for pages: their files and scripts, the lock of their document, and what Panel keeps
of a closed page.
"""

from importlib import import_module
from pathlib import Path
from typing import Any
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

SCRIPTS = Path(__file__).with_name("scripts")


def read_fix(name: str) -> str:
    """Read one of the scripts of the workarounds."""
    return (SCRIPTS / f"{name}.js").read_text(encoding="utf-8")


# A script of the page, to be run before a component is imported.
# - It takes the place of es-module-shims, with which Panel imports modules: a browser keeps the
# compiled form of a module only if it imports the module itself. - The model of a component holds
# its values, and the component sends a value only when the user changes it. A component of Panel
# has values of its own besides, and sends each one that it has drawn. If the server changes a value
# twice in a short time, the component sends the first one back and keeps it: a button then stays
# disabled.
COMPONENTS = read_fix("components")

# A script of the page: it is as dark as the system until a person chooses, and remembers the
# choice. panel-material-ui does neither
# (https://github.com/panel-extensions/panel-material-ui/issues/288). It takes the theme from an
# attribute of the page as long as the attribute is there, so the script removes it when a person
# chooses.
THEME_CHOICE = read_fix("theme_choice")

# Events and changes of the user, which Panel runs later under these names.
LOCKED = ("_event_coroutine", "_change_coroutine")


def lock_documents() -> None:
    """Let what a user does change plots, even while another change from the same browser waits for
    its turn.

    Panel then runs the callback later without the lock of the document, and Bokeh raises
    "_pending_writes should be non-None". Related: https://github.com/holoviz/panel/issues/4324.
    """
    for name in LOCKED:
        callback = getattr(Syncable, name, None)
        if callback is not None and not hasattr(callback, "lock"):
            setattr(Syncable, name, with_lock(callback))


def load_fonts_once() -> None:
    """Leave out the second style sheet of panel-material-ui, which has the fonts of the first once
    more.

    There they are without the characters that each one is for: a browser loads all of them, one
    after the other, and draws the page again after each.
    """
    getattr(import_module("panel_material_ui.base"), "FONT_CSS", []).clear()


def stop_following_the_server(page: Any) -> None:
    """Stop a page from showing whether the server is busy with any page.

    Panel would update each open page at each event of any page. Its watcher also keeps a closed
    page in memory.
    """
    with edit_readonly(page):
        page.busy = False
    for watcher in list(pn.state.param.watchers.get("busy", {}).get("value", ())):
        if getattr(getattr(watcher.fn, "__self__", None), "self", None) is page:
            pn.state.param.unwatch(watcher)


def keep_addresses_as_text() -> None:
    """Read the values of an address as texts.

    Panel reads them as numbers and Python objects, which this page does not use, and makes no page
    at all if a number has more than 4,300 digits.
    """
    if hasattr(panel.io.location, "parse_query"):
        panel.io.location.parse_query = lambda query: dict(parse_qsl(query[1:]))


def keep_to_own_files(document: Document) -> None:
    """Tell Panel where a page finds its style sheets.

    Panel does this when it answers a request for a page, but not if it creates the session again
    for a websocket that opens late. The style sheets would then come from a CDN, and would be
    missing without a network.
    """
    if settings.resources("server") == "server":
        prefix = f"{pn.state.rel_path}/" if pn.state.rel_path else ""
        document.template_variables["dist_url"] = prefix + LOCAL_DIST


def forget_views(document: Document, context: Any) -> None:
    """Remove what Panel still holds of a document whose session has ended.

    Panel does this except for the notifications of panel-material-ui, which would keep the document
    in memory. Related: https://github.com/holoviz/panel/issues/8605.
    """
    views = getattr(pn.state, "_views", {})
    for reference, (view, root, shown_in, _) in list(views.items()):
        if shown_in is document:
            getattr(view, "_cleanup", lambda root: None)(root)
            del views[reference]


class PlainScript(pn.custom.JSComponent):
    """A component with a script of plain JavaScript, which browsers run as it is.

    Panel translates every script from TypeScript and JSX each time a page opens, unless the script
    is in a bundle: then it has a name here.
    """

    def _get_properties(self, doc: Document | None) -> dict[str, Any]:
        return super()._get_properties(doc) | {"bundle": type(self).__name__}


class SideDrawer(PlainScript):
    """Opens the side of a page wide enough for it.

    Under 900 px the side is a drawer, closed at first.

    While it `is_closed`, the side leaves its room to the page, until the user opens it.

    panel-material-ui makes a drawer of it under 600 px only, and opens or closes it in all windows
    alike. Related: https://github.com/panel-extensions/panel-material-ui/issues/687.
    """

    is_closed = param.Boolean(False)

    _esm = read_fix("side_drawer")


class Keyboard(PlainScript):
    """Opens selects by keys, returns the focus when a dialog or a menu closes, and Escape always
    closes a dialog.

    The select of panel-material-ui opens at a click only. A dialog returns the focus to the element
    that had it, which is the host if the focus was inside a shadow root, and a host cannot have it.
    Related: https://github.com/mui/material-ui/issues/34980. A dialog looks twenty times a second
    whether the focus has left it, as it does when the button with the focus disappears, and until
    then Escape does not reach it.
    """

    _esm = read_fix("keyboard")


class TypedNumbers(PlainScript):
    """Sends a number as soon as the user leaves its input, so that it is sent before a press of the
    next button.

    The number input of panel-material-ui sends it two renderings later. On a busy machine a button
    that is pressed meanwhile acts with the previous number, and the page then shows that number
    again.
    """

    _esm = read_fix("typed_numbers")


class UndrawnFigures(PlainScript):
    """Lets a layout pass over a figure that is not drawn yet, for example if the user turns the
    page at once.

    Bokeh measures and places the panels of such a figure, which it has not made yet, and throws.
    """

    _esm = read_fix("undrawn_figures")
