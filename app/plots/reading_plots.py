"""Plots of a reading: three kinds of plots of topics over time, and the map.

Pure: frames in, figures out. HoloViews could not do it: it has no stream for the dot under the
pointer, places no label by pixels, omits no period whose label would cover another, and fades a
topic by sending all data again.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from bokeh.layouts import gridplot
from bokeh.models import (
    CDSView,
    ColumnDataSource,
    CustomJS,
    CustomJSFilter,
    CustomJSTickFormatter,
    DataRange1d,
    FactorRange,
    FixedTicker,
    HoverTool,
    LinearColorMapper,
    MultiLine,
    NoOverlap,
    NumeralTickFormatter,
    Range1d,
    Scatter,
    TapTool,
    Text,
)
from bokeh.plotting import figure

from stickbreaker.app.frames.reading_frames import (
    REST,
    REST_COLOR,
    TopicLines,
    TopicTree,
    order_by_peak,
)
from stickbreaker.app.plots import map_labels
from stickbreaker.app.plots.curve_plots import set_x_axis
from stickbreaker.app.plots.figures import (
    Seed,
    call_on_tap,
    empty_source,
    hide_tools,
    make_figure,
    patch_columns,
)
from stickbreaker.app.theme import EARLIER_RUN, THIS_RUN, topic_color

HEAT_MAP = "heat map"
KINDS = (HEAT_MAP, "stacked areas", "small multiples")
HEIGHT = 460
PANEL_HEIGHT = 150
ROW_HEIGHT = 20
LINES_HEIGHT = 170
# From the smallest to the largest value, as a colour that grows over the ground of the page, light
# or dark. Its opacity follows the square root, so that small values differ from 0.
RAMP = tuple(f"{THIS_RUN}{round(255 * (step / 255) ** 0.5):02x}" for step in range(256))
MAX_LABELS = 30
MAX_PANEL_LABELS = 8
HOVER = [("topic", "@title"), ("period", "@period"), ("documents", "@documents{0,0}")]
LEAF = 8
LEAF_CHOSEN = 14
# Room for the leaves, as a share of the tree's width.
EDGE = 0.07
DOT_ALPHA = 0.7
FAINT_ALPHA = 0.15
LINE_ALPHA = 0.3
LABEL_GAP = 4
BAR_HEIGHT = 14
# Long topic names must not use up the width of a phone.
MOST_LABEL = 40
MOST_PHONE_LABEL = 18
MOST_TITLE = 30
TELL_POINTED = """
const [index] = cb_obj.event_name === "mouseleave" ? [] : source.inspected.indices
const topic_id = index === undefined ? [] : [source.data.topic_id[index]]
if (topic_id[0] !== pointed.data.topic_id[0]) pointed.data = {topic_id}
"""
LABEL_OF_WIDTH = "return (window.innerWidth < 600 ? narrow : wide)[tick]"
ROWS_OF_WIDTH = "return source.data.narrow.map((each) => each === window.innerWidth < 600)"
# In a wide window the tree stands next to the map.
LEAF_OF_WIDTH = (
    "return (window.innerWidth < 600 || window.innerWidth >= 1350 ? narrow : wide)[tick]"
)


def calendar_plot(frame: pd.DataFrame, kind: str, measure: str) -> Any:
    """Draw a calendar frame as one of `KINDS`, with the measure on the axis or the colour bar."""
    if kind == HEAT_MAP:
        plot = HeatMap()
        plot.show(frame, measure)
        return plot.figure
    colors = frame["topic_id"].map(topic_color).mask(frame["topic_id"] == REST, REST_COLOR)
    frame = frame.assign(color=colors)
    return {"stacked areas": _stack, "small multiples": _multiples}[kind](frame, measure)


def _source(frame: pd.DataFrame) -> ColumnDataSource:
    return ColumnDataSource(frame.to_dict("list"))


def _fit_labels(titles: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """The labels of ticks in wide and in narrow windows."""
    lengths = {"wide": MOST_LABEL, "narrow": MOST_PHONE_LABEL}
    return {
        width: {tick: map_labels.shorten(title, most) for tick, title in titles.items()}
        for width, most in lengths.items()
    }


def _format(measure: str) -> str:
    return "0,0" if measure == "tokens" else "0.0 %"


def _hover(frame: pd.DataFrame, measure: str) -> list[tuple[str, str]]:
    then = [("model", "@read"), ("words then", "@words")] if "words" in frame else []
    return [*HOVER, (measure, f"@value{{{_format(measure)}}}"), *then]


def _period_figure(**more: Any) -> figure:
    """Make an empty figure with an x axis for periods."""
    tools = "xpan,xwheel_zoom,reset,save"
    fig = make_figure(
        x_range=Range1d(), sizing_mode="stretch_width", tools=tools, active_scroll=None, **more
    )
    hide_tools(fig)
    fig.xgrid.grid_line_color = None
    fig.xaxis.major_label_orientation = 0.9
    fig.xaxis.major_label_policy = NoOverlap(min_distance=LABEL_GAP)
    fig.xaxis.ticker = FixedTicker()
    return fig


def _name_periods(fig: figure, frame: pd.DataFrame, most: int = MAX_LABELS) -> None:
    """Label at most `most` periods on the x axis; new periods reset the zoom."""
    names = frame.drop_duplicates("place")["period"].tolist()
    overrides = dict(enumerate(names))
    if fig.xaxis[0].major_label_overrides != overrides:
        fig.x_range.update(
            start=-0.5, end=len(names) - 0.5, reset_start=-0.5, reset_end=len(names) - 0.5
        )
        fig.xaxis[0].ticker.ticks = list(range(0, len(names), -(-len(names) // most) or 1))
        fig.xaxis[0].major_label_overrides = overrides


class HeatMap:
    """Topics by period, darker for larger values: built once, updated by `show`.

    A tap on a cell calls on_pick(id of its topic, place of its period).
    """

    def __init__(self, on_pick: Callable[[int, int], None] = lambda topic_id, place: None) -> None:
        self.figure = fig = _period_figure(height=HEIGHT, y_range=FactorRange())
        self._source = empty_source("place", "title", "value")
        call_on_tap(self._source, on_pick, "topic_id", "place")
        self._mapper = LinearColorMapper(
            palette=RAMP, low=0.0, high=1.0, nan_color="rgba(128,128,128,0.15)"
        )
        rects = fig.rect(
            "place",
            "title",
            1,
            0.92,
            source=self._source,
            line_color=None,
            fill_color={"field": "value", "transform": self._mapper},
            nonselection_fill_alpha=1.0,
        )
        self._bar = rects.construct_color_bar(height=BAR_HEIGHT, formatter=NumeralTickFormatter())
        self._hover = HoverTool(renderers=[rects])
        self._labels = CustomJSTickFormatter(code=LABEL_OF_WIDTH)
        fig.add_layout(self._bar, "below")
        fig.add_tools(self._hover, TapTool(renderers=[rects]))
        fig.ygrid.grid_line_color = None
        fig.yaxis.formatter = self._labels

    def show(self, frame: pd.DataFrame, measure: str) -> None:
        """Draw a calendar frame, with the measure on the colour bar; the zoom is kept."""
        _name_periods(self.figure, frame)
        frame = order_by_peak(frame)
        titles = list(dict.fromkeys(frame["title"]))[::-1]
        highest = frame["value"].max()
        self._mapper.high = float(highest) if highest > 0 else 1.0
        self._bar.title = measure
        self._bar.formatter.format = _format(measure)
        self._hover.tooltips = _hover(frame, measure)
        self._labels.args = _fit_labels({title: title for title in titles})
        self._source.data = frame.to_dict("list")
        self.figure.y_range.factors = titles


def _stack(frame: pd.DataFrame, measure: str) -> figure:
    fig = _period_figure(height=HEIGHT, y_axis_label=measure)
    _name_periods(fig, frame)
    fig.yaxis.formatter = NumeralTickFormatter(format=_format(measure))
    base = np.zeros(frame["place"].nunique())
    for topic_id, part in frame.groupby("topic_id", sort=False):
        top = base + np.nan_to_num(part["value"].to_numpy())
        source = _source(part.assign(base=base, top=top))
        color = part["color"].iloc[0]
        fig.varea("place", "base", "top", source=source, fill_color=color, fill_alpha=0.85)
        line = fig.line(
            "place", "top", source=source, line_color=color, line_width=1.5, name=str(topic_id)
        )
        fig.add_tools(HoverTool(renderers=[line], mode="mouse", tooltips=_hover(frame, measure)))
        base = top
    fig.y_range.start = 0
    return fig


def _multiples(frame: pd.DataFrame, measure: str) -> Any:
    figures = []
    for _, part in frame.groupby("topic_id", sort=False):
        fig = _period_figure(height=PANEL_HEIGHT, title=part["title"].iloc[0], y_axis_label=measure)
        _name_periods(fig, part, MAX_PANEL_LABELS)
        fig.yaxis.formatter = NumeralTickFormatter(format=_format(measure))
        fig.yaxis.ticker.desired_num_ticks = 3
        source = _source(part)
        fig.vbar(
            "place", 0.9, "value", source=source, fill_color=part["color"].iloc[0], line_color=None
        )
        fig.y_range.start = 0
        fig.add_tools(HoverTool(tooltips=_hover(frame, measure)))
        figures.append(fig)
    return gridplot(
        figures, ncols=2, sizing_mode="stretch_width", merge_tools=False, toolbar_location=None
    )


class MapPlot:
    """The map of topics: built once, updated by `show`; a tap calls `on_pick(topic_id)`.

    on_point(topic_id): called with the topic that the pointer is on, and with None when it has left
    all dots.
    """

    def __init__(
        self,
        on_pick: Callable[[int], None],
        on_point: Callable[[int | None], None] = lambda topic_id: None,
    ) -> None:
        read = ("topic_id", "title", "x", "y", "share", "whole", "words")
        self.source = empty_source(*read, "color", "size", "line", "stroke", "alpha")
        call_on_tap(self.source, on_pick)
        self.figure = make_figure(
            height=HEIGHT,
            sizing_mode="stretch_width",
            tools="pan,wheel_zoom,reset,save",
            active_scroll=None,
            match_aspect=True,
            x_range=DataRange1d(range_padding=map_labels.MAP_PADDING),
            y_range=DataRange1d(range_padding=map_labels.MAP_PADDING),
        )
        self.seed = Seed(self.figure)
        self.figure.axis.visible = False
        self.figure.grid.grid_line_color = None
        self.figure.toolbar.logo = None
        dots = self.figure.scatter(
            "x",
            "y",
            size="size",
            source=self.source,
            fill_color="color",
            fill_alpha="alpha",
            line_color="line",
            line_alpha="alpha",
            line_width="stroke",
            nonselection_fill_alpha="alpha",
            nonselection_line_color="line",
            nonselection_line_alpha="alpha",
            selection_fill_alpha=0.9,
        )
        self.labels = empty_source("x", "y", "text", "aside", "offset", "narrow")
        name = Text(
            x="x",
            y="y",
            text="text",
            x_offset="aside",
            y_offset="offset",
            text_align="center",
            **map_labels.CHIP,
        )
        of_width = CDSView(filter=CustomJSFilter(code=ROWS_OF_WIDTH))
        self.figure.add_glyph(self.labels, name, view=of_width)
        tooltips = [("topic", "@title"), ("size", "@share{0.0 %} @whole"), ("words", "@words")]
        self.figure.add_tools(
            HoverTool(renderers=[dots], tooltips=tooltips, limit=1), TapTool(renderers=[dots])
        )
        self._on_point = on_point
        self.pointed = empty_source("topic_id")
        tell = CustomJS(args={"source": self.source, "pointed": self.pointed}, code=TELL_POINTED)
        for event in ("mousemove", "mouseleave"):
            self.figure.js_on_event(event, tell)
        self.pointed.on_change("data", self._tell)

    def light(self, topic_ids: Collection[int | None] | None) -> None:
        """Make the other dots faint; None draws all dots alike."""
        shown = self.source.data["topic_id"]
        are_lit = [topic_ids is None or each in topic_ids for each in shown]
        patch_columns(self.source, alpha=np.where(are_lit, DOT_ALPHA, FAINT_ALPHA).tolist())

    def show(self, frame: pd.DataFrame, chosen: int | None) -> None:
        """Draw a map frame; the selected topic has a thick outline."""
        frame = frame.assign(
            size=map_labels.size_dots(frame["share"]),
            line=np.where(frame["topic_id"] == chosen, THIS_RUN, "rgba(128,128,128,0.6)"),
            stroke=np.where(frame["topic_id"] == chosen, 5, 2),
            alpha=DOT_ALPHA,
        )
        with self.seed.standing_in(frame.empty):
            self.source.data = frame.to_dict("list")
            wide = map_labels.label_dots(frame, *map_labels.WIDE_MAPS).assign(narrow=False)
            narrow = map_labels.label_dots(frame, *map_labels.PHONE_MAPS).assign(narrow=True)
            self.labels.data = pd.concat([wide, narrow]).to_dict("list")

    def _tell(self, _name: str, _old: Any, new: Mapping[str, Sequence[Any]]) -> None:
        """What a browser says counts only if it is a topic of the map."""
        said = list(new.get("topic_id", ()))[:1]
        self._on_point(
            next((int(each) for each in self.source.data["topic_id"] if [each] == said), None)
        )


class LinesPlot:
    """Topics over calendar time as faint lines; a tap calls `on_pick(topic_id)`."""

    def __init__(self, on_pick: Callable[[int], None]) -> None:
        self.lines = empty_source("topic_id", "title", "color", "xs", "ys", "width", "alpha")
        call_on_tap(self.lines, on_pick)
        self.figure = make_figure(
            height=LINES_HEIGHT,
            sizing_mode="stretch_width",
            tools="",
            toolbar_location=None,
            x_range=DataRange1d(range_padding=0.02),
            y_range=DataRange1d(start=0.0),
        )
        self.seed = Seed(self.figure)
        set_x_axis(self.figure, "dates")
        self.figure.xaxis.axis_label = None
        self.figure.yaxis.formatter = NumeralTickFormatter(format="0 %")
        self.figure.yaxis.ticker.desired_num_ticks = 3
        self.figure.xgrid.grid_line_color = None
        line = MultiLine(
            xs="xs", ys="ys", line_color="color", line_width="width", line_alpha="alpha"
        )
        lines = self.figure.add_glyph(self.lines, line, nonselection_glyph=line)
        self.figure.add_tools(
            HoverTool(renderers=[lines], tooltips=[("topic", "@title")]), TapTool(renderers=[lines])
        )

    def light(self, topic_ids: Collection[int | None]) -> None:
        """Draw the lines of these topics thick, and the others faint."""
        are_lit = [each in topic_ids for each in self.lines.data["topic_id"]]
        patch_columns(
            self.lines,
            alpha=np.where(are_lit, 1.0, LINE_ALPHA).tolist(),
            width=np.where(are_lit, 3.0, 1.0).tolist(),
        )

    def show(self, topics: TopicLines) -> None:
        """Draw lines, all faint."""
        self.figure.title.text = f"Share of the tokens in each {topics.unit}"
        with self.seed.standing_in(topics.lines.empty):
            self.lines.data = topics.lines.assign(width=1.0, alpha=LINE_ALPHA).to_dict("list")


class TreePlot:
    """Topics by similarity as a tree; a tap on a leaf calls `on_pick(topic_id)`."""

    def __init__(self, on_pick: Callable[[int], None]) -> None:
        self.branches = empty_source("xs", "ys")
        self.leaves = empty_source("x", "y", "topic_id", "title", "color", "size")
        call_on_tap(self.leaves, on_pick)
        self.figure = make_figure(
            height=HEIGHT,
            sizing_mode="stretch_width",
            tools="",
            toolbar_location=None,
            x_axis_label="distance",
            x_range=Range1d(0, 1),
            y_range=Range1d(-1, 1),
        )
        self.figure.xaxis.ticker.desired_num_ticks = 3
        self.seed = Seed(self.figure)
        self.figure.grid.grid_line_color = None
        self.figure.add_glyph(
            self.branches, MultiLine(xs="xs", ys="ys", line_color=EARLIER_RUN, line_width=1.5)
        )
        dot = Scatter(x="x", y="y", size="size", fill_color="color", line_color="color")
        leaves = self.figure.add_glyph(self.leaves, dot, nonselection_glyph=dot)
        self.figure.add_tools(
            HoverTool(renderers=[leaves], tooltips=[("topic", "@title")]),
            TapTool(renderers=[leaves]),
        )
        self._labels = CustomJSTickFormatter(code=LEAF_OF_WIDTH)
        self.figure.yaxis.formatter = self._labels
        self.figure.yaxis.ticker = FixedTicker()

    def light(self, topic_ids: Collection[int | None]) -> None:
        """Make the leaves of these topics larger."""
        are_lit = [each in topic_ids for each in self.leaves.data["topic_id"]]
        patch_columns(self.leaves, size=np.where(are_lit, LEAF_CHOSEN, LEAF).tolist())

    def show(self, tree: TopicTree, chosen: int | None) -> None:
        """Draw a tree; the leaf of the selected topic is larger."""
        leaves = tree.leaves
        self._labels.args = _fit_labels(
            {str(row): each for row, each in enumerate(leaves["title"])}
        )
        self.figure.yaxis.ticker = FixedTicker(ticks=leaves["y"].tolist())
        self.figure.y_range.update(start=-1, end=len(leaves))
        farthest = max((max(xs) for xs in tree.xs), default=1.0) or 1.0
        self.figure.x_range.update(start=-EDGE * farthest, end=(1 + EDGE) * farthest)
        sizes = np.where(leaves["topic_id"] == chosen, LEAF_CHOSEN, LEAF)
        with self.seed.standing_in(leaves.empty):
            self.branches.data = {"xs": tree.xs, "ys": tree.ys}
            self.leaves.data = leaves.assign(x=0.0, size=sizes).to_dict("list")
