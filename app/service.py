"""Everything this process shares between its pages: the runs by their address, the processor, the compiled kernels."""

import secrets
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

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
from app.visitors import Visitor, find_data
from engine.compile import compile_algorithm
from engine.library import list_own, load_own
from engine.packed import FILES
from engine.run import split_corpus

FREE_AFTER_SECONDS = 300.0
SWITCH_SECONDS = 0.0005
CORPUS_NAME = "state-of-the-union"
# The key in Panel's cache.
SERVICE = "stickbreaker-service"
# A look takes a page 10 to 25 ms of one core; with five a second for each, more would hold the presenter up.
FULL_CLASS = 8
NOT_YOURS = "This address is of somebody else's run; here is one of your own. Ask them for a link to watch theirs."
NOTHING_TO_WATCH = (
    "The run that this link was made to watch is not here any more, or never was; here is one of your own."
)


@dataclass
class Run:
    """One run and the pages that show it.

    key: its address, for those who control it. watch: the token of a link for those who look on, drawn by itself, so
    that neither tells of the other. user: whose run it is, None where nobody logs in.
    hub: the bells of all its pages; presenters: of those that control it.
    left_at: when its last page closed; None while a page is open.
    resumes: True if it was learning then, so that a reload goes on by itself.
    """

    key: str
    watch: str
    user: str | None
    runner: Runner
    reader: Reader
    sweep: Sweep
    hub: Hub
    presenters: Hub
    left_at: float | None = None
    resumes: bool = False

    @property
    def num_watching(self) -> int:
        """How many pages look on."""
        return max(0, len(self.hub) - len(self.presenters))

    def ring(self) -> None:
        """Wake its pages; of a full class only those that control it: each page looks once a second by itself."""
        (self.hub if self.num_watching <= FULL_CLASS else self.presenters).ring()


class Seat(NamedTuple):
    """A page's place at a run: whether it only looks on, and what of its link could not be heeded."""

    run: Run
    is_watching: bool = False
    fault: str = ""


