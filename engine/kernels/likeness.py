"""A test of whether the counts of two topics differ by more than chance."""

import numpy as np

from stickbreaker.engine.kernels.compiled import njit
from stickbreaker.engine.kernels.special import FAST, SMALLEST_NORMAL, fast_log

# This number of words of a few hundred topics fits in a core's cache.
CACHED_WORDS = 1024
# After each block of this number of words, the comparison ends if its result is certain.
COMPARED_WORDS = 256


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


@njit(nogil=True, cache=True, error_model="numpy")
def measure_rest(topic_words: np.ndarray, corpus: np.ndarray, chosen: np.ndarray, out_distances: np.ndarray) -> None:
    """Write the distance of each chosen topic (C,) of (K, V) from the rest of the corpus (V,), at its place in (K,).

    The distance is infinite if the corpus has nothing but this topic.
    """
    zero = corpus.dtype.type(0)
    for k in chosen:
        # A sum in float32 may be less than one of its terms.
        rest = np.maximum(corpus - topic_words[k], zero)
        has_rest = add_up(rest) > zero
        out_distances[k] = distance(topic_words[k], rest, g_statistic(topic_words[k], rest)[0]) if has_rest else np.inf


@njit(nogil=True, cache=True, error_model="numpy")
def compare_pairs(topic_words: np.ndarray, pairs: np.ndarray, highest_ratio: float, out_tests: np.ndarray) -> None:
    """Write `g_statistic` of pairs (P, 2) of topics (K, V) to (P, 2): G and its degrees of freedom."""
    for p in range(pairs.shape[0]):
        one, other = topic_words[pairs[p, 0]], topic_words[pairs[p, 1]]
        out_tests[p, 0], out_tests[p, 1] = g_statistic(one, other, highest_ratio)
