"""What keeps a run while it learns and after it has ended. The store of this file keeps nothing."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from scipy.sparse import csr_array

from stickbreaker.app.model.other_runs import OtherRuns
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import Model, Reading
from stickbreaker.app.model.sweep_plan import SweepState
from stickbreaker.app.model.topic_names import NamedTopic
from stickbreaker.engine.runs.checkpoint import Checkpoint


class Ending(NamedTuple):
    """A run to keep under this key; checkpoint: from which it can continue, if it has finished."""

    key: str
    progress: Progress
    model: Model
    checkpoint: Checkpoint | None


class RunStore:
    """Keeps nothing; `DiskStore` keeps a run on disk. Methods may be called from any thread."""

    def save(self, checkpoint: Checkpoint) -> None:
        """Save a run: as it begins, at moments, every half minute and when it stops."""

    def keep(self, ending: Ending, sweep: str = "") -> None:
        """Keep a run that has finished or is left after it has learned. sweep: its sweep's name."""

    def keep_consensus(self, ending: Ending) -> None:
        """Keep the consensus of other runs. Raises FileError if it cannot be written."""

    def name_topics(self, key: str, names: Mapping[int, str]) -> None:
        """Give the topics of a kept run these names, by id."""

    def reopen(self, key: str, model: Model) -> None:
        """Note that a kept run is open again."""

    def keep_names(
        self, corpus_name: str, topics: Sequence[NamedTopic], forgotten: Collection[str]
    ) -> None:
        """Keep named topics for later runs of a corpus, and forget names."""

    def find_names(self, corpus_name: str) -> Sequence[NamedTopic]:
        """Return the named topics that a corpus has kept."""
        return ()

    def find_shares(self, model: Model) -> csr_array | None:
        """Return the topic shares of all documents, as read with this model; None without any."""
        return None

    def keep_reading(self, reading: Reading, is_new: bool) -> None:
        """Note a reading of all documents, and keep its topic shares if they are new."""

    def keep_again(self, model: Model, again: OtherRuns) -> None:
        """Keep what other runs say of a model."""

    def find_again(self, model: Model) -> OtherRuns | None:
        """Return what other runs say of this model; None without any."""
        return None

    def save_sweep(self, state: SweepState) -> None:
        """Save the sweep of the run. Raises FileError if it cannot be written."""

    def close(self) -> None:
        """Let other servers open the run, once everything is written."""
