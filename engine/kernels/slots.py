"""The updates of a document's slots and sticks (Wang 2011 Eq. 15-18), each by itself.

Letters and padding as in `two_level.py`.
"""

from numba import njit

from engine.kernels.special import FAST, FINITE, fast_digamma, fast_exp

# Stands for log 0, and stays finite in sums.
LOWEST = -1e30
# A share below e^-41 is no normal float32 times anything; as zero it costs nothing.
SMALLEST_LOG = -41.0


@njit(nogil=True, cache=True, error_model="numpy")
def update_sticks(totals, doc_concentration, out_sticks):
    """Eq. 15 and 16 from the tokens of each slot (T,), into rows a and b of the sticks (2, T); the last is 1."""
    last = totals.shape[0] - 1
    after = totals.dtype.type(0)
    for t in range(last - 1, -1, -1):
        after += totals[t + 1]
        out_sticks[0, t] = 1.0 + totals[t]
        out_sticks[1, t] = doc_concentration + after
    out_sticks[0, last], out_sticks[1, last] = 1.0, 0.0


@njit(nogil=True, cache=True, error_model="numpy")
def expected_log_sticks(sticks, out_log):
    """E[log π_t] (T,) of the sticks (2, T); Wang 2011 below Eq. 21."""
    left = out_log.dtype.type(0)
    for t in range(out_log.shape[0] - 1):
        total = fast_digamma(sticks[0, t] + sticks[1, t])
        out_log[t] = fast_digamma(sticks[0, t]) - total + left
        left += fast_digamma(sticks[1, t]) - total
    out_log[-1] = left


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def mix_topics(phi, weights, out_mixed):
    """Σ_m φ_tm weights_mi (T, N): two slots and four topics at a time, over all words at once."""
    num_words = weights.shape[1]
    for t in range(0, phi.shape[0], 2):
        share, other = phi[t], phi[t + 1]
        mixed, mixed_other = out_mixed[t], out_mixed[t + 1]
        mixed[:] = 0.0
        mixed_other[:] = 0.0
        for m in range(0, weights.shape[0], 4):
            share_0, share_1, share_2, share_3 = share[m], share[m + 1], share[m + 2], share[m + 3]
            other_0, other_1, other_2, other_3 = other[m], other[m + 1], other[m + 2], other[m + 3]
            row_0, row_1, row_2, row_3 = weights[m], weights[m + 1], weights[m + 2], weights[m + 3]
            for i in range(num_words):
                mixed[i] += share_0 * row_0[i] + share_1 * row_1[i] + share_2 * row_2[i] + share_3 * row_3[i]
                mixed_other[i] += other_0 * row_0[i] + other_1 * row_1[i] + other_2 * row_2[i] + other_3 * row_3[i]


@njit(nogil=True, cache=True, fastmath=FINITE, error_model="numpy")
def assign_words(c, log_pi, is_geometric, per_word, tokens):
    """c_i ζ_it in place of the mixtures (T, N): ζ_it ∝ exp(E log π_t) Σ_m φ_tm B_im, or Eq. 18 where is_geometric.

    Slots beyond those of the sticks (padding) get no word.
    """
    num_words, num_slots = c.shape[0], log_pi.shape[0]
    highest, norm = per_word[0], per_word[1]
    norm[:num_words] = 0.0
    top, zero = log_pi.max(), log_pi.dtype.type(0)
    if is_geometric:
        exponentiate(log_pi, num_words, highest, tokens)
    for t in range(num_slots):
        row = tokens[t]
        share = fast_exp(log_pi[t] - top) if log_pi[t] - top > SMALLEST_LOG else zero
        if is_geometric:
            share = zero + 1
        for i in range(num_words):
            row[i] *= share
            norm[i] += row[i]
    for i in range(num_words):
        norm[i] = c[i] / norm[i]
    for t in range(num_slots):
        row = tokens[t]
        for i in range(num_words):
            row[i] *= norm[i]
    tokens[num_slots:] = 0.0


@njit(nogil=True, cache=True, fastmath=FINITE, error_model="numpy")
def exponentiate(log_pi, num_words, highest, tokens):
    """Logarithms (T, N) of the shares, before E[log π] is added, to shares that are at most 1."""
    highest[:num_words] = LOWEST
    for t in range(log_pi.shape[0]):
        for i in range(num_words):
            tokens[t, i] += log_pi[t]
            highest[i] = max(highest[i], tokens[t, i])
    for t in range(log_pi.shape[0]):
        for i in range(num_words):
            tokens[t, i] = fast_exp(tokens[t, i] - highest[i])


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def update_slot_topics(log_weights, tokens, expected_log_weights, out_phi):
    """Eq. 17: φ_tk ∝ exp(Σ_i c_i ζ_it log B_ik + E log β_k); two slots and four topics at a time."""
    num_words, zero = log_weights.shape[1], out_phi.dtype.type(0)
    for t in range(0, out_phi.shape[0], 2):
        own, other = tokens[t], tokens[t + 1]
        for m in range(0, log_weights.shape[0], 4):
            row_0, row_1, row_2, row_3 = log_weights[m], log_weights[m + 1], log_weights[m + 2], log_weights[m + 3]
            own_0 = own_1 = own_2 = own_3 = other_0 = other_1 = other_2 = other_3 = zero
            for i in range(num_words):
                own_0 += own[i] * row_0[i]
                own_1 += own[i] * row_1[i]
                own_2 += own[i] * row_2[i]
                own_3 += own[i] * row_3[i]
                other_0 += other[i] * row_0[i]
                other_1 += other[i] * row_1[i]
                other_2 += other[i] * row_2[i]
                other_3 += other[i] * row_3[i]
            out_phi[t, m], out_phi[t, m + 1], out_phi[t, m + 2], out_phi[t, m + 3] = own_0, own_1, own_2, own_3
            phi = out_phi[t + 1]
            phi[m], phi[m + 1], phi[m + 2], phi[m + 3] = other_0, other_1, other_2, other_3
    for t in range(out_phi.shape[0]):
        add_and_normalise(expected_log_weights, out_phi[t])


@njit(nogil=True, cache=True, fastmath=FINITE, error_model="numpy")
def add_and_normalise(expected_log_weights, out_row):
    """Shares (A,) in place of their logarithms, to which E[log β] is first added."""
    out_row += expected_log_weights
    highest = out_row[0]
    for m in range(out_row.shape[0]):
        highest = max(highest, out_row[m])
    norm = zero = out_row.dtype.type(0)
    for m in range(out_row.shape[0]):
        out_row[m] = fast_exp(out_row[m] - highest) if out_row[m] - highest > SMALLEST_LOG else zero
    for m in range(out_row.shape[0]):
        norm += out_row[m]
    for m in range(out_row.shape[0]):
        out_row[m] /= norm
