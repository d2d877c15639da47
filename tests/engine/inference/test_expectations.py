"""Topic weights of some words, and their powers, which the warm-up reads."""

import numpy as np
import pytest

from stickbreaker.engine.inference.expectations import topic_weights
from stickbreaker.engine.inference.topic_counts import decayed_counts
from tests import naive


@pytest.mark.parametrize("power", [1.0, 0.4])
@pytest.mark.parametrize("expectation", ["mean", "geometric"])
@pytest.mark.parametrize("precision", ["float32", "float64"])
# The larger vocabulary is divided between the threads.
@pytest.mark.parametrize("vocab_size", [19, 20_000])
def test_weights_and_their_powers_equal_the_equations(vocab_size, precision, expectation, power):
    dense = np.random.default_rng(0).gamma(0.7, 2.0, (vocab_size, 21)).astype(precision)
    words = np.arange(vocab_size)[::-1][: vocab_size - 3]
    found = topic_weights(decayed_counts(dense), words, 0.1, expectation, power)
    expected = naive.topic_weights(dense.astype(float), 0.1, expectation == "geometric")[words] ** power
    assert found.dtype == precision
    np.testing.assert_allclose(found, expected, rtol=3e-5 if precision == "float32" else 1e-10)
