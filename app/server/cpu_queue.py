"""A first-come first-served queue for the processor: at most one engine per core runs at a time."""

import threading
from collections import deque
from typing import Any


class CpuQueue:
    """One place per core.

    An owner calls `take` repeatedly until it has one, and `leave` when it stops.

    >>> cpu_queue = CpuQueue(1)
    >>> (cpu_queue.preview(), cpu_queue.take("a"), cpu_queue.take("b"), cpu_queue.take("c"),
    ...  cpu_queue.preview())
    (0, 0, 1, 2, 3)
    >>> cpu_queue.leave("a")
    >>> cpu_queue.take("c"), cpu_queue.take("b")
    (1, 0)
    """

    def __init__(self, num_cores: int) -> None:
        self.num_cores = num_cores
        self._lock = threading.Lock()
        self._running: set[Any] = set()
        self._queue: deque[Any] = deque()

    def take(self, owner: Any) -> int:
        """Return 0 if the owner may run now, else its place in the queue, from 1."""
        with self._lock:
            if owner not in self._running and owner not in self._queue:
                self._queue.append(owner)
            self._promote()
            return 0 if owner in self._running else self._queue.index(owner) + 1

    def preview(self) -> int:
        """Return what `take` would return for a new owner, without taking a place."""
        with self._lock:
            return max(0, len(self._running) + len(self._queue) + 1 - self.num_cores)

    def leave(self, owner: Any) -> None:
        """Give the owner's core, or its place in the queue, to the next one."""
        with self._lock:
            self._running.discard(owner)
            if owner in self._queue:
                self._queue.remove(owner)
            self._promote()

    def _promote(self) -> None:
        while self._queue and len(self._running) < self.num_cores:
            self._running.add(self._queue.popleft())


def describe_wait(place: int, num_cores: int) -> str:
    """Say what a run at this place in the queue, from 1, waits for."""
    others = "another run is" if num_cores == 1 else f"{num_cores} other runs are"
    turn = "this run is next" if place == 1 else f"{place - 1} more ahead of this run"
    return f"Waiting for a free processor core: {others} learning, {turn}."
