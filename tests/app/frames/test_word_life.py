"""The topics of one word over a run, from the columns of the word lists."""

from dataclasses import replace

import numpy as np
import pytest

from stickbreaker.app.frames.word_frames import (
    OF_TOPIC,
    TOKENS,
    run_places,
    word_frame,
    word_life_rows,
)
from stickbreaker.app.model.progress import Moment, Progress
from stickbreaker.app.model.word_lists import WordLists, take_lists
from stickbreaker.app.state import RunState
from stickbreaker.app.views.word_life import PICK, WordLife
from stickbreaker.engine.algorithm import TopicSummary
from tests.app.browser_messages import send

HOSTILE = "<img src=x onerror=alert(1)>"
VOCABULARY = (HOSTILE, "war", "peace", "gold", "silver")


def point(seen, ids, words, shares, tokens):
    lists = WordLists(np.array(ids), np.array(words), np.array(shares, np.float32))
    return Moment(
        seen,
        np.datetime64("1800"),
        np.array(ids),
        np.array(tokens) / sum(tokens),
        np.array(tokens, float),
        np.array(words),
        len(ids),
        lists,
    )


@pytest.fixture
def progress():
    """The word war moves from topic 4, which no longer lists it at last, to the new topic 9."""
    points = (
        point(100, [4], [[1, 2]], [[0.5, 0.3]], [1000.0]),
        point(200, [4, 9], [[2, 1], [1, 3]], [[0.4, 0.25], [0.25, 0.2]], [1000.0, 100.0]),
        point(300, [4, 9], [[2, 0], [1, 3]], [[0.4, 0.3], [0.5, 0.2]], [1000.0, 5000.0]),
    )
    return Progress(
        run_id=1,
        algorithm="hdp",
        corpus_size=300,
        documents_seen=300,
        columns=points,
        vocabulary=VOCABULARY,
    )


def test_the_likeliest_words_of_topics_in_use_are_listed_with_their_probabilities():
    topics = np.random.default_rng(0).dirichlet(np.ones(80), 3).astype(np.float32)
    summary = TopicSummary(np.array([5, 6, 7]), topics, np.ones(3) / 3, np.array([9.0, 0.2, 1.0]))
    lists = take_lists(summary, 9)
    assert lists.topic_ids.tolist() == [5, 7]
    assert lists.words.tolist() == np.argsort(-topics[[0, 2]], axis=1)[:, :50].tolist()
    np.testing.assert_array_equal(lists.shares, -np.sort(-topics[[0, 2]], axis=1)[:, :50])


def test_the_size_of_the_lists_is_bounded_for_any_number_of_columns():
    summary = TopicSummary(
        np.arange(1), np.full((1, 80), 1 / 80, np.float32), np.ones(1), np.ones(1)
    )
    numbers = {count: take_lists(summary, count).words.shape[1] for count in (1, 100, 200, 1000)}
    assert numbers == {1: 50, 100: 50, 200: 25, 1000: 10}


def test_a_word_has_values_in_the_topics_that_list_it_and_nan_elsewhere(progress):
    frame = word_frame(progress, 1, OF_TOPIC)
    assert list(dict.fromkeys(frame["topic_id"])) == [9, 4]
    values = frame.pivot(index="documents_seen", columns="topic_id", values="value")
    np.testing.assert_array_equal(values[4], [0.5, 0.25, np.nan])
    np.testing.assert_array_equal(values[9], [np.nan, 0.25, 0.5])
    ranks = frame.pivot(index="documents_seen", columns="topic_id", values="rank")
    np.testing.assert_array_equal(ranks[4], [1, 2, np.nan])


def test_tokens_of_a_word_are_its_probability_times_the_tokens_of_the_topic(progress):
    tokens = word_frame(progress, 1, TOKENS).pivot(
        index="documents_seen", columns="topic_id", values="value"
    )
    np.testing.assert_array_equal(tokens[9], [np.nan, 25, 2500])
    np.testing.assert_array_equal(tokens[4], [500, 250, np.nan])


def test_rows_say_since_when_and_until_when_a_topic_listed_the_word_and_its_largest_share(progress):
    nine, four = word_life_rows(word_frame(progress, 1, OF_TOPIC), OF_TOPIC)
    assert (nine["weight"], nine["share"]) == ("50.00 %", 1.0)
    assert (
        nine["words"]
        == "in the lists from 200 documents on; highest after 300 documents: 50.00 %, rank 1"
    )
    assert (four["weight"], four["share"]) == ("", 0.0)
    assert (
        four["words"]
        == "in the lists from 100 to 200 documents; highest after 100 documents: 50.00 %, rank 1"
    )


def test_the_axis_of_a_run_in_whole_passes_counts_passes(progress):
    assert run_places(progress) == ("documents read", [100.0, 200.0, 300.0])
    passes = replace(progress, algorithm="gibbs-hdp", corpus_size=100)
    assert run_places(passes) == ("passes over the corpus", [1.0, 2.0, 3.0])
    assert word_frame(passes, 1, OF_TOPIC)["x"].max() == 3.0


def test_the_view_follows_the_selected_word_and_says_what_is_missing(progress):
    state = RunState()
    view = WordLife(state)
    assert PICK in view.heading.object.replace("&#x27;", "'")
    state.word = 1
    view.state.publish(Progress(run_id=1, vocabulary=VOCABULARY, planned_columns=(50,)))
    assert "after 50 documents" in view.heading.object
    view.state.publish(progress)
    assert len(view.plot.lines.data["xs"]) == 2
    assert view.chart.visible
    state.word = 4
    assert "“silver” was not among" in view.heading.object
    assert not view.chart.visible
    state.word = 0
    assert HOSTILE not in view.heading.object
    send(view.rows, {"key": 4})
    assert state.topic == 4
