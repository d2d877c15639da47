"""Everything this process shares between its pages: the runs by their address, the processor, the compiled kernels."""

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import panel as pn
from threadpoolctl import threadpool_limits

import engine
from app.compiling import Compilation
from app.hub import Hub
from app.kept_runs import KeptRuns
from app.progress import Progress
from app.reading import Model, Reader
from app.recipe import Recipe
from app.runner import Engine, Runner, describe_wait
from app.slots import Slots, count_cores
from app.sweep import Sweep
from engine.compile import compile_algorithm
from engine.library import list_own
from engine.run import split_corpus

FREE_AFTER_SECONDS = 300.0
CORPUS_NAME = "state-of-the-union"


@dataclass
class Run:
    """One run and the pages that show it.

    left_at: when its last page closed; None while a page is open.
    resumes: True if it was learning then, so that a reload goes on by itself.
    """

    key: str
    runner: Runner
    reader: Reader
    sweep: Sweep
    hub: Hub
    left_at: float | None = None
    resumes: bool = False


class Service:
    """The runs of all browsers. Pages come with `join` and go with `leave`; nothing here keeps a session alive."""

    def __init__(
        self,
        runner_engine: Engine,
        compilation: Compilation,
        num_slots: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        kept: KeptRuns | None = None,
    ):
        self._engine, self.compilation, self._clock = runner_engine, compilation, clock
        self.kept = kept or KeptRuns()
        self.slots = Slots(num_slots or count_cores())
        self._lock = threading.Lock()
        self._runs: dict[str, Run] = {}

    def __len__(self) -> int:
        return len(self._runs)

    def foresee(self, key: str | None, recipe: Recipe) -> Progress:
        """Return what a page at this address shows until it has joined: its run, or what a new one would wait for."""
        with self._lock:
            run = self._runs.get(key or "")
        if run is not None:
            return run.runner.progress
        job = self.compilation.ask(recipe)
        if not job.is_done:
            return Progress(status="compiling", message=job.message, compile_share=job.share)
        if place := self.slots.foresee():
            return Progress(status="waiting", message=describe_wait(place, self.slots.num_slots))
        return Progress()

    def join(self, key: str | None, bell: Any, make_recipe: Callable[[], Recipe]) -> Run:
        """Add a page to the run at this address; where there is none (any more), a new one begins at a new address.

        The first page back after all had left goes on where they stopped.
        """
        with self._lock:
            run = self._runs.get(key or "")
            if run is not None:
                run.hub.add(bell)
                run.left_at = None
                resumes, run.resumes = run.resumes, False
        if run is None:
            return self._open(make_recipe(), bell)
        if resumes:
            run.runner.resume()
        return run

    def leave(self, run: Run, bell: Any) -> None:
        """Take a page away; the last one pauses the run and starts the five minutes until it is freed."""
        with self._lock:
            run.hub.remove(bell)
            if len(run.hub) or run.left_at is not None:
                return
            run.left_at = self._clock()
            run.resumes = run.runner.wants_to_run
        run.runner.pause()
        self._sweep_later()

    def sweep(self) -> None:
        """Free every run whose last page closed five minutes ago, once its sweep is over."""
        now = self._clock()
        with self._lock:
            left = [r for r in self._runs.values() if r.left_at is not None and now - r.left_at >= FREE_AFTER_SECONDS]
            stale = [run for run in left if not run.sweep.is_running]
            for run in stale:
                del self._runs[run.key]
        for run in stale:
            _close(run)
        if len(stale) < len(left):
            self._sweep_later()

    def close(self) -> None:
        """End every run; for the end of the process."""
        with self._lock:
            runs, self._runs = list(self._runs.values()), {}
        for run in runs:
            _close(run)

    def _open(self, recipe: Recipe, bell: Any) -> Run:
        hub = Hub()
        hub.add(bell)
        runner = self._make_runner(hub.ring, self.kept.keep)
        sweep = Sweep(self._make_runner, self.kept, hub.ring)
        run = Run(secrets.token_urlsafe(16), runner, Reader(runner.model, hub.ring), sweep, hub)
        with self._lock:
            self._runs[run.key] = run
        runner.restart(recipe)
        return run

    def _make_runner(self, ring: Callable[[], None], keep: Callable[[Progress, Model], Any]) -> Runner:
        return Runner(self._engine, self.slots, self.compilation, ring=ring, keep=keep)

    def _sweep_later(self) -> None:
        timer = threading.Timer(FREE_AFTER_SECONDS + 1.0, self.sweep)
        timer.daemon = True
        timer.start()


def _close(run: Run) -> None:
    run.sweep.cancel()
    run.runner.close()
    run.reader.close()


def find_service() -> Service:
    """Return the one service of this process."""
    return pn.state.as_cached("stickbreaker-service", _make_service)


def first_recipe() -> Recipe:
    """What a new page begins with: the first algorithm there is, at its defaults, on the corpus that comes with it."""
    algorithm = engine.REGISTRY[0]
    return Recipe(CORPUS_NAME, algorithm, algorithm.config(), engine.RunSettings())


def count_training(corpus: Any, settings: Any) -> int:
    """Count the documents that are left to learn from."""
    return split_corpus(corpus, settings)[0].num_documents


def load_by_name(name: str) -> engine.Corpus:
    """Load a corpus, or give it from memory; one of the same name that was built since is another."""
    built_at = next((own.built_at for own in list_own() if own.name == name), "")
    return _load(name, built_at)


@lru_cache(maxsize=4)
def _load(name: str, built_at: str) -> engine.Corpus:
    return engine.load_corpus(name)


def _make_service() -> Service:
    threadpool_limits(1, user_api="blas")
    service = Service(Engine(load_by_name, count_training, engine.run), Compilation(compile_algorithm))
    service.compilation.ask(first_recipe())
    return service
