"""Collapsed variational updates: q(z) of every word of every document, and sums of the counts under
q.

Letters in the bodies are those of Teh, Kurihara & Welling (2007): a = G[απ_k], b = G[βτ_w] and E[β]
are the prior's parameters, which are added to counts; P₊, E₊ and V₊ are the probability of a count
above zero, and its mean and variance given that. A count is a sum of independent draws, so three
sums describe it (Eq. 13): its mean Σ q, variance Σ q(1-q) and log probability of zero Σ log(1-q).
An axis of length two or three holds them in this order. All tokens of a word in a document share
one q, so each sum multiplies an entry by the word's count in the document.
"""

import math
from typing import NamedTuple

import numpy as np

from stickbreaker.engine.kernels.compiled import DocumentArrays, njit
from stickbreaker.engine.kernels.special import (
    FAST,
    FINITE,
    SMALLEST_NORMAL,
    fast_exp,
    fast_log,
    log_gamma_derivatives,
)

# A share below e^-41 is set to zero: it is negligible, and arithmetic on denormal float32 is slow.
SMALLEST_LOG_SHARE = -41.0
# Below this mean, the probability of a count above zero is set to the mean, and such a count to
# one: error 1e-8 of it.
RARE = 1e-8
# The series of log(1 - q) is within 1e-10 of the logarithm up to SERIES_ENDS; float32 constants
# keep q's precision.
ONE = np.float32(1)
SERIES_ENDS = np.float32(0.02)
SERIES = (
    np.float32(1 / 2),
    np.float32(1 / 3),
    np.float32(1 / 4),
    np.float32(1 / 5),
    np.float32(1 / 6),
)


class PassPriors(NamedTuple):
    """The prior in Eq. 15: doc (K,) G[απ_k], words (V,) G[βτ_w], total E[β] or the like."""

    doc: np.ndarray
    words: np.ndarray
    total: float


@njit(nogil=True, cache=True, fastmath=FINITE, error_model="numpy")
def score_token(
    q: np.ndarray,
    priors: PassPriors,
    word: int,
    doc_counts: np.ndarray,
    word_counts: np.ndarray,
    total_counts: np.ndarray,
    out_log: np.ndarray,
) -> float:
    """Write the log of Eq. 15 for one token, without its own q (K,); return the largest."""
    zero = q.dtype.type(0)
    half = q.dtype.type(0.5)
    one = q.dtype.type(1)
    b_0 = priors.words[word]
    total_0 = q.dtype.type(priors.total)
    highest: float = q.dtype.type(-np.inf)
    for k in range(q.shape[0]):
        own = q[k]
        # The token's own share leaves the means and variances of Eq. 13.
        own_variance = own * (one - own)
        doc_mean = max(doc_counts[0, k] - own, zero)
        word_mean = max(word_counts[0, k] - own, zero)
        # One over G[απ_k] + E[n_jk], over G[βτ_w] + E[n_kw], and over E[β] + E[n_k].
        a = one / (priors.doc[k] + doc_mean)
        b = one / (b_0 + word_mean)
        t = one / (total_0 + max(total_counts[0, k] - own, zero))
        # The variance of a sum of draws never exceeds its mean; rounding must not break this.
        doc_variance = min(max(doc_counts[1, k] - own_variance, zero), doc_mean) * a
        word_variance = min(max(word_counts[1, k] - own_variance, zero), word_mean) * b
        total_variance = max(total_counts[1, k] - own_variance, zero) * t
        # The second-order terms V/2(a + E)², and the logs of the three factors of Eq. 15.
        second = total_variance * t - doc_variance * a - word_variance * b
        out_log[k] = half * second + fast_log(max(t, SMALLEST_NORMAL)) - fast_log(a) - fast_log(b)
        highest = max(highest, out_log[k])
    return highest


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def normalise(highest: float, out_share: np.ndarray) -> None:
    """Replace logs (K,), of which `highest` is the largest, by shares (K,) that sum to 1."""
    norm = out_share.dtype.type(0)
    smallest = out_share.dtype.type(SMALLEST_LOG_SHARE)
    for k in range(out_share.shape[0]):
        shift = out_share[k] - highest
        out_share[k] = fast_exp(shift) if shift > smallest else out_share.dtype.type(0)
        norm += out_share[k]
    scale = out_share.dtype.type(1) / norm
    for k in range(out_share.shape[0]):
        out_share[k] *= scale


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def move_tokens(c: float, old: np.ndarray, new: np.ndarray, out_counts: np.ndarray) -> None:
    """Update means and variances (2, K) when the shares of c tokens change to `new` (K,)."""
    one = new.dtype.type(1)
    for k in range(new.shape[0]):
        out_counts[0, k] += c * (new[k] - old[k])
        out_counts[1, k] += c * (new[k] * (one - new[k]) - old[k] * (one - old[k]))


