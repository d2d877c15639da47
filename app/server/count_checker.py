"""Checks the number of topics of a run in the background, once for all its pages."""

from collections.abc import Callable
from typing import Any

from stickbreaker import engine
from stickbreaker.app.model.checked_count import CountJob
from stickbreaker.app.model.reading import Model
from stickbreaker.app.server.compiling import Compilation
from stickbreaker.app.server.cpu_queue import CpuQueue
from stickbreaker.app.server.model_worker import ModelWorker
from stickbreaker.engine.algorithm import Algorithm
from stickbreaker.engine.runs.count_check import CheckPlan, can_check, check_count

SAMPLER = engine.find_algorithm("gibbs-hdp")


class CountChecker(ModelWorker[CountJob]):
    """Starts the sampler from a run's model; plan: how much is done."""

    name = "check-count"

    def __init__(
        self,
        take_model: Callable[[], Model | None],
        notify: Callable[[], None],
        cpu_queue: CpuQueue,
        compilation: Compilation,
        plan: CheckPlan | None = None,
    ):
        super().__init__(take_model, notify, cpu_queue, compilation, CountJob())
        self._plan = plan

    def can_start(self, model: Model) -> bool:
        return can_check(model.algorithm)

    def find_code(self, model: Model) -> Algorithm:
        return SAMPLER

    def compute(self, model: Model, report: Callable[[float], bool]) -> dict[str, Any] | None:
        check = check_count(
            model.algorithm, model.config, model.state, model.train, self._plan, report
        )
        return None if check is None else {"check": check}
