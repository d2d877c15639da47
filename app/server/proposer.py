"""Looks for merges and splits that documents set aside support, in the background."""

from collections.abc import Callable
from typing import Any

from stickbreaker.app.model.proposed_edits import ProposalJob
from stickbreaker.app.model.reading import Model
from stickbreaker.app.server.model_worker import ModelWorker
from stickbreaker.engine.algorithm import Algorithm
from stickbreaker.engine.inference.edits import draw_learned


class Proposer(ModelWorker[ProposalJob]):
    """Tries merges and splits of a run's model, which does not change."""

    name = "propose-edits"

    def can_start(self, model: Model) -> bool:
        return model.algorithm.propose is not None and model.state.set_aside.num_documents > 0

    def find_code(self, model: Model) -> Algorithm:
        return model.algorithm

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
