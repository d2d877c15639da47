"""Born, stable, near-duplicate and gone topics: a test for each rule, then the view."""

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

from stickbreaker.app.frames.life_frames import (
    NUM_EVENTS,
    describe_event,
    event_rows,
    lane_frame,
    lane_topics,
    mark_frame,
    summarize_life,
)
from stickbreaker.app.model.progress import Moment, Progress
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.app.model.topic_life import (
    BORN,
    GONE,
    NEAR_DUPLICATE,
    STABLE,
    find_events,
    find_similarity,
)
from stickbreaker.app.model.word_lists import WordLists
from stickbreaker.app.state import RunState
from stickbreaker.app.views.topic_life import TopicLife
from stickbreaker.engine import RunSettings, find_algorithm
from tests.app.browser_messages import send
from tests.app.small_runs import learn

HOSTILE = "<img src=x onerror=alert(1)>"
VOCABULARY = (HOSTILE, *(f"word{i}" for i in range(1, 200)))


def topic(first, *more, number=10):
    """The word list of a topic: words from `first` on, with `more` in place of the last ones."""
    words = list(range(first, first + number))
    words[number - len(more) :] = more
    return words


def point(seen, **lists):
    """A moment of topics k1, k2, ...: uniform word lists, and 100 tokens minus the id."""
    ids = np.array([int(name[1:]) for name in lists])
    words = np.array(list(lists.values()), np.int32).reshape(len(ids), -1)
    tokens = 100.0 - ids
    shares = np.full(words.shape, 1 / max(1, words.shape[1]), np.float32)
    kept = WordLists(ids, words, shares)
    return Moment(
        seen, np.datetime64("1800"), ids, tokens / tokens.sum(), tokens, words, len(ids), kept
    )


def events(*points):
    return [(each.kind, each.topic_id, each.column, each.other) for each in find_events(points)]


def test_a_topic_is_born_at_its_first_column_except_the_first_of_the_run():
    found = events(
        point(1, k1=topic(0)),
        point(2, k1=topic(20), k2=topic(40)),
        point(3, k1=topic(60), k2=topic(80)),
    )
    assert found == [(BORN, 2, 1, None)]


def test_a_topic_is_clear_once_nine_of_its_ten_present_words_stay_in_its_lists():
    lists = [topic(0, 100, 101), topic(0, 102), topic(0, 103), topic(0)]
    found = events(*(point(seen, k1=words) for seen, words in enumerate(lists)))
    assert found == [(STABLE, 1, 1, None)]


def test_the_order_of_words_does_not_matter_and_one_column_is_too_few():
    assert events(point(1, k1=topic(0)), point(2, k1=topic(0)[::-1])) == [(STABLE, 1, 0, None)]
    assert events(point(1, k1=topic(0))) == []


def test_a_topic_whose_list_changes_later_is_no_longer_clear():
    points = [point(1, k1=topic(0)), point(2, k1=topic(0))]
    assert events(*points) == [(STABLE, 1, 0, None)]
    assert events(*points, point(3, k1=topic(50))) == []


def test_a_topic_that_is_missing_for_one_column_is_clear_after_its_return_and_not_gone():
    one = {"k1": topic(0)}
    found = events(
        point(1, **one, k2=topic(20)),
        point(2, **one),
        point(3, **one, k2=topic(20)),
        point(4, **one, k2=topic(20)),
    )
    assert found == [(STABLE, 1, 0, None), (STABLE, 2, 2, None)]


def test_a_topic_is_gone_when_it_is_no_longer_in_use():
    found = events(
        point(1, k1=topic(0), k2=topic(20)), point(2, k1=topic(40)), point(3, k1=topic(60))
    )
    assert found == [(GONE, 2, 1, None)]


def test_a_topic_that_is_gone_names_its_near_duplicate():
    found = find_events(
        [point(1, k1=topic(0), k2=topic(0, 100), k3=topic(50)), point(2, k1=topic(30))]
    )
    assert [(each.kind, each.topic_id, each.other) for each in found] == [
        (GONE, 2, 1),
        (GONE, 3, None),
    ]
    assert found[0].similarity == pytest.approx(0.9)
    progress = Progress(names={1: "war"})
    assert [describe_event(each, progress) for each in found] == [
        "gone; similarity 0.90 to war before",
        "gone",
    ]


