"""Concentrations that are learned: α₀ (or α), γ and η, the one home of their updates.

A document's, a corpus' or a topic's shares are drawn around a prior, and how closely is a concentration. Each gets the
prior Gamma(1, 1); the auxiliary variables of Escobar & West (1995) and Teh (2006; 2007, sec. 3) make it conjugate:

    q(c) = Gamma(1 + tables, 1 + Σ_j ψ(c + n_j) - ψ(c))     for draws j of n_j customers that open so many tables

Where c is its mean, the bound of Dirichlet draws is highest over c: the updates of Hoffman, Blei & Bach (2010, Eq. 9)
end there too. They hold q(θ) while c moves; here q(θ) = Dirichlet(c prior + counts) goes with it. A topic that a
document lacks says nothing of c, but holds that Newton step back, a hundredfold where it lacks 99 in 100.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import polygamma, psi

from stickbreaker.engine.algorithm import Phase
from stickbreaker.engine.inference.warm_up import startup_noise
from stickbreaker.engine.kernels.concentrations import add_word_gains
from stickbreaker.engine.schedules import TOO_MUCH_LEFT

LOWEST, HIGHEST = 1e-6, 1e6
# A step of η is cut off at a factor of this to the ρ.
LARGEST_FACTOR = 2.0
SMALLEST_CURVATURE = 0.01


class DocPosterior(NamedTuple):
    """Gamma(D shape, D rate) of α₀, or of each topic's α: shape (K,) or (1,) and rate are a document's share of it."""

    shape: np.ndarray
    rate: float

    @property
    def mean(self):
        """E of the concentrations (K,) or (1,), whose sum is in the settings' bounds."""
        mean = self.shape / self.rate
        total = mean.sum()
        return mean * (np.clip(total, LOWEST, HIGHEST) / total)

    @property
    def total(self):
        """E[α₀], of LDA E[Σ_k α_k]."""
        return float(self.mean.sum())


class Concentrations(NamedTuple):
    """What the next step takes α₀ (by topic in LDA), γ (not in LDA) and η to be."""

    doc: DocPosterior
    corpus: float
    word: float


def first_concentrations(config, num_parts=1):
    """Those of the settings; the document's in so many equal parts, and worth as much as a rate of one a document.

    That is a fifth of what a document of a hundred words says, and goes the way of all that a run starts with.
    """
    doc = DocPosterior(np.full(num_parts, config.doc_concentration / num_parts), 1.0)
    return Concentrations(doc, float(getattr(config, "corpus_concentration", 0.0)), float(config.word_concentration))


def restaurant_rate(concentration, sizes):
    """Σ_j ψ(c + n_j) - ψ(c) over restaurants of n_j customers (J,): Σ -E[log ξ_j] of auxiliary ξ_j ~ Beta(c, n_j).

    Expected tables are c times it. A restaurant of one customer opens one:

    >>> round(restaurant_rate(2.0, np.array([1.0, 0.0])), 12)
    0.5
    """
    return float((psi(concentration + sizes) - psi(concentration)).sum())


def blend_doc(posterior, tables, table_rate, batch, rate):
    """The document concentrations' posterior moved by ρ towards what a mini-batch says of the corpus.

        shape ← (1 - ρ) shape + ρ (1/D + tables / S),  rate ← (1 - ρ) rate + ρ (1/D + table_rate / S)

    tables, of the batch, is shaped as the posterior's shape: one number, or one a topic for an asymmetric α. It is the
    natural-gradient step of Hoffman et al. (2013, sec. 2.5) for a conjugate prior Gamma(1, 1) of the sum.
    """
    corpus_size, batch_size = batch.corpus_size, batch.documents.num_documents
    target = 1.0 / (corpus_size * len(tables)) + tables / batch_size
    target_rate = 1.0 / corpus_size + table_rate / batch_size
    return DocPosterior((1 - rate) * posterior.shape + rate * target, (1 - rate) * posterior.rate + rate * target_rate)


def learn_from_tables(posterior, tables, batch, rate):
    """The posterior after the expected tables of a batch, where a document is one restaurant (direct assignment, LDA).

    Not for the two-level model: there a slot without a word is a table too (Eq. 19 of Wang 2011 counts all T of them,
    whatever α₀ is), so that tables say T and not α₀.
    """
    documents = batch.documents
    sizes = documents.sizes()
    return blend_doc(posterior, tables, restaurant_rate(posterior.total, sizes), batch, rate)


def learn_from_sticks(posterior, sticks, batch, rate):
    """The posterior after the document sticks of a batch (two-level model), from `Statistics.doc_sticks` (2,).

    π'_jt ~ Beta(1, α₀) makes α₀ conjugate: Gamma(1 + number of sticks, 1 - Σ E[log(1 - π'_jt)]). Sticks that no token
    reaches hold the prior, which holds α₀ where it is, and are left out.
    """
    return blend_doc(posterior, sticks[:1], sticks[1], batch, rate)


