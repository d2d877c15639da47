"""Collapsed Gibbs sampling of LDA: Griffiths & Steyvers (2004), at the settings of Teh, Kurihara &
Welling (2007).

It is the pass of the HDP's sampler over a fixed number of topics with equal weights. Teh 2007
prints α = 0.1 and π = 1/K, a total of 0.1, and β τ_w = 100/V per word; α can also be resampled in
each pass, given its tables. After the burn-in E[topic] is averaged over samples, one number for
each word and topic.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stickbreaker.engine import declarations as declared
from stickbreaker.engine.algorithm import Algorithm, InfersBy, Reads, StepInfo, TopicSummary
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.declarations import Checked, choice, setting
from stickbreaker.engine.inference import gibbs as sampled
from stickbreaker.engine.inference.concentrations import GammaPrior, draw_concentration
from stickbreaker.engine.inference.expectations import summarize_by_tokens
from stickbreaker.engine.inference.gibbs import Assignments, TopicAverages
from stickbreaker.engine.kernels.gibbs import TopicPool


@dataclass(frozen=True)
class GibbsLDAConfig(Checked):
    """Settings of the sampler."""

    max_topics: int = setting(100, **declared.NUM_TOPICS)
    concentrations: str = choice(
        "Whether α stays fixed or is resampled in each pass", "fixed", "resampled"
    )
    doc_concentration: float = setting(0.1, **declared.LDA_CONCENTRATION)
    word_concentration: float = setting(0.01, **declared.WORD_CONCENTRATION)
    doc_shape: float = setting(4.0, "a_α", (0.5, 1e3), "Shape of the gamma prior of Kα")
    doc_rate: float = setting(4.0, "b_α", (1e-3, 1e3), "Rate of the gamma prior of Kα")
    burn_in: int = setting(100, **declared.BURN_IN)
    sample_every: int = setting(5, **declared.SAMPLE_EVERY)


class GibbsLDAState(NamedTuple):
    """What the next pass needs. expected_tokens: (K,) of each topic.

    doc_concentration: the last draw of Kα.
    """

    assignments: Assignments
    averages: TopicAverages
    expected_tokens: np.ndarray
    doc_concentration: float
    step: int


def init(config: GibbsLDAConfig, vocab_size: int, rng: np.random.Generator) -> GibbsLDAState:
    """State before the first pass; nothing is drawn."""
    size = config.max_topics
    return GibbsLDAState(
        assignments=sampled.no_assignments(vocab_size, size),
        averages=sampled.no_averages(size),
        expected_tokens=np.zeros(size),
        doc_concentration=config.doc_concentration,
        step=0,
    )


def step(
    config: GibbsLDAConfig, state: GibbsLDAState, batch: Batch, rng: np.random.Generator
) -> tuple[GibbsLDAState, StepInfo]:
    """One pass over the whole corpus, then α; a new document starts at random topics."""
    alpha = state.doc_concentration
    eta = config.word_concentration
    ids = np.arange(config.max_topics)
    pool = TopicPool(
        topic_ids=ids,
        tokens=ids,
        weights=_weights(config),
        unused_weight=0.0,
        next_id=len(ids),
        is_growing=False,
    )
    is_drawn = config.concentrations == "resampled"
    drawn = sampled.make_pass(
        state.assignments, batch, pool, (alpha, 1.0, eta), rng, with_tables=is_drawn
    )
    if is_drawn:
        prior = GammaPrior(shape=config.doc_shape, rate=config.doc_rate)
        alpha = draw_concentration(
            alpha, drawn.tables.sum(), drawn.assignments.doc_sizes, prior, rng
        )
    step = state.step + 1
    averages = state.averages
    if sampled.is_sample(config, step):
        averages = sampled.average(averages, drawn.assignments, eta)
    state = GibbsLDAState(
        assignments=drawn.assignments,
        averages=averages,
        expected_tokens=drawn.pool.tokens.astype(float),
        doc_concentration=alpha,
        step=step,
    )
    return state, sampled.describe_step(step, sampled.phase_of(config, step))


def _weights(config: GibbsLDAConfig) -> np.ndarray:
    return np.full(config.max_topics, 1.0 / config.max_topics)


def infer(config: GibbsLDAConfig, state: GibbsLDAState, documents: Documents) -> np.ndarray:
    """Topic shares E[θ] (S, K) of documents given E[topics]."""
    phase = sampled.phase_of(config, state.step)
    return sampled.infer_documents(config, state, documents, _weights(config), phase)


def predict_words(
    config: GibbsLDAConfig, state: GibbsLDAState, rows: np.ndarray, words: np.ndarray
) -> np.ndarray:
    """Probability (n,) of words in documents at rows of doc_ids, by this sample (Eq. 17)."""
    prior = state.doc_concentration * _weights(config)
    return sampled.predict_words(
        state.assignments, prior, 0.0, config.word_concentration, rows, words
    )


def summarize(config: GibbsLDAConfig, state: GibbsLDAState) -> TopicSummary:
    """E[topics], averaged over samples if there are any; the weights are shares of the tokens."""
    topics = sampled.read_topics(state.assignments, state.averages, config.word_concentration)
    return summarize_by_tokens(np.ascontiguousarray(topics.T), state.expected_tokens)


def memory(config: GibbsLDAConfig, documents: Documents) -> int:
    """Bytes of the state and of a pass."""
    return sampled.count_bytes(documents, config.max_topics)


ALGORITHM = Algorithm(
    name="gibbs-lda",
    title="Gibbs sampler of LDA",
    config=GibbsLDAConfig,
    reads=Reads.CORPUS,
    infers_by=InfersBy.DIRICHLET,
    has_corpus_weights=False,
    init=init,
    infer=infer,
    summarize=summarize,
    step=step,
    passes=200,
    memory=memory,
)
