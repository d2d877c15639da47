"""The readings of all users: as many at the same time as the limits allow, so that no user blocks the others."""

import threading
from functools import partial
from typing import Any

from stickbreaker.app.model.limits import READINGS, READINGS_PER_USER, find_limit
from stickbreaker.app.model.reading import Turn

MANY = "Waiting for another reading to end (at most {} at the same time)."
MANY_OF_USER = "Waiting for another of your readings to end (at most {} at the same time for each user)."


class ReadingQueue:
    """Who reads a corpus and who waits, in the order of asking; a user at the limit is passed by others."""

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
            for each, owner in list(self._waiting.items()):
                if not self._explain_wait(owner):
                    self._reading[each] = self._waiting.pop(each)
            return "" if reader in self._reading else self._explain_wait(user)

    def _explain_wait(self, user: str | None) -> str:
        users, most, most_of_user = list(self._reading.values()), find_limit(READINGS), find_limit(READINGS_PER_USER)
        # At least one: a reading must not wait without end.
        if user is not None and users.count(user) >= max(1, most_of_user):
            return MANY_OF_USER.format(max(1, most_of_user))
        return MANY.format(max(1, most)) if len(users) >= max(1, most) else ""

    def _leave(self, reader: Any) -> None:
        with self._lock:
            self._reading.pop(reader, None)
            self._waiting.pop(reader, None)
