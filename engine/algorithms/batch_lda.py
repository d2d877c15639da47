"""Batch variational Bayes for latent Dirichlet allocation (Hoffman, Blei & Bach 2010, Alg. 1; V-LDA of Teh 2007).

Each step reads the whole corpus: the E step fits every document from equal shares, the M step sets λ, until the bound
(Eq. 4) gains less than a share of itself. `start` and `topic_expectation` are those of online LDA.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stickbreaker.engine import declarations as declared
from stickbreaker.engine.algorithm import Algorithm, InfersBy, Phase, Reads, TopicSummary
from stickbreaker.engine.declarations import check_settings, setting
from stickbreaker.engine.inference.batch import (
    NO_BOUND,
    judge,
    shares_bound,
    spread,
    sum_documents,
    take_pilot,
    topics_bound,
)
from stickbreaker.engine.inference.dirichlet import UNTIL_SETTLED, Expectations, fit_documents
from stickbreaker.engine.inference.expectations import document_prior, expected_topics, topic_weights
from stickbreaker.engine.inference.topic_counts import DecayedCounts, decayed_counts
from stickbreaker.engine.inference.warm_up import cool_to, first_phase, scale_counts, startup_counts, sweeps_at

LATER_PHASE = Phase.LEARNING
WARM_UP_PASSES = 10


@dataclass(frozen=True)
class BatchLDAConfig:
    """Settings of batch LDA; those of Alg. 1, K = 100, α = 1/K and η = .01. Teh's V-LDA has α = .1/K and η = 100/V.

    Raises ValueError where a value is outside its bounds.
    """

    max_topics: int = setting(100, "K", (1, 2000), "topics, all of which the model uses")
    doc_concentration: float = setting(1.0, "Kα", (1e-6, 1e6), "larger: a document spreads over more topics")
    word_concentration: float = setting(0.01, **declared.WORD_CONCENTRATION)
    tolerance: float = setting(1e-5, **declared.TOLERANCE)
    start: str = setting(
        "hoffman", "", None, "hoffman: as in the paper; warm: soft warm-up", choices=("hoffman", "warm")
    )
    topic_expectation: str = setting("geometric", **declared.TOPIC_EXPECTATION)
    precision: str = setting("float32", **declared.PRECISION)

    def __post_init__(self):
        check_settings(self)


class BatchLDAState(NamedTuple):
    """What the next pass needs.

    topic_counts: λ - η, word by word (V, K); expected_tokens: (K,).
    bound: Eq. 4 times D, in nats, of the pass that made it; phase, temperature: of that pass.
    """

    topic_counts: DecayedCounts
    expected_tokens: np.ndarray
    step: int
    bound: float
    phase: Phase
    temperature: float


def init(config, vocab_size, rng):
    """State before the first pass, which says how large the corpus is; only a warm start's mass depends on it."""
    counts = startup_counts(config, vocab_size, rng)
    return BatchLDAState(counts, np.zeros(config.max_topics), 0, NO_BOUND, *first_phase(config.start, LATER_PHASE))


def expect(config, state, batch):
    """Expectations of the next pass."""
    if state.step == 0:
        counts = scale_counts(state.topic_counts, config.start, len(batch.doc_ids))
        state = state._replace(topic_counts=counts)
    expectations = _expect_words(config, state, batch.documents.distinct_words(), LATER_PHASE)
    if state.phase != Phase.WARM_UP:
        return expectations
    progress = min(1.0, state.step / WARM_UP_PASSES)
    return cool_to(progress, state.temperature, take_pilot(batch.documents), expectations)


def _expect_words(config, state, words, phase):
    topics = topic_weights(state.topic_counts, words, config.word_concentration, config.topic_expectation)
    weights = np.full(config.max_topics, 1.0 / config.max_topics)
    prior = document_prior(config.doc_concentration, weights, topics.dtype)
    return Expectations(words, topics, prior, state.step, phase)


def local(config, expectations, documents, rng=None):
    """Totals of some of the corpus' documents, the E step of Alg. 1; shards add up."""
    if expectations.phase == Phase.WARM_UP:
        sweeps = sweeps_at(expectations.temperature)
        return sum_documents(
            documents, expectations, lambda part: (fit_documents(part, expectations, sweeps, True)[0], NO_BOUND)
        )
    return sum_documents(documents, expectations, lambda part: _fit(expectations, part))


def _fit(expectations, documents):
    statistics, shares = fit_documents(documents, expectations, UNTIL_SETTLED, is_learning=True)
    return statistics, shares_bound(statistics, shares, documents, expectations.prior)


def blend(config, state, totals, batch):
    """The M step of Alg. 1 from totals of the whole corpus, and whether it was worth it."""
    dense = spread(totals, batch.documents.distinct_words(), state.topic_counts.vocab_size)
    bound = totals.bound + topics_bound(dense, config.word_concentration)
    new = BatchLDAState(decayed_counts(dense), totals.tokens, state.step + 1, bound, totals.phase, totals.temperature)
    return judge(state, new, config.tolerance, batch.documents.counts.sum(dtype=np.int64))


def infer(config, state, documents):
    """Topic shares E[θ] (S, K) of documents by the E step of Alg. 1; never learns."""
    expectations = _expect_words(config, state, documents.distinct_words(), state.phase)
    return fit_documents(documents, expectations, UNTIL_SETTLED, is_learning=False)[1]


def summarize(config, state):
    """E[topics], each topic's share of the expected tokens, and those tokens, under ids that no pass changes."""
    topics, tokens = expected_topics(state.topic_counts, config.word_concentration), state.expected_tokens
    weights = tokens / tokens.sum() if tokens.any() else np.full(len(tokens), 1.0 / len(tokens))
    return TopicSummary(np.arange(len(tokens)), topics, weights, tokens)


ALGORITHM = Algorithm(
    name="batch-lda",
    title="Batch LDA",
    config=BatchLDAConfig,
    reads=Reads.CORPUS,
    infers_by=InfersBy.DIRICHLET,
    has_corpus_weights=False,
    init=init,
    infer=infer,
    summarize=summarize,
    expect=expect,
    local=local,
    blend=blend,
    passes=100,
)
