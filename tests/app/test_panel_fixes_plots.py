"""Workarounds for plots, selects and notebooks: each works, and a test fails once it is no longer needed."""

import asyncio
import inspect
import re
import threading
from pathlib import Path
from types import SimpleNamespace

import bokeh
import holoviews as hv
import pandas as pd
import panel as pn
import panel_material_ui as pmui
import pytest
import pyviz_comms
from bokeh.document import Document
from bokeh.models import DataRange1d, ImportedStyleSheet, LayoutDOM, Plot
from bokeh.plotting import figure
from holoviews.ipython import notebook_extension
from panel.io import resources
from panel.io.model import diff
from pyviz_comms import Comm, JupyterCommJS

from stickbreaker.app.panel_fixes import (
    TOOLS_STYLE,
    Seed,
    draw_without_webgl,
    find_roots,
    fix_notebook,
    hide_tools,
    hideable,
    is_drawn,
    is_loaded,
    make_figure,
    offer,
    use_plain_texts,
)

BOKEH_JS = (Path(bokeh.__file__).parent / "server" / "static" / "js" / "bokeh.js").read_text(encoding="utf-8")


def test_a_figure_has_no_outline_on_a_dark_page():
    assert make_figure().outline_line_color is None


def test_panel_material_ui_still_hides_outlines_on_light_pages_only():
    script = (Path(pmui.__file__).parent / "utils.js").read_text(encoding="utf-8")
    assert "minimal ? (dark ? 0.25 : 0) : 1" in script


def test_tools_appear_on_hover_and_keep_a_place_in_the_keyboard_order():
    fig = figure()
    hide_tools(fig)
    assert fig.toolbar.autohide
    assert fig.toolbar.logo is None
    assert fig.toolbar.stylesheets == [TOOLS_STYLE]


def test_bokeh_still_hides_its_tools_from_the_keyboard():
    rules = re.findall(r"bk-hidden\)\{([^}]*)\}", BOKEH_JS)
    assert any("visibility:hidden" in rule and "transition" in rule for rule in rules)


def test_bokeh_still_measures_the_panels_of_a_figure_that_it_has_not_drawn():
    assert re.search(r"const \{ layout \} = this;\s+const top = layout\.top_panel\.measure", BOKEH_JS)


def test_an_empty_plot_gets_points_for_its_ranges_and_loses_them_with_the_first_data():
    fig = figure()
    seed = Seed(fig)
    assert isinstance(fig.x_range, DataRange1d)
    seed.stand_in(False)
    assert seed.source.data == {"x": [], "y": []}
    seed.stand_in(True)
    assert seed.source.data == {"x": [0, 1], "y": [0, 1]}


def test_bokeh_still_warns_about_an_empty_plot():
    assert "could not set initial ranges" in BOKEH_JS


def count_values(change):
    """How often the value of a select is sent to the browser while a function changes its labels."""
    select = pmui.Select(options={"topic 1": 1, "topic 2": 2}, value=1)
    model = select.get_root(Document(), Comm())
    sent = []
    model.data.on_change("value", lambda name, old, new: sent.append(new))
    change(select)
    return sent


def test_a_select_sends_its_new_label_only_if_it_is_told_to():
    renamed = {"war": 1, "topic 2": 2}
    assert count_values(lambda select: select.param.update(options=renamed, value=1)) == []
    assert count_values(lambda select: offer(select, renamed, 1)) == ["war"]


def test_panel_still_refuses_the_value_of_a_select_without_options_and_sets_it_without_end():
    select, kept = (pmui.Select(options={"topic 1": 1}, value=1) for _ in range(2))
    for each in (select, kept):
        each.get_root(Document(), Comm())
    select.param.update(options={}, value=None)
    select._process_events({"value": "topic 1"})
    assert select.value is None
    with pytest.raises(RecursionError):
        select.param.trigger("value")
    offer(kept, {}, None)
    assert (kept.options, kept.value) == ({"topic 1": 1}, 1)


def test_panel_still_draws_a_figure_whose_pane_is_hidden_at_first():
    hidden, column = pn.pane.Bokeh(figure(), visible=False), hideable(figure())
    column.visible = False
    drawn = [view.get_root(Document(), Comm()).select({"type": LayoutDOM}) for view in (hidden, column)]
    assert [all(model.visible for model in models) for models in drawn] == [True, False]


@pytest.fixture
def unfixed(monkeypatch):
    """Restores Panel's own functions after the test."""
    for owner, name in ((resources, "patch_stylesheet"), (pn.reactive, "patch_stylesheet")):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    monkeypatch.setattr(JupyterCommJS, "_handle_msg", JupyterCommJS._handle_msg)


