"""Plots over a run: one word in its topics, and the life of topics.

Pure: frames in, figures out. HoloViews could not do it: a plot that it has drawn keeps its height,
however many lanes there are now, and each new moment would replace all elements, which takes about
two hundred milliseconds.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
from bokeh.models import BasicTicker, FixedTicker, HoverTool, NumeralTickFormatter, Range1d, TapTool

from stickbreaker.app.frames.life_frames import LANE_COLUMNS, MARK_COLUMNS
from stickbreaker.app.frames.word_frames import OF_TOPIC
from stickbreaker.app.model.topic_life import BORN, GONE, NEAR_DUPLICATE, STABLE
from stickbreaker.app.plots.curve_plots import find_span
from stickbreaker.app.plots.figures import Seed, call_on_tap, empty_source, hide_tools, make_figure
from stickbreaker.app.theme import LIGHT_BACKGROUND, topic_color

WORD_HEIGHT = 260
LANE_HEIGHT = 20
LIFE_BORDERS = 90
MARKERS = {BORN: "circle", STABLE: "star", NEAR_DUPLICATE: "diamond", GONE: "x"}
MARKER_SIZE = 15


class WordPlot:
    """One line per topic of a word, updated by `show`; a tap calls `on_pick(topic_id)`."""

    def __init__(self, on_pick: Callable[[int], None]) -> None:
        self.lines = empty_source("xs", "ys", "color")
        self.dots = empty_source("topic_id", "title", "x", "y", "rank", "date", "color")
        self.figure = make_figure(
            height=WORD_HEIGHT,
            sizing_mode="stretch_width",
            tools="reset,save",
            toolbar_location="above",
            x_range=Range1d(0, 1),
            y_range=Range1d(0, 1),
            min_border_right=16,
        )
        hide_tools(self.figure)
        self.figure.xgrid.grid_line_color = None
        self.figure.xaxis.formatter = NumeralTickFormatter(format="0,0")
        self.figure.multi_line("xs", "ys", source=self.lines, line_color="color", line_width=2.2)
        dots = self.figure.scatter(
            "x",
            "y",
            source=self.dots,
            color="color",
            size=7,
            nonselection_alpha=1.0,
            selection_alpha=1.0,
        )
        self._hover = HoverTool(renderers=[dots])
        self.figure.add_tools(self._hover, TapTool(renderers=[dots]))
        call_on_tap(self.dots, on_pick)

    def show(self, frame: pd.DataFrame, axis: str, measure: str) -> None:
        """Draw a `word_frame`; a line has gaps at columns that do not list the word."""
        number = tick = "0,0"
        if measure == OF_TOPIC:
            number = "0.00 %"
            tick = "0.0 %"
        self.figure.xaxis.axis_label = axis
        self.figure.yaxis.axis_label = measure
        self.figure.yaxis.formatter = NumeralTickFormatter(format=tick)
        self._hover.tooltips = [
            ("topic", "@title"),
            (axis, "@x{0,0}"),
            ("date", "@date"),
            (measure, f"@y{{{number}}}"),
            ("rank", "@rank"),
        ]
        self.figure.x_range.update(**find_span(frame["x"]))
        self.figure.y_range.update(
            **find_span([0, *frame["value"]]) | {"start": 0, "reset_start": 0}
        )
        frame = frame.assign(color=frame["topic_id"].map(topic_color), y=frame["value"])
        parts = [part for _, part in frame.groupby("topic_id", sort=False)]
        self.lines.data = {
            "xs": [part["x"].tolist() for part in parts],
            "ys": [part["y"].tolist() for part in parts],
            "color": [part["color"].iloc[0] for part in parts],
        }
        self.dots.data = frame.dropna(subset="y")[list(self.dots.data)].to_dict("list")


class LifePlot:
    """Lanes of topics with marks, updated by `show`; a tap calls `on_pick(topic_id)`."""

    def __init__(self, on_pick: Callable[[int], None]) -> None:
        self.lanes = call_on_tap(empty_source(*LANE_COLUMNS), on_pick)
        self.marks = call_on_tap(empty_source(*MARK_COLUMNS, "marker", "line", "stroke"), on_pick)
        self.figure = fig = make_figure(
            sizing_mode="stretch_width",
            tools="xpan,xwheel_zoom,reset,save",
            active_scroll=None,
            y_range=Range1d(),
            min_border_right=16,
        )
        hide_tools(fig)
        self.seed = Seed(fig)
        fig.grid.grid_line_color = None
        fig.xaxis.formatter = NumeralTickFormatter(format="0,0")
        fig.xaxis.ticker = BasicTicker(desired_num_ticks=4, min_interval=1)
        fig.yaxis.ticker = FixedTicker()
        drawn = fig.segment(
            "x0",
            "y",
            "x1",
            "y",
            source=self.lanes,
            line_width="width",
            line_color="color",
            nonselection_line_alpha=1.0,
        )
        marked = fig.scatter(
            "x",
            "y",
            source=self.marks,
            marker="marker",
            size=MARKER_SIZE,
            fill_color="color",
            line_color="line",
            line_width="stroke",
            nonselection_alpha=1.0,
        )
        of_lane = [("topic", "@title"), ("weight in the model", "@share{0.0 %}")]
        self._of_mark = HoverTool(renderers=[marked])
        fig.add_tools(HoverTool(renderers=[drawn], tooltips=of_lane), self._of_mark)
        fig.add_tools(TapTool(renderers=[drawn, marked]))

    def show(self, lanes: pd.DataFrame, marks: pd.DataFrame, labels: list[str], axis: str) -> None:
        """Draw lanes, labelled from the top, and the marks on them."""
        fig = self.figure
        places = [-y for y in range(len(labels))]
        fig.height = LIFE_BORDERS + LANE_HEIGHT * len(labels)
        fig.y_range.update(start=0.7 - len(labels), end=0.7)
        fig.xaxis.axis_label = axis
        fig.yaxis[0].ticker.ticks = places
        fig.yaxis[0].major_label_overrides = dict(zip(places, labels, strict=True))
        self._of_mark.tooltips = [
            ("topic", "@title"),
            (axis, "@x{0,0}"),
            ("date", "@date"),
            ("", "@text"),
        ]
        with self.seed.standing_in(lanes.empty):
            self.lanes.data = lanes.to_dict("list")
            self.marks.data = _marked(marks).to_dict("list")


def _marked(marks: pd.DataFrame) -> pd.DataFrame:
    """Marker shapes with a light outline, except for a cross, to see them on a lane."""
    is_cross = marks["kind"] == GONE
    return marks.assign(
        marker=[MARKERS[kind] for kind in marks["kind"]],
        line=marks["color"].where(is_cross, LIGHT_BACKGROUND),
        stroke=np.where(is_cross, 2.5, 1.2),
    )