class Service:
    """The runs of all browsers. Pages come with `join` and go with `leave`; nothing here keeps a session alive.

    runner_engine: its `load` is also told the folder of the corpora of whoever begins a run.
    """

    def __init__(
        self,
        runner_engine: Engine,
        compilation: Compilation,
        num_slots: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._engine, self.compilation, self._clock = runner_engine, compilation, clock
        self.slots = Slots(num_slots or count_cores())
        self._lock = threading.Lock()
        self._runs: dict[str, Run] = {}
        self._kept: dict[str | None, KeptRuns] = {}

    def __len__(self) -> int:
        return len(self._runs)

    def find_kept(self, user: str | None) -> KeptRuns:
        """The kept runs of a user: the same record for all pages."""
        with self._lock:
            if user not in self._kept:
                self._kept[user] = KeptRuns(find_data(user) / "runs")
            return self._kept[user]

    def may_watch(self, visitor: Visitor) -> bool:
        """Whether the visitor's link is one to look on at a run that is here."""
        with self._lock:
            return visitor.watch is not None and self._find(visitor)[0] is not None

    def foresee(self, visitor: Visitor, recipe: Recipe) -> Progress:
        """Return what a page shows until it has joined: the run it asks for, or what a new one would wait for."""
        with self._lock:
            run, _ = self._find(visitor)
        if run is not None:
            return run.runner.progress
        job = self.compilation.ask(recipe)
        if not job.is_done:
            return Progress(status="compiling", message=job.message, compile_share=job.share)
        if place := self.slots.foresee():
            return Progress(status="waiting", message=describe_wait(place, self.slots.num_slots))
        return Progress()

    def join(self, visitor: Visitor, bell: Any, make_recipe: Callable[[], Recipe]) -> Seat:
        """Add a page to the run it asks for; where there is none (any more), a new one begins at a new address.

        The first page back after all had left goes on where they stopped.
        """
        is_watching = visitor.watch is not None
        with self._lock:
            run, fault = self._find(visitor)
            if run is not None:
                run.hub.add(bell)
                if not is_watching:
                    run.presenters.add(bell)
                run.left_at = None
                resumes, run.resumes = run.resumes, False
        if run is None:
            return Seat(self._open(visitor.user, make_recipe(), bell), False, fault)
        if resumes:
            run.runner.resume()
        run.ring()
        return Seat(run, is_watching)

    def _find(self, visitor: Visitor) -> tuple[Run | None, str]:
        """The run that a visitor may have, or None and why not; a run that is gone needs no word."""
        if visitor.watch is not None:
            run = next((run for run in self._runs.values() if run.watch == visitor.watch), None)
            return run, "" if run is not None else NOTHING_TO_WATCH
        run = self._runs.get(visitor.run or "")
        if run is not None and run.user != visitor.user:
            return None, NOT_YOURS
        return run, ""

    def leave(self, run: Run, bell: Any) -> None:
        """Take a page away; the last one pauses the run and starts the five minutes until it is freed.

        Those who look on are a reason to go on, presenter or not.
        """
        with self._lock:
            run.hub.remove(bell)
            run.presenters.remove(bell)
            is_last = not len(run.hub) and run.left_at is None
            if is_last:
                run.left_at = self._clock()
                run.resumes = run.runner.wants_to_run
        if is_last:
            run.runner.pause()
            self._sweep_later()
        else:
            run.ring()

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

    def _open(self, user: str | None, recipe: Recipe, bell: Any) -> Run:
        hub, presenters, kept = Hub(), Hub(), self.find_kept(user)
        hub.add(bell)
        presenters.add(bell)
        make_runner = partial(self._make_runner, user)

        def ring() -> None:
            run.ring()

        runner = make_runner(ring, kept.keep)
        sweep, reader = Sweep(make_runner, kept, ring), Reader(runner.model, ring)
        key, watch = secrets.token_urlsafe(16), secrets.token_urlsafe(16)
        run = Run(key, watch, user, runner, reader, sweep, hub, presenters)
        with self._lock:
            self._runs[run.key] = run
        runner.restart(recipe)
        return run

    def _make_runner(
        self, user: str | None, ring: Callable[[], None], keep: Callable[[Progress, Model], Any]
    ) -> Runner:
        # A name is a corpus of this user's, whatever others call so.
        own = replace(self._engine, load=partial(self._engine.load, folder=find_data(user) / "corpora"))
        return Runner(own, self.slots, self.compilation, ring=ring, keep=keep)

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
    return pn.state.as_cached(SERVICE, _make_service)


def first_recipe() -> Recipe:
    """What a new page begins with: the first algorithm there is, at its defaults, on the corpus that comes with it."""
    algorithm = engine.REGISTRY[0]
    return Recipe(CORPUS_NAME, algorithm, algorithm.config(), engine.RunSettings())


def count_training(corpus: Any, settings: Any) -> int:
    """Count the documents that are left to learn from."""
    return split_corpus(corpus, settings)[0].num_documents


def load_by_name(name: str, folder: Path) -> engine.Corpus:
    """Load a corpus that comes with the project or is in this folder, or give it from memory.

    One of the same name that was built since is another. Raises CorpusError where there is none.
    """
    if name in FILES:
        return _load(name, None, "")
    built_at = next((own.built_at for own in list_own(folder) if own.name == name), "")
    return _load(name, folder, built_at)


@lru_cache(maxsize=4)
def _load(name: str, folder: Path | None, built_at: str) -> engine.Corpus:
    return engine.load_corpus(name) if folder is None else load_own(name, folder)


def _make_service() -> Service:
    threadpool_limits(1, user_api="blas")
    # Engine threads come back from compiled code every few hundred microseconds, and wait so long for a page's tick.
    sys.setswitchinterval(SWITCH_SECONDS)
    service = Service(Engine(load_by_name, count_training, engine.run), Compilation(compile_algorithm))
    service.compilation.ask(first_recipe())
    return service
