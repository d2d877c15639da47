"""Topic weights of words, and two expectations of a document's likelihood (Wang & Blei 2012, Fig.
2).
"""

import numpy as np
import pytest

from stickbreaker.engine.inference.expectations import (
    expected_log_likelihood,
    log_expected_likelihood,
    topic_weights,
)
from stickbreaker.engine.inference.topic_counts import decayed_counts
from stickbreaker.engine.kernels.special import NOT_RAISED
from tests import naive


@pytest.mark.parametrize("case", ["A", "B"])
def test_in_the_example_of_figure_2_only_mean_field_assigns_case_b_to_the_wrong_component(case):
    first = np.append(0.1 if case == "A" else 1.0, np.ones(9))
    counts = np.zeros((20, 10))
    counts[:, 0] = np.arange(1, 21)
    odds = {
        each: each(counts, first) - each(counts, np.full(10, 0.1))
        for each in (log_expected_likelihood, expected_log_likelihood)
    }
    collapsed, mean_field = odds.values()
    assert (np.diff(collapsed) < 0).all()
    if case == "A":
        assert (collapsed < 0).all()
        assert (mean_field < 0).all()
    else:
        assert collapsed[0] == pytest.approx(0.0, abs=1e-12)
        assert (collapsed[1:] < 0).all()
        assert (mean_field > 0).all()


@pytest.mark.parametrize("power", [NOT_RAISED, 1.0, 0.4])
@pytest.mark.parametrize("expectation", ["mean", "geometric"])
@pytest.mark.parametrize("precision", ["float32", "float64"])
# The larger vocabulary is divided between the threads.
@pytest.mark.parametrize("vocab_size", [19, 20_000])
def test_weights_and_their_powers_equal_the_equations(vocab_size, precision, expectation, power):
    dense = np.random.default_rng(0).gamma(0.7, 2.0, (vocab_size, 21)).astype(precision)
    words = np.arange(vocab_size)[::-1][: vocab_size - 3]
    found = topic_weights(decayed_counts(dense), words, 0.1, expectation, power)
    expected = naive.topic_weights(dense.astype(float), 0.1, expectation == "geometric")[words] ** (
        power or 1.0
    )
    assert found.dtype == precision
    np.testing.assert_allclose(found, expected, rtol=3e-5 if precision == "float32" else 1e-10)
