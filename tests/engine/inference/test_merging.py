"""Copies of topics are found and merged; topics that merely resemble one another are not."""

import numpy as np
import pytest
from scipy.stats import power_divergence

from stickbreaker.engine.inference.merging import find_duplicates
from stickbreaker.engine.kernels.likeness import g_statistic


def draw_topics(seed, num_topics=6, vocab_size=400, tokens=20_000):
    """Distinct topics as counts (K, V), and the generator."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(vocab_size, 0.1), num_topics)
    return np.array([rng.multinomial(tokens, share) for share in shares], np.float32), rng


def test_the_statistic_is_scipys_likelihood_ratio_and_its_freedom_that_of_a_table():
    rng = np.random.default_rng(0)
    one, other = (rng.integers(1, 50, 30).astype(float) for _ in range(2))
    both, total = one + other, one.sum() + other.sum()
    expected = [both * part.sum() / total for part in (one, other)]
    g, _ = power_divergence(np.append(one, other), np.concatenate(expected), lambda_="log-likelihood")
    assert g_statistic(one, other) == pytest.approx((g, 29), rel=1e-9)
    single = g_statistic(one.astype(np.float32), other.astype(np.float32))
    assert single == pytest.approx((g, 29), rel=1e-4)


def test_two_samples_of_one_topic_differ_by_about_the_degrees_of_freedom():
    rng, ratios = np.random.default_rng(1), []
    share = rng.dirichlet(np.ones(300))
    for _ in range(200):
        statistic, freedom = g_statistic(*(rng.multinomial(30_000, share).astype(float) for _ in range(2)))
        ratios.append(statistic / freedom)
    standard_error = np.sqrt(2 / 299 / 200)
    assert np.mean(ratios) == pytest.approx(1.0, abs=5 * standard_error + 0.02)


@pytest.mark.parametrize("seed", range(5))
def test_topics_that_split_their_tokens_are_merged_under_the_larger_one_s_id(seed):
    topics, rng = draw_topics(seed)
    split = rng.dirichlet([4.0, 3.0, 2.0])
    copies = np.vstack([topics, split[1] * topics[2], split[2] * topics[2]]).astype(np.float32)
    copies[2] *= split[0]
    merging = find_duplicates(copies)
    largest = [2, 6, 7][int(np.argmax(split))]
    assert merging.targets[[2, 6, 7]].tolist() == [largest] * 3
    others = [0, 1, 3, 4, 5]
    assert merging.targets[others].tolist() == others
    summed = merging.add_up(copies)
    np.testing.assert_allclose(summed[largest], topics[2], rtol=1e-5)
    np.testing.assert_allclose(summed.sum(), copies.sum(), rtol=1e-6)
    assert (summed > 0).any(1).sum() == 6


def test_topics_that_only_resemble_one_another_stay_apart():
    topics, rng = draw_topics(3)
    alike = np.vstack([topics[:1], rng.multinomial(20_000, (topics[0] + 0.1 * topics[1]) / (1.1 * 20_000))])
    assert find_duplicates(alike.astype(np.float32)).targets.tolist() == [0, 1]


@pytest.mark.parametrize("counts", [np.zeros((4, 9)), np.full((1, 5), 3.0), np.diag([5.0, 0.2, 0.0])])
def test_empty_topics_and_a_single_topic_are_not_merged(counts):
    assert find_duplicates(counts).targets.tolist() == list(range(len(counts)))


def test_no_argument_is_changed():
    topics, _ = draw_topics(4)
    topics = np.vstack([topics, topics[:1] / 2])
    before = topics.copy()
    merging = find_duplicates(topics)
    merging.add_up(topics)
    np.testing.assert_array_equal(topics, before)


def test_only_a_comparison_that_cannot_end_below_the_highest_ratio_stops_early():
    topics, _ = draw_topics(5, num_topics=2, vocab_size=2000)
    copy = (0.4 * topics[0]).astype(np.float32)
    assert g_statistic(topics[0], topics[1], 0.5)[0] == np.inf
    assert g_statistic(topics[0], copy, 0.5) == g_statistic(topics[0], copy)


def test_topics_that_do_not_differ_yet_are_not_copies():
    rng = np.random.default_rng(6)
    frequencies = rng.dirichlet(np.full(400, 0.1))
    unparted = frequencies * rng.uniform(0.8, 1.2, (12, 400)) * 2000
    for one, other in [(0, 1), (5, 6)]:
        statistic, freedom = g_statistic(unparted[one], unparted[other])
        assert statistic < 0.5 * freedom
    kept = find_duplicates(unparted.astype(np.float32)).targets
    assert len(set(kept.tolist())) >= 6
