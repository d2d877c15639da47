"""The readings of all users: as many at the same time as the limits allow."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from stickbreaker.app.model.limits import READINGS, READINGS_PER_USER, find_limit

MANY = "Waiting for another reading to end (at most {} at the same time)."
MANY_OF_USER = (
    "Waiting for another of your readings to end (at most {} at the same time for each user)."
)
KEPT_FREE = (
    "Waiting for another of your readings to end: the last free place is kept for users without a"
    " reading."
)


class Turn(NamedTuple):
    """ask() says why a reading waits, or ""; leave() is called when it has ended."""

    ask: Callable[[], str]
    leave: Callable[[], None]


class ReadingQueue:
    """Who reads a corpus and who waits: first users without a reading, then in the order of asking.

    A user who has a reading leaves one place free, so that a user without one can begin. Without
    logins every reader counts as a user.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reading: dict[Any, str | None] = {}
        self._waiting: dict[Any, str | None] = {}

    def make_turn(self, user: str | None) -> Turn:
        """Make the turn of one reader of a user; None without logins."""
        reader = object()
        return Turn(ask=partial(self._ask, reader, user), leave=partial(self._leave, reader))

    def _ask(self, reader: Any, user: str | None) -> str:
        with self._lock:
            if reader not in self._reading:
                self._waiting.setdefault(reader, user)
            for each, owner in sorted(
                self._waiting.items(), key=lambda item: self._count(item[1]) > 0
            ):
                if not self._explain_wait(owner):
                    self._reading[each] = self._waiting.pop(each)
            return "" if reader in self._reading else self._explain_wait(user)

    def _count(self, user: str | None) -> int:
        """The present readings of a user."""
        return 0 if user is None else list(self._reading.values()).count(user)

    def _explain_wait(self, user: str | None) -> str:
        # At least one: a reading must not wait without end.
        most = max(1, find_limit(READINGS))
        most_of_user = max(1, find_limit(READINGS_PER_USER))
        num_free = most - len(self._reading)
        num_own = self._count(user)
        if num_own >= most_of_user:
            return MANY_OF_USER.format(most_of_user)
        if num_own and num_free == 1:
            return KEPT_FREE
        return "" if num_free > 0 else MANY.format(most)

    def _leave(self, reader: Any) -> None:
        with self._lock:
            self._reading.pop(reader, None)
            self._waiting.pop(reader, None)
