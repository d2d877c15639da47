"""NPMI, exclusivity and diversity, against slow twins written from their definitions."""

from itertools import combinations
from math import log

import numpy as np
import pytest
from scipy.sparse import csr_array

from stickbreaker.engine.evaluation.coherence import (
    NUM_TOP_WORDS,
    diversity,
    exclusivity,
    measure_quality,
    npmi,
    sum_up,
)


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.fixture
def counts(rng):
    return rng.poisson(0.4, (60, 25))


@pytest.fixture
def topics(rng):
    return rng.dirichlet(np.full(25, 0.3), 6)


def naive_npmi(words, counts):
    documents = [set(np.flatnonzero(row)) for row in counts]
    values = []
    for v, w in combinations(words, 2):
        p_v = sum(v in each for each in documents) / len(documents)
        p_w = sum(w in each for each in documents) / len(documents)
        p_both = sum(v in each and w in each for each in documents) / len(documents)
        if p_both == 0:
            values.append(-1.0)
        elif p_both == 1:
            values.append(0.0)
        else:
            values.append(log(p_both / (p_v * p_w)) / -log(p_both))
    return sum(values) / len(values)


def naive_exclusivity(topics, k, words, weight):
    def ecdf(values, value):
        return sum(other <= value for other in values) / len(values)

    exclusive = [topics[k, w] / sum(topics[:, w]) for w in range(topics.shape[1])]
    ranks = [(ecdf(exclusive, exclusive[w]), ecdf(topics[k], topics[k, w])) for w in words]
    scores = [1 / (weight / first + (1 - weight) / second) for first, second in ranks]
    return sum(scores) / len(scores)


@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_npmi_equals_its_naive_twin(rng, counts, make):
    top = np.array([rng.permutation(25)[:10] for _ in range(5)])
    expected = [naive_npmi(words, counts) for words in top]
    np.testing.assert_allclose(npmi(top, make(counts)), expected, rtol=1e-12)


def test_words_that_never_occur_together_have_minus_one_and_words_of_every_document_have_zero():
    counts = np.array([[1, 0, 1, 1, 0], [0, 2, 1, 1, 0]])
    found = npmi(np.array([[0, 1], [2, 3], [0, 4]]), counts)
    assert found.tolist() == [-1.0, 0.0, -1.0]


def test_npmi_does_not_depend_on_how_often_a_word_occurs_in_a_document(counts):
    top = np.arange(20).reshape(2, 10)
    np.testing.assert_array_equal(npmi(top, counts), npmi(top, 7 * counts))


def test_independent_words_have_an_npmi_near_zero(rng):
    documents = 40_000
    counts = rng.random((documents, 4)) < 0.3
    # The standard error of an estimated log odds of p = .09 over -log p, for each of six pairs.
    error = np.sqrt(1 / (0.09 * documents)) / -np.log(0.09)
    assert abs(npmi(np.array([[0, 1, 2, 3]]), counts)[0]) < 4 * error


@pytest.mark.parametrize("weight", [0.5, 0.7])
def test_exclusivity_equals_its_naive_twin(topics, weight):
    top = np.argsort(-topics, axis=1)[:, :4]
    expected = [naive_exclusivity(topics, k, top[k], weight) for k in range(len(topics))]
    np.testing.assert_allclose(exclusivity(topics, top, weight), expected, rtol=1e-12)


def test_topics_without_a_common_word_are_the_most_exclusive(topics):
    apart = np.kron(np.eye(3), np.full(8, 1 / 8))
    top = np.arange(24).reshape(3, 8)
    np.testing.assert_allclose(exclusivity(apart, top), 1.0)
    assert (exclusivity(topics, np.argsort(-topics, axis=1)[:, :8]) < 1).all()


def test_the_numbers_of_all_topics_follow_from_those_of_each(topics, counts):
    tokens = np.array([5.0, 1.0, 1.0, 2.0, 0.5, 0.5])
    quality = measure_quality(np.arange(6), topics, tokens, counts)
    overall = sum_up(quality)
    assert quality.top_words.shape == (6, NUM_TOP_WORDS)
    assert overall.weighted_npmi == pytest.approx((tokens * quality.npmi).sum() / 10)
    assert overall.below_zero == sum(value < 0 for value in quality.npmi) / 6
    assert (
        overall.diversity
        == diversity(quality.top_words)
        == len(set(quality.top_words.ravel().tolist())) / 60
    )
    assert overall.npmi == pytest.approx(quality.npmi.mean())


def test_no_topic_and_one_word_give_no_number():
    empty = measure_quality(np.zeros(0, int), np.zeros((0, 4)), np.zeros(0), np.ones((3, 4), int))
    assert np.isnan(sum_up(empty)).all()
    one = measure_quality(np.zeros(1, int), np.ones((1, 1)), np.ones(1), np.ones((3, 1), int))
    assert np.isnan(one.npmi).all()
