"""Workarounds for pages: the fault in the unchanged library, and that it is gone."""

import gc
import inspect
import re
import weakref
from pathlib import Path
from types import SimpleNamespace

import panel as pn
import panel_material_ui as pmui
import param
import pytest
from bokeh.document import Document
from bokeh.events import ButtonClick
from bokeh.models import ImportedStyleSheet
from panel.io.location import Location
from panel.io.resources import CDN_DIST
from panel.io.state import set_curdoc
from panel.reactive import Syncable
from panel.util import parse_query
from panel_material_ui.base import FONT_CSS
from panel_material_ui.notifications import NotificationArea
from panel_material_ui.template.base import Page
from param import parameterized

from stickbreaker.app.fixes.page import (
    COMPONENTS,
    LOCKED,
    SCRIPTS,
    THEME_CHOICE,
    Keyboard,
    PlainScript,
    SideDrawer,
    TypedNumbers,
    UndrawnFigures,
    forget_views,
    keep_addresses_as_text,
    keep_to_own_files,
    load_fonts_once,
    lock_documents,
    stop_following_the_server,
)
from stickbreaker.app.state import RunState, StateFollower

PARTS = Path(pmui.__file__).parent


def test_each_script_belongs_to_a_workaround():
    components = (Keyboard, SideDrawer, TypedNumbers, UndrawnFigures)
    scripts = {path.read_text(encoding="utf-8") for path in SCRIPTS.iterdir()}
    assert scripts == {COMPONENTS, THEME_CHOICE, *(component._esm for component in components)}


def test_a_script_is_translated_unless_its_component_has_the_name_of_a_bundle():
    class Library(pn.custom.JSComponent):
        _esm = "export function render() {}"

    class Own(PlainScript):
        _esm = "export function render() {}"

    assert Library().get_root().bundle is None
    assert Own().get_root().bundle == "Own"


def test_panel_makes_no_page_for_an_address_with_a_long_number_and_ours_keeps_it_as_text(
    monkeypatch,
):
    search = f"?topic={'9' * 5_000}&corpus=x+y"
    monkeypatch.setattr("panel.io.location.parse_query", parse_query)
    with pytest.raises(ValueError, match="4300 digits"):
        assert Location(search=search).query_params
    keep_addresses_as_text()
    assert Location(search=search).query_params == {"topic": "9" * 5_000, "corpus": "x y"}


def test_the_library_has_a_second_style_sheet_with_fonts_for_all_characters_and_here_only_the_first():
    def find_faces(sheet):
        faces = re.findall(r"@font-face ?\{[^}]*\}", (PARTS / "dist" / sheet).read_text())
        return {re.search(r"\w[\w-]*\.woff2", face)[0]: "unicode-range" in face for face in faces}

    first, second = find_faces("panel-material-ui.bundle.css"), find_faces("material-icons.css")
    assert second.keys() <= first.keys()
    assert all(has_range == ("roboto" in name) for name, has_range in first.items())
    assert sum("roboto" in name and not has_range for name, has_range in second.items()) > 1
    load_fonts_once()
    assert FONT_CSS == []
    assert [Path(sheet).name for sheet in pmui.Button._bundle_css] == [
        "panel-material-ui.bundle.css"
    ]


@pytest.mark.parametrize("is_unchanged", [True, False])
def test_param_compares_only_the_first_value_of_two_states_and_here_all(monkeypatch, is_unchanged):
    if is_unchanged:
        monkeypatch.setattr(parameterized, "_m_caller", parameterized._m_caller.__wrapped__)
    drawn = []

    class View(StateFollower):
        @param.depends("state.topic", "state.word", watch=True)
        def draw(self):
            drawn.append((self.state.topic, self.state.word))

    view = View(RunState(topic=1, word=2))
    view.state = RunState(topic=1, word=3)
    assert drawn == ([] if is_unchanged else [(1, 3)])
    view.state = RunState(topic=1, word=3)
    assert len(drawn) == (not is_unchanged)


def is_run_under_lock(monkeypatch, document: Document) -> bool:
    """Whether an event during a waiting change is handled later under the lock."""
    context = SimpleNamespace(session=None)
    monkeypatch.setattr(document, "_session_context", lambda: context)
    monkeypatch.setitem(pn.state._change_callbacks, document, {})
    button = pmui.Button(label="Run")
    button._server_event(document, ButtonClick(None))
    (scheduled,) = document.session_callbacks
    return not getattr(scheduled.callback, "nolock", False)


def test_the_library_handles_an_event_without_the_lock_while_a_change_waits(monkeypatch):
    assert is_run_under_lock(monkeypatch, Document())
    for name in LOCKED:
        original = inspect.unwrap(getattr(Syncable, name))
        assert original is not getattr(Syncable, name)
        monkeypatch.setattr(Syncable, name, original)
    assert not is_run_under_lock(monkeypatch, Document())


def test_documents_are_locked_once_and_without_the_names_of_the_library_nothing_happens(
    monkeypatch,
):
    locked = [getattr(Syncable, name) for name in LOCKED]
    lock_documents()
    assert [getattr(Syncable, name) for name in LOCKED] == locked
    for name in LOCKED:
        monkeypatch.delattr(Syncable, name)
    lock_documents()
    assert not any(hasattr(Syncable, name) for name in LOCKED)


def follows_the_server(page: Page) -> bool:
    """Whether a page changes when the server is busy with another page."""
    pn.state._add_busy_event("elsewhere")
    try:
        return bool(page.busy)
    finally:
        pn.state._remove_busy_event("elsewhere")


def test_a_page_of_the_library_follows_the_server():
    page = Page()
    assert follows_the_server(page)
    stop_following_the_server(page)
    assert not follows_the_server(page)


def test_the_watcher_of_the_library_keeps_a_closed_page_in_memory():
    page, freed = Page(), Page()
    stop_following_the_server(freed)
    kept = weakref.ref(page), weakref.ref(freed)
    del page, freed
    gc.collect()
    assert kept[0]() is not None
    assert kept[1]() is None
    stop_following_the_server(kept[0]())


def sheets_of(document: Document) -> list[str]:
    """Where a button of a new session takes its style sheets from."""
    with set_curdoc(document):
        button = pmui.Button(label="Run").get_root(document)
    return [sheet.url for sheet in button.select({"type": ImportedStyleSheet})]


def test_the_library_takes_style_sheets_of_a_late_session_from_elsewhere():
    plain, own = Document(), Document()
    assert any(url.startswith(CDN_DIST) for url in sheets_of(plain))
    with set_curdoc(own):
        keep_to_own_files(own)
    assert all(url.startswith("static/extensions/panel/") for url in sheets_of(own))


def test_the_library_keeps_the_notifications_of_a_session_that_has_ended(monkeypatch):
    document = Document()
    request = SimpleNamespace(protocol="http", host="localhost", uri="/", arguments={})
    context = SimpleNamespace(
        id="a", _document=document, request=request, session=None, server_context=None
    )
    monkeypatch.setattr(document, "_session_context", lambda: context)
    with set_curdoc(document), pn.config.set(notifications=True):
        Page().server_doc(document)

    def list_views():
        return [
            type(view) for view, _, shown_in, _ in pn.state._views.values() if shown_in is document
        ]

    assert list_views() == [Page, NotificationArea]
    for end in tuple(document.session_destroyed_callbacks):
        end(context)
    assert list_views() == [NotificationArea]
    forget_views(document, context)
    assert list_views() == []
