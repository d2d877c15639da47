"""Compiles what an algorithm needs, or loads it from numba's cache, and reports the progress.

    python -m stickbreaker.engine.runs.compile ALGORITHM CHOICES

compiles into the cache, for choices in JSON, and prints a line for each kernel.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from importlib import import_module
from pkgutil import iter_modules
from threading import Lock, Thread
from typing import IO, Any

from numba.core import event
from numba.core.dispatcher import Dispatcher

from stickbreaker.engine import kernels
from stickbreaker.engine.algorithm import Algorithm
from stickbreaker.engine.algorithms import find_algorithm
from stickbreaker.engine.kernels.cache import waiting
from stickbreaker.engine.runs.compile_steps import list_choices, prepare_small_run
from stickbreaker.engine.runs.run import run

# Receives the number of kernels that are done, the number of all kernels, and the name of the last
# one done.
Report = Callable[[int, int, str], None]
# Reported instead of a name when a run can learn its first mini-batch.
LEARNS = "first mini-batch"
POLL_SECONDS = 0.05


def compile_algorithm(
    algorithm: Algorithm, config: Any, report: Report = lambda done, total, name: None
) -> None:
    """Compile all kernels that this config needs, so that no mini-batch of a run waits for the
    compiler.

    It learns from a few words. The mini-batches are small enough for the run to reach every phase
    of the schedule, so kernels are compiled in the order in which a run needs them.
    report(done, total, name) is called at the start, after each kernel that is compiled, when the
    kernels of the first mini-batch are there (`LEARNS`), and at the end; total counts all kernels
    of the engine, and those in numba's cache are not compiled again. Raises what the compiler
    raises. Call it once at a time, since kernels that another thread compiles are counted too.
    """
    total = len(find_kernels())
    report(0, total, "begun")
    counter = _Counter(report, total)
    with event.install_listener("numba:compile", counter):
        updates = run(prepare_small_run(algorithm, config))
        next(updates)
        report(len(counter.done), total, LEARNS)
        for _ in updates:
            pass
    report(total, total, "ready")


def compile_apart(
    algorithm: Algorithm, config: Any, report: Report = lambda done, total, name: None
) -> None:
    """Compile as `compile_algorithm` does, in a process of its own, so that the threads of this one
    go on meanwhile.

    Each kernel is loaded as soon as that process has stored it. If nothing has to be compiled, no
    process is started; if it ends early, this process compiles the rest.
    """
    last = (0, len(find_kernels()))

    def note(done: int, total: int, name: str) -> None:
        nonlocal last
        last = max(last, (done, total))
        report(*last, name)

    compiler = _OtherProcess(algorithm, config, note)
    with closing(compiler), waiting(compiler.wait):
        compile_algorithm(algorithm, config, note)


class _OtherProcess:
    """A process that compiles, and reports what it has done; the first `wait` starts it."""

    def __init__(self, algorithm: Algorithm, config: Any, report: Report) -> None:
        choices = json.dumps(list_choices(config))
        self._command = [sys.executable, "-m", __name__, algorithm.name, choices]
        self._report = report
        self._starting = Lock()
        self._process: subprocess.Popen[str] | None = None
        self._has_ended = False

    def wait(self) -> bool:
        """Wait a moment. False if the process had ended before."""
        if self._has_ended:
            return False
        with self._starting:
            if self._process is None:
                self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True)
                Thread(target=self._pass_on, args=(self._process.stdout,), daemon=True).start()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(POLL_SECONDS)
            self._has_ended = True
        return True

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()

    def _pass_on(self, lines: IO[str]) -> None:
        with lines:
            for line in lines:
                self._report(*json.loads(line))


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
    """Reports each kernel of the engine, and none of numba's, once, when it is compiled."""

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


def main() -> None:
    """Compile what the command line names."""
    name, choices = sys.argv[1:]
    algorithm = find_algorithm(name)
    kernels = {name for _, name in find_kernels()}

    def report(done: int, total: int, name: str) -> None:
        if name in kernels:
            os.write(sys.stdout.fileno(), f"{json.dumps((done, total, name))}\n".encode())

    # This process ends when nobody reads its lines any more.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(BrokenPipeError):
        compile_algorithm(algorithm, algorithm.config(**json.loads(choices)), report)


if __name__ == "__main__":
    main()
