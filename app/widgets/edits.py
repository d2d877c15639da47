"""Which values the user has chosen that the run does not have yet: the page never
overwrites these.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import panel as pn


class Edits:
    """Remembers each input that the user has changed until the run has that value.

    `watch` an input first. `write` shows a value of the run, but never an older one in place of
    what the user chose.
    """

    def __init__(self) -> None:
        self._pending: dict[str, list[Any]] = {}
        self._is_writing = False

    @property
    def names(self) -> frozenset[str]:
        """The inputs with a value that the run does not have yet."""
        return frozenset(self._pending)

    @property
    def is_writing(self) -> bool:
        """Whether the page itself is changing an input at this moment."""
        return self._is_writing

    def watch(self, name: str, widget: pn.widgets.WidgetBase) -> None:
        """Remember under this name what the user chooses in an input."""

        def remember(event: Any) -> None:
            if not self._is_writing:
                self.add(name, event.new)

        widget.param.watch(remember, "value")

    def add(self, name: str, value: Any) -> None:
        """Remember that the user has chosen a value."""
        self._pending.setdefault(name, []).append(value)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Change inputs in this block without taking the changes for the user's."""
        before, self._is_writing = self._is_writing, True
        try:
            yield
        finally:
            self._is_writing = before

    def may_write(self, name: str, value: Any, before: Any) -> bool:
        """Return whether an input that acts at once may show a value of the run.

        before: the value that the run had when the page last looked.
        The run's value is older than the user's choice if it has not changed, or is an earlier
        choice of the user that is still on its way. A changed value that the user did not choose is
        newer: another page has changed the run.
        """
        chosen = self._pending.get(name)
        if not chosen:
            return True
        if value != chosen[-1] and (value == before or value in chosen):
            return False
        del self._pending[name]
        return True

    def is_pending(self, name: str) -> bool:
        """Return whether an input has a value that the run does not have yet."""
        return name in self._pending

    def forget(self, *names: str) -> None:
        """Take these inputs, or all of them, for unchanged: the run gets their values now."""
        for name in names or tuple(self._pending):
            self._pending.pop(name, None)
