"""Digamma, and the expectation of a log Dirichlet, as compiled code."""

import math

import numpy as np
from numba import njit

SMALLEST_EXPONENT = {np.dtype(np.float32): -41.0, np.dtype(np.float64): -600.0}


@njit(nogil=True, cache=True, error_model="numpy")
def digamma(x):
    """ψ(x) for x > 0, to 1e-12 of max(1, |ψ|): six steps of the recurrence below 6, then the asymptotic series.

    Source: Abramowitz & Stegun 6.3.5 and 6.3.18.
    """
    shift = 0.0
    while x < 6.0:
        shift -= 1.0 / x
        x += 1.0
    inverse = 1.0 / x
    square = inverse * inverse
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square * (1 / 132)))))
    # The next two terms of the series are worth 1e-11 at x = 6.
    series -= square**6 * (691 / 32760 - square / 12)
    return shift + math.log(x) - 0.5 * inverse - series


@njit(nogil=True, cache=True, error_model="numpy")
def exp_expected_log(concentrations, total_digammas, smallest_exponent, out_weights):
    """exp E[log topic] = exp(ψ(λ) - ψ(Σ λ)) for a block of rows (U, K), floored so that no float32 is denormal.

    Source: Wang 2011, the expectations below Eq. 21.
    """
    for row in range(concentrations.shape[0]):
        for column in range(concentrations.shape[1]):
            exponent = digamma(float(concentrations[row, column])) - total_digammas[column]
            out_weights[row, column] = math.exp(max(exponent, smallest_exponent))
