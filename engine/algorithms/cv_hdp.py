"""Collapsed variational Bayes for the hierarchical Dirichlet process, CV-HDP (Teh, Kurihara &
Welling 2007).

A step is one pass of Eq. 15 over the corpus, then Eq. 8 for the concentrations, the corpus weights
and, with `word_prior="learned"`, the base distribution τ. The truncation is nested: q(z) is zero
beyond K topics, and the K-th stick leaves a rest for further topics. Deviations, each described in
its module:

- All tokens of a word in a document share one q (`engine.inference.collapsed`).
- Topics are ordered by their tables E[s_.k], not by their tokens, because that order has the best
  bound (`engine.inference.posteriors`). The order is an index; topics keep their ids.

The bound of a step is Eq. 18 plus the divergence of q(γ), which Eq. 18 omits. It uses E[γ] and
E[log γ] for γ, and the posteriors before the pass. It rests on second-order approximations, so it
is only approximately a bound and may fall.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import psi

from stickbreaker.engine import declarations as declared
from stickbreaker.engine.algorithm import (
    Algorithm,
    Breaking,
    InfersBy,
    Phase,
    Reads,
    StepInfo,
    TopicSummary,
)
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.declarations import Checked, choice, setting
from stickbreaker.engine.inference import collapsed
from stickbreaker.engine.inference.collapsed import INFINITY, Measures, Priors, SoftAssignments
from stickbreaker.engine.inference.posteriors import (
    Gamma,
    StickPosterior,
    dirichlet_divergence,
    gamma_divergence,
    stick_posterior,
)

# The shape of posteriors that are not learned: so large that mean and geometric mean agree.
SHARP = 1e9
SHAPES = (1e-3, 1e6)
# β per word, and the number of passes, of a soft start.
SOFT_WORDS = 1.0
SOFT_PASSES = 20


@dataclass(frozen=True)
class CVHDPConfig(Checked):
    """Settings of CV-HDP: gamma priors within the ranges of sec. 4, whose β = 100, τ = 1/V."""

    max_topics: int = setting(150, **declared.MAX_TOPICS)
    doc_shape: float = setting(
        4.0, "a_α", SHAPES, "Shape of the gamma prior of α, which spreads a document over topics"
    )
    doc_rate: float = setting(4.0, "b_α", SHAPES, "Rate of the gamma prior of α")
    corpus_shape: float = setting(
        7.5,
        "a_γ",
        SHAPES,
        "Shape of the gamma prior of γ, which sets how many topics the corpus has",
    )
    corpus_rate: float = setting(7.5, "b_γ", SHAPES, "Rate of the gamma prior of γ")
    word_total: float = setting(
        100.0,
        "β",
        (1e-6, 1e9),
        "Total word concentration of a topic; the starting value if learned",
    )
    word_prior: str = choice("Whether β and τ stay fixed or are learned", "fixed", "learned")
    word_shape: float = setting(
        4.0, "a_β", SHAPES, "Shape of the gamma prior of β, if it is learned"
    )
    word_rate: float = setting(4.0, "b_β", SHAPES, "Rate of the gamma prior of β, if it is learned")
    base_total: float = setting(
        40.0, "V a_τ", (1e-3, 1e9), "Total of the Dirichlet prior of τ over all words"
    )
    first_passes: str = choice(
        "printed: as in the paper; soft: the first 20 passes with a large β", "printed", "soft"
    )
    start_from: str = setting("own", **declared.START_FROM)
    tolerance: float = setting(1e-5, **declared.PASS_TOLERANCE)
    precision: str = setting("float32", **declared.PRECISION)


class CVHDPState(NamedTuple):
    """What the next pass needs.

    alpha, gamma, beta: posteriors of `doc_concentration`, `corpus_concentration` and the words'
    total concentration.
    sticks: those of the corpus weights π.
    base: Dirichlet parameters of τ (V,).
    expected_tokens: (K,).
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


def init(config: CVHDPConfig, vocab_size: int, rng: np.random.Generator | None) -> CVHDPState:
    """State without documents, at the priors (sec. 4); the first step draws q(z)."""
    gamma = Gamma(shape=config.corpus_shape, rate=config.corpus_rate)
    return CVHDPState(
        assignments=collapsed.no_assignments(config, vocab_size),
        expected_tokens=np.zeros(config.max_topics),
        alpha=Gamma(shape=config.doc_shape, rate=config.doc_rate),
        gamma=gamma,
        sticks=stick_posterior(np.zeros(config.max_topics), gamma.mean()),
        beta=Gamma(shape=SHARP, rate=SHARP / config.word_total),
        base=np.full(vocab_size, SHARP),
        step=0,
        bound=-INFINITY,
    )


def step(
    config: CVHDPConfig, state: CVHDPState, batch: Batch, rng: np.random.Generator
) -> tuple[CVHDPState, StepInfo]:
    """A pass, the bound and the posteriors; ValueError if the documents have changed."""
    is_soft = state.step < num_soft(config)
    priors = soften(find_priors(state)) if is_soft else find_priors(state)
    assignments, measures = collapsed.make_pass(state.assignments, priors, batch, rng)
    num_tokens = max(batch.documents.num_tokens, 1)
    # The first pass, and the first after a soft start, has no posterior: G[π_k] = 1/K does not
    # come from sticks.
    is_bounded = state.step > num_soft(config)
    bound = (measures.log_joint - divergence(config, state)) / num_tokens if is_bounded else None
    info = StepInfo(
        step=state.step + 1,
        learning_rate=1.0,
        phase=Phase.SOFT if is_soft else Phase.LEARNING,
        startup_share=0.0,
        bound=bound,
        has_converged=bound is not None
        and collapsed.has_converged(bound, state.bound, config.tolerance),
    )
    learned = update_posteriors(config, state, measures, batch.documents.sizes())
    if is_soft:
        learned = learned._replace(beta=state.beta, base=state.base)
    state = learned._replace(
        assignments=assignments,
        expected_tokens=assignments.topic_tokens(),
        step=info.step,
        bound=-INFINITY if bound is None else bound,
    )
    return state, info


