"""Copies and mixtures of other topics are found and removed; similar topics that differ are not."""

import numpy as np
import pytest
from scipy.stats import power_divergence

from stickbreaker.engine.algorithm import Phase
from stickbreaker.engine.algorithms import hdp
from stickbreaker.engine.corpora.documents import Documents
from stickbreaker.engine.executors import step
from stickbreaker.engine.inference import redundancy
from stickbreaker.engine.inference.redundancy import (
    CERTAIN_REREAD,
    RATES_BETWEEN,
    UNCERTAIN,
    compared_words,
    find_removal,
    narrow,
    sampled_counts,
)
from stickbreaker.engine.inference.topic_counts import DecayedCounts
from stickbreaker.engine.kernels.likeness import g_statistic
from stickbreaker.engine.runs.prepared import prepare
from stickbreaker.engine.runs.run import run
from stickbreaker.engine.runs.settings import RunSettings
from stickbreaker.engine.schedules import resolve
from stickbreaker.engine.simulate import simulate_hdp
from tests import naive


def draw_topics(seed, num_topics=6, vocab_size=400, tokens=20_000):
    """Distinct topics as counts (K, V), and the generator."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(vocab_size, 0.1), num_topics)
    return np.array([rng.multinomial(tokens, share) for share in shares], np.float32), rng


def test_the_statistic_equals_the_likelihood_ratio_of_scipy_with_the_degrees_of_freedom_of_a_table():
    rng = np.random.default_rng(0)
    one, other = (rng.integers(1, 50, 30).astype(float) for _ in range(2))
    both, total = one + other, one.sum() + other.sum()
    expected = [both * part.sum() / total for part in (one, other)]
    g, _ = power_divergence(np.append(one, other), np.concatenate(expected), lambda_="log-likelihood")
    assert g_statistic(one, other) == pytest.approx((g, 29), rel=1e-9)
    single = g_statistic(one.astype(np.float32), other.astype(np.float32))
    assert single == pytest.approx((g, 29), rel=1e-4)


def test_the_mean_statistic_of_two_samples_of_one_topic_is_its_degrees_of_freedom():
    rng, ratios = np.random.default_rng(1), []
    # No word is so rare that the statistic is biased.
    share = rng.dirichlet(np.full(300, 10.0))
    for _ in range(200):
        statistic, freedom = g_statistic(*(rng.multinomial(30_000, share).astype(float) for _ in range(2)))
        ratios.append(statistic / freedom)
    standard_error = np.sqrt(2 / 299 / 200)
    assert np.mean(ratios) == pytest.approx(1.0, abs=5 * standard_error)


@pytest.mark.parametrize("tokens", [1_000, 10_000, 100_000])
def test_two_samples_of_a_topic_with_rare_words_stay_below_the_limit_of_documents_that_are_read_again(tokens):
    rng, share = np.random.default_rng(1), 1 / np.arange(1, 6001)
    samples = (rng.multinomial(tokens, share / share.sum(), 2).astype(float) for _ in range(20))
    ratios = [np.divide(*g_statistic(*pair)) for pair in samples]
    assert UNCERTAIN < 1.1 < np.mean(ratios) < 1.4 < CERTAIN_REREAD


@pytest.mark.parametrize("seed", range(5))
def test_the_largest_part_of_a_divided_topic_receives_the_tokens_of_the_others(seed):
    topics, rng = draw_topics(seed)
    split = rng.dirichlet([4.0, 3.0, 2.0])
    copies = np.vstack([topics, split[1] * topics[2], split[2] * topics[2]]).astype(np.float32)
    copies[2] *= split[0]
    left = copies.copy()
    removal = find_removal(left, 0.3)
    largest = [2, 6, 7][int(np.argmax(split))]
    assert sorted([*removal.topics, largest]) == [2, 6, 7]
    np.testing.assert_allclose(left[largest], topics[2], rtol=1e-4, atol=0.5)
    np.testing.assert_allclose(removal.share_out(copies.sum(1))[largest], 20_000, rtol=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_the_tokens_of_a_mixture_of_two_topics_go_to_these_two(seed):
    topics, rng = draw_topics(seed)
    mixed = 0.6 * topics[1].astype(float) + 0.4 * topics[4]
    counts = np.vstack([topics, rng.multinomial(5_000, mixed / mixed.sum())]).astype(np.float32)
    left = counts.copy()
    removal = find_removal(left, 1.5)
    assert removal.topics.tolist() == [6]
    assert sorted(removal.parents[0, :2].tolist()) == [1, 4]
    weights = dict(zip(removal.parents[0].tolist(), removal.weights[0].tolist(), strict=True))
    # The weight would have this standard error if the topic of each token were known; words in both topics raise it.
    error = np.sqrt(0.6 * 0.4 / 5_000)
    assert weights[1] == pytest.approx(0.6, abs=5 * error)
    np.testing.assert_allclose(left.sum(0), counts.sum(0), rtol=1e-4, atol=1e-2)
    assert not left[6].any()


def test_similar_topics_that_differ_stay():
    topics, rng = draw_topics(3)
    near = topics[0].astype(float) + 0.1 * topics[2]
    alike = np.vstack([topics[:2], rng.multinomial(20_000, near / near.sum())])
    assert find_removal(alike.astype(np.float32), 1.5).is_empty


@pytest.mark.parametrize("counts", [np.zeros((4, 9)), np.full((1, 5), 3.0), np.diag([5.0, 0.2, 0.0])])
def test_empty_topics_and_a_single_topic_are_not_removed(counts):
    assert find_removal(counts.copy(), 1.5).is_empty


def test_only_a_comparison_that_cannot_end_below_the_highest_ratio_stops_early():
    topics, _ = draw_topics(5, num_topics=2, vocab_size=2000)
    copy = (0.4 * topics[0]).astype(np.float32)
    assert g_statistic(topics[0], topics[1], 0.5)[0] == np.inf
    assert g_statistic(topics[0], copy, 0.5) == g_statistic(topics[0], copy)


def test_topics_that_do_not_differ_yet_are_not_redundant():
    rng = np.random.default_rng(6)
    frequencies = rng.dirichlet(np.full(400, 0.1))
    alike = frequencies * rng.uniform(0.8, 1.2, (12, 400)) * 2000
    statistic, freedom = g_statistic(alike[0], alike[1])
    assert statistic < 0.5 * freedom
    assert find_removal(alike.astype(np.float32), 1.0).is_empty


@pytest.mark.parametrize("ratio", [0.3, 1.5])
@pytest.mark.parametrize("seed", range(3))
def test_the_search_agrees_with_its_naive_twin(seed, ratio):
    topics, rng = draw_topics(seed, num_topics=9, vocab_size=300, tokens=4000)
    mixed = rng.dirichlet(np.full(9, 0.2), 5) @ topics
    counts = np.vstack([topics, [rng.multinomial(1500, row / row.sum()) for row in mixed]]).astype(np.float64)
    left = counts.copy()
    removal = find_removal(left, ratio)
    expected, rest = naive.find_redundant(counts, ratio)
    assert removal.topics.tolist() == [topic for topic, _, _ in expected]
    for place, (_, parents, weights) in enumerate(expected):
        assert removal.parents[place, : len(parents)].tolist() == parents
        np.testing.assert_allclose(removal.weights[place, : len(weights)], weights, rtol=1e-4)
    np.testing.assert_allclose(left, rest, rtol=1e-4, atol=1e-3)


def learn(corpus, **settings):
    """The state after one pass, its number of topics, and its score on held-out words."""
    run_settings = RunSettings(num_evaluations=1, num_snapshots=0, score_next_batch=False)
    *_, last = run(prepare(hdp.ALGORITHM, hdp.HDPConfig(**settings), corpus, run_settings))
    return last.stepped.state, last.stepped.num_topics, last.held_out.nats_per_word


@pytest.mark.parametrize("most_words", [redundancy.MOST_WORDS, 200])
@pytest.mark.parametrize("seed", range(3))
def test_one_pass_over_a_simulated_corpus_removes_most_copies_and_predicts_better(seed, most_words, monkeypatch):
    monkeypatch.setattr(redundancy, "MOST_WORDS", most_words)
    rng = np.random.default_rng(seed)
    corpus = simulate_hdp(rng.dirichlet(np.full(1000, 0.02), 10), 3000, 80, 1.0, 5.0, rng).corpus
    state, num_topics, score = learn(corpus, max_topics=100)
    _, num_kept, score_kept = learn(corpus, max_topics=100, duplicates="keep")
    assert 8 <= num_topics < num_kept / 2
    assert score > score_kept
    assert (1 - state.startup_share) * corpus.num_tokens >= state.expected_tokens.sum() > 0


def test_in_a_stream_a_search_is_due_once_half_of_the_content_is_new_however_long_the_stream_is():
    rng = np.random.default_rng(0)
    corpus = simulate_hdp(rng.dirichlet(np.full(100, 0.05), 5), 600, 40, 1.0, 5.0, rng).corpus
    config, searched = resolve(hdp.HDPConfig(max_topics=10), 100), [0.0]
    state = hdp.init(config, corpus.vocab_size, rng)
    for batch in corpus.batches(config.batch_size):
        seen = max(100, state.documents_read + batch.documents.num_documents)
        state, _ = step(hdp.ALGORITHM, config, state, batch._replace(corpus_size=seen, is_stream=True))
        if state.phase != Phase.WARM_UP and state.looked_at != searched[-1]:
            searched.append(state.looked_at)
    assert len(searched) > 4
    assert (np.diff(searched[1:]) >= RATES_BETWEEN).all()


def test_counts_from_one_batch_with_rate_1_are_scaled_back_to_the_tokens_of_the_batch():
    state = hdp.init(resolve(hdp.HDPConfig(max_topics=2), 100), 4, np.random.default_rng(0))
    tokens = np.array([30.0, 10.0])
    counts = np.array([[200.0, 10.0], [100.0, 0.0], [0.0, 40.0], [0.0, 50.0]])
    # The corpus has ten times the documents of the batch, so each token counts ten times.
    state = state._replace(
        topic_counts=DecayedCounts(counts, 1.0, counts.sum(0), np.ones(4, bool)),
        expected_tokens=10 * tokens,
        squared_tokens=100 * tokens,
    )
    np.testing.assert_allclose(sampled_counts(state).sum(1), counts.sum(0) / 10, rtol=1e-6)


def test_a_search_reads_the_words_with_the_most_tokens_and_those_of_its_documents(monkeypatch):
    monkeypatch.setattr(redundancy, "MOST_WORDS", 3)
    tokens = np.array([9.0, 1.0, 7.0, 2.0, 8.0, 3.0])
    counts = np.outer(tokens, [1.0, 2.0])
    state = hdp.init(resolve(hdp.HDPConfig(max_topics=2), 100), 6, np.random.default_rng(0))._replace(
        topic_counts=DecayedCounts(counts, 1.0, counts.sum(0), np.ones(6, bool)),
        expected_tokens=counts.sum(0),
        squared_tokens=counts.sum(0),
    )
    documents = Documents(starts=np.array([0, 1]), words=np.array([1]), counts=np.array([1]))
    read = narrow(state, compared_words(state), documents)
    assert read.topic_counts.held.tolist() == [0, 1, 2, 4]
    np.testing.assert_array_equal(sampled_counts(read), counts[[0, 4, 2]].T)
