"""Each workaround is still needed: a test fails as soon as the libraries do what the workaround does."""

import gc
import inspect
import os
import re
import weakref
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import bokeh
import bokeh.server.urls
import holoviews as hv
import panel as pn
import panel.auth
import panel.command.serve
import panel_material_ui as pmui
import pytest
import pyviz_comms
import tornado
from bokeh.core.property.bases import Property
from bokeh.document import Document
from bokeh.events import ButtonClick
from bokeh.models import ColumnDataSource, GlyphRenderer, ImportedStyleSheet, LinearAxis, Plot, Slider
from bokeh.settings import settings
from bokeh.util import callback_manager
from panel.custom import ReactiveESM
from panel.io.resources import CDN_DIST
from panel.io.server import AutoloadJsHandler, DocHandler, WSHandler
from panel.io.state import set_curdoc
from panel.models.esm import ReactComponent
from panel.reactive import Syncable
from panel_material_ui.base import FONT_CSS
from panel_material_ui.notifications import NotificationArea
from panel_material_ui.template.base import Page
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine
from tornado.web import Application, RequestHandler

from stickbreaker.app.panel_fixes import (
    CHECKED_WITH,
    FIND_FILES,
    PlacesSlider,
    collect_defaults,
    find_default,
    find_default_once,
    forget_views,
    is_subpath,
    judge_default,
    keep_to_own_files,
    stop_following_the_server,
)
from stickbreaker.app.widgets.pick_list import PickList
from tests.app.conftest import skip_older_versions

PARTS = Path(pmui.__file__).parent


def test_the_workarounds_were_checked_with_these_versions():
    versions = {
        "bokeh": bokeh.__version__,
        "panel": pn.__version__,
        "panel_material_ui": pmui.__version__,
        "tornado": tornado.version,
        "pyviz_comms": pyviz_comms.__version__,
        "holoviews": hv.__version__,
    }
    found = {name: ".".join(version.split(".")[:2]) for name, version in versions.items()}
    skip_older_versions(found, CHECKED_WITH)
    assert found == CHECKED_WITH


def test_bokeh_signs_no_session_tokens_by_itself_and_keeps_the_secret_of_its_import(monkeypatch):
    assert not settings.sign_sessions()
    before = settings.secret_key_bytes()
    monkeypatch.setattr(settings, "secret_key", "later")
    assert settings.secret_key_bytes() == before


def test_panel_serves_the_script_that_hands_out_tokens_and_has_its_own_handlers_of_a_page():
    handlers = [handler for _, handler in bokeh.server.urls.per_app_patterns]
    assert {AutoloadJsHandler, DocHandler, WSHandler} <= set(handlers)
    assert panel.command.serve.BasicAuthProvider is panel.auth.BasicAuthProvider


def test_panel_lets_a_login_lead_to_an_address_with_three_slashes():
    assert panel.auth._validate_next_url("///evil.example") == "///evil.example"


def test_tornado_logs_the_query_of_a_request_and_sets_bare_cookies():
    line = RequestStartLine("GET", "/app?token=secret", "HTTP/1.1")
    request = HTTPServerRequest(start_line=line, headers=HTTPHeaders(Host="localhost"), connection=Mock())
    handler = RequestHandler(Application(), request)
    assert "secret" in handler._request_summary()
    handler.set_cookie("name", "value")
    assert handler._new_cookie["name"].OutputString() == "name=value; Path=/"


def test_panel_adds_an_entry_to_the_history_and_does_not_follow_the_way_back():
    source = (Path(pn.__file__).parent / "dist" / "panel.min.js").read_text(encoding="utf-8")
    assert "pushState" in source
    assert "popstate" not in source


def values_of(slider_class: type[pmui.DiscreteSlider]) -> list[object]:
    """What a slider over 16, 32 and 64 makes of a browser's message that the user has let go of the third."""
    slider = slider_class(options=[16, 32, 64], value=16)
    with pn.config.set(throttled=True):
        changes = slider._process_property_change({"value_throttled": 2})
    return [changes.get("value"), changes.get("value_throttled")]


def test_a_slider_of_the_library_takes_the_index_of_a_value_for_the_value():
    assert values_of(PlacesSlider) == [64, 64]
    with pytest.raises(ValueError, match="2 is not in list|2 not in list"):
        values_of(pmui.DiscreteSlider)


def test_the_library_sends_a_typed_number_in_an_effect_after_the_input_is_left():
    source = (PARTS / "widgets" / "NumberInput.jsx").read_text()
    assert "onBlur={() => setFocused(false)}" in source
    assert re.search(r"useEffect\(\(\) => {[^}]*} else {\s*const newValue = validate\(editableValue\)", source)


def test_the_library_gives_the_buttons_of_a_number_no_name():
    source = (PARTS / "widgets" / "NumberInput.jsx").read_text()
    assert source.count("<IconButton") == 2
    assert "aria-label" not in source


def test_the_library_reads_the_text_of_a_toast_that_it_was_told_not_to_show():
    source = (PARTS / "NotificationArea.jsx").read_text()
    assert "const msg = model.js_events.connection_lost.message" in source
    assert "id={uuid ?? notification._uuid}" in source
    assert "reconnect_id = `reconnect-notification-${" in source


def test_the_library_collects_the_defaults_of_a_class_at_each_access():
    collect = collect_defaults.__wrapped__
    assert collect(Slider) is not collect(Slider)
    assert collect_defaults(Slider) is collect_defaults(Slider)


