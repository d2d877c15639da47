"""The time and the memory that a call takes on this machine."""

import ctypes
import gc
import threading
import time
from contextlib import contextmanager
from pathlib import Path

REPEATS = 7


def best_seconds(function, repeats=REPEATS):
    """The shortest of some calls, after one that does not count."""
    return best_in_turn([function], repeats)[0]


def best_in_turn(functions, repeats=REPEATS):
    """The shortest of some calls of each, in turn, as the machine may do other work."""
    for function in functions:
        function()
    seconds = [[] for _ in functions]
    for _ in range(repeats):
        for function, own in zip(functions, seconds, strict=True):
            began = time.perf_counter()
            function()
            own.append(time.perf_counter() - began)
    return [min(own) for own in seconds]


@contextmanager
def watch_memory():
    """A dict with the megabytes before the block (without mapped files) and the most in it."""
    found, is_done = {"before": read_memory()}, threading.Event()

    def watch():
        found["peak"] = found["before"]
        while not is_done.wait(0.02):
            found["peak"] = max(found["peak"], read_memory())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield found
    finally:
        is_done.set()
        watcher.join()


@contextmanager
def watch_growth():
    """A dict with "added": the megabytes that a block adds to this process at its peak.

    Memory that was freed before is given back first, and the kernel notes the peak, so that code
    which keeps Python from running other threads is measured as well.
    """
    found: dict[str, float] = {}
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5", "ascii")
    before = read_memory("VmRSS")
    yield found
    found["added"] = read_memory("VmHWM") - before


def read_memory(kind="RssAnon"):
    """Megabytes of this process, by default without mapped files."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith(kind))
