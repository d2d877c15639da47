"""Corpus sticks against their equations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from stickbreaker.engine.inference.sticks import (
    corpus_sticks,
    expected_log_weights,
    expected_weights,
    find_order,
    sticks_bound,
)
from tests import naive

TABLES = arrays(float, st.integers(1, 12), elements=st.floats(0, 1e6))
CONCENTRATIONS = st.sampled_from([1e-6, 0.3, 1.0, 1e6])


@settings(deadline=None, derandomize=True, max_examples=60)
@given(TABLES, CONCENTRATIONS)
def test_weights_and_their_logs_equal_the_equations_topic_by_topic(tables, concentration):
    sticks = corpus_sticks(tables, concentration)
    expected = naive.weights_of(tables, concentration, naive.mean_sticks)
    np.testing.assert_allclose(expected_weights(sticks), expected, rtol=1e-9, atol=1e-15)
    expected = naive.weights_of(tables, concentration, naive.log_sticks)
    np.testing.assert_allclose(expected_log_weights(sticks), expected, rtol=1e-9, atol=1e-9)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(TABLES, CONCENTRATIONS)
def test_weights_are_a_simplex(tables, concentration):
    weights = expected_weights(corpus_sticks(tables, concentration))
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)


def test_topics_with_more_tables_come_first_and_equal_ones_keep_their_order():
    assert corpus_sticks(np.array([2.0, 7.0, 2.0, 9.0]), 1.0).order.tolist() == [3, 1, 0, 2]


def test_monte_carlo_draws_of_the_sticks_have_the_expected_weights():
    sticks = corpus_sticks(np.array([4.0, 1.0, 0.5]), 2.0)
    draws = np.random.default_rng(3).beta(sticks.on, sticks.after, (200_000, 2))
    left = np.cumprod(1 - draws, axis=1)
    weights = np.column_stack([draws[:, 0], left[:, 0] * draws[:, 1], left[:, 1]])
    for function, sample in ((expected_weights, weights), (expected_log_weights, np.log(weights))):
        error = sample.std(0) / np.sqrt(len(sample))
        assert (abs(sample.mean(0) - function(sticks)[sticks.order]) < 5 * error).all()


@pytest.mark.parametrize("corpus_concentration", [0.5, 1.0, 20.0])
def test_the_order_of_topics_along_the_sticks_changes_only_for_a_better_bound(corpus_concentration):
    rng = np.random.default_rng(0)
    is_kept = []
    for _ in range(200):
        tables, order = rng.gamma(0.5, 2.0, 4), rng.permutation(4)
        new, bound = find_order(tables, order, corpus_concentration)
        old = sticks_bound(corpus_sticks(tables, corpus_concentration, order), corpus_concentration)
        assert bound >= old
        is_kept.append((new == order).all())
    assert not all(is_kept)
