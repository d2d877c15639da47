"""Compiled digamma against SciPy's."""

import numpy as np
import pytest
from scipy.special import psi

from engine.kernels.special import SMALLEST_EXPONENT, digamma, exp_expected_log


def test_digamma_equals_scipys_over_forty_powers_of_ten():
    points = np.logspace(-30, 10, 2001)
    ours = np.array([digamma(x) for x in points])
    np.testing.assert_allclose(ours, psi(points), rtol=1e-12, atol=1e-12)


def test_digamma_keeps_its_recurrence():
    for x in (0.1, 1.0, 2.5, 5.999, 6.001, 40.0):
        assert digamma(x + 1) == pytest.approx(digamma(x) + 1 / x, abs=2e-12)


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_expected_log_topics_equal_their_equation_down_to_the_floor(precision):
    lam = np.random.default_rng(1).gamma(0.5, 4.0, (7, 3)).astype(precision) + precision(0.02)
    out = np.empty_like(lam)
    totals = psi(lam.sum(0, dtype=float))
    exp_expected_log(lam, totals, SMALLEST_EXPONENT[np.dtype(precision)], out)
    exponents = np.maximum(psi(lam.astype(float)) - totals, SMALLEST_EXPONENT[np.dtype(precision)])
    np.testing.assert_allclose(out, np.exp(exponents), rtol=1e-4 if precision is np.float32 else 1e-11)
    assert (out > 0).all()
