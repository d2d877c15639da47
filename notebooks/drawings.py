"""Draw data frames as figures of a fixed size, for the papers' figures.

Pure: nothing is run, read or saved.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from bokeh.layouts import column, row
from bokeh.models import (
    BasicTicker,
    Column,
    ColumnDataSource,
    FixedTicker,
    Legend,
    LegendItem,
    NumeralTickFormatter,
    Range1d,
    Row,
    Whisker,
)
from bokeh.palettes import Colorblind
from bokeh.plotting import figure

# Without yellow, which is too faint on white.
COLORS = [Colorblind[8][place] for place in (0, 1, 3, 6, 5, 4, 7)]
DASHES = ([], [7, 3], [2, 3], [9, 3, 2, 3])
MARKERS = ("circle", "square", "triangle", "diamond", "inverted_triangle")
TITLE, LABEL, TICK = "15px", "14px", "13px"
# A level line: what models of word frequencies alone reach.
WORDS = "word frequencies"
TOPICS = "topics in use"
KEPT_COLOR, DROPPED_COLOR = "#111111", "#8a8a8a"
LINE_HEIGHT = 27
# Lines with at most this number of points have a marker at each point.
MOST_DOTS = 12


class Axes(NamedTuple):
    """Labels and formats of a figure's axes.

    is_log, has_log_y: whether the x axis and the y axis are logarithmic. at: positions of the x
    axis' ticks; empty leaves them to Bokeh.
    """

    x_label: str
    y_label: str
    is_log: bool = False
    at: tuple[float, ...] = ()
    x_format: str = "0,0"
    y_format: str = "0.00"
    has_log_y: bool = False


def draw_above_topics(
    scores: pd.DataFrame, topics: pd.DataFrame, axes: Axes, height: int = 400, width: int = 330
) -> Any:
    """Draw panels of scores, and below each one the number of topics in use, with the columns of
    `draw_panels`.
    """
    counted = axes._replace(y_label=TOPICS, y_format="0", has_log_y=False)
    below = draw_panels(topics, counted, 240, width, has_legend=False)
    return column(draw_panels(scores, axes, height, width), below, spacing=0)


def measure(drawn: Any) -> tuple[int, int]:
    """Return the width and the height of a figure, or of rows and columns of figures, in pixels."""
    if not isinstance(drawn, Row | Column):
        return drawn.width, drawn.height
    widths, heights = zip(*map(measure, drawn.children), strict=True)
    return (sum(widths), max(heights)) if isinstance(drawn, Row) else (max(widths), sum(heights))


def draw_panels(
    frame: pd.DataFrame, axes: Axes, height: int = 400, width: int = 330, has_legend: bool = True
) -> Any:
    """Draw panels next to each other with one y range, and one legend on the right.

    frame: columns panel (its title), line, x, y, and deviation where there are error bars. Colours
    follow the order in which the lines first appear. A y axis with the format "0" shows counts and
    starts at 0.
    """
    lines, panels = list(dict.fromkeys(frame["line"])), list(dict.fromkeys(frame["panel"]))
    y_range = _around(frame, axes)
    figures = []
    for place, panel in enumerate(panels):
        own, is_last = frame[frame["panel"] == panel], place == len(panels) - 1
        margin = (0 if place else 20) + (_legend_width(lines) if is_last and has_legend else 0)
        named = axes if not place else axes._replace(y_label="")
        drawn = _draw_panel(own, named, lines, (width + margin, height), y_range)
        drawn.title.text = panel
        if is_last and has_legend:
            _add_legend(drawn, lines, _has_dots(frame))
        figures.append(drawn)
    return row(*figures, spacing=0)


def draw_unlike_panels(
    parts: Sequence[tuple[pd.DataFrame, Axes]], height: int = 400, width: int = 350
) -> Any:
    """Draw panels that have different axes.

    Each frame is one panel, with the columns of `draw_panels`.
    """
    lines = list(dict.fromkeys(line for frame, _ in parts for line in frame["line"]))
    figures = []
    for place, (frame, axes) in enumerate(parts):
        extra = _legend_width(lines) if place == len(parts) - 1 else 0
        drawn = _draw_panel(frame, axes, lines, (width + extra, height), _around(frame, axes))
        drawn.title.text = frame["panel"].iloc[0]
        figures.append(drawn)
    _add_legend(figures[-1], lines, any(_has_dots(frame) for frame, _ in parts))
    return row(*figures, spacing=0)


def _legend_width(lines: Sequence[str]) -> int:
    """Return the width that the longest name needs, so that the last panel is as wide as the
    others.
    """
    return 52 + round(7.4 * max(map(len, lines)))


def _ends(frame: pd.DataFrame) -> tuple[float, float]:
    """Return the lowest and the highest y, with their error bars."""
    deviation = frame["deviation"].fillna(0.0) if "deviation" in frame else 0.0
    return float((frame["y"] - deviation).min()), float((frame["y"] + deviation).max())


def _around(frame: pd.DataFrame, axes: Axes) -> tuple[float, float]:
    """Return a range slightly larger than that of the values."""
    low, high = _ends(frame)
    if axes.y_format == "0":
        return 0.0, 1.08 * high
    if axes.has_log_y:
        return low / 1.1, high * 1.1
    room = 0.06 * (high - low) or 0.5
    return low - room, high + room


def _draw_panel(
    frame: pd.DataFrame, axes: Axes, lines: Sequence[str], size: tuple[int, int], y: Any
) -> figure:
    drawn = _frame_figure(axes, size, y)
    for place, line in enumerate(lines):
        own = frame[frame["line"] == line].sort_values("x")
        dash, look = _look(line, place)
        source = ColumnDataSource({"x": own["x"].to_numpy(float), "y": own["y"].to_numpy(float)})
        drawn.line("x", "y", source=source, line_width=2.2, line_dash=dash, **look)
        if _has_dots(frame) and line != WORDS:
            drawn.scatter(
                "x", "y", source=source, size=8, marker=MARKERS[place % len(MARKERS)], **look
            )
        if "deviation" in own:
            drawn.add_layout(_error_bars(own, look["color"]))
    return drawn


def _look(line: str, place: int) -> tuple[list[int], dict[str, str]]:
    """The dashes and the colour of a line; word frequencies have their own."""
    if line == WORDS:
        return [5, 4], {"color": "#777777"}
    return DASHES[place // len(COLORS) % len(DASHES)], {"color": COLORS[place % len(COLORS)]}


def _error_bars(own: pd.DataFrame, color: str) -> Whisker:
    """Bars of one standard deviation to either side; none where there is only one seed."""
    own = own.dropna(subset="deviation")
    low, high = own["y"] - own["deviation"], own["y"] + own["deviation"]
    source = ColumnDataSource(
        {"x": own["x"].to_numpy(float), "low": low.to_numpy(float), "high": high.to_numpy(float)}
    )
    bars = Whisker(
        base="x", lower="low", upper="high", source=source, line_color=color, line_width=1.4
    )
    for head in (bars.upper_head, bars.lower_head):
        head.size, head.line_color = 6, color
    return bars


def _has_dots(frame: pd.DataFrame) -> bool:
    """Return whether each line has few enough points for a marker at each."""
    return frame.groupby(["panel", "line"]).size().max() <= MOST_DOTS


def _frame_figure(axes: Axes, size: tuple[int, int], y: tuple[float, float]) -> figure:
    drawn = figure(
        width=size[0],
        height=size[1],
        x_axis_type="log" if axes.is_log else "linear",
        y_axis_type="log" if axes.has_log_y else "linear",
        y_range=Range1d(*y),
        x_axis_label=axes.x_label,
        y_axis_label=axes.y_label,
        title="",
        toolbar_location=None,
        min_border_right=12,
        background_fill_color="#ffffff",
    )
    drawn.title.text_font_size = TITLE
    for axis in (*drawn.xaxis, *drawn.yaxis):
        axis.axis_label_text_font_size, axis.major_label_text_font_size = LABEL, TICK
        axis.axis_label_text_font_style = "normal"
    drawn.xaxis.formatter = NumeralTickFormatter(format=axes.x_format)
    drawn.yaxis.formatter = NumeralTickFormatter(format=axes.y_format)
    if axes.has_log_y:
        drawn.yaxis.ticker = FixedTicker(
            ticks=[number * 10**power for power in range(6) for number in (1, 2, 5)]
        )
    else:
        drawn.yaxis.ticker = BasicTicker(
            desired_num_ticks=7, min_interval=1 if axes.y_format == "0" else 0
        )
    if y[0] < 0 < y[1]:
        drawn.hspan(0, line_color="#777777", line_dash=[4, 3])
    if axes.at:
        drawn.xaxis.ticker = FixedTicker(ticks=list(axes.at), minor_ticks=[])
    drawn.grid.grid_line_color = "#e4e4e4"
    return drawn


def _add_legend(drawn: figure, lines: Sequence[str], has_dots: bool) -> None:
    items = []
    for place, line in enumerate(lines):
        dash, look = _look(line, place)
        # A line may have no points in this panel. These two are drawn only for the legend.
        shown = [
            drawn.line([np.nan], [np.nan], line_width=2.2, line_dash=dash, **look),
            drawn.scatter([np.nan], [np.nan], size=8, marker=MARKERS[place % len(MARKERS)], **look),
        ][: 1 + (has_dots and line != WORDS)]
        items.append(LegendItem(label=line, renderers=shown))
    legend = Legend(
        items=items, label_text_font_size=TICK, border_line_color=None, spacing=4, margin=4
    )
    drawn.add_layout(legend, "right")


def draw_word_lists(frame: pd.DataFrame, title: str, column_width: int = 128) -> figure:
    """Draw word lists in columns; words of a topic's last list are dark, other words are grey.

    title: what the headings mean.
    frame: columns topic (its title), column (its heading; "\\n" starts a new line), rank (from 1),
    word.
    """
    topics, headings = list(dict.fromkeys(frame["topic"])), list(dict.fromkeys(frame["column"]))
    num_words = int(frame["rank"].max())
    heights = 4.0 + len(topics) * (num_words + 2.0)
    drawn = figure(
        width=column_width * len(headings) + 20,
        height=round(LINE_HEIGHT * heights),
        x_range=Range1d(-0.08, len(headings)),
        y_range=Range1d(heights, 0),
        toolbar_location=None,
        outline_line_color=None,
        min_border=0,
    )
    drawn.axis.visible, drawn.grid.visible = False, False
    _write(drawn, [0], [0.7], [title], text_font_size=LABEL)
    _write(
        drawn,
        range(len(headings)),
        [2.1] * len(headings),
        headings,
        text_font_style="bold",
        text_font_size=TICK,
    )
    for place, topic in enumerate(topics):
        top = 3.9 + place * (num_words + 2.0)
        drawn.line([-0.05, len(headings)], [top - 0.6, top - 0.6], color="#bbbbbb")
        _write(drawn, [0], [top], [topic], text_font_style="italic", text_font_size=LABEL)
        own = frame[frame["topic"] == topic]
        last = set(own.loc[own["column"] == headings[-1], "word"])
        for words, color in (
            (own[own["word"].isin(last)], KEPT_COLOR),
            (own[~own["word"].isin(last)], DROPPED_COLOR),
        ):
            x = [headings.index(heading) for heading in words["column"]]
            _write(
                drawn,
                x,
                top + 0.2 + words["rank"].to_numpy(),
                words["word"],
                text_color=color,
                text_font_size=LABEL,
            )
    return drawn


def _write(drawn: figure, x: Any, y: Any, words: Any, **look: Any) -> None:
    source = ColumnDataSource({"x": list(x), "y": list(y), "text": list(words)})
    drawn.text("x", "y", text="text", source=source, text_baseline="middle", **look)
