"""Choosing which words of a document are held out, and their probability under a model."""

import numpy as np

from stickbreaker.engine.kernels.compiled import njit
from stickbreaker.engine.kernels.special import FAST


@njit(nogil=True, cache=True, error_model="numpy")
def draw_key(seed: int, doc_id: int, place: int) -> np.uint64:
    """A 64-bit number for a word's place in a document.

    The same arguments always give the same number.

    Source: the output function of SplitMix64 (Steele, Lea & Flood 2014), applied to the three
    arguments in turn.
    """
    state = np.uint64(0)
    for each in (seed, doc_id, place):
        state = (state ^ np.uint64(each)) + np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(31)
    return state


@njit(nogil=True, cache=True, error_model="numpy")
def draw_places(first: int, share: float, out_is_drawn: np.ndarray) -> None:
    """Mark the given share of the places first, first + 1, ... (S,), always the same ones."""
    for j in range(out_is_drawn.shape[0]):
        out_is_drawn[j] = np.float64(draw_key(0, first + j, 0)) < share * 2.0**64


@njit(nogil=True, cache=True, error_model="numpy")
def find_smallest(out_keys: np.ndarray, number: int) -> np.uint64:
    """The n-th smallest key by Hoare's selection, which compiles in far less time than a sort.

    It reorders the keys.
    """
    first = 0
    last = out_keys.shape[0] - 1
    while first < last:
        pivot = out_keys[(first + last) // 2]
        low = first
        high = last
        while low <= high:
            while out_keys[low] < pivot:
                low += 1
            while out_keys[high] > pivot:
                high -= 1
            if low <= high:
                out_keys[low], out_keys[high] = out_keys[high], out_keys[low]
                low = low + 1
                high = high - 1
        if number - 1 <= high:
            last = high
        elif number - 1 >= low:
            first = low
        else:
            break
    smallest: np.uint64 = out_keys[number - 1]
    return smallest


@njit(nogil=True, cache=True, error_model="numpy")
def choose_held_out(
    starts: np.ndarray, doc_ids: np.ndarray, seed: int, share: float, out_is_held: np.ndarray
) -> None:
    """Mark the given share of each document's words, at least one, with the lowest keys.

    A document of fewer than two distinct words has no word marked. starts: (S + 1,); doc_ids: (S,);
    out_is_held: (nnz,) bool, all False at the start.
    """
    longest = 0
    for j in range(doc_ids.shape[0]):
        longest = max(longest, starts[j + 1] - starts[j])
    keys = np.empty(longest, np.uint64)
    moved = np.empty(longest, np.uint64)
    for j in range(doc_ids.shape[0]):
        first = starts[j]
        number = starts[j + 1] - starts[j]
        if number < 2:
            continue
        for i in range(number):
            keys[i] = moved[i] = draw_key(seed, doc_ids[j], i)
        highest = find_smallest(moved[:number], max(1, int(np.rint(share * number))))
        for i in range(number):
            out_is_held[first + i] = keys[i] <= highest


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def predict_words(
    rows: np.ndarray,
    words: np.ndarray,
    doc_shares: np.ndarray,
    topics: np.ndarray,
    out_predicted: np.ndarray,
) -> None:
    """Write Σ_k E[θ_jk] E[topic_kw] of held-out words (n,), in float64.

    rows: (n,), rows of doc_shares (S, K); words: (n,), rows of topics, (V, K) or (U, K).
    """
    for i in range(rows.shape[0]):
        shares = doc_shares[rows[i]]
        weights = topics[words[i]]
        total = 0.0
        for k in range(shares.shape[0]):
            total += np.float64(shares[k]) * np.float64(weights[k])
        out_predicted[i] = total
