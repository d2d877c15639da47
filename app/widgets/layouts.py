"""What the views are made of: layouts, panes of HTML, parts that are sent when they are first
shown, progress bars, and places scrolled into view.
"""

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any, ClassVar

import panel as pn
import param
from panel.viewable import Viewable, Viewer

from stickbreaker.app.fixes.page import PlainScript
from stickbreaker.app.state import StateFollower
from stickbreaker.app.theme import THIS_RUN
from stickbreaker.app.widgets.scripts import read_script

BAR_STYLE = f"""
progress {{
  display: block; width: 100%; height: 6px; border: 0; border-radius: 3px; overflow: hidden;
    appearance: none;
  background: color-mix(in srgb, currentColor 20%, transparent);
}}
progress::-webkit-progress-bar {{ background: transparent; }}
progress::-webkit-progress-value {{ background: {THIS_RUN}; }}
progress::-moz-progress-bar {{ background: {THIS_RUN}; }}
"""

AT_END_STYLE = """
:host { display: grid; grid-template-columns: minmax(0, 1fr); align-items: end; }
@media (min-width: 900px) { :host { grid-template-columns: minmax(0, 1fr) auto; } }
"""
SIDE_BY_SIDE_STYLE = """
:host { display: grid; grid-template-columns: minmax(0, 1fr); gap: 16px; align-items: start; }
@media (min-width: 1300px) { :host { grid-template-columns: minmax(0, 1fr) 420px; } }
"""
# A part of a layout is never higher than the part around it, which a page gives the height of the
# window: later parts would overlap. Related: https://github.com/bokeh/bokeh/issues/11396.
NO_HEIGHT_LIMIT = {"max-height": "none"}


class LaidOut(Viewer):
    """A view that shows its `_layout`."""

    _layout: Any

    def __panel__(self) -> Viewable:
        return self._layout  # type: ignore[no-any-return]  # what a view lays out


class StateView(StateFollower, LaidOut):
    """A view of the state of a run that shows its `_layout`."""


def stack(*parts: Any, **params: Any) -> pn.Column:
    """Lay out parts one below the other, as wide as the page allows."""
    return pn.Column(*parts, sizing_mode="stretch_width", **params)


def html_pane(text: str = "", **params: Any) -> pn.pane.HTML:
    """A pane of HTML, as wide as the page allows."""
    return pn.pane.HTML(text, **{"sizing_mode": "stretch_width", "margin": (0, 10)} | params)


def fill_if_shown(layout: Any, parts: Sequence[Any], is_shown: bool) -> None:
    """Show a layout with these parts, or hide it.

    A browser draws the parts of a hidden layout too, so they are sent when it is first shown.
    """
    if is_shown and not layout.objects:
        layout.objects = list(parts)
    layout.visible = is_shown


def lay_in_lines(*parts: Any, gap: str = "0", **params: Any) -> pn.Row:
    """Lay out parts of fixed widths in a line, or in several lines if the page is narrow.

    A `FlexBox` does the same from a template, which takes a browser longer;
      pages open with these parts.
    """
    return pn.Row(
        *parts, styles={"align-items": "center", "flex-wrap": "wrap", "gap": gap}, **params
    )


def lay_side_by_side(wide: Any, narrow: Any) -> pn.Column:
    """Lay out two views side by side, or one below the other in a narrow window."""
    return stack(wide, narrow, stylesheets=[SIDE_BY_SIDE_STYLE])


def lay_at_end(wide: Any, narrow: Any) -> pn.Column:
    """Lay out a small part at the right end of a view, or below it in a narrow window."""
    return stack(wide, narrow, stylesheets=[AT_END_STYLE])


def hideable(fig: Any, **options: Any) -> pn.Column:
    """A column around a figure, to be hidden and shown instead of its pane.

    Options are those of the pane.

    Panel draws a figure whose pane is hidden before it is first drawn. Related:
    https://github.com/holoviz/panel/issues/5354.
    """
    return stack(pn.pane.Bokeh(fig, sizing_mode="stretch_width", **options))


class ProgressBar(pn.pane.HTML):
    """A progress bar; its label is what a screen reader says. It is hidden until `show`."""

    _stylesheets: ClassVar = [*pn.pane.HTML._stylesheets, BAR_STYLE]

    def __init__(self, label: str, **params: Any):
        super().__init__(
            "", **{"visible": False, "sizing_mode": "stretch_width", "margin": (4, 10)} | params
        )
        self._label = label

    def show(self, share: float, is_shown: bool = True) -> None:  # type: ignore[override]  # panes serve with `show`
        """Show this share of the work as done, or hide the bar."""
        self.param.update(object=write_bar(share, self._label), visible=is_shown)


def write_bar(share: float, label: str) -> str:
    """Write a progress bar as HTML.

    >>> write_bar(0.404, "Upload")
    '<progress max="100" value="40" aria-label="Upload"></progress>'
    """
    return (
        f'<progress max="100" value="{round(100 * share)}" aria-label="{escape(label)}"></progress>'
    )


class Sight(PlainScript):
    """An invisible button that notices when it is first seen, or reached with Tab."""

    is_seen = param.Boolean(default=False)
    label = param.String()

    _esm = read_script(Path(__file__).with_name("sight.js"))


class Reveal(PlainScript):
    """An invisible mark, scrolled into view, unless seen, when the number grows."""

    number = param.Integer(default=0)

    _esm = read_script(Path(__file__).with_name("reveal.js"))


def fill_when_seen(layout: Any, make_parts: Callable[[], Sequence[Any]], label: str) -> None:
    """Make and send the parts of a layout when a user can first see its place.

    label: of the button that stands there before.
    """
    mark = Sight(label=label, margin=0)
    layout.objects = [mark]
    mark.param.watch(lambda event: layout.param.update(objects=list(make_parts())), "is_seen")
