"""What this process shares between its pages: the runs, the processor, the compiled kernels."""

import logging
import secrets
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import panel as pn
from threadpoolctl import threadpool_limits

from stickbreaker import engine
from stickbreaker.app.model.counting import only_if
from stickbreaker.app.model.disk_space import OPEN_RUNS, OWN_CORPORA, UserFiles, limit_saved_runs
from stickbreaker.app.model.limits import LimitReachedError, find_fault
from stickbreaker.app.model.page_notes import read_status
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.app.model.saved_runs import Address, SavedRun, SavedRuns
from stickbreaker.app.model.sweep_plan import SweepState
from stickbreaker.app.server.compiling import Compilation
from stickbreaker.app.server.cpu_queue import CpuQueue, describe_wait
from stickbreaker.app.server.disk_store import DiskStore
from stickbreaker.app.server.event_log import EventLog, RunEvents
from stickbreaker.app.server.reading_queue import ReadingQueue
from stickbreaker.app.server.run import Run, Shared
from stickbreaker.app.server.run_budget import HeldRun, choose_freed, measure
from stickbreaker.app.server.saver import Saver
from stickbreaker.app.server.visitors import Visitor, find_data, list_data
from stickbreaker.engine.corpora.bundled import BUILT_IN
from stickbreaker.engine.corpora.library import list_own, load_own
from stickbreaker.engine.files.whole_files import Claim
from stickbreaker.engine.parallel.threads import count_cores
from stickbreaker.engine.runs.compile import compile_apart

FREE_AFTER_SECONDS = 300.0
# How long a mini-batch may take when the process ends.
LAST_STEP_SECONDS = 5.0
# How long a page that opens a saved run waits for saves that were begun before.
LAST_SAVE_SECONDS = 1.0
SWITCH_SECONDS = 0.0005
CORPUS_NAME = "state-of-the-union"
# The key in Panel's cache.
SERVICE = "stickbreaker-service"
NOT_YOURS = (
    "This run belongs to another user, so a new run was started. Ask its owner for a link to"
    " watch it."
)
RUN_GONE = (
    "The run of this link no longer exists, so a new run with the settings of the link was started."
)
RUN_DAMAGED = (
    "The saved run of this link cannot be opened, because its file {} is damaged. A new run with"
    " the settings of the link was started."
)
RUN_IN_USE = (
    "The run of this link is open on another server with the same data folder (STICKBREAKER_DATA),"
    " so a new run was started. Open it there, or stop that server and open the link again."
)
NOTHING_TO_WATCH = "The run of this link has ended or does not exist, so a new run was started."

_log = logging.getLogger(__name__)


class Attachment(NamedTuple):
    """The run of a page, whether the page only watches, and what of its link was not applied."""

    run: Run
    is_watching: bool = False
    fault: str = ""


