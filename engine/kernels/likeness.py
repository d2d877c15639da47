"""Whether two topics' counts differ by more than chance."""

import numpy as np
from numba import njit

from stickbreaker.engine.kernels.special import FAST, SMALLEST_NORMAL, fast_log

# So many words of some hundred topics stay in a core's cache.
CACHED_WORDS = 1024
# After so many words a comparison may already be decided.
COMPARED_WORDS = 256


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def add_terms(counts, other, share, share_other):
    """The summands of `g_statistic` over some words, none of which is negative, and their freedom."""
    statistic = freedom = counts.dtype.type(0)
    for w in range(counts.shape[0]):
        # x log x vanishes with x, and a word in neither topic adds nothing.
        one, two = counts[w] + SMALLEST_NORMAL, other[w] + SMALLEST_NORMAL
        both = one + two
        freedom += min(both + both, counts.dtype.type(1))
        statistic += one * fast_log(one / (both * share)) + two * fast_log(two / (both * share_other))
    return statistic + statistic, freedom


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def add_up(counts):
    """Σ_w of counts (V,), on vectors."""
    total = counts.dtype.type(0)
    for w in range(counts.shape[0]):
        total += counts[w]
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def g_statistic(counts, other, highest_ratio=np.inf):
    """The likelihood-ratio statistic G that counts of words (V,) and (V,) come from one topic, and its freedom.

        G = 2 Σ_w (a_w log(a_w s / (s_w a)) + b_w log(b_w s / (s_w b))),  s_w = a_w + b_w

    Its expectation for two samples of one topic is the degrees of freedom, of which a word of s_w tokens has at most
    2 s_w and one at most. It is infinite as soon as its ratio to them is sure to end above the highest.
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
def multiply_rows(rows, chosen, out_products):
    """Σ_w rows_cw rows_kw of the chosen rows (C,) with all (K, V), into (C, K); a BLAS would take both cores for it."""
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
def distance(counts, other, statistic):
    """How far two topics (V,) of that G are apart, whatever their sizes: G (a + b) / (a b), a and b being totals."""
    total, total_other = add_up(counts), add_up(other)
    return statistic / (total * (total_other / (total + total_other)))


@njit(nogil=True, cache=True, error_model="numpy")
def measure_rest(topic_words, corpus, chosen, out_distances):
    """Distances of the chosen topics (C,) of (K, V) from all that the corpus (V,) holds besides, at their places (K,).

    A topic that is all there is stands infinitely far from nothing.
    """
    zero = corpus.dtype.type(0)
    for k in chosen:
        # Sums of float32 may fall short of their parts.
        rest = np.maximum(corpus - topic_words[k], zero)
        has_rest = add_up(rest) > zero
        out_distances[k] = distance(topic_words[k], rest, g_statistic(topic_words[k], rest)[0]) if has_rest else np.inf


@njit(nogil=True, cache=True, error_model="numpy")
def compare_pairs(topic_words, pairs, highest_ratio, out_tests):
    """`g_statistic` of pairs (P, 2) of topics (K, V), into (P, 2): G, infinite if above the highest, and freedom."""
    for p in range(pairs.shape[0]):
        one, other = topic_words[pairs[p, 0]], topic_words[pairs[p, 1]]
        out_tests[p, 0], out_tests[p, 1] = g_statistic(one, other, highest_ratio)
