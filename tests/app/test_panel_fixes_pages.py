"""Workarounds for pages and inputs: each works, and a test fails once it is no longer needed."""

import inspect
import re
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import bokeh.resources
import panel as pn
import panel.io.notifications
import panel.models.esm
import panel_material_ui as pmui
import pytest
from bokeh.document import Document
from panel.io.resources import Resources
from panel.io.state import set_curdoc

from stickbreaker import app
from stickbreaker.app.panel_fixes import (
    FREE_WIDTH,
    FULL_MENUS,
    NATIVE_IMPORT,
    NO_HEIGHT_LIMIT,
    NO_SIDE,
    READABLE_TOGGLES,
    SCRIPTS,
    SINGLE_STATE,
    THEME_CHOICE,
    BrowserHistory,
    Echoes,
    Keyboard,
    PlainScript,
    SideDrawer,
    TypedNumbers,
    UndrawnFigures,
    change_after_loading,
    empty_if_zero,
)
from stickbreaker.app.theme import contrast

APP = Path(app.__file__).parent
PARTS = Path(pmui.__file__).parent
BUNDLE = (PARTS / "dist" / "panel-material-ui.bundle.js").read_text(encoding="utf-8")
BOKEH_JS = (Path(bokeh.__file__).parent / "server" / "static" / "js" / "bokeh.js").read_text(encoding="utf-8")
PANEL_JS = (Path(pn.__file__).parent / "dist" / "panel.js").read_text(encoding="utf-8")
PAGE = (PARTS / "template" / "Page.jsx").read_text(encoding="utf-8")
SELECT = (PARTS / "widgets" / "Select.jsx").read_text(encoding="utf-8")
# How a component of React gets a value from the server and sends it back.
USE_STATE = PANEL_JS.partition('name == "useState"')[2].partition("return [value, setValue]")[0]
# WCAG 2, for text of a usual size.
LEAST_CONTRAST = 4.5


def test_each_script_belongs_to_a_workaround():
    components = (BrowserHistory, Keyboard, SideDrawer, TypedNumbers, UndrawnFigures)
    scripts = {path.read_text(encoding="utf-8") for path in SCRIPTS.iterdir()}
    assert scripts == {NATIVE_IMPORT, THEME_CHOICE, SINGLE_STATE, *(component._esm for component in components)}


def test_panel_still_translates_a_script_that_is_in_no_bundle_and_takes_ours_as_they_are():
    is_plain = r"compile\(\) \{\s*if \(this\.bundle != null\)\s*(\{\s*)?return this\.esm;"
    assert re.search(is_plain + r"[\s}]*let compiled;\s*try \{\s*compiled = .*transform\)?\(this\.esm", PANEL_JS)

    class Library(pn.custom.JSComponent):
        _esm = "export function render() {}"

    class Own(PlainScript):
        _esm = "export function render() {}"

    assert Library().get_root().bundle is None
    assert Own().get_root().bundle == "Own"


def test_panel_still_imports_modules_with_a_library_that_a_browser_does_without():
    """A module that imports another by its name would need the library."""
    assert len(re.findall(r"importShim\(\w+\)", PANEL_JS)) == 2
    assert "es-module-shims" in inspect.getsource(panel.models.esm)
    assert not re.search(r"""(^|[;}\n])import\s*[\w{*"']|\bimport\(""", BUNDLE)
    assert not any(re.search(r"^import\b", path.read_text(), re.MULTILINE) for path in APP.rglob("*.js"))


def test_a_page_loads_no_file_that_no_part_of_it_needs():
    assert "bokeh-gl" in inspect.getsource(bokeh.resources)
    assert "notyf" in inspect.getsource(panel.io.notifications)
    files = Resources(mode="server")
    names = [*files.js_files, *files.css_files]
    assert not [name for name in names if re.search("es-module-shims|bokeh-gl|notyf|font-awesome", name)]
    saved = Resources(mode="cdn")
    assert "es-module-shims.min.js" in {Path(name).name for name in saved.js_files}
    assert "bokeh.min.js" in {urlsplit(name).path.rpartition("/")[2] for name in names}


def test_bokeh_still_makes_no_part_of_a_layout_higher_than_the_part_around_it():
    assert NO_HEIGHT_LIMIT == {"max-height": "none"}
    assert re.search(r'height_policy != "fixed"\) {\s*styles\.max_height = "100%"', BOKEH_JS)
    assert 'PAGE_ROOT_SX = {display: "flex", width: "100vw", height: "100vh"' in PAGE


def test_the_library_still_does_not_follow_or_remember_a_theme_and_takes_it_from_an_attribute():
    sources = [path.read_text(encoding="utf-8") for path in PARTS.rglob("*.jsx")]
    own = (PARTS / "utils.js").read_text(encoding="utf-8")
    for word in ("prefers-color-scheme", "localStorage"):
        assert word in THEME_CHOICE
        assert not any(word in source for source in (*sources, own))
    assert "document.documentElement.dataset.theme" in own
    assert 'aria-label="Toggle theme"' in PAGE


def test_the_library_still_makes_a_drawer_in_very_narrow_windows_only():
    assert 'isMobile = useMediaQuery(theme.breakpoints.down("sm"))' in PAGE
    assert '[open, setOpen] = model.useState("sidebar_open")' in PAGE
    assert "setOpen(isMobile" not in PAGE


