"""Compiled special functions, exponential and logarithm against SciPy and NumPy."""

import numpy as np
import pytest
from numba import njit
from scipy.special import gammaln, polygamma, psi

from stickbreaker.engine.kernels.counts import geometric_rows
from stickbreaker.engine.kernels.special import (
    SMALLEST_EXPONENT,
    digamma,
    exp_digamma,
    fast_digamma,
    fast_exp,
    fast_log,
    log_gamma_derivatives,
)


def test_digamma_equals_scipy_over_forty_powers_of_ten():
    points = np.logspace(-30, 10, 2001)
    ours = np.array([digamma(x) for x in points])
    np.testing.assert_allclose(ours, psi(points), rtol=1e-12, atol=1e-12)


def test_log_gamma_and_its_derivatives_equal_scipy_over_thirty_powers_of_ten():
    x = np.append(10.0 ** np.linspace(-18, 12, 500), np.random.default_rng(0).uniform(0, 20, 500))
    expected = gammaln(x), psi(x), polygamma(1, x), polygamma(2, x)
    for found, theirs in zip(
        np.transpose([log_gamma_derivatives(each) for each in x]), expected, strict=True
    ):
        assert (abs(found - theirs) / np.maximum(1, abs(theirs))).max() < 1e-12


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("power", [1.0, 0.3])
def test_expected_log_topics_equal_their_equation_down_to_the_lower_limit(precision, power):
    lam = np.random.default_rng(1).gamma(0.5, 4.0, (20, 3)).astype(precision) + precision(0.02)
    out = np.empty_like(lam)
    totals = psi(lam.sum(0, dtype=float))
    smallest = precision(SMALLEST_EXPONENT[np.dtype(precision)])
    geometric_rows(
        lam / 2,
        np.arange(20, dtype=np.int32),
        2.0,
        0.0,
        totals.astype(precision),
        smallest,
        power,
        out,
    )
    exponents = np.maximum(psi(lam.astype(float)) - totals, SMALLEST_EXPONENT[np.dtype(precision)])
    np.testing.assert_allclose(
        out, np.exp(power * exponents), rtol=1e-4 if precision is np.float32 else 1e-11
    )
    assert (out > 0).all()


@njit
def exp_all(x):
    return np.array([fast_exp(each) for each in x])


@njit
def log_all(x):
    return np.array([fast_log(each) for each in x])


@njit
def digamma_all(x):
    return np.array([fast_digamma(each) for each in x])


@njit
def exp_digamma_all(g, power):
    out = np.empty_like(g)
    exp_digamma(g, len(g), power, out)
    return out


@pytest.mark.parametrize(("precision", "tolerance"), [(np.float32, 1e-6), (np.float64, 1e-11)])
@pytest.mark.parametrize(
    ("compiled", "exact", "points"),
    [
        (exp_all, np.exp, np.linspace(-86, 86, 5001)),
        (log_all, np.log, np.logspace(-37, 37, 5001)),
        (digamma_all, psi, np.logspace(-30, 20, 5001)),
    ],
)
def test_fast_functions_are_exact_to_their_tolerance(compiled, exact, points, precision, tolerance):
    points = points.astype(precision)
    expected = exact(points.astype(float))
    scale = abs(expected) if exact is np.exp else np.maximum(1, abs(expected))
    assert (abs(compiled(points) - expected) / scale).max() < tolerance


@pytest.mark.parametrize(("precision", "tolerance"), [(np.float32, 1e-5), (np.float64, 1e-11)])
@pytest.mark.parametrize("power", [1.0, 0.4])
@pytest.mark.parametrize(
    "points", [np.logspace(-1, 12, 999), np.full(2000, 1e-3), np.array([1e-30, 0.4, 7.0])]
)
def test_exp_digamma_keeps_the_ratios_of_its_values(points, precision, tolerance, power):
    points = points.astype(precision)
    logs = psi(points.astype(float))
    expected = np.exp(power * (logs - logs.max()))
    ours = exp_digamma_all(points, power).astype(float)
    assert ours.max() > 0.3
    np.testing.assert_allclose(ours / ours.max(), expected, rtol=tolerance, atol=1e-17)
