"""Tests of whether topics differ by more than chance: from one another, or from a mixture of other topics."""

from typing import NamedTuple

import numpy as np

from stickbreaker.engine.kernels.compiled import njit
from stickbreaker.engine.kernels.counts import LEAST_COUNT
from stickbreaker.engine.kernels.special import FAST, SMALLEST_NORMAL, fast_log

# This number of words of a few hundred topics fits in a core's cache.
CACHED_WORDS = 1024
# After each block of this number of words, the comparison ends if its result is certain.
COMPARED_WORDS = 256
# A mixture is fitted to the words with the most tokens, in this number of sweeps. Smaller weights are dropped.
MIXED_WORDS, MIXTURE_SWEEPS, LEAST_WEIGHT = 1024, 20, 0.02
# A topic is redundant only if its mixture is at most this much as far from it as the rest of the corpus is.
FARTHEST = 0.5


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def add_terms(counts: np.ndarray, other: np.ndarray, share: float, share_other: float) -> tuple[float, float]:
    """The sum of `g_statistic` over some words, whose terms are never negative, and their degrees of freedom."""
    statistic = freedom = counts.dtype.type(0)
    for w in range(counts.shape[0]):
        # x log x tends to 0 with x, so a word that neither topic has adds nothing.
        one, two = counts[w] + SMALLEST_NORMAL, other[w] + SMALLEST_NORMAL
        both = one + two
        freedom += min(both + both, counts.dtype.type(1))
        statistic += one * fast_log(one / (both * share)) + two * fast_log(two / (both * share_other))
    return statistic + statistic, freedom


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def add_up(counts: np.ndarray) -> float:
    """The sum of counts (V,)."""
    total: float = counts.dtype.type(0)
    for w in range(counts.shape[0]):
        total += counts[w]
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def g_statistic(counts: np.ndarray, other: np.ndarray, highest_ratio: float = np.inf) -> tuple[float, float]:
    """The likelihood-ratio statistic G of the hypothesis that two counts (V,) come from one topic, and its freedom.

        G = 2 Σ_w (a_w log(a_w s / (s_w a)) + b_w log(b_w s / (s_w b))),  s_w = a_w + b_w

    For two samples of one topic its expectation is the degrees of freedom. A word of s_w tokens adds min(2 s_w, 1) to
    them. G is returned as infinite as soon as its ratio to them is certain to exceed `highest_ratio`.
    """
    total, total_other = add_up(counts), add_up(other)
    share, share_other = total / (total + total_other), total_other / (total + total_other)
    statistic = freedom = 0.0
    for first in range(0, counts.shape[0], COMPARED_WORDS):
        last = min(first + COMPARED_WORDS, counts.shape[0])
        terms, free = add_terms(counts[first:last], other[first:last], share, share_other)
        statistic, freedom = statistic + terms, freedom + free
        if statistic > highest_ratio * (freedom + counts.shape[0] - last):
            return np.inf, freedom
    return statistic, freedom - 1.0


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def multiply_rows(rows: np.ndarray, chosen: np.ndarray, out_products: np.ndarray) -> None:
    """Write Σ_w rows_cw rows_kw of the chosen rows (C,) with all rows (K, V) to (C, K); BLAS would use more threads."""
    out_products[:] = 0.0
    num_rows, zero = rows.shape[0], rows.dtype.type(0)
    for first in range(0, rows.shape[1], CACHED_WORDS):
        last = min(first + CACHED_WORDS, rows.shape[1])
        for c in range(chosen.shape[0]):
            row, out = rows[chosen[c], first:last], out_products[c]
            whole = num_rows - num_rows % 4
            for k in range(0, whole, 4):
                row_0, row_1 = rows[k, first:last], rows[k + 1, first:last]
                row_2, row_3 = rows[k + 2, first:last], rows[k + 3, first:last]
                product_0 = product_1 = product_2 = product_3 = zero
                for w in range(last - first):
                    product_0 += row[w] * row_0[w]
                    product_1 += row[w] * row_1[w]
                    product_2 += row[w] * row_2[w]
                    product_3 += row[w] * row_3[w]
                out[k] += product_0
                out[k + 1] += product_1
                out[k + 2] += product_2
                out[k + 3] += product_3
            for k in range(whole, num_rows):
                other, product = rows[k, first:last], zero
                for w in range(last - first):
                    product += row[w] * other[w]
                out[k] += product


@njit(nogil=True, cache=True, error_model="numpy")
def distance(counts: np.ndarray, other: np.ndarray, statistic: float) -> float:
    """The distance of two topics (V,) with statistic G, for any sizes: G (a + b) / (a b), a and b their totals."""
    total, total_other = add_up(counts), add_up(other)
    return statistic / (total * (total_other / (total + total_other)))


