"""A plugin of Dask workers that compiles the kernels of a run, so that no mini-batch waits for the
compiler.

It is imported only when a run has a client, because it needs Dask.
"""

import asyncio
import logging
from typing import Any

from distributed import WorkerPlugin

from stickbreaker.engine.algorithm import Algorithm
from stickbreaker.engine.runs.compile_steps import compile_steps, list_choices

_log = logging.getLogger(__name__)


class WorkerCompiler(WorkerPlugin):  # type: ignore[misc]  # distributed has no types
    """Compiles the steps of an algorithm on each worker, including those that join later, before
    its first task.

    A worker compiles once for all runs of the algorithm with the same choices.
    """

    idempotent = True

    def __init__(self, algorithm: Algorithm, config: Any) -> None:
        choices = ", ".join(f"{name}={value}" for name, value in list_choices(config).items())
        self.name = f"stickbreaker {algorithm.name}, {choices}"
        self._algorithm = algorithm
        self._config = config

    async def setup(self, worker: Any) -> None:
        """Compile on a thread, so that the worker still answers the scheduler."""
        try:
            await asyncio.to_thread(compile_steps, self._algorithm, self._config)
        except Exception:
            # The worker may have other versions than this process: its first task says so.
            _log.warning(
                "%s: the kernels could not be compiled in advance.", self.name, exc_info=True
            )
