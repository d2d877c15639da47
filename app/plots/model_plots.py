"""Plots of a fitted model for notebooks, as HoloViews objects. Pure: frames in, plots out."""

from typing import Any

import holoviews as hv
import pandas as pd
from bokeh.models import HoverTool, NumeralTickFormatter

from stickbreaker.app.frames.reading_frames import order_by_peak
from stickbreaker.app.plots.map_labels import CHIP, NOTEBOOK_MAP, fit_map, label_dots, size_dots
from stickbreaker.app.plots.reading_plots import DOT_ALPHA, HOVER, RAMP

# The map, with room for its title and its tools.
HALF_WIDTH = int(NOTEBOOK_MAP[0]) + 40
HEIGHT = int(NOTEBOOK_MAP[1]) + 37
# Of the labels of the map: pixels to the right and down, by the columns of `label_dots`.
OFFSETS = {"x_offset": "aside", "y_offset": "offset"}
MOST_BARS = 15
MOST_PERIOD_LABELS = 24
PERCENT = "0 %"
TOOLTIPS = [("topic", "@title"), ("share of tokens", "@share{0.0 %}"), ("words", "@words")]


def draw_map(frame: pd.DataFrame) -> Any:
    """Draw a map frame: dots whose areas are the shares, the largest with names."""
    frame = frame.assign(size=size_dots(frame["share"]))
    (middle, level), scale = fit_map(frame, NOTEBOOK_MAP)
    half_width, half_height = (pixels / 2 / scale for pixels in NOTEBOOK_MAP)
    details = ["title", "share", "words", "color", "size"]
    dots = hv.Points(frame, ["x", "y"], details, label="Map of topics").opts(
        color="color",
        size="size",
        alpha=DOT_ALPHA,
        tools=[HoverTool(tooltips=TOOLTIPS)],
        default_tools=[],
    )
    chip = {name: value for name, value in CHIP.items() if name != "padding"}
    names = hv.Labels(
        label_dots(frame, NOTEBOOK_MAP), ["x", "y"], ["text", *OFFSETS.values()]
    ).opts(
        backend_opts={"glyph.padding": CHIP["padding"]},
        hooks=[_move_labels],
        **chip,
    )
    return (dots * names).opts(
        width=HALF_WIDTH,
        height=HEIGHT,
        xaxis=None,
        yaxis=None,
        xlim=(middle - half_width, middle + half_width),
        ylim=(level - half_height, level + half_height),
        show_legend=False,
        title="Map of topics",
    )


def _move_labels(plot: Any, labels: Any) -> None:
    """Move labels by pixels from their dots, so that they stay there when the map is zoomed."""
    for name in OFFSETS.values():
        plot.handles["source"].add(labels.dimension_values(name), name)
    plot.handles["glyph"].update(**OFFSETS)


def draw_bars(frame: pd.DataFrame) -> Any:
    """Draw the largest topics of a map frame as bars, the largest at the top."""
    largest = frame.nlargest(MOST_BARS, "share")[::-1]
    return hv.Bars(largest, "title", ["share", "words", "color"]).opts(
        color="color",
        line_color=None,
        invert_axes=True,
        width=HALF_WIDTH,
        height=HEIGHT,
        xlabel="",
        ylabel="share of tokens",
        # The axes are exchanged: this is the format of the shares. That of the names would be an
        # error in the browser.
        xformatter=NumeralTickFormatter(format=PERCENT),
        title="Largest topics",
        tools=[HoverTool(tooltips=TOOLTIPS)],
        default_tools=[],
    )


def draw_time(frame: pd.DataFrame, measure: str) -> Any:
    """Draw a calendar frame as a heat map, darker for larger values."""
    periods = list(dict.fromkeys(frame["period"]))
    step = -(-len(periods) // MOST_PERIOD_LABELS) or 1
    tooltips = [*HOVER, (measure, "@value{0.0 %}")]
    cells = _use_plain_texts(order_by_peak(frame)[::-1], "period", "title")
    return hv.HeatMap(cells, ["place", "title"], ["value", "period", "documents"]).opts(
        cmap=list(RAMP),
        colorbar=True,
        clabel=measure,
        cformatter=NumeralTickFormatter(format=PERCENT),
        width=2 * HALF_WIDTH,
        height=HEIGHT,
        xlabel="",
        ylabel="",
        xticks=[(place, period) for place, period in enumerate(periods) if place % step == 0],
        xrotation=50,
        title=f"Topics over time: {measure}",
        tools=[HoverTool(tooltips=tooltips)],
        default_tools=[],
    )


def draw_groups(frame: pd.DataFrame, title: str) -> Any:
    """Draw one topic's shares in groups, of `shares_by_group`, with their intervals."""
    frame = frame.dropna(subset="share").sort_values("share", kind="stable")
    frame = frame.assign(below=frame["share"] - frame["low"], above=frame["high"] - frame["share"])
    frame = _use_plain_texts(frame, "group")
    hover = HoverTool(tooltips=[("group", "@group"), ("share", "@share{0.0 %}")])
    dots = hv.Scatter(frame, "group", ["share", "documents"]).opts(
        size=8, tools=[hover], default_tools=[]
    )
    bars = hv.ErrorBars(frame, "group", ["share", "below", "above"])
    return (bars * dots).opts(
        invert_axes=True,
        width=HALF_WIDTH,
        height=110 + 22 * len(frame),
        ylabel="share of tokens",
        xlabel="",
        yformatter=NumeralTickFormatter(format="0.0 %"),
        title=title,
    )


def _use_plain_texts(frame: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Return a frame whose columns of texts are Python strings.

    HoloViews cannot arrange pandas' own column of texts. Related:
    https://github.com/holoviz/holoviews/issues/6308.
    """
    return frame.astype(dict.fromkeys(columns, object))
