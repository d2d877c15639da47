"""Online variational inference for the hierarchical Dirichlet process (Wang, Paisley & Blei 2011).

What the paper leaves open has a name here. `start="warm"` begins with a soft warm-up of Dirichlet sweeps and then
starts each document's slots on its own best topics; `start="wang"` starts them uniform, from the first batch on.
`start="svi"` is Fig. 9 of Hoffman, Blei, Wang & Paisley (2013), whose first update of ζ overwrites how it starts it:
that leaves Wang's uniform slots, on corpus sticks at their prior where "wang" has as many tables for each topic.
`topic_expectation="mean"` uses E[topic] in the local step (the locally collapsed form of Wang & Blei 2012 Eq. 6), so
that ζ_it ∝ exp(E log π_t) Σ_k φ_tk E[topic_k,i]; `"geometric"` uses exp E[log topic] and Eq. 17-18 as printed.
"""

from dataclasses import dataclass, replace
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
    learn_from_sticks,
)
from stickbreaker.engine.inference.dirichlet import fit_documents
from stickbreaker.engine.inference.expectations import expected_topics, topic_weights
from stickbreaker.engine.inference.global_step import blend_tables, blend_topics
from stickbreaker.engine.inference.merging import merge_duplicates
from stickbreaker.engine.inference.sticks import corpus_sticks, expected_weights
from stickbreaker.engine.inference.topic_counts import DecayedCounts
from stickbreaker.engine.inference.two_level import START_SWEEPS, expect_slots, fit_slots, limits_of
from stickbreaker.engine.inference.warm_up import cool, first_phase, scale_counts, startup_counts, sweeps_at

# From topics that are all alike, slots of fewer tokens start on topics by chance and stay there (engine/DECISIONS.md).
TOKENS_OF_A_SLOT = 25

START = {
    "symbol": "",
    "help": "warm: soft warm-up; wang: as in the paper; svi: as in Fig. 9 of Hoffman 2013",
    "choices": ("warm", "wang", "svi"),
}


@dataclass(frozen=True)
class HDPConfig:
    """Settings of the online HDP; the defaults are those of Wang 2011 sec. 4.2 but for η = 0.01, K, S and τ₀.

    Raises ValueError where a value is outside its bounds.
    """

    max_topics: int | None = setting(None, **declared.MAX_TOPICS)
    max_slots: int = setting(15, **declared.MAX_SLOTS)
    doc_concentration: float = setting(1.0, **declared.DOC_CONCENTRATION)
    corpus_concentration: float = setting(1.0, **declared.CORPUS_CONCENTRATION)
    word_concentration: float = setting(0.01, **declared.WORD_CONCENTRATION)
    forgetting_rate: float = setting(0.6, **declared.FORGETTING_RATE)
    delay: float | None = setting(None, **declared.DELAY)
    batch_size: int | None = setting(None, **declared.BATCH_SIZE)
    start: str = setting("warm", **START)
    topic_expectation: str = setting("mean", **declared.TOPIC_EXPECTATION)
    max_active_topics: int = setting(32, **declared.MAX_ACTIVE_TOPICS)
    duplicates: str = setting("merge", **declared.DUPLICATES)
    concentrations: str = setting("fixed", **declared.CONCENTRATIONS)
    precision: str = setting("float32", **declared.PRECISION)

    def __post_init__(self):
        check_settings(self)


@dataclass(frozen=True)
class SVIHDPConfig(HDPConfig):
    """The online HDP with the start of Fig. 9 and the settings of sec. 4 in Hoffman 2013; η is .01 there too."""

    max_topics: int = setting(300, **declared.MAX_TOPICS)
    max_slots: int = setting(20, **declared.MAX_SLOTS)
    forgetting_rate: float = setting(0.9, **declared.FORGETTING_RATE)
    delay: float | None = setting(1.0, **declared.DELAY)
    batch_size: int | None = setting(500, **declared.BATCH_SIZE)
    start: str = setting("svi", **START)
    topic_expectation: str = setting("geometric", **declared.TOPIC_EXPECTATION)
    duplicates: str = setting("keep", **declared.DUPLICATES)


