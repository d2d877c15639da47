"""Terms of the updates of concentrations against SciPy."""

import numpy as np
from scipy.special import polygamma

from stickbreaker.engine.kernels.concentrations import add_word_gains, trigamma


def test_trigamma_equals_scipy():
    x = np.geomspace(1e-6, 1e6, 200)
    np.testing.assert_allclose([trigamma(each) for each in x], polygamma(1, x), rtol=1e-11)


def test_the_gains_of_a_word_concentration_equal_their_equation():
    counts = np.random.default_rng(0).gamma(0.2, 3.0, (30, 6))
    found, totals = np.zeros(2), np.zeros(6)
    add_word_gains(counts, 0.1, 0.3, found, totals)
    n = np.maximum(counts - 0.1, 0)[counts > 0.1]
    p = np.minimum(1, n)
    expected = [(p * (polygamma(m, 0.3 + n / p) - polygamma(m, 0.3))).sum() for m in (0, 1)]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    np.testing.assert_allclose(totals, np.maximum(counts - 0.1, 0).sum(0), atol=30 * 1e-4)
