"""Collapsed variational Bayes for the hierarchical Dirichlet process, CV-HDP (Teh, Kurihara & Welling 2007).

A step is one sweep of Eq. 15 over the corpus, then Eq. 8 for the concentrations, the corpus weights and, where
`word_prior` is "learned", the base distribution τ. The truncation is nested: q(z) is zero beyond K topics, and the K-th
stick leaves room for what lies there. Deviations, each stated where it is: tokens of a word in a document share one q
(`engine.inference.collapsed`); topics stand in the order of their tables E[s_.k], not of their tokens, because of
all orders that one has the best bound (`engine.inference.posteriors`). The order is an index; topics keep their ids.

The bound of a step is Eq. 18 with the divergence of q(γ), which is not printed there, E[γ] and E[log γ] where γ is
printed, and the posteriors that the sweep was made with. It rests on second-order approximations, so it is no bound to
the last digit and may fall.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import psi

from stickbreaker.engine import declarations as declared
from stickbreaker.engine.algorithm import Algorithm, InfersBy, Phase, Reads, StepInfo, TopicSummary
from stickbreaker.engine.declarations import check_settings, setting
from stickbreaker.engine.inference import collapsed
from stickbreaker.engine.inference.collapsed import Priors, SoftAssignments
from stickbreaker.engine.inference.posteriors import (
    Gamma,
    StickPosterior,
    dirichlet_divergence,
    gamma_divergence,
    stick_posterior,
)

INFINITY = float("inf")
# So sharp that mean and geometric mean agree: what stands at the start and, where it is not learned, for good.
SHARP = 1e9
SHAPES = (1e-3, 1e6)
# A soft start takes β as if it had so much for each word, in so many sweeps (engine/DECISIONS.md).
SOFT_WORDS, SOFT_SWEEPS = 1.0, 20


@dataclass(frozen=True)
class CVHDPConfig:
    """Settings of CV-HDP: gamma priors within the ranges of sec. 4; β = 100 and τ = 1/V fixed, as it has them there.

    Raises ValueError where a value is outside its bounds.
    """

    max_topics: int = setting(150, **declared.MAX_TOPICS)
    doc_shape: float = setting(4.0, "a_α", SHAPES, "shape of the prior of α: how much a document spreads over topics")
    doc_rate: float = setting(4.0, "b_α", SHAPES, "rate of the prior of α")
    corpus_shape: float = setting(7.5, "a_γ", SHAPES, "shape of the prior of γ: how many topics the corpus has")
    corpus_rate: float = setting(7.5, "b_γ", SHAPES, "rate of the prior of γ")
    word_total: float = setting(100.0, "β", (1e-6, 1e9), "β at the start, and for good where it is fixed")
    word_prior: str = setting("fixed", "", None, "β and τ: fixed, or learned", choices=("fixed", "learned"))
    word_shape: float = setting(4.0, "a_β", SHAPES, "shape of the prior of β, where it is learned")
    word_rate: float = setting(4.0, "b_β", SHAPES, "rate of the prior of β, where it is learned")
    base_total: float = setting(40.0, "V a_τ", (1e-3, 1e9), "of the Dirichlet prior of τ, all words together")
    first_sweeps: str = setting(
        "printed", "", None, "printed: as all others; soft: under a large β", choices=("printed", "soft")
    )
    tolerance: float = setting(1e-5, "", (0.0, 1.0), "ends the run once a sweep changes the bound by less of it")
    precision: str = setting("float32", **declared.PRECISION)

    def __post_init__(self):
        check_settings(self)


class CVHDPState(NamedTuple):
    """What the next sweep needs.

    alpha, gamma, beta: posteriors of `doc_concentration`, `corpus_concentration` and the words' total concentration.
    sticks: of the corpus weights, π. base: Dirichlet parameters of τ (V,). expected_tokens: (K,).
    """

    assignments: SoftAssignments
    expected_tokens: np.ndarray
    alpha: Gamma
    gamma: Gamma
    sticks: StickPosterior
    beta: Gamma
    base: np.ndarray
    step: int
    bound: float


def init(config, vocab_size, rng):
    """State before the documents are known: α and γ at their priors, β and τ as set (sec. 4); a step draws q(z)."""
    gamma = Gamma(config.corpus_shape, config.corpus_rate)
    return CVHDPState(
        collapsed.no_assignments(config, vocab_size),
        np.zeros(config.max_topics),
        Gamma(config.doc_shape, config.doc_rate),
        gamma,
        stick_posterior(np.zeros(config.max_topics), gamma.mean()),
        Gamma(SHARP, SHARP / config.word_total),
        np.full(vocab_size, SHARP),
        0,
        -INFINITY,
    )


def step(config, state, batch, rng):
    """A sweep over the corpus, the bound, and the posteriors. Raises ValueError where the documents are others."""
    is_soft = state.step < num_soft(config)
    priors = soften(_priors(state)) if is_soft else _priors(state)
    assignments, measures = collapsed.sweep(state.assignments, priors, batch, rng)
    num_tokens = max(int(batch.documents.counts.sum(dtype=np.int64)), 1)
    # The first sweep, and the first after a soft start, was made with no posterior: G[π_k] = 1/K is of no sticks.
    is_bounded = state.step > num_soft(config)
    bound = (measures.log_joint - divergence(config, state)) / num_tokens if is_bounded else None
    has_converged = bound is not None and collapsed.has_settled(bound, state.bound, config.tolerance)
    phase = Phase.SOFT if is_soft else Phase.SWEEPS
    info = StepInfo(state.step + 1, 1.0, phase, 0.0, bound=bound, has_converged=has_converged)
    learned = update_posteriors(config, state, measures, batch.documents.sizes())
    if is_soft:
        learned = learned._replace(beta=state.beta, base=state.base)
    tokens = assignments.topic_tokens()
    bound = -INFINITY if bound is None else bound
    return learned._replace(assignments=assignments, expected_tokens=tokens, step=info.step, bound=bound), info


def start_from(config, vocab_size, batch, tokens):
    """State that goes on from tokens (nnz, K) of the batch's entries in each of K topics; nothing is softened."""
    state = init(config, vocab_size, None)
    assignments, measures = collapsed.take_over(state.assignments, batch, tokens, _priors(state))
    state = update_posteriors(config, state, measures, batch.documents.sizes())
    step = num_soft(config) + 1
    return state._replace(assignments=assignments, expected_tokens=assignments.topic_tokens(), step=step)