class Search(NamedTuple):
    """What `find_redundant` accepts: the highest ratio of G to its freedom, and the fewest tokens of a topic."""

    highest_ratio: float
    least_tokens: float


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def measure_likeness(roots: np.ndarray, k: int, tokens: np.ndarray, least: float, out_likeness: np.ndarray) -> None:
    """Write the Bhattacharyya coefficients of topic k with all topics to (K,); -1 for k and for topics below `least`.

    roots: (K, W), square roots of the counts of W words; tokens: (K,).
    """
    own, zero = roots[k], roots.dtype.type(0)
    for other in range(roots.shape[0]):
        if other == k or tokens[other] < least:
            out_likeness[other] = -1.0
            continue
        row, product = roots[other], zero
        for w in range(own.shape[0]):
            product += own[w] * row[w]
        out_likeness[other] = product / np.sqrt(tokens[k] * tokens[other])


@njit(nogil=True, cache=True, error_model="numpy")
def choose_likest(likeness: np.ndarray, out_chosen: np.ndarray) -> int:
    """Write the topics with the highest likeness (K,), at least 0, to (P,), highest first; return their number."""
    number = 0
    for k in range(likeness.shape[0]):
        if likeness[k] < 0.0 or (number == out_chosen.shape[0] and likeness[k] <= likeness[out_chosen[number - 1]]):
            continue
        place = min(number, out_chosen.shape[0] - 1)
        while place > 0 and likeness[out_chosen[place - 1]] < likeness[k]:
            out_chosen[place] = out_chosen[place - 1]
            place -= 1
        out_chosen[place] = k
        number = min(number + 1, out_chosen.shape[0])
    return number


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def fit_mixture(counts: np.ndarray, topics: np.ndarray, out_weights: np.ndarray, out_scratch: np.ndarray) -> None:
    """Write the weights (P,) with which a mixture of topics (P, W) fits counts (W,) best, by EM from equal weights.

    topics: shares of the W words; out_scratch: (W,), working memory.
    """
    zero, one = counts.dtype.type(0), counts.dtype.type(1)
    out_weights[:] = one / out_weights.shape[0]
    for _ in range(MIXTURE_SWEEPS):
        out_scratch[:] = 0.0
        for m in range(topics.shape[0]):
            row, weight = topics[m], out_weights[m]
            for w in range(row.shape[0]):
                out_scratch[w] += weight * row[w]
        for w in range(counts.shape[0]):
            out_scratch[w] = counts[w] / out_scratch[w]
        total = zero
        for m in range(topics.shape[0]):
            row, part = topics[m], zero
            for w in range(row.shape[0]):
                part += row[w] * out_scratch[w]
            out_weights[m] *= part
            total += out_weights[m]
        for m in range(out_weights.shape[0]):
            out_weights[m] /= total


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def mix_counts(counts: np.ndarray, parents: np.ndarray, factors: np.ndarray, out_mixed: np.ndarray) -> None:
    """Write Σ_m factors_m counts_mw of the parents (P,) among topics (K, V) to (V,)."""
    out_mixed[:] = 0.0
    for m in range(parents.shape[0]):
        row, factor = counts[parents[m]], factors[m]
        for w in range(row.shape[0]):
            out_mixed[w] += factor * row[w]


@njit(nogil=True, cache=True, error_model="numpy")
def is_explained(
    own: np.ndarray, mixed: np.ndarray, corpus: np.ndarray, highest_ratio: float, out_scratch: np.ndarray
) -> bool:
    """Whether counts (V,) differ from mixed counts (V,) by a low G, and by half as much as from the rest of the corpus.

    The second condition fails while all topics are alike. out_scratch: (V,), working memory.
    """
    statistic, freedom = g_statistic(own, mixed, highest_ratio)
    if not statistic < highest_ratio * max(freedom, 1.0):
        return False
    zero = corpus.dtype.type(0)
    for w in range(corpus.shape[0]):
        # A sum in float32 may be less than one of its terms.
        out_scratch[w] = max(corpus[w] - own[w], zero)
    if not add_up(out_scratch) > zero:
        return False
    rest = distance(own, out_scratch, g_statistic(own, out_scratch)[0])
    return distance(own, mixed, statistic) < FARTHEST * rest