def test_a_merge_is_proposed_from_the_column_where_two_topics_became_near_duplicates():
    apart, similar = point(1, k1=topic(0), k2=topic(60)), point(2, k1=topic(10), k2=topic(10, 100))
    later = point(3, k1=topic(30), k2=topic(30, 101))
    assert events(apart, similar, later) == [(NEAR_DUPLICATE, 2, 1, 1)]
    assert events(similar, later, replace(apart, documents_seen=4)) == []


def test_likeness_is_the_bhattacharyya_coefficient():
    rng = np.random.default_rng(0)
    p, q = rng.dirichlet(np.ones(5), 2).astype(np.float32)
    words = np.arange(5)[None]
    similarity = find_similarity(
        WordLists(np.array([1]), words, p[None]), WordLists(np.array([2]), words[:, ::-1], q[None])
    )
    assert similarity[0, 0] == pytest.approx(np.sqrt(p * q[::-1]).sum(), rel=1e-6)


@pytest.fixture
def progress():
    points = (
        point(100, k1=topic(0), k2=topic(20)),
        point(200, k1=topic(0), k2=topic(20), k3=topic(40)),
        point(300, k1=topic(0), k3=topic(40)),
    )
    return Progress(
        run_id=1,
        algorithm="hdp",
        corpus_size=300,
        documents_seen=300,
        columns=points,
        vocabulary=VOCABULARY,
    )


def test_lanes_last_while_a_topic_is_in_use_and_carry_all_its_events(progress):
    found = find_events(progress.columns)
    shown = lane_topics(progress, None)
    assert shown == [1, 2, 3]
    lanes = lane_frame(progress, shown).groupby("topic_id")[["x0", "x1"]].agg(["min", "max"])
    spans = {k: (lanes.loc[k, ("x0", "min")], lanes.loc[k, ("x1", "max")]) for k in shown}
    assert spans == {1: (100.0, 300.0), 2: (100.0, 200.0), 3: (200.0, 300.0)}
    marks = mark_frame(progress, found, shown)
    assert sorted(zip(marks["topic_id"], marks["kind"], marks["x"], strict=True)) == [
        (1, STABLE, 100.0),
        (2, GONE, 300.0),
        (3, BORN, 200.0),
        (3, STABLE, 200.0),
    ]


def test_events_are_listed_newest_first_with_topic_names(progress):
    named = replace(progress, names=MappingProxyType({2: "sea"}))
    rows = event_rows(named, find_events(progress.columns))
    assert [(row["title"], row["weight"], row["words"].split(" · ")[0]) for row in rows] == [
        ("sea", "300 documents", "gone"),
        ("topic 3", "200 documents", "born"),
        ("topic 3", "200 documents", "stable from here on"),
        ("topic 1", "100 documents", "stable from here on"),
    ]
    assert (
        summarize_life(progress, find_events(progress.columns))
        == "2 topics at the first moment, 1 born since, 1 gone. Of the 2 topics in use now, 2 are"
        " stable, and no merge is proposed."
    )


def test_the_view_announces_the_first_column_then_draws_lists_and_selects(progress):
    state = RunState()
    view = TopicLife(state)
    view.state.publish(Progress(run_id=1, planned_columns=(50,)))
    assert "after 50 documents" in view.summary.object
    assert not view.pane.visible
    view.state.publish(progress)
    assert view.pane.visible
    assert len(view.rows.rows) == 4
    assert HOSTILE in view.rows.rows[-1]["words"]
    view.kind.value = "gone"
    (row,) = view.rows.rows
    send(view.rows, {"key": row["key"]})
    assert state.topic == 2
    view.kind.value = "born"
    assert [row["title"] for row in view.rows.rows] == ["topic 3"]


@pytest.mark.parametrize(
    ("name", "passes"), [("hdp", 2), ("free-hdp", 2), ("lda", 1), ("batch-lda", 4)]
)
def test_every_kind_of_algorithm_has_topic_events(tiny_corpus, name, passes):
    algorithm, settings = find_algorithm(name), RunSettings(passes=passes, num_moments=4)
    record = learn(tiny_corpus, RunSpec("tiny", algorithm, algorithm.config(), settings))
    state = RunState()
    view = TopicLife(state)
    view.state.publish(record.progress(1))
    assert view.pane.visible
    axis = view.plot.figure.xaxis.axis_label
    assert axis == ("passes over the corpus" if name == "batch-lda" else "documents read")
    assert len(view.rows.rows) <= NUM_EVENTS