class HDPState(NamedTuple):
    """What the next step needs.

    topic_counts: λ - η, word by word (V, K).
    tables: (K,) expected tables; expected_tokens: (K,), start-up mass and η not counted.
    rate_spent: Σρ so far; startup_share: ∏(1 - ρ) so far; phase, temperature: of the step that made it;
    scoring follows the phase. looked_at: Σρ when duplicates were last looked for; documents_read: all so far.
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
    """State before the first batch: λ - η is noise worth so much a document, for a corpus of one document.

    The corpus' size is known from the first batch on, which scales the noise to it, so that the start does not depend
    on a guess of D. Every topic starts with the same tables, or without any.
    """
    counts, num_topics = startup_counts(config, vocab_size, rng), config.max_topics
    tables = np.zeros(num_topics) if config.start == "svi" else np.full(num_topics, 1.0 / num_topics)
    phase, none = first_phase(config.start, Phase.TWO_LEVEL), np.zeros(num_topics)
    return HDPState(counts, tables, none, 0, 0.0, 1.0, *phase, 0.0, 0, first_concentrations(config))


def expect(config, state, batch):
    """Expectations of the next step, for the words of this batch only."""
    state = _scale_start(config, state, batch.corpus_size)
    expectations = _expect_words(config, state, batch.documents.distinct_words(), Phase.TWO_LEVEL)
    has_short_documents = batch.documents.counts.sum() < TOKENS_OF_A_SLOT * config.max_slots * len(batch.doc_ids)
    return cool(config, state, batch, expectations, until_parted=has_short_documents)


def _scale_start(config, state, corpus_size):
    """The start-up mass is so much a document: known once the corpus' size is."""
    if state.step > 0:
        return state
    counts = scale_counts(state.topic_counts, config.start, corpus_size)
    return state._replace(topic_counts=counts, tables=state.tables * corpus_size)


def _expect_words(config, state, words, phase):
    known = state.concentrations
    config = replace(config, doc_concentration=known.doc.total, word_concentration=known.word)
    return expect_slots(config, state, corpus_sticks(state.tables, known.corpus), words, phase)


def local(config, expectations, documents, rng=None):
    """Statistics of some of the batch's documents; pure, nothing is drawn, and shards of a batch add up."""
    return _fit(config, expectations, documents, sweeps_at(expectations.temperature), is_learning=True)[0]


def _fit(config, expectations, documents, sweeps, is_learning):
    """Statistics and doc shares (S, K) under the phase of the expectations."""
    if expectations.phase == Phase.WARM_UP:
        return fit_documents(documents, expectations, sweeps, is_learning)
    limits, has_sticks = limits_of(config), is_learning and config.concentrations == "learned"
    return fit_slots(documents, expectations, limits, is_learning, has_sticks=has_sticks)[:2]


def blend(config, state, statistics, batch):
    """Natural-gradient step, Eq. 22-27 with the mini-batch's D/S, from statistics of the whole batch."""
    state = _scale_start(config, state, batch.corpus_size)
    blended, info = blend_topics(config, state, statistics, batch)
    blended = blended._replace(
        tables=blend_tables(state.tables, statistics.tables, batch, info.learning_rate),
        documents_read=state.documents_read + len(batch.documents.starts) - 1,
    )
    if config.duplicates == "merge":
        blended = merge_duplicates(blended, batch.corpus_size)
    if is_time_to_learn(config, blended):
        doc = learn_from_sticks(state.concentrations.doc, statistics.doc_sticks, batch, info.learning_rate)
        blended = learn(config, blended, doc, batch.corpus_size, info.learning_rate)
    return blended, info


def infer(config, state, documents):
    """Topic shares (S, K) of documents, θ_k = Σ_t E[π_t] φ_tk; never learns.

    After a warm-up step the shares are the normalised Dirichlet parameters of as many sweeps as start a document later.
    """
    expectations = _expect_words(config, state, documents.distinct_words(), state.phase)
    return _fit(config, expectations, documents, START_SWEEPS, is_learning=False)[1]


def word_topics(config: HDPConfig, state: HDPState, words: np.ndarray) -> np.ndarray:
    """E[topic] of some words (U,), as (U, K)."""
    return topic_weights(state.topic_counts, words, state.concentrations.word, "mean")


def summarize(config, state):
    """E[topics], E[β] and expected tokens, under ids that no step changes."""
    topics = expected_topics(state.topic_counts, state.concentrations.word)
    weights = expected_weights(corpus_sticks(state.tables, state.concentrations.corpus))
    return TopicSummary(np.arange(len(weights)), topics, weights, state.expected_tokens)


ALGORITHM = Algorithm(
    name="hdp",
    title="Online HDP",
    config=HDPConfig,
    reads=Reads.BATCHES,
    infers_by=InfersBy.SLOTS,
    init=init,
    infer=infer,
    summarize=summarize,
    expect=expect,
    local=local,
    blend=blend,
    word_topics=word_topics,
)
SVI = replace(ALGORITHM, name="svi-hdp", title="Online HDP, as in SVI 2013", config=SVIHDPConfig)
