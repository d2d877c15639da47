"""A sweep being run: one spec after another on a runner of its own, which waits for a core like any other run."""

import threading
from collections.abc import Callable
from dataclasses import replace

from stickbreaker.app.model.kept_runs import KeptRuns
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.app.model.sweep_plan import SweepState, end_point
from stickbreaker.app.server.runner import Ending, Runner, Storage

MakeRunner = Callable[[Callable[[], None], Storage], Runner]


class Sweep:
    """Runs specs in the background; `state` is replaced as a whole, and `notify` is called after each change.

    make_runner(notify, storage): makes the runner that the runs of one sweep share.
    """

    def __init__(self, make_runner: MakeRunner, kept: KeptRuns, notify: Callable[[], None]):
        self._make_runner, self._kept, self._notify = make_runner, kept, notify
        self._lock = threading.Lock()
        self._runner: Runner | None = None
        self.state = SweepState()

    @property
    def is_running(self) -> bool:
        """True from `start` to the end of the last run, or until `cancel`."""
        return self.state.status == "running"

    def start(self, plan: tuple[RunSpec, ...]) -> None:
        """Begin; a sweep in progress is cancelled first."""
        self.cancel()
        name = f"sweep of {len(plan)} runs"
        with self._lock:
            self.state = SweepState(status="running", plan=plan)
            runner = self._runner = self._make_runner(
                lambda: self._hear(runner),
                Storage(keep=lambda ending: self._keep(ending, name)),
            )
        runner.set_pace(0.0)
        runner.restart(plan[0])
        self._notify()

    def cancel(self) -> None:
        """Stop after the present mini-batch; the unfinished run is not kept."""
        with self._lock:
            runner, self._runner = self._runner, None
            if self.is_running:
                self.state = replace(self.state, status="cancelled", share=0.0, message="")
        if runner is not None:
            runner.close()
        self._notify()

    def _hear(self, runner: Runner) -> None:
        """Note the progress of the present run, and begin the next run when it ends; called on the runner's thread."""
        progress = runner.progress
        with self._lock:
            state = self.state
            if runner is not self._runner or progress.run_id != len(state.points) + 1:
                return
            if progress.status not in ("finished", "failed"):
                self.state = replace(state, share=progress.share_done, message=progress.message)
            else:
                self._take_end(runner, progress)
        self._notify()

    def _take_end(self, runner: Runner, progress: Progress) -> None:
        plan, points = self.state.plan, self.state.points
        points = (*points, end_point(plan[len(points)], progress))
        is_last = len(points) == len(plan)
        self.state = SweepState(status="finished" if is_last else "running", plan=plan, points=points)
        if is_last:
            self._runner = None
            runner.close()
        else:
            runner.restart(plan[len(points)])

    def _keep(self, ending: Ending, name: str) -> None:
        if ending.progress.status == "finished":
            self._kept.keep(ending.progress, ending.model, sweep=name, key=ending.key, position=ending.position)
            self._notify()
