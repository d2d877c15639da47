"""Online HDP by direct assignment: a document's shares are one Dirichlet around the corpus weights, without slots.

q(θ_d) = Dirichlet(α₀E[β] + counts), so that a document is swept as in LDA (Hoffman, Blei & Bach 2010, Alg. 2), and the
corpus sticks take the tables that its counts would open in the Chinese restaurant franchise (Teh 2006; Teh, Kurihara &
Welling 2007). E[β] stands where the bound would have E over q(β): no bound is claimed for the whole, as none is for the
prior of LDA. With equal weights instead of learned ones it is LDA.
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
from stickbreaker.engine.inference.global_step import blend_tables, blend_topics
from stickbreaker.engine.inference.merging import merge_duplicates
from stickbreaker.engine.inference.sticks import corpus_sticks, expected_weights
from stickbreaker.engine.inference.topic_counts import DecayedCounts
from stickbreaker.engine.inference.warm_up import cool, first_phase, scale_counts, startup_counts, sweeps_at

LATER_PHASE = Phase.LEARNING


@dataclass(frozen=True)
class DirectHDPConfig:
    """Settings of direct assignment; the defaults are those of the online HDP.

    Raises ValueError where a value is outside its bounds.
    """

    max_topics: int | None = setting(None, **declared.MAX_TOPICS)
    doc_concentration: float = setting(1.0, **declared.DOC_CONCENTRATION)
    corpus_concentration: float = setting(1.0, **declared.CORPUS_CONCENTRATION)
    word_concentration: float = setting(0.01, **declared.WORD_CONCENTRATION)
    forgetting_rate: float = setting(0.6, **declared.FORGETTING_RATE)
    delay: float | None = setting(None, **declared.DELAY)
    batch_size: int | None = setting(None, **declared.BATCH_SIZE)
    start: str = setting(
        "warm", "", None, "warm: soft warm-up; hoffman: as online LDA starts", choices=("warm", "hoffman")
    )
    topic_expectation: str = setting("mean", **declared.TOPIC_EXPECTATION)
    duplicates: str = setting("merge", **declared.DUPLICATES)
    concentrations: str = setting("fixed", **declared.CONCENTRATIONS)
    precision: str = setting("float32", **declared.PRECISION)

    def __post_init__(self):
        check_settings(self)


class DirectHDPState(NamedTuple):
    """What the next step needs.

    topic_counts: λ - η, word by word (V, K); tables: (K,) expected tables.
    expected_tokens: (K,), start-up mass and η not counted.
    rate_spent: Σρ so far; startup_share: ∏(1 - ρ) so far; phase, temperature: of the step that made it.
    looked_at: Σρ when duplicates were last looked for; documents_read: all so far.
    concentrations: α₀, γ and η, those of the settings until they are learned.
    """

    topic_counts: DecayedCounts
    tables: np.ndarray
    expected_tokens: np.ndarray
    step: int
    rate_spent: float
    startup_share: float
    phase: Phase
    temperature: float
    looked_at: float
    documents_read: int
    concentrations: Concentrations


def init(config, vocab_size, rng):
    """State before the first batch, for a corpus of one document; every topic starts with the same tables."""
    counts, tables = startup_counts(config, vocab_size, rng), np.full(config.max_topics, 1.0 / config.max_topics)
    phase = first_phase(config.start, LATER_PHASE)
    none = np.zeros(config.max_topics)
    return DirectHDPState(counts, tables, none, 0, 0.0, 1.0, *phase, 0.0, 0, first_concentrations(config))


def expect(config, state, batch):
    """Expectations of the next step, for the words of this batch only."""
    state = _scale_start(config, state, batch.corpus_size)
    expectations = _expect_words(config, state, batch.documents.distinct_words(), LATER_PHASE)
    return cool(config, state, batch, expectations)


def _scale_start(config, state, corpus_size):
    """The first batch says how large the corpus is, which scales what the start holds a document."""
    if state.step > 0:
        return state
    counts = scale_counts(state.topic_counts, config.start, corpus_size)
    return state._replace(topic_counts=counts, tables=state.tables * corpus_size)


def _expect_words(config, state, words, phase):
    topics = topic_weights(state.topic_counts, words, state.concentrations.word, config.topic_expectation)
    prior = document_prior(state.concentrations.doc.total, _weights(state), topics.dtype)
    return Expectations(words, topics, prior, state.step, phase)


def _weights(state):
    return expected_weights(corpus_sticks(state.tables, state.concentrations.corpus))


def local(config, expectations, documents, rng=None):
    """Statistics of some of the batch's documents; pure, nothing is drawn, and shards of a batch add up."""
    is_warm_up = expectations.phase == Phase.WARM_UP
    sweeps = sweeps_at(expectations.temperature) if is_warm_up else UNTIL_SETTLED
    return fit_documents(documents, expectations, sweeps, is_learning=True)[0]


def blend(config, state, statistics, batch):
    """Natural-gradient step of λ, and tables towards those of the corpus, from statistics of the whole batch."""
    state = _scale_start(config, state, batch.corpus_size)
    blended, info = blend_topics(config, state, statistics, batch)
    blended = blended._replace(
        tables=blend_tables(state.tables, statistics.tables, batch, info.learning_rate),
        documents_read=state.documents_read + len(batch.documents.starts) - 1,
    )
    if config.duplicates == "merge":
        blended = merge_duplicates(blended, batch.corpus_size)
    if is_time_to_learn(config, blended):
        tables = statistics.tables.sum(keepdims=True)
        doc = learn_from_tables(state.concentrations.doc, tables, batch, info.learning_rate)
        blended = learn(config, blended, doc, batch.corpus_size, info.learning_rate)
    return blended, info


def infer(config, state, documents):
    """Topic shares E[θ] (S, K) of documents; never learns."""
    expectations = _expect_words(config, state, documents.distinct_words(), state.phase)
    return fit_documents(documents, expectations, UNTIL_SETTLED, is_learning=False)[1]


def word_topics(config: DirectHDPConfig, state: DirectHDPState, words: np.ndarray) -> np.ndarray:
    """E[topic] of some words (U,), as (U, K)."""
    return topic_weights(state.topic_counts, words, state.concentrations.word, "mean")


def summarize(config, state):
    """E[topics], E[β] and expected tokens, under ids that no step changes."""
    topics = expected_topics(state.topic_counts, state.concentrations.word)
    return TopicSummary(np.arange(len(state.tables)), topics, _weights(state), state.expected_tokens)


ALGORITHM = Algorithm(
    name="direct-hdp",
    title="Online HDP, direct assignment",
    config=DirectHDPConfig,
    reads=Reads.BATCHES,
    infers_by=InfersBy.DIRICHLET,
    init=init,
    infer=infer,
    summarize=summarize,
    expect=expect,
    local=local,
    blend=blend,
    word_topics=word_topics,
)
