"""The page of one browser around its session, as the server creates and removes it."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from weakref import WeakMethod

import panel as pn
import panel_material_ui as pmui
from panel_material_ui.template.base import Page

from stickbreaker.app.panel_fixes import (
    FULL_MENUS,
    NATIVE_IMPORT,
    NO_BUSY_LINE,
    NO_EMPTY_DRAWER_HEADING,
    NO_EMPTY_HEADING,
    NO_LOST_TOAST,
    NO_SIDE,
    SINGLE_STATE,
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
TITLE_HTML = f"""<h1>{TITLE}</h1><p>topics discovered while reading</p>"""
TITLE_STYLE = """
:host { color: #fff; }
h1 { font-size: 22px; margin: 0; font-weight: 600; } p { margin: 0; font-size: 14px; }
div { display: flex; align-items: baseline; gap: 12px; flex-wrap: wrap; }
@media (max-width: 900px) { p { display: none; } }
"""


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


def _start(to_session: WeakMethod[Callable[[], None]]) -> None:
    start = to_session()
    if start is not None:
        start()


def _report(to_session: WeakMethod[Callable[[Exception], None]], error: Exception) -> None:
    report = to_session()
    if report is not None:
        report(error)


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
        fixes=NO_LOST_TOAST, theme_choice=THEME_CHOICE, native_import=NATIVE_IMPORT, single_state=SINGLE_STATE
    )
    pn.config.exception_handler = partial(_report, WeakMethod(session.report))
    pn.state.onload(partial(_start, WeakMethod(session.start)))
    pn.state.on_session_destroyed(lambda context: session.stop())
    pn.state.on_session_destroyed(partial(forget_views, document))
    return lay_out(session)