def test_panel_still_counts_a_page_as_loading_while_it_runs_what_was_asked_for_on_loading(monkeypatch):
    document, seen = Document(), []
    monkeypatch.setattr(document, "_session_context", lambda: SimpleNamespace(session=None))
    with set_curdoc(document):
        pn.state.onload(lambda: seen.append(pn.state.loaded))
        pn.state._on_load(document)
        assert seen == [False]
        assert pn.state.loaded


def test_changes_after_loading_are_made_in_later_ticks_in_their_order():
    ticks, acts = [], []
    change_after_loading(
        SimpleNamespace(add_next_tick_callback=ticks.append), lambda: acts.append(1), lambda: acts.append(2)
    )
    assert acts == []
    for tick in ticks:
        tick()
    assert acts == [1, 2]


def test_a_component_still_has_values_of_its_own_and_sends_each_that_it_has_drawn():
    assert 'Bokeh.Models.get("panel.models.esm.ReactComponent")' in SINGLE_STATE
    replaced = re.findall(r'^    \["(.+?)", ', SINGLE_STATE, re.MULTILINE)
    assert len(replaced) == 3
    assert [PANEL_JS.count(part) for part in replaced] == [1, 1, 1]
    drawn, _, listening = USE_STATE.partition("React.useEffect(() => {")
    assert "React.useState(targetModel.attributes[resolvedProp])" in drawn
    assert re.search(r"react_proxy\.on\(prop, cb, true\)\s*return", listening)
    assert re.search(r"targetModel\.setv\(\{ \[resolvedProp\]: value \}\).*?\[value\]\)", USE_STATE, re.DOTALL)


def test_panel_still_writes_a_width_where_only_an_important_rule_reduces_it():
    assert re.search(r"el\.style\.width = .*px\)?\(model\.width\)", PANEL_JS)
    assert FREE_WIDTH.count("!important") == 2


def blend(opacity: float, background: float) -> float:
    """The grey of black of this opacity on a grey."""
    return (1 - opacity) * background


def test_the_default_colour_of_a_button_still_has_too_little_contrast_under_the_pointer():
    root = BUNDLE.partition('name:"MuiToggleButton",slot:"Root"')[2][:600]
    assert re.search(r"color:\(\w+\.vars\|\|\w+\)\.palette\.action\.active", root)
    text, pointer = (
        float(re.search(rf'{name}:"rgba\(0, 0, 0, ([\d.]+)\)"', BUNDLE)[1]) for name in ("active", "hover")
    )
    under = blend(pointer, 255)
    colors = [f"#{3 * f'{round(grey):02x}'}" for grey in (blend(text, under), under)]
    assert contrast(*colors) < LEAST_CONTRAST
    assert READABLE_TOGGLES["& .MuiButtonBase-root:not(.Mui-selected)"] == {"color": "text.primary"}


def test_a_menu_of_the_library_still_grows():
    assert re.search(r'name:"MuiMenu"\}\),\{.{0,200}transitionDuration:\w+="auto"', BUNDLE)
    assert FULL_MENUS["MuiMenu"]["defaultProps"]["transitionDuration"] == 0


@pytest.mark.parametrize("kind", [pmui.IntInput, pmui.FloatInput])
def test_the_library_still_sends_0_for_a_number_without_a_value(kind):
    assert kind(value=None).get_root(Document()).data.value == 0
    shown = kind(value=None, format=empty_if_zero()).get_root(Document()).data.format
    assert shown.code == "return tick ? String(tick) : ''"


def test_a_select_of_the_library_still_opens_at_a_click_only():
    assert "onClick={() => setOpen(true)}" in SELECT
    assert "onOpen" not in SELECT
    assert "onKeyDown" not in SELECT.partition("<Select\n")[2]


def test_a_dialog_of_the_library_still_returns_the_focus_to_what_the_event_names():
    # Outside a shadow root, the event names its host.
    assert re.search(r"\w+\.current===null&&\(\w+\.current=\w+\.relatedTarget\)", BUNDLE)


def test_a_dialog_of_the_library_still_looks_twenty_times_a_second_whether_the_focus_has_left_it():
    assert re.search(r'setInterval\(\(\)=>\{let (\w+)=\w+\(\w+\);\1&&\1\.tagName==="BODY"&&\w+\(\)\},50\)', BUNDLE)


def test_a_replaced_value_is_an_echo_for_half_a_minute_or_until_the_user_chooses():
    now = [0.0]
    echoes = Echoes(lambda: now[0])
    echoes.note([1])
    now[0] = Echoes.SECONDS - 1
    echoes.note([2])
    assert [echoes.holds(value) for value in ([1], [2], [3])] == [True, True, False]
    now[0] = Echoes.SECONDS
    assert [echoes.holds(value) for value in ([1], [2])] == [False, True]
    echoes.forget()
    assert not echoes.holds([2])


def test_a_page_without_a_side_is_still_moved_by_its_width_unless_the_side_is_temporary():
    assert 'marginLeft: variant === "persistent" ? `-${sidebar_width}px` : "0px"' in PAGE
    assert NO_SIDE == {"sidebar_variant": "temporary"}
