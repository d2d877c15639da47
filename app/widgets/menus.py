"""What menus offer, and which values a menu only sends back."""

import time
from collections.abc import Callable
from typing import Any


class Echoes:
    """Tells values that a menu sends back from values that the user has chosen.

    In a notebook, a menu that gets a second value while it draws the first sends the first one
    back, and on a busy machine it does so late: a component of Panel sends each value that it has
    drawn.
    """

    SECONDS = 30.0

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._replaced: list[tuple[Any, float]] = []

    def note(self, value: Any) -> None:
        """Remember a value of the menu that the page replaces now."""
        self._replaced = [*self._recent(), (value, self._clock())]

    def holds(self, value: Any) -> bool:
        """Whether a value that the menu has sent is one that the page has just replaced."""
        return any(value == before for before, _ in self._recent())

    def forget(self) -> None:
        """Take the next value for the user's: the user has chosen another one."""
        self._replaced.clear()

    def _recent(self) -> list[tuple[Any, float]]:
        now = self._clock()
        return [(value, at) for value, at in self._replaced if now - at < self.SECONDS]


def offer(select: Any, options: dict[str, Any], value: Any) -> None:
    """Change the options of a select and its value, and send the value even if it is the same as
    before.

    The browser knows the value by its label. If only the label changes, panel-material-ui sends no
    new value, and the select shows none. Without options the select keeps its last ones: Panel sets
    the value of an empty select again at each event, without end, and refuses the browser's answer.
    """
    if options:
        select.param.update(options=options, value=value)
        select.param.trigger("value")
