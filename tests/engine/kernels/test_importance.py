"""The likelihood of documents, by importance sampling and in closed form, against a sum over all
assignments.
"""

from itertools import product

import numpy as np
import pytest

from stickbreaker.engine.corpora.documents import Documents
from stickbreaker.engine.evaluation.held_out import importance_sampling, mixture_likelihood
from stickbreaker.engine.kernels.importance import Effort
from tests.enumeration import log_assignments

TOPICS = np.array([[0.7, 0.2, 0.1], [0.05, 0.05, 0.9], [0.3, 0.6, 0.1]])
PRIOR = np.array([0.5, 0.02, 0.3])
DOCUMENT = Documents(np.array([0, 3]), np.array([0, 1, 2], np.int32), np.array([3, 1, 2], np.int32))
NUM_ERRORS = 5


def evidence(words):
    """p(words) of one document: the sum over all topics of its tokens."""
    all_topics = product(range(len(PRIOR)), repeat=len(words))
    return sum(
        np.exp(log_assignments(z, PRIOR)) * TOPICS[list(z), words].prod() for z in all_topics
    )


@pytest.mark.parametrize("effort", [Effort(0, 1, 1), Effort(5, 5, 10)])
def test_estimates_of_a_document_equal_the_enumerated_evidence_on_average(effort):
    rng, words = np.random.default_rng(0), [0, 0, 0, 1, 2, 2]
    estimates = [
        np.exp(6 * importance_sampling(DOCUMENT, TOPICS, PRIOR, rng, effort)) for _ in range(4000)
    ]
    error = np.std(estimates, ddof=1) / np.sqrt(len(estimates))
    assert abs(np.mean(estimates) - evidence(words)) <= NUM_ERRORS * error


def test_an_estimate_of_two_documents_from_many_draws_equals_the_evidence():
    rng = np.random.default_rng(1)
    single = np.log(evidence([0, 0, 0, 1, 2, 2]))
    # The estimate is unbiased only before the logarithm; with 20,000 draws the bias is small.
    twice = Documents(np.array([0, 3, 6]), np.tile(DOCUMENT.words, 2), np.tile(DOCUMENT.counts, 2))
    draws = [
        importance_sampling(twice, TOPICS, PRIOR, rng, Effort(20, 20, 20_000)) for _ in range(30)
    ]
    assert abs(np.mean(draws) - single / 6) <= NUM_ERRORS * np.std(draws, ddof=1) / np.sqrt(
        len(draws)
    )


def test_with_one_topic_the_likelihood_is_the_product_of_its_word_probabilities():
    nats = importance_sampling(DOCUMENT, TOPICS[:1], PRIOR[:1], np.random.default_rng(0))
    assert nats == pytest.approx((3 * np.log(0.7) + np.log(0.2) + 2 * np.log(0.1)) / 6, rel=1e-12)


def test_the_likelihood_of_a_mixture_sums_over_all_components():
    weights = np.array([0.2, 0.5, 0.3])
    exact = np.log((weights * TOPICS[:, 0] ** 3 * TOPICS[:, 1] * TOPICS[:, 2] ** 2).sum()) / 6
    assert mixture_likelihood(DOCUMENT, TOPICS, weights) == pytest.approx(exact, rel=1e-12)


def test_documents_without_words_have_no_score():
    none = Documents(np.zeros(3, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32))
    assert np.isnan(importance_sampling(none, TOPICS, PRIOR, np.random.default_rng(0)))
    assert np.isnan(mixture_likelihood(none, TOPICS, PRIOR))
