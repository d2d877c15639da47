"""Work on the current model of a run in the background, once for all its pages."""

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Generic

from stickbreaker import engine
from stickbreaker.app.model.reading import Model
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.app.server.compiling import Compilation
from stickbreaker.app.server.cpu_queue import CpuQueue, describe_wait
from stickbreaker.app.server.model_work import AnyJob, ModelWork
from stickbreaker.app.server.runner import POLL_SECONDS

_log = logging.getLogger(__name__)


class ModelWorker(Generic[AnyJob]):
    """Starts from a run's model; `notify` is called when `job` is replaced.

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
        self._take_model = take_model
        self._notify = notify
        self._cpu_queue = cpu_queue
        self._compilation = compilation
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        # Ends the present work; a later one has an event of its own.
        self._stop = threading.Event()
        self._work = work
        self.job = work.begin

    def start(self) -> None:
        """Work on the current model, unless that is not possible or this is at work."""
        with self._lock:
            model = self._take_model()
            if model is None or self.job.is_active or not self._work.can_start(model):
                return
            self._stop = threading.Event()
            self.job = replace(
                self._work.begin,
                status="waiting",
                run_id=model.run_id,
                documents_seen=model.documents_seen,
                num_edits=model.num_edits,
            )
            arguments = (model, self.job, self._stop)
            self._thread = threading.Thread(
                target=self._do, args=arguments, name=self._work.name, daemon=True
            )
            self._thread.start()
        self._notify()

    def cancel(self) -> None:
        """End the work after its present part; its result is dropped."""
        with self._lock:
            self._stop.set()
            if self.job.is_active:
                self.job = replace(self.job, status="cancelled", share=0.0, message="")
        self._notify()

    def close(self) -> None:
        """End the work after its present part."""
        self._stop.set()

    def join(self, timeout: float | None = None) -> None:
        """Wait until the present work has ended."""
        if self._thread is not None:
            self._thread.join(timeout)

    def _do(self, model: Model, job: AnyJob, stop: threading.Event) -> None:
        def publish(**changes: Any) -> bool:
            return self._publish(replace(job, **changes), stop)

        try:
            if not self._wait(model, publish, stop):
                return
            found = self._work.compute(model, lambda share: publish(status="working", share=share))
            if found is not None:
                publish(status="ready", share=1.0, **found)
        except Exception as error:
            _log.exception("The work on a model has failed: %s", self._work.name)
            publish(status="failed", message=f"{type(error).__name__}: {error}")
        finally:
            self._cpu_queue.leave(stop)

    def _wait(self, model: Model, publish: Callable[..., bool], stop: threading.Event) -> bool:
        """Wait for compiled code and a core; False if the work was cancelled meanwhile."""
        code = self._work.find_code(model)
        spec = RunSpec(model.corpus.name, code, code.config(), engine.RunSettings())
        while not stop.is_set():
            compiling = self._compilation.ask(spec)
            if compiling.error:
                raise RuntimeError(compiling.error)
            if not compiling.is_done:
                publish(status="waiting", message=compiling.message, share=compiling.share)
            elif place := self._cpu_queue.take(stop):
                publish(status="waiting", message=describe_wait(place, self._cpu_queue.num_cores))
            else:
                return True
            stop.wait(POLL_SECONDS)
        return False

    def _publish(self, job: AnyJob, stop: threading.Event) -> bool:
        """Show the state of the work, unless it was cancelled; whether it continues."""
        with self._lock:
            if stop.is_set():
                return False
            before = self.job
            self.job = job
        if job.shown != before.shown:
            self._notify()
        return True
