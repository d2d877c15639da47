"""The waiting time after wrong passwords, for each user at each address."""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable

FREE_TRIES = 3
MAX_SECONDS = 60.0
FORGET_SECONDS = 900.0
MAX_ENTRIES = 10_000


class LoginDelay:
    """Counts failures by key. After three, each further one doubles the wait, from one second to one minute.

    The oldest of more than 10,000 keys are forgotten, so that memory stays bounded.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: OrderedDict[Hashable, tuple[int, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._failures)

    def seconds_left(self, key: Hashable) -> float:
        """Seconds until the next password of this key is looked at."""
        number, failed_at = self._failures.get(key, (0, 0.0))
        if number < FREE_TRIES:
            return 0.0
        wait = min(MAX_SECONDS, 2.0 ** (number - FREE_TRIES))
        return max(0.0, failed_at + wait - self._clock())

    def fail(self, key: Hashable) -> None:
        """Count a wrong password."""
        number, failed_at = self._failures.pop(key, (0, 0.0))
        now = self._clock()
        is_old = now - failed_at > FORGET_SECONDS
        self._failures[key] = (1 if is_old else number + 1, now)
        if len(self._failures) > MAX_ENTRIES:
            self._failures.popitem(last=False)

    def forget(self, key: Hashable) -> None:
        """Forget the failures of a user who has logged in."""
        self._failures.pop(key, None)
