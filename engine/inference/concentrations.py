"""The updates of the learned concentrations of LDA, α and η, and the draws of those of samplers.

A concentration says how closely the shares of a document, a corpus or a topic follow their prior.
Each has the prior Gamma(1, 1); the auxiliary variables of Escobar & West (1995) and Teh (2006;
2007, sec. 3) make it conjugate:

    q(c) = Gamma(1 + tables, 1 + Σ_j ψ(c + n_j) - ψ(c))     for draws j of n_j customers, and all
    their tables

The bound of Dirichlet draws is highest over c where c is the mean of q(c). The updates of Hoffman,
Blei & Bach (2010, Eq. 9) end at the same point, but hold q(θ) fixed while c moves; here q(θ) =
Dirichlet(c prior + counts) moves with c. A topic that a document lacks carries no information about
c, but slows their Newton step down: a hundredfold if the document lacks 99 topics of 100.
"""

from typing import NamedTuple, TypeVar

import numpy as np
from scipy.special import polygamma, psi

from stickbreaker.engine.algorithm import Phase
from stickbreaker.engine.corpora.documents import Batch
from stickbreaker.engine.inference.states import (
    HIGHEST_ETA,
    LOWEST,
    Concentrations,
    DocPosterior,
    LearnedConfig,
    OnlineState,
)
from stickbreaker.engine.inference.warm_up import startup_noise
from stickbreaker.engine.kernels.concentrations import add_word_gains
from stickbreaker.engine.schedules import TOO_MUCH_LEFT

# The largest factor by which a step of rate 1 changes η.
LARGEST_FACTOR = 2.0
SMALLEST_CURVATURE = 0.01
AnyOnlineState = TypeVar("AnyOnlineState", bound=OnlineState)


def first_concentrations(
    doc: float, word: float, corpus: float = 0.0, num_parts: int = 1
) -> Concentrations:
    """The concentrations of the settings; that of documents is split into equal parts.

    The document concentration weighs as much as a rate of 1 per document: a fifth of the
    information in a document of a hundred words. It fades like everything else that a run starts
    with.
    """
    posterior = DocPosterior(shape=np.full(num_parts, doc / num_parts), rate=1.0)
    return Concentrations(doc=posterior, corpus=float(corpus), word=float(word))


def restaurant_rate(concentration: float, sizes: np.ndarray) -> float:
    """Σ_j ψ(c + n_j) - ψ(c) over restaurants of n_j customers (J,): Σ -E[log ξ_j] of auxiliary ξ_j
    ~ Beta(c, n_j).

    c times it is the expected number of tables. A restaurant with one customer has one table:

    >>> round(restaurant_rate(2.0, np.array([1.0, 0.0])), 12)
    0.5
    """
    return float((psi(concentration + sizes) - psi(concentration)).sum())


def blend_doc(
    posterior: DocPosterior, tables: np.ndarray, table_rate: float, batch: Batch, rate: float
) -> DocPosterior:
    """Move the posterior of the document concentrations by ρ towards a mini-batch's estimate for
    the corpus.

        shape ← (1 - ρ) shape + ρ (1/D + tables / S),  rate ← (1 - ρ) rate + ρ (1/D + table_rate /
        S)

    tables: those of the batch, (1,), or (K,) for an asymmetric α. It is the natural-gradient step
    of Hoffman et al. (2013, sec. 2.5) for a conjugate prior Gamma(1, 1) of the sum.
    """
    corpus_size = batch.corpus_size
    batch_size = batch.documents.num_documents
    # The prior Gamma(1, 1) and the batch's tables, for one document of the corpus.
    target = 1.0 / (corpus_size * len(tables)) + tables / batch_size
    target_rate = 1.0 / corpus_size + table_rate / batch_size
    return DocPosterior(
        shape=(1 - rate) * posterior.shape + rate * target,
        rate=(1 - rate) * posterior.rate + rate * target_rate,
    )


def learn_from_tables(
    posterior: DocPosterior, tables: np.ndarray, batch: Batch, rate: float
) -> DocPosterior:
    """The posterior after the tables of a batch, where a document is a restaurant (LDA)."""
    documents = batch.documents
    sizes = documents.sizes()
    return blend_doc(posterior, tables, restaurant_rate(posterior.total, sizes), batch, rate)


