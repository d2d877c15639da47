"""What is computed from the current model of a run: a count check, edits to propose, other runs."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic

from stickbreaker import engine
from stickbreaker.app.model.checked_count import CountJob
from stickbreaker.app.model.model_job import ModelJob
from stickbreaker.app.model.model_record import end_record, open_record, record_consensus
from stickbreaker.app.model.other_runs import OtherRuns, learn_again
from stickbreaker.app.model.proposed_edits import ProposalJob
from stickbreaker.app.model.reading import Model
from stickbreaker.app.model.run_store import RunStore
from stickbreaker.app.server.background_work import AnyJob
from stickbreaker.engine.algorithm import Algorithm
from stickbreaker.engine.inference.edits import draw_learned
from stickbreaker.engine.runs.checkpoint import Checkpoint
from stickbreaker.engine.runs.count_check import CheckPlan, can_check, check_count

if TYPE_CHECKING:
    from distributed import Client

SAMPLER = engine.find_algorithm("gibbs-hdp")


class ModelWork(ABC, Generic[AnyJob]):
    """A kind of work. name: of its thread; begin: the job before any work."""

    name: ClassVar[str]
    begin: AnyJob

    @abstractmethod
    def can_start(self, model: Model) -> bool:
        """Whether the work can be done with this model."""

    def find_code(self, model: Model) -> Algorithm:
        """The algorithm whose compiled code the work needs."""
        return model.algorithm

    @abstractmethod
    def compute(self, model: Model, report: Callable[[float], bool]) -> dict[str, Any] | None:
        """The parts of the finished job; None if `report`, which takes the share done, ends it."""


@dataclass(frozen=True)
class CountCheck(ModelWork[CountJob]):
    """Checks the number of topics with the sampler. plan: how much is done."""

    plan: CheckPlan | None = None
    name = "check-count"
    begin = CountJob()

    def can_start(self, model: Model) -> bool:
        return can_check(model.algorithm)

    def find_code(self, model: Model) -> Algorithm:
        return SAMPLER

    def compute(self, model: Model, report: Callable[[float], bool]) -> dict[str, Any] | None:
        check = check_count(
            model.algorithm, model.config, model.state, model.train, self.plan, report
        )
        return None if check is None else {"check": check}


class EditSearch(ModelWork[ProposalJob]):
    """Tries merges and splits; finds those that documents set aside support."""

    name = "propose-edits"
    begin = ProposalJob()

    def can_start(self, model: Model) -> bool:
        return model.algorithm.propose is not None and model.state.set_aside.num_documents > 0

    def compute(self, model: Model, report: Callable[[float], bool]) -> dict[str, Any] | None:
        assert model.algorithm.propose is not None
        tried = []
        sample = draw_learned(model.train, model.documents_seen)
        for share, proposal in model.algorithm.propose(model.config, model.state, sample):
            tried.append(proposal)
            if not report(share):
                return None
        supported = [each for each in tried if each is not None and each.is_supported]
        supported.sort(key=lambda proposal: -proposal.gain)
        return {"supported": tuple(supported), "num_tried": len(tried)}


@dataclass(frozen=True)
class OtherSeeds(ModelWork[ModelJob]):
    """Makes runs with other seeds, to see which topics come back, and their consensus.

    take(model, runs): gets the result; find_client: as for a runner.
    """

    take: Callable[[Model, OtherRuns], None]
    find_client: "Callable[[], Client | None]" = lambda: None
    name = "other-runs"
    begin = ModelJob()

    def can_start(self, model: Model) -> bool:
        return model.test is not None

    def compute(self, model: Model, report: Callable[[float], bool]) -> dict[str, Any] | None:
        recorder = engine.Recorder(model.train)
        learned = learn_again(model, report, self.find_client())
        if learned is None:
            return None
        runs = learned.runs
        if learned.consensus is not None:
            record = record_consensus(model, learned.consensus, recorder)
            runs = runs._replace(consensus=record.save())
        self.take(model, runs)
        return {"message": learned.why_not}


@dataclass(frozen=True)
class KeptConsensus(ModelWork[ModelJob]):
    """Keeps the consensus of other runs as a kept run. find(model): the consensus, if there is
    one.
    """

    find: Callable[[Model], Checkpoint | None]
    store: RunStore
    name = "keep-consensus"
    begin = ModelJob()

    def can_start(self, model: Model) -> bool:
        return self.find(model) is not None

    def compute(self, model: Model, report: Callable[[float], bool]) -> dict[str, Any] | None:
        consensus = self.find(model)
        if consensus is not None:
            record = open_record(consensus, model.corpus)
            self.store.keep_consensus(end_record(record, self.store))
        return {}
