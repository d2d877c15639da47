"""Plots of several runs: held-out curves together, and the scores of a sweep as in Fig. 4 of Wang
2011. Pure.
"""

from html import escape
from typing import Any

import pandas as pd
from bokeh.models import BasicTicker, ColumnDataSource, FixedTicker, HoverTool, NumeralTickFormatter
from bokeh.plotting import figure

from stickbreaker.app.plots.curve_plots import HELDOUT_LABEL, LEFT_BORDER, set_x_axis
from stickbreaker.app.plots.figures import hide_tools, make_figure

HEIGHT = 340
DASHES = ("solid", [8, 3], [3, 3], [10, 3, 3, 3])
MARKERS = ("circle", "square", "triangle", "diamond", "inverted_triangle", "hex")


def _score_figure(title: str, **more: Any) -> figure:
    fig = make_figure(
        height=HEIGHT,
        sizing_mode="stretch_width",
        tools="xpan,box_zoom,reset,save",
        active_drag=None,
        toolbar_location="above",
        title=title,
        y_axis_label=HELDOUT_LABEL,
        min_border_left=LEFT_BORDER,
        min_border_right=16,
        **more,
    )
    hide_tools(fig)
    # Further decimals only where scores are closer than a hundredth.
    fig.yaxis.formatter = NumeralTickFormatter(format="0.00[00]")
    fig.yaxis.ticker = BasicTicker(desired_num_ticks=6)
    fig.xgrid.grid_line_color = None
    return fig


def overlay_plot(frame: pd.DataFrame, axis: str) -> figure:
    """Draw `overlay_frame`: curves with their own colours, dashes and markers."""
    fig = _score_figure("Held-out log likelihood")
    set_x_axis(fig, axis)
    for place, row in enumerate(frame.itertuples()):
        source = ColumnDataSource({"x": row.x, "y": row.y})
        line = fig.line(
            "x",
            "y",
            source=source,
            line_color=row.color,
            line_width=2,
            line_dash=DASHES[place % len(DASHES)],
        )
        marker = MARKERS[place % len(MARKERS)]
        fig.scatter("x", "y", source=source, color=row.color, size=7, marker=marker)
        tips = [
            ("run", row.title),
            ("corpus", row.corpus),
            ("held-out", "@y{0.0000} nats per word"),
        ]
        fig.add_tools(
            HoverTool(renderers=[line], tooltips=[(name, _as_literal(text)) for name, text in tips])
        )
    return fig


def rate_plot(frame: pd.DataFrame) -> figure:
    """Draw `class_questions.rate_frame`: the curves of a class's values of κ."""
    fig = _score_figure("Held-out log likelihood with each κ")
    set_x_axis(fig, "documents")
    for place, row in enumerate(frame.itertuples()):
        source = ColumnDataSource({"x": row.x, "y": row.y})
        style = {"line_width": 2, "line_dash": DASHES[place % len(DASHES)]}
        if row.is_chosen:
            style = {"line_width": 5, "line_dash": "solid"}
        line = fig.line("x", "y", source=source, color=row.color, legend_label=row.label, **style)
        marker = MARKERS[place % len(MARKERS)]
        fig.scatter(
            "x", "y", source=source, color=row.color, size=8, marker=marker, legend_label=row.label
        )
        tips = [("run", _as_literal(row.label)), ("held-out", "@y{0.0000} nats per word")]
        fig.add_tools(HoverTool(renderers=[line], tooltips=tips))
    fig.add_layout(fig.legend[0], "below")
    fig.legend.update(location="center", orientation="horizontal", ncols=3)
    return fig


def _as_literal(text: str) -> str:
    """Escape a name so that a tooltip shows it as text, not as a column or markup."""
    if text.startswith("@y"):
        return text
    return escape(text, quote=False).replace("@", "&#64;").replace("$", "&#36;")


def sweep_plot(frame: pd.DataFrame, x_label: str, is_logarithmic: bool) -> figure:
    """Draw `sweep_frame`: final scores by one setting, a line per choice of others."""
    fig = _score_figure(
        "Final held-out log likelihood",
        x_axis_type="log" if is_logarithmic else "linear",
        x_axis_label=x_label,
    )
    for place, (name, rows) in enumerate(frame.groupby("line", sort=False)):
        rows = rows.sort_values("x")
        source = ColumnDataSource(rows[["x", "y", "label"]].to_dict("list"))
        color, dash = rows["color"].iloc[0], DASHES[place % len(DASHES)]
        fig.line("x", "y", source=source, line_color=color, line_width=2, line_dash=dash)
        dots = fig.scatter(
            "x",
            "y",
            source=source,
            color=color,
            size=9,
            marker=MARKERS[place % len(MARKERS)],
            legend_label=str(name),
        )
        fig.add_tools(
            HoverTool(renderers=[dots], tooltips=[("run", "@label"), ("held-out", "@y{0.0000}")])
        )
    if len(frame):
        fig.legend.location = "right"
        fig.add_layout(fig.legend[0], "below")
        fig.legend.orientation = "horizontal"
        fig.legend.ncols = 2
        fig.xaxis.ticker = FixedTicker(ticks=sorted(set(frame["x"])))
        fig.xaxis.formatter = NumeralTickFormatter(format="0,0.[00]")
    return fig
