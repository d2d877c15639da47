"""Dirichlet sweeps: a document's topic shares over all topics, and the tokens it expects of each.

Letters in the bodies: c counts of a document's words, B topic weight of a word, g Dirichlet parameters of the topics,
h tokens of the topics over e, e ∝ exp ψ(g). A document's words are padded to a multiple of BLOCK with count 0.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from engine.kernels.counts import add_columns, next_block
from engine.kernels.special import FAST, digamma, exp_digamma

# Words are taken four at a time, and arrays end with whole vectors of sixteen float32.
BLOCK = 16


class Sweeps(NamedTuple):
    """How a document is swept: at most `most` times, until Σ_k |Δg_k| is below `tolerance` of its tokens.

    Topics with fewer than `negligible` tokens after a sweep take no part in the next, from the second sweep on. At
    temperature T the shares of a word are ∝ (e_k B_ik)^(1/T); the topic weights given must then be B^(1/T).
    """

    most: int
    tolerance: float
    negligible: float
    temperature: float = 1.0


@njit(nogil=True, cache=True, error_model="numpy")
def round_up(number):
    """The next multiple of BLOCK."""
    return (number + BLOCK - 1) // BLOCK * BLOCK


@njit(nogil=True, cache=True, error_model="numpy")
def load_document(documents, j, topics, out_counts, out_weights):
    """Counts (N,) and topic weights (N, K) of document j into flat scratch; returns them, padded with count 0."""
    first, last = documents.starts[j], documents.starts[j + 1]
    num_words, num_topics = round_up(last - first), topics.shape[1]
    c, weights = out_counts[:num_words], out_weights[: num_words * num_topics].reshape(num_words, num_topics)
    for i in range(last - first):
        c[i] = documents.counts[first + i]
        # A loop: assigning whole rows takes three times as long.
        row, out = topics[documents.words[first + i]], weights[i]
        for k in range(num_topics):
            out[k] = row[k]
    for i in range(last - first, num_words):
        c[i] = 0.0
        weights[i, :] = 1.0
    return c, weights


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def sweep(weights, c, e, out_h):
    """h_k = Σ_i c_i B_ik / Σ_l e_l B_il, four words at a time."""
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
        for k in range(num_topics):
            out_h[k] += scale_0 * row_0[k] + scale_1 * row_1[k] + scale_2 * row_2[k] + scale_3 * row_3[k]


@njit(nogil=True, cache=True, error_model="numpy")
def keep_columns(weights, num_old, kept):
    """Move the kept columns of a (N, num_old) block to its front, as a (N, len(kept)) block, and return that."""
    num_words, num_kept = weights.shape[0], kept.shape[0]
    flat = weights.reshape(num_words * num_old)
    moved = flat[: num_words * num_kept].reshape(num_words, num_kept)
    for i in range(num_words):
        # Row i of the new block ends before row i + 1 of the old one begins.
        row, new = weights[i], moved[i]
        for m in range(num_kept):
            new[m] = row[kept[m]]
    return moved


@njit(nogil=True, cache=True, error_model="numpy")
def sweep_topics(weights, c, prior, sweeps, topic_ids, e, g, h):
    """Repeat g_k = prior_k + e_k Σ_i c_i B_ik / Σ_l e_l B_il, e_k ∝ exp(ψ(g_k) / T), from the e given.

    weights: (N, K), used up; topic_ids, e, g, h: scratch (K,) each. Returns the weights and number A of the topics that
    are left; of the scratch arrays the first A elements are then theirs.
    """
    num_topics = num_left = prior.shape[0]
    num_tokens = c.sum()
    for k in range(num_topics):
        topic_ids[k] = k
        g[k] = prior[k]
    for number in range(sweeps.most):
        sweep(weights, c, e[:num_left], h[:num_left])
        change = 0.0
        for k in range(num_left):
            before = g[k]
            h[k] *= e[k]
            g[k] = prior[topic_ids[k]] + h[k]
            change += abs(g[k] - before)
        exp_digamma(g[:num_left], 1.0 / sweeps.temperature, e[:num_left])
        if change < sweeps.tolerance * num_tokens or number == sweeps.most - 1:
            break
        if number > 0:
            num_kept = 0
            for k in range(num_left):
                num_kept += h[k] >= sweeps.negligible
            # Moving costs as much as some sweeps over what is moved.
            if 4 * num_kept <= num_left and num_kept > 0:
                weights, num_left = drop_topics(weights, num_left, sweeps.negligible, topic_ids, e, g, h)
    return weights, num_left


@njit(nogil=True, cache=True, error_model="numpy")
def drop_topics(weights, num_left, negligible, topic_ids, e, g, h):
    """Keep the topics with at least `negligible` tokens h; returns their weights and number."""
    kept = np.empty(num_left, np.uint32)
    num_kept = 0
    for k in range(num_left):
        if h[k] >= negligible:
            kept[num_kept] = k
            topic_ids[num_kept], e[num_kept], g[num_kept], h[num_kept] = topic_ids[k], e[k], g[k], h[k]
            num_kept += 1
    return keep_columns(weights, num_left, kept[:num_kept]), num_kept


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def write_tokens(weights, c, e, out_block):
    """Tokens c_i e_k B_ik / Σ_l e_l B_il of the document's own words, (n, A)."""
    num_topics = e.shape[0]
    for i in range(out_block.shape[0]):
        row, out = weights[i], out_block[i]
        norm = e.dtype.type(0)
        for k in range(num_topics):
            norm += e[k] * row[k]
        scale = c[i] / norm
        for k in range(num_topics):
            out[k] = scale * e[k] * row[k]


