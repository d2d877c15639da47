"""Plots of the internals of an algorithm: each is built once, then updated with frames.

HoloViews could not do it: a plot that it has drawn keeps its height, however many rows there are
now, and it draws no arrows between two columns of a frame.
"""

from typing import Any

import numpy as np
import pandas as pd
from bokeh.models import (
    Arrow,
    BasicTicker,
    FactorRange,
    HoverTool,
    NormalHead,
    NumeralTickFormatter,
    Range1d,
    VSpan,
)
from bokeh.plotting import figure

from stickbreaker.app.plots.curve_plots import find_span
from stickbreaker.app.plots.figures import empty_source, hide_tools, make_figure
from stickbreaker.app.theme import EARLIER_RUN, MARK, THIS_RUN

ROW_HEIGHT = 24
AXIS_HEIGHT = 80
SLOT_HEIGHT = 300
BOUND_HEIGHT = 220


def _figure(**more: Any) -> figure:
    """A figure that does not capture the scrolling of the page."""
    fig = make_figure(sizing_mode="stretch_width", tools="save", toolbar_location="above", **more)
    hide_tools(fig)
    return fig


def _name_rows(fig: figure, names: list[str]) -> None:
    """Give each name one row, with the first at the top."""
    if fig.y_range.factors != names[::-1]:
        fig.y_range.factors = names[::-1]
        fig.height = AXIS_HEIGHT + ROW_HEIGHT * len(names)


def _count_whole(fig: figure) -> None:
    """Show whole numbers on the x axis, without grid lines."""
    fig.xaxis.ticker = BasicTicker(desired_num_ticks=8, min_interval=1)
    fig.xaxis.formatter = NumeralTickFormatter(format="0,0")
    fig.xgrid.grid_line_color = None


class StickPlot:
    """The rest of the stick in each row, in grey, and the piece of a topic, in its colour."""

    def __init__(self) -> None:
        self.source = empty_source("label", "title", "start", "end", "cut", "weight", "color")
        self.figure = fig = _figure(
            height=AXIS_HEIGHT,
            y_range=FactorRange(factors=[]),
            x_range=Range1d(0, 1.01),
            x_axis_label="the stick, from 0 to 1",
            y_axis_label="topic k",
        )
        row = {"y": "label", "left": "start", "source": self.source, "line_color": None}
        fig.hbar(height=0.3, right=1.0, fill_color=EARLIER_RUN, fill_alpha=0.4, **row)
        pieces = fig.hbar(height=0.8, right="end", fill_color="color", **row)
        tips = [
            ("topic", "@title"),
            ("E[β′]", "@cut{0.000} of the rest"),
            ("E[β]", "@weight{0.0 %} of all"),
        ]
        fig.add_tools(HoverTool(renderers=[pieces], tooltips=tips))
        fig.ygrid.grid_line_color = None

    def show(self, frame: pd.DataFrame) -> None:
        """Draw a stick frame."""
        _name_rows(self.figure, frame["label"].tolist())
        self.source.data = frame.to_dict("list")


class SlotPlot:
    """A document's words in its slots by iteration; a dashed line marks the run's last."""

    def __init__(self) -> None:
        bars = ("iteration", "slot", "bottom", "top", "color")
        self.source = empty_source(*bars, "tokens", "share", "topic_id", "title", "held")
        self.end = empty_source("x")
        self.figure = fig = _figure(
            height=SLOT_HEIGHT,
            x_range=Range1d(0.4, 1.6),
            y_range=Range1d(0, 1),
            x_axis_label="iterations of Eq. 15 to 18",
            y_axis_label="share of the document's words",
        )
        line = {"line_color": "#ffffff", "line_width": 0.5}
        drawn = fig.vbar(
            "iteration", 0.86, "top", "bottom", source=self.source, fill_color="color", **line
        )
        held = [("slot", "@slot"), ("topic", "@title, φ @held{0.00}")]
        tips = [*held, ("words", "@tokens{0.0 %}"), ("E[π]", "@share{0.0 %}")]
        fig.add_tools(HoverTool(renderers=[drawn], tooltips=tips))
        fig.add_glyph(self.end, VSpan(x="x", line_color=MARK, line_width=2, line_dash=[5, 3]))
        _count_whole(fig)

    def show(self, frame: pd.DataFrame, num_taken: int) -> None:
        """Draw a slot frame; the run takes the first `num_taken` iterations."""
        self.source.data = frame.to_dict("list")
        _mark_end(self, int(frame["iteration"].max()), num_taken)


