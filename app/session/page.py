"""The page of one browser around its session, as the server creates and removes it."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from weakref import WeakMethod

import panel as pn
import panel_material_ui as pmui
from panel_material_ui.template.base import Page

from stickbreaker.app.fixes.page import (
    COMPONENTS,
    THEME_CHOICE,
    forget_views,
    keep_addresses_as_text,
    keep_to_own_files,
    stop_following_the_server,
)
from stickbreaker.app.server.service import find_service
from stickbreaker.app.server.stream import find_stream
from stickbreaker.app.server.visitors import find_user
from stickbreaker.app.session.session import Session
from stickbreaker.app.session.stream_session import StreamSession
from stickbreaker.app.theme import FOCUSED_BUTTONS

TITLE = "Stickbreaker"
TITLE_HTML = f"<h1>{TITLE}</h1><p>topics discovered while reading</p>"
TITLE_STYLE = """
:host { color: #fff; }
h1 { font-size: 22px; margin: 0; font-weight: 600; } p { margin: 0; font-size: 14px; }
div { display: flex; align-items: baseline; gap: 12px; flex-wrap: wrap; }
@media (max-width: 900px) { p { display: none; } }
"""

# The page has an empty heading where a title could be, out of order. On phones the settings are
# outside the page, where only the theme reaches them.
NO_EMPTY_HEADING = {"& .MuiToolbar-root > h5": {"visibility": "hidden"}}
NO_EMPTY_DRAWER_HEADING = {"MuiDrawer": {"styleOverrides": {"paper": NO_EMPTY_HEADING}}}
# `busy_indicator=None` does not remove the busy line of the page.
NO_BUSY_LINE = {"& .MuiAppBar-root > .MuiLinearProgress-root": {"display": "none"}}
# A page without a side would be moved to the left by the width of the side, which is closed.
NO_SIDE = {"sidebar_variant": "temporary"}
# A menu has its full size at once. In one that still grows, the items move: a press that begins on
# one item and ends on the next chooses neither, and the menu stays open. Related:
# https://github.com/mui/material-ui/issues/45301.
FULL_MENUS = {"MuiMenu": {"defaultProps": {"transitionDuration": 0}}}
# The status bar says that the connection is lost. Panel would say it a second time, in a toast that
# covers the page. Its option for no such toast, `disconnect_notification=""`, makes
# panel-material-ui fail where it reads the text.
NO_LOST_TOAST = "[id^='reconnect-notification-'] { display: none !important; }"


def lay_out(session: Session | StreamSession) -> Page:
    """Lay out the views of a session as a page."""
    title = pn.pane.HTML(TITLE_HTML, stylesheets=[TITLE_STYLE])
    side = {"sidebar": [session.side]} if isinstance(session, Session) else NO_SIDE
    page = Page(
        meta=pmui.template.base.Meta(title=TITLE, name=TITLE),
        template=Path(__file__).with_name("page.html"),
        header=[title],
        sidebar_width=340,
        sidebar_open=False,
        sidebar_resizable=False,
        main=[session.layout()],
        **side,
        busy_indicator=None,
        sx=NO_BUSY_LINE | NO_EMPTY_HEADING,
        theme_config={
            "components": FOCUSED_BUTTONS | FULL_MENUS | NO_EMPTY_DRAWER_HEADING,
            "typography": {"button": {"textTransform": "none"}},
        },
    )
    stop_following_the_server(page)
    return page


def _call(to_session: WeakMethod[Callable[..., None]], *arguments: Exception) -> None:
    if (act := to_session()) is not None:
        act(*arguments)


def create() -> Page:
    """Make the page of one browser: of a run, or of the stream that the server follows.

    It joins its run when its websocket opens, and leaves it when its session ends.
    """
    document = pn.state.curdoc
    assert document is not None
    keep_to_own_files(document)
    keep_addresses_as_text()
    stream = find_stream()
    session = Session(find_service(), user=find_user()) if stream is None else StreamSession(stream)
    document.template_variables["opening"] = session.describe_opening()
    document.template_variables.update(
        fixes=NO_LOST_TOAST, theme_choice=THEME_CHOICE, components=COMPONENTS
    )
    pn.config.exception_handler = partial(_call, WeakMethod(session.report))
    pn.state.onload(partial(_call, WeakMethod(session.start)))
    pn.state.on_session_destroyed(lambda context: session.stop())
    pn.state.on_session_destroyed(partial(forget_views, document))
    return lay_out(session)
