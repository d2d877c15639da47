"""The part of the bound that belongs to single documents.

The rest is computed from sums over all documents.

Letters in the bodies: c counts of a document's words, φ slot_topics, ζ word_slots, a and b the
document's sticks, g Dirichlet parameters. Sums are in float64 for arrays of any precision.
"""

from math import lgamma

import numpy as np

from stickbreaker.engine.kernels.compiled import njit
from stickbreaker.engine.kernels.counts import FactoredCounts
from stickbreaker.engine.kernels.special import digamma, fast_log

# A smaller share adds nothing to an entropy, and its logarithm may be NaN.
SMALLEST_SHARE = 1e-30


@njit(nogil=True, cache=True, error_model="numpy")
def sum_log_sticks(sticks: np.ndarray, doc_concentration: float, out_log: np.ndarray) -> float:
    """Write E[log π_t] of the sticks (2, T) to out_log (T,) float64.

    Return their KL divergence from Beta(1, α₀).
    """
    last = out_log.shape[0] - 1
    left = 0.0
    divergence = 0.0
    for t in range(last):
        # E[log π'_t] = ψ(a) - ψ(a + b) and E[log (1 - π'_t)] = ψ(b) - ψ(a + b) under Beta(a, b).
        a = float(sticks[0, t])
        b = float(sticks[1, t])
        both = digamma(a + b)
        on = digamma(a) - both
        after = digamma(b) - both
        out_log[t] = on + left
        left += after
        # KL of Beta(a, b) from Beta(1, α₀), whose log normaliser is log α₀.
        divergence += (a - 1.0) * on + (b - doc_concentration) * after
        divergence += lgamma(a + b) - lgamma(a) - lgamma(b) - np.log(doc_concentration)
    out_log[last] = left
    return divergence


@njit(nogil=True, cache=True, error_model="numpy")
def bound_slots(
    c: np.ndarray, phi: np.ndarray, tokens: np.ndarray, sticks: np.ndarray, doc_concentration: float
) -> float:
    """One document's part of Wang 2011 Eq. 14, without E[log p(w|c, z, φ)] and E[log p(c|β)].

        Σ_i c_i Σ_t ζ_it (E[log π_t] - log ζ_it) - Σ_tk φ_tk log φ_tk - KL(sticks)

    c: (N,), which weighs each word's entropy too. tokens: c_i ζ_it (T, N); rows of padded slots are
    not read.
    """
    num_slots = sticks.shape[1]
    log_pi = np.empty(num_slots)
    total = -sum_log_sticks(sticks, doc_concentration, log_pi)
    for t in range(num_slots):
        for i in range(c.shape[0]):
            # Σ_i c_i ζ_it (E[log π_t] - log ζ_it).
            if tokens[t, i] > SMALLEST_SHARE:
                total += tokens[t, i] * (log_pi[t] - fast_log(tokens[t, i] / c[i]))
        for m in range(phi.shape[1]):
            # - Σ_m φ_tm log φ_tm.
            if phi[t, m] > SMALLEST_SHARE:
                total -= phi[t, m] * fast_log(phi[t, m])
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def bound_documents(
    counts: FactoredCounts,
    doc_counts: np.ndarray,
    doc_topics: np.ndarray,
    prior: np.ndarray,
    out_bounds: np.ndarray,
) -> None:
    """Write each document's part of Hoffman 2010 Eq. 4, without Σ n φ E[log β], to out_bounds (S,).

        Σ_wk n_w φ_wk (E[log θ_k] - log φ_wk) + Σ_k ((α_k - g_k) E[log θ_k] + log Γ(g_k) - log
        Γ(α_k))
            + log Γ(Σ_k α_k) - log Γ(Σ_k g_k)

    counts: FactoredCounts of n φ; doc_counts (nnz,): n; doc_topics (S, K): g, equal to α = prior
    (K,) where e is 0.
    """
    own = np.empty(prior.shape[0], np.int64)
    log_theta = np.empty(prior.shape[0])
    prior_total = 0.0
    for k in range(prior.shape[0]):
        prior_total += prior[k]
    for j in range(counts.starts.shape[0] - 1):
        e = counts.weights[j]
        g_total = prior_total
        num_own = 0
        # The topics with tokens; for all others g = α, and their terms cancel.
        for k in range(prior.shape[0]):
            if e[k] > 0.0:
                own[num_own] = k
                num_own += 1
                g_total += float(doc_topics[j, k]) - float(prior[k])
        log_total = digamma(g_total)
        total = lgamma(prior_total) - lgamma(g_total)
        for m in range(num_own):
            g = float(doc_topics[j, own[m]])
            alpha = float(prior[own[m]])
            # E[log θ_k] = ψ(g_k) - ψ(Σ g), and the terms of p(θ) and q(θ).
            log_theta[m] = digamma(g) - log_total
            total += (alpha - g) * log_theta[m] + lgamma(g) - lgamma(alpha)
        for i in range(counts.starts[j], counts.starts[j + 1]):
            weights = counts.topics[counts.words[i]]
            share = counts.scales[i] / doc_counts[i]
            for m in range(num_own):
                # n φ (E[log θ] - log φ), with φ = scale e B / n.
                phi = share * e[own[m]] * weights[own[m]]
                if phi > SMALLEST_SHARE:
                    total += doc_counts[i] * phi * (log_theta[m] - fast_log(phi))
        out_bounds[j] = total
