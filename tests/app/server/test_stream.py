"""The thread that follows a stream: it learns, goes on after faults, and continues
after a restart.
"""

import logging
import threading

import pytest

from stickbreaker.app.model.saved_stream import SavedStream
from stickbreaker.app.server.compiling import Job
from stickbreaker.app.server.stream import Stream
from stickbreaker.app.server.stream_source import StreamSource
from stickbreaker.engine import CorpusError, WordChoices
from tests.app.small_streams import BATCH_SIZE, append, make_follower, make_model, write_texts

COMPILED = Job(is_done=True)


@pytest.fixture
def path(tmp_path):
    """An empty file of JSON lines."""
    path = tmp_path / "news.jsonl"
    path.touch()
    return path


@pytest.fixture
def follow(path, tmp_path):
    """Follow the file with a small model; the thread ends with the test."""
    streams = []

    def follow(source=None, saves=False, job=COMPILED, model=None):
        saved = SavedStream(tmp_path / "streams", str(path)) if saves else None
        source = source or StreamSource(path)
        stream = Stream(source, saved, lambda: job, model or make_model(), poll_seconds=0.01)
        stream.start()
        streams.append(stream)
        return stream

    yield follow
    for stream in streams:
        stream.close()
    assert "stream" not in {thread.name for thread in threading.enumerate()}


def test_documents_are_learned_from_as_they_arrive(path, follow, until):
    stream = follow()
    until(lambda: stream.progress.status == "waiting")
    append(path, write_texts(3))
    until(lambda: stream.progress.stream.num_waiting == 3)
    assert (stream.progress.documents_seen, stream.progress.columns) == (0, ())
    append(path, write_texts(2, 3))
    until(lambda: stream.progress.documents_seen == 4)
    assert (stream.progress.status, stream.progress.stream.num_waiting) == ("running", 1)
    assert stream.progress.now.num_topics > 0


def test_a_stream_learns_as_a_follower_does(path, follow, until):
    append(path, write_texts(BATCH_SIZE * 3))
    stream, follower = follow(), make_follower(WordChoices().max_words)
    until(lambda: stream.progress.documents_seen == 12)
    *_, last = follower.follow(write_texts(BATCH_SIZE * 3))
    assert stream.progress.next_batch["nats_per_word"][-1] == last.nats_per_word


def test_a_wrong_line_is_named_and_the_stream_goes_on(path, follow, until, caplog):
    stream = follow()
    with path.open("a") as file:
        file.write('{"text": "war"}\nwrong\n')
    append(path, write_texts(3))
    until(lambda: stream.progress.documents_seen == 4)
    told = 'news.jsonl, line 2, is skipped: write one object per line, like {"text": "..."}.'
    assert stream.progress.message == told
    assert [each.levelno for each in caplog.records] == [logging.WARNING]
    assert str(path) in caplog.text


def test_a_file_that_is_gone_is_named_and_read_again_when_it_is_back(path, follow, until):
    append(path, write_texts(BATCH_SIZE))
    stream = follow()
    until(lambda: stream.progress.documents_seen == 4)
    path.rename(path.with_suffix(".old"))
    until(lambda: "news.jsonl cannot be read" in stream.progress.message)
    assert str(path.parent) not in stream.progress.message.replace(str(path), "")
    assert stream.progress.message.endswith("Reading is tried again every second.")
    assert stream.progress.documents_seen == 4
    path.with_suffix(".old").rename(path)
    append(path, write_texts(BATCH_SIZE, 4))
    until(lambda: stream.progress.documents_seen == 8)
    until(lambda: stream.progress.message == "")


def test_after_a_restart_the_stream_goes_on_after_the_last_mini_batch(path, follow, until):
    append(path, write_texts(BATCH_SIZE * 2 + 3))
    first = follow(saves=True)
    until(lambda: first.progress.stream.num_waiting == 3)
    first.close()
    append(path, write_texts(BATCH_SIZE, 11))
    whole, second = make_follower(WordChoices().max_words), follow(saves=True)
    assert second.progress.documents_seen == 0
    until(lambda: second.progress.documents_seen == 12)
    *_, last = whole.follow(write_texts(BATCH_SIZE * 3 + 3))
    assert second.progress.next_batch["nats_per_word"].tolist() == [last.nats_per_word]
    until(lambda: second.progress.stream.num_waiting == 3)


def test_a_restart_shows_the_topics_before_anything_new_has_come(path, follow, until):
    append(path, write_texts(BATCH_SIZE))
    first = follow(saves=True)
    until(lambda: first.progress.documents_seen == 4)
    first.close()
    second = follow(saves=True)
    until(lambda: second.progress.status == "running")
    assert (second.progress.documents_seen, second.progress.date) == (4, first.progress.date)
    assert second.progress.stream.is_dated
    assert (
        second.progress.steps["num_topics"].tolist() == first.progress.steps["num_topics"].tolist()
    )
    assert second.progress.now.num_topics == first.progress.now.num_topics


