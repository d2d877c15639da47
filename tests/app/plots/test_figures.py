"""What figures have in common."""

from bokeh.models import ColumnDataSource, DataRange1d
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


def test_a_plot_that_is_emptied_or_filled_has_points_for_its_ranges_all_the_time():
    fig = figure()
    seed, full, empty = Seed(fig), {"x": [3, 4], "y": [3, 4]}, {"x": [], "y": []}
    assert isinstance(fig.x_range, DataRange1d)
    source = ColumnDataSource(empty)
    seen = []
    for each in (source, seed.source):
        each.on_change(
            "data",
            lambda attr, old, new: seen.append(len(source.data["x"]) + len(seed.source.data["x"])),
        )
    for data in (full, empty, full):
        with seed.standing_in(data is empty):
            source.data = data
    assert seen == [4, 2, 4, 2, 4, 2]
    assert (source.data, seed.source.data) == (full, empty)
