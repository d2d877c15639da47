"""Compiles what an algorithm needs, or loads it from numba's cache, and reports the progress."""

from collections.abc import Callable
from dataclasses import fields, replace
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import numpy as np
from numba.core import event
from numba.core.dispatcher import Dispatcher

from stickbreaker.engine import kernels
from stickbreaker.engine.algorithm import Algorithm, Reads
from stickbreaker.engine.corpora.corpus import Corpus, Vocabulary
from stickbreaker.engine.runs.prepared import prepare
from stickbreaker.engine.runs.run import run
from stickbreaker.engine.runs.settings import RunSettings

# Receives the number of kernels that are done, the number of all kernels, and the name of the last one done.
Report = Callable[[int, int, str], None]

NUM_DOCUMENTS = 48
NUM_WORDS = 6
BATCH_SIZE = 4


def list_choices(config: Any) -> dict[str, Any]:
    """The settings that pick one of several names; only they decide which code is compiled, and for which types.

    >>> from stickbreaker.engine import find_algorithm
    >>> list_choices(find_algorithm("hdp").config(precision="float64"))["precision"]
    'float64'
    """
    return {each.name: getattr(config, each.name) for each in fields(config) if each.metadata.get("choices")}


def compile_algorithm(algorithm: Algorithm, config: Any, report: Report = lambda done, total, name: None) -> None:
    """Compile all kernels that this config needs, so that no mini-batch of a run waits for the compiler.

    It learns from a few words. The mini-batches are small enough for the run to reach every phase of the schedule.
    report(done, total, name) is called at the start, after each kernel that is compiled, and at the end; total counts
    all kernels of the engine, and those in numba's cache are not compiled again. Raises what the compiler raises. Call
    it once at a time, since kernels that another thread compiles are counted too.
    """
    config = type(config)(**list_choices(config))
    if algorithm.reads is Reads.BATCHES:
        config = replace(config, batch_size=BATCH_SIZE)
    total = len(find_kernels())
    report(0, total, "begun")
    with event.install_listener("numba:compile", _Counter(report, total)):
        # A second pass is past any warm-up.
        settings = RunSettings(passes=max(2, algorithm.passes))
        for _ in run(prepare(algorithm, config, _make_corpus(), settings)):
            pass
    report(total, total, "ready")


def find_kernels() -> set[tuple[str, str]]:
    """All compiled functions of the engine, as (module, name)."""
    modules = [import_module(f"{kernels.__name__}.{each.name}") for each in iter_modules(kernels.__path__)]
    return {
        (value.__module__, name)
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, Dispatcher)
    }


class _Counter(event.Listener):
    """Reports each of the engine's kernels once, when it is compiled; numba's own functions are not counted."""

    def __init__(self, report: Report, total: int) -> None:
        self.report, self.total = report, total
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


def _make_corpus() -> Corpus:
    counts = np.random.default_rng(0).integers(1, 4, (NUM_DOCUMENTS, NUM_WORDS))
    vocabulary = Vocabulary(tuple(f"word{i}" for i in range(NUM_WORDS)))
    dates = np.full(NUM_DOCUMENTS, "NaT", "datetime64[Y]")
    return Corpus(
        name="for the compiler", counts=counts, vocabulary=vocabulary, dates=dates, titles=[""] * NUM_DOCUMENTS
    )
