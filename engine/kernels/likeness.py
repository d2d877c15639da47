"""Whether two topics' counts differ by more than chance."""

from numba import njit

from engine.kernels.special import FAST, SMALLEST_NORMAL, fast_log

# So many words of some hundred topics stay in a core's cache.
CACHED_WORDS = 1024


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def g_statistic(counts, other):
    """The likelihood-ratio statistic G that counts of words (V,) and (V,) come from one topic, and its freedom.

        G = 2 Σ_w (a_w log(a_w s / (s_w a)) + b_w log(b_w s / (s_w b))),  s_w = a_w + b_w

    Its expectation for two samples of one topic is the degrees of freedom, of which a word of s_w tokens has at most
    2 s_w and one at most.
    """
    total = total_other = statistic = freedom = counts.dtype.type(0)
    for w in range(counts.shape[0]):
        total += counts[w]
        total_other += other[w]
    share, share_other = total / (total + total_other), total_other / (total + total_other)
    for w in range(counts.shape[0]):
        # x log x vanishes with x, and a word in neither topic adds nothing.
        one, two = counts[w] + SMALLEST_NORMAL, other[w] + SMALLEST_NORMAL
        both = one + two
        freedom += min(both + both, counts.dtype.type(1))
        statistic += one * fast_log(one / (both * share)) + two * fast_log(two / (both * share_other))
    return statistic + statistic, freedom - 1


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def multiply_rows(rows, chosen, out_products):
    """Σ_w rows_cw rows_kw of the chosen rows (C,) with all (K, V), into (C, K); a BLAS would take both cores for it."""
    out_products[:] = 0.0
    for first in range(0, rows.shape[1], CACHED_WORDS):
        last = min(first + CACHED_WORDS, rows.shape[1])
        for c in range(chosen.shape[0]):
            row = rows[chosen[c], first:last]
            for k in range(rows.shape[0]):
                other, product = rows[k, first:last], rows.dtype.type(0)
                for w in range(last - first):
                    product += row[w] * other[w]
                out_products[c, k] += product


@njit(nogil=True, cache=True, error_model="numpy")
def compare_pairs(topic_words, pairs, out_ratios):
    """G over its degrees of freedom for pairs (P, 2) of topics (K, V), into (P,)."""
    for p in range(pairs.shape[0]):
        statistic, freedom = g_statistic(topic_words[pairs[p, 0]], topic_words[pairs[p, 1]])
        out_ratios[p] = statistic / max(freedom, 1.0)