class Service:
    """The runs of all browsers; it keeps no session alive.

    load(corpus_name, folder): opens a corpus; the folder holds the corpora of the user who begins a
    run.
    """

    def __init__(
        self,
        load: Callable[[str, Path], engine.Corpus],
        compilation: Compilation,
        num_cores: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._load = load
        self.compilation = compilation
        self.clock = clock
        self.cpu_queue = CpuQueue(num_cores or count_cores())
        self._shared = Shared(self.cpu_queue, compilation, ReadingQueue())
        self._lock = threading.Lock()
        self._joining = threading.Lock()
        self._timer: threading.Timer | None = None
        # Runs that were removed and have not ended yet: they are opened again only from where they
        # end.
        self._ending: WeakValueDictionary[str, Run] = WeakValueDictionary()
        self._runs: dict[str, Run] = {}
        self._files: dict[str | None, UserFiles] = {}
        self.events = EventLog()
        self._saver = Saver(self._note_saved)

    def __len__(self) -> int:
        return len(self._runs)

    def count_runs(self) -> Counter[str]:
        """The number of runs in memory by their status."""
        with self._lock:
            return Counter(run.runner.progress.status for run in self._runs.values())

    def count_pages(self) -> int:
        """The number of open pages."""
        with self._lock:
            return sum(len(run.subscribers) for run in self._runs.values())

    def _note_saved(self, key: str, fault: str) -> None:
        """Report a run that could not be saved; after a success, keep the limit of all users."""
        if fault:
            self.events.write("run_not_saved", key)
        else:
            limit_saved_runs(list_data())
        with self._lock:
            run = self._runs.get(key)
        if run is not None and run.save_fault != fault:
            run.save_fault = fault
            run.notify()

    def find_files(self, user: str | None) -> UserFiles:
        """What a user has on disk; all pages and runs share one object."""
        with self._lock:
            if user not in self._files:
                self._files[user] = UserFiles(find_data(user))
            return self._files[user]

    def may_watch(self, visitor: Visitor) -> bool:
        """Whether the visitor's link is a link to watch an existing run."""
        with self._lock:
            return visitor.watch is not None and self._find(visitor)[0] is not None

    def preview(self, visitor: Visitor, spec: RunSpec) -> Progress:
        """Return what a page shows before it has joined: its run, or the state of a new one."""
        with self._lock:
            run, _ = self._find(visitor)
        if run is not None:
            return run.progress
        job = self.compilation.ask(spec)
        if not job.can_learn:
            return Progress(status="compiling", message=job.message, compile_share=job.share)
        if place := self.cpu_queue.preview():
            message = describe_wait(place, self.cpu_queue.num_cores)
            return Progress(status="waiting", message=message)
        return Progress()

    def join(self, visitor: Visitor, wakeup: Any, make_spec: Callable[[], RunSpec]) -> Attachment:
        """Add a page to its run, in memory or saved; without one, start a new run at a new address.

        If all pages had left, the first to return continues the run. A saved run waits until
        someone runs it. Raises LimitReachedError if there is no room for one more run.
        """
        is_watching = visitor.watch is not None
        resumes = False
        # One page at a time, so that two pages of a saved run share it.
        with self._joining:
            with self._lock:
                run, fault = self._find(visitor)
                if run is not None:
                    self._enter(run, wakeup, is_watching)
                    resumes = run.resumes
                    run.resumes = False
            if run is None:
                self._make_room(visitor.user)
                if not fault:
                    run, fault = self._restore(visitor, wakeup)
            else:
                run.notify()
        if run is None:
            is_watching = False
            run = self._begin(visitor.user, wakeup, make_spec())
        self.events.write("page_opened", run.key, watching=is_watching)
        if resumes:
            run.runner.resume()
        return Attachment(run=run, is_watching=is_watching, fault=fault)

    def _enter(self, run: Run, wakeup: Any, is_watching: bool) -> None:
        """Add a page to a run, which is in memory from here on; the lock is held."""
        run.subscribers.add(wakeup)
        if not is_watching:
            run.presenters.add(wakeup)
        run.left_at = None
        self._runs[run.key] = run

    def _find(self, visitor: Visitor) -> tuple[Run | None, str]:
        """The run that a visitor may use, or None and the reason; a missing run gives no reason."""
        if visitor.watch is not None:
            watched = (run for run in self._runs.values() if run.watch == visitor.watch)
            return next(watched, None), ""
        run = self._runs.get(visitor.run or "")
        if run is not None and run.user != visitor.user:
            return None, NOT_YOURS
        return run, ""

    def leave(self, run: Run, wakeup: Any) -> None:
        """Remove a page; the last one pauses the run, which is removed after five minutes.

        While a page is open, even if it is only a watcher's, the run continues.
        """
        self.events.write("page_closed", run.key)
        with self._lock:
            run.subscribers.remove(wakeup)
            run.presenters.remove(wakeup)
            is_last = not len(run.subscribers) and run.left_at is None
            if is_last:
                run.left_at = self.clock()
                run.resumes = run.runner.wants_to_run
        if is_last:
            run.runner.pause()
            self._remove_idle_later()
        else:
            run.notify()

    def remove_idle(self) -> None:
        """Remove every run whose last page closed five minutes ago, unless its sweep is running."""
        now = self.clock()
        with self._lock:
            self._timer = None
            stale = [
                run
                for run in self._runs.values()
                if (left_at := run.idle_since) is not None and now - left_at >= FREE_AFTER_SECONDS
            ]
            self._take_out(stale)
        for run in stale:
            run.close()
        self._remove_idle_later()

    def _make_room(self, user: str | None, key: str = "") -> None:
        """Remove runs without a page, which are saved, until one more of this user fits.

        key: of a run that is in memory already and begins again. Raises LimitReachedError.
        """
        with self._lock:
            runs = [run for run in self._runs.values() if run.key != key]
        for run in runs:
            run.measured = measure(run.runner.progress, run.runner.corpus, run.measured)
        held = [HeldRun(run.key, run.user, run.measured.size, run.idle_since) for run in runs]
        try:
            chosen = choose_freed(held, user)
        except LimitReachedError as error:
            self.events.write_fault("run_failed", find_fault(error), key)
            raise
        with self._lock:
            # A page may have come back meanwhile.
            freed = [run for run in runs if run.key in chosen and run.left_at is not None]
            self._take_out(freed)
        for run in freed:
            run.close()

    def _take_out(self, runs: list[Run]) -> None:
        """Remove runs from memory; the lock is held."""
        for run in runs:
            self._runs.pop(run.key, None)
            self._ending[run.key] = run

    def close(self) -> None:
        """End every run, when the process ends."""
        with self._lock:
            runs = list(self._runs.values())
            self._runs = {}
        for run in runs:
            run.close()
        for run in runs:
            run.runner.join(LAST_STEP_SECONDS)
        self._saver.close()

    def _restore(self, visitor: Visitor, wakeup: Any) -> tuple[Run | None, str]:
        """Open the saved run of a link, at the same addresses; without one, None and the reason.

        A key opens only a run of the visitor; a link to watch one of any user, for its owner.
        """
        ending = self._ending.pop(visitor.run or "", None)
        if ending is not None:
            ending.runner.join(LAST_STEP_SECONDS)
        self._saver.flush(LAST_SAVE_SECONDS)
        is_watching = visitor.watch is not None
        stores = [self.find_files(visitor.user).runs] if visitor.run else []
        if is_watching:
            stores = [SavedRuns(folder / OPEN_RUNS) for folder in list_data()]
        for saved_runs in stores:
            if (path := saved_runs.locate(visitor.run, visitor.watch)) is None:
                continue
            if (claim := saved_runs.claim(path.stem)) is None:
                return None, RUN_IN_USE
            try:
                saved = saved_runs.load(path)
                if is_watching or saved.user == visitor.user:
                    return self._reopen(saved, claim, wakeup, is_watching), ""
            except (KeyError, ValueError) as error:
                _log.warning("A saved run could not be opened: %s", error)
                claim.close()
                return None, RUN_DAMAGED.format(path.name)
            claim.close()
        if is_watching:
            return None, NOTHING_TO_WATCH
        return None, only_if(visitor.run, RUN_GONE)

    def _begin(self, user: str | None, wakeup: Any, spec: RunSpec) -> Run:
        """Begin a run at a new address."""
        address = Address(key=secrets.token_urlsafe(16), watch=secrets.token_urlsafe(16), user=user)
        run = self._open(address, RunEvents(self.events, address.key), SweepState())
        with self._lock:
            self._enter(run, wakeup, is_watching=False)
        self.events.write("run_started", run.key, algorithm=spec.algorithm.name)
        run.runner.restart(spec)
        return run

    def _reopen(self, saved: SavedRun, claim: Claim, wakeup: Any, is_watching: bool) -> Run:
        """Open a saved run, which this process has claimed."""
        sweep = self.find_files(saved.user).sweeps.find(saved.key)
        # A saved run that had ended already has been counted.
        events = RunEvents(self.events, saved.key, (1, read_status(saved.checkpoint)), sweep)
        run = self._open(saved.address, events, sweep, claim)
        with self._lock:
            self._enter(run, wakeup, is_watching)
        self.events.write("run_restored", run.key, documents=saved.checkpoint.documents_seen)
        run.runner.restore(saved.checkpoint, is_on_disk=True)
        return run

    def _open(
        self, address: Address, events: RunEvents, sweep: SweepState, claim: Claim | None = None
    ) -> Run:
        """Make a run, which waits for `restart` or `restore`."""
        files = self.find_files(address.user)

        def load(name: str) -> engine.Corpus:
            self._make_room(address.user, address.key)
            # A name means this user's corpus, even if another user has one of the same name.
            return self._load(name, files.folder / OWN_CORPORA)

        store = DiskStore(address, files, self._saver, events, claim)
        return Run(address, store, events, load, self._shared, sweep)

    def _remove_idle_later(self) -> None:
        """Remove idle runs, by one timer, when the first one is due."""
        with self._lock:
            now = self.clock()
            # A run whose sweep is running is looked at again later.
            times = [
                now if r.sweep.is_running else r.left_at
                for r in self._runs.values()
                if r.left_at is not None
            ]
            if self._timer is not None or not times:
                return
            seconds = max(0.0, min(times) + FREE_AFTER_SECONDS - now)
            self._timer = threading.Timer(seconds + 1.0, self.remove_idle)
            self._timer.daemon = True
            self._timer.start()


def find_service() -> Service:
    """Return the one service of this process."""
    return pn.state.as_cached(SERVICE, _make_service)


def first_spec() -> RunSpec:
    """The settings of a new page: the defaults on the first built-in corpus."""
    algorithm = engine.REGISTRY[0]
    return RunSpec(CORPUS_NAME, algorithm, algorithm.config(), engine.RunSettings())


def load_by_name(name: str, folder: Path) -> engine.Corpus:
    """Load a built-in corpus or one of this folder; a loaded corpus is kept in memory.

    One of the same name that was built since is another. Raises CorpusError if there is none.
    """
    if name in BUILT_IN:
        return _load(name, None, "")
    built_at = next((own.built_at for own in list_own(folder) if own.name == name), "")
    return _load(name, folder, built_at)


@lru_cache(maxsize=4)
def _load(name: str, folder: Path | None, built_at: str) -> engine.Corpus:
    return load_own(name, folder) if folder is not None else engine.load_corpus(name)


def _make_service() -> Service:
    threadpool_limits(1, user_api="blas")
    # Engine threads return from compiled code every few hundred microseconds; a longer interval
    # would delay the pages.
    sys.setswitchinterval(SWITCH_SECONDS)
    service = Service(load_by_name, Compilation(compile_apart))
    service.compilation.ask(first_spec())
    return service
