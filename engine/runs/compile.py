"""Compiles what an algorithm needs, or loads it from numba's cache, and reports the progress."""

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from numba.core import event
from numba.core.dispatcher import Dispatcher

from stickbreaker.engine import kernels
from stickbreaker.engine.algorithm import Algorithm
from stickbreaker.engine.runs.compile_steps import prepare_small_run
from stickbreaker.engine.runs.run import run

# Receives the number of kernels that are done, the number of all kernels, and the name of the last
# one done.
Report = Callable[[int, int, str], None]


def compile_algorithm(
    algorithm: Algorithm, config: Any, report: Report = lambda done, total, name: None
) -> None:
    """Compile all kernels that this config needs, so that no mini-batch of a run waits for the
    compiler.

    It learns from a few words. The mini-batches are small enough for the run to reach every phase
    of the schedule. report(done, total, name) is called at the start, after each kernel that is
    compiled, and at the end; total counts all kernels of the engine, and those in numba's cache are
    not compiled again. Raises what the compiler raises. Call it once at a time, since kernels that
    another thread compiles are counted too.
    """
    total = len(find_kernels())
    report(0, total, "begun")
    with event.install_listener("numba:compile", _Counter(report, total)):
        for _ in run(prepare_small_run(algorithm, config)):
            pass
    report(total, total, "ready")


def find_kernels() -> set[tuple[str, str]]:
    """All compiled functions of the engine, as (module, name)."""
    modules = [
        import_module(f"{kernels.__name__}.{each.name}") for each in iter_modules(kernels.__path__)
    ]
    return {
        (value.__module__, name)
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, Dispatcher)
    }


class _Counter(event.Listener):
    """Reports each of the engine's kernels once, when it is compiled.

    Numba's own functions are not counted.
    """

    def __init__(self, report: Report, total: int) -> None:
        self.report = report
        self.total = total
        self.done: set[tuple[str, str]] = set()

    def on_start(self, event: event.Event) -> None:
        """A kernel is reported when it is done, not when its compilation starts."""

    def on_end(self, event: event.Event) -> None:
        """Report a kernel."""
        function = event.data["dispatcher"].py_func
        # The code of an overload is a lambda, which is no kernel.
        if function.__module__.startswith(kernels.__name__) and function.__name__ != "<lambda>":
            self.done.add((function.__module__, function.__name__))
            self.report(len(self.done), self.total, function.__name__)
