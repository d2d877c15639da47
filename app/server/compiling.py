"""Compiles the kernels of an algorithm once per process, in the background."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from stickbreaker.app.model.counting import only_if
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.engine.algorithm import Algorithm
from stickbreaker.engine.runs.compile import LEARNS, Report
from stickbreaker.engine.runs.compile_steps import list_choices

_log = logging.getLogger(__name__)


@dataclass
class Job:
    """The progress of one compilation. Only its own threads write it.

    is_begun: whether the kernels of the first mini-batch are there.
    """

    share: float = 0.0
    message: str = "Preparing the engine"
    error: str = ""
    is_begun: bool = False
    is_done: bool = False

    @property
    def can_learn(self) -> bool:
        """Whether a run can begin; it waits for later kernels when it needs them."""
        return self.is_begun or self.is_done


class Compilation:
    """A job for each algorithm and its choices (precision, start, ...) that a run has asked for.

    compile_algorithm(algorithm, config, report): compiles, and reports its progress.
    """

    def __init__(self, compile_algorithm: Callable[[Algorithm, Any, Report], None]) -> None:
        self._compile_algorithm = compile_algorithm
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        self._jobs: dict[Any, Job] = {}

    def ask(self, spec: RunSpec) -> Job:
        """Return the job that compiles what this spec needs; the first call starts it."""
        key = (spec.algorithm.name, *list_choices(spec.config).values())
        with self._lock:
            if key in self._jobs:
                return self._jobs[key]
            job = self._jobs[key] = Job()
        threading.Thread(
            target=self._work, args=(spec, job), name="compile-kernels", daemon=True
        ).start()
        return job

    @property
    def error(self) -> str:
        """The first error, if there is one."""
        with self._lock:
            return next((job.error for job in self._jobs.values() if job.error), "")

    def _work(self, spec: RunSpec, job: Job) -> None:
        purpose = describe_purpose(spec.config)

        def report(done: int, total: int, name: str) -> None:
            job.is_begun |= name == LEARNS
            job.share = done / total if total else 1.0
            job.message = (
                f"Compiling the engine{purpose}, once on this machine: {done} of {total}, {name}"
            )

        try:
            with self._turn:
                self._compile_algorithm(spec.algorithm, spec.config, report)
        except Exception as error:
            _log.exception("The engine's kernels could not be compiled")
            job.error = f"The engine could not be compiled: {error}"
        job.is_done = True


def describe_purpose(config: Any) -> str:
    """Name the choices other than the defaults, if any: " for precision float64"."""
    usual = {field.name: field.default for field in fields(config)}
    chosen = [
        f"{name} {value}" for name, value in list_choices(config).items() if value != usual[name]
    ]
    return only_if(chosen, f" for {', '.join(chosen)}")
