"""What collapsed variational algorithms share: q(z) of a whole corpus, a sweep over it, and what its counts say.

Source: Teh, Kurihara & Welling (2007). One deviation throughout: all tokens of a word in a document share one q(z), so
a state holds K shares for each entry of the corpus and not for each of its tokens.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from stickbreaker.engine.kernels import collapsed as kernels

# A weight below this has no token of any corpus, and the square of its inverse still is a float32.
SMALLEST_PRIOR = 1e-18
MOST_SWEEPS, SETTLED = 50, 1e-3


class SoftAssignments(NamedTuple):
    """q(z) of the training documents, in the order of their ids, and the counts of words under it.

    doc_ids: (S,); shares: (nnz, K), of all tokens of an entry of the documents.
    word_counts: (V, 2, K), mean and variance of a word's tokens in each topic (Eq. 13).
    """

    doc_ids: np.ndarray
    shares: np.ndarray
    word_counts: np.ndarray

    def topic_tokens(self):
        """Expected tokens of each topic (K,)."""
        return self.word_counts[:, 0].sum(0, dtype=np.float64)


class Priors(NamedTuple):
    """What counts stand beside: doc (K,) G[απ_k] and its total E[α], words (V,) G[βτ_w] and its total E[β]."""

    doc: np.ndarray
    doc_total: float
    words: np.ndarray
    word_total: float


class Measures(NamedTuple):
    """What a sweep leaves behind, at the priors that it had.

    doc_tables: (K,), E[s_.k]; word_tables: (V,), E[t_.w] (Eq. 12); log_xi: Σ_k E[log ξ_k] (Eq. 11).
    log_joint: E[log p(z, x | ...)] - E[log q(z)], the part of Eq. 18 without divergences, in nats.
    """

    doc_tables: np.ndarray
    word_tables: np.ndarray
    log_xi: float
    log_joint: float


def no_assignments(config, vocab_size):
    """Before the documents are known."""
    precision = np.dtype(config.precision)
    none = np.zeros((0, config.max_topics), precision)
    return SoftAssignments(np.zeros(0, np.int64), none, np.zeros((vocab_size, 2, config.max_topics), precision))


def sweep(assignments, priors, batch, rng):
    """One sweep of Eq. 15 over all documents, from q ∝ 1 + u where there is none yet (sec. 4), and its Measures.

    Raises ValueError where the documents are not those of the assignments.
    """
    vocab_size = len(assignments.word_counts)
    documents = batch.documents.indexed(np.arange(vocab_size))
    if not len(assignments.doc_ids):
        assignments = _draw(assignments, documents, batch.doc_ids, rng)
    elif not np.array_equal(assignments.doc_ids, batch.doc_ids):
        raise ValueError("These are not the documents whose topics are known: give a step the whole corpus, in order.")
    shares, counts = assignments.shares.copy(), assignments.word_counts.copy()
    precision, totals = shares.dtype.type, counts.sum(0, dtype=np.float64)
    beside = kernels.Priors(priors.doc.astype(precision), priors.words.astype(precision), float(priors.word_total))
    kernels.sweep_documents(documents, beside, counts, totals, shares)
    return _measure(SoftAssignments(assignments.doc_ids, shares, counts), documents, priors)


def _draw(empty, documents, doc_ids, rng):
    """Shares ∝ 1 + u, u uniform in [0, 1), and their counts."""
    shares = 1.0 + rng.random((len(documents.words), empty.shares.shape[1]), dtype=empty.shares.dtype)
    return _place(empty, documents, doc_ids, shares)


def _place(empty, documents, doc_ids, shares):
    shares = (shares / shares.sum(1, keepdims=True)).astype(empty.shares.dtype)
    placed = SoftAssignments(np.array(doc_ids, np.int64), shares, empty.word_counts)
    return _count(placed, documents, np.ones(shares.shape[1]))[0]


def take_over(assignments, batch, tokens, priors):
    """Assignments whose q(z) are another system's tokens (nnz, K) of each entry in each topic, and their Measures.

    So a run goes on where a sampler has come to (Teh 2007 sec. 4, Fig. 3).
    """
    documents = batch.documents.indexed(np.arange(len(assignments.word_counts)))
    return _measure(_place(assignments, documents, batch.doc_ids, tokens), documents, priors)


def _count(assignments, documents, doc_prior):
    """The assignments with words counted anew, then Σ log(1-q) included (V, 3, K), tables, terms and the entropy."""
    counts = np.zeros((len(assignments.word_counts), 3, len(doc_prior)))
    tables = np.zeros(len(doc_prior))
    terms, entropy = kernels.measure_documents(documents, assignments.shares, doc_prior, counts, tables)
    kept = np.maximum(counts[:, :2], 0.0).astype(assignments.shares.dtype)
    return assignments._replace(word_counts=kept), counts, tables, terms, entropy


def _measure(assignments, documents, priors):
    """The assignments, their counts freed from the rounding of a sweep, and their Measures."""
    assignments, counts, doc_tables, doc_terms, entropy = _count(assignments, documents, priors.doc)
    word_tables, topic_tables = np.zeros(len(counts)), np.zeros(1)
    word_terms = kernels.measure_words(counts, priors.words, word_tables)
    # What Eq. 12 has for tables is Eq. 11 times -E[β], with a topic's total in place of a word's count.
    total_terms = kernels.measure_words(counts.sum(0)[None], np.array([priors.word_total]), topic_tables)
    sizes = documents.sizes()
    log_joint = len(sizes) * gammaln(priors.doc_total) - gammaln(priors.doc_total + sizes).sum()
    log_joint += doc_terms + word_terms - total_terms + entropy
    log_xi = -topic_tables[0] / priors.word_total
    return assignments, Measures(doc_tables, word_tables, float(log_xi), float(log_joint))


def expected_topics(assignments, word_prior, precision=np.float32):
    """E[topic] (K, V) of Eq. 16 from E[βτ_w] (V,)."""
    topics = assignments.word_counts[:, 0].T + word_prior
    return (topics / topics.sum(1, keepdims=True)).astype(precision)


def infer_shares(documents, topics, geometric_prior, mean_prior):
    """Topic shares (S, K) of unread documents by Eq. 16: topics (K, V) fixed, E[n_dk] from sweeps of Eq. 15.

    geometric_prior: (K,) G[απ_k], of the sweeps; mean_prior: (K,) E[απ_k], of the shares.
    """
    words = documents.distinct_words()
    logs = np.log(np.maximum(topics.T[words], np.finfo(topics.dtype).tiny))
    tokens = np.empty((documents.num_documents, len(mean_prior)), topics.dtype)
    own = documents.indexed(words)
    kernels.infer_documents(own, logs, geometric_prior.astype(topics.dtype), MOST_SWEEPS, SETTLED, tokens)
    shares = tokens + mean_prior.astype(topics.dtype)
    return shares / shares.sum(1, keepdims=True)


def hold(weights):
    """Weights that kernels can divide by."""
    return np.maximum(weights, SMALLEST_PRIOR)


def has_settled(bound, previous, tolerance):
    """Whether a sweep changed the bound by less than this share of it; it may fall, being an approximation."""
    return bool(abs(bound - previous) < tolerance * abs(bound))


def memory(config, documents):
    """Bytes of the state and of the one that a step makes of it: a share for each topic of each entry, and counts."""
    size = np.dtype(config.precision).itemsize
    vocab_size = int(documents.words.max(initial=-1)) + 1
    return config.max_topics * (2 * size * len(documents.words) + (6 * size + 24) * vocab_size)
