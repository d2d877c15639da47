"""Redundant topics are removed in groups if held-out words agree; topics that documents need stay."""

import numpy as np
import pytest

from stickbreaker.engine.algorithms import hdp
from stickbreaker.engine.corpora.documents import Documents
from stickbreaker.engine.inference.held_words import select_rows, split_halves
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


def count_topics(corpus, passes=1, **settings):
    """The number of topics after some passes."""
    limits = RunSettings(passes=passes, num_evaluations=0, num_snapshots=0, score_next_batch=False)
    *_, last = run(prepare(hdp.ALGORITHM, hdp.HDPConfig(**settings), corpus, limits))
    return last.stepped.num_topics


@pytest.mark.parametrize("num_topics", [10, 30])
def test_after_one_pass_the_number_of_topics_is_at_most_one_and_a_half_times_the_true_one_on_the_mean(num_topics):
    corpus, true_number = draw_corpus(0, num_topics, 10_000)
    numbers = [count_topics(corpus, max_topics=limit) for limit in (75, 150, 300)]
    assert true_number <= np.mean(numbers) <= 1.5 * true_number


def test_a_third_pass_leaves_the_true_number_of_topics():
    corpus, true_number = draw_corpus(1, 20)
    assert count_topics(corpus, passes=3, max_topics=100) == pytest.approx(true_number, abs=0.2 * true_number)


def test_a_higher_corpus_concentration_keeps_more_topics():
    corpora = [draw_corpus(seed, 20, 2000)[0] for seed in range(4)]
    low, high = (
        sum(count_topics(corpus, max_topics=100, corpus_concentration=value) for corpus in corpora)
        for value in (0.01, 100.0)
    )
    assert low < high


def test_each_half_of_a_documents_words_is_predicted_from_the_other():
    documents = Documents(
        np.array([0, 4, 5, 8]), np.array([0, 2, 5, 7, 1, 0, 1, 2]), np.array([3, 1, 1, 2, 9, 1, 2, 4])
    )
    split = split_halves(documents, np.array([4, 8, 9]), 0)
    # The second document has only one distinct word.
    assert split.scored.tolist() == [0, 2, 0, 2]
    observed = np.split(split.observed.words, split.observed.starts[1:-1])
    held = [split.words[split.rows == row] for row in range(4)]
    for row, document in enumerate([[0, 2, 5, 7], [0, 1, 2]] * 2):
        assert sorted([*observed[row], *held[row]]) == document
        np.testing.assert_array_equal(observed[row], held[(row + 2) % 4])
    assert split.num_tokens == 7 + 7


def test_documents_selected_from_a_split_keep_their_words():
    rng = np.random.default_rng(0)
    starts = np.append(0, rng.integers(2, 9, 6).cumsum())
    words = np.concatenate([np.sort(rng.choice(20, size, replace=False)) for size in np.diff(starts)])
    split = split_halves(Documents(starts, words, rng.integers(1, 5, len(words))), np.arange(6), 1)
    chosen = np.array([1, 4, 6, 11])
    some = select_rows(split, np.isin(np.arange(12), chosen))
    assert some.scored.tolist() == split.scored[chosen].tolist()
    for place, row in enumerate(chosen):
        assert some.observed.cut(place, place + 1).words.tolist() == split.observed.cut(row, row + 1).words.tolist()
        assert some.words[some.rows == place].tolist() == split.words[split.rows == row].tolist()
        assert some.counts[some.rows == place].tolist() == split.counts[split.rows == row].tolist()


def test_mini_batches_of_one_document_or_of_one_word_are_read():
    rng = np.random.default_rng(0)
    corpus = simulate_hdp(rng.dirichlet(np.full(50, 0.1), 3), 40, 1, 1.0, 2.0, rng).corpus
    assert count_topics(corpus, max_topics=10, batch_size=8, delay=1.0) <= 10
    longer = simulate_hdp(rng.dirichlet(np.full(50, 0.1), 3), 40, 20, 1.0, 2.0, rng).corpus
    assert count_topics(longer, max_topics=10, batch_size=1, delay=1.0) <= 10
