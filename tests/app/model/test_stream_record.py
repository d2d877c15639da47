"""What the page knows about a stream: the last hours, and not more."""

import copyreg
import pickle
from datetime import datetime
from types import MappingProxyType

import numpy as np
import pytest

from stickbreaker.app.frames.word_table import table_frame
from stickbreaker.app.model import stream_record
from stickbreaker.app.model.stream_record import StreamRecord
from stickbreaker.engine.algorithm import Phase
from tests.app.small_streams import BATCH_SIZE, SUBJECTS, make_follower, write_texts

pytestmark = pytest.mark.filterwarnings("ignore:partial_fit does not know how many documents")
MINUTE = 60.0


class Clock:
    """A clock that a test moves."""

    seconds = 0.0

    def __call__(self):
        return self.seconds


def follow(rows, minutes=10, look=lambda record, event: None, follower=None):
    """The record of a stream with a mini-batch every few minutes; `look` is called after each."""
    follower, clock = follower or make_follower(), Clock()
    record = StreamRecord("news.jsonl", BATCH_SIZE, clock, lambda: datetime(2026, 11, 26, 9, 30))
    record.begin()
    for event in follower.follow(rows):
        clock.seconds += minutes * MINUTE
        record.take(event, follower.model)
        record.wait(follower.num_waiting)
        look(record, event)
    record.wait(follower.num_waiting)
    return record


def measure(progress):
    """The bytes of a progress when it is pickled, without the models of the engine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(
            copyreg.dispatch_table, MappingProxyType, lambda proxy: (dict, (dict(proxy),))
        )
        return len(pickle.dumps(progress))


def test_what_is_kept_does_not_grow_with_the_stream(monkeypatch):
    monkeypatch.setattr(stream_record, "MOST_POINTS", 40)
    kept = []

    def look(record, event):
        progress = record.progress(event.step)
        sizes = (
            len(progress.columns),
            len(progress.steps),
            len(progress.next_batch),
            len(progress.labels),
        )
        kept.append((*sizes, len(progress.vocabulary), measure(progress)))

    follow(write_texts(BATCH_SIZE * 400), look=look)
    early, late = np.array(kept[60:200]), np.array(kept[200:])
    assert (late.max(0)[:3] <= (19, 41, 41)).all()
    assert (late.max(0) <= 1.15 * early.max(0)).all(), (early.max(0), late.max(0))
    assert late.max(0)[-1] < 100_000


def test_columns_keep_their_words_after_the_words_have_lost_their_places():
    lists, dropped = {}, set()

    def look(record, event):
        progress = record.progress(event.step)
        dropped.update(event.dropped_words)
        newest = progress.columns[-1]
        ids = newest.topic_ids.tolist()
        for topic_id in ids:
            frame = table_frame(progress.columns, progress.vocabulary, [topic_id])
            for seen, rows in frame.groupby("documents_seen"):
                words = lists.setdefault((topic_id, seen), rows["word"].tolist())
                assert words == rows["word"].tolist()

    follow(write_texts(BATCH_SIZE * 60), look=look)
    shown = {word for words in lists.values() for word in words}
    assert len(dropped & shown) > 3
    assert not {word for word in shown if word.startswith("unused")}


def test_a_stream_says_what_its_last_mini_batches_brought():
    record = follow(write_texts(BATCH_SIZE * 30 + 3))
    progress = record.progress(1)
    stream = progress.stream
    assert (progress.status, progress.documents_seen, progress.corpus_size) == ("running", 120, 0)
    assert stream.num_waiting == 3
    assert stream.batch_size == 4
    assert stream.num_batches == 10
    assert stream.num_documents == 40
    assert stream.new_words == ("fashionf", "fashione")
    assert stream.num_new == 2
    assert stream.num_tokens == 400
    assert str(progress.date) == "2026-11-26T09:59:00"
    assert len(progress.next_batch) == len(progress.steps) - 1 == 29
    np.testing.assert_allclose(progress.now.tokens.sum(), 400)
    # The largest topics are those of the last documents, and the columns those of the model.
    assert progress.columns[-1].read_tokens is None
    assert set(progress.vocabulary) <= {
        *sum(SUBJECTS, ()),
        *(f"fashion{letter}" for letter in "abcdef"),
    }


def test_documents_without_dates_get_the_time_at_which_they_are_read():
    record = follow([(None, text) for _, text in write_texts(BATCH_SIZE)])
    progress = record.progress(1)
    assert str(progress.date) == "2026-11-26T09:30:00"
    assert not progress.stream.is_dated


def test_a_stream_without_words_shows_no_topic():
    progress = follow([(None, "and the 12"), (None, "")] * BATCH_SIZE).progress(1)
    assert (progress.documents_seen, progress.columns, progress.now) == (8, (), None)


def test_faults_are_told_until_they_end_and_skipped_lines_are_counted():
    record = follow(write_texts(BATCH_SIZE))
    before = record.changes
    record.set_fault("source", "It is gone.")
    record.skip("Line 3 is skipped.")
    assert record.progress(1).message == "It is gone. Line 3 is skipped."
    record.set_fault("source", "")
    record.skip("Line 5 is skipped.")
    assert (
        record.progress(2).message
        == "Line 5 is skipped. 2 lines or files have been skipped so far."
    )
    assert record.changes != before
    record.fail(FloatingPointError("a topic has become infinite"))
    failed = record.progress(3)
    assert failed.status == "failed"
    assert failed.message == "FloatingPointError: a topic has become infinite"
    assert failed.documents_seen == 4


def test_the_warm_up_is_shown_as_such():
    progress = follow(write_texts(BATCH_SIZE)).progress(1)
    assert progress.phase == Phase.WARM_UP
    assert progress.steps["phase"].tolist() == [0]
