"""Collapsed Gibbs sampling of LDA: Griffiths & Steyvers (2004), at the settings of Teh, Kurihara & Welling (2007).

It is the sweep of the HDP's sampler over topics that neither come nor go and weigh alike. Teh 2007 prints α = 0.1 and
π = 1/K, a total of 0.1, and β τ_w = 100/V a word; α can also be drawn anew at each sweep, given the tables it opened.
After the burn-in E[topic] is averaged over samples, one number for each word and topic.
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


@dataclass(frozen=True)
class GibbsLDAConfig:
    """Settings of the sampler. Raises ValueError where a value is outside its bounds."""

    max_topics: int = setting(100, "K", (1, 2000), "topics of the model")
    concentrations: str = setting(
        "fixed", "", None, "α: fixed, or drawn anew at each sweep", choices=("fixed", "resampled")
    )
    doc_concentration: float = setting(0.1, "Kα", (1e-6, 1e6), "larger: a document spreads over more topics")
    word_concentration: float = setting(0.01, **declared.WORD_CONCENTRATION)
    doc_shape: float = setting(4.0, "a_α", (0.5, 1e3), "shape of the Gamma prior of Kα")
    doc_rate: float = setting(4.0, "b_α", (1e-3, 1e3), "rate of the Gamma prior of Kα")
    burn_in: int = setting(100, "", (0, INFINITY), "sweeps before the first sample")
    sample_every: int = setting(5, "", (1, INFINITY), "sweeps from sample to sample")

    def __post_init__(self):
        check_settings(self)


class GibbsLDAState(NamedTuple):
    """What the next sweep needs. expected_tokens: (K,) of each topic; doc_concentration: Kα as last drawn."""

    assignments: Assignments
    averages: TopicAverages
    expected_tokens: np.ndarray
    doc_concentration: float
    step: int


def init(config, vocab_size, rng):
    """State before the first sweep; nothing is drawn."""
    size = config.max_topics
    nothing = sampled.no_assignments(vocab_size, size), sampled.no_averages(size)
    return GibbsLDAState(*nothing, np.zeros(size), config.doc_concentration, 0)


def step(config, state, batch, rng):
    """One sweep over the whole corpus, then α; a document not met before starts at random topics."""
    alpha, eta, ids = state.doc_concentration, config.word_concentration, np.arange(config.max_topics)
    pool = TopicPool(ids, ids, _weights(config), 0.0, len(ids), False)
    is_drawn = config.concentrations == "resampled"
    swept = sampled.sweep(state.assignments, batch, pool, (alpha, 1.0, eta), rng, with_tables=is_drawn)
    if is_drawn:
        prior = GammaPrior(config.doc_shape, config.doc_rate)
        alpha = draw_concentration(alpha, swept.tables.sum(), swept.assignments.doc_sizes, prior, rng)
    step, averages = state.step + 1, state.averages
    if sampled.is_sample(config, step):
        averages = sampled.average(averages, swept.assignments, eta)
    tokens = swept.pool.tokens.astype(float)
    state = GibbsLDAState(swept.assignments, averages, tokens, alpha, step)
    return state, StepInfo(step, 1.0, _phase(config, step), 0.0)


def _weights(config):
    return np.full(config.max_topics, 1.0 / config.max_topics)


def _phase(config, step):
    return Phase.SAMPLING if step > config.burn_in else Phase.BURN_IN


def infer(config, state, documents):
    """Topic shares E[θ] (S, K) of documents given E[topics], by Dirichlet sweeps; never learns."""
    words = documents.distinct_words()
    topics = sampled.read_topics(state.assignments, state.averages, config.word_concentration, words)
    prior = document_prior(state.doc_concentration, _weights(config), topics.dtype)
    expectations = Expectations(words, topics, prior, state.step, _phase(config, state.step))
    return fit_documents(documents, expectations, UNTIL_SETTLED, is_learning=False)[1]


def predict_words(config, state, rows, words):
    """Probability (n,) of words in documents at rows of the state's doc_ids, by this sample (Teh 2007 Eq. 17)."""
    prior = state.doc_concentration * _weights(config)
    return sampled.predict_words(state.assignments, prior, 0.0, config.word_concentration, rows, words)


def summarize(config, state):
    """E[topics] averaged over samples where there are any; weights are shares of the tokens, LDA having no others."""
    topics = sampled.read_topics(state.assignments, state.averages, config.word_concentration)
    tokens = state.expected_tokens
    weights = tokens / tokens.sum() if tokens.any() else _weights(config)
    return TopicSummary(np.arange(config.max_topics), np.ascontiguousarray(topics.T), weights, tokens)


def memory(config, documents):
    """Bytes that the state and a sweep need."""
    vocab_size = int(documents.words.max(initial=-1)) + 1
    return sampled.estimate_memory(documents, vocab_size, config.max_topics)


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
