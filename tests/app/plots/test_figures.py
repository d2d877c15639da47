"""What figures have in common."""

from bokeh.models import DataRange1d
from bokeh.plotting import figure

from stickbreaker.app.plots.figures import TOOLS_STYLE, Seed, hide_tools, make_figure


def test_a_figure_has_no_outline_on_a_dark_page():
    assert make_figure().outline_line_color is None


def test_tools_appear_on_hover_and_keep_a_place_in_the_keyboard_order():
    fig = figure()
    hide_tools(fig)
    assert fig.toolbar.autohide
    assert fig.toolbar.logo is None
    assert fig.toolbar.stylesheets == [TOOLS_STYLE]


def test_an_empty_plot_gets_points_for_its_ranges_and_loses_them_with_the_first_data():
    fig = figure()
    seed = Seed(fig)
    assert isinstance(fig.x_range, DataRange1d)
    seed.stand_in(False)
    assert seed.source.data == {"x": [], "y": []}
    seed.stand_in(True)
    assert seed.source.data == {"x": [0, 1], "y": [0, 1]}
