"""The two-level local step: coordinate ascent over a document's slots (Wang 2011 Eq. 15-18).

Letters in the bodies: c counts of a document's words, B topic weight of a word, g Dirichlet parameters of the topics,
φ slot_topics (T, M), ζ word_slots (n, T), a and b the document's sticks.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from engine.kernels.dirichlet import FAST, gather_rows, sweep_topics
from engine.kernels.special import digamma

NEGLIGIBLE_TOKENS = 0.01


class Limits(NamedTuple):
    """Sizes and switches of the two-level kernel (all K topics are active where num_active = K)."""

    num_slots: int
    num_active: int
    num_sweeps: int
    num_iterations: int
    tolerance: float
    doc_concentration: float
    is_uniform_start: bool
    is_geometric: bool


@njit(nogil=True, cache=True, error_model="numpy")
def rank_topics(g, prior, prior_order, num_active, is_taken, out_active):
    """The num_active topics with the most mass in a document, largest g (prior + tokens) first.

    Topics with fewer tokens than NEGLIGIBLE_TOKENS come last, in the order of their prior.
    """
    found = np.flatnonzero(g - prior >= NEGLIGIBLE_TOKENS)
    found = found[np.argsort(-g[found])][:num_active]
    out_active[: found.shape[0]] = found
    is_taken[:] = False
    is_taken[found] = True
    place = found.shape[0]
    for k in prior_order:
        if place == num_active:
            break
        if not is_taken[k]:
            out_active[place] = k
            place += 1


@njit(nogil=True, cache=True, error_model="numpy")
def compact_columns(topics, words, columns, out_weights):
    """Copy the document's words (n) and chosen topics (A) into contiguous scratch (n, A)."""
    for i in range(words.shape[0]):
        row = topics[words[i]]
        for m in range(columns.shape[0]):
            out_weights[i, m] = row[columns[m]]


@njit(nogil=True, cache=True, error_model="numpy")
def expected_log_sticks(a, b, out_log):
    """E[log π_t] of the sticks a, b (T-1,) with the last stick at 1, into out_log (T,); Wang 2011 below Eq. 21."""
    left = 0.0
    for t in range(a.shape[0]):
        total = digamma(a[t] + b[t])
        out_log[t] = digamma(a[t]) - total + left
        left += digamma(b[t]) - total
    out_log[a.shape[0]] = left


@njit(nogil=True, cache=True, error_model="numpy")
def update_sticks(slot_tokens, doc_concentration, out_a, out_b):
    """Eq. 15 and 16 from the expected tokens of each slot (T,)."""
    after = 0.0
    for t in range(out_a.shape[0] - 1, -1, -1):
        after += slot_tokens[t + 1]
        out_a[t] = 1.0 + slot_tokens[t]
        out_b[t] = doc_concentration + after


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def update_word_slots(weights, log_weights, phi, log_pi, is_geometric, out_zeta):
    """ζ_it ∝ exp(E log π_t) Σ_k φ_tk B_ik, or with the mixture of logs of Eq. 18 where is_geometric."""
    num_slots, num_active = phi.shape
    for i in range(weights.shape[0]):
        zeta = out_zeta[i]
        if is_geometric:
            row = log_weights[i]
            highest = -np.inf
            for t in range(num_slots):
                mixed = row[0] * phi[t, 0]
                for m in range(1, num_active):
                    mixed += row[m] * phi[t, m]
                zeta[t] = mixed + log_pi[t]
                highest = max(highest, zeta[t])
            for t in range(num_slots):
                zeta[t] = math.exp(zeta[t] - highest)
        else:
            row = weights[i]
            for t in range(num_slots):
                mixed = row[0] * phi[t, 0]
                for m in range(1, num_active):
                    mixed += row[m] * phi[t, m]
                zeta[t] = mixed * math.exp(log_pi[t])
        zeta /= zeta.sum()


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def update_slot_topics(log_weights, c, zeta, expected_log_weights, out_phi):
    """Eq. 17: φ_tk ∝ exp(Σ_i c_i ζ_it log B_ik + E log β_k) over the active topics."""
    for t in range(out_phi.shape[0]):
        row = out_phi[t]
        row[:] = expected_log_weights
        for i in range(log_weights.shape[0]):
            tokens = c[i] * zeta[i, t]
            if tokens > 1e-6:
                for m in range(row.shape[0]):
                    row[m] += tokens * log_weights[i, m]
        row -= row.max()
        for m in range(row.shape[0]):
            # Below e^-41 a share is no normal float32 times anything; as zero it costs nothing.
            row[m] = math.exp(row[m]) if row[m] > -41.0 else 0.0
        row /= row.sum()


