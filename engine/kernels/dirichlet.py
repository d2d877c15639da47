"""Dirichlet sweeps: a document's topic shares over all topics, and the tokens it expects of each.

Letters in the bodies: c counts of a document's words, B topic weight of a word, g Dirichlet parameters of the topics,
h tokens of the topics, e ∝ exp ψ(g). A document's words are padded to a multiple of BLOCK with count 0, its topics with
B = 0 and a prior of NOTHING.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from engine.kernels.special import FAST, exp_digamma, fast_digamma

# Words are taken four at a time, and arrays end with whole vectors of sixteen float32.
BLOCK = 16
# Bytes of a cache line. A vector that begins within one costs two reads.
LINE = 64
# A prior so small that its e is 0 beside any other's.
NOTHING = 1e-30


class Sweeps(NamedTuple):
    """How a document is swept: at most `most` times, until Σ_k |Δg_k| is below `tolerance` of its tokens.

    Topics with fewer than `negligible` tokens after a sweep take no part in the next, from the second sweep on. At
    temperature T the shares of a word are ∝ (e_k B_ik)^(1/T); the topic weights given must then be B^(1/T).
    """

    most: int
    tolerance: float
    negligible: float
    temperature: float = 1.0


class Room(NamedTuple):
    """Scratch of a shard: ids of a document's topics, their prior, e, g, h (K,); its c and scales (N,), and B, flat."""

    topic_ids: np.ndarray
    prior: np.ndarray
    e: np.ndarray
    g: np.ndarray
    h: np.ndarray
    counts: np.ndarray
    scales: np.ndarray
    weights: np.ndarray


@njit(nogil=True, cache=True, error_model="numpy")
def round_up(number):
    """The next multiple of BLOCK."""
    return (number + BLOCK - 1) // BLOCK * BLOCK