def learn_word_concentration(
    counts: np.ndarray, concentration: float, rate: float = 1.0, noise: float = 0.0
) -> float:
    """η after ρ times a Newton step in log η on its objective J, given the counts of topics.

        J = Σ_kw p (log Γ(η + n/p) - log Γ(η)) + Σ_k (log Γ(Vη) - log Γ(Vη + n_k)) - η + log η,   p
        = min(1, n)

    counts: λ - η (V, K), each with `noise` of start-up mass in it. With p = 1, J is the topics'
    bound at q(topic) = Dirichlet(η + counts), and - η + log η is the prior Gamma(1, 1) of log η. At
    η = .01 that bound counts a tenth of a token as a word that the topic has; here it counts as a
    tenth of a word (as in Teh 2007, Eq. 13-15). A topic without tokens carries no information.
    Source: Hoffman 2010 Eq. 9, in log η, so that η stays positive, and with the Hessian of a
    q(topic) that follows η.
    """
    vocab_size = counts.shape[0]
    gains = np.zeros(2)
    totals = np.zeros(counts.shape[1])
    add_word_gains(counts, noise, concentration, gains, totals)
    total = vocab_size * concentration
    # J' = Σ p (ψ(η + n/p) - ψ(η)) - V (Σ_k ψ(Vη + n_k) - ψ(Vη)) - 1 + 1/η.
    loss = vocab_size * (restaurant_rate(total, totals) + 1.0 / vocab_size)
    bend = vocab_size**2 * (polygamma(1, total + totals) - polygamma(1, total)).sum()
    # The derivatives by log η are η J' and η J' + η² J''.
    gradient = concentration * (gains[0] - loss) + 1.0
    curvature = concentration * (gains[0] - loss) + concentration**2 * (gains[1] - bend)
    # If J is not concave in log η, the curvature -η loss of the tables-over-rate update still
    # ascends it.
    is_concave = -curvature > SMALLEST_CURVATURE * concentration * loss
    step = gradient / (-curvature if is_concave else concentration * loss)
    # At most a factor of two for a step of rate 1.
    step = np.clip(step, -np.log(LARGEST_FACTOR), np.log(LARGEST_FACTOR))
    return float(np.clip(concentration * np.exp(rate * step), LOWEST, HIGHEST_ETA))


def is_time_to_learn(config: LearnedConfig, state: OnlineState) -> bool:
    """Whether concentrations are learned, and topics differ already."""
    is_wanted = config.concentrations != "fixed"
    is_begun = state.phase != Phase.WARM_UP
    return is_wanted and is_begun and state.startup_share < TOO_MUCH_LEFT


def learn(
    config: LearnedConfig, state: AnyOnlineState, doc: DocPosterior, corpus_size: int, rate: float
) -> AnyOnlineState:
    """The state with the given α, and with η after a step on its topics."""
    noise = state.startup_share * startup_noise(state.topic_counts, config.start, corpus_size)
    word = learn_word_concentration(
        state.topic_counts.dense(), state.concentrations.word, rate, noise
    )
    return state._replace(concentrations=state.concentrations._replace(doc=doc, word=word))


class GammaPrior(NamedTuple):
    """Gamma prior of a concentration, of mean shape / rate."""

    shape: float
    rate: float


def draw_concentration(
    concentration: float,
    num_tables: int,
    sizes: np.ndarray,
    prior: GammaPrior,
    rng: np.random.Generator,
) -> float:
    """Draw a concentration from its conditional, given the number of tables in all restaurants.

    Restaurants of `sizes` customers (empty ones carry no information) with one concentration a open
    m tables in all with probability ∝ a^m ∏ Γ(a) / Γ(a + n_j). Given auxiliary η_j ~ Beta(a, n_j),
    a is again Gamma distributed, with shape + m and rate - Σ log η_j. Source: Teh 2007, Eq. 6;
    Escobar & West 1995; Teh et al. 2006, appendix A.
    """
    sizes = sizes[sizes > 0]
    log_eta = draw_log_beta(concentration, sizes, rng)
    return float(rng.gamma(prior.shape + num_tables) / (prior.rate - log_eta.sum()))


def draw_log_beta(on: float, after: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw log Beta(on, after) for each of `after` (n,).

    It is finite even if the draw itself would underflow.

    A Gamma(a) draw is one of Gamma(a + 1) times U^(1/a).
    """
    log_on: np.ndarray = (
        np.log(rng.gamma(on + 1.0, size=len(after))) - rng.exponential(size=len(after)) / on
    )
    log_after = np.log(rng.gamma(after))
    log_share: np.ndarray = log_on - np.logaddexp(log_on, log_after)
    return log_share