def num_soft(config):
    """Sweeps of a soft start."""
    return SOFT_SWEEPS if config.first_sweeps == "soft" else 0


def soften(priors):
    """Priors with words that hardly tell topics apart, which leaves fewer topics to be told apart by them."""
    num_words = len(priors.words)
    return priors._replace(words=np.full(num_words, SOFT_WORDS), word_total=SOFT_WORDS * num_words)


def _priors(state):
    """G[απ_k], E[α], G[βτ_w] and E[β]; before the first sweep G[π_k] = 1/K."""
    num_topics = len(state.expected_tokens)
    weights = np.exp(state.sticks.expected_logs()) if state.step else np.full(num_topics, 1.0 / num_topics)
    base = np.exp(psi(state.base) - psi(state.base.sum()))
    doc, words = collapsed.hold(state.alpha.geometric() * weights), collapsed.hold(state.beta.geometric() * base)
    return Priors(doc, state.alpha.mean(), words, state.beta.mean())


def update_posteriors(config, state, measures, sizes):
    """The state with Eq. 8 for α, π, γ and, where they are learned, β and τ; sizes: tokens of each document (S,)."""
    mean = state.alpha.mean()
    log_eta = (psi(mean) - psi(mean + sizes)).sum()
    alpha = Gamma(config.doc_shape + float(measures.doc_tables.sum()), config.doc_rate - float(log_eta))
    sticks = stick_posterior(measures.doc_tables, state.gamma.mean())
    log_rests = sticks.expected_log_rests().sum()
    gamma = Gamma(config.corpus_shape + config.max_topics, config.corpus_rate - float(log_rests))
    state = state._replace(alpha=alpha, sticks=sticks, gamma=gamma)
    if config.word_prior == "fixed":
        return state
    beta = Gamma(config.word_shape + float(measures.word_tables.sum()), config.word_rate - measures.log_xi)
    return state._replace(beta=beta, base=config.base_total / len(state.base) + measures.word_tables)


def divergence(config, state):
    """All divergences of Eq. 18, in nats: of α, γ, the sticks and, where they are learned, β and τ."""
    total = gamma_divergence(state.alpha, Gamma(config.doc_shape, config.doc_rate))
    total += gamma_divergence(state.gamma, Gamma(config.corpus_shape, config.corpus_rate))
    total += state.sticks.divergence(state.gamma)
    if config.word_prior == "learned":
        total += gamma_divergence(state.beta, Gamma(config.word_shape, config.word_rate))
        total += dirichlet_divergence(state.base, np.full(len(state.base), config.base_total / len(state.base)))
    return total


def infer(config, state, documents):
    """Topic shares (S, K) of documents by Eq. 16, the topics fixed; the K topics share all; never learns."""
    topics = collapsed.expected_topics(state.assignments, _word_prior(state), config.precision)
    prior = state.alpha.mean() * _weights(state)
    return collapsed.infer_shares(documents, topics, _priors(state).doc, prior)


def _word_prior(state):
    return state.beta.mean() * state.base / state.base.sum()


def _weights(state):
    weights = state.sticks.means()
    return weights / weights.sum()


def summarize(config, state):
    """E[topics], E[π] of the K topics and their expected tokens, under ids that no step changes."""
    topics = collapsed.expected_topics(state.assignments, _word_prior(state))
    return TopicSummary(np.arange(config.max_topics), topics, _weights(state), state.expected_tokens)


ALGORITHM = Algorithm(
    name="cv-hdp",
    title="CV-HDP",
    config=CVHDPConfig,
    reads=Reads.CORPUS,
    infers_by=InfersBy.COLLAPSED,
    init=init,
    infer=infer,
    summarize=summarize,
    step=step,
    passes=100,
    memory=collapsed.memory,
)
