"""Data frames to plots: figures are built once, afterwards only the columns of their sources
change. Pure: no widget.

HoloViews could not do it: the figures grow with every mini-batch, and streaming into a source takes
a few milliseconds, replacing an element about two hundred. `add_glyph` is used
because the drawing methods of a figure also make four variants of each glyph (selected, hovered,
muted), which would have to be sent to the page.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from bokeh.models import (
    BasicTicker,
    BasicTickFormatter,
    ColumnDataSource,
    DataRange1d,
    DatetimeTicker,
    DatetimeTickFormatter,
    HoverTool,
    HSpan,
    Line,
    MultiLine,
    NumeralTickFormatter,
    Range1d,
    Scatter,
    Text,
    VSpan,
    VStrip,
)
from bokeh.plotting import figure

from stickbreaker.app.frames.progress_frames import CURVE_COLUMNS
from stickbreaker.app.plots.figures import empty_source, hide_tools, make_figure, unseen_points
from stickbreaker.app.theme import EARLIER_RUN, MARK, NOTE, ON_CHIP, THIS_RUN, WARM_UP
from stickbreaker.engine.evaluation.held_out import NUM_TOPICS_RULE

CURVE_HEIGHT = 220
SMALL_HEIGHT = 130
LEFT_BORDER = 78
NUM_LABEL_ROWS = 3
AXIS_ROOM = 0.05
FROM_ZERO = {"start": 0, "range_padding": 0.5}
CLOSE = {"min_interval": 0.05}
IN_FRAME = {"y_range_name": "frame", "level": "overlay"}
HELDOUT_LABEL = "nats per held-out word,\ngiven the other words"
SCORE_HELP = (
    "A tenth of the distinct words of each document is held out and predicted from its other words"
    " (protocol disjoint_words). The algorithm's own inference is used."
)
X_LABELS = {
    "documents": "documents read",
    "dates": "date of the latest document read",
    "seconds": "seconds of learning",
}


class CurveKind(NamedTuple):
    """The title, label and number format of one curve."""

    title: str
    y_label: str
    number: str
    tick: str
    hover: tuple[str, str]
    y_range: dict[str, float]
    least_tick: float = 0


CURVE_KINDS = {
    "heldout": CurveKind(
        title="Held-out log likelihood",
        y_label=HELDOUT_LABEL,
        number="{:.3f} nats",
        tick="0.00",
        hover=("held-out", "@y{0.0000} nats per word, given the other words"),
        y_range=CLOSE,
    ),
    "next_batch": CurveKind(
        title="Next-batch log likelihood",
        y_label="nats per held-out word,\nin the next mini-batch",
        number="{:.3f} nats",
        tick="0.00",
        hover=("next mini-batch", "@y{0.0000} nats per held-out word"),
        y_range=CLOSE,
    ),
    "num_topics": CurveKind(
        title="Topics in use while learning",
        y_label="topics",
        number="{:.0f}",
        tick="0",
        hover=("topics", f"@y{{0}} ({NUM_TOPICS_RULE.rstrip('.')})"),
        y_range=FROM_ZERO,
        least_tick=1,
    ),
    "learning_rate": CurveKind(
        title="Learning rate ρ",
        y_label="ρ",
        number="{:.4f}",
        tick="0.00",
        hover=("ρ", "@y{0.00000}"),
        y_range=FROM_ZERO,
    ),
}


class CurvePlot(NamedTuple):
    """A figure and its data sources.

    `seed` gives an empty plot an axis, and the lowest and highest value of the curve otherwise.
    """

    figure: figure
    points: ColumnDataSource
    newest: ColumnDataSource
    earlier: ColumnDataSource
    warm_up: ColumnDataSource
    marks: ColumnDataSource
    note: ColumnDataSource
    truth: ColumnDataSource
    seed: ColumnDataSource


def curve_plot(name: str, x_range: Range1d) -> CurvePlot:
    """An empty plot of one curve, with earlier runs, the warm-up, marks, and a note."""
    kind = CURVE_KINDS[name]
    plot = CurvePlot(
        figure=_framed_figure(kind, x_range),
        points=empty_source(*CURVE_COLUMNS),
        newest=empty_source("x", "y"),
        earlier=empty_source("xs", "ys", "label"),
        warm_up=empty_source("start", "end"),
        marks=empty_source("x", "text", "height", "align"),
        note=empty_source("text"),
        truth=empty_source("y"),
        seed=ColumnDataSource({"x": [0, 0], "y": [0, 1]}),
    )
    _draw_spans(plot)
    lines = _draw_lines(plot, kind, with_dots=name == "heldout")
    _draw_note(plot)
    unseen = plot.figure.add_glyph(plot.seed, unseen_points())
    plot.figure.y_range.renderers = [*lines, unseen]
    set_x_axis(plot.figure, "documents")
    return plot


def _framed_figure(kind: CurveKind, x_range: Range1d) -> figure:
    fig = make_figure(
        height=CURVE_HEIGHT,
        sizing_mode="stretch_width",
        x_range=x_range,
        y_range=DataRange1d(**kind.y_range),
        tools="xbox_zoom,xpan,reset,save",
        active_drag=None,
        toolbar_location="above",
        title=kind.title,
        y_axis_label=kind.y_label,
        min_border_left=LEFT_BORDER,
        min_border_right=16,
        output_backend="canvas",
    )
    fig.title.offset = -LEFT_BORDER
    fig.extra_x_ranges = {"frame": Range1d(0, 1)}
    fig.extra_y_ranges = {"frame": Range1d(0, 1)}
    hide_tools(fig)
    fig.yaxis.formatter = NumeralTickFormatter(format=kind.tick)
    fig.yaxis.ticker = BasicTicker(desired_num_ticks=5, min_interval=kind.least_tick)
    fig.xgrid.grid_line_color = None
    return fig


def _draw_spans(plot: CurvePlot) -> None:
    """Draw the warm-up as a shaded span, changes of settings as lines, and the true value."""
    fig = plot.figure
    shade = {"fill_color": WARM_UP, "fill_alpha": 0.16, "line_color": WARM_UP, "line_alpha": 0.5}
    fig.add_glyph(plot.warm_up, VStrip(x0="start", x1="end", **shade))
    fig.add_glyph(plot.marks, VSpan(x="x", line_color=MARK, line_width=1.5, line_dash=[5, 3]))
    fig.add_glyph(plot.truth, HSpan(y="y", line_color=MARK, line_width=1.5, line_dash=[2, 3]))
    name = Text(
        x="start",
        y=0.98,
        text={"value": "warm-up"},
        text_baseline="top",
        x_offset=4,
        **_chip(WARM_UP),
    )
    fig.add_glyph(plot.warm_up, name, **IN_FRAME)
    label = Text(
        x="x", y="height", text="text", text_align="align", text_baseline="bottom", **_chip(MARK)
    )
    fig.add_glyph(plot.marks, label, **IN_FRAME)


def _draw_lines(plot: CurvePlot, kind: CurveKind, with_dots: bool) -> list[Any]:
    """Draw this run's line over the faint lines of earlier runs, each with its tooltip."""
    fig = plot.figure
    dashed = MultiLine(xs="xs", ys="ys", line_color=EARLIER_RUN, line_alpha=0.9, line_dash=[6, 2])
    faint = fig.add_glyph(plot.earlier, dashed)
    line = fig.add_glyph(plot.points, Line(x="x", y="y", line_color=THIS_RUN, line_width=2.2))
    fig.add_glyph(plot.newest, _dot(size=8))
    if with_dots:
        fig.add_glyph(plot.points, _dot(size=5))
    fig.add_tools(
        HoverTool(
            renderers=[line],
            mode="vline",
            tooltips=[
                kind.hover,
                ("documents", "@documents_seen{0,0}"),
                ("date", "@date"),
                ("seconds", "@seconds{0.0}"),
            ],
        ),
        HoverTool(
            renderers=[faint], tooltips=[("earlier run", "@label"), (kind.hover[0], "$y{0.0000}")]
        ),
    )
    return [faint, line]


