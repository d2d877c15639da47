"""Threads of this process, one per core; kernels release the GIL, so they run at the same time."""

import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

Result = TypeVar("Result")
# Work on fewer array elements takes less time than passing it to a thread, about 60 µs.
LEAST_NUMBERS = 2**17
# As many as the most shards of a mini-batch.
NUM_FIXED_SPANS = 8


class _ThreadState(threading.local):
    """Whether this thread runs a function for `map_on_threads`."""

    is_busy = False


_thread = _ThreadState()


@cache
def count_cores() -> int:
    """Count the cores that this process may use."""
    if sys.version_info >= (3, 13):
        return os.process_cpu_count() or 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count_cores())


@contextmanager
def on_one_thread() -> Iterator[None]:
    """Within this context, `map_on_threads` runs on the calling thread only."""
    before, _thread.is_busy = _thread.is_busy, True
    try:
        yield
    finally:
        _thread.is_busy = before


def map_on_threads(function: Callable[..., Result], *arguments: Sequence[Any]) -> list[Result]:
    """Apply a function to each of its arguments on threads.

    The results are in the order of the arguments.

    Each thread takes the next argument that no other has taken, so a thread that starts late delays
    no other. If the function calls `map_on_threads` itself, that call runs on the function's thread
    only.
    """
    number = len(arguments[0])
    places = iter(range(number))
    results: dict[int, Result] = {}

    def work() -> None:
        with on_one_thread():
            for place in places:
                results[place] = function(*(argument[place] for argument in arguments))

    cores = 1 if _thread.is_busy else min(count_cores(), number)
    # The pool keeps cancelled tasks until one of its threads runs, which on a busy machine may be
    # much later: it gets a weak reference, so that they keep no arrays.
    others = [_pool().submit(_call, weakref.ref(work)) for _ in range(cores - 1)]
    work()
    for other in others:
        if not other.cancel():
            other.result()
    return [results[place] for place in range(number)]


def _call(reference: "weakref.ref[Callable[[], None]]") -> None:
    """Call a function, unless it is gone."""
    function = reference()
    if function is not None:
        function()


def split_evenly(starts: np.ndarray) -> list[tuple[int, int]]:
    """Spans (first, last) of rows, one per core, with similar numbers of entries.

    Those of row r begin at starts[r].

    Only for work whose result does not depend on the spans, since their number depends on the
    cores.
    """
    return _cut(starts, count_cores())


def split_rows(num_rows: int, width: int) -> list[tuple[int, int]]:
    """The same for rows of `width` numbers each; fewer spans if there is little work."""
    return _cut(
        np.arange(num_rows + 1), max(1, min(count_cores(), num_rows * width // LEAST_NUMBERS))
    )


def split_alike(num_rows: int) -> list[tuple[int, int]]:
    """Spans (first, last) of rows of similar lengths, the same for any number of cores: for sums,
    which depend on them.

    >>> split_alike(16)[:3]
    [(0, 2), (2, 4), (4, 6)]
    """
    return _cut(np.arange(num_rows + 1), NUM_FIXED_SPANS)


def _cut(starts: np.ndarray, number: int) -> list[tuple[int, int]]:
    targets = starts[-1] * np.arange(1, number) / number
    return list(pairwise([0, *np.searchsorted(starts, targets).tolist(), len(starts) - 1]))
