"""A sweep being run: one spec after another on a runner of its own, which waits for a core."""

import logging
import threading
from collections.abc import Callable
from dataclasses import replace

from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.app.model.run_store import Ending, RunStore
from stickbreaker.app.model.sweep_plan import SweepState, end_point
from stickbreaker.app.server.runner import Runner
from stickbreaker.engine.files.whole_files import FileError

UNSAVED = "The sweep could not be saved, so it cannot be continued after a crash: {}"

_log = logging.getLogger(__name__)


class Sweep:
    """Runs specs in the background; `notify` is called when `state` is replaced.

    make_runner(notify, store=...): makes the runner that the runs of one sweep share. store: keeps
    these runs, and the state at the start, after each run and at the end. state: of an earlier
    sweep, which `resume` continues if it has stopped.
    """

    def __init__(
        self,
        make_runner: Callable[..., Runner],
        store: RunStore,
        notify: Callable[[], None],
        state: SweepState | None = None,
    ):
        self._make_runner = make_runner
        self._store = store
        self._notify = notify
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._runner: Runner | None = None
        # The runs that had ended when the current runner began.
        self._num_before = 0
        self.state = state or SweepState()

    @property
    def is_running(self) -> bool:
        """True from `start` or `resume` to the end of the last run, or until `cancel`."""
        return self.state.status == "running"

    def start(self, plan: tuple[RunSpec, ...]) -> None:
        """Begin; a sweep in progress is cancelled first."""
        self.cancel()
        self._begin(SweepState(status="running", plan=plan))

    def resume(self) -> None:
        """Continue a sweep that has stopped, with the run after the last one that has ended."""
        if self.state.status == "stopped":
            self._begin(replace(self.state, status="running", message=""))

    def cancel(self) -> None:
        """Stop after the present mini-batch; the unfinished run is not kept."""
        with self._lock:
            is_over = self.state.status not in ("running", "stopped")
            if not is_over:
                self.state = replace(self.state, status="cancelled", share=0.0, message="")
            runner = self._release()
        if runner is not None:
            runner.close()
        if not is_over:
            self._save()
        self._notify()

    def close(self) -> None:
        """Stop after the present mini-batch; the saved sweep can be continued."""
        with self._lock:
            runner = self._release()
        if runner is not None:
            runner.close()

    def _release(self) -> Runner | None:
        """The current runner, whose progress no longer counts; the lock is held."""
        runner = self._runner
        self._runner = None
        return runner

    def _begin(self, state: SweepState) -> None:
        store = _SweptRuns(self, f"sweep of {len(state.plan)} runs")
        with self._lock:
            self.state = state
            self._num_before = len(state.points)
            runner: Runner = self._make_runner(lambda: self._hear(runner), store=store)
            self._runner = runner
        self._save()
        runner.set_pace(0.0)
        runner.restart(state.plan[len(state.points)])
        self._notify()

    def _hear(self, runner: Runner) -> None:
        """On the runner's thread: note the progress, and begin the next run."""
        progress = runner.progress
        with self._lock:
            state = self.state
            number = len(state.points) - self._num_before + 1
            if runner is not self._runner or progress.run_id != number:
                return
            if progress.status not in ("finished", "failed"):
                self.state = replace(state, share=progress.share_done, message=progress.message)
            else:
                self._take_end(runner, progress)
        if progress.status == "failed":
            self._save()
        self._notify()

    def _take_end(self, runner: Runner, progress: Progress) -> None:
        if progress.cluster_fault:
            # All other runs would fail too; `resume` begins this run again.
            self.state = replace(
                self.state, status="stopped", share=0.0, message=progress.cluster_fault
            )
            self._runner = None
            runner.close()
            return
        plan = self.state.plan
        points = self.state.points
        points = (*points, end_point(plan[len(points)], progress))
        is_last = len(points) == len(plan)
        status = "finished" if is_last else "running"
        self.state = replace(self.state, status=status, points=points, share=0.0, message="")
        if is_last:
            self._runner = None
            runner.close()
        else:
            runner.restart(plan[len(points)])

    def keep(self, ending: Ending, name: str) -> None:
        """Keep a run of a sweep of this name, if it has finished; its runner calls this."""
        if ending.progress.status != "finished":
            return
        try:
            self._store.keep(ending, sweep=name)
        finally:
            # Only now: a run that has ended according to the saved sweep is not run again, so it
            # must have been kept.
            self._save()
            self._notify()

    def _save(self) -> None:
        """Save the current state; an error there, such as a full disk, does not end the sweep."""
        with self._writing:
            try:
                self._store.save_sweep(self.state)
                fault = ""
            except FileError as error:
                _log.warning("A sweep could not be saved: %s", error)
                fault = UNSAVED.format(error)
            with self._lock:
                if fault != self.state.fault:
                    self.state = replace(self.state, fault=fault)


class _SweptRuns(RunStore):
    """Gives the runs of a sweep to it as they end; nothing else of them is kept."""

    def __init__(self, sweep: Sweep, name: str):
        self._sweep = sweep
        self._name = name

    def keep(self, ending: Ending, sweep: str = "") -> None:
        self._sweep.keep(ending, self._name)
