"""p(document) under fixed topics by importance sampling, with a proposal from Gibbs sampling (Wang
& Blei 2012 S.3).

Letters in the bodies: z topic of a token, n tokens of the document in a topic, φ its shares, θ
topic weight of a word.
"""

import math
from typing import NamedTuple

import numpy as np

from stickbreaker.engine.kernels.compiled import DocumentArrays, njit
from stickbreaker.engine.kernels.special import FAST

# Share of the draws that come from the prior. It bounds the weights by p(words | φ) over this
# share: finite variance.
DEFENSIVE_SHARE = 0.1


class Effort(NamedTuple):
    """Gibbs passes over a document before counting, passes averaged into the proposal's counts, and
    draws from it.
    """

    burn_in: int
    num_samples: int
    num_draws: int


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def dot(one: np.ndarray, other: np.ndarray) -> float:
    """Σ_k one_k other_k."""
    total = 0.0
    for k in range(one.shape[0]):
        total += one[k] * other[k]
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def sample_counts(
    words: np.ndarray,
    counts: np.ndarray,
    topics: np.ndarray,
    prior: np.ndarray,
    effort: Effort,
    rng: np.random.Generator,
    out_counts: np.ndarray,
) -> None:
    """Write the mean tokens n_k (K,) of one document, from Gibbs passes p(z = k) ∝ (n_k + α_k)
    θ_kw, token left out.

    words, counts: (n,) of the document; topics: (U, K); prior: (K,), α.
    """
    tokens = np.repeat(words, counts)
    z = np.full(tokens.shape[0], -1)
    odds = prior.copy()
    n = out_counts
    n[:] = 0.0
    for number in range(effort.burn_in + effort.num_samples):
        for i in range(tokens.shape[0]):
            row = topics[tokens[i]]
            if z[i] >= 0:
                odds[z[i]] = max(odds[z[i]] - 1.0, prior[z[i]])
            position = rng.random() * dot(odds, row)
            k = 0
            last = prior.shape[0] - 1
            while k < last:
                position -= odds[k] * row[k]
                if position < 0.0:
                    break
                k += 1
            z[i] = k
            odds[k] += 1.0
        if number >= effort.burn_in:
            for i in range(tokens.shape[0]):
                n[z[i]] += 1.0 / effort.num_samples


@njit(nogil=True, cache=True, error_model="numpy")
def estimate_likelihoods(
    documents: DocumentArrays,
    topics: np.ndarray,
    prior: np.ndarray,
    effort: Effort,
    rng: np.random.Generator,
    out_logs: np.ndarray,
) -> None:
    """Write log (1/R) Σ_r p(φ_r) p(words | φ_r) / q(φ_r) of each document (S,), with φ_r ~ q.

    S.3 has q = Dirichlet(α + n). Its weights are unbounded where φ_k of a topic with n_k > 0 is
    near 0, and their variance is infinite. So a tenth of q is the prior here (a defensive mixture,
    Hesterberg 1995; Owen & Zhou 2000). The estimate is unbiased before the logarithm for any n. The
    logarithm is too low on average, by about half the relative variance of the mean or more.
    documents: their words index `topics` (U, K); prior: (K,), α.
    """
    n = np.empty(prior.shape[0])
    phi = np.empty(prior.shape[0])
    logs = np.empty(effort.num_draws)
    for d in range(out_logs.shape[0]):
        entries = slice(documents.starts[d], documents.starts[d + 1])
        words = documents.words[entries]
        counts = documents.counts[entries]
        sample_counts(words, counts, topics, prior, effort, rng, n)
        # log of Dirichlet(α + n) over Dirichlet(α), where all φ_k^n_k are 1.
        constant = math.lgamma(prior.sum() + counts.sum()) - math.lgamma(prior.sum())
        for k in range(prior.shape[0]):
            if n[k] > 0.0:
                constant -= math.lgamma(prior[k] + n[k]) - math.lgamma(prior[k])
        for r in range(effort.num_draws):
            is_prior = rng.random() < DEFENSIVE_SHARE
            for k in range(prior.shape[0]):
                # A smaller value makes no difference, but its logarithm must be finite.
                phi[k] = max(rng.standard_gamma(prior[k] + (0.0 if is_prior else n[k])), 1e-300)
            phi /= phi.sum()
            logs[r] = 0.0
            ratio = constant
            # log p(words | φ), and log p(φ) / q(φ) up to its constant.
            for i in range(words.shape[0]):
                logs[r] += counts[i] * math.log(dot(phi, topics[words[i]]))
            for k in range(prior.shape[0]):
                if n[k] > 0.0:
                    ratio += n[k] * math.log(phi[k])
            # The mixture's density over the prior's; beyond 709 its exponential overflows.
            if ratio < 700.0:
                logs[r] -= math.log((1.0 - DEFENSIVE_SHARE) * math.exp(ratio) + DEFENSIVE_SHARE)
            else:
                logs[r] -= ratio + math.log(1.0 - DEFENSIVE_SHARE)
        # The log of the mean of the draws, by the largest.
        highest = logs.max()
        out_logs[d] = highest + math.log(np.exp(logs - highest).mean())
