"""Merges and splits that documents set aside support: the state of the search, for display."""

from dataclasses import dataclass

from stickbreaker.app.model.model_job import ModelJob
from stickbreaker.engine.algorithm import Proposal


@dataclass(frozen=True, eq=False)
class ProposalJob(ModelJob):
    """The state of a search, and its result.

    supported: what the documents set aside support, the best first; num_tried: of all edits tried.
    """

    supported: tuple[Proposal, ...] = ()
    num_tried: int = 0
