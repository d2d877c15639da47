"""The waiting time after wrong passwords: by user and address, by address, and for all."""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable

FREE_TRIES = 3
MAX_SECONDS = 60.0
FORGET_SECONDS = 900.0
MAX_ENTRIES = 10_000
# Of a longer user name only the beginning is remembered, so that memory stays bounded.
MAX_LETTERS = 200
# Wrong passwords that are looked at without a wait, and the seconds until one more is. A class
# often has one address, so these waits stay short.
ADDRESS_TRIES = 20
ADDRESS_SECONDS = 5.0
ALL_TRIES = 100
ALL_SECONDS = 2.0


class LoginDelay:
    """Counts failures by key; after three, each doubles the wait, from one second to one minute.

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
        if now - failed_at > FORGET_SECONDS:
            number = 0
        self._failures[key] = (number + 1, now)
        if len(self._failures) > MAX_ENTRIES:
            self._failures.popitem(last=False)

    def forget(self, key: Hashable) -> None:
        """Forget the failures of a user who has logged in."""
        self._failures.pop(key, None)


class Allowance:
    """How many wrong passwords are looked at, by key: `number`, then one more in `seconds`."""

    def __init__(self, number: int, seconds: float, clock: Callable[[], float]) -> None:
        self._number = number
        self._seconds = seconds
        self._clock = clock
        self._used: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def seconds_left(self, key: Hashable) -> float:
        """Seconds until the next password of this key is looked at."""
        return max(0.0, (self._count(key) + 1 - self._number) * self._seconds)

    def fail(self, key: Hashable) -> None:
        """Count a wrong password."""
        number = self._count(key) + 1
        self._used.pop(key, None)
        self._used[key] = number, self._clock()
        if len(self._used) > MAX_ENTRIES:
            self._used.popitem(last=False)

    def _count(self, key: Hashable) -> float:
        """The wrong passwords that still count."""
        now = self._clock()
        number, counted_at = self._used.get(key, (0.0, now))
        return max(0.0, number - (now - counted_at) / self._seconds)


class LoginGuard:
    """Who has to wait before a password is looked at.

    A user who has logged in from an address since the start waits there only after wrong passwords
    for this user: those who try many names do not lock out others.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._users = LoginDelay(clock)
        self._addresses = Allowance(ADDRESS_TRIES, ADDRESS_SECONDS, clock)
        self._all = Allowance(ALL_TRIES, ALL_SECONDS, clock)
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()

    def seconds_left(self, user: str, address: str) -> float:
        """Seconds until the next password for this user from this address is looked at."""
        key = user[:MAX_LETTERS], address
        wait = self._users.seconds_left(key)
        if key in self._known:
            return wait
        return max(wait, self._addresses.seconds_left(address), self._all.seconds_left(None))

    def fail(self, user: str, address: str) -> None:
        """Count a wrong password."""
        self._users.fail((user[:MAX_LETTERS], address))
        self._addresses.fail(address)
        self._all.fail(None)

    def succeed(self, user: str, address: str) -> None:
        """Note that a user has logged in."""
        key = user[:MAX_LETTERS], address
        self._users.forget(key)
        self._known[key] = None
        if len(self._known) > MAX_ENTRIES:
            self._known.popitem(last=False)
