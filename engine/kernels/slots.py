"""The updates of a document's slots and sticks (Wang 2011 Eq. 15-18), one function each, and the
expected tokens.

Letters and padding as in `two_level.py`.
"""

import numpy as np

from stickbreaker.engine.kernels.compiled import njit
from stickbreaker.engine.kernels.special import FAST, FINITE, fast_digamma, fast_exp
from stickbreaker.engine.kernels.vectors import (
    WIDTH,
    add_product,
    larger,
    largest,
    load,
    splat,
    store,
    store_sums,
)

# Used for log 0; sums with it stay finite.
LOWEST = -1e30
# A share below e^-41 may become a denormal float32, on which arithmetic is slow, so it is set to
# zero.
SMALLEST_LOG = -41.0


@njit(nogil=True, cache=True, error_model="numpy")
def update_sticks(totals: np.ndarray, doc_concentration: float, out_sticks: np.ndarray) -> None:
    """Apply Eq. 15 and 16: write rows a and b of the sticks (2, T) from the tokens of each slot
    (T,); the last is 1.
    """
    last = totals.shape[0] - 1
    after = totals.dtype.type(0)
    # a_t = 1 + Σ_i c_i ζ_it, b_t = α₀ + Σ_{s>t} Σ_i c_i ζ_is.
    for t in range(last - 1, -1, -1):
        after += totals[t + 1]
        out_sticks[0, t] = 1.0 + totals[t]
        out_sticks[1, t] = doc_concentration + after
    out_sticks[0, last] = 1.0
    out_sticks[1, last] = 0.0


@njit(nogil=True, cache=True, error_model="numpy")
def expected_log_sticks(sticks: np.ndarray, out_digammas: np.ndarray, out_log: np.ndarray) -> None:
    """Write E[log π_t] (T,) of the sticks (2, T); Wang 2011 below Eq. 21.

    out_digammas: working memory (3 T,), padded.
    """
    num_slots = out_log.shape[0]
    last = out_log.shape[0] - 1
    out_digammas[:] = 1.0
    for t in range(last):
        out_digammas[t] = sticks[0, t]
        out_digammas[num_slots + t] = sticks[1, t]
        out_digammas[2 * num_slots + t] = sticks[0, t] + sticks[1, t]
    # In one loop, which the compiler can vectorise.
    for place in range(out_digammas.shape[0]):
        out_digammas[place] = fast_digamma(out_digammas[place])
    left = out_log.dtype.type(0)
    # E[log π_t] = E[log π'_t] + Σ_{l<t} E[log (1 - π'_l)].
    for t in range(last):
        total = out_digammas[2 * num_slots + t]
        out_log[t] = out_digammas[t] - total + left
        left += out_digammas[num_slots + t] - total
    out_log[last] = left


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def multiply(one: np.ndarray, other: np.ndarray, out_product: np.ndarray) -> None:
    """Write (R, S) times (S, W) to (R, W); R is padded to four, W to whole vectors."""
    num_inner, width = other.shape
    zero = splat(out_product.dtype.type(0))
    for row in range(0, one.shape[0], 4):
        row_0 = one[row]
        row_1 = one[row + 1]
        row_2 = one[row + 2]
        row_3 = one[row + 3]
        for first in range(0, width, WIDTH):
            sum_0 = sum_1 = sum_2 = sum_3 = zero
            place = first
            for s in range(num_inner):
                numbers = load(other, place)
                sum_0 = add_product(sum_0, splat(row_0[s]), numbers)
                sum_1 = add_product(sum_1, splat(row_1[s]), numbers)
                sum_2 = add_product(sum_2, splat(row_2[s]), numbers)
                sum_3 = add_product(sum_3, splat(row_3[s]), numbers)
                place += width
            place = row * width + first
            store(out_product, place, sum_0)
            store(out_product, place + width, sum_1)
            store(out_product, place + 2 * width, sum_2)
            store(out_product, place + 3 * width, sum_3)


@njit(nogil=True, cache=True, fastmath=FINITE, error_model="numpy")
def assign_words(
    c: np.ndarray, log_pi: np.ndarray, out_per_word: np.ndarray, out_tokens: np.ndarray
) -> None:
    """Apply Eq. 18: replace Σ_m φ_tm log B_im (T, N) by c_i ζ_it, ζ_it ∝ exp(E log π_t + Σ_m φ_tm
    log B_im).

    out_per_word: (2, N), working memory. Padded slots get no tokens.
    """
    num_words = c.shape[0]
    num_slots = log_pi.shape[0]
    highest = out_per_word[0]
    norm = out_per_word[1]
    zero = out_tokens.dtype.type(0)
    highest[:num_words] = LOWEST
    norm[:num_words] = 0.0
    # The log of Eq. 18 and its largest value by word, so that no exponential overflows.
    for t in range(num_slots):
        row = out_tokens[t]
        log_share = log_pi[t]
        for i in range(num_words):
            row[i] += log_share
            highest[i] = max(highest[i], row[i])
    # exp of it, and the sum over slots.
    for t in range(num_slots):
        row = out_tokens[t]
        for i in range(num_words):
            value = row[i] - highest[i]
            row[i] = fast_exp(value) if value > SMALLEST_LOG else zero
            norm[i] += row[i]
    # c_i ζ_it: each word's slots sum to its count.
    for i in range(num_words):
        norm[i] = c[i] / norm[i]
    for t in range(num_slots):
        row = out_tokens[t]
        for i in range(num_words):
            row[i] *= norm[i]
    out_tokens[num_slots:] = 0.0


