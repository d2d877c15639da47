"""Measured rates of this machine: arithmetic, memory, and the gain from a second thread."""

import os
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit

REPEATS = 7


def count_cores():
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


def best_seconds(function, repeats=REPEATS):
    """The shortest of some calls, after one that does not count."""
    return best_in_turn([function], repeats)[0]


def best_in_turn(functions, repeats=REPEATS):
    """The shortest of some calls of each, in turn, so that other work on the machine affects all."""
    for function in functions:
        function()
    seconds = [[] for _ in functions]
    for _ in range(repeats):
        for function, own in zip(functions, seconds, strict=True):
            began = time.perf_counter()
            function()
            own.append(time.perf_counter() - began)
    return [min(own) for own in seconds]


def gemm_rate(size=1024):
    """Floating-point operations a second of a float32 matrix product, on all cores of this process."""
    a = np.ones((size, size), np.float32)
    out = np.empty_like(a)
    return 2 * size**3 / best_seconds(lambda: np.matmul(a, a, out=out))


def copy_rate(megabytes=128):
    """Bytes a second, read and written, of copying more than the caches hold, on all cores of this process."""
    source = np.ones((count_cores(), megabytes * 2**20 // 4 // count_cores()), np.float32)
    out = np.empty_like(source)
    with ThreadPoolExecutor(count_cores()) as pool:
        seconds = best_seconds(lambda: list(pool.map(np.copyto, out, source)))
    return 2 * source.nbytes / seconds


@njit(nogil=True, cache=True)
def iterate_logistic_map(number):
    """Arithmetic in registers alone: what a thread does without memory."""
    x = 0.3
    for _ in range(number):
        x = 3.9 * x * (1.0 - x)
    return x


def compute_seconds(number=10_000_000, parts=8):
    """Seconds for a fixed amount of arithmetic, in parts on a thread for each core of this process."""
    with ThreadPoolExecutor(count_cores()) as pool:
        return best_seconds(lambda: list(pool.map(iterate_logistic_map, [number] * parts)), repeats=3)
