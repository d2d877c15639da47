"""What collapsed variational algorithms share: q(z) of a whole corpus, a pass over it, and
measures of its counts.

Source: Teh, Kurihara & Welling (2007). One deviation: all tokens of a word in a document share one
q(z), so a state holds K shares for each entry of the corpus and not for each token.
"""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import DTypeLike
from scipy.special import gammaln

from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.kernels import collapsed as kernels

INFINITY = float("inf")
# A topic with a lower weight gets no token of any corpus; the square of its inverse still fits a
# float32.
SMALLEST_PRIOR = 1e-18
MOST_ITERATIONS = 50
TOLERANCE = 1e-3


class CollapsedConfig(Protocol):
    """A config of a collapsed variational algorithm."""

    @property
    def max_topics(self) -> int: ...
    @property
    def precision(self) -> str: ...


class SoftAssignments(NamedTuple):
    """q(z) of the training documents, in the order of their ids, and the counts of words under it.

        E[n_kw] = Σ_id q(z_id = k) I[x_id = w],  V[n_kw] = Σ_id q(z_id = k) q(z_id ≠ k) I[x_id = w]
        (Teh 2007 Eq. 13)

    doc_ids: (S,); shares: (nnz, K), those of all tokens of an entry of the documents.
    word_counts: (V, 2, K), these two for each word.
    """

    doc_ids: np.ndarray
    shares: np.ndarray
    word_counts: np.ndarray

    def topic_tokens(self) -> np.ndarray:
        """Expected tokens of each topic (K,)."""
        tokens: np.ndarray = self.word_counts[:, 0].sum(0, dtype=np.float64)
        return tokens


class Priors(NamedTuple):
    """Priors added to counts: doc (K,) G[απ_k], total E[α]; words (V,) G[βτ_w], total E[β]."""

    doc: np.ndarray
    doc_total: float
    words: np.ndarray
    word_total: float


class Measures(NamedTuple):
    """Measures of the assignments after a pass, at the priors of the pass.

    doc_tables: (K,), E[s_.k]; word_tables: (V,), E[t_.w] (Eq. 12); log_xi: Σ_k E[log ξ_k] (Eq. 11).
    log_joint: E[log p(z, x | ...)] - E[log q(z)], the part of Eq. 18 without divergences, in nats.
    """

    doc_tables: np.ndarray
    word_tables: np.ndarray
    log_xi: float
    log_joint: float


def no_assignments(config: CollapsedConfig, vocab_size: int) -> SoftAssignments:
    """Assignments of no documents."""
    precision = np.dtype(config.precision)
    none = np.zeros((0, config.max_topics), precision)
    return SoftAssignments(
        doc_ids=np.zeros(0, np.int64),
        shares=none,
        word_counts=np.zeros((vocab_size, 2, config.max_topics), precision),
    )


def make_pass(
    assignments: SoftAssignments, priors: Priors, batch: Batch, rng: np.random.Generator
) -> tuple[SoftAssignments, Measures]:
    """One pass of Eq. 15 over all documents, and its Measures.

    The first pass starts from q ∝ 1 + u (sec. 4).

    Raises ValueError if the documents are not those of the assignments.
    """
    vocab_size = len(assignments.word_counts)
    documents = batch.documents.indexed(np.arange(vocab_size))
    if not len(assignments.doc_ids):
        assignments = _draw(assignments, documents, batch.doc_ids, rng)
    elif not np.array_equal(assignments.doc_ids, batch.doc_ids):
        raise ValueError(
            "These are not the documents of the earlier steps: give every step the whole corpus, in"
            " the same order."
        )
    shares = assignments.shares.copy()
    counts = assignments.word_counts.copy()
    precision = shares.dtype.type
    totals = counts.sum(0, dtype=np.float64)
    # Eq. 15 for each entry in turn; totals are in float64, since they are sums of millions.
    own = kernels.PassPriors(
        doc=priors.doc.astype(precision),
        words=priors.words.astype(precision),
        total=float(priors.word_total),
    )
    kernels.update_documents(documents, own, counts, totals, shares)
    after = SoftAssignments(doc_ids=assignments.doc_ids, shares=shares, word_counts=counts)
    return _measure(after, documents, priors)


def _draw(
    empty: SoftAssignments, documents: Documents, doc_ids: np.ndarray, rng: np.random.Generator
) -> SoftAssignments:
    """Shares ∝ 1 + u, u uniform in [0, 1), and their counts."""
    shares = 1.0 + rng.random(
        (len(documents.words), empty.shares.shape[1]), dtype=empty.shares.dtype
    )
    return _place(empty, documents, doc_ids, shares)


def _place(
    empty: SoftAssignments, documents: Documents, doc_ids: np.ndarray, shares: np.ndarray
) -> SoftAssignments:
    shares = (shares / shares.sum(1, keepdims=True)).astype(empty.shares.dtype)
    placed = SoftAssignments(
        doc_ids=np.array(doc_ids, np.int64), shares=shares, word_counts=empty.word_counts
    )
    return _count(placed, documents, np.ones(shares.shape[1]))[0]


