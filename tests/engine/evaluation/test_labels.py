"""Labels of topics follow their rule, are all different, and stay while a topic keeps
their words.
"""

import numpy as np
import pytest

from stickbreaker.engine.algorithm import TopicSummary
from stickbreaker.engine.evaluation.labels import SEPARATOR, label_topics
from stickbreaker.engine.evaluation.topic_space import find_top_words

WORDS = tuple(f"{letter}{place}word" for place in range(4) for letter in "abcdefghij")


def summarize(topics, tokens, ids=None):
    tokens = np.asarray(tokens, float)
    ids = np.arange(len(tokens)) if ids is None else np.asarray(ids)
    return TopicSummary(ids, np.asarray(topics, float), tokens / tokens.sum(), tokens)


@pytest.fixture
def summary():
    rng = np.random.default_rng(5)
    return summarize(rng.dirichlet(np.full(len(WORDS), 0.1), 12), rng.integers(20, 100, 12))


def naive_order(summary, place):
    """A topic's top ten words by λ log p(w|k) + (1 - λ) log p(w|k) / p(w) at λ = .6."""
    shares = summary.weights @ summary.topics
    top = sorted(range(len(WORDS)), key=lambda w: -summary.topics[place, w])[:10]
    row = summary.topics[place]
    return [
        WORDS[w] for w in sorted(top, key=lambda w: -(np.log(row[w]) - 0.4 * np.log(shares[w])))
    ]


def test_a_label_is_the_two_most_relevant_of_the_top_words(summary):
    labels = label_topics(summary, WORDS)
    largest = int(np.argmax(summary.expected_tokens))
    assert next(iter(labels)) == largest
    assert labels[largest] == SEPARATOR.join(naive_order(summary, largest)[:2])
    for topic_id, label in labels.items():
        assert set(label.split(SEPARATOR)) <= set(naive_order(summary, topic_id))


def test_copies_of_one_topic_get_different_words(summary):
    copies = summarize(np.tile(summary.topics[0], (30, 1)), np.arange(60, 30, -1))
    labels = label_topics(copies, WORDS)
    keys = [frozenset(label.split(SEPARATOR)) for label in labels.values()]
    assert len(set(keys)) == 30
    assert [len(key) for key in keys] == [2] + 29 * [3]


def test_copies_without_a_free_label_are_named_by_their_ids():
    copies = summarize(np.tile([[0.5, 0.3, 0.2]], (4, 1)), [4, 3, 2, 1], ids=[7, 5, 3, 1])
    labels = label_topics(copies, ("war", "peace", "law"))
    assert labels == {7: "war, peace", 5: "war, peace, law", 3: "topic 3", 1: "topic 1"}


def test_a_phrase_is_a_label_by_itself_and_two_forms_of_a_word_count_once():
    topics = [[0.4, 0.3, 0.2, 0.1, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.6, 0.4]]
    words = ("health", "health care", "insurance", "coverage", "treaty", "treaties")
    labels = label_topics(summarize(topics, [10, 10]), words)
    assert labels == {0: "health care", 1: "treaty"}


def test_a_topic_keeps_its_label_while_its_words_are_top_words_and_one_is_among_the_most_relevant(
    summary,
):
    top = [naive_order(summary, place) for place in range(12)]
    before = {k: SEPARATOR.join([row[-1], row[2]]) for k, row in enumerate(top)}
    assert label_topics(summary, WORDS, before) == before
    moved = before | {0: SEPARATOR.join(["absent", top[0][0]]), 1: SEPARATOR.join(top[1][3:5])}
    after = label_topics(summary, WORDS, moved)
    assert {k for k, label in after.items() if label != moved[k]} == {0, 1}


def test_a_callable_gets_the_top_words_and_gives_the_label(summary):
    labels = label_topics(summary, WORDS, label_with=lambda words: f"{len(words)} {words[0]}")
    for topic_id, row in enumerate(find_top_words(summary.topics, 1)):
        assert labels[topic_id] == f"10 {WORDS[row[0]]}"


def test_topics_that_are_not_in_use_have_no_label(summary):
    tokens = summary.expected_tokens.copy()
    tokens[[2, 4]] = 0.5
    assert set(label_topics(summarize(summary.topics, tokens), WORDS)) == set(range(12)) - {2, 4}
    assert label_topics(summarize(summary.topics, np.full(12, 0.1)), WORDS) == {}
