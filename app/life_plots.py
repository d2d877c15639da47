"""Plots over the length of a run: a word among the topics. Pure: frames in, figures out."""

from collections.abc import Callable
from typing import Any

import pandas as pd
from bokeh.models import ColumnDataSource, DataRange1d, HoverTool, NumeralTickFormatter, TapTool
from bokeh.plotting import figure

from app.theme import topic_color
from app.word_frames import OF_TOPIC

WORD_HEIGHT = 260


class WordPlot:
    """A word's lines, one a topic: built once, moved by `show`; `on_pick(topic_id)` is called at a tap on a dot."""

    def __init__(self, on_pick: Callable[[int], None]):
        self.lines = ColumnDataSource({"xs": [], "ys": [], "color": []})
        self.dots = ColumnDataSource({name: [] for name in ("topic_id", "title", "x", "y", "rank", "date", "color")})
        self.figure = figure(
            height=WORD_HEIGHT,
            sizing_mode="stretch_width",
            tools="reset,save",
            toolbar_location="above",
            y_range=DataRange1d(start=0, range_padding=0.1),
            min_border_right=16,
        )
        self.figure.toolbar.logo = None
        self.figure.toolbar.autohide = True
        self.figure.xgrid.grid_line_color = None
        self.figure.xaxis.formatter = NumeralTickFormatter(format="0,0")
        self.figure.multi_line("xs", "ys", source=self.lines, line_color="color", line_width=2.2)
        dots = self.figure.scatter(
            "x", "y", source=self.dots, color="color", size=7, nonselection_alpha=1.0, selection_alpha=1.0
        )
        self._hover = HoverTool(renderers=[dots])
        self.figure.add_tools(self._hover, TapTool(renderers=[dots]))
        self._on_pick = on_pick
        self.dots.selected.on_change("indices", self._tap)

    def show(self, frame: pd.DataFrame, axis: str, measure: str) -> None:
        """Draw a `word_frame`; a line has a gap where the word is not listed."""
        number = "0.00 %" if measure == OF_TOPIC else "0,0"
        self.figure.xaxis.axis_label, self.figure.yaxis.axis_label = axis, measure
        self.figure.yaxis.formatter = NumeralTickFormatter(format="0.0 %" if measure == OF_TOPIC else "0,0")
        self._hover.tooltips = [
            ("topic", "@title"),
            (axis, "@x{0,0}"),
            ("date", "@date"),
            (measure, f"@y{{{number}}}"),
            ("its word no.", "@rank"),
        ]
        parts = [(topic_color(topic_id), part) for topic_id, part in frame.groupby("topic_id", sort=False)]
        self.lines.data = {
            "xs": [part["x"].tolist() for _, part in parts],
            "ys": [part["value"].tolist() for _, part in parts],
            "color": [color for color, _ in parts],
        }
        listed = frame.dropna(subset="value").rename(columns={"value": "y"})
        listed = listed.assign(color=[topic_color(topic_id) for topic_id in listed["topic_id"]])
        self.dots.data = listed[list(self.dots.data)].to_dict("list")

    def _tap(self, _name: str, _old: Any, new: list[int]) -> None:
        if new:
            self._on_pick(int(self.dots.data["topic_id"][new[0]]))
            self.dots.selected.indices = []