def test_a_saved_model_that_cannot_be_read_is_named_and_learning_begins_again(
    path, follow, until, tmp_path
):
    append(path, write_texts(BATCH_SIZE))
    first = follow(saves=True)
    until(lambda: first.progress.documents_seen == 4)
    first.close()
    (model,) = (tmp_path / "streams").glob("*.npz")
    model.write_bytes(b"damaged")
    second = follow(saves=True)
    until(lambda: second.progress.documents_seen == 4)
    assert (
        "The model of this stream could not be read, so learning began again: "
        in second.progress.message
    )
    assert model.with_suffix(".damaged").read_bytes() == b"damaged"


def test_a_model_that_cannot_be_saved_is_told_and_saved_later(
    path, follow, until, tmp_path, monkeypatch
):
    monkeypatch.setattr("stickbreaker.app.server.stream.AGAIN_SECONDS", 0.1)
    (tmp_path / "streams").write_text("a file")
    append(path, write_texts(BATCH_SIZE))
    stream = follow(saves=True)
    until(
        lambda: "The model could not be saved, and saving is tried again" in stream.progress.message
    )
    append(path, write_texts(BATCH_SIZE, 4))
    until(lambda: stream.progress.documents_seen == 8)
    (tmp_path / "streams").unlink()
    until(lambda: stream.progress.message == "")
    assert SavedStream(tmp_path / "streams", str(path)).load()[0].documents_seen_ == 8
    assert stream.events.counts()["stream_not_saved"] >= 1


def test_only_one_server_saves_a_stream_and_the_next_one_continues(
    path, follow, until, tmp_path, monkeypatch
):
    monkeypatch.setattr("stickbreaker.app.server.stream.AGAIN_SECONDS", 0.1)
    append(path, write_texts(BATCH_SIZE))
    first = follow(saves=True)
    until(lambda: first.progress.documents_seen == 4)
    append(path, write_texts(BATCH_SIZE, 4))
    until(lambda: first.progress.documents_seen == 8)
    second = follow(saves=True)
    append(path, write_texts(BATCH_SIZE, 8))
    until(lambda: "Another server saves the model of this stream in " in second.progress.message)
    first.close()
    until(lambda: second.progress.message == "")
    model, position = SavedStream(tmp_path / "streams", str(path)).load()
    assert (model.documents_seen_, position["rows"]["line"]) == (12, 12)


def test_of_many_wrong_lines_the_log_names_the_first_ones(path, follow, until, monkeypatch, caplog):
    monkeypatch.setattr("stickbreaker.app.server.stream.MOST_LOGGED", 3)
    path.write_text("wrong\n" * 50)
    stream = follow()
    until(lambda: "50 lines or files have been skipped so far." in stream.progress.message)
    assert len(caplog.records) == 3


def test_the_history_of_the_model_does_not_grow(path, follow, until, monkeypatch):
    monkeypatch.setattr("stickbreaker.app.server.stream.MOST_MOMENTS", 3)
    model = make_model()
    append(path, write_texts(BATCH_SIZE * 30))
    stream = follow(model=model)
    until(lambda: stream.progress.documents_seen == BATCH_SIZE * 30)
    assert model.history_["checkpoint"].nunique() == 3
    assert model.history_["documents_seen"].max() > BATCH_SIZE * 20


def test_documents_wait_until_the_kernels_are_compiled(path, follow, until):
    append(path, write_texts(BATCH_SIZE))
    job = Job(message="Compiling", share=0.5)
    stream = follow(job=job)
    until(lambda: stream.progress.message == "Compiling")
    progress = stream.progress
    assert progress.status == "compiling"
    assert progress.compile_share == 0.5
    assert progress.documents_seen == 0
    job.is_done = True
    until(lambda: stream.progress.documents_seen == 4)


def test_a_stream_whose_kernels_cannot_be_compiled_says_so(follow, until):
    stream = follow(job=Job(is_done=True, error="The engine could not be compiled: no space"))
    until(lambda: stream.progress.status == "failed")
    assert "no space" in stream.progress.message


class Dying:
    """A source that fails in an unexpected way at its second look."""

    name = "dying"

    def open(self, report):
        self.rows = iter([write_texts(BATCH_SIZE)])
        return self

    def read_new(self):
        yield from next(self.rows)

    def tell(self):
        return {}


def test_an_unexpected_error_stops_the_stream_and_leaves_what_was_learned(follow, until, caplog):
    stream = follow(source=Dying())
    until(lambda: stream.progress.status == "failed")
    assert stream.progress.documents_seen == 4
    assert "The stream has stopped" in caplog.text
    assert stream.events.counts()["stream_failed"] == 1


class Refusing(Dying):
    """A source that can never be read."""

    def read_new(self):
        raise CorpusError("It cannot be read: allow it.")

    def shorten(self, text):
        return text


def test_a_stream_closes_while_its_source_cannot_be_read(follow, until):
    stream = follow(source=Refusing())
    until(
        lambda: (
            stream.progress.message
            == "It cannot be read: allow it. Reading is tried again every second."
        )
    )
