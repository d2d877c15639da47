"""Makes runs with other seeds in the background, to see which topics of a run come back."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from stickbreaker.app.model.model_job import ModelJob
from stickbreaker.app.model.other_runs import OtherRuns, learn_again
from stickbreaker.app.model.reading import Model
from stickbreaker.app.server.compiling import Compilation
from stickbreaker.app.server.cpu_queue import CpuQueue
from stickbreaker.app.server.model_worker import ModelWorker
from stickbreaker.engine.algorithm import Algorithm

if TYPE_CHECKING:
    from distributed import Client


class RunsChecker(ModelWorker[ModelJob]):
    """Makes the runs. take(model, runs): gets the result; find_client: as for a runner."""

    name = "other-runs"

    def __init__(
        self,
        take_model: Callable[[], Model | None],
        notify: Callable[[], None],
        cpu_queue: CpuQueue,
        compilation: Compilation,
        take: Callable[[Model, OtherRuns], None],
        find_client: "Callable[[], Client | None]" = lambda: None,
    ):
        super().__init__(take_model, notify, cpu_queue, compilation, ModelJob())
        self._take = take
        self._find_client = find_client

    def can_start(self, model: Model) -> bool:
        return model.test is not None

    def find_code(self, model: Model) -> Algorithm:
        return model.algorithm

    def compute(self, model: Model, report: Callable[[float], bool]) -> dict[str, Any] | None:
        runs = learn_again(model, report, self._find_client())
        if runs is None:
            return None
        self._take(model, runs)
        return {}
