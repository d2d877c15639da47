"""Held-out scores and bounds against brute force, and the number of topics."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta

from stickbreaker.engine.algorithms import REGISTRY
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.evaluation.held_out import (
    FOLD_IN,
    count_topics,
    fold_in,
    perplexity_bound,
    score,
    score_own,
)
from stickbreaker.engine.executors import step
from stickbreaker.engine.inference.held_words import split_words
from stickbreaker.engine.schedules import resolve
from tests import naive
from tests.small_documents import draw_documents


@pytest.mark.parametrize("algorithm", REGISTRY, ids=lambda each: each.name)
def test_own_scores_equal_brute_force_and_do_not_change_the_state(algorithm):
    documents, config = draw_documents(), resolve(algorithm.config(), 40)
    state = algorithm.init(config, 50, np.random.default_rng(0))
    split = split_words(documents, np.arange(40), 0)
    topics = algorithm.summarize(config, state).topics
    nats = score_own(algorithm, config, state, split)

    def infer(seen):
        words, counts = np.array(list(seen), np.int32), np.array(list(seen.values()), np.int32)
        return algorithm.infer(config, state, Documents(np.array([0, len(seen)]), words, counts))[
            0
        ].astype(float)

    assert nats == pytest.approx(
        naive.score(*naive.split_parts(split), infer, topics.astype(float)), abs=1e-5
    )
    assert nats == score_own(algorithm, config, state, split)


@pytest.mark.parametrize(
    "algorithm", [each for each in REGISTRY if each.word_topics], ids=lambda each: each.name
)
def test_a_score_by_the_topics_of_the_held_out_words_equals_that_by_all_topics(algorithm):
    sizes = {"max_topics": 20} if algorithm.has_setting("max_topics") else {}
    documents, config = draw_documents(200), resolve(algorithm.config(batch_size=50, **sizes), 200)
    state = algorithm.init(config, 50, np.random.default_rng(0))
    for first in range(0, 200, 50):
        batch = Batch(np.arange(first, first + 50), documents.cut(first, first + 50), 200)
        split = split_words(batch.documents, batch.doc_ids, 0)
        words = np.unique(split.words)
        summary, (topic_ids, topics) = (
            algorithm.summarize(config, state),
            algorithm.word_topics(config, state, words),
        )
        np.testing.assert_array_equal(topics, summary.topics.T[words])
        np.testing.assert_array_equal(topic_ids, summary.topic_ids)
        by_words, by_all = (
            score_own(each, config, state, split)
            for each in (algorithm, replace(algorithm, word_topics=None))
        )
        assert by_words == by_all
        state, _ = step(algorithm, config, state, batch, np.random.default_rng(first))


def test_the_fold_in_equals_naive_sweeps():
    documents, rng = draw_documents(), np.random.default_rng(1)
    topics, prior = rng.dirichlet(np.full(50, 0.2), 6) + 1e-6, rng.dirichlet(np.ones(6))
    expected = [
        naive.sweep(topics.T[words], c, prior, FOLD_IN)[0]
        for words, c in naive.split_rows(documents)
    ]
    expected = [g / g.sum() for g in expected]
    np.testing.assert_allclose(fold_in(documents, topics, prior), expected, rtol=1e-9, atol=1e-12)


def test_the_perplexity_bound_is_below_the_integral_over_shares():
    topics, prior = np.array([[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]]), np.array([0.7, 0.4])
    document = Documents(
        np.array([0, 3]), np.arange(3, dtype=np.int32), np.array([3, 1, 2], np.int32)
    )

    def likelihood(share):
        words = share * topics[0] + (1 - share) * topics[1]
        return np.prod(words ** [3, 1, 2]) * beta.pdf(share, *prior)

    exact = np.log(quad(likelihood, 0, 1)[0]) / 6
    assert perplexity_bound(document, topics, prior) <= exact
    assert perplexity_bound(document, topics[:1], prior[:1]) == pytest.approx(
        np.log(topics[0]) @ [3, 1, 2] / 6, abs=1e-12
    )


def test_empty_documents_do_not_change_the_perplexity_bound():
    topics, prior = np.array([[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]]), np.array([0.7, 0.4])
    words, counts = np.array([0, 2, 1], np.int32), np.array([3, 1, 2], np.int32)
    without = perplexity_bound(Documents(np.array([0, 2, 3]), words, counts), topics, prior)
    with_empty = perplexity_bound(
        Documents(np.array([0, 0, 2, 2, 3, 3]), words, counts), topics, prior
    )
    assert with_empty == pytest.approx(without, rel=1e-12)


def test_without_held_out_words_there_is_no_score():
    split = split_words(
        Documents(np.array([0, 1]), np.zeros(1, np.int32), np.ones(1, np.int32)), [0], 0
    )
    topics, prior = np.full((2, 3), 1 / 3), np.ones(2)
    assert np.isnan(score(split, np.zeros((0, 2)), topics))
    assert fold_in(split.observed, topics, prior).shape == (0, 2)
    assert np.isnan(perplexity_bound(split.observed, topics, prior))


def test_ids_shares_or_topics_of_the_wrong_shape_are_refused():
    documents = draw_documents()
    with pytest.raises(ValueError, match="39 ids for 40 documents"):
        split_words(documents, np.arange(39), 0)
    split = split_words(documents, np.arange(40), np.uint64(3))
    topics = np.full((2, 50), 1 / 50)
    for shares, others in (
        (np.ones((38, 3)), topics),
        (np.ones((37, 2)), topics),
        (np.ones((38, 2)), topics[:, :20]),
    ):
        with pytest.raises(ValueError, match="do not fit 38 scored documents"):
            score(split, shares, others)


def test_the_number_of_topics_is_0_without_tokens_and_ignores_the_last_percent():
    assert count_topics(np.zeros(150)) == 0
    assert count_topics(np.array([1.0, 0.0])) == 1
    assert count_topics(np.array([0.5, 50.0, 49.5])) == 2
    assert count_topics(np.full(150, 2.0)) == 149
    assert count_topics(np.full(150, 0.9)) == 0
