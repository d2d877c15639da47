"""Online variational Bayes for latent Dirichlet allocation (Hoffman, Blei & Bach 2010, Alg. 2).

The defaults are the paper: `start="hoffman"` begins with λ near one everywhere, `topic_expectation="geometric"`
weighs words by exp E[log topic]. `start="warm"` and `topic_expectation="mean"` give LDA what the online HDP has by
default, for a comparison of the models alone.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stickbreaker.engine import declarations as declared
from stickbreaker.engine.algorithm import Algorithm, InfersBy, Phase, Reads, TopicSummary
from stickbreaker.engine.declarations import check_settings, setting
from stickbreaker.engine.inference.concentrations import (
    Concentrations,
    first_concentrations,
    is_time_to_learn,
    learn,
    learn_from_tables,
)
from stickbreaker.engine.inference.dirichlet import UNTIL_SETTLED, Expectations, fit_documents
from stickbreaker.engine.inference.expectations import document_prior, expected_topics, topic_weights
from stickbreaker.engine.inference.global_step import blend_topics
from stickbreaker.engine.inference.topic_counts import DecayedCounts
from stickbreaker.engine.inference.warm_up import cool, first_phase, scale_counts, startup_counts, sweeps_at

LATER_PHASE = Phase.LEARNING


@dataclass(frozen=True)
class LDAConfig:
    """Settings of online LDA; K is the paper's, α is 1/K, and η, κ, τ₀ and S are those of the online HDP.

    Raises ValueError where a value is outside its bounds.
    """

    max_topics: int = setting(100, "K", (1, 2000), "topics, all of which the model uses")
    doc_concentration: float = setting(1.0, "Kα", (1e-6, 1e6), "larger: a document spreads over more topics")
    word_concentration: float = setting(0.01, **declared.WORD_CONCENTRATION)
    forgetting_rate: float = setting(0.6, **declared.FORGETTING_RATE)
    delay: float | None = setting(None, **declared.DELAY)
    batch_size: int | None = setting(None, **declared.BATCH_SIZE)
    start: str = setting(
        "hoffman", "", None, "hoffman: as in the paper; warm: soft warm-up", choices=("hoffman", "warm")
    )
    topic_expectation: str = setting(
        "geometric", "", None, "geometric: exp E[log topic], as printed; mean: E[topic]", choices=("geometric", "mean")
    )
    concentrations: str = setting(
        "fixed",
        "",
        None,
        "learned: α, the same for every topic, and η; asymmetric: an α for each topic, and η",
        choices=("fixed", "learned", "asymmetric"),
    )
    precision: str = setting("float32", **declared.PRECISION)

    def __post_init__(self):
        check_settings(self)


class LDAState(NamedTuple):
    """What the next step needs.

    topic_counts: λ - η, word by word (V, K); expected_tokens: (K,), start-up mass and η not counted.
    rate_spent: Σρ so far; startup_share: ∏(1 - ρ) so far; phase, temperature: of the step that made it.
    concentrations: α by topic and η, those of the settings until they are learned.
    """

    topic_counts: DecayedCounts
    expected_tokens: np.ndarray
    step: int
    rate_spent: float
    startup_share: float
    phase: Phase
    temperature: float
    concentrations: Concentrations


def init(config, vocab_size, rng):
    """State before the first batch, which says how large the corpus is; only a warm start's mass depends on it."""
    counts = startup_counts(config, vocab_size, rng)
    phase = first_phase(config.start, LATER_PHASE)
    concentrations = first_concentrations(config, config.max_topics)
    return LDAState(counts, np.zeros(config.max_topics), 0, 0.0, 1.0, *phase, concentrations)


def expect(config, state, batch):
    """Expectations of the next step, for the words of this batch only."""
    state = _scale_start(config, state, batch.corpus_size)
    expectations = _expect_words(config, state, batch.documents.distinct_words(), LATER_PHASE)
    return cool(config, state, batch, expectations)


def _scale_start(config, state, corpus_size):
    if state.step > 0:
        return state
    return state._replace(topic_counts=scale_counts(state.topic_counts, config.start, corpus_size))


def _expect_words(config, state, words, phase):
    topics = topic_weights(state.topic_counts, words, state.concentrations.word, config.topic_expectation)
    prior = document_prior(1.0, state.concentrations.doc.mean, topics.dtype)
    return Expectations(words, topics, prior, state.step, phase)


def local(config, expectations, documents, rng=None):
    """Σ n φ of some of the batch's documents, the E step of Alg. 2; shards of a batch add up."""
    is_warm_up = expectations.phase == Phase.WARM_UP
    sweeps = sweeps_at(expectations.temperature) if is_warm_up else UNTIL_SETTLED
    return fit_documents(documents, expectations, sweeps, is_learning=True)[0]


def blend(config, state, statistics, batch):
    """The M step of Alg. 2 with the mini-batch's D/S (Eq. 8), from statistics of the whole batch."""
    state = _scale_start(config, state, batch.corpus_size)
    blended, info = blend_topics(config, state, statistics, batch)
    if is_time_to_learn(config, blended):
        doc = _learn_alpha(config, state.concentrations.doc, statistics.tables, batch, info.learning_rate)
        blended = learn(config, blended, doc, batch.corpus_size, info.learning_rate)
    return blended, info


def _learn_alpha(config, posterior, tables, batch, rate):
    """A step of α towards the highest bound (Hoffman 2010 Eq. 9), each topic's own where it is asymmetric."""
    if config.concentrations == "learned":
        tables = np.full(len(tables), tables.sum() / len(tables))
    return learn_from_tables(posterior, tables, batch, rate)


def infer(config, state, documents):
    """Topic shares E[θ] (S, K) of documents by the E step of Alg. 2; never learns."""
    expectations = _expect_words(config, state, documents.distinct_words(), state.phase)
    return fit_documents(documents, expectations, UNTIL_SETTLED, is_learning=False)[1]


def word_topics(config: LDAConfig, state: LDAState, words: np.ndarray) -> np.ndarray:
    """E[topic] of some words (U,), as (U, K)."""
    return topic_weights(state.topic_counts, words, state.concentrations.word, "mean")


def summarize(config, state):
    """E[topics], each topic's share of the expected tokens, and those tokens, under ids that no step changes."""
    topics = expected_topics(state.topic_counts, state.concentrations.word)
    tokens = state.expected_tokens
    total = tokens.sum()
    weights = tokens / total if total > 0 else np.full(len(tokens), 1.0 / len(tokens))
    return TopicSummary(np.arange(len(tokens)), topics, weights, tokens)


ALGORITHM = Algorithm(
    name="lda",
    title="Online LDA",
    config=LDAConfig,
    reads=Reads.BATCHES,
    infers_by=InfersBy.DIRICHLET,
    has_corpus_weights=False,
    init=init,
    infer=infer,
    summarize=summarize,
    expect=expect,
    local=local,
    blend=blend,
    word_topics=word_topics,
)
