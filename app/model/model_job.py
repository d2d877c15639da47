"""Work on the model of a run in the background: its state, for display."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class ModelJob:
    """The state of the work.

    status: "none", "waiting" (for compiled code or a core), "working", "ready", "cancelled" or
    "failed". share: of the work, 0 to 1. message: what it waits for, or why it failed. run_id,
    documents_seen, num_edits: of the model.
    """

    status: str = "none"
    share: float = 0.0
    message: str = ""
    run_id: int = 0
    documents_seen: int = 0
    num_edits: int = 0

    @property
    def shown(self) -> tuple[str, str, int]:
        """What a page shows of it, with whole percents."""
        return self.status, self.message, round(100 * self.share)

    @property
    def is_active(self) -> bool:
        """Whether it waits or is at work."""
        return self.status in ("waiting", "working")

    @property
    def model_key(self) -> tuple[Any, int, int]:
        """Which model it is of, as `Progress.model_key`."""
        return self.run_id, self.documents_seen, self.num_edits