def learn_corpus_concentration(tables, concentration, startup_tables=0.0):
    """E[γ] under q(γ) = Gamma(1 + n, 1 + ψ(γ + Σ_k s_k) - ψ(γ)) from the tables (K,) that serve n topics.

    n = Σ_k min(1, s_k) of s_k = tables_k - startup_tables, which is start-up mass. The sticks are integrated out, for
    those of E[β] stand in order of size, as none drawn from a GEM(γ) do: Gamma(1 + K, 1 - Σ E[log(1 - β'_k)]) of such
    sticks, as in Teh 2007, sec. 3, finds 10 to 15 where 20 was drawn, and 100 empty topics raise it many times.
    """
    used = np.maximum(tables - startup_tables, 0.0)
    rate = 1.0 + restaurant_rate(concentration, used.sum(keepdims=True))
    return float(np.clip((1.0 + np.minimum(used, 1.0).sum()) / rate, LOWEST, HIGHEST))


def learn_word_concentration(counts, concentration, rate=1.0, noise=0.0):
    """η after a Newton step in log η, times ρ, on what the counts of topics say of it.

        J = Σ_kw p (log Γ(η + n/p) - log Γ(η)) + Σ_k (log Γ(Vη) - log Γ(Vη + n_k)) - η + log η,   p = min(1, n)

    counts: λ - η (V, K), each with `noise` of start-up mass in it. With p = 1 it is the topics' bound at q(topic) =
    Dirichlet(η + counts), and - η + log η is the prior Gamma(1, 1) of log η. But at η = .01 the bound takes a tenth
    of a token for a word that the topic has, and there are many: here it is one in ten (as Teh 2007, Eq. 13-15).
    A topic without tokens says nothing. Source: Hoffman 2010 Eq. 9, in log η, which stays positive, and with the
    Hessian of a q(topic) that follows η.
    """
    vocab_size, gains, totals = counts.shape[0], np.zeros(2), np.zeros(counts.shape[1])
    add_word_gains(counts, noise, concentration, gains, totals)
    total = vocab_size * concentration
    loss = vocab_size * (restaurant_rate(total, totals) + 1.0 / vocab_size)
    bend = vocab_size**2 * (polygamma(1, total + totals) - polygamma(1, total)).sum()
    gradient = concentration * (gains[0] - loss) + 1.0
    curvature = concentration * (gains[0] - loss) + concentration**2 * (gains[1] - bend)
    # Where J is not concave in log η, tables over rate still ascend it: their curvature is -η loss.
    is_concave = -curvature > SMALLEST_CURVATURE * concentration * loss
    step = gradient / (-curvature if is_concave else concentration * loss)
    step = np.clip(step, -np.log(LARGEST_FACTOR), np.log(LARGEST_FACTOR))
    return float(np.clip(concentration * np.exp(rate * step), LOWEST, 1e3))


def is_time_to_learn(config, state):
    """Whether concentrations are learned, and topics have parted: before, all of them hold nearly all words."""
    is_wanted, is_begun = config.concentrations != "fixed", state.phase != Phase.WARM_UP
    return is_wanted and is_begun and state.startup_share < TOO_MUCH_LEFT


def learn(config, state, doc, corpus_size, rate):
    """The state with α₀ (or α) as found, and with γ and η after a step on its tables and topics."""
    _, corpus, word = state.concentrations
    if hasattr(state, "tables"):
        startup_tables = state.startup_share * corpus_size / len(state.tables)
        corpus = learn_corpus_concentration(state.tables, corpus, startup_tables)
    noise = state.startup_share * startup_noise(state.topic_counts, config.start, corpus_size)
    word = learn_word_concentration(state.topic_counts.dense(), word, rate, noise)
    return state._replace(concentrations=Concentrations(doc, corpus, word))


class GammaPrior(NamedTuple):
    """Gamma prior of a concentration, of mean shape / rate."""

    shape: float
    rate: float


def draw_concentration(concentration, num_tables, sizes, prior, rng):
    """A concentration drawn anew from its conditional, given the tables that all restaurants opened.

    Restaurants of `sizes` customers (those without any do not tell) and one concentration a open m tables in all with
    probability ∝ a^m ∏ Γ(a) / Γ(a + n_j). With log η_j of η_j ~ Beta(a, n_j) beside them, a is again Gamma distributed,
    of shape + m and rate - Σ log η_j. Source: Teh 2007, Eq. 6; Escobar & West 1995; Teh et al. 2006, appendix A.
    """
    sizes = sizes[sizes > 0]
    log_eta = draw_log_beta(concentration, sizes, rng)
    return float(rng.gamma(prior.shape + num_tables) / (prior.rate - log_eta.sum()))


def draw_log_beta(on, after, rng):
    """log of Beta(on, after) draws for each of `after` (n,), finite where the draw itself would be too small a float.

    A Gamma(a) draw is one of Gamma(a + 1) times U^(1/a).
    """
    log_on = np.log(rng.gamma(on + 1.0, size=len(after))) - rng.exponential(size=len(after)) / on
    log_after = np.log(rng.gamma(after))
    return log_on - np.logaddexp(log_on, log_after)
