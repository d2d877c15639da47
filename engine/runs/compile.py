"""Compiles what an algorithm needs, or loads it from numba's cache, and says how far it is."""

from collections.abc import Callable
from dataclasses import fields, replace
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import numpy as np
from numba.core import event
from numba.core.dispatcher import Dispatcher

from stickbreaker.engine import kernels
from stickbreaker.engine.algorithm import Algorithm
from stickbreaker.engine.corpora.corpus import Corpus, Vocabulary
from stickbreaker.engine.runs.run import run
from stickbreaker.engine.runs.settings import RunSettings

NUM_DOCUMENTS = 48
NUM_WORDS = 6
BATCH_SIZE = 4


def list_choices(config: Any) -> dict[str, Any]:
    """The settings that pick one of several names; which code is compiled, and for which types, depends on no others.

    >>> from stickbreaker.engine import find_algorithm
    >>> list_choices(find_algorithm("hdp").config(precision="float64"))["precision"]
    'float64'
    """
    return {each.name: getattr(config, each.name) for each in fields(config) if each.metadata.get("choices")}


def compile_algorithm(
    algorithm: Algorithm, config: Any, report: Callable[[int, int, str], None] = lambda done, total, name: None
) -> None:
    """Learn from a few words with the choices of this config, so that no mini-batch of a real run waits for a compiler.

    The mini-batches are so small that every phase of the schedule comes by. report(done, total, name) is called at the
    start, for each kernel as it is compiled, of all that the engine has, and at the end; from numba's cache none need
    be. Raises what the compiler raises. One at a time: kernels compiled elsewhere meanwhile are counted too.
    """
    config = type(config)(**list_choices(config))
    if hasattr(config, "batch_size"):
        config = replace(config, batch_size=BATCH_SIZE)
    total = len(find_kernels())
    report(0, total, "begun")
    with event.install_listener("numba:compile", _Counter(report, total)):
        # A second pass is past any warm-up.
        for _ in run(algorithm, config, _make_corpus(), RunSettings(passes=max(2, algorithm.passes))):
            pass
    report(total, total, "ready")


def find_kernels():
    """All compiled functions of the engine, as (module, name)."""
    modules = [import_module(f"{kernels.__name__}.{each.name}") for each in iter_modules(kernels.__path__)]
    return {
        (value.__module__, name)
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, Dispatcher)
    }


class _Counter(event.Listener):
    """Reports each of the engine's kernels once, when it is compiled; numba's own functions go uncounted."""

    def __init__(self, report, total):
        self.report, self.total, self.done = report, total, set()

    def on_start(self, event):
        """Nothing is done yet."""

    def on_end(self, event):
        """Report a kernel."""
        function = event.data["dispatcher"].py_func
        if function.__module__.startswith(kernels.__name__):
            self.done.add((function.__module__, function.__name__))
            self.report(len(self.done), self.total, function.__name__)


def _make_corpus():
    counts = np.random.default_rng(0).integers(1, 4, (NUM_DOCUMENTS, NUM_WORDS))
    vocabulary = Vocabulary(tuple(f"word{i}" for i in range(NUM_WORDS)))
    dates = np.full(NUM_DOCUMENTS, "NaT", "datetime64[Y]")
    return Corpus("for the compiler", counts, vocabulary, dates, [""] * NUM_DOCUMENTS)