def _draw_note(plot: CurvePlot) -> None:
    chip = {
        **_chip(NOTE),
        "text_font_size": "13px",
        "padding": 8,
        "text_align": "center",
        "text_baseline": "middle",
    }
    plot.figure.add_glyph(
        plot.note, Text(x=0.5, y=0.5, text="text", **chip), x_range_name="frame", **IN_FRAME
    )


def _chip(color: str) -> dict[str, Any]:
    """White text on its own background, readable on light and dark pages."""
    return {
        "text_color": ON_CHIP,
        "text_font_size": "11px",
        "background_fill_color": color,
        "border_line_color": color,
        "border_radius": 3,
        "padding": 3,
    }


def _dot(size: float) -> Scatter:
    return Scatter(x="x", y="y", size=size, line_color=THIS_RUN, fill_color=THIS_RUN)


def set_x_axis(fig: figure, axis: str) -> None:
    """Label the x axis and choose its ticks."""
    fig.xaxis.axis_label = X_LABELS[axis]
    if axis == "dates":
        fig.xaxis.ticker = DatetimeTicker(desired_num_ticks=6)
        fig.xaxis.formatter = DatetimeTickFormatter()
    elif axis == "documents":
        fig.xaxis.ticker = BasicTicker(desired_num_ticks=4, min_interval=1)
        fig.xaxis.formatter = NumeralTickFormatter(format="0,0")
    else:
        fig.xaxis.ticker = BasicTicker(desired_num_ticks=6)
        fig.xaxis.formatter = BasicTickFormatter()


