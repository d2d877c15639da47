"""Relevance, distances and the map, against their definitions."""

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon, pdist, squareform

from stickbreaker.engine.evaluation.topic_space import (
    divergences,
    find_top_words,
    lay_out,
    relevance,
)


@pytest.fixture
def topics():
    return np.random.default_rng(0).dirichlet(np.full(30, 0.1), 6)


def test_relevance_at_one_ranks_by_probability_and_at_zero_by_lift(topics):
    shares = topics.mean(0)
    np.testing.assert_array_equal(
        np.argsort(relevance(topics[0], shares, 1.0)), np.argsort(topics[0])
    )
    np.testing.assert_array_equal(
        np.argsort(relevance(topics[0], shares, 0.0)), np.argsort(topics[0] / shares)
    )


def test_a_word_that_is_not_in_the_corpus_is_never_relevant(topics):
    shares = np.append(0.0, np.full(29, 1 / 29))
    found = relevance(topics[0], shares, 0.5)
    assert found.argmin() == 0
    assert np.isfinite(found[1:]).all()


def test_divergences_equal_scipy_and_are_finite_for_topics_without_words(topics):
    expected = squareform(pdist(topics, jensenshannon) ** 2)
    np.testing.assert_allclose(divergences(topics), expected, atol=1e-12)
    assert np.isfinite(divergences(np.zeros((3, 4)))).all()


def test_a_map_of_points_on_a_plane_keeps_their_distances():
    points = np.random.default_rng(1).normal(size=(8, 2))
    places = lay_out(squareform(pdist(points)), np.arange(8))
    np.testing.assert_allclose(pdist(places), pdist(points), rtol=1e-9)


def test_a_map_does_not_depend_on_the_order_of_topics():
    points = np.random.default_rng(1).gamma(1.0, [2.0, 1.0], (30, 2))
    distances, ids = squareform(pdist(points)), np.arange(30)
    expected = lay_out(distances, ids)
    for seed in range(10):
        order = np.random.default_rng(seed).permutation(30)
        np.testing.assert_allclose(
            lay_out(distances[np.ix_(order, order)], ids[order]), expected[order], atol=1e-9
        )


def test_a_map_is_aligned_with_a_rotated_and_mirrored_last_map():
    points = np.random.default_rng(1).normal(size=(8, 2))
    turned = points @ np.array([[0.0, 1.0], [1.0, 0.0]]) * 3 + 5
    ids = np.arange(8)
    places = lay_out(squareform(pdist(points)), ids, last=(ids[::-1], turned[::-1]))
    np.testing.assert_allclose(places, turned, rtol=1e-9)


@pytest.mark.parametrize("num_topics", [0, 1, 2, 3])
def test_maps_of_few_or_equal_topics_are_finite(num_topics):
    ids = np.arange(num_topics)
    places = lay_out(np.zeros((num_topics, num_topics)), ids, last=(ids, np.zeros((num_topics, 2))))
    assert places.shape == (num_topics, 2)
    assert np.isfinite(places).all()


def test_top_words_are_the_likeliest_in_order_and_as_many_as_there_are():
    topics = np.array([[0.1, 0.4, 0.2, 0.3], [0.7, 0.1, 0.15, 0.05]], dtype=np.float32)
    assert find_top_words(topics, 10).tolist() == [[1, 3, 2, 0], [0, 2, 1, 3]]
    wide = np.random.default_rng(0).random((5, 100)).astype(np.float32)
    assert (find_top_words(wide, 10) == np.argsort(-wide, axis=1)[:, :10]).all()
