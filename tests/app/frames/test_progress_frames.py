"""A run's progress as tidy tables, for complete and incomplete runs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stickbreaker.app.frames.progress_frames import (
    AXES,
    CURVES,
    axis_span,
    curve_frame,
    earlier_frame,
    mark_frame,
    steady_order,
    topics_by_pass,
    warm_up_columns,
)
from stickbreaker.app.frames.word_table import table_frame, topics_frame
from stickbreaker.app.model.progress import (
    HELDOUT_COLUMNS,
    STEP_COLUMNS,
    Curve,
    Mark,
    Moment,
    Progress,
)
from stickbreaker.engine.evaluation.held_out import rank_topics

VOCABULARY = tuple(f"word{i}" for i in range(60))
WORDS = np.arange(10)


def checkpoint(documents_seen, lists, tokens):
    """Topics 5, 6, 7, ... with these word lists and expected tokens."""
    tokens = np.array(tokens, dtype=float)
    return Moment(
        documents_seen=documents_seen,
        date=np.datetime64("1800") + np.timedelta64(documents_seen // 100, "Y"),
        topic_ids=np.arange(5, 5 + len(tokens)),
        weights=tokens / tokens.sum() if tokens.sum() else tokens,
        expected_tokens=tokens,
        top_words=np.array(lists, dtype=np.int32).reshape(len(tokens), 10),
        num_topics=len(tokens),
    )


def steps(documents_seen, years, phases):
    rows = [
        (d, np.datetime64(str(y)), d / 100, 0.1, 3, 0.5, p, 100)
        for d, y, p in zip(documents_seen, years, phases, strict=True)
    ]
    return Curve.build(STEP_COLUMNS, rows)


def run(documents_seen=(100, 200, 300), years=(1801, 1802, 1803), phases=(0, 0, 1), **fields):
    curve = steps(documents_seen, years, phases)
    return Progress(
        steps=curve, documents_total=1000, date=np.datetime64("1803"), label="κ 0.6", **fields
    )


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("name", CURVES)
def test_a_run_without_points_gives_empty_frames(name, axis):
    frame = curve_frame(Progress(), name, axis)
    assert frame.empty
    assert list(frame.columns) == ["x", "y", "documents_seen", "date", "seconds"]
    assert not warm_up_columns(Progress(), axis)["start"]
    assert earlier_frame([Progress()], name, axis).empty


def test_dates_are_written_in_the_precision_of_the_corpus():
    assert curve_frame(run(), "num_topics")["date"].tolist() == ["1801", "1802", "1803"]


def test_a_second_pass_breaks_the_line_over_dates_but_not_over_documents():
    twice = run((100, 200, 300, 400), (1801, 1802, 1801, 1802), (1, 1, 1, 1))
    assert np.isnan(curve_frame(twice, "num_topics", "dates")["x"]).tolist() == [
        False,
        False,
        True,
        False,
        False,
    ]
    assert len(curve_frame(twice, "num_topics", "documents")) == 4


@given(st.lists(st.integers(1790, 2021), max_size=30), st.data())
def test_the_frame_of_a_shorter_run_is_the_beginning_of_a_longer_one(years, data):
    length = data.draw(st.integers(0, len(years)))
    seen = range(100, 100 * (len(years) + 1), 100)
    whole = curve_frame(run(seen, years, [1] * len(years)), "num_topics", "dates")
    part = curve_frame(run(seen[:length], years[:length], [1] * length), "num_topics", "dates")
    assert whole["documents_seen"].tolist()[: len(part)] == part["documents_seen"].tolist()
    np.testing.assert_array_equal(whole["x"].to_numpy()[: len(part)], part["x"].to_numpy())


def test_the_axis_of_documents_shows_the_whole_run_from_the_start():
    start, end = axis_span([Progress(documents_total=1000)], "documents")
    assert start == 0
    assert 1000 < end < 1050
    left_early = Progress(documents_seen=240, documents_total=48_000)
    assert axis_span([Progress(documents_total=1000), left_early], "documents") == (start, end)
    assert axis_span([Progress()], "documents") is None
    assert axis_span([Progress(documents_total=1000)], "seconds") is None


def test_the_warm_up_spans_from_the_start_to_its_last_step():
    assert warm_up_columns(run()) == {"start": [0.0], "end": [200.0]}
    assert warm_up_columns(run(phases=(1, 1, 1))) == {"start": [], "end": []}


@pytest.mark.parametrize("axis", AXES)
def test_marks_at_one_place_share_a_label(axis):
    date = np.datetime64("1801")
    marks = [
        Mark(100, 1.0, date, "κ 0.6 → 0.8"),
        Mark(100, 1.0, date, "S 256 → 64"),
        Mark(200, 2.0, date + np.timedelta64(1, "Y"), "τ₀ 64 → 1"),
    ]
    assert mark_frame(marks, axis)["text"].tolist() == ["κ 0.6 → 0.8\nS 256 → 64", "τ₀ 64 → 1"]
    assert mark_frame([], axis).empty


def test_earlier_runs_have_labels():
    frame = earlier_frame([run(), Progress()], "learning_rate")
    assert frame["label"].tolist() == ["κ 0.6"]
    assert frame["xs"][0].tolist() == [100, 200, 300]


def test_only_topics_that_explain_a_token_are_listed_largest_first():
    point = checkpoint(100, [WORDS, WORDS, WORDS], [3.0, 0.4, 30.0])
    assert topics_frame(point, VOCABULARY)["topic_id"].tolist() == [7, 5]
    assert topics_frame(None, VOCABULARY).empty
    assert topics_frame(point, None).empty


def test_a_word_is_new_if_it_is_not_in_the_previous_column():
    points = [checkpoint(100, [WORDS], [9.0]), checkpoint(200, [WORDS + 2], [9.0])]
    frame = table_frame(points, VOCABULARY, [5])
    assert not frame[frame["column"] == 0]["is_new"].any()
    assert frame[frame["is_new"]]["word"].tolist() == ["word10", "word11"]


def test_a_word_has_risen_if_the_previous_column_has_it_two_ranks_lower():
    moved = np.array([2, 0, 1, 4, 3, 5, 9, 6, 7, 8])
    frame = table_frame(
        [checkpoint(100, [WORDS], [9.0]), checkpoint(200, [moved], [9.0])], VOCABULARY, [5]
    )
    assert frame[frame["has_risen"]]["word"].tolist() == ["word2", "word9"]
    assert not (frame["has_risen"] & (frame["is_new"] | (frame["column"] == 0))).any()


def test_an_unused_topic_has_no_words_and_no_word_is_new_after_it():
    points = [checkpoint(100, [WORDS], [0.0]), checkpoint(200, [WORDS], [9.0])]
    frame = table_frame(points, VOCABULARY, [5, 99])
    assert set(frame["column"]) == {1}
    assert set(frame["topic_id"]) == {5}
    assert not frame["is_new"].any()


moments = st.lists(
    st.tuples(
        st.lists(st.permutations(range(20)).map(lambda words: words[:10]), min_size=3, max_size=3),
        st.lists(st.sampled_from([0.0, 0.5, 2.0, 40.0]), min_size=3, max_size=3),
    ),
    max_size=6,
).map(lambda points: [checkpoint(100 * (i + 1), *point) for i, point in enumerate(points)])


@settings(deadline=None)
@given(moments)
def test_any_moments_give_a_table_without_gaps_in_its_values(points):
    frame = table_frame(points, VOCABULARY, [5, 6, 7])
    assert not frame.isna().any(axis=None)
    assert (frame.groupby(["topic_id", "column"]).size() == 10).all()


def test_topics_of_nearly_equal_weight_keep_their_order():
    point = checkpoint(100, [WORDS] * 3, [1000.0, 1000.3, 2500.0])
    ranked = rank_topics(point.expected_tokens)
    topics = point.topic_ids[ranked], point.weights[ranked]
    in_order = [int(topics[0][row]) for row in steady_order(*topics, [7, 5, 6], 3)]
    assert in_order == [7, 5, 6]
    assert len(steady_order(*topics, [], 2)) == 2


def test_held_out_scores_keep_their_sign_and_place():
    scores = Curve.build(HELDOUT_COLUMNS, [(512, np.datetime64("1802"), 1.5, -7.9)])
    frame = curve_frame(Progress(heldout=scores), "heldout", "seconds")
    assert frame[["x", "y"]].to_numpy().tolist() == [[1.5, -7.9]]


def test_topics_are_counted_at_the_end_of_each_whole_pass():
    rows = [
        (seen, np.datetime64("1800"), seen / 100, 0.1, number, 0.5, 1, 100)
        for seen, number in [(60, 9), (100, 7), (160, 6), (200, 4), (260, 5)]
    ]
    progress = Progress(steps=Curve.build(STEP_COLUMNS, rows), documents_total=300, corpus_size=100)
    assert topics_by_pass(progress) == [7, 4]
    assert topics_by_pass(Progress()) == []
