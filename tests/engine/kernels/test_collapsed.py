"""Terms of collapsed sweeps against NumPy and enumerated counts."""

import numpy as np
import pytest

from stickbreaker.engine.kernels.collapsed import log_complement, split_positive
from tests import naive_collapsed as twin


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_the_log_of_one_minus_a_share_is_accurate_for_small_shares(precision):
    shares = np.append(10.0 ** np.linspace(-17, -0.01, 400), [0.0199, 0.0201]).astype(precision)
    expected = np.log1p(-shares.astype(float))
    found = np.array([log_complement(share) for share in shares])
    # 1 - q is rounded to the precision; below 1/50 a series is used, with an error of 1e-10.
    allowed = (
        4 * np.finfo(precision).eps * np.maximum(1, np.where(shares < 0.02, 0, 1 / -expected))
        + 1e-10
    )
    assert (abs(found / expected - 1) <= allowed).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_moments_of_a_positive_count_are_those_of_its_enumerated_values(seed):
    rng = np.random.default_rng(seed)
    c, shares = rng.integers(1, 4, 4), rng.random(4) ** rng.integers(1, 9)
    p = twin.distribution(c, shares)
    n = np.arange(len(p))
    given = p[1:] @ n[1:] / p[1:].sum()
    spread = p[1:] @ (n[1:] - given) ** 2 / p[1:].sum()
    sums = c @ shares, c @ (shares * (1 - shares)), c @ np.log1p(-shares)
    for found in (split_positive(*sums), twin.moments(c, shares)):
        np.testing.assert_allclose(found, [p[1:].sum(), given, spread], rtol=1e-9, atol=1e-9)
