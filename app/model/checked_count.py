"""A check of the number of topics in use by the sampler: its state, for display."""

from dataclasses import dataclass

from stickbreaker.app.model.progress import Progress
from stickbreaker.engine.runs.count_check import MOST_TOKENS, PASSES, CountCheck, can_check

# Passes of a check, and the tokens that it reads at most.
NUM_PASSES = PASSES
NUM_TOKENS = MOST_TOKENS


@dataclass(frozen=True, eq=False)
class CountJob:
    """The state of a check.

    status: "none", "waiting" (for compiled code or a core), "checking", "ready", "cancelled" or
    "failed". share: of its work, 0 to 1. message: what it waits for, or why it failed. run_id,
    documents_seen: of the model. check: the result.
    """

    status: str = "none"
    share: float = 0.0
    message: str = ""
    run_id: int = 0
    documents_seen: int = 0
    check: CountCheck | None = None

    @property
    def shown(self) -> tuple[str, str, int]:
        """What a page shows of it, with whole percents."""
        return self.status, self.message, round(100 * self.share)

    @property
    def is_active(self) -> bool:
        """Whether it waits or is at work."""
        return self.status in ("waiting", "checking")


def offers_check(progress: Progress) -> bool:
    """Whether the sampler can start from models of this algorithm."""
    return progress.algorithm_record is None or can_check(progress.algorithm_record)