# Without fastmath: numba keeps a copy of this function in the code of each caller, and the copy
# that is loaded first serves all. Fused or reordered operations would round differently in each
# copy.
@njit(nogil=True, cache=True, error_model="numpy")
def count_document(counts: np.ndarray, q: np.ndarray, out_doc: np.ndarray) -> None:
    """Write means and variances (2, K) of a document's topic counts, from n counts and q."""
    out_doc[:] = 0.0
    for i in range(counts.shape[0]):
        c = q.dtype.type(counts[i])
        row = q[i]
        for k in range(row.shape[0]):
            out_doc[0, k] += c * row[k]
            out_doc[1, k] += c * row[k] * (q.dtype.type(1) - row[k])


@njit(nogil=True, cache=True, error_model="numpy")
def update_documents(
    documents: DocumentArrays,
    priors: PassPriors,
    out_word_counts: np.ndarray,
    out_total_counts: np.ndarray,
    out_q: np.ndarray,
) -> None:
    """Apply Eq. 15 to each entry of each document in turn.

    The counts are updated after every entry.

    Read and written: means and variances of words' counts (V, 2, K); those of the topics' totals
    (2, K) float64, which change at the end of a document; shares q (nnz, K).
    """
    num_topics = out_q.shape[1]
    doc = np.empty((2, num_topics), out_q.dtype)
    total = np.empty((2, num_topics), out_q.dtype)
    new = np.empty(num_topics, out_q.dtype)
    for j in range(documents.starts.shape[0] - 1):
        first = documents.starts[j]
        last = documents.starts[j + 1]
        count_document(documents.counts[first:last], out_q[first:last], doc)
        out_total_counts -= doc
        # Adding one token to a float32 total of millions would be lost to rounding; a document's
        # sum is not.
        total[:] = out_total_counts + doc
        for i in range(first, last):
            word = documents.words[i]
            c = out_q.dtype.type(documents.counts[i])
            # q of Eq. 15 replaces the old one, and the three counts follow at once.
            highest = score_token(out_q[i], priors, word, doc, out_word_counts[word], total, new)
            normalise(highest, new)
            for counts in (doc, out_word_counts[word], total):
                move_tokens(c, out_q[i], new, counts)
            out_q[i, :] = new
        count_document(documents.counts[first:last], out_q[first:last], doc)
        out_total_counts += doc


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def log_complement(share: np.float32) -> float | np.float32:
    """log(1 - q), by its series near 0; at q = 1 the log of the smallest normal number."""
    half, third, fourth, fifth, sixth = SERIES
    tail = share * (half + share * (third + share * (fourth + share * (fifth + share * sixth))))
    series = -share - share * tail
    return series if share < SERIES_ENDS else fast_log(max(ONE - share, SMALLEST_NORMAL))


@njit(nogil=True, cache=True, error_model="numpy")
def split_positive(mean: float, variance: float, log_zero: float) -> tuple[float, float, float]:
    """(P₊, E₊, V₊) of a count, Eq. 14 with its erratum: V₊ = V/P₊ - e^Z E₊²."""
    positive = -math.expm1(log_zero)
    if mean < RARE:
        return mean, 1.0, 0.0
    given = max(mean / positive, 1.0)
    return positive, given, max(variance / positive - (1.0 - positive) * given * given, 0.0)


@njit(nogil=True, cache=True, error_model="numpy")
def prior_terms(a: np.ndarray) -> np.ndarray:
    """a, log Γ(a) and ψ(a + 1), (3, K): a ψ(a) is a ψ(a + 1) - 1, even if ψ(a) overflows."""
    terms = np.empty((3, a.shape[0]))
    for k in range(a.shape[0]):
        terms[0, k] = a[k]
        terms[1, k] = log_gamma_derivatives(a[k])[0]
        terms[2, k] = log_gamma_derivatives(a[k] + 1.0)[1]
    return terms


@njit(nogil=True, cache=True, error_model="numpy")
def expect_tables(counts: np.ndarray, prior: np.ndarray) -> tuple[float, float]:
    """Expected tables of a count (Eq. 12), and F[log Γ(a + n) - log Γ(a)] (below Eq. 18)."""
    a, log_gamma_a, digamma_a = prior
    if counts[0] < RARE:
        return counts[0], counts[0] * math.log(a)
    # Eq. 12: P₊ a (ψ(a + E₊) - ψ(a) + V₊ ψ''(a + E₊) / 2), with a ψ(a) = a ψ(a + 1) - 1.
    positive, given, spread = split_positive(counts[0], counts[1], counts[2])
    log_gamma, first, second, third = log_gamma_derivatives(a + given)
    tables = 1.0 + a * (first - digamma_a + 0.5 * spread * third)
    return positive * max(tables, 0.0), positive * (log_gamma - log_gamma_a + 0.5 * spread * second)


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def add_entry(c: float, q: np.ndarray, out_doc: np.ndarray, out_word: np.ndarray) -> float:
    """Add c tokens with shares q (K,) to the sums (3, K) of their document and word.

    Return c Σ -q log q.
    """
    entropy: float = q.dtype.type(0)
    one = q.dtype.type(1)
    for k in range(q.shape[0]):
        mean = c * q[k]
        variance = c * q[k] * (one - q[k])
        log_zero = c * log_complement(q[k])
        out_doc[0, k] += mean
        out_doc[1, k] += variance
        out_doc[2, k] += log_zero
        out_word[0, k] += mean
        out_word[1, k] += variance
        out_word[2, k] += log_zero
        entropy -= q[k] * fast_log(max(q[k], SMALLEST_NORMAL))
    return c * entropy