def resize_curve(plot: CurvePlot, name: str, is_large: bool) -> None:
    """Draw a curve large, or as a small multiple without labels of its axes."""
    fig = plot.figure
    if is_large:
        fig.height = CURVE_HEIGHT
        fig.yaxis.axis_label = CURVE_KINDS[name].y_label
        fig.yaxis.ticker.desired_num_ticks = 5
    else:
        fig.height = SMALL_HEIGHT
        fig.yaxis.axis_label = None
        fig.yaxis.ticker.desired_num_ticks = 3
    fig.xaxis.axis_label_text_alpha = float(is_large)


def find_span(values: Any) -> dict[str, float]:
    """Start and end of an axis that shows these values with a margin, also for a reset.

    0 to 1 without values.

    >>> find_span([1, float("nan"), 3])
    {'start': 0.9, 'end': 3.1, 'reset_start': 0.9, 'reset_end': 3.1}
    """
    values = np.asarray(values, dtype=float)
    values = values[np.isfinite(values)]
    start = 0.0
    end = 1.0
    if len(values):
        start = float(values.min())
        end = float(values.max())
        room = AXIS_ROOM * (end - start) or 1.0
        start -= room
        end += room
    return {"start": start, "end": end, "reset_start": start, "reset_end": end}


def curve_title(name: str, value: float | None) -> str:
    """Write the title of a plot with its newest value.

    >>> curve_title("num_topics", 41.0), curve_title("num_topics", None)
    ('Topics in use while learning: 41', 'Topics in use while learning')
    """
    kind = CURVE_KINDS[name]
    if value is None or not np.isfinite(value):
        return kind.title
    return f"{kind.title}: {kind.number.format(value).replace('-', '−')}"


def mark_columns(marks: pd.DataFrame, span: tuple[float, float] | None) -> dict[str, list[Any]]:
    """Columns of the marks' source.

    Labels are placed in rows, so that they do not overlap. On the right half of the plot a label is
    to the left of its line, so that the edge does not cut it off.
    """
    middle = (span[0] + span[1]) / 2 if span else np.inf
    return {
        "x": marks["x"].tolist(),
        "text": marks["text"].tolist(),
        "height": [0.04 + 0.13 * (row % NUM_LABEL_ROWS) for row in range(len(marks))],
        "align": ["right" if x > middle else "left" for x in marks["x"]],
    }


def wrap_note(text: str, width: int = 34) -> str:
    """Break a note into lines that fit a plot on a phone.

    >>> wrap_note("the first score comes after about 470 documents", 30)
    'the first score comes after\\nabout 470 documents'
    """
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(lines)


class RatePlot(NamedTuple):
    """The plot of the learning rate and its data sources."""

    figure: figure
    planned: ColumnDataSource
    taken: ColumnDataSource
    present: ColumnDataSource


def rate_plot() -> RatePlot:
    """An empty plot of planned rates (faint), past rates, and the present step (a dot)."""
    fig = make_figure(
        height=150,
        sizing_mode="stretch_width",
        x_range=Range1d(0, 1),
        y_range=DataRange1d(start=0),
        tools="",
        toolbar_location=None,
        x_axis_label="mini-batch t",
        y_axis_label="ρ",
        min_border_right=12,
        # The ground of the dark theme is not that of the settings.
        background_fill_alpha=0,
        border_fill_alpha=0,
    )
    plot = RatePlot(
        figure=fig,
        planned=ColumnDataSource({"x": [1.0], "y": [0.1]}),
        taken=empty_source("x", "y"),
        present=empty_source("x", "y"),
    )
    dashed = Line(x="x", y="y", line_color=EARLIER_RUN, line_width=1.8, line_dash=[5, 3])
    planned = fig.add_glyph(plot.planned, dashed)
    taken = fig.add_glyph(plot.taken, Line(x="x", y="y", line_color=THIS_RUN, line_width=2.2))
    fig.add_glyph(plot.present, _dot(size=10))
    fig.add_glyph(plot.present, VSpan(x="x", line_color=THIS_RUN, line_alpha=0.5))
    fig.y_range.renderers = [planned, taken]
    fig.xaxis.ticker = BasicTicker(desired_num_ticks=4, min_interval=1)
    fig.xaxis.formatter = NumeralTickFormatter(format="0,0")
    fig.yaxis.ticker = BasicTicker(desired_num_ticks=3)
    fig.yaxis.formatter = NumeralTickFormatter(format="0.00")
    fig.xgrid.grid_line_color = None
    fig.add_tools(
        HoverTool(
            renderers=[planned, taken],
            mode="vline",
            tooltips=[("t", "@x{0,0}"), ("ρ", "@y{0.00000}")],
        )
    )
    return plot
