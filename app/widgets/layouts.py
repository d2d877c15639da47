"""Parts of the page that are sent when they are first shown."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import param

from stickbreaker.app.panel_fixes import PlainScript
from stickbreaker.app.widgets.scripts import read_script


def fill_if_shown(layout: Any, parts: Sequence[Any], is_shown: bool) -> None:
    """Show a layout with these parts, or hide it.

    A browser draws the parts of a hidden layout too, so they are sent when it is first shown.
    """
    if is_shown and not layout.objects:
        layout.objects = list(parts)
    layout.visible = is_shown


class Sight(PlainScript):
    """An invisible button in the page; it notices when a user can first see its place, or reaches it with Tab."""

    is_seen = param.Boolean(default=False)
    label = param.String()

    _esm = read_script(Path(__file__).with_name("sight.js"))


class Reveal(PlainScript):
    """An invisible mark; its place is scrolled into view, unless it is seen, each time the number grows."""

    number = param.Integer(default=0)

    _esm = read_script(Path(__file__).with_name("reveal.js"))


def fill_when_seen(layout: Any, make_parts: Callable[[], Sequence[Any]], label: str) -> None:
    """Make and send the parts of a layout when a user can first see its place.

    label: of the button that stands there before.
    """
    mark = Sight(label=label, margin=0)
    layout.objects = [mark]
    mark.param.watch(lambda event: layout.param.update(objects=list(make_parts())), "is_seen")
