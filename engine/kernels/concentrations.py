"""Sums over all counts of λ, from which η is learned.

Letters in the bodies: n a count, p the probability that it is above zero.
"""

import numpy as np

from stickbreaker.engine.kernels.compiled import njit
from stickbreaker.engine.kernels.special import digamma

# In tokens; a smaller count is almost surely zero.
LEAST_COUNT = 1e-4


@njit(nogil=True, cache=True, error_model="numpy")
def trigamma(x: float) -> float:
    """ψ'(x) for x > 0, to 1e-12 of its value: the recurrence below 8, then the asymptotic series.

    Source: Abramowitz & Stegun 6.4.6 and 6.4.12.
    """
    shift = 0.0
    while x < 8.0:
        shift += 1.0 / (x * x)
        x += 1.0
    inverse = 1.0 / x
    square = inverse * inverse
    series = square * (
        1 / 6 - square * (1 / 30 - square * (1 / 42 - square * (1 / 30 - square * (5 / 66))))
    )
    series -= square**6 * (691 / 2730 - square * 7 / 6)
    return shift + inverse * (1.0 + 0.5 * inverse + series)


@njit(nogil=True, cache=True, error_model="numpy")
def add_word_gains(
    counts: np.ndarray,
    noise: float,
    concentration: float,
    out_gains: np.ndarray,
    out_totals: np.ndarray,
) -> None:
    """Add Σ p (ψ(η + n/p) - ψ(η)) and its derivative by η to out_gains (2,), over positive n =
    counts - noise (V, K).

    p = min(1, n). Adds Σ_w n to out_totals (K,).
    """
    psi = digamma(concentration)
    slope = trigamma(concentration)
    for i in range(counts.shape[0]):
        for k in range(counts.shape[1]):
            n = counts[i, k] - noise
            if n > LEAST_COUNT:
                p = min(1.0, n)
                at = concentration + max(1.0, n)
                # The expected tables of the count over η, and their derivative by η.
                out_gains[0] += p * (digamma(at) - psi)
                out_gains[1] += p * (trigamma(at) - slope)
                out_totals[k] += n
