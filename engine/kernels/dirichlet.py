"""Dirichlet sweeps: a document's topic shares over all topics, and what they add to the corpus.

Letters in the bodies: c counts of a document's words, B topic weight of a word, g Dirichlet parameters of the topics,
e = exp ψ(g).
"""

import math

import numpy as np
from numba import njit

from engine.kernels.special import digamma

# Reassociation lets the dot products vectorise; infinities and NaN keep their meaning.
FAST = {"reassoc", "contract", "arcp", "nsz"}


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def sweep_topics(weights, c, prior, num_sweeps, e, out_g):
    """Repeat g_k = prior_k + e_k Σ_i c_i B_ik / Σ_l e_l B_il, e_k ∝ exp ψ(g_k); e (A,) comes and goes."""
    num_words, num_topics = weights.shape
    for _ in range(num_sweeps):
        out_g[:] = 0.0
        for i in range(num_words):
            row = weights[i]
            norm = row[0] * e[0]
            for k in range(1, num_topics):
                norm += row[k] * e[k]
            scale = c[i] / norm
            for k in range(num_topics):
                out_g[k] += scale * row[k]
        for k in range(num_topics):
            out_g[k] = prior[k] + e[k] * out_g[k]
        # Only ratios of e matter; unscaled, a word spread over hundreds of topics would leave every e at 0.
        highest = digamma(float(out_g.max()))
        for k in range(num_topics):
            e[k] = math.exp(digamma(float(out_g[k])) - highest)


@njit(nogil=True, cache=True, error_model="numpy")
def gather_rows(topics, words, out_weights):
    """Copy the rows of a document's words into scratch (n, K)."""
    for i in range(words.shape[0]):
        out_weights[i, :] = topics[words[i]]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def fit_dirichlet(documents, topics, prior, num_sweeps, out_word_topics, out_tables, out_doc_topics):
    """Dirichlet sweeps on each document over all topics, and their statistics.

    documents: rows of words that index `topics` (U, K); prior: α₀E[β] (K,).
    Adds c_i e_k B_ik / Σ_l e_l B_il to out_word_topics (U, K) and the expected tables
    α₀E[β_k] (ψ(g_k) - ψ(α₀E[β_k])) to out_tables (K,); writes g to out_doc_topics (S, K).
    """
    starts = documents.starts
    num_topics = topics.shape[1]
    longest = max(1, np.diff(starts).max()) if starts.shape[0] > 1 else 1
    scratch = np.empty(longest * num_topics, topics.dtype)
    e = np.empty(num_topics, topics.dtype)
    g = np.empty(num_topics, topics.dtype)
    prior_digamma = np.array([digamma(float(x)) for x in prior])
    for j in range(starts.shape[0] - 1):
        words = documents.words[starts[j] : starts[j + 1]]
        c = documents.counts[starts[j] : starts[j + 1]].astype(topics.dtype)
        weights = scratch[: words.shape[0] * num_topics].reshape(words.shape[0], num_topics)
        gather_rows(topics, words, weights)
        e[:] = 1.0
        g[:] = prior
        sweep_topics(weights, c, prior, num_sweeps, e, g)
        for i in range(words.shape[0]):
            row = weights[i]
            norm = row[0] * e[0]
            for k in range(1, num_topics):
                norm += row[k] * e[k]
            scale = c[i] / norm
            out = out_word_topics[words[i]]
            for k in range(num_topics):
                out[k] += scale * e[k] * row[k]
        for k in range(num_topics):
            # Rounding must not make a table negative.
            out_tables[k] += max(0.0, prior[k] * (digamma(float(g[k])) - prior_digamma[k]))
            out_doc_topics[j, k] = g[k]
