"""Batch variational Bayes for latent Dirichlet allocation (Hoffman, Blei & Bach 2010, Alg. 1.

V-LDA of Teh 2007).

Each step reads the whole corpus: the E step fits every document from equal shares, the M step sets
λ, until the relative gain of the bound (Eq. 4) is small. `start` and `topic_expectation` are those
of online LDA.
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from stickbreaker.engine import declarations as declared
from stickbreaker.engine.algorithm import Algorithm, InfersBy, Phase, Reads, StepInfo, TopicSummary
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.declarations import Checked, setting
from stickbreaker.engine.inference.batch import (
    NO_BOUND,
    Totals,
    cool_pass,
    end_pass,
    shares_bound,
    sum_by_phase,
)
from stickbreaker.engine.inference.dirichlet_step import (
    DocumentExpectations,
    expect_documents,
    fit_to_convergence,
    infer_shares,
)
from stickbreaker.engine.inference.expectations import expected_topics, summarize_by_tokens
from stickbreaker.engine.inference.global_step import Statistics
from stickbreaker.engine.inference.topic_counts import DecayedCounts
from stickbreaker.engine.inference.transfer import OF_TOTALS
from stickbreaker.engine.inference.warm_up import first_phase, scale_topics, startup_counts
from stickbreaker.engine.kernels.special import NOT_RAISED


@dataclass(frozen=True)
class BatchLDAConfig(Checked):
    """Settings of batch LDA: those of Alg. 1, K = 100, α = 1/K and η = .01. Teh's V-LDA has α =
    .1/K and η = 100/V.
    """

    max_topics: int = setting(100, **declared.NUM_TOPICS)
    doc_concentration: float = setting(1.0, **declared.LDA_CONCENTRATION)
    word_concentration: float = setting(0.01, **declared.WORD_CONCENTRATION)
    tolerance: float = setting(1e-5, **declared.TOLERANCE)
    start: str = setting("hoffman", **declared.HOFFMAN_START)
    topic_expectation: str = setting("geometric", **declared.TOPIC_EXPECTATION)
    precision: str = setting("float32", **declared.PRECISION)


class BatchLDAState(NamedTuple):
    """What the next pass needs: q of the topics.

        q(β_k) = Dirichlet(λ_k),  λ_kw = η + Σ_d n_dw φ_dwk        (Hoffman 2010 Eq. 2, 5)

    topic_counts: λ - η, word by word (V, K); expected_tokens: (K,).
    bound: Eq. 4 times D, in nats, after the last pass; phase, temperature: those of the last pass.
    """

    topic_counts: DecayedCounts
    expected_tokens: np.ndarray
    step: int
    bound: float
    phase: Phase
    temperature: float


def init(config: BatchLDAConfig, vocab_size: int, rng: np.random.Generator) -> BatchLDAState:
    """State before the first pass, which gives a warm start the size of the corpus."""
    phase, temperature = first_phase(config.start, Phase.LEARNING)
    return BatchLDAState(
        topic_counts=startup_counts(config, vocab_size, rng),
        expected_tokens=np.zeros(config.max_topics),
        step=0,
        bound=NO_BOUND,
        phase=phase,
        temperature=temperature,
    )


def expect(config: BatchLDAConfig, state: BatchLDAState, batch: Batch) -> DocumentExpectations:
    """Expectations of the next pass."""
    state = scale_topics(config, state, len(batch.doc_ids))
    return cool_pass(state, batch, partial(_expect_words, config, state, phase=Phase.LEARNING))


def _expect_words(
    config: BatchLDAConfig,
    state: BatchLDAState,
    words: np.ndarray,
    phase: Phase,
    power: float = NOT_RAISED,
) -> DocumentExpectations:
    return expect_documents(
        state, words, phase, lda_priors(config, state), config.topic_expectation, power
    )


def local(
    config: BatchLDAConfig,
    expectations: DocumentExpectations,
    documents: Documents,
    rng: np.random.Generator | None = None,
) -> Totals:
    """Totals of some of the corpus' documents, the E step of Alg. 1; shards add up."""

    def fit(part: Documents) -> tuple[Statistics, float]:
        statistics, shares = fit_to_convergence(part, expectations)
        return statistics, shares_bound(statistics, shares, part, expectations.prior)

    return sum_by_phase(documents, expectations, fit)


def blend(
    config: BatchLDAConfig, state: BatchLDAState, totals: Totals, batch: Batch
) -> tuple[BatchLDAState, StepInfo]:
    """The M step of Alg. 1 from totals of the whole corpus, unless it lowers the bound."""
    return end_pass(config, state, state, totals, batch)


def infer(config: BatchLDAConfig, state: BatchLDAState, documents: Documents) -> np.ndarray:
    """Topic shares E[θ] (S, K) of documents by the E step of Alg. 1; nothing is learned."""
    return infer_shares(
        documents, _expect_words(config, state, documents.distinct_words(), state.phase)
    )


def summarize(config: BatchLDAConfig, state: BatchLDAState) -> TopicSummary:
    """E[topics], and each topic's expected tokens and its share of them, by permanent id."""
    return summarize_by_tokens(
        expected_topics(state.topic_counts, config.word_concentration), state.expected_tokens
    )


def lda_priors(config: BatchLDAConfig, state: BatchLDAState) -> tuple[np.ndarray, float]:
    """α (K,) and η of the settings."""
    return config.doc_concentration * np.full(
        config.max_topics, 1.0 / config.max_topics
    ), config.word_concentration


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
    transfer=OF_TOTALS,
    passes=100,
    lda_priors=lda_priors,
)