@njit(nogil=True, cache=True, error_model="numpy")
def make_lines(number, like):
    """An uninitialised array of so many numbers, of the dtype of another, that begins with a cache line."""
    array = np.empty(number + LINE // like.itemsize, like.dtype)
    first = -array.ctypes.data % LINE // like.itemsize
    return array[first : first + number]


@njit(nogil=True, cache=True, error_model="numpy")
def make_room(longest, topics):
    """Room for documents of `longest` words (padded), in the precision of the topics (U, K)."""
    width = round_up(topics.shape[1])
    return Room(
        np.empty(width, np.int64),
        make_lines(width, topics),
        make_lines(width, topics),
        make_lines(width, topics),
        make_lines(width, topics),
        make_lines(longest, topics),
        make_lines(longest, topics),
        make_lines(longest * width, topics),
    )


@njit(nogil=True, cache=True, error_model="numpy")
def load_document(documents, j, topics, room):
    """Counts (N,) and topic weights (N, K) of document j in the room, both padded."""
    first, last = documents.starts[j], documents.starts[j + 1]
    num_words, num_topics = round_up(last - first), topics.shape[1]
    width = round_up(num_topics)
    c, weights = room.counts[:num_words], room.weights[: num_words * width].reshape(num_words, width)
    for i in range(last - first):
        c[i] = documents.counts[first + i]
        # A loop: assigning whole rows takes three times as long.
        row, out = topics[documents.words[first + i]], weights[i]
        for k in range(num_topics):
            out[k] = row[k]
        for k in range(num_topics, width):
            out[k] = 0.0
    for i in range(last - first, num_words):
        c[i] = 0.0
        for k in range(width):
            weights[i, k] = 1.0
    return c, weights


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def sweep(weights, c, e, out_scales, out_h):
    """scale_i = c_i / Σ_l e_l B_il and h_k = Σ_i scale_i B_ik, four words at a time."""
    num_topics = e.shape[0]
    out_h[:] = 0.0
    for i in range(0, c.shape[0], 4):
        row_0, row_1, row_2, row_3 = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
        norm_0 = norm_1 = norm_2 = norm_3 = e.dtype.type(0)
        for k in range(num_topics):
            norm_0 += e[k] * row_0[k]
            norm_1 += e[k] * row_1[k]
            norm_2 += e[k] * row_2[k]
            norm_3 += e[k] * row_3[k]
        scale_0, scale_1, scale_2, scale_3 = c[i] / norm_0, c[i + 1] / norm_1, c[i + 2] / norm_2, c[i + 3] / norm_3
        out_scales[i], out_scales[i + 1], out_scales[i + 2], out_scales[i + 3] = scale_0, scale_1, scale_2, scale_3
        for k in range(num_topics):
            out_h[k] += scale_0 * row_0[k] + scale_1 * row_1[k] + scale_2 * row_2[k] + scale_3 * row_3[k]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def update_parameters(prior, e, out_h, out_g):
    """h_k e_k in place of h_k, and g_k = prior_k + h_k; returns Σ_k |Δg_k|."""
    change = e.dtype.type(0)
    for k in range(e.shape[0]):
        before = out_g[k]
        out_h[k] *= e[k]
        out_g[k] = prior[k] + out_h[k]
        change += abs(out_g[k] - before)
    return change


@njit(nogil=True, cache=True, error_model="numpy")
def sweep_topics(weights, c, prior, sweeps, room):
    """Repeat g_k = prior_k + e_k Σ_i c_i B_ik / Σ_l e_l B_il, e_k ∝ exp(ψ(g_k) / T), from e = 1.

    weights: (N, K) padded, used up; room: its topic_ids, e, g and h (the tokens) are the result, of which the first A
    elements count. Returns the weights and the number A of the topics that are left.
    """
    num_left, num_tokens = prior.shape[0], c.sum()
    for k in range(num_left):
        room.topic_ids[k] = k
        room.prior[k] = prior[k]
    room.prior[num_left:] = NOTHING
    room.g[:] = room.prior
    room.e[:] = 1.0
    for number in range(sweeps.most):
        width = weights.shape[1]
        e, g, h = room.e[:width], room.g[:width], room.h[:width]
        sweep(weights, c, e, room.scales, h)
        change = update_parameters(room.prior[:width], e, h, g)
        exp_digamma(g, 1.0 / sweeps.temperature, e)
        if change < sweeps.tolerance * num_tokens or number == sweeps.most - 1:
            break
        if number > 0:
            num_kept = 0
            for k in range(num_left):
                num_kept += h[k] >= sweeps.negligible
            # Moving costs as much as some sweeps over what is moved.
            if 4 * num_kept <= num_left and num_kept > 0:
                weights, num_left = drop_topics(weights, num_left, sweeps.negligible, room)
    return weights, num_left


@njit(nogil=True, cache=True, error_model="numpy")
def drop_topics(weights, num_left, negligible, room):
    """Keep the topics with at least `negligible` tokens h; returns their weights, padded, and their number."""
    kept = np.empty(num_left, np.uint32)
    num_kept = 0
    for k in range(num_left):
        if room.h[k] >= negligible:
            kept[num_kept] = k
            room.topic_ids[num_kept], room.prior[num_kept] = room.topic_ids[k], room.prior[k]
            room.e[num_kept], room.g[num_kept], room.h[num_kept] = room.e[k], room.g[k], room.h[k]
            num_kept += 1
    width = round_up(num_kept)
    for k in range(num_kept, width):
        room.prior[k], room.g[k], room.e[k], room.h[k] = NOTHING, NOTHING, 0.0, 0.0
    return keep_columns(weights, kept[:num_kept], width), num_kept


@njit(nogil=True, cache=True, error_model="numpy")
def keep_columns(weights, kept, width):
    """Move the kept columns of an (N, K) block to its front, as an (N, width) block padded with zeros; returns that."""
    num_words, num_kept = weights.shape[0], kept.shape[0]
    moved = weights.reshape(weights.size)[: num_words * width].reshape(num_words, width)
    for i in range(num_words):
        # Row i of the new block ends before row i + 1 of the old one begins.
        row, new = weights[i], moved[i]
        for m in range(num_kept):
            new[m] = row[kept[m]]
        for m in range(num_kept, width):
            new[m] = 0.0
    return moved


@njit(nogil=True, cache=True, error_model="numpy")
def write_factors(weights, c, num_left, room, out_scales, out_e, out_tokens):
    """Factors of the tokens scale_i e_k B_ik of a document: (n,) and (K,), the latter 0 of topics dropped.

    Their sums over words are added to out_tokens (K,).
    """
    width = weights.shape[1]
    e, h = room.e[:width], room.h[:width]
    sweep(weights, c, e, room.scales, h)
    for i in range(out_scales.shape[0]):
        out_scales[i] = room.scales[i]
    out_e[:] = 0.0
    for m in range(num_left):
        k = room.topic_ids[m]
        out_e[k] = e[m]
        out_tokens[k] += e[m] * h[m]


@njit(nogil=True, cache=True, error_model="numpy")
def add_tables(topic_ids, prior, g, prior_digamma, out_tables):
    """Add the expected tables prior_k (ψ(g_k) - ψ(prior_k)) of a document's topics to out_tables (K,); g is used up."""
    for m in range(g.shape[0]):
        g[m] = fast_digamma(g[m])
    for m in range(topic_ids.shape[0]):
        # Rounding must not make a table negative.
        out_tables[topic_ids[m]] += max(0.0, prior[m] * (g[m] - prior_digamma[topic_ids[m]]))


@njit(nogil=True, cache=True, error_model="numpy")
def longest_document(documents):
    """Words of the longest document, padded."""
    longest = 1
    for j in range(documents.starts.shape[0] - 1):
        longest = max(longest, documents.starts[j + 1] - documents.starts[j])
    return round_up(longest)


@njit(nogil=True, cache=True, error_model="numpy")
def fit_dirichlet(documents, topics, prior, sweeps, out_scales, out_e, out_tables, out_tokens, out_doc_topics):
    """Dirichlet sweeps on each document over all topics, from equal weights, and their statistics.

    documents: rows of words that index `topics` (U, K); prior: (K,). Writes g to out_doc_topics (S, K). Where
    out_scales (nnz,) has room, writes c_i / Σ_l e_l B_il there and e to out_e (S, K), adds the sums of c_i e_k B_ik /
    Σ_l e_l B_il to out_tokens (K,) and the expected tables prior_k (ψ(g_k) - ψ(prior_k)) to out_tables (K,); without
    room, shares are all that is found.
    """
    room = make_room(longest_document(documents), topics)
    prior_digamma = np.empty_like(prior)
    for k in range(prior.shape[0]):
        prior_digamma[k] = fast_digamma(prior[k])
    for j in range(documents.starts.shape[0] - 1):
        c, weights = load_document(documents, j, topics, room)
        weights, num_left = sweep_topics(weights, c, prior, sweeps, room)
        own, g = room.topic_ids[:num_left], room.g[:num_left]
        shares = out_doc_topics[j]
        for k in range(prior.shape[0]):
            shares[k] = prior[k]
        for m in range(num_left):
            shares[own[m]] = g[m]
        if out_scales.shape[0] > 0:
            scales = out_scales[documents.starts[j] : documents.starts[j + 1]]
            write_factors(weights, c, num_left, room, scales, out_e[j], out_tokens)
            add_tables(own, room.prior, g, prior_digamma, out_tables)
