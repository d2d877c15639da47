"""Plots of a fitted model for notebooks, as HoloViews objects. Pure: frames in, plots out."""

from typing import Any

import holoviews as hv
import numpy as np
import pandas as pd
from bokeh.models import HoverTool

from stickbreaker.app.frames.reading_frames import REST
from stickbreaker.app.panel_fixes import use_plain_texts
from stickbreaker.app.plots.reading_plots import HOVER, LARGEST_DOT, MAP_PADDING, RAMP, SMALLEST_DOT

HALF_WIDTH, HEIGHT = 460, 420
MOST_BARS, MOST_NAMED, LONGEST_NAME = 15, 10, 28
MOST_PERIOD_LABELS = 24
TOOLTIPS = [("topic", "@title"), ("share of tokens", "@share{0.0 %}"), ("words", "@words")]


def draw_map(frame: pd.DataFrame) -> Any:
    """Draw a map frame: a dot for each topic, whose area is the topic's share; the largest are named."""
    largest = max(frame["share"].max(), 1e-30)
    sizes = np.maximum(LARGEST_DOT * np.sqrt(frame["share"] / largest), SMALLEST_DOT)
    details = ["title", "share", "words", "color", "size"]
    dots = hv.Points(frame.assign(size=sizes), ["x", "y"], details, label="Map of topics").opts(
        color="color", size="size", alpha=0.7, tools=[HoverTool(tooltips=TOOLTIPS)], default_tools=[]
    )
    named = frame.nlargest(MOST_NAMED, "share").assign(title=lambda rows: rows["title"].map(_cut))
    names = hv.Labels(named, ["x", "y"], "title").opts(text_font_size="8pt", text_color="black")
    return (dots * names).opts(
        width=HALF_WIDTH,
        height=HEIGHT,
        xaxis=None,
        yaxis=None,
        padding=MAP_PADDING,
        show_legend=False,
        title="Map of topics",
    )


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
        # The axes are exchanged: this is the format of the shares. That of the names would be an error in the browser.
        xformatter="%.2f",
        title="Largest topics",
        tools=[HoverTool(tooltips=TOOLTIPS)],
        default_tools=[],
    )


def draw_time(frame: pd.DataFrame, measure: str) -> Any:
    """Draw a calendar frame as a heat map, darker for larger values."""
    frame = frame[frame["topic_id"] != REST]
    periods = list(dict.fromkeys(frame["period"]))
    step = -(-len(periods) // MOST_PERIOD_LABELS) or 1
    tooltips = [*HOVER, (measure, "@value{0.0 %}")]
    cells = use_plain_texts(frame[::-1], "period", "title")
    return hv.HeatMap(cells, ["place", "title"], ["value", "period", "documents"]).opts(
        cmap=list(RAMP),
        colorbar=True,
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


def _cut(title: str) -> str:
    return title if len(title) <= LONGEST_NAME else f"{title[: LONGEST_NAME - 1]}…"
