"""First readings of documents, and topics over time by the model at the time."""

from dataclasses import replace

import numpy as np
import pytest

from stickbreaker.app.frames.known_then_frames import NOT_LISTED, then_frame
from stickbreaker.app.model.first_readings import FirstReadings
from stickbreaker.app.model.progress import Moment, Progress
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.app.plots.reading_plots import KINDS, calendar_plot
from stickbreaker.app.state import RunState
from stickbreaker.app.views.calendar import HEADINGS, THEN, TOO_EARLY, UNSCORED, WHOLE, Calendar
from stickbreaker.engine import RunSettings, find_algorithm, prepare, run
from stickbreaker.engine.evaluation.doc_shares import MEASURES, UNITS
from stickbreaker.engine.runs.events import DocShares
from stickbreaker.engine.runs.prepared import split_corpus
from tests.app import small_runs
from tests.app.small_runs import read

SETTINGS = RunSettings(passes=2, num_moments=6)


def title(topic_id):
    return f"topic {topic_id}"


def learn(corpus, name="hdp", settings=SETTINGS, **values):
    """The record of a finished run."""
    algorithm = find_algorithm(name)
    return small_runs.learn(
        corpus, RunSpec("tiny", algorithm, algorithm.config(**values), settings)
    )


@pytest.fixture(scope="module")
def job(tiny_corpus):
    return read(learn(tiny_corpus, max_topics=6, batch_size=4, delay=1.0))


def test_first_readings_exclude_held_out_documents_and_the_first_mini_batch(tiny_corpus, job):
    train, test = split_corpus(tiny_corpus, SETTINGS)
    first = job.reading.first
    seen = dict(zip(tiny_corpus.doc_ids.tolist(), first.seen.tolist(), strict=True))
    assert [seen[doc_id] for doc_id in train.doc_ids.tolist()] == [-1] * 4 + [4] * 4 + [8] * 3
    assert all(seen[doc_id] == -1 for doc_id in test.doc_ids.tolist())
    np.testing.assert_allclose(
        np.asarray(first.doc_shares.sum(1)).ravel(), first.seen >= 0, atol=1e-6
    )


def test_first_readings_have_the_shares_of_the_next_batch_score(tiny_corpus, job):
    algorithm = find_algorithm("hdp")
    config = algorithm.config(max_topics=6, batch_size=4, delay=1.0)
    inferred = [
        update.next_batch for update in run(prepare(algorithm, config, tiny_corpus, SETTINGS))
    ][1].inferred
    first, rows = job.reading.first, np.flatnonzero(np.isin(tiny_corpus.doc_ids, inferred.doc_ids))
    order = np.argsort(inferred.doc_ids)
    ours = first.doc_shares[rows].toarray()[np.argsort(tiny_corpus.doc_ids[rows])]
    theirs = np.where(inferred.shares >= 0.005, inferred.shares, 0)[order]
    theirs = (theirs / theirs.sum(1, keepdims=True))[
        :, np.searchsorted(inferred.topic_ids, first.topic_ids)
    ]
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("measure", MEASURES)
def test_topics_as_known_then_sum_over_the_read_documents_and_are_drawn_in_every_kind(
    job, unit, measure
):
    frame = then_frame(job.reading, unit, measure, None, title)
    was_read = job.reading.first.seen >= 0
    sums = frame.groupby("place")["value"].sum(min_count=1).dropna()
    if measure == "tokens":
        assert sums.sum() == pytest.approx(job.reading.doc_tokens[was_read].sum(), rel=1e-5)
    else:
        np.testing.assert_allclose(sums, 1.0, rtol=1e-5)
    assert frame.drop_duplicates("place")["documents"].sum() == was_read.sum()
    for kind in KINDS:
        assert calendar_plot(frame, kind, measure) is not None


def test_no_word_is_shown_before_it_was_learned(job):
    """The words of the lists contain their time: a period shows only earlier ones."""
    reading = job.reading
    vocabulary = reading.corpus.vocabulary
    first = reading.first
    known = [
        Moment(
            seen,
            None,
            first.topic_ids,
            np.ones(len(first.topic_ids)),
            np.full(len(first.topic_ids), 9.0),
            words,
            1,
        )
        for seen, words in (
            (5, np.full((len(first.topic_ids), 1), 1)),
            (9, np.full((len(first.topic_ids), 1), 2)),
        )
    ]
    reading = replace(reading, model=replace(reading.model, columns=tuple(known)))
    frame = then_frame(reading, "year", "tokens", None, title)
    days = reading.corpus.dates.astype("datetime64[Y]").astype(str)
    for row in frame[frame["topic_id"] >= 0].itertuples():
        seen = first.seen[days == row.period]
        last = seen.max(initial=-1)
        assert row.words == (vocabulary[1] if last >= 5 else NOT_LISTED)
        assert (row.read == "no document read") == (last < 0)
        assert not any(vocabulary[word] in row.title for word in (1, 2))


def test_a_topic_that_is_gone_now_is_shown_as_known_then():
    firsts = FirstReadings()
    firsts.take(DocShares(np.array([7]), np.array([[0.6, 0.4]]), np.array([3, 5])), 10)
    firsts.take(DocShares(np.array([2]), np.array([[0.001, 0.999]]), np.array([5, 9])), 20)
    first = firsts.look(np.array([2, 4, 7]))
    assert first.topic_ids.tolist() == [3, 5, 9]
    np.testing.assert_allclose(first.doc_shares.toarray(), [[0, 0, 1], [0, 0, 0], [0.6, 0.4, 0]])
    assert first.seen.tolist() == [20, -1, 10]


@pytest.mark.parametrize("name", ["free-hdp", "free-dp-mixture", "lda", "direct-hdp"])
def test_every_algorithm_that_reads_mini_batches_records_first_readings(tiny_corpus, name):
    job = read(learn(tiny_corpus, name, batch_size=4))
    frame = then_frame(job.reading, "equal counts", MEASURES[0], None, title)
    assert frame["value"].sum() == pytest.approx(frame.dropna()["place"].nunique(), rel=1e-5)


def test_the_view_explains_as_known_then_and_why_it_may_be_missing(tiny_corpus, job):
    calendar = Calendar(RunState())
    progress = Progress(run_id=1, status="finished", settings=SETTINGS)
    calendar.state.publish(progress, job=job)
    calendar.known.value = THEN
    assert HEADINGS[THEN] in calendar.heading.object
    assert calendar.pane.visible
    silent = RunSettings(score_next_batch=False)
    for record, settings, why in (
        (learn(tiny_corpus, "batch-lda", replace(SETTINGS, passes=1)), SETTINGS, WHOLE),
        (learn(tiny_corpus, settings=silent, max_topics=6, batch_size=4), silent, UNSCORED),
        (learn(tiny_corpus, max_topics=6, batch_size=4000), SETTINGS, TOO_EARLY),
    ):
        calendar.state.publish(replace(progress, settings=settings), job=read(record))
        assert why in calendar.note.object
        assert not calendar.pane.visible