def test_the_library_compares_paths_of_style_sheets_each_time(monkeypatch, tmp_path):
    compared, normalise = [], os.path.normpath
    monkeypatch.setattr(os.path, "normpath", lambda path: compared.append(path) or normalise(path))
    for _ in range(2):
        assert is_subpath.__wrapped__(str(tmp_path / "sheet.css"), str(tmp_path))
    assert len(set(compared)) == 2
    assert len(compared) >= 4


def test_the_library_looks_for_the_files_of_components_each_time_and_here_once(monkeypatch):
    assert PickList._bundle_path is None
    looked, is_file = [], Path.is_file
    monkeypatch.setattr(Path, "is_file", lambda path: looked.append(path) or is_file(path))
    assert PickList._bundle_path is None
    assert looked == []
    find = FIND_FILES[ReactiveESM, "_bundle_path"]
    assert [find(PickList) for _ in range(2)] == [None, None]
    half = len(looked) // 2
    assert looked[:half] == looked[half:] != []


def test_the_library_has_a_second_style_sheet_with_fonts_for_all_characters_and_here_only_the_first():
    def find_faces(sheet):
        faces = re.findall(r"@font-face ?\{[^}]*\}", (PARTS / "dist" / sheet).read_text())
        return {re.search(r"\w[\w-]*\.woff2", face)[0]: "unicode-range" in face for face in faces}

    first, second = find_faces("panel-material-ui.bundle.css"), find_faces("material-icons.css")
    assert second.keys() <= first.keys()
    assert all(has_range == ("roboto" in name) for name, has_range in first.items())
    assert sum("roboto" in name and not has_range for name, has_range in second.items()) > 1
    assert FONT_CSS == []
    assert [Path(sheet).name for sheet in pmui.Button._bundle_css] == ["panel-material-ui.bundle.css"]


def test_the_library_looks_at_the_signature_of_each_callback_unless_told_not_to(monkeypatch):
    looked, look = [], inspect.signature
    monkeypatch.setattr(callback_manager, "signature", lambda callback: looked.append(callback) or look(callback))
    diagnoses = settings.perform_error_diagnostics
    for is_default in (True, False):
        looked.clear()
        monkeypatch.setattr(diagnoses, "_user_value", diagnoses.default if is_default else False)
        Slider().on_change("value", lambda name, old, new: None)
        assert bool(looked) == is_default


def test_what_is_remembered_of_defaults_is_what_the_library_finds():
    for each in (Slider, Plot, LinearAxis, GlyphRenderer, ColumnDataSource):
        assert collect_defaults(each) == collect_defaults.__wrapped__(each)
        for name in each.properties():
            assert judge_default(each.lookup(name), each) == judge_default.__wrapped__(each.lookup(name), each())


def test_the_library_checks_a_default_at_each_access_and_here_it_is_checked_once(monkeypatch):
    checked, prepare = [], Property.prepare_value
    monkeypatch.setattr(Property, "prepare_value", lambda *given: checked.append(given[2]) or prepare(*given))
    descriptor, models = Slider.lookup("step"), [Slider() for _ in range(3)]
    find_default_once(descriptor, models[0])
    for find, expected in ((find_default, 3), (find_default_once, 0)):
        checked.clear()
        assert [find(descriptor, model) for model in models] == [1, 1, 1]
        assert len(checked) == expected


@pytest.mark.parametrize("kind", [Slider, Plot, LinearAxis, GlyphRenderer, ColumnDataSource])
def test_defaults_from_memory_are_those_of_the_library_also_under_a_theme(kind):
    model, other = kind(), kind()
    for name in kind.properties():
        descriptor = kind.lookup(name)
        if not judge_default(descriptor, kind):
            assert find_default_once(descriptor, model) == find_default(descriptor, model)
    model.apply_theme({"name": "themed"})
    assert (model.name, other.name) == ("themed", None)


def is_run_under_lock(monkeypatch, document: Document) -> bool:
    """Whether an event that comes while a change waits is handled later under the lock of the document."""
    context = SimpleNamespace(session=None)
    monkeypatch.setattr(document, "_session_context", lambda: context)
    monkeypatch.setitem(pn.state._change_callbacks, document, {})
    button = pmui.Button(label="Run")
    button._server_event(document, ButtonClick(None))
    (scheduled,) = document.session_callbacks
    return not getattr(scheduled.callback, "nolock", False)


def test_the_library_handles_an_event_without_the_lock_while_a_change_waits(monkeypatch):
    assert is_run_under_lock(monkeypatch, Document())
    for name in ("_event_coroutine", "_change_coroutine"):
        original = inspect.unwrap(getattr(Syncable, name))
        assert original is not getattr(Syncable, name)
        monkeypatch.setattr(Syncable, name, original)
    assert not is_run_under_lock(monkeypatch, Document())


def test_a_page_without_a_busy_indicator_still_has_a_busy_line():
    with set_curdoc(Document()):
        page = next(iter(Page(busy_indicator=None).get_root().select({"type": ReactComponent})))
    assert page.data.busy_indicator == "linear"


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
    context = SimpleNamespace(id="a", _document=document, request=request, session=None, server_context=None)
    monkeypatch.setattr(document, "_session_context", lambda: context)
    with set_curdoc(document), pn.config.set(notifications=True):
        Page().server_doc(document)

    def list_views():
        return [type(view) for view, _, shown_in, _ in pn.state._views.values() if shown_in is document]

    assert list_views() == [Page, NotificationArea]
    for end in tuple(document.session_destroyed_callbacks):
        end(context)
    assert list_views() == [NotificationArea]
    forget_views(document, context)
    assert list_views() == []
