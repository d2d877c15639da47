"""What `run` yields: one `Update` for each mini-batch.

All are immutable, and nothing writes to their arrays.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from stickbreaker.engine.algorithm import StepInfo, TopicSummary


@dataclass(frozen=True)
class Stepped:
    """The algorithm has learned from one mini-batch.

    documents_seen: documents learned from so far, over all passes.
    date: date of the newest document read so far in this pass.
    batch_size: documents in this mini-batch (the last of a pass may be short).
    num_topics: the smallest number of topics that together have 99 % of all expected tokens.
    state: the algorithm's state after the step, for `summarize` or `infer` of the same algorithm.
    seconds: time spent learning so far, evaluation not counted.
    """

    documents_seen: int
    date: np.datetime64
    batch_size: int
    info: StepInfo
    num_topics: int
    state: Any
    seconds: float


class DocShares(NamedTuple):
    """Topic shares of documents: doc_ids (S,); shares (S, K), which sum to 1; topic_ids (K,)."""

    doc_ids: np.ndarray
    shares: np.ndarray
    topic_ids: np.ndarray


@dataclass(frozen=True)
class Evaluated:
    """Held-out words were scored.

    protocol: name of the protocol, one of `engine.evaluation.held_out.PROTOCOLS` ("disjoint_words",
    "next_batch", ...). predictive: "own" (the system's own inference) or "fold_in" (the common
    one). nats_per_word: mean log likelihood of a held-out token, natural logarithm. num_tokens:
    held-out tokens in that mean. inferred: for "next_batch", the topic shares of the score,
    inferred from the words not held out before the model
        learns from these documents.
    """

    documents_seen: int
    date: np.datetime64
    protocol: str
    predictive: str
    nats_per_word: float
    num_tokens: int
    inferred: DocShares | None = None


@dataclass(frozen=True)
class Moment:
    """The topics at one point of a run: a column of the word lists."""

    documents_seen: int
    date: np.datetime64
    summary: TopicSummary


Event = Stepped | Evaluated | Moment


@dataclass(frozen=True)
class Update:
    """Everything that happened in one mini-batch.

    What was not due, or not asked for, is None.

    Parameters
    ----------
    stepped : Stepped
        The step.
    next_batch : Evaluated, optional
        The score of the mini-batch before the step.
    held_out : Evaluated, optional
        The score of the test documents after the step.
    moment : Moment, optional
        The topics after the step.
    is_last : bool
        Whether the run ends here, because all passes are read or the algorithm has converged.
    """

    stepped: Stepped
    next_batch: Evaluated | None = None
    held_out: Evaluated | None = None
    moment: Moment | None = None
    is_last: bool = False

    @property
    def state(self) -> Any:
        """The algorithm's state after the step."""
        return self.stepped.state

    @property
    def events(self) -> tuple[Event, ...]:
        """What happened, in the order in which it happened."""
        every = (self.next_batch, self.stepped, self.held_out, self.moment)
        return tuple(event for event in every if event is not None)

    @property
    def scores(self) -> tuple[Evaluated, ...]:
        """The scores, in the order in which they were taken."""
        return tuple(score for score in (self.next_batch, self.held_out) if score is not None)
