"""Online variational Bayes for latent Dirichlet allocation (Hoffman, Blei & Bach 2010, Alg. 2).

The defaults are those of the paper: `start="hoffman"` begins with λ near one everywhere, and
`topic_expectation="geometric"` weights words by exp E[log topic]. `start="warm"` and
`topic_expectation="mean"` give LDA the defaults of the online HDP, so that only the models differ.
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from stickbreaker.engine import declarations as declared
from stickbreaker.engine.algorithm import Algorithm, InfersBy, Phase, Reads, StepInfo, TopicSummary
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.declarations import Checked, choice, setting
from stickbreaker.engine.inference.concentrations import (
    first_concentrations,
    is_time_to_learn,
    learn,
    learn_from_tables,
)
from stickbreaker.engine.inference.dirichlet_step import (
    DocumentExpectations,
    expect_documents,
    infer_shares,
)
from stickbreaker.engine.inference.expectations import expected_topics, summarize_by_tokens
from stickbreaker.engine.inference.global_step import (
    Statistics,
    blend_topics,
    next_rate,
    preview_topics,
)
from stickbreaker.engine.inference.online import local, word_topics
from stickbreaker.engine.inference.states import Concentrations, DocPosterior
from stickbreaker.engine.inference.topic_counts import DecayedCounts
from stickbreaker.engine.inference.transfer import OF_STATISTICS
from stickbreaker.engine.inference.warm_up import cool, first_phase, scale_topics, startup_counts
from stickbreaker.engine.kernels.special import NOT_RAISED


@dataclass(frozen=True)
class LDAConfig(Checked):
    """Settings of online LDA: K and α = 1/K of the paper; η, κ, τ₀, S of the online HDP."""

    max_topics: int = setting(100, **declared.NUM_TOPICS)
    doc_concentration: float = setting(1.0, **declared.LDA_CONCENTRATION)
    word_concentration: float = setting(0.01, **declared.WORD_CONCENTRATION)
    forgetting_rate: float = setting(0.6, **declared.FORGETTING_RATE)
    delay: float | None = setting(None, **declared.DELAY)
    batch_size: int | None = setting(None, **declared.BATCH_SIZE)
    start: str = setting("hoffman", **declared.HOFFMAN_START)
    topic_expectation: str = choice(
        "geometric: exp E[log topic], as in the paper; mean: E[topic]", "geometric", "mean"
    )
    concentrations: str = choice(
        "learned: learn η and one α for all topics; asymmetric: learn η and an α for each topic",
        *("fixed", "learned", "asymmetric"),
    )
    precision: str = setting("float32", **declared.PRECISION)


class LDAState(NamedTuple):
    """What the next step needs: q of the topics.

        q(β_k) = Dirichlet(λ_k),  λ_kw = η + Σ_d n_dw φ_dwk        (Hoffman 2010 Eq. 2, 5)

    topic_counts: λ - η, word by word (V, K); expected_tokens: (K,), without start-up mass and η.
    rate_spent: Σρ so far; startup_share: ∏(1 - ρ) so far; phase, temperature: those of the last
    step.
    concentrations: α by topic and η; the values of the settings until they are learned.
    """

    topic_counts: DecayedCounts
    expected_tokens: np.ndarray
    step: int
    rate_spent: float
    startup_share: float
    phase: Phase
    temperature: float
    concentrations: Concentrations


def init(config: LDAConfig, vocab_size: int, rng: np.random.Generator) -> LDAState:
    """State before the first batch, which gives a warm start the size of the corpus."""
    phase, temperature = first_phase(config.start, Phase.LEARNING)
    return LDAState(
        topic_counts=startup_counts(config, vocab_size, rng),
        expected_tokens=np.zeros(config.max_topics),
        step=0,
        rate_spent=0.0,
        startup_share=1.0,
        phase=phase,
        temperature=temperature,
        concentrations=first_concentrations(
            doc=config.doc_concentration,
            word=config.word_concentration,
            num_parts=config.max_topics,
        ),
    )


def expect(config: LDAConfig, state: LDAState, batch: Batch) -> DocumentExpectations:
    """Expectations of the next step, for the words of this batch only."""
    state = scale_topics(config, state, batch.corpus_size)
    return cool(config, state, batch, partial(_expect_words, config, state, phase=Phase.LEARNING))


def _expect_words(
    config: LDAConfig, state: LDAState, words: np.ndarray, phase: Phase, power: float = NOT_RAISED
) -> DocumentExpectations:
    return expect_documents(
        state, words, phase, lda_priors(config, state), config.topic_expectation, power
    )


def blend(
    config: LDAConfig, state: LDAState, statistics: Statistics, batch: Batch
) -> tuple[LDAState, StepInfo]:
    """The M step of Alg. 2 with the mini-batch's D/S (Eq. 8)."""
    state = scale_topics(config, state, batch.corpus_size)
    blended, info = blend_topics(next_rate(config, state), state, statistics, batch)
    if is_time_to_learn(config, blended):
        doc = _learn_alpha(
            config, state.concentrations.doc, statistics.tables, batch, info.learning_rate
        )
        blended = learn(config, blended, doc, batch.corpus_size, info.learning_rate)
    return blended, info


def _learn_alpha(
    config: LDAConfig, posterior: DocPosterior, tables: np.ndarray, batch: Batch, rate: float
) -> DocPosterior:
    """A step of α towards the highest bound (Eq. 9): one for all topics, or one for each."""
    if config.concentrations == "learned":
        tables = np.full(len(tables), tables.sum() / len(tables))
    return learn_from_tables(posterior, tables, batch, rate)


def infer(config: LDAConfig, state: LDAState, documents: Documents) -> np.ndarray:
    """Topic shares E[θ] (S, K) of documents by the E step of Alg. 2; nothing is learned."""
    return infer_shares(
        documents, _expect_words(config, state, documents.distinct_words(), state.phase)
    )


def summarize(config: LDAConfig, state: LDAState) -> TopicSummary:
    """E[topics], and each topic's expected tokens and its share of them, by permanent id."""
    return summarize_by_tokens(
        expected_topics(state.topic_counts, state.concentrations.word), state.expected_tokens
    )


def lda_priors(config: LDAConfig, state: LDAState) -> tuple[np.ndarray, float]:
    """α (K,) and η, which may be learned."""
    return state.concentrations.doc.mean, state.concentrations.word


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
    transfer=OF_STATISTICS,
    word_topics=word_topics,
    preview=preview_topics,
    lda_priors=lda_priors,
)
