"""A queue for the processor: no more engines run at once than there are cores, first come first served."""

import os
import threading
from collections import deque
from typing import Any


def count_cores() -> int:
    """Count the cores this process may use."""
    count = getattr(os, "process_cpu_count", None)
    if count is not None:
        return count() or 1
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


class CpuQueue:
    """Places to run in; an owner asks again and again until it has one, and leaves when it stops.

    >>> cpu_queue = CpuQueue(1)
    >>> cpu_queue.preview(), cpu_queue.take("a"), cpu_queue.take("b"), cpu_queue.take("c"), cpu_queue.preview()
    (0, 0, 1, 2, 3)
    >>> cpu_queue.leave("a")
    >>> cpu_queue.take("c"), cpu_queue.take("b")
    (1, 0)
    """

    def __init__(self, num_cores: int):
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
        """Return what `take` would say to a new owner, without taking anything."""
        with self._lock:
            return max(0, len(self._running) + len(self._queue) + 1 - self.num_cores)

    def leave(self, owner: Any) -> None:
        """Give the slot, or the place in the queue, to whoever comes next."""
        with self._lock:
            self._running.discard(owner)
            if owner in self._queue:
                self._queue.remove(owner)
            self._promote()

    def _promote(self) -> None:
        while self._queue and len(self._running) < self.num_cores:
            self._running.add(self._queue.popleft())