def start_from(
    config: CVHDPConfig, vocab_size: int, batch: Batch, tokens: np.ndarray
) -> CVHDPState:
    """State that continues from tokens (nnz, K) of the batch's entries, without a soft start."""
    state = init(config, vocab_size, None)
    assignments, measures = collapsed.take_over(
        state.assignments, batch, tokens, find_priors(state)
    )
    state = update_posteriors(config, state, measures, batch.documents.sizes())
    step = num_soft(config) + 1
    return state._replace(
        assignments=assignments, expected_tokens=assignments.topic_tokens(), step=step
    )


def num_soft(config: CVHDPConfig) -> int:
    """Number of passes of a soft start."""
    return SOFT_PASSES if config.first_passes == "soft" else 0


def soften(priors: Priors) -> Priors:
    """Priors under which words hardly distinguish topics, so that fewer topics become distinct."""
    num_words = len(priors.words)
    return priors._replace(words=np.full(num_words, SOFT_WORDS), word_total=SOFT_WORDS * num_words)


def find_priors(state: CVHDPState) -> Priors:
    """G[απ_k], E[α], G[βτ_w] and E[β]; before the first pass G[π_k] = 1/K."""
    num_topics = len(state.expected_tokens)
    weights = (
        np.exp(state.sticks.expected_logs())
        if state.step
        else np.full(num_topics, 1.0 / num_topics)
    )
    base = np.exp(psi(state.base) - psi(state.base.sum()))
    return Priors(
        doc=collapsed.hold(state.alpha.geometric() * weights),
        doc_total=state.alpha.mean(),
        words=collapsed.hold(state.beta.geometric() * base),
        word_total=state.beta.mean(),
    )


def update_posteriors(
    config: CVHDPConfig, state: CVHDPState, measures: Measures, sizes: np.ndarray
) -> CVHDPState:
    """The state after Eq. 8 for α, π, γ and, if learned, β and τ. sizes: tokens (S,)."""
    mean = state.alpha.mean()
    log_eta = (psi(mean) - psi(mean + sizes)).sum()
    alpha = Gamma(
        shape=config.doc_shape + float(measures.doc_tables.sum()),
        rate=config.doc_rate - float(log_eta),
    )
    sticks = stick_posterior(measures.doc_tables, state.gamma.mean())
    log_rests = sticks.expected_log_rests().sum()
    gamma = Gamma(
        shape=config.corpus_shape + config.max_topics, rate=config.corpus_rate - float(log_rests)
    )
    state = state._replace(alpha=alpha, sticks=sticks, gamma=gamma)
    if config.word_prior == "fixed":
        return state
    beta = Gamma(
        shape=config.word_shape + float(measures.word_tables.sum()),
        rate=config.word_rate - measures.log_xi,
    )
    return state._replace(
        beta=beta, base=config.base_total / len(state.base) + measures.word_tables
    )


def divergence(config: CVHDPConfig, state: CVHDPState) -> float:
    """Sum of the divergences of Eq. 18: of α, γ, the sticks and, if learned, β and τ."""
    total = gamma_divergence(state.alpha, Gamma(shape=config.doc_shape, rate=config.doc_rate))
    total += gamma_divergence(
        state.gamma, Gamma(shape=config.corpus_shape, rate=config.corpus_rate)
    )
    total += state.sticks.divergence(state.gamma)
    if config.word_prior == "learned":
        total += gamma_divergence(state.beta, Gamma(shape=config.word_shape, rate=config.word_rate))
        total += dirichlet_divergence(
            state.base, np.full(len(state.base), config.base_total / len(state.base))
        )
    return total


def infer(config: CVHDPConfig, state: CVHDPState, documents: Documents) -> np.ndarray:
    """Topic shares (S, K) of documents by Eq. 16, with fixed topics and no rest beyond K."""
    topics = collapsed.expected_topics(state.assignments, _word_prior(state), config.precision)
    prior = state.alpha.mean() * _weights(state)
    return collapsed.infer_shares(documents, topics, find_priors(state).doc, prior)


def _word_prior(state: CVHDPState) -> np.ndarray:
    prior: np.ndarray = state.beta.mean() * state.base / state.base.sum()
    return prior


def _weights(state: CVHDPState) -> np.ndarray:
    weights = state.sticks.means()
    normalized: np.ndarray = weights / weights.sum()
    return normalized


def stick(config: CVHDPConfig, state: CVHDPState) -> Breaking:
    """The corpus' stick as the topics break it, with a rest for topics beyond K."""
    return state.sticks.breaking()


def summarize(config: CVHDPConfig, state: CVHDPState) -> TopicSummary:
    """E[topics], E[π] of the K topics and their expected tokens, under ids that no step changes."""
    return TopicSummary(
        topic_ids=np.arange(config.max_topics),
        topics=collapsed.expected_topics(state.assignments, _word_prior(state)),
        weights=_weights(state),
        expected_tokens=state.expected_tokens,
    )


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
    start_from=start_from,
    stick=stick,
)
