"""Gibbs sampling of the HDP by direct assignment: topics are born and die, and the sampler draws
their number too.

A pass draws the topic of every token given all others, with the topics' words and the documents'
shares integrated out. It then draws the tables of each document's topics, α and γ given the tables,
and the corpus weights (π_1, ..., π_K, π_u) ~ Dirichlet(tables, γ), where π_u belongs to all topics
not yet born. Every conditional is exact (Teh, Jordan, Beal & Blei 2006, sec. 5.3; the letters are
those of Teh, Kurihara & Welling 2007: β τ_w is `word_concentration`).

After the burn-in each `sample_every`-th pass is a sample. E[topic] is averaged over a topic's
samples, which needs one number for each word and topic. `predict_words` gives Eq. 17's term of the
present sample; the scorer averages it over samples, with one number for each word that it scores.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stickbreaker.engine import declarations as declared
from stickbreaker.engine.algorithm import Algorithm, InfersBy, Phase, Reads, StepInfo, TopicSummary
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.declarations import Checked, choice, setting
from stickbreaker.engine.inference import gibbs as sampled
from stickbreaker.engine.inference.concentrations import GammaPrior, draw_concentration
from stickbreaker.engine.inference.gibbs import Assignments, GibbsPass, TopicAverages
from stickbreaker.engine.kernels.gibbs import TopicPool

# Number of passes of the soft start, and the least α and η during it.
SOFT_PASSES = 60
SOFT_DOC_CONCENTRATION = 20.0
SOFT_WORD_CONCENTRATION = 0.5
SHAPES = (0.5, 1e3)
RATES = (1e-3, 1e3)


@dataclass(frozen=True)
class GibbsHDPConfig(Checked):
    """Settings of the sampler; priors are the middle of the ranges in Teh 2007, footnote 2."""

    initial_topics: int = setting(
        100, "K₀", (1, 2000), "Number of topics over which tokens are spread at the start"
    )
    start: str = choice(
        "random: as in the paper; soft: raise α and η in the first 60 passes, which avoids"
        " duplicate topics",
        "random",
        "soft",
    )
    concentrations: str = choice(
        "Whether α and γ are resampled in each pass or stay fixed", "resampled", "fixed"
    )
    doc_concentration: float = setting(1.0, **declared.DOC_CONCENTRATION)
    corpus_concentration: float = setting(1.0, **declared.CORPUS_CONCENTRATION)
    word_concentration: float = setting(0.01, **declared.WORD_CONCENTRATION)
    doc_shape: float = setting(4.0, "a_α", SHAPES, "Shape of the gamma prior of α")
    doc_rate: float = setting(4.0, "b_α", RATES, "Rate of the gamma prior of α")
    corpus_shape: float = setting(7.5, "a_γ", SHAPES, "Shape of the gamma prior of γ")
    corpus_rate: float = setting(7.5, "b_γ", RATES, "Rate of the gamma prior of γ")
    burn_in: int = setting(100, **declared.BURN_IN)
    sample_every: int = setting(5, **declared.SAMPLE_EVERY)


class GibbsHDPState(NamedTuple):
    """What the next pass needs; K changes from step to step.

    topic_ids: (K,) ascending, never used twice; weights: (K,) π, `unused_weight` π_u; tables: (K,).
    expected_tokens: (K,) the tokens of each topic.
    doc_concentration, corpus_concentration: the last draws of α and γ.
    """

    assignments: Assignments
    averages: TopicAverages
    topic_ids: np.ndarray
    weights: np.ndarray
    tables: np.ndarray
    expected_tokens: np.ndarray
    unused_weight: float
    doc_concentration: float
    corpus_concentration: float
    next_id: int
    step: int


def init(config: GibbsHDPConfig, vocab_size: int, rng: np.random.Generator) -> GibbsHDPState:
    """State before the first pass; each topic and the rest have the same weight."""
    size = config.initial_topics
    even = 1.0 / (size + 1)
    return GibbsHDPState(
        assignments=sampled.no_assignments(vocab_size, size),
        averages=sampled.no_averages(size),
        topic_ids=np.arange(size),
        weights=np.full(size, even),
        tables=np.zeros(size),
        expected_tokens=np.zeros(size),
        unused_weight=even,
        doc_concentration=config.doc_concentration,
        corpus_concentration=config.corpus_concentration,
        next_id=size,
        step=0,
    )


def step(
    config: GibbsHDPConfig, state: GibbsHDPState, batch: Batch, rng: np.random.Generator
) -> tuple[GibbsHDPState, StepInfo]:
    """One pass over the corpus, then tables, α, γ and π; new documents get random topics."""
    alpha, gamma, eta = _pass_concentrations(config, state)
    pool = TopicPool(
        topic_ids=state.topic_ids,
        tokens=state.expected_tokens,
        weights=state.weights,
        unused_weight=state.unused_weight,
        next_id=state.next_id,
        is_growing=True,
    )
    drawn = sampled.make_pass(state.assignments, batch, pool, (alpha, gamma, eta), rng)
    if config.concentrations == "resampled":
        alpha, gamma = _draw_concentrations(config, (alpha, gamma), drawn, rng)
    else:
        alpha = config.doc_concentration
    weights = rng.dirichlet(np.append(np.maximum(drawn.tables, 1), gamma))
    step = state.step + 1
    averages = sampled.follow_topics(state.averages, state.topic_ids, drawn.pool.topic_ids)
    if sampled.is_sample(config, step) and not _is_soft(config, step):
        averages = sampled.average(averages, drawn.assignments, config.word_concentration)
    state = GibbsHDPState(
        assignments=drawn.assignments,
        averages=averages,
        topic_ids=drawn.pool.topic_ids,
        weights=weights[:-1],
        tables=drawn.tables.astype(float),
        expected_tokens=drawn.pool.tokens.astype(float),
        unused_weight=float(weights[-1]),
        doc_concentration=alpha,
        corpus_concentration=gamma,
        next_id=drawn.pool.next_id,
        step=step,
    )
    return state, sampled.describe_step(step, _phase(config, step))


def _is_soft(config: GibbsHDPConfig, step: int) -> bool:
    return config.start == "soft" and step <= SOFT_PASSES


def _phase(config: GibbsHDPConfig, step: int) -> Phase:
    return Phase.SOFTENED if _is_soft(config, step) else sampled.phase_of(config, step)


def _pass_concentrations(
    config: GibbsHDPConfig, state: GibbsHDPState
) -> tuple[float, float, float]:
    """α, γ and η of the next pass."""
    alpha = state.doc_concentration
    eta = config.word_concentration
    if _is_soft(config, state.step + 1):
        alpha = max(alpha, SOFT_DOC_CONCENTRATION)
        eta = max(eta, SOFT_WORD_CONCENTRATION)
    return alpha, state.corpus_concentration, eta


def _draw_concentrations(
    config: GibbsHDPConfig, before: tuple[float, float], drawn: GibbsPass, rng: np.random.Generator
) -> tuple[float, float]:
    """Draw α given all tables, and γ given the number of topics that have tables."""
    num_tables = drawn.tables.sum()
    doc_sizes = drawn.assignments.doc_sizes
    num_topics = int(np.count_nonzero(drawn.tables))
    doc_prior = GammaPrior(shape=config.doc_shape, rate=config.doc_rate)
    corpus_prior = GammaPrior(shape=config.corpus_shape, rate=config.corpus_rate)
    alpha = draw_concentration(before[0], num_tables, doc_sizes, doc_prior, rng)
    gamma = draw_concentration(before[1], num_topics, np.array([num_tables]), corpus_prior, rng)
    return alpha, gamma


def infer(config: GibbsHDPConfig, state: GibbsHDPState, documents: Documents) -> np.ndarray:
    """Topic shares E[θ] (S, K) of documents given E[topics] and α π, as in LDA."""
    return sampled.infer_documents(
        config, state, documents, state.weights, _phase(config, state.step)
    )


def predict_words(
    config: GibbsHDPConfig, state: GibbsHDPState, rows: np.ndarray, words: np.ndarray
) -> np.ndarray:
    """Probability (n,) of words in documents at rows of doc_ids, by this sample (Eq. 17)."""
    alpha = state.doc_concentration
    unused = state.doc_concentration * state.unused_weight
    eta = config.word_concentration
    return sampled.predict_words(state.assignments, alpha * state.weights, unused, eta, rows, words)


def summarize(config: GibbsHDPConfig, state: GibbsHDPState) -> TopicSummary:
    """E[topics], averaged over samples if any, π, and tokens, by permanent id."""
    topics = sampled.read_topics(state.assignments, state.averages, config.word_concentration)
    return TopicSummary(
        topic_ids=state.topic_ids,
        topics=np.ascontiguousarray(topics.T),
        weights=state.weights / state.weights.sum(),
        expected_tokens=state.expected_tokens,
    )


def memory(config: GibbsHDPConfig, documents: Documents) -> int:
    """Bytes if the number of topics at most doubles from that of the start (or from 100)."""
    return sampled.count_bytes(documents, max(2 * config.initial_topics, 200))


ALGORITHM = Algorithm(
    name="gibbs-hdp",
    title="Gibbs sampler of the HDP",
    config=GibbsHDPConfig,
    reads=Reads.CORPUS,
    infers_by=InfersBy.DIRICHLET,
    init=init,
    infer=infer,
    summarize=summarize,
    step=step,
    passes=200,
    memory=memory,
)
