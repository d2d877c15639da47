"""Plots of a topic in groups of documents, of one model or of two. Pure."""

from collections.abc import Sequence

import pandas as pd
from bokeh.models import (
    BasicTicker,
    ColumnDataSource,
    CustomJSTickFormatter,
    DataRange1d,
    FactorRange,
    HoverTool,
    NumeralTickFormatter,
    Span,
)
from bokeh.plotting import figure
from bokeh.transform import dodge

from stickbreaker.app.plots.figures import hide_tools, make_figure
from stickbreaker.app.plots.map_labels import shorten
from stickbreaker.app.plots.reading_plots import (
    LABEL_OF_WIDTH,
    MOST_LABEL,
    MOST_PHONE_LABEL,
    MOST_TITLE,
    ROW_HEIGHT,
)
from stickbreaker.app.theme import EARLIER_RUN, topic_color

# The two runs of a comparison: their names, colours, markers and places in a row.
SIDES = {
    "left": ("Left run", topic_color(0), "circle", 0.2),
    "right": ("Right run", topic_color(3), "square", -0.2),
}
PERCENTS = "@{share}{0.0 %} (@low{0.0 %} to @high{0.0 %})"
DOCUMENTS = ("documents", "@documents{0,0}")


def shorten_apart(names: Sequence[str], most: int) -> dict[str, str]:
    """Labels of at most `most` signs for names.

    If they are too long, the words with which all of them begin or end are left out first.

    >>> shorten_apart(["Mr. John Q. Adams", "Mr. Andrew Johnson"], 13)
    {'Mr. John Q. Adams': 'John Q. Adams', 'Mr. Andrew Johnson': 'Andrew Johns…'}
    """
    if max(map(len, names), default=0) <= most:
        return {name: name for name in names}
    words = [name.split() for name in names]
    shortest = min(map(len, words)) - 1
    first = _count_common(words, shortest)
    last = _count_common([each[::-1] for each in words], shortest - first)
    labels = {}
    for name, each in zip(names, words, strict=True):
        label = " ".join(each[first : len(each) - last])
        labels[name] = label if len(label) <= most else f"{label[: most - 1]}…"
    return labels


def _count_common(words: list[list[str]], most: int) -> int:
    """With how many words all of several lists begin, at most `most`."""
    number = 0
    while number < most and len({each[number] for each in words}) == 1:
        number += 1
    return number


def _make_group_figure(names: list[str], title: str, row_height: int) -> figure:
    """An empty figure with a row for each group, the first one at the top."""
    fig = make_figure(
        height=110 + row_height * len(names),
        sizing_mode="stretch_width",
        tools="save",
        title=shorten(title, MOST_TITLE) or None,
        x_axis_label="share of the tokens in each group",
        x_axis_location="above",
        x_range=DataRange1d(start=0.0, range_padding=0.05),
        y_range=FactorRange(factors=names[::-1]),
    )
    hide_tools(fig)
    fig.ygrid.grid_line_color = None
    # Few ticks, whose labels have room on a phone.
    fig.xaxis.update(
        ticker=BasicTicker(desired_num_ticks=4), formatter=NumeralTickFormatter(format="0.[0] %")
    )
    labels = {
        width: shorten_apart(names, most)
        for width, most in {"wide": MOST_LABEL, "narrow": MOST_PHONE_LABEL}.items()
    }
    fig.yaxis.formatter = CustomJSTickFormatter(code=LABEL_OF_WIDTH, args=labels)
    return fig


def group_plot(frame: pd.DataFrame, topic_id: int, name: str) -> figure:
    """Draw a frame of `group_frame`: a dot for each group on the bar of its interval."""
    fig = _make_group_figure(frame["group"].tolist(), name, ROW_HEIGHT)
    whole = frame["whole"].max()
    fig.add_layout(Span(location=whole, dimension="height", line_color=EARLIER_RUN, line_dash=[4]))
    source = ColumnDataSource(frame.to_dict("list"))
    bars = fig.hbar(
        "group", 0.5, right="high", left="low", source=source, line_color=None, fill_alpha=0.35
    )
    fig.scatter("share", "group", size=8, source=source, color=topic_color(topic_id), name="shares")
    bars.glyph.fill_color = topic_color(topic_id)
    tooltips = [("group", "@group"), ("share", PERCENTS), DOCUMENTS]
    fig.add_tools(HoverTool(renderers=[bars], tooltips=tooltips))
    return fig


def matched_plot(frame: pd.DataFrame) -> figure:
    """Draw a frame of `matched_frame`: in each row a dot and a bar for each of the two runs."""
    fig = _make_group_figure(list(dict.fromkeys(frame["group"])), "", 2 * ROW_HEIGHT)
    for side, (label, color, marker, place) in SIDES.items():
        source = ColumnDataSource(frame[frame["side"] == side].to_dict("list"))
        row = dodge("group", place, range=fig.y_range)
        bars = fig.hbar(
            row, 0.3, right="high", left="low", source=source, line_color=None, fill_alpha=0.35
        )
        bars.glyph.fill_color = color
        dots = {"size": 8, "color": color, "marker": marker, "name": side}
        fig.scatter("share", row, source=source, legend_label=label, **dots)
        tooltips = [("group", "@group"), (label.lower(), PERCENTS), DOCUMENTS]
        fig.add_tools(HoverTool(renderers=[bars], tooltips=tooltips))
    fig.add_layout(fig.legend[0], "above")
    fig.legend.update(
        orientation="horizontal",
        border_line_color=None,
        location="left",
        label_text_font_size="12px",
    )
    return fig
