"""What `run()` yields. Every event is immutable; the arrays in it are never written again."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from stickbreaker.engine.algorithm import StepInfo, TopicSummary


@dataclass(frozen=True)
class Stepped:
    """One mini-batch was learned from.

    documents_seen: documents learned from so far, over all passes.
    date: date of the newest document read so far in this pass.
    batch_size: documents in this mini-batch (the last of a pass may be short).
    num_topics: the fewest topics whose expected tokens cover 99 % of their sum.
    state: the algorithm's state after the step: hand it to `summarize` or `infer` of the same algorithm.
    seconds: time spent learning so far, evaluation not counted.
    """

    documents_seen: int
    date: Any
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

    protocol: name of the protocol, one of `engine.evaluation.held_out.PROTOCOLS` ("disjoint_words", "next_batch", ...).
    predictive: "own" (the system's own inference) or "fold_in" (the common one).
    nats_per_word: mean log likelihood of a held-out token, natural logarithm.
    num_tokens: held-out tokens in that mean.
    inferred: of "next_batch", the θ that the score is made of: inferred from the words not held out, by the model that
        has not learned from these documents yet.
    """

    documents_seen: int
    date: Any
    protocol: str
    predictive: str
    nats_per_word: float
    num_tokens: int
    inferred: DocShares | None = None


@dataclass(frozen=True)
class Snapshot:
    """The topics at a checkpoint of the table of word lists."""

    documents_seen: int
    date: Any
    summary: TopicSummary


@dataclass(frozen=True)
class Finished:
    """The stream has ended; `state` is the last one."""

    documents_seen: int
    state: Any
    seconds: float


Event = Stepped | Evaluated | Snapshot | Finished
