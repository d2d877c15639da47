"""Whether two topics' counts differ by more than chance."""

from numba import njit

from engine.kernels.special import FAST, SMALLEST_NORMAL, fast_log


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


@njit(nogil=True, cache=True, error_model="numpy")
def compare_pairs(topic_words, pairs, out_ratios):
    """G over its degrees of freedom for pairs (P, 2) of topics (K, V), into (P,)."""
    for p in range(pairs.shape[0]):
        statistic, freedom = g_statistic(topic_words[pairs[p, 0]], topic_words[pairs[p, 1]])
        out_ratios[p] = statistic / max(freedom, 1.0)
