"""Workarounds for notebooks: the fault in the unchanged library, and that it is gone."""

import asyncio
import inspect
import threading
from types import SimpleNamespace

import panel as pn
import pytest
import pyviz_comms
from bokeh.document import Document
from bokeh.models import ImportedStyleSheet, Plot
from bokeh.plotting import figure
from holoviews.ipython import notebook_extension
from panel.io import resources
from panel.io.model import diff
from pyviz_comms import Comm, JupyterCommJS

from stickbreaker.app.fixes.notebook import find_roots, fix_notebook, is_drawn, is_loaded


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
    """The addresses of the style sheets of views, also those added after rendering."""
    shown = pn.Column(pn.widgets.FloatSlider(), pn.pane.HTML("early"))
    root = shown.get_root(Document(), Comm())
    shown.append(pn.Card(pn.widgets.Select(options=["late"]), pn.indicators.Progress()))
    return {model.url for model in root.references() if isinstance(model, ImportedStyleSheet)}


def test_views_shown_first_or_later_need_no_style_sheet_from_the_network(loop):
    addresses = find_addresses()
    assert addresses
    assert {address.partition(",")[0] for address in addresses} == {"data:text/css;base64"}


def test_panel_asks_the_network_for_style_sheets_with_inline(unfixed):
    with pn.config.set(inline=True):
        assert any(address.startswith("http") for address in find_addresses())


def test_a_message_on_another_thread_is_handled_on_the_thread_of_the_cells(loop, monkeypatch):
    handled = []

    def record(line, what):
        handled.append((threading.current_thread(), what))

    monkeypatch.setattr("stickbreaker.app.fixes.notebook.handle_message", record)

    async def cell():
        await asyncio.to_thread(JupyterCommJS._handle_msg, None, "moved")
        await asyncio.sleep(0)

    loop.run(cell())
    assert handled == [(threading.main_thread(), "moved")]


def test_pyviz_comms_captures_the_standard_output_of_all_threads(unfixed):
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
    """Whether a change of a view is unsent, after a message from the browser or without."""
    document, column = Document(), pn.Column()
    root = column.get_root(document, Comm())
    document.add_root(root)
    document.hold()
    root.tags = ["changed"]
    if is_answered:
        patch = SimpleNamespace(apply_to_document=lambda document, comm_id: None)
        column._on_msg(root.ref["id"], SimpleNamespace(assemble=lambda message: patch), {})
    return diff(document) is not None


def test_panel_drops_unsent_events_at_a_message_from_the_browser():
    assert has_unsent(is_answered=False)
    assert not has_unsent(is_answered=True)


def test_the_places_where_views_are_shown_are_found():
    column = pn.Column()
    root = column.get_root(Document(), Comm())
    views = SimpleNamespace(__panel__=lambda: column), SimpleNamespace(__panel__=pn.Column)
    assert [found for _, found, _, _ in find_roots(views).values()] == [root]


def test_an_extension_is_loaded_once_a_cell_has_called_it(monkeypatch):
    assert not is_loaded(notebook_extension)
    monkeypatch.setattr(notebook_extension, "_loaded", True)
    assert is_loaded(notebook_extension)
