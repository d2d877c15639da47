"""Plots of several runs: held-out curves together, and the scores of a sweep as in Fig. 4 of Wang
2011. Pure.
"""

from html import escape
from typing import Any

import holoviews as hv
import pandas as pd
from bokeh.models import HoverTool, NumeralTickFormatter
from bokeh.plotting import figure
from holoviews.plotting.bokeh import BokehRenderer

from stickbreaker.app.plots.curve_plots import HELDOUT_LABEL, LEFT_BORDER, set_x_axis
from stickbreaker.app.plots.figures import hide_tools

HEIGHT = 340
DASHES = ("solid", [8, 3], [3, 3], [10, 3, 3, 3])
MARKERS = ("circle", "square", "triangle", "diamond", "inverted_triangle", "hex")
SWEEP_TITLE = "Final held-out log likelihood"
HELDOUT = ("held-out", "@y{0.0000} nats per word")
TOOLS = {"default_tools": ["xpan", "box_zoom", "reset", "save"], "active_tools": []}
LOOK = {
    "responsive": True,
    "height": HEIGHT,
    "toolbar": "above",
    "ylabel": HELDOUT_LABEL,
    "yticks": 6,
    "padding": 0.05,
    "show_grid": True,
    "gridstyle": {"xgrid_line_color": None},
    "legend_position": "bottom",
}


def _hover(*tooltips: tuple[str, str]) -> dict[str, Any]:
    return {"tools": [HoverTool(tooltips=list(tooltips))]}


def _draw(
    points: Any, place: int, label: str, line: dict[str, Any], dots: dict[str, Any]
) -> list[hv.Element]:
    """Draw points as a line with markers. line, dots: options of each."""
    line = {"line_width": 2, "line_dash": DASHES[place % len(DASHES)]} | line
    dots = {"marker": MARKERS[place % len(MARKERS)]} | dots
    return [
        hv.Curve(points, label=label).opts(**TOOLS, **line),
        hv.Scatter(points, label=label).opts(**TOOLS, **dots),
    ]


def _render(curves: list[hv.Element], title: str, **more: Any) -> figure:
    # Further decimals only where scores are closer than a hundredth.
    tick = NumeralTickFormatter(format="0.00[00]")
    plot = hv.Overlay(curves or [hv.Curve([])]).opts(title=title, yformatter=tick, **LOOK, **more)
    drawn = BokehRenderer.instance(webgl=False, theme=None).get_plot(plot)
    # Otherwise the session keeps every plot until it ends.
    drawn.cleanup()
    fig = drawn.state
    fig.update(outline_line_color=None, min_border_left=LEFT_BORDER, min_border_right=16)
    hide_tools(fig)
    return fig


def overlay_plot(frame: pd.DataFrame, axis: str) -> figure:
    """Draw `overlay_frame`: curves with their own colours, dashes and markers."""
    curves: list[hv.Element] = []
    for place, row in enumerate(frame.itertuples()):
        run, corpus = map(_as_literal, (row.title, row.corpus))
        hover = _hover(("run", run), ("corpus", corpus), HELDOUT)
        color = {"color": row.color}
        curves += _draw({"x": row.x, "y": row.y}, place, "", color | hover, color | {"size": 7})
    fig = _render(curves, "Held-out log likelihood")
    set_x_axis(fig, axis)
    return fig


def rate_plot(frame: pd.DataFrame) -> figure:
    """Draw `class_questions.rate_frame`: the curves of a class's values of κ."""
    curves: list[hv.Element] = []
    for place, row in enumerate(frame.itertuples()):
        line = _hover(("run", _as_literal(row.label)), HELDOUT) | {"color": row.color}
        if row.is_chosen:
            line |= {"line_width": 5, "line_dash": "solid"}
        dots = {"color": row.color, "size": 8}
        curves += _draw({"x": row.x, "y": row.y}, place, row.label, line, dots)
    fig = _render(curves, "Held-out log likelihood with each κ", legend_cols=3)
    fig.legend.location = "center"
    set_x_axis(fig, "documents")
    return fig


def _as_literal(text: str) -> str:
    """Escape a name so that a tooltip shows it as text, not as a column or markup."""
    return escape(text, quote=False).replace("@", "&#64;").replace("$", "&#36;")


def sweep_plot(
    frame: pd.DataFrame, x_label: str, is_logarithmic: bool, title: str = SWEEP_TITLE
) -> figure:
    """Draw `sweep_frame`: final scores by one setting, a line per choice of others."""
    curves: list[hv.Element] = []
    for place, (name, rows) in enumerate(frame.groupby("line", sort=False)):
        color = {"color": rows["color"].iloc[0]}
        dots = color | {"size": 9} | _hover(("run", "@label"), ("held-out", "@y{0.0000}"))
        curves += _draw(rows.sort_values("x")[["x", "y", "label"]], place, str(name), color, dots)
    fig = _render(
        curves,
        title,
        logx=is_logarithmic,
        xlabel=x_label,
        xticks=sorted(set(frame["x"])),
        xformatter=NumeralTickFormatter(format="0,0.[00]"),
        legend_cols=2,
    )
    fig.legend.location = "right"
    return fig
