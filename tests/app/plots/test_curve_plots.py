"""Plots and colours: valid without data, readable on light and dark pages."""

import pandas as pd
import pytest
from bokeh.models import DataRange1d, DatetimeTicker, Range1d
from hypothesis import given
from hypothesis import strategies as st

from stickbreaker.app.frames.progress_frames import AXES, CURVES
from stickbreaker.app.plots.anatomy_plots import ArrowPlot, BoundPlot, SlotPlot, StickPlot
from stickbreaker.app.plots.curve_plots import (
    LEFT_BORDER,
    X_LABELS,
    curve_plot,
    curve_title,
    mark_columns,
    rate_plot,
    set_x_axis,
    wrap_note,
)
from stickbreaker.app.plots.life_plots import LifePlot, WordPlot
from stickbreaker.app.plots.reading_plots import MapPlot
from stickbreaker.app.theme import (
    DARK_BACKGROUND,
    EARLIER_RUN,
    LIGHT_BACKGROUND,
    MARK,
    NOTE,
    ON_CHIP,
    STATUS_COLORS,
    THIS_RUN,
    WARM_UP,
    contrast,
    topic_color,
)


@pytest.mark.parametrize("name", CURVES)
def test_an_empty_plot_has_axes_to_draw(name):
    shared = Range1d(0, 1)
    plot = curve_plot(name, shared)
    assert plot.figure.x_range is shared
    assert plot.figure.min_border_left == LEFT_BORDER
    assert len(plot.points.data["x"]) == 0
    assert len(plot.seed.data["x"]) > 0


@pytest.mark.parametrize(
    ("name", "protocol"),
    [("heldout", "given the other words"), ("next_batch", "in the next mini-batch")],
)
def test_the_axis_of_a_likelihood_says_its_protocol_in_words(name, protocol):
    label = curve_plot(name, Range1d(0, 1)).figure.yaxis.axis_label
    assert " ".join(label.split()) == f"nats per held-out word, {protocol}"


@pytest.mark.parametrize("axis", AXES)
def test_every_axis_says_what_it_counts(axis):
    fig = curve_plot("num_topics", Range1d(0, 1)).figure
    set_x_axis(fig, axis)
    assert fig.xaxis.axis_label == X_LABELS[axis]
    assert isinstance(fig.xaxis.ticker, DatetimeTicker) == (axis == "dates")


@pytest.mark.parametrize(
    "axis",
    [
        curve_plot("heldout", Range1d(0, 1)).figure.xaxis,
        curve_plot("num_topics", Range1d(0, 1)).figure.yaxis,
        rate_plot().figure.xaxis,
    ],
)
def test_counts_have_ticks_only_at_whole_numbers(axis):
    assert axis.ticker.min_interval == 1


def test_titles_show_the_newest_value_with_a_minus_sign():
    assert curve_title("heldout", -7.7234) == "Held-out log likelihood: −7.723 nats"
    assert curve_title("heldout", float("nan")) == "Held-out log likelihood"


def test_labels_of_successive_marks_have_different_rows_and_stay_inside_the_plot():
    columns = mark_columns(pd.DataFrame({"x": [10.0, 90.0], "text": ["a", "b"]}), (0.0, 100.0))
    assert columns["align"] == ["left", "right"]
    assert len(set(columns["height"])) == 2
    assert mark_columns(pd.DataFrame({"x": [], "text": []}), None)["x"] == []


@given(st.text(st.characters(categories=["L", "Zs"]), max_size=80))
def test_wrapping_a_note_keeps_all_words(text):
    assert wrap_note(text).split() == text.split()


def test_the_plot_of_the_learning_rate_has_a_scale_from_the_start():
    assert len(rate_plot().planned.data["x"]) == 1


def test_topic_colours_are_distinct_and_stand_out_on_both_backgrounds():
    colors = [topic_color(topic_id) for topic_id in range(150)]
    assert len(set(colors)) == 150
    assert (
        min(
            contrast(color, ground)
            for color in colors
            for ground in (LIGHT_BACKGROUND, DARK_BACKGROUND)
        )
        >= 3
    )


@pytest.mark.parametrize("color", [THIS_RUN, EARLIER_RUN, WARM_UP, MARK])
def test_lines_stand_out_on_both_backgrounds(color):
    assert contrast(color, LIGHT_BACKGROUND) >= 3
    assert contrast(color, DARK_BACKGROUND) >= 3


@pytest.mark.parametrize("color", [WARM_UP, MARK, NOTE, *STATUS_COLORS.values()])
def test_white_text_is_readable_on_every_chip(color):
    assert contrast(color, ON_CHIP) >= 4.5


@pytest.mark.parametrize(
    "plot",
    [
        MapPlot(print),
        WordPlot(print),
        LifePlot(print),
        StickPlot(),
        SlotPlot(),
        BoundPlot("passes"),
        ArrowPlot(),
    ],
)
def test_a_plot_without_data_has_ranges(plot):
    finds_its_own = any(
        isinstance(each, DataRange1d) for each in (plot.figure.x_range, plot.figure.y_range)
    )
    assert not finds_its_own or len(plot.seed.source.data["x"])


def test_ranges_follow_the_data_and_the_invisible_points_are_removed():
    bound = BoundPlot("passes")
    bound.show(pd.DataFrame({"x": [1, 2], "y": [-9.0, -7.0]}))
    assert (bound.figure.y_range.start, bound.figure.y_range.end) == (-9.1, -6.9)
    arrows = ArrowPlot()
    arrows.show(pd.DataFrame({"word": ["war"], "before": [0.0], "target": [10.0], "after": [4.0]}))
    assert (arrows.figure.x_range.start, arrows.figure.x_range.end) == (-0.5, 10.5)
    row = {
        "topic_id": 1,
        "title": "",
        "x": 7.0,
        "y": 8.0,
        "share": 1.0,
        "words": "",
        "color": "red",
    }
    topics = MapPlot(print)
    for frame, num_left in ((pd.DataFrame([row]), 0), (pd.DataFrame([row])[:0], 2)):
        topics.show(frame, None)
        assert len(topics.seed.source.data["x"]) == num_left
