"""A check of the number of topics in use by the sampler: its state, for display."""

from dataclasses import dataclass

from stickbreaker.app.model.model_job import ModelJob
from stickbreaker.app.model.progress import Progress
from stickbreaker.engine.runs.count_check import MOST_TOKENS, PASSES, CountCheck, can_check

# Passes of a check, and the tokens that it reads at most.
NUM_PASSES = PASSES
NUM_TOKENS = MOST_TOKENS


@dataclass(frozen=True, eq=False)
class CountJob(ModelJob):
    """The state of a check, and its result."""

    check: CountCheck | None = None


def offers_check(progress: Progress) -> bool:
    """Whether the sampler can start from models of this algorithm."""
    return progress.algorithm_record is None or can_check(progress.algorithm_record)
