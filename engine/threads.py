"""Threads of this process, one for each core; kernels release the GIL, so they work at once."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np


@cache
def count_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count_cores())


def map_on_threads(function: Callable[..., Any], *arguments: Sequence[Any]) -> list[Any]:
    """A list of function's results, in the order of its arguments; never to be called from one of these threads.

    Each thread takes a run of them, the calling one the first: handing over each by itself takes longer than some.
    """
    number, cores = len(arguments[0]), min(count_cores(), len(arguments[0]))
    runs = [slice(number * core // cores, number * (core + 1) // cores) for core in range(cores)]

    def work(run: slice) -> list[Any]:
        return list(map(function, *(argument[run] for argument in arguments)))

    others = [_pool().submit(work, run) for run in runs[1:]]
    results = work(runs[0]) if runs else []
    for other in others:
        results += other.result()
    return results


def split_evenly(starts: np.ndarray) -> list[tuple[int, int]]:
    """Spans (first, last) of rows, one for each core, with about as many entries each; row r's begin at starts[r].

    For work whose result does not depend on where it is cut, since that follows the cores.
    """
    targets = starts[-1] * np.arange(1, count_cores()) / count_cores()
    return list(pairwise([0, *np.searchsorted(starts, targets).tolist(), len(starts) - 1]))
