"""The number of topics checked with the sampler of the HDP, started from a model."""

import numpy as np
import pytest

from stickbreaker.engine import Corpus, CorpusError, RunSettings, find_algorithm, prepare, run
from stickbreaker.engine.evaluation.held_out import count_topics
from stickbreaker.engine.runs.count_check import (
    DRAWING_SHARE,
    CheckPlan,
    CountCheck,
    Trend,
    can_check,
    check_count,
    draw_topics,
)
from stickbreaker.engine.simulate import simulate_hdp


@pytest.fixture(scope="module")
def simulated():
    """400 documents of 60 words from five topics."""
    rng = np.random.default_rng(1)
    return simulate_hdp(rng.dirichlet(np.full(200, 0.05), 5), 400, 60, 1.0, 3.0, rng)


def learn(corpus, name="hdp", passes=3, **values):
    """A prepared run, its last state, and the number of topics after each step."""
    algorithm = find_algorithm(name)
    settings = RunSettings(num_evaluations=0, num_moments=0, passes=passes)
    prepared = prepare(algorithm, algorithm.config(**values), corpus, settings)
    updates = list(run(prepared))
    return prepared, updates[-1].state, [update.stepped.num_topics for update in updates]


def check(prepared, state, corpus=None, **plan):
    corpus = prepared.train if corpus is None else corpus
    return check_count(prepared.algorithm, prepared.config, state, corpus, CheckPlan(**plan))


def test_the_interval_contains_the_numbers_of_a_run_of_the_sampler_and_the_true_number(simulated):
    prepared, state, _ = learn(simulated.corpus)
    _, _, sampled = learn(simulated.corpus, "gibbs-hdp", passes=120, initial_topics=1)
    low, high = check(prepared, state).interval
    assert low <= min(sampled[80:]) <= max(sampled[80:]) <= high
    assert low <= count_topics(simulated.topic_words().sum(1).astype(float)) <= high


def test_for_a_model_with_too_many_topics_the_count_falls(simulated):
    prepared, state, counts = learn(simulated.corpus, duplicates="keep")
    found = check(prepared, state)
    assert counts[-1] > 30
    assert found.interval[1] < found.counts[0]
    assert found.trend is Trend.FALLING


def test_the_same_seed_gives_the_same_counts_and_the_model_does_not_change(tiny_corpus):
    prepared, state, _ = learn(tiny_corpus, max_topics=5)
    before = prepared.algorithm.summarize(prepared.config, state).topics.tobytes()
    first, again = (check(prepared, state, passes=12, seed=4) for _ in range(2))
    np.testing.assert_array_equal(first.counts, again.counts)
    assert prepared.algorithm.summarize(prepared.config, state).topics.tobytes() == before
    assert first.counts.shape == (13,)
    assert (first.num_documents, first.corpus_size) == (prepared.corpus_size, prepared.corpus_size)


def test_topics_of_tokens_are_drawn_in_proportion_to_shares_of_documents_and_probabilities_of_words(
    tiny_corpus,
):
    prepared, state, _ = learn(tiny_corpus, max_topics=3, duplicates="keep")
    summary = prepared.algorithm.summarize(prepared.config, state)
    documents = tiny_corpus.documents()
    shares = prepared.algorithm.infer(prepared.config, state, documents)
    draws = [
        np.concatenate(list(draw_topics(summary, tiny_corpus, seed, lambda part: shares)))
        for seed in range(2000)
    ]
    rows = np.repeat(documents.rows(), documents.counts)
    expected = shares[rows] * summary.topics.T[np.repeat(documents.words, documents.counts)]
    expected /= expected.sum(1, keepdims=True)
    found = np.stack(
        [(np.array(draws) == topic).mean(0) for topic in range(expected.shape[1])], axis=1
    )
    error = np.sqrt(expected * (1 - expected) / len(draws))
    assert (np.abs(found - expected) <= 5 * error + 1e-12).all()


def test_the_part_of_a_large_corpus_that_is_read_depends_only_on_the_seed(simulated):
    prepared, state, _ = learn(simulated.corpus)
    found = check(prepared, state, passes=2, max_tokens=6_000)
    assert found.num_documents == 100
    assert found.num_tokens == 6_000
    assert found.corpus_size == prepared.corpus_size
    np.testing.assert_array_equal(
        found.counts, check(prepared, state, passes=2, max_tokens=6_000).counts
    )
    assert check(prepared, state, passes=1, max_tokens=1).num_documents == 1


@pytest.mark.parametrize("stops_at", [0.0, DRAWING_SHARE, 0.5])
def test_a_check_reports_its_progress_and_ends_when_the_report_returns_false(tiny_corpus, stops_at):
    prepared, state, _ = learn(tiny_corpus, max_topics=5)
    shares = []

    def report(share):
        shares.append(share)
        return share < stops_at

    plan = CheckPlan(passes=10)
    assert (
        check_count(prepared.algorithm, prepared.config, state, prepared.train, plan, report)
        is None
    )
    assert shares == sorted(shares)
    assert shares[-1] >= stops_at > max(shares[:-1], default=-1)


def test_the_interval_and_the_trend_are_of_the_last_half_of_the_passes():
    def found(*counts):
        return CountCheck(np.array(counts), 10, 100, 10)

    assert found(90, 70, 61, 60, 62).interval == (60, 62)
    assert found(90, 70, 61, 60, 62).trend == Trend.STABLE
    assert found(90, 60, 50, 60, 64).trend is Trend.RISING
    assert found(20, 60, 50, 60, 56).trend is Trend.FALLING
    assert found(20, 60, 50, 60, 63).trend is Trend.STABLE
    assert (found(20, 30).interval, found(20, 30).trend) == ((30, 30), Trend.STABLE)


def test_what_cannot_be_checked_is_refused_with_the_reason(tiny_corpus):
    prepared, state, _ = learn(tiny_corpus, max_topics=5)
    for plan in ({"passes": 0}, {"max_tokens": 0}):
        with pytest.raises(ValueError, match="give a whole number of at least 1"):
            check(prepared, state, **plan)
    empty = Corpus(
        "empty", np.zeros((3, 6), int), tiny_corpus.vocabulary, tiny_corpus.dates[:3], [""] * 3
    )
    with pytest.raises(CorpusError, match="no counted word"):
        check(prepared, state, empty)
    mixture = find_algorithm("dp-mixture")
    assert not can_check(mixture)
    with pytest.raises(ValueError, match="gives a document one topic"):
        check_count(mixture, mixture.config(), None, tiny_corpus)
