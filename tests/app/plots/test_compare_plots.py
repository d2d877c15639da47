"""Curves of several runs: their legend, and what HoloViews leaves in a session."""

import gc
import weakref

import pandas as pd
import pytest
from bokeh.document import Document
from bokeh.io.doc import patch_curdoc

from stickbreaker.app.plots.compare_plots import overlay_plot, rate_plot, sweep_plot

RATES = pd.DataFrame(
    {
        "x": [[256.0, 512.0]] * 2,
        "y": [[-7.5, -7.2], [-7.6, -7.1]],
        "label": ["κ = 0.5", "κ = 0.6"],
        "color": ["#1976d2", "#2e7d32"],
        "is_chosen": [False, True],
    }
)
SCORES = pd.DataFrame(
    {"line": ["a"], "color": ["#1976d2"], "x": [64.0], "y": [-7.0], "label": ["S 64"]}
)
RUNS = RATES.assign(title="<b>@x", corpus="a corpus")


@pytest.mark.parametrize(
    "draw",
    [
        lambda: overlay_plot(RUNS, "documents"),
        lambda: overlay_plot(RUNS[:0], "dates"),
        lambda: rate_plot(RATES),
        lambda: sweep_plot(SCORES, "S", True),
    ],
)
def test_a_figure_leaves_nothing_in_the_session_and_does_not_change_its_theme(draw):
    document = Document()
    theme = document.theme
    with patch_curdoc(document):
        figure = weakref.ref(draw())
        gc.collect()
    assert document.theme is theme
    assert figure() is None


def test_the_chosen_rate_is_drawn_thick_and_each_rate_has_one_entry_in_the_legend():
    figure = rate_plot(RATES)
    assert [item.label.value for item in figure.legend[0].items] == RATES["label"].tolist()
    widths = [each.glyph.line_width for each in figure.renderers[::2]]
    assert widths == [2, 5]


def test_a_name_is_shown_as_text_in_a_tooltip():
    tooltips = overlay_plot(RUNS, "documents").hover[0].tooltips
    assert dict(tooltips)["run"] == "&lt;b&gt;&#64;x"
