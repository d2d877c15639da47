"""Plots of a reading: three kinds of plots of topics over time, and the map.

Pure: frames in, figures out.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from bokeh.layouts import gridplot
from bokeh.models import (
    ColumnDataSource,
    CustomJS,
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
from stickbreaker.app.plots.curve_plots import set_x_axis
from stickbreaker.app.plots.figures import Seed, hide_tools, make_figure
from stickbreaker.app.theme import EARLIER_RUN, NOTE, ON_CHIP, THIS_RUN, topic_color

KINDS = HEAT_MAP, _, _ = ("heat map", "stacked areas", "small multiples")
HEIGHT, PANEL_HEIGHT, MAP_HEIGHT, LINES_HEIGHT = 460, 150, 460, 170
# From the smallest to the largest value, as a colour that grows over the ground of the page, light
# or dark. Its opacity follows the square root, so that small values differ from 0.
RAMP = tuple(f"{THIS_RUN}{round(255 * (step / 63) ** 0.5):02x}" for step in range(64))
MAX_LABELS, MAX_PANEL_LABELS = 30, 8
HOVER = [("topic", "@title"), ("period", "@period"), ("documents", "@documents{0,0}")]
SMALLEST_DOT, LARGEST_DOT = 8, 60
LEAF, LEAF_CHOSEN = 8, 14
# Room for the leaves, as a share of the tree's width.
EDGE = 0.07
DOT_ALPHA, FAINT_ALPHA, LINE_ALPHA = 0.7, 0.15, 0.3
# Room for the largest dot at the edge of the map on a phone.
MAP_PADDING = 0.25
LABEL_GAP, BAR_HEIGHT = 4, 14
NUM_NAMED_DOTS = 15
CHIP = {
    "text_color": ON_CHIP,
    "text_font_size": "11px",
    "background_fill_color": NOTE,
    "background_fill_alpha": 0.85,
    "border_radius": 3,
    "padding": (6, 2),
}
MOST_LABEL, MOST_PHONE_LABEL, MOST_DOT_LABEL = 40, 18, 26
# Pixels: of the map on a wide page, and of a line and a letter of a label with its padding.
MAP_PIXELS = (430.0, 420.0)
# Widths for which labels are placed, as shares of the width on a wide page; the other one is that
# of a phone.
MAP_SHARES = np.array([1.0, 0.77])
LINE_PIXELS, LETTER_PIXELS = 17.0, 6.6
# Long topic names must not use up the width of a phone.
TELL_POINTED = """
const [index] = cb_obj.event_name === "mouseleave" ? [] : source.inspected.indices
const topic_id = index === undefined ? [] : [source.data.topic_id[index]]
if (topic_id[0] !== pointed.data.topic_id[0]) pointed.data = {topic_id}
"""
LABEL_OF_WIDTH = "return (window.innerWidth < 600 ? narrow : wide)[tick]"
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
    frame = frame.assign(
        color=[REST_COLOR if t == REST else topic_color(t) for t in frame["topic_id"]]
    )
    return {"stacked areas": _stack, "small multiples": _multiples}[kind](frame, measure)


def _source(frame: pd.DataFrame) -> ColumnDataSource:
    return ColumnDataSource(frame.to_dict("list"))


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
        self._source = ColumnDataSource({name: [] for name in ("place", "title", "value")})
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
        self._on_pick = on_pick
        self._source.selected.on_change("indices", self._tap)
        fig.ygrid.grid_line_color = None
        fig.yaxis.formatter = self._labels

    def show(self, frame: pd.DataFrame, measure: str) -> None:
        """Draw a calendar frame, with the measure on the colour bar; the zoom is kept."""
        _name_periods(self.figure, frame)
        frame = order_by_peak(frame)
        titles = list(dict.fromkeys(frame["title"]))[::-1]
        highest = frame["value"].max()
        self._mapper.high = float(highest) if highest > 0 else 1.0
        self._bar.title, self._bar.formatter.format = measure, _format(measure)
        self._hover.tooltips = _hover(frame, measure)
        self._labels.args = {
            "wide": _cut(titles, MOST_LABEL),
            "narrow": _cut(titles, MOST_PHONE_LABEL),
        }
        self._source.data = frame.to_dict("list")
        self.figure.y_range.factors = titles

    def _tap(self, _name: str, _old: Any, new: list[int]) -> None:
        if new:
            self._on_pick(
                int(self._source.data["topic_id"][new[0]]), int(self._source.data["place"][new[0]])
            )
            self._source.selected.indices = []


def _cut(titles: list[str], most: int) -> dict[str, str]:
    """Short forms of titles: without the last words if too long, then cut."""
    short = {
        title: title if len(title) <= most else title.rpartition(", ")[0] or title
        for title in titles
    }
    return {
        title: label if len(label) <= most else f"{label[: most - 1]}…"
        for title, label in short.items()
    }


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


def keep_inside(x: np.ndarray, texts: Sequence[str], width: float) -> np.ndarray:
    """Shifts (N,) in pixels, to the right, that keep centred labels inside a figure.

    x (N,): their places in pixels from the middle of the figure; width: of the figure in pixels.

    >>> keep_inside(np.array([-95.0, 0.0, 95.0]), ["navy"] * 3, 200.0).tolist()
    [11.5, 0.0, -11.5]
    """
    most = np.maximum((width - _measure(texts)) / 2, 0.0)
    return np.asarray(np.clip(x, -most, most) - x)


def _measure(texts: Sequence[str]) -> np.ndarray:
    """Estimated widths (N,) of labels in pixels, with their padding."""
    return LETTER_PIXELS * np.array([len(text) + 1 for text in texts], float)


def place_labels(
    x: np.ndarray, y: np.ndarray, sizes: np.ndarray, texts: Sequence[str], height: float = np.inf
) -> list[float]:
    """Offsets in pixels, down from each dot's centre, of the lower edges of labels, so that labels
    overlap little.

    x, y (N,): centres of the dots in pixels from the middle of the map, y downwards; sizes (N,):
    their diameters; height: of the map in pixels. The first label is placed first, above its dot; a
    later one is above or below its dot, or up to two lines further away, where it covers earlier
    labels least, on a wide page and on a phone together. A label stays inside the map if one of
    these places is inside.

    >>> place_labels(np.zeros(2), np.array([0.0, 4.0]), np.full(2, 20.0), ["navy", "war"])
    [-10.0, 27.0]
    >>> place_labels(np.zeros(1), np.array([-90.0]), np.array([20.0]), ["navy"], 200.0)
    [27.0]
    """
    widths, offsets = _measure(texts), np.empty(0)
    for place in range(len(texts)):
        radius, before = sizes[place] / 2, slice(0, place)
        lines = LINE_PIXELS * np.arange(3)
        tries = np.stack([-radius - lines, radius + LINE_PIXELS + lines], axis=1).ravel()
        apart = np.abs(x[before] - x[place]) * MAP_SHARES[:, None]
        higher = (y[before] - y[place]) * MAP_SHARES[:, None] + offsets - tries[:, None, None]
        across = np.maximum((widths[before] + widths[place]) / 2 - apart, 0.0)
        covered = (across * np.maximum(LINE_PIXELS - np.abs(higher), 0.0)).sum((1, 2))
        lower = y[place] + tries
        outside = np.maximum(np.maximum(lower, LINE_PIXELS - lower) - height / 2, 0.0)
        offsets = np.append(offsets, tries[np.lexsort((covered, outside))[0]])
    found: list[float] = offsets.tolist()
    return found


def size_dots(shares: pd.Series) -> np.ndarray:
    """Diameters (N,) of dots in pixels: the area of a dot is its share."""
    largest = shares.max() if len(shares) else 1.0
    return np.asarray(np.maximum(LARGEST_DOT * np.sqrt(shares / max(largest, 1e-30)), SMALLEST_DOT))


def fit_map(frame: pd.DataFrame) -> tuple[float, float, float]:
    """The middle (x, y) of a map frame, and the pixels of its unit on a wide page."""
    corners = [
        (frame[axis].min(), frame[axis].max()) if len(frame) else (0.0, 0.0) for axis in ("x", "y")
    ]
    scales = [
        pixels / max((1 + MAP_PADDING) * (high - low), 1e-9)
        for pixels, (low, high) in zip(MAP_PIXELS, corners, strict=True)
    ]
    middle, level = ((low + high) / 2 for low, high in corners)
    return float(middle), float(level), float(min(scales))


def label_dots(frame: pd.DataFrame) -> pd.DataFrame:
    """Labels of the largest dots of a map frame with sizes, so that they overlap little.

    x, y: of their dots; text; aside, offset: pixels to the right and down from there to the middle
    of the lower edge.
    """
    named = frame.nlargest(NUM_NAMED_DOTS, "share")
    short = _cut(named["title"].tolist(), MOST_DOT_LABEL)
    texts = [short[title] for title in named["title"]]
    middle, level, scale = fit_map(frame)
    x, y, size = (named[name].to_numpy(float) for name in ("x", "y", "size"))
    across = scale * (x - middle)
    asides = keep_inside(across, texts, MAP_PIXELS[0])
    offsets = place_labels(across + asides, scale * (level - y), size, texts, MAP_PIXELS[1])
    return pd.DataFrame({"x": x, "y": y, "text": texts, "aside": asides, "offset": offsets})


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
        columns = (
            "topic_id",
            "title",
            "x",
            "y",
            "share",
            "whole",
            "words",
            "color",
            "size",
            "line",
            "stroke",
            "alpha",
        )
        self.source = ColumnDataSource({name: [] for name in columns})
        self.figure = make_figure(
            height=MAP_HEIGHT,
            sizing_mode="stretch_width",
            tools="pan,wheel_zoom,reset,save",
            active_scroll=None,
            match_aspect=True,
            x_range=DataRange1d(range_padding=MAP_PADDING),
            y_range=DataRange1d(range_padding=MAP_PADDING),
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
        self.labels = ColumnDataSource({"x": [], "y": [], "text": [], "aside": [], "offset": []})
        name = Text(
            x="x",
            y="y",
            text="text",
            x_offset="aside",
            y_offset="offset",
            text_align="center",
            text_baseline="bottom",
            **CHIP,
        )
        self.figure.add_glyph(self.labels, name)
        tooltips = [("topic", "@title"), ("size", "@share{0.0 %} @whole"), ("words", "@words")]
        self.figure.add_tools(
            HoverTool(renderers=[dots], tooltips=tooltips, limit=1), TapTool(renderers=[dots])
        )
        self._on_pick, self._on_point = on_pick, on_point
        self.source.selected.on_change("indices", self._tap)
        self.pointed = ColumnDataSource({"topic_id": []})
        tell = CustomJS(args={"source": self.source, "pointed": self.pointed}, code=TELL_POINTED)
        for event in ("mousemove", "mouseleave"):
            self.figure.js_on_event(event, tell)
        self.pointed.on_change("data", self._tell)

    def light(self, topic_ids: Collection[int | None] | None) -> None:
        """Make the other dots faint; None draws all dots alike."""
        shown = self.source.data["topic_id"]
        alphas = [
            DOT_ALPHA if topic_ids is None or each in topic_ids else FAINT_ALPHA for each in shown
        ]
        if alphas != list(self.source.data["alpha"]):
            self.source.patch({"alpha": [(slice(len(alphas)), alphas)]})

    def show(self, frame: pd.DataFrame, chosen: int | None) -> None:
        """Draw a map frame; the selected topic has a thick outline."""
        frame = frame.assign(
            size=size_dots(frame["share"]),
            line=np.where(frame["topic_id"] == chosen, THIS_RUN, "rgba(128,128,128,0.6)"),
            stroke=np.where(frame["topic_id"] == chosen, 5, 2),
            alpha=DOT_ALPHA,
        )
        with self.seed.standing_in(frame.empty):
            self.source.data = frame.to_dict("list")
            self.labels.data = label_dots(frame).to_dict("list")

    def _tap(self, _name: str, _old: Any, new: list[int]) -> None:
        if new:
            self._on_pick(int(self.source.data["topic_id"][new[0]]))
            self.source.selected.indices = []

    def _tell(self, _name: str, _old: Any, new: Mapping[str, Sequence[Any]]) -> None:
        """What a browser says counts only if it is a topic of the map."""
        said = list(new.get("topic_id", ()))[:1]
        self._on_point(
            next((int(each) for each in self.source.data["topic_id"] if [each] == said), None)
        )


class LinesPlot:
    """Topics over calendar time as faint lines: built once, updated by `show`.

    A tap calls `on_pick(topic_id)`.
    """

    def __init__(self, on_pick: Callable[[int], None]) -> None:
        self.lines = ColumnDataSource(
            {name: [] for name in ("topic_id", "title", "color", "xs", "ys", "width", "alpha")}
        )
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
        self._on_pick = on_pick
        self.lines.selected.on_change("indices", self._tap)

    def light(self, topic_ids: Collection[int | None]) -> None:
        """Draw the lines of these topics thick, and the others faint."""
        are_lit = [each in topic_ids for each in self.lines.data["topic_id"]]
        alphas = [1.0 if is_lit else LINE_ALPHA for is_lit in are_lit]
        if alphas != list(self.lines.data["alpha"]):
            widths = [3.0 if is_lit else 1.0 for is_lit in are_lit]
            self.lines.patch(
                {"alpha": [(slice(len(alphas)), alphas)], "width": [(slice(len(widths)), widths)]}
            )

    def show(self, topics: TopicLines) -> None:
        """Draw lines, all faint."""
        self.figure.title.text = f"Share of the tokens in each {topics.unit}"
        with self.seed.standing_in(topics.lines.empty):
            self.lines.data = topics.lines.assign(width=1.0, alpha=LINE_ALPHA).to_dict("list")

    def _tap(self, _name: str, _old: Any, new: list[int]) -> None:
        if new:
            self._on_pick(int(self.lines.data["topic_id"][new[0]]))
            self.lines.selected.indices = []


class TreePlot:
    """Topics by similarity as a tree: built once, updated by `show`.

    A tap on a leaf calls `on_pick(topic_id)`.
    """

    def __init__(self, on_pick: Callable[[int], None]) -> None:
        self.branches = ColumnDataSource({"xs": [], "ys": []})
        self.leaves = ColumnDataSource(
            {"x": [], "y": [], "topic_id": [], "title": [], "color": [], "size": []}
        )
        self.figure = make_figure(
            height=MAP_HEIGHT,
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
        self._on_pick = on_pick
        self.leaves.selected.on_change("indices", self._tap)

    def light(self, topic_ids: Collection[int | None]) -> None:
        """Make the leaves of these topics larger."""
        sizes = [
            LEAF_CHOSEN if each in topic_ids else LEAF for each in self.leaves.data["topic_id"]
        ]
        if sizes != list(self.leaves.data["size"]):
            self.leaves.patch({"size": [(slice(len(sizes)), sizes)]})

    def show(self, tree: TopicTree, chosen: int | None) -> None:
        """Draw a tree; the leaf of the selected topic is larger."""
        leaves = tree.leaves
        titles = leaves["title"].tolist()
        wide, narrow = (_cut(titles, most) for most in (MOST_LABEL, MOST_PHONE_LABEL))
        self._labels.args = {
            "wide": {str(row): wide[title] for row, title in enumerate(titles)},
            "narrow": {str(row): narrow[title] for row, title in enumerate(titles)},
        }
        self.figure.yaxis.ticker = FixedTicker(ticks=leaves["y"].tolist())
        self.figure.y_range.update(start=-1, end=len(leaves))
        farthest = max((max(xs) for xs in tree.xs), default=1.0) or 1.0
        self.figure.x_range.update(start=-EDGE * farthest, end=(1 + EDGE) * farthest)
        sizes = [LEAF_CHOSEN if topic_id == chosen else LEAF for topic_id in leaves["topic_id"]]
        with self.seed.standing_in(leaves.empty):
            self.branches.data = {"xs": tree.xs, "ys": tree.ys}
            self.leaves.data = leaves.assign(x=0.0, size=sizes).to_dict("list")

    def _tap(self, _name: str, _old: Any, new: list[int]) -> None:
        if new:
            self._on_pick(int(self.leaves.data["topic_id"][new[0]]))
            self.leaves.selected.indices = []
