"""Gibbs sampling of the HDP by direct assignment: topics are born and die, and their number is part of what is drawn.

A sweep draws the topic of every token given all others, the topics' words and the documents' shares integrated out;
then the tables that each document's topics occupy, α and γ given these, and the corpus weights (π_1, ..., π_K, π_u) ~
Dirichlet(tables, γ), π_u being that of all topics not yet born. Every conditional is exact (Teh, Jordan, Beal & Blei
2006, sec. 5.3; as used by Teh, Kurihara & Welling 2007, whose letters stand here: β τ_w is `word_concentration`).

After the burn-in each `sample_every`-th sweep is a sample, and E[topic] is averaged over a topic's samples, which costs
one number for each word and topic and no more. `predict_words` gives Eq. 17's term of the present sample; the mean over
samples is the scorer's, one number for each word it scores.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stickbreaker.engine import declarations as declared
from stickbreaker.engine.algorithm import Algorithm, InfersBy, Phase, Reads, StepInfo, TopicSummary
from stickbreaker.engine.declarations import check_settings, setting
from stickbreaker.engine.inference import gibbs as sampled
from stickbreaker.engine.inference.concentrations import GammaPrior, draw_concentration
from stickbreaker.engine.inference.dirichlet import UNTIL_SETTLED, Expectations, fit_documents
from stickbreaker.engine.inference.expectations import document_prior
from stickbreaker.engine.inference.gibbs import Assignments, TopicAverages
from stickbreaker.engine.kernels.gibbs import TopicPool

INFINITY = float("inf")
# Sweeps of the softened start, and α and η while it lasts (engine/DECISIONS.md).
SOFT_SWEEPS, SOFT_DOC_CONCENTRATION, SOFT_WORD_CONCENTRATION = 60, 20.0, 0.5
SHAPES, RATES = (0.5, 1e3), (1e-3, 1e3)


@dataclass(frozen=True)
class GibbsHDPConfig:
    """Settings of the sampler; priors are the middle of the ranges in Teh 2007, footnote 2.

    Raises ValueError where a value is outside its bounds.
    """

    initial_topics: int = setting(100, "K₀", (1, 2000), "topics that tokens are spread over at the start")
    start: str = setting(
        "random",
        "",
        None,
        "random: as in the paper; soft: the first 60 sweeps with α and η raised, which keeps topics apart from copies",
        choices=("random", "soft"),
    )
    concentrations: str = setting(
        "resampled", "", None, "α and γ: drawn anew at each sweep, or fixed", choices=("resampled", "fixed")
    )
    doc_concentration: float = setting(1.0, **declared.DOC_CONCENTRATION)
    corpus_concentration: float = setting(1.0, **declared.CORPUS_CONCENTRATION)
    word_concentration: float = setting(0.01, **declared.WORD_CONCENTRATION)
    doc_shape: float = setting(4.0, "a_α", SHAPES, "shape of α's Gamma prior")
    doc_rate: float = setting(4.0, "b_α", RATES, "rate of α's Gamma prior")
    corpus_shape: float = setting(7.5, "a_γ", SHAPES, "shape of γ's Gamma prior")
    corpus_rate: float = setting(7.5, "b_γ", RATES, "rate of γ's Gamma prior")
    burn_in: int = setting(100, "", (0, INFINITY), "sweeps before the first sample")
    sample_every: int = setting(5, "", (1, INFINITY), "sweeps from sample to sample")

    def __post_init__(self):
        check_settings(self)


class GibbsHDPState(NamedTuple):
    """What the next sweep needs; K changes from step to step.

    topic_ids: (K,) ascending, never used twice; weights: (K,) π, `unused_weight` π_u; tables: (K,).
    expected_tokens: (K,) the tokens of each topic. doc_concentration, corpus_concentration: α and γ as last drawn.
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


def init(config, vocab_size, rng):
    """State before the first sweep; nothing is drawn, and each topic weighs what all others together do."""
    size = config.initial_topics
    even = 1.0 / (size + 1)
    return GibbsHDPState(
        sampled.no_assignments(vocab_size, size),
        sampled.no_averages(size),
        np.arange(size),
        np.full(size, even),
        np.zeros(size),
        np.zeros(size),
        even,
        config.doc_concentration,
        config.corpus_concentration,
        size,
        0,
    )


