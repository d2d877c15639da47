"""Parts of the page that are sent when they are first shown."""

from collections.abc import Sequence
from typing import Any


def fill_if_shown(layout: Any, parts: Sequence[Any], is_shown: bool) -> None:
    """Show a layout with these parts, or hide it.

    A browser draws the parts of a hidden layout too, so they are sent when it is first shown.
    """
    if is_shown and not layout.objects:
        layout.objects = list(parts)
    layout.visible = is_shown