@njit(nogil=True, cache=True, error_model="numpy")
def find_redundant(
    out_counts: np.ndarray,
    order: np.ndarray,
    search: Search,
    out_topics: np.ndarray,
    out_parents: np.ndarray,
    out_weights: np.ndarray,
) -> int:
    """Find topics that a mixture of others explains, in the given order, and add their counts to those others.

    out_counts: (K, V), read and changed, the words with the most tokens first; order: ids of topics. Each topic found
    and the topics and weights of its mixture are written to the next row of (K,), (K, P) and (K, P). Returns their
    number.
    """
    num_topics, num_words = out_counts.shape
    num_near, most = min(num_words, MIXED_WORDS), out_parents.shape[1]
    corpus, tokens = np.zeros(num_words, out_counts.dtype), np.zeros(num_topics)
    for k in range(num_topics):
        tokens[k] = add_up(out_counts[k])
        for w in range(num_words):
            corpus[w] += out_counts[k, w]
    roots = np.sqrt(out_counts[:, :num_near])
    likeness, chosen = np.empty(num_topics), np.empty(most, np.int64)
    near, weights = np.empty((most, num_near), out_counts.dtype), np.empty(most, out_counts.dtype)
    mixed, scratch, factors = np.empty_like(corpus), np.empty_like(corpus), np.empty(most, out_counts.dtype)
    number = 0
    for k in order:
        if tokens[k] < search.least_tokens:
            continue
        measure_likeness(roots, k, tokens, search.least_tokens, likeness)
        num_parents = choose_likest(likeness, chosen)
        if num_parents == 0:
            continue
        for m in range(num_parents):
            for w in range(num_near):
                near[m, w] = (out_counts[chosen[m], w] + LEAST_COUNT) / tokens[chosen[m]]
        fit_mixture(out_counts[k, :num_near], near[:num_parents], weights[:num_parents], scratch[:num_near])
        num_parents = drop_small(chosen, weights, num_parents)
        size = mixture_size(chosen[:num_parents], weights, tokens)
        for m in range(num_parents):
            factors[m] = size * weights[m] / tokens[chosen[m]]
        mix_counts(out_counts, chosen[:num_parents], factors, mixed)
        if not is_explained(out_counts[k], mixed, corpus, search.highest_ratio, scratch):
            continue
        out_topics[number] = k
        for m in range(num_parents):
            out_parents[number, m], out_weights[number, m] = chosen[m], weights[m]
            factors[m] = weights[m] / tokens[chosen[m]]
        number += 1
        share_out(out_counts, k, chosen[:num_parents], factors, scratch)
        for m in range(num_parents):
            parent = chosen[m]
            tokens[parent] = add_up(out_counts[parent])
            for w in range(num_near):
                roots[parent, w] = np.sqrt(out_counts[parent, w])
        tokens[k] = 0.0
    return number


@njit(nogil=True, cache=True, error_model="numpy")
def drop_small(out_chosen: np.ndarray, out_weights: np.ndarray, number: int) -> int:
    """Keep only the topics (P,) whose weight is at least LEAST_WEIGHT; weights sum to 1 again. Returns their number."""
    kept, total = 0, 0.0
    for m in range(number):
        if out_weights[m] >= LEAST_WEIGHT:
            out_chosen[kept], out_weights[kept] = out_chosen[m], out_weights[m]
            total += out_weights[m]
            kept += 1
    for m in range(kept):
        out_weights[m] /= total
    return kept


@njit(nogil=True, cache=True, error_model="numpy")
def mixture_size(parents: np.ndarray, weights: np.ndarray, tokens: np.ndarray) -> float:
    """The number of tokens whose sample varies as much as the mixture of topics with these tokens (K,) does."""
    variance = 0.0
    for m in range(parents.shape[0]):
        variance += np.float64(weights[m]) ** 2 / tokens[parents[m]]
    return 1.0 / variance


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def share_out(
    out_counts: np.ndarray, k: int, parents: np.ndarray, factors: np.ndarray, out_scratch: np.ndarray
) -> None:
    """Add each word's tokens of topic k to the parents (P,), in proportion to factors (P,) times their own tokens.

    out_counts: (K, V), read and changed; topic k is left with 0. out_scratch: (V,), working memory.
    """
    out_scratch[:], least = 0.0, out_counts.dtype.type(LEAST_COUNT)
    for m in range(parents.shape[0]):
        row, factor = out_counts[parents[m]], factors[m]
        for w in range(row.shape[0]):
            out_scratch[w] += factor * (row[w] + least)
    own = out_counts[k]
    for w in range(own.shape[0]):
        out_scratch[w] = own[w] / out_scratch[w]
        own[w] = 0.0
    for m in range(parents.shape[0]):
        row, factor = out_counts[parents[m]], factors[m]
        for w in range(row.shape[0]):
            row[w] += factor * (row[w] + least) * out_scratch[w]
