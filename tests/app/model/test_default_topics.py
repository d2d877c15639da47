"""The topics that the word lists show until the user selects some."""

import numpy as np
from hypothesis import given

from stickbreaker import engine
from stickbreaker.app.model.default_topics import DefaultTopics, default_topics
from stickbreaker.app.model.progress import find_used
from tests.app.frames.test_progress_frames import VOCABULARY, WORDS, checkpoint, moments


def followed(points, corpus=None):
    """The default topics at each of these moments."""
    defaults, seen = DefaultTopics(), []
    for end in range(1, len(points) + 1):
        defaults.follow(points[:end], corpus)
        seen.append(defaults.topics)
    return seen


def is_used(point, topic_id):
    return find_used(point, topic_id) is not None


@given(moments)
def test_default_topics_are_two_that_are_in_use_or_all_if_there_are_fewer(points):
    for point, topics in zip(points, followed(points), strict=True):
        in_use = [k for k in (5, 6, 7) if is_used(point, k)]
        assert len(set(topics)) == len(topics) == min(2, len(in_use))
        assert set(topics) <= set(in_use)


@given(moments)
def test_default_topics_change_only_once_while_they_are_in_use(points):
    seen = followed(points)
    changes = [
        at
        for at in range(1, len(points))
        if seen[at] != seen[at - 1] and all(is_used(points[at], k) for k in seen[at - 1])
    ]
    grown = [at for at in changes if len(seen[at]) > len(seen[at - 1])]
    assert len(changes) - len(grown) <= 1


def test_one_topic_is_stable_early_and_one_formed_late():
    alike = [WORDS + 20, WORDS, WORDS + 24, WORDS + 22]
    apart = [WORDS + 20, WORDS, WORDS + 40, WORDS + 22]
    points = [checkpoint(100 * at, alike, [9.0, 9.0, 9.0, 9.0]) for at in (1, 2)]
    points.append(checkpoint(300, apart, [9.0, 9.0, 9.0, 0.0]))
    assert followed(points)[-1] == (6, 7)


def test_coherent_topics_come_first():
    tokens = [9.0, 9.0, 9.0]
    points = [checkpoint(100 * at, [WORDS, WORDS + 2, WORDS + 4], tokens) for at in (1, 2)]
    points.append(checkpoint(300, [WORDS, WORDS + 10, WORDS + 20], tokens))
    counts = np.zeros((40, 60), int)
    for first in (0, 20):
        counts[first : first + 5, first : first + 10] = 1
    counts[np.arange(10, 20), np.arange(10, 20)] = 1
    dates = np.full(40, "1900", "datetime64[Y]")
    corpus = engine.Corpus("pairs", counts, engine.Vocabulary(VOCABULARY), dates, ("",) * 40)
    assert default_topics(points, corpus) == (5, 7)


def test_topics_that_leave_are_replaced_one_by_one():
    lists = [WORDS, WORDS + 10, WORDS + 20]
    points = [checkpoint(100, lists, [9.0, 9.0, 9.0])]
    stays, leaves = default_topics(points)
    tokens = [0.0 if k == leaves else 9.0 for k in (5, 6, 7)]
    (other,) = {5, 6, 7} - {stays, leaves}
    assert followed([*points, checkpoint(200, lists, tokens)])[-1] == (stays, other)


def test_without_topics_in_use_there_are_none():
    assert default_topics([]) == ()
    assert default_topics([checkpoint(100, [WORDS, WORDS], [0.0, 0.0])]) == ()
    assert default_topics([checkpoint(100, [WORDS, WORDS], [0.0, 5.0])]) == (6,)
