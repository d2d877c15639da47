"""Checks the number of topics of a run in the background, once for all its pages."""

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from stickbreaker import engine
from stickbreaker.app.model.checked_count import CountJob
from stickbreaker.app.model.reading import Model
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.app.server.compiling import Compilation
from stickbreaker.app.server.cpu_queue import CpuQueue, describe_wait
from stickbreaker.app.server.runner import POLL_SECONDS
from stickbreaker.engine.runs.count_check import CheckPlan, can_check, check_count

SAMPLER = engine.find_algorithm("gibbs-hdp")

_log = logging.getLogger(__name__)


class CountChecker:
    """Starts the sampler from a run's model; `notify` is called when `job` is replaced.

    take_model() -> the current model of the run; None before its first mini-batch. plan: how much
    is done.
    """

    def __init__(
        self,
        take_model: Callable[[], Model | None],
        notify: Callable[[], None],
        cpu_queue: CpuQueue,
        compilation: Compilation,
        plan: CheckPlan | None = None,
    ):
        self._take_model = take_model
        self._notify = notify
        self._cpu_queue = cpu_queue
        self._compilation = compilation
        self._plan = plan
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        # Ends the present check; a later one has an event of its own.
        self._stop = threading.Event()
        self.job = CountJob()

    def start(self) -> None:
        """Check the current model, unless a check is at work or the sampler cannot start."""
        with self._lock:
            model = self._take_model()
            if model is None or self.job.is_active or not can_check(model.algorithm):
                return
            self._stop = threading.Event()
            self.job = CountJob("waiting", run_id=model.run_id, documents_seen=model.documents_seen)
            arguments = (model, self.job, self._stop)
            self._thread = threading.Thread(
                target=self._work, args=arguments, name="check-count", daemon=True
            )
            self._thread.start()
        self._notify()

    def cancel(self) -> None:
        """End the check after its present pass; its result is dropped."""
        with self._lock:
            self._stop.set()
            if self.job.is_active:
                self.job = replace(self.job, status="cancelled", share=0.0, message="")
        self._notify()

    def close(self) -> None:
        """End the check after its present pass."""
        self._stop.set()

    def join(self, timeout: float | None = None) -> None:
        """Wait until the present check has ended."""
        if self._thread is not None:
            self._thread.join(timeout)

    def _work(self, model: Model, job: CountJob, stop: threading.Event) -> None:
        def publish(**changes: Any) -> bool:
            return self._publish(replace(job, **changes), stop)

        try:
            if not self._wait(model, publish, stop):
                return
            check = check_count(
                model.algorithm,
                model.config,
                model.state,
                model.train,
                self._plan,
                lambda share: publish(status="checking", share=share),
            )
            if check is not None:
                publish(status="ready", share=1.0, check=check)
        except Exception as error:
            _log.exception("The number of topics could not be checked")
            publish(status="failed", message=f"{type(error).__name__}: {error}")
        finally:
            self._cpu_queue.leave(stop)

    def _wait(self, model: Model, publish: Callable[..., bool], stop: threading.Event) -> bool:
        """Wait for compiled code and a core; False if the check was cancelled meanwhile."""
        spec = RunSpec(model.corpus.name, SAMPLER, SAMPLER.config(), engine.RunSettings())
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

    def _publish(self, job: CountJob, stop: threading.Event) -> bool:
        """Show the state of a check, unless it was cancelled; whether it continues."""
        with self._lock:
            if stop.is_set():
                return False
            before = self.job
            self.job = job
        if job.shown != before.shown:
            self._notify()
        return True
