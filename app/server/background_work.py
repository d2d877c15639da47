"""Work in the background of a run, with a job that its pages show and can cancel."""

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Generic, TypeAlias, TypeVar

from stickbreaker import engine
from stickbreaker.app.model.model_job import ModelJob
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.app.server.compiling import Compilation
from stickbreaker.app.server.cpu_queue import CpuQueue, describe_wait
from stickbreaker.app.server.runner import POLL_SECONDS
from stickbreaker.engine.algorithm import Algorithm
from stickbreaker.engine.files.whole_files import FileError

AnyJob = TypeVar("AnyJob", bound=ModelJob)
# wait(algorithm): waits for its compiled code and a core; report(share): shows the share done. Both
# return False to cancel.
Wait: TypeAlias = Callable[[Algorithm], bool]
Report: TypeAlias = Callable[[float], bool]
# compute(wait, report) -> the parts of the finished job; None if it was cancelled.
Compute: TypeAlias = Callable[[Wait, Report], dict[str, Any] | None]

_log = logging.getLogger(__name__)


class BackgroundWork(Generic[AnyJob]):
    """One job at a time; `notify` is called when `job` is replaced.

    job: at first, the one before any work.
    """

    def __init__(
        self,
        notify: Callable[[], None],
        cpu_queue: CpuQueue,
        compilation: Compilation,
        job: AnyJob,
    ):
        self._notify = notify
        self._cpu_queue = cpu_queue
        self._compilation = compilation
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        # Ends the present work; a later one has an event of its own.
        self._stop = threading.Event()
        self.job = job

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

    def _begin(self, name: str, job: AnyJob, compute: Compute) -> None:
        """Work on a thread of this name, with a new job; the lock is held."""
        self._stop = threading.Event()
        self.job = replace(job, status="waiting")
        arguments = (name, self.job, compute, self._stop)
        self._thread = threading.Thread(target=self._do, args=arguments, name=name, daemon=True)
        self._thread.start()

    def _do(self, name: str, job: AnyJob, compute: Compute, stop: threading.Event) -> None:
        def publish(**changes: Any) -> bool:
            return self._publish(replace(job, **changes), stop)

        def wait(code: Algorithm) -> bool:
            return self._wait(code, publish, stop)

        try:
            found = compute(wait, lambda share: publish(status="working", share=share))
            if found is not None:
                publish(status="ready", share=1.0, **found)
        except (FileError, engine.CorpusError) as error:
            publish(status="failed", message=str(error))
        except Exception as error:
            _log.exception("Work in the background has failed: %s", name)
            publish(status="failed", message=f"{type(error).__name__}: {error}")
        finally:
            self._cpu_queue.leave(stop)

    def _wait(self, code: Algorithm, publish: Callable[..., bool], stop: threading.Event) -> bool:
        """Wait for compiled code and a core; False if the work was cancelled meanwhile."""
        spec = RunSpec("", code, code.config(), engine.RunSettings())
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
