"""How a run reads and scores a corpus; these settings are the same for all algorithms."""

from dataclasses import dataclass

from stickbreaker.engine.corpora.corpus import SHUFFLE_WINDOW
from stickbreaker.engine.declarations import check_settings, setting

LARGEST_SEED = 2**32 - 1


@dataclass(frozen=True)
class RunSettings:
    """How a corpus is read and scored.

    Parameters
    ----------
    order : {"chronological", "shuffled"}
        The order in which documents are read.
    passes : int or None
        Number of times that the corpus is read; None: the default of the algorithm.
    seed : int
        Seed of the start, the split and the shuffle.
    num_test : int
        Number of held-out documents, at most a tenth of the corpus.
    num_evaluations : int
        Number of held-out scores in a pass.
    num_moments : int
        Number of columns of the table of word lists.
    score_next_batch : bool
        Whether each mini-batch is scored before it is learned from.
    shuffle_window : int
        Number of shards of a stored corpus that are shuffled together.
    num_shards : int or None
        Largest number of parts that a mini-batch is divided into, each a task for a thread or for a
        worker of a cluster; None leaves it to the size of the mini-batch, with at most 8.

    Raises
    ------
    ValueError
        If a value is outside its bounds.
    """

    order: str = setting(
        "chronological",
        "",
        None,
        "the order documents are read in",
        choices=("chronological", "shuffled"),
    )
    passes: int | None = setting(
        None, "", (1, 100_000), "times the corpus is read", whole=True, left_to="the algorithm"
    )
    seed: int = setting(0, "", (0, LARGEST_SEED), "seed of the start, the split and the shuffle")
    num_test: int = setting(
        1000, "", (1, 1_000_000), "held-out documents, at most a tenth of the corpus"
    )
    num_evaluations: int = setting(20, "", (0, 100_000), "held-out scores per pass")
    num_moments: int = setting(9, "", (0, 1000), "columns of the table of word lists")
    score_next_batch: bool = setting(
        True,
        "",
        None,
        "score each mini-batch before learning (progressive validation; the corpus size and the"
        " vocabulary are known from the start)",
    )
    shuffle_window: int = setting(
        SHUFFLE_WINDOW, "", (1, 1_000_000), "shards of a stored corpus that are shuffled together"
    )
    num_shards: int | None = setting(
        None,
        "",
        (1, 100_000),
        "parts of a mini-batch, each a task for a thread or a worker",
        whole=True,
        left_to="the size of the mini-batch",
    )

    def __post_init__(self) -> None:
        check_settings(self)