@njit(nogil=True, cache=True, fastmath=FINITE, error_model="numpy")
def exponentiate_all(out_values: np.ndarray, highest: float) -> None:
    """Replace each x by e^(x - highest)."""
    zero = out_values.dtype.type(0)
    for place in range(out_values.shape[0]):
        value = out_values[place] - highest
        out_values[place] = fast_exp(value) if value > SMALLEST_LOG else zero


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def update_slot_topics(
    log_weights: np.ndarray,
    tokens: np.ndarray,
    expected_log_weights: np.ndarray,
    out_phi: np.ndarray,
) -> None:
    """Apply Eq. 17: φ_tk ∝ exp(Σ_i c_i ζ_it log B_ik + E log β_k), with log B as (N, A)."""
    multiply(tokens, log_weights, out_phi)
    normalise_rows(expected_log_weights, out_phi.shape[0], out_phi.reshape(out_phi.size))


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def normalise_rows(expected_log_weights: np.ndarray, num_rows: int, out_flat: np.ndarray) -> None:
    """Add E[log β] to the logs (T, A), flat, and replace them by shares; T is padded to four."""
    width = expected_log_weights.shape[0]
    for row in range(0, num_rows * width, width):
        highest = splat(out_flat.dtype.type(LOWEST))
        for m in range(0, width, WIDTH):
            logs = load(out_flat, row + m) + load(expected_log_weights, m)
            highest = larger(highest, logs)
            store(out_flat, row + m, logs)
        # Less the largest of the row, so that the largest share is e^0.
        top = splat(largest(highest))
        for m in range(0, width, WIDTH):
            store(out_flat, row + m, load(out_flat, row + m) - top)
    # The exponentials, divided by their sum over topics, are the φ_t of Eq. 17.
    exponentiate_all(out_flat, out_flat.dtype.type(0))
    sums = np.empty(4, out_flat.dtype)
    one = splat(out_flat.dtype.type(1))
    for row in range(0, num_rows * width, 4 * width):
        sum_0 = sum_1 = sum_2 = sum_3 = splat(out_flat.dtype.type(0))
        for place in range(row, row + width, WIDTH):
            sum_0 = sum_0 + load(out_flat, place)
            sum_1 = sum_1 + load(out_flat, place + width)
            sum_2 = sum_2 + load(out_flat, place + 2 * width)
            sum_3 = sum_3 + load(out_flat, place + 3 * width)
        store_sums(sums, 0, sum_0, sum_1, sum_2, sum_3)
        for number in range(4):
            share = one / splat(sums[number])
            for place in range(row + number * width, row + (number + 1) * width, WIDTH):
                store(out_flat, place, load(out_flat, place) * share)


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def write_tokens(phi: np.ndarray, tokens: np.ndarray, out_block: np.ndarray) -> None:
    """Write the tokens Σ_t c_i ζ_it φ_tk of the document's words, (n, A).

    The terms of the sum in Eq. 21.
    """
    num_words, num_topics = out_block.shape
    width = phi.shape[1]
    zero = splat(phi.dtype.type(0))
    # Whole vectors for four words at once; the last four words may overlap the four before them.
    whole = num_topics // WIDTH * WIDTH if num_words >= 4 else 0
    for first in range(0, whole, WIDTH):
        for start in range(0, num_words, 4):
            i = min(start, num_words - 4)
            place = first
            sum_0 = sum_1 = sum_2 = sum_3 = zero
            for t in range(phi.shape[0]):
                shares = load(phi, place)
                row = tokens[t]
                sum_0 = add_product(sum_0, splat(row[i]), shares)
                sum_1 = add_product(sum_1, splat(row[i + 1]), shares)
                sum_2 = add_product(sum_2, splat(row[i + 2]), shares)
                sum_3 = add_product(sum_3, splat(row[i + 3]), shares)
                place += width
            place = i * num_topics + first
            store(out_block, place, sum_0)
            store(out_block, place + num_topics, sum_1)
            store(out_block, place + 2 * num_topics, sum_2)
            store(out_block, place + 3 * num_topics, sum_3)
    for i in range(num_words):
        for m in range(whole, num_topics):
            total = phi.dtype.type(0)
            for t in range(phi.shape[0]):
                total += tokens[t, i] * phi[t, m]
            out_block[i, m] = total