class BoundPlot:
    """A bound in nats per word, by iterations or passes."""

    def __init__(self, x_label: str) -> None:
        self.source = empty_source("x", "y")
        self.end = empty_source("x")
        self.figure = fig = _figure(
            height=BOUND_HEIGHT,
            x_range=Range1d(0.4, 1.6),
            y_range=Range1d(0, 1),
            x_axis_label=x_label,
            y_axis_label="nats per word",
        )
        fig.line("x", "y", source=self.source, line_color=THIS_RUN, line_width=2.2)
        dots = fig.scatter("x", "y", source=self.source, color=THIS_RUN, size=6)
        fig.add_tools(
            HoverTool(
                renderers=[dots], tooltips=[(x_label, "@x"), ("bound", "@y{0.0000} nats per word")]
            )
        )
        fig.add_glyph(self.end, VSpan(x="x", line_color=MARK, line_width=2, line_dash=[5, 3]))
        fig.yaxis.formatter = NumeralTickFormatter(format="0.00")
        fig.yaxis.ticker = BasicTicker(desired_num_ticks=5)
        _count_whole(fig)

    def show(self, frame: pd.DataFrame, num_taken: float = np.inf) -> None:
        """Draw a frame of bounds; the run takes the first `num_taken` iterations."""
        self.figure.y_range.update(**find_span(frame["y"]))
        self.source.data = frame.to_dict("list")
        _mark_end(self, max(frame["x"], default=1), num_taken)


def _mark_end(plot: SlotPlot | BoundPlot, last: float, num_taken: float) -> None:
    """Make room for `last` iterations, with a line after the last of the run."""
    plot.figure.x_range.end = last + 0.6
    plot.end.data = {"x": [num_taken + 0.5] * (num_taken < last)}


class ArrowPlot:
    """λ of words as dots, the noisy gradient as thin arrows to λ̂, and the step as thick arrows."""

    def __init__(self) -> None:
        self.source = empty_source("word", "before", "target", "after")
        self.figure = fig = _figure(
            height=AXIS_HEIGHT,
            x_range=Range1d(0, 1),
            y_range=FactorRange(factors=[]),
            x_axis_label="λ, expected tokens of the word",
        )
        for end, color, width, size in (("target", EARLIER_RUN, 1.5, 8), ("after", THIS_RUN, 4, 9)):
            head = NormalHead(size=size, fill_color=color, line_color=color)
            place = {"x_start": "before", "y_start": "word", "x_end": end, "y_end": "word"}
            fig.add_layout(
                Arrow(source=self.source, end=head, line_color=color, line_width=width, **place)
            )
        shared = {"y": "word", "source": self.source}
        targets = fig.scatter("target", marker="diamond", size=9, color=EARLIER_RUN, **shared)
        dots = fig.scatter("before", size=8, color=THIS_RUN, **shared)
        values = [
            ("λ before", "@before{0,0.00}"),
            ("target λ̂", "@target{0,0.00}"),
            ("λ after", "@after{0,0.00}"),
        ]
        fig.add_tools(HoverTool(renderers=[dots, targets], tooltips=[("word", "@word"), *values]))
        fig.xaxis.formatter = NumeralTickFormatter(format="0,0")
        fig.xaxis.ticker = BasicTicker(desired_num_ticks=5, min_interval=1)

    def show(self, frame: pd.DataFrame) -> None:
        """Draw an arrow frame."""
        _name_rows(self.figure, frame["word"].tolist())
        self.figure.x_range.update(**find_span(frame[["before", "target", "after"]]))
        self.source.data = frame.to_dict("list")
