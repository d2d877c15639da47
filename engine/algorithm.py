"""The contract every algorithm keeps, and nothing else.

An algorithm is pure functions over tuples of arrays, bound in one `Algorithm` record that closes its file:

    init(config, vocab_size, rng)                  -> State
    expect(config, state, batch)                   -> Expectations
    local(config, expectations, documents, rng)    -> Statistics
    blend(config, state, statistics, batch)        -> (State, StepInfo)
    infer(config, state, documents)                -> doc_shares (S, K)
    summarize(config, state)                       -> TopicSummary

What cannot be cut into shards has, in place of expect, local and blend,

    step(config, state, batch, rng)                -> (State, StepInfo)

Every State has `step` and `expected_tokens` (K,). What an algorithm remembers of documents is in its State, in the
order of the `doc_ids` beside it. A config without `batch_size` asks for the whole corpus at each step. The driver, the
app's form, checkpoints and the contract tests know algorithms by this record alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np


class Reads(StrEnum):
    """What one step of an algorithm reads: a mini-batch, or the whole corpus."""

    BATCHES = "batches"
    CORPUS = "corpus"


class InfersBy(StrEnum):
    """How an algorithm infers the topics of one document, once it has learned."""

    SLOTS = "slots"
    DIRICHLET = "dirichlet"
    SAMPLING = "sampling"
    COLLAPSED = "collapsed"
    MIXTURE = "mixture"


class Phase(StrEnum):
    """The part of its schedule that an algorithm's step was in."""

    WARM_UP = "warm-up"
    TWO_LEVEL = "two-level"
    LEARNING = "learning"
    GROWING = "growing"
    SOFT = "soft"
    SWEEPS = "sweeps"
    SOFTENED = "softened"
    BURN_IN = "burn-in"
    SAMPLING = "sampling"


class StepInfo(NamedTuple):
    """What one blend did.

    step: number of the step just taken, from 1.
    learning_rate: ρ_t of that step.
    phase: the part of its schedule that the step was in.
    startup_share: share of the start-up mass that is still in the topics after the step, 0 to 1.
    temperature: of the warm-up; 1 after it, and where there is none.
    bound: the objective in nats per token where the algorithm computes it.
    has_converged: whether further steps are not worth taking; the run ends there.
    """

    step: int
    learning_rate: float
    phase: Phase
    startup_share: float
    temperature: float = 1.0
    bound: float | None = None
    has_converged: bool = False


class TopicSummary(NamedTuple):
    """What an algorithm believes about the corpus.

    topic_ids: (K,) int64, stable names of the topics; all other fields are in this order.
    topics: (K, V) float32, E[topic], each row sums to 1.
    weights: (K,) float64, E[corpus weights], sums to 1.
    expected_tokens: (K,) float64, tokens of the corpus that each topic explains; 0 before the first batch.
    """

    topic_ids: np.ndarray
    topics: np.ndarray
    weights: np.ndarray
    expected_tokens: np.ndarray


@dataclass(frozen=True)
class Algorithm:
    """The record that binds an algorithm: `name` for files and commands, `title` for people.

    reads: what a step reads. infers_by: how it infers a document's topics.
    passes: times the corpus is read unless a run is told otherwise.
    memory: (config, documents) -> bytes that it will hold for these training documents, where it remembers any.
    word_topics: (config, state, words (U,)) -> E[topic] of these words (U, K), the same numbers as in `summarize`, of
        topics whose ids are 0 to K - 1.
    has_corpus_weights: whether documents share learned topic weights, as in an HDP; the prior of an LDA is uniform.
    """

    name: str
    title: str
    config: type
    reads: Reads
    infers_by: InfersBy
    init: Callable[..., Any]
    infer: Callable[..., Any]
    summarize: Callable[..., TopicSummary]
    expect: Callable[..., Any] | None = None
    local: Callable[..., Any] | None = None
    blend: Callable[..., Any] | None = None
    step: Callable[..., Any] | None = None
    passes: int = 1
    memory: Callable[..., int] | None = None
    word_topics: Callable[[Any, Any, np.ndarray], np.ndarray] | None = None
    has_corpus_weights: bool = True
