"""Passes over a whole corpus: what its documents sum to, the bound after them, and when another is not worth taking.

A bound is written so that the corpus' variational parameters are eliminated. Where λ and the corpus' sticks are those
that the documents' sums have just set, their part of the bound and the documents' E[log p(w|topics)] and E[log p(c|β)]
are together the logarithms of normalising constants (Wang 2011 Eq. 14, Hoffman 2010 Eq. 4).
"""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, psi

from stickbreaker.engine.algorithm import Phase, StepInfo
from stickbreaker.engine.kernels.bounds import bound_documents
from stickbreaker.engine.kernels.counts import FactoredCounts, add_blocks, add_products, block_starts, group_by_word

DOCUMENTS_AT_ONCE, WORDS_AT_ONCE = 1024, 1024
PILOT_DOCUMENTS = 32
NO_BOUND = float("-inf")


class Totals(NamedTuple):
    """Sums over documents of the expected counts of words in topics (U, K), of tables and tokens (K,), which all add.

    bound: their part of the bound but for E[log p(w|topics)] and E[log p(c|β)]; NO_BOUND in a warm-up.
    """

    topic_words: np.ndarray
    tables: np.ndarray
    tokens: np.ndarray
    bound: float
    phase: Phase
    temperature: float

    def __add__(self, other):
        sums = [getattr(self, name) + getattr(other, name) for name in ("topic_words", "tables", "tokens", "bound")]
        return Totals(*sums, self.phase, self.temperature)


def sum_documents(documents, expectations, fit):
    """Totals of documents, a thousand at a time: `fit` gives the Statistics of documents and their part of the bound.

    A corpus' expected counts document by document are many times as large as their sums.
    """
    topic_words, num_documents = np.zeros_like(expectations.topics), documents.num_documents
    tables, tokens = np.zeros((2, topic_words.shape[1]))
    total = 0.0
    for first in range(0, num_documents, DOCUMENTS_AT_ONCE):
        statistics, bound = fit(documents.cut(first, min(first + DOCUMENTS_AT_ONCE, num_documents)))
        for counts in statistics.counts:
            _add_counts(counts, topic_words)
        tables += statistics.tables
        tokens += statistics.tokens
        total += bound
    return Totals(topic_words, tables, tokens, total, expectations.phase, expectations.temperature)


def _add_counts(counts, topic_words):
    """Add counts of either kind to (U, K); a shard is on a thread already."""
    places, one = np.arange(len(topic_words), dtype=np.int32), topic_words.dtype.type(1)
    grouped, span = group_by_word(counts, len(topic_words)), (0, len(topic_words))
    if isinstance(counts, FactoredCounts):
        add_products(counts, grouped, span, one, places, places, topic_words)
    else:
        add_blocks(counts, block_starts(counts), grouped, span, one, places, places, topic_words)


def shares_bound(statistics, shares, documents, prior):
    """Sum of `bound_documents` over documents whose shares (S, K) are one Dirichlet each, from their Statistics."""
    sizes = documents.sizes()
    (counts,), bounds = statistics.counts, np.empty(len(sizes))
    doc_topics = shares * (prior.sum(dtype=np.float64) + sizes)[:, None].astype(shares.dtype)
    bound_documents(counts, documents.counts.astype(shares.dtype), doc_topics, prior, bounds)
    return float(bounds.sum())


def topics_bound(topic_counts, word_concentration):
    """What topics add to a bound that their counts n (V, K) have just set: Σ n E[log φ] - KL from Dirichlet(η).

        Σ_k log B(η + n_k) - log B(η)

    >>> bool(np.isclose(topics_bound(np.array([[1.0], [0.0]]), 1.0), np.log(1 / 2)))
    True
    """
    vocab_size, num_topics = topic_counts.shape
    totals = topic_counts.sum(0, dtype=np.float64) + vocab_size * word_concentration
    bound = num_topics * gammaln(vocab_size * word_concentration) - gammaln(totals).sum()
    for first in range(0, vocab_size, WORDS_AT_ONCE):
        counts = topic_counts[first : first + WORDS_AT_ONCE].astype(np.float64)
        bound += (gammaln(counts + word_concentration) - gammaln(word_concentration)).sum()
    return float(bound)


def topics_divergence(topic_counts, word_concentration):
    """KL of topics Dirichlet(λ_k) from their prior Dirichlet(η), and E[log φ] (V, K), from λ - η (V, K)."""
    topic_words = topic_counts.astype(np.float64) + word_concentration
    totals = topic_words.sum(0)
    logs = psi(topic_words) - psi(totals)
    log_normal = (gammaln(totals) - gammaln(topic_words).sum(0)).sum()
    of_prior = gammaln(word_concentration * len(logs)) - len(logs) * gammaln(word_concentration)
    return log_normal - len(totals) * of_prior + (topic_counts * logs).sum(), logs


def spread(totals, words, vocab_size):
    """λ - η of all words (V, K) from the totals of those that occur (U,)."""
    dense = np.zeros((vocab_size, totals.topic_words.shape[1]), totals.topic_words.dtype)
    dense[words] = totals.topic_words
    return dense


def take_pilot(documents):
    """Some documents from all over the corpus."""
    num_documents = documents.num_documents
    places = np.unique(np.linspace(0, num_documents - 1, min(PILOT_DOCUMENTS, num_documents)).astype(int))
    parts = [documents.cut(place, place + 1) for place in places]
    starts = np.append(0, np.cumsum([len(part.words) for part in parts]))
    return type(documents)(starts, *(np.concatenate([getattr(p, name) for p in parts]) for name in ("words", "counts")))


def judge(old, new, tolerance, num_tokens):
    """The state that a pass leaves, and its StepInfo: a pass that lowers the bound is not taken, and ends the run.

    Documents are fitted anew at each pass (Hoffman 2010 sec. 2.1 advises it), so that one of them may come to a worse
    optimum than before, and in the end all of them together. Rates are 1: nothing is left of the start.
    """
    gain = new.bound - old.bound
    has_converged = np.isfinite(gain) and gain <= tolerance * abs(old.bound)
    state = old._replace(step=new.step) if np.isfinite(gain) and gain < 0 else new
    bound = float(state.bound / num_tokens) if np.isfinite(state.bound) and num_tokens else None
    return state, StepInfo(new.step, 1.0, state.phase, 0.0, state.temperature, bound, bool(has_converged))
