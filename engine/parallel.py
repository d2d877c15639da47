"""Threads of this process, one for each core; kernels release the GIL, so they work at once."""

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

# Numbers below which a thread's part of rows takes less time than handing it over, some 60 µs.
LEAST_NUMBERS = 2**17


class _Here(threading.local):
    """Whether this thread is at work for `map_on_threads`."""

    is_at_work = False


_here = _Here()


@cache
def count_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count_cores())


def map_on_threads(function: Callable[..., Any], *arguments: Sequence[Any]) -> list[Any]:
    """A list of function's results, in the order of its arguments.

    Each thread takes a run of them, the calling one the first: handing over each by itself takes longer than some.
    Where the function calls this again, that is done by its own thread alone: the others have theirs to do.
    """
    number = len(arguments[0])
    cores = 1 if _here.is_at_work else min(count_cores(), number)
    runs = [slice(number * core // cores, number * (core + 1) // cores) for core in range(cores)]

    def work(run: slice) -> list[Any]:
        before, _here.is_at_work = _here.is_at_work, True
        try:
            return list(map(function, *(argument[run] for argument in arguments)))
        finally:
            _here.is_at_work = before

    others = [_pool().submit(work, run) for run in runs[1:]]
    results = work(runs[0]) if runs else []
    for other in others:
        results += other.result()
    return results


def split_evenly(starts: np.ndarray) -> list[tuple[int, int]]:
    """Spans (first, last) of rows, one for each core, with about as many entries each; row r's begin at starts[r].

    For work whose result does not depend on where it is cut, since that follows the cores.
    """
    return _cut(starts, count_cores())


def split_rows(num_rows: int, width: int) -> list[tuple[int, int]]:
    """The same of rows of so many numbers each, for fewer cores where that is little to work on."""
    return _cut(np.arange(num_rows + 1), max(1, min(count_cores(), num_rows * width // LEAST_NUMBERS)))


def _cut(starts: np.ndarray, number: int) -> list[tuple[int, int]]:
    targets = starts[-1] * np.arange(1, number) / number
    return list(pairwise([0, *np.searchsorted(starts, targets).tolist(), len(starts) - 1]))