def take_over(
    assignments: SoftAssignments, batch: Batch, tokens: np.ndarray, priors: Priors
) -> tuple[SoftAssignments, Measures]:
    """Assignments whose q(z) are another system's tokens (nnz, K) of each entry in each topic, and
    their Measures.

    A run can thus continue from the state of a sampler (Teh 2007 sec. 4, Fig. 3).
    """
    documents = batch.documents.indexed(np.arange(len(assignments.word_counts)))
    return _measure(_place(assignments, documents, batch.doc_ids, tokens), documents, priors)


def _count(
    assignments: SoftAssignments, documents: Documents, doc_prior: np.ndarray
) -> tuple[SoftAssignments, np.ndarray, np.ndarray, float, float]:
    """The assignments counted again: counts (V, 3, K), tables, terms and the entropy."""
    counts = np.zeros((len(assignments.word_counts), 3, len(doc_prior)))
    tables = np.zeros(len(doc_prior))
    terms, entropy = kernels.measure_documents(
        documents, assignments.shares, doc_prior, counts, tables
    )
    kept = np.maximum(counts[:, :2], 0.0).astype(assignments.shares.dtype)
    return assignments._replace(word_counts=kept), counts, tables, terms, entropy


def _measure(
    assignments: SoftAssignments, documents: Documents, priors: Priors
) -> tuple[SoftAssignments, Measures]:
    """The assignments with counts free of a pass's rounding errors, and their Measures."""
    assignments, counts, doc_tables, doc_terms, entropy = _count(assignments, documents, priors.doc)
    word_tables = np.zeros(len(counts))
    topic_tables = np.zeros(1)
    word_terms = kernels.measure_words(counts, priors.words, word_tables)
    # The tables of Eq. 12 are Eq. 11 times -E[β], with a topic's total instead of a word's count.
    total_terms = kernels.measure_words(
        counts.sum(0)[None], np.array([priors.word_total]), topic_tables
    )
    sizes = documents.sizes()
    # E[log p(z, x)]: Γ(E[α]) / Γ(E[α] + n_d) of documents, Γ ratios of words and topics; minus
    # E[log q(z)].
    log_joint = len(sizes) * gammaln(priors.doc_total) - gammaln(priors.doc_total + sizes).sum()
    log_joint += doc_terms + word_terms - total_terms + entropy
    log_xi = -topic_tables[0] / priors.word_total
    measures = Measures(
        doc_tables=doc_tables,
        word_tables=word_tables,
        log_xi=float(log_xi),
        log_joint=float(log_joint),
    )
    return assignments, measures


def expected_topics(
    assignments: SoftAssignments, word_prior: np.ndarray, precision: DTypeLike = np.float32
) -> np.ndarray:
    """E[topic] (K, V) of Eq. 16 from E[βτ_w] (V,)."""
    topics: np.ndarray = assignments.word_counts[:, 0].T + word_prior
    shares: np.ndarray = (topics / topics.sum(1, keepdims=True)).astype(precision)
    return shares


def infer_shares(
    documents: Documents, topics: np.ndarray, geometric_prior: np.ndarray, mean_prior: np.ndarray
) -> np.ndarray:
    """Topic shares (S, K) of unread documents by Eq. 16: topics (K, V) fixed, E[n_dk] by iterations
    of Eq. 15.

    geometric_prior: (K,) G[απ_k], for the iterations; mean_prior: (K,) E[απ_k], for the shares.
    """
    words = documents.distinct_words()
    # log φ_kw of the fixed topics; the smallest normal number stands for 0.
    logs: np.ndarray = np.log(np.maximum(topics.T[words], np.finfo(topics.dtype).tiny))
    tokens = np.empty((documents.num_documents, len(mean_prior)), topics.dtype)
    own = documents.indexed(words)
    kernels.infer_documents(
        own, logs, geometric_prior.astype(topics.dtype), MOST_ITERATIONS, TOLERANCE, tokens
    )
    shares: np.ndarray = tokens + mean_prior.astype(topics.dtype)
    normalized: np.ndarray = shares / shares.sum(1, keepdims=True)
    return normalized


def hold(weights: np.ndarray) -> np.ndarray:
    """Weights that kernels can divide by."""
    held: np.ndarray = np.maximum(weights, SMALLEST_PRIOR)
    return held


def has_converged(bound: float, previous: float, tolerance: float) -> bool:
    """Whether the change of the (approximate) bound is below the tolerance."""
    return bool(abs(bound - previous) < tolerance * abs(bound))


def memory(config: CollapsedConfig, documents: Documents) -> int:
    """Bytes of the state and of its successor: a share for each topic of each entry, and counts."""
    size = np.dtype(config.precision).itemsize
    vocab_size = int(documents.words.max(initial=-1)) + 1
    return config.max_topics * (2 * size * len(documents.words) + (6 * size + 24) * vocab_size)