@pytest.fixture
def loop(unfixed):
    """The loop of the cells of a notebook that is fixed."""
    with asyncio.Runner() as runner:
        fix_notebook(runner.get_loop())
        yield runner


def find_addresses():
    """The addresses of the style sheets of views, some of which are added after the first rendering."""
    shown = pn.Column(pn.widgets.FloatSlider(), pn.pane.HTML("early"))
    root = shown.get_root(Document(), Comm())
    shown.append(pn.Card(pn.widgets.Select(options=["late"]), pn.indicators.Progress()))
    return {model.url for model in root.references() if isinstance(model, ImportedStyleSheet)}


def test_views_shown_first_or_later_need_no_style_sheet_from_the_network(loop):
    addresses = find_addresses()
    assert addresses
    assert {address.partition(",")[0] for address in addresses} == {"data:text/css;base64"}


def test_panel_still_asks_the_network_for_style_sheets_with_inline(unfixed):
    with pn.config.set(inline=True):
        assert any(address.startswith("http") for address in find_addresses())


def test_a_message_on_another_thread_is_handled_on_the_thread_of_the_cells(loop, monkeypatch):
    handled = []

    def record(line, what):
        handled.append((threading.current_thread(), what))

    monkeypatch.setattr("stickbreaker.app.panel_fixes.handle_message", record)

    async def cell():
        await asyncio.to_thread(JupyterCommJS._handle_msg, None, "moved")
        await asyncio.sleep(0)

    loop.run(cell())
    assert handled == [(threading.main_thread(), "moved")]


def test_pyviz_comms_still_captures_the_standard_output_of_all_threads(unfixed):
    assert "StandardOutput()" in inspect.getsource(pyviz_comms.Comm._handle_msg)


class Line(Comm):
    """A connection that the browser has not opened yet."""

    def init(self, on_msg=None):
        self._comm = self


def test_a_plot_is_drawn_once_the_browser_has_connected_and_sent_its_width():
    root, line = pn.Column(pn.pane.Bokeh(figure())).get_root(Document(), Comm()), Line()
    assert is_drawn(root, None)
    assert not is_drawn(root, line)
    line.init()
    assert not is_drawn(root, line)
    next(iter(root.select({"type": Plot}))).set_from_json("inner_width", 300)
    assert is_drawn(root, line)


def has_unsent(is_answered):
    """Whether a change of a view is still to be sent, after a message from the browser or without one."""
    document, column = Document(), pn.Column()
    root = column.get_root(document, Comm())
    document.add_root(root)
    document.hold()
    root.tags = ["changed"]
    if is_answered:
        patch = SimpleNamespace(apply_to_document=lambda document, comm_id: None)
        column._on_msg(root.ref["id"], SimpleNamespace(assemble=lambda message: patch), {})
    return diff(document) is not None


def test_panel_still_drops_unsent_events_at_a_message_from_the_browser():
    assert has_unsent(is_answered=False)
    assert not has_unsent(is_answered=True)


def test_panel_still_has_no_public_record_of_where_a_view_is_shown():
    assert not re.search(r"return self\._views\s*$", inspect.getsource(type(pn.state)), re.MULTILINE)
    column = pn.Column()
    root = column.get_root(Document(), Comm())
    views = SimpleNamespace(__panel__=lambda: column), SimpleNamespace(__panel__=pn.Column)
    assert [found for _, found, _, _ in find_roots(views).values()] == [root]


def test_holoviews_still_cannot_arrange_texts_of_pandas_and_arranges_plain_ones():
    hv.extension("bokeh")
    frame = pd.DataFrame({"place": [0, 1, 0, 1], "title": list("aabb"), "period": list("xyxy"), "value": 1.0})
    frame = frame.astype({"title": "string[pyarrow]", "period": "string[pyarrow]"})

    def draw(cells):
        return hv.render(hv.HeatMap(cells, ["place", "title"], ["value", "period"]))

    with pytest.raises((NotImplementedError, TypeError)):
        draw(frame)
    assert draw(use_plain_texts(frame, "title", "period")).renderers


def test_holoviews_still_has_no_public_name_for_whether_it_is_loaded(monkeypatch):
    assert [name for name in dir(notebook_extension) if "loaded" in name] == ["_loaded"]
    assert "notebook_extension._loaded = True" in inspect.getsource(notebook_extension)
    assert not is_loaded(notebook_extension)
    monkeypatch.setattr(notebook_extension, "_loaded", True)
    assert is_loaded(notebook_extension)


def test_holoviews_still_draws_with_webgl_unless_told_otherwise():
    renderer = hv.renderer("bokeh").instance(webgl=hv.renderer("bokeh").param["webgl"].default)
    assert renderer.webgl
    draw_without_webgl(renderer)
    assert not renderer.webgl