@njit(nogil=True, cache=True, error_model="numpy")
def measure_documents(
    documents: DocumentArrays,
    q: np.ndarray,
    a: np.ndarray,
    out_word_counts: np.ndarray,
    out_tables: np.ndarray,
) -> tuple[float, float]:
    """Add all documents to the sums (V, 3, K) of words' counts and to the expected tables (K,).

    a: (K,) float64, G[απ_k]. Returns Σ_dk F[log Γ(a_k + n_dk)/Γ(a_k)] and the entropy of q(z).
    """
    terms = entropy = 0.0
    prior = prior_terms(a)
    doc = np.empty((3, q.shape[1]))
    for j in range(documents.starts.shape[0] - 1):
        doc[:] = 0.0
        for i in range(documents.starts[j], documents.starts[j + 1]):
            c = q.dtype.type(documents.counts[i])
            entropy += add_entry(c, q[i], doc, out_word_counts[documents.words[i]])
        for k in range(a.shape[0]):
            # E[s_jk] of Eq. 12, and the document's term of the bound below Eq. 18.
            tables, term = expect_tables(doc[:, k], prior[:, k])
            out_tables[k] += tables
            terms += term
    return terms, entropy


@njit(nogil=True, cache=True, error_model="numpy")
def measure_words(word_counts: np.ndarray, b: np.ndarray, out_tables: np.ndarray) -> float:
    """Add expected tables of counts (V, 3, K) to out_tables (V,).

    Return Σ_kw F[log Γ(b_w + n_kw)/Γ(b_w)].
    """
    terms = 0.0
    prior = prior_terms(b)
    for w in range(b.shape[0]):
        for k in range(word_counts.shape[2]):
            tables, term = expect_tables(word_counts[w, :, k], prior[:, w])
            out_tables[w] += tables
            terms += term
    return terms


@njit(nogil=True, cache=True, fastmath=FINITE, error_model="numpy")
def score_known_topics(
    q: np.ndarray,
    prior: np.ndarray,
    topics: np.ndarray,
    doc_counts: np.ndarray,
    out_log: np.ndarray,
) -> float:
    """Write the log of Eq. 15 with log φ_kw (K,) of fixed topics in place of the corpus' counts.

    Return the largest.
    """
    zero = q.dtype.type(0)
    half = q.dtype.type(0.5)
    one = q.dtype.type(1)
    highest: float = q.dtype.type(-np.inf)
    for k in range(q.shape[0]):
        own = q[k]
        mean = max(doc_counts[0, k] - own, zero)
        a = one / (prior[k] + mean)
        variance = min(max(doc_counts[1, k] - own * (one - own), zero), mean) * a
        out_log[k] = topics[k] - fast_log(a) - half * variance * a
        highest = max(highest, out_log[k])
    return highest


@njit(nogil=True, cache=True, error_model="numpy")
def infer_documents(
    documents: DocumentArrays,
    log_topics: np.ndarray,
    prior: np.ndarray,
    most: int,
    tolerance: float,
    out_tokens: np.ndarray,
) -> None:
    """Write the expected tokens (S, K) of new documents, whose words index log φ (U, K).

    Starts from q ∝ a_k φ_kw. Iterates at most `most` times, until an iteration moves less than
    `tolerance` of the tokens.
    """
    num_topics = prior.shape[0]
    doc = np.zeros((2, num_topics), prior.dtype)
    new = np.empty(num_topics, prior.dtype)
    for j in range(documents.starts.shape[0] - 1):
        first = documents.starts[j]
        last = documents.starts[j + 1]
        words = documents.words[first:last]
        counts = documents.counts[first:last]
        # The first q of each word, from empty counts, is ∝ a_k φ_kw.
        q = np.zeros((words.shape[0], num_topics), prior.dtype)
        doc[:] = 0.0
        for i in range(words.shape[0]):
            normalise(score_known_topics(q[i], prior, log_topics[words[i]], doc, new), new)
            q[i, :] = new
        count_document(counts, q, doc)
        for _ in range(most):
            change = 0.0
            for i in range(words.shape[0]):
                c = prior.dtype.type(counts[i])
                normalise(score_known_topics(q[i], prior, log_topics[words[i]], doc, new), new)
                move_tokens(c, q[i], new, doc)
                change += c * np.abs(new - q[i]).sum()
                q[i, :] = new
            # A token that moves changes two shares, so |Δq| counts it twice.
            if change < 2.0 * tolerance * counts.sum():
                break
        count_document(counts, q, doc)
        out_tokens[j, :] = doc[0]