@njit(nogil=True, cache=True, error_model="numpy")
def ascend(c, weights, log_weights, expected_log_weights, limits, phi, zeta, sticks):
    """Repeat Eq. 18, 15-16 and 17 on one document until its slots' tokens settle; φ, ζ and the sticks come and go.

    sticks: (3, T) float64, rows a, b and E[log π]; of a and b the first T - 1 are in use.
    """
    num_slots = phi.shape[0]
    a, b, log_pi = sticks[0, : num_slots - 1], sticks[1, : num_slots - 1], sticks[2]
    slot_tokens = np.zeros(num_slots)
    before = np.zeros(num_slots)
    for iteration in range(limits.num_iterations):
        if iteration > 0 or not limits.is_uniform_start:
            expected_log_sticks(a, b, log_pi)
            update_word_slots(weights, log_weights, phi, log_pi, limits.is_geometric, zeta)
        slot_tokens[:] = 0.0
        for i in range(c.shape[0]):
            for t in range(num_slots):
                slot_tokens[t] += c[i] * zeta[i, t]
        update_sticks(slot_tokens, limits.doc_concentration, a, b)
        update_slot_topics(log_weights, c, zeta, expected_log_weights, phi)
        if iteration > 0 and np.abs(slot_tokens - before).sum() < limits.tolerance * slot_tokens.sum():
            break
        before[:] = slot_tokens


@njit(nogil=True, cache=True, error_model="numpy")
def start_slots(g, prior, active, limits, phi, sticks):
    """One-hot slots on the largest topics, largest first, and sticks from those topics' tokens."""
    num_slots = phi.shape[0]
    tokens = np.zeros(num_slots)
    phi[:] = 0.0
    for t in range(num_slots):
        tokens[t] = g[active[t]] - prior[active[t]]
        phi[t, t] = 1.0
    update_sticks(tokens, limits.doc_concentration, sticks[0, : num_slots - 1], sticks[1, : num_slots - 1])


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def add_document(words, c, zeta, phi, sticks, active, out_word_topics, out_tables, out_shares):
    """Add φ_tk Σ c_i ζ_it (Eq. 21) and Σ_t φ_tk (Eq. 19) to the statistics; write θ_k = Σ_t E[π_t] φ_tk."""
    num_slots, num_active = phi.shape
    mixed = np.empty(num_active, phi.dtype)
    for i in range(words.shape[0]):
        mixed[:] = 0.0
        for t in range(num_slots):
            tokens = c[i] * zeta[i, t]
            if tokens > 1e-6:
                for m in range(num_active):
                    mixed[m] += tokens * phi[t, m]
        out = out_word_topics[words[i]]
        for m in range(num_active):
            out[active[m]] += mixed[m]
    left = 1.0
    for t in range(num_slots):
        on = sticks[0, t] / (sticks[0, t] + sticks[1, t]) if t < num_slots - 1 else 1.0
        for m in range(num_active):
            out_tables[active[m]] += phi[t, m]
            out_shares[active[m]] += left * on * phi[t, m]
        left *= 1.0 - on


@njit(nogil=True, cache=True, error_model="numpy")
def fit_two_level(documents, topics, prior, expected_log_weights, limits, out_word_topics, out_tables, out_shares):
    """The two-level local step on each document; statistics as in `add_document`.

    documents: rows of words that index `topics` (U, K), the topic weights B of the batch's words; prior: α₀E[β] (K,);
    expected_log_weights: E[log β] (K,). Adds to out_word_topics (U, K) and out_tables (K,), writes out_shares (S, K).
    """
    starts = documents.starts
    num_topics, num_slots, num_active = topics.shape[1], limits.num_slots, limits.num_active
    longest = max(1, np.diff(starts).max()) if starts.shape[0] > 1 else 1
    all_weights = np.empty(longest * num_topics, topics.dtype)
    all_active = np.empty(longest * num_active, topics.dtype)
    all_logs = np.empty(longest * num_active, topics.dtype)
    all_zeta = np.empty((longest, num_slots), topics.dtype)
    phi = np.empty((num_slots, num_active), topics.dtype)
    sticks = np.empty((3, num_slots))
    e = np.empty(num_topics, topics.dtype)
    g = np.empty(num_topics, topics.dtype)
    active = np.arange(num_active)
    is_taken = np.zeros(num_topics, np.bool_)
    prior_order = np.argsort(-prior)
    for j in range(starts.shape[0] - 1):
        words = documents.words[starts[j] : starts[j + 1]]
        c = documents.counts[starts[j] : starts[j + 1]].astype(topics.dtype)
        n = words.shape[0]
        zeta = all_zeta[:n]
        if limits.is_uniform_start:
            zeta[:] = 1.0 / num_slots
        else:
            weights = all_weights[: n * num_topics].reshape(n, num_topics)
            gather_rows(topics, words, weights)
            e[:] = 1.0
            g[:] = prior
            sweep_topics(weights, c, prior, limits.num_sweeps, e, g)
            rank_topics(g, prior, prior_order, num_active, is_taken, active)
            start_slots(g, prior, active, limits, phi, sticks)
        chosen = all_active[: n * num_active].reshape(n, num_active)
        logs = all_logs[: n * num_active].reshape(n, num_active)
        compact_columns(topics, words, active, chosen)
        logs[:] = np.log(chosen)
        ascend(c, chosen, logs, expected_log_weights[active], limits, phi, zeta, sticks)
        add_document(words, c, zeta, phi, sticks, active, out_word_topics, out_tables, out_shares[j])
