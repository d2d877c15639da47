"""Redundant topics are removed in groups if held-out words agree; topics that documents need stay."""

import numpy as np
import pytest

from stickbreaker.engine.algorithms import hdp
from stickbreaker.engine.runs.prepared import prepare
from stickbreaker.engine.runs.run import run
from stickbreaker.engine.runs.settings import RunSettings
from stickbreaker.engine.simulate import simulate_hdp


def draw_corpus(seed, num_topics, num_documents=5000):
    """A simulated corpus, and the number of topics that cover 99 % of its tokens."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(1000, 0.02), num_topics)
    simulation = simulate_hdp(topics, num_documents, 80, 1.0, num_topics / 2, rng)
    sizes = np.sort(simulation.topic_words().sum(1))[::-1]
    return simulation.corpus, int((sizes.cumsum() < 0.99 * sizes.sum()).sum()) + 1


def learn(corpus, passes=1, **settings):
    """The last step of a run, and the corpus it has read."""
    run_settings = RunSettings(passes=passes, num_evaluations=0, num_snapshots=0, score_next_batch=False)
    prepared = prepare(hdp.ALGORITHM, hdp.HDPConfig(**settings), corpus, run_settings)
    *_, last = run(prepared)
    return last.stepped, prepared.train


def count_topics(corpus, passes=1, **settings):
    """The number of topics after some passes."""
    return learn(corpus, passes, **settings)[0].num_topics


@pytest.mark.parametrize("num_topics", [10, 30])
def test_after_one_pass_the_mean_number_of_topics_is_at_most_one_and_a_half_times_the_true_one(num_topics):
    corpus, true_number = draw_corpus(0, num_topics, 10_000)
    numbers = [count_topics(corpus, max_topics=limit) for limit in (75, 150, 300)]
    assert true_number <= np.mean(numbers) <= 1.5 * true_number


def test_after_a_third_pass_the_number_of_topics_is_within_a_fifth_of_the_true_one():
    corpus, true_number = draw_corpus(1, 20)
    assert count_topics(corpus, passes=3, max_topics=100) == pytest.approx(true_number, abs=0.2 * true_number)


def test_a_higher_corpus_concentration_keeps_more_topics():
    corpora = [draw_corpus(seed, 20, 2000)[0] for seed in range(4)]
    low, high = (
        sum(count_topics(corpus, max_topics=100, corpus_concentration=value) for corpus in corpora)
        for value in (0.01, 100.0)
    )
    assert low < high


@pytest.mark.parametrize(("doc_length", "batch_size"), [(1, 8), (20, 1)], ids=["one word", "one document"])
def test_documents_of_one_word_and_mini_batches_of_one_document_are_learned(doc_length, batch_size):
    rng = np.random.default_rng(0)
    corpus = simulate_hdp(rng.dirichlet(np.full(50, 0.1), 3), 40, doc_length, 1.0, 2.0, rng).corpus
    stepped, train = learn(corpus, max_topics=10, batch_size=batch_size, delay=1.0)
    state = stepped.state
    assert stepped.num_topics >= 1
    assert state.expected_tokens.sum() == pytest.approx((1 - state.startup_share) * train.num_tokens, rel=1e-4)
    assert np.isfinite(state.topic_counts.dense()).all()