def step(config, state, batch, rng):
    """One sweep over the whole corpus, then tables, α, γ and π; a document not met before starts at random topics."""
    alpha, gamma, eta = _sweep_concentrations(config, state)
    pool = TopicPool(state.topic_ids, state.expected_tokens, state.weights, state.unused_weight, state.next_id, True)
    swept = sampled.sweep(state.assignments, batch, pool, (alpha, gamma, eta), rng)
    if config.concentrations == "resampled":
        alpha, gamma = _draw_concentrations(config, (alpha, gamma), swept, rng)
    else:
        alpha = config.doc_concentration
    weights = rng.dirichlet(np.append(np.maximum(swept.tables, 1), gamma))
    averages, step = sampled.follow_topics(state.averages, state.topic_ids, swept.pool.topic_ids), state.step + 1
    if sampled.is_sample(config, step) and not _is_soft(config, step):
        averages = sampled.average(averages, swept.assignments, config.word_concentration)
    state = GibbsHDPState(
        swept.assignments,
        averages,
        swept.pool.topic_ids,
        weights[:-1],
        swept.tables.astype(float),
        swept.pool.tokens.astype(float),
        float(weights[-1]),
        alpha,
        gamma,
        swept.pool.next_id,
        step,
    )
    return state, StepInfo(step, 1.0, _phase(config, step), 0.0)


def _is_soft(config, step):
    return config.start == "soft" and step <= SOFT_SWEEPS


def _phase(config, step):
    if _is_soft(config, step):
        return Phase.SOFTENED
    return Phase.SAMPLING if step > config.burn_in else Phase.BURN_IN


def _sweep_concentrations(config, state):
    """α, γ and η of the next sweep."""
    alpha, eta = state.doc_concentration, config.word_concentration
    if _is_soft(config, state.step + 1):
        alpha, eta = max(alpha, SOFT_DOC_CONCENTRATION), max(eta, SOFT_WORD_CONCENTRATION)
    return alpha, state.corpus_concentration, eta


def _draw_concentrations(config, before, swept, rng):
    """α given all tables, and γ given the topics they are of, from their values before (α, γ)."""
    num_tables, doc_sizes = swept.tables.sum(), swept.assignments.doc_sizes
    num_topics = np.count_nonzero(swept.tables)
    doc_prior = GammaPrior(config.doc_shape, config.doc_rate)
    corpus_prior = GammaPrior(config.corpus_shape, config.corpus_rate)
    return (
        draw_concentration(before[0], num_tables, doc_sizes, doc_prior, rng),
        draw_concentration(before[1], num_topics, np.array([num_tables]), corpus_prior, rng),
    )


def infer(config, state, documents):
    """Topic shares E[θ] (S, K) of documents given E[topics] and α π, by Dirichlet sweeps as of LDA; never learns."""
    words = documents.distinct_words()
    topics = sampled.read_topics(state.assignments, state.averages, config.word_concentration, words)
    prior = document_prior(state.doc_concentration, state.weights, topics.dtype)
    expectations = Expectations(words, topics, prior, state.step, _phase(config, state.step))
    return fit_documents(documents, expectations, UNTIL_SETTLED, is_learning=False)[1]


def predict_words(config, state, rows, words):
    """Probability (n,) of words in documents at rows of the state's doc_ids, by this sample (Teh 2007 Eq. 17)."""
    alpha, unused = state.doc_concentration, state.doc_concentration * state.unused_weight
    eta = config.word_concentration
    return sampled.predict_words(state.assignments, alpha * state.weights, unused, eta, rows, words)


def summarize(config, state):
    """E[topics] averaged over samples where there are any, π among the topics born, and tokens; ids are for ever."""
    topics = sampled.read_topics(state.assignments, state.averages, config.word_concentration)
    weights = state.weights / state.weights.sum()
    return TopicSummary(state.topic_ids, np.ascontiguousarray(topics.T), weights, state.expected_tokens)


def memory(config, documents):
    """Bytes, if the topics become no more than twice those of the start (or 200)."""
    vocab_size = int(documents.words.max(initial=-1)) + 1
    return sampled.estimate_memory(documents, vocab_size, max(2 * config.initial_topics, 200))


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
