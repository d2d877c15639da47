"""Figures without an outline, with tools that the keyboard reaches, and points that give an empty
plot its ranges.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from bokeh.models import ColumnDataSource, Scatter
from bokeh.plotting import figure

# Bokeh's autohide sets `visibility: hidden`, so the keyboard cannot reach the tools.
TOOLS_STYLE = """
:host(.bk-hidden) { visibility: visible; pointer-events: none; }
:host(.bk-hidden:focus-within) { opacity: 1; }
"""
CORNERS = {"x": [0, 1], "y": [0, 1]}


def make_figure(**options: Any) -> figure:
    """A figure without an outline, which panel-material-ui hides only in light mode."""
    return figure(outline_line_color=None, **options)


def hide_tools(fig: figure) -> None:
    """Show the tools only under the pointer or with the keyboard focus."""
    fig.toolbar.update(logo=None, autohide=True, stylesheets=[TOOLS_STYLE])


def empty_source(*columns: str) -> ColumnDataSource:
    """A source with these columns and no rows."""
    return ColumnDataSource({name: [] for name in columns})


def call_on_tap(
    source: ColumnDataSource, on_pick: Callable[..., None], *columns: str
) -> ColumnDataSource:
    """Call `on_pick` with these whole numbers of the row that is tapped; no row stays selected."""

    def tap(_name: str, _old: Any, new: list[int]) -> None:
        if new:
            on_pick(*(int(source.data[name][new[0]]) for name in columns or ("topic_id",)))
            source.selected.indices = []

    source.selected.on_change("indices", tap)
    return source


def patch_columns(source: ColumnDataSource, **columns: list[Any]) -> None:
    """Replace columns of a source, and send only those that differ."""
    changed = {name: new for name, new in columns.items() if new != list(source.data[name])}
    if changed:
        source.patch({name: [(slice(len(new)), new)] for name, new in changed.items()})


def unseen_points() -> Scatter:
    """Invisible points that only give a plot its ranges."""
    return Scatter(x="x", y="y", line_alpha=0, fill_alpha=0)


class Seed:
    """Invisible points that give a plot its ranges while it is empty.

    Without data an automatic range is undefined: the browser logs "could not set initial ranges" at
    each repaint, and the plot may stay empty (https://github.com/bokeh/bokeh/issues/6639).
    """

    def __init__(self, fig: figure) -> None:
        self.source = ColumnDataSource(CORNERS)
        fig.add_glyph(self.source, unseen_points())

    @contextmanager
    def standing_in(self, is_needed: bool) -> Iterator[None]:
        """Add the points before the plot is emptied in this context, or remove them after it has
        been filled.

        Each change may be a message of its own, and the plot is drawn after each.
        """
        if is_needed:
            self.source.data = CORNERS
        yield
        if not is_needed:
            self.source.data = {"x": [], "y": []}
