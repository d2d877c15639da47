"""Work on the current model of a run in the background, once for all its pages."""

from collections.abc import Callable
from dataclasses import replace

from stickbreaker.app.model.reading import Model
from stickbreaker.app.server.background_work import AnyJob, BackgroundWork
from stickbreaker.app.server.compiling import Compilation
from stickbreaker.app.server.cpu_queue import CpuQueue
from stickbreaker.app.server.model_work import ModelWork


class ModelWorker(BackgroundWork[AnyJob]):
    """Starts from a run's model.

    take_model() -> the current model of the run; None before its first mini-batch.
    """

    def __init__(
        self,
        take_model: Callable[[], Model | None],
        notify: Callable[[], None],
        cpu_queue: CpuQueue,
        compilation: Compilation,
        work: ModelWork[AnyJob],
    ):
        super().__init__(notify, cpu_queue, compilation, work.begin)
        self._take_model = take_model
        self._work = work

    def start(self) -> None:
        """Work on the current model, unless that is not possible or this is at work."""
        work = self._work
        with self._lock:
            model = self._take_model()
            if model is None or self.job.is_active or not work.can_start(model):
                return
            job = replace(
                work.begin,
                run_id=model.run_id,
                documents_seen=model.documents_seen,
                num_edits=model.num_edits,
            )
            self._begin(
                work.name,
                job,
                lambda wait, report: (
                    work.compute(model, report) if wait(work.find_code(model)) else None
                ),
            )
        self._notify()