@njit(nogil=True, cache=True, error_model="numpy")
def add_tables(prior, prior_digamma, topic_ids, g, out_tables):
    """Add the expected tables prior_k (ψ(g_k) - ψ(prior_k)) of a document's topics to out_tables (K,)."""
    for m in range(topic_ids.shape[0]):
        k = topic_ids[m]
        # Rounding must not make a table negative.
        out_tables[k] += max(0.0, prior[k] * (digamma(float(g[m])) - prior_digamma[k]))


@njit(nogil=True, cache=True, error_model="numpy")
def longest_document(documents):
    """Words of the longest document, padded."""
    longest = 1
    for j in range(documents.starts.shape[0] - 1):
        longest = max(longest, documents.starts[j + 1] - documents.starts[j])
    return round_up(longest)


@njit(nogil=True, cache=True, error_model="numpy")
def fit_dirichlet(documents, topics, prior, sweeps, out_counts, out_tables, out_tokens, out_doc_topics):
    """Dirichlet sweeps on each document over all topics, from equal weights, and their statistics.

    documents: rows of words that index `topics` (U, K); prior: (K,). Writes g to out_doc_topics (S, K). Where
    out_counts has room, writes c_i e_k B_ik / Σ_l e_l B_il there, adds their sums to out_tokens (K,) and the expected
    tables prior_k (ψ(g_k) - ψ(prior_k)) to out_tables (K,); without room, shares are all that is found.
    """
    num_topics = topics.shape[1]
    longest = longest_document(documents)
    all_counts, all_weights = np.empty(longest, topics.dtype), np.empty(longest * num_topics, topics.dtype)
    topic_ids = np.empty(num_topics, np.int64)
    room = np.empty((3, num_topics), topics.dtype)
    all_e, all_g, h = room[0], room[1], room[2]
    prior_digamma = np.array([digamma(float(x)) for x in prior])
    place = 0
    for j in range(documents.starts.shape[0] - 1):
        c, weights = load_document(documents, j, topics, all_counts, all_weights)
        all_e[:] = 1.0
        weights, num_left = sweep_topics(weights, c, prior, sweeps, topic_ids, all_e, all_g, h)
        own, e, g = topic_ids[:num_left], all_e[:num_left], all_g[:num_left]
        out_doc_topics[j] = prior
        for m in range(num_left):
            out_doc_topics[j, own[m]] = g[m]
        if out_counts.tokens.shape[0] > 0:
            block, place = next_block(out_counts, j, own, place)
            write_tokens(weights, c, e, block)
            add_columns(block, own, out_tokens)
            add_tables(prior, prior_digamma, own, g, out_tables)
