"""The thread that reads a stream without an end and learns from it, for all pages of the server."""

import logging
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import panel as pn

from stickbreaker.app.model.disk_space import STREAMS
from stickbreaker.app.model.limits import find_fault
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.saved_stream import SavedStream
from stickbreaker.app.model.stream_record import StreamRecord
from stickbreaker.app.server.compiling import Job
from stickbreaker.app.server.event_log import EventLog
from stickbreaker.app.server.service import find_service, first_spec
from stickbreaker.app.server.stream_source import StreamSource, find_source
from stickbreaker.app.server.visitors import find_data
from stickbreaker.engine import CorpusError, Follower, OnlineHDP, OnlineTopicModel
from stickbreaker.engine.files.whole_files import FileError

POLL_SECONDS = 1.0
# While many documents arrive, the topics are summarized at most this often.
PUBLISH_SECONDS = 1.0
SAVE_SECONDS = 300.0
AGAIN_SECONDS = 30.0
# Of a file with many wrong lines, the log names the first ones.
MOST_LOGGED = 100
# A full vocabulary gives the columns of words that have not occurred in this many mini-batches to
# new words.
DROP_AFTER = 100
# Moments of the model that it keeps for its users; it adds one when the documents have grown by a
# quarter.
MOST_MOMENTS = 20
AGAIN = "Reading is tried again every second."
NOT_LOADED = "The model of this stream could not be read, so learning began again: {}"
NOT_SAVED = "The model could not be saved, and saving is tried again every half minute: {}"
# The key in Panel's cache.
STREAM = "stickbreaker-stream"

_log = logging.getLogger(__name__)


class Stream:
    """Follows a source from `start` to `close`, and publishes `progress`, which never changes.

    saved: where the model is saved; None: nowhere. ask_compiled: returns the job that compiles the
    kernels. model: a new model that learns, unless one was saved. events: the log of the server.
    num_pages: those that are open.
    """

    def __init__(
        self,
        source: StreamSource,
        saved: SavedStream | None,
        ask_compiled: Callable[[], Job],
        model: OnlineTopicModel | None = None,
        poll_seconds: float = POLL_SECONDS,
        events: EventLog | None = None,
    ):
        self._source = source
        self._saved = saved
        self._ask_compiled = ask_compiled
        self._poll_seconds = poll_seconds
        self.events = events or EventLog()
        self.num_pages = 0
        self._follower = Follower(model or OnlineHDP(random_state=0), drop_after=DROP_AFTER)
        self._record = StreamRecord(source.name, self._follower.batch_size)
        self._rows = source.open(self._skip)
        self._position: Mapping[str, Any] | None = None
        self._published_at = self._save_at = float("-inf")
        self._num_skipped = 0
        self._shown: tuple[object, ...] = ()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._work, name="stream", daemon=True)
        self.progress: Progress = self._record.progress(0)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def close(self, seconds: float = 5.0) -> None:
        """Stop after the present mini-batch, save the model, and wait a few seconds at most."""
        self._closed.set()
        if self._thread.is_alive():
            self._thread.join(seconds)

    def join(self) -> None:
        """Count a page that opens."""
        self.num_pages += 1
        self.events.write("page_opened", watching=True)

    def leave(self) -> None:
        """Count a page that closes."""
        self.num_pages -= 1
        self.events.write("page_closed")

    def _work(self) -> None:
        # The length of a stream is never known.
        warnings.filterwarnings("ignore", message="partial_fit does not know how many documents")
        try:
            self._load()
            if self._compile():
                while not self._closed.is_set():
                    self._read()
                    self._save_if_due()
                    self._closed.wait(self._poll_seconds)
                self._save()
        except Exception as error:
            # A model that has failed in a mini-batch is not saved: a restart continues from the one
            # before.
            _log.exception("The stream has stopped")
            self._fail(error)
        if self._saved is not None:
            self._saved.close()
        self._publish()

    def _fail(self, error: Exception) -> None:
        self._record.fail(error)
        self.events.write_fault("stream_failed", find_fault(error))

    def _load(self) -> None:
        """Continue with the saved model, if there is one."""
        if self._saved is None:
            return
        try:
            if (found := self._saved.load()) is None:
                return
            model, position = found
            self._rows.seek(position["rows"])
            follower = Follower(model, drop_after=DROP_AFTER)
            self._record.resume(model, **position["record"])
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            _log.warning("The saved model of a stream cannot be read: %s", error)
            self._rows = self._source.open(self._skip)
            self._saved.set_aside()
            self._record.set_fault("model", NOT_LOADED.format(error))
            return
        self._follower = follower

    def _compile(self) -> bool:
        """Wait until the kernels are compiled; returns whether the stream can be read."""
        while not (job := self._ask_compiled()).can_learn:
            self._record.message = job.message
            self._record.compile_share = job.share
            self._publish()
            if self._closed.wait(self._poll_seconds):
                return False
        self._record.begin()
        if job.error:
            self._fail(RuntimeError(job.error))
        self._publish()
        return not job.error

    def _read(self) -> None:
        """Learn from what has been added, and show what has changed."""
        record = self._record
        follower = self._follower
        try:
            for event in follower.follow(self._rows.read_new()):
                record.take(event, follower.model)
                self._position = {"rows": self._rows.tell(), "record": record.tell()}
                _forget_early(follower.model)
                self._save_if_due()
                if time.monotonic() - self._published_at >= PUBLISH_SECONDS:
                    self._publish()
                if self._closed.is_set():
                    return
            record.set_fault("source", "")
        except CorpusError as error:
            record.set_fault("source", f"{self._source.shorten(str(error))} {AGAIN}")
        record.wait(follower.num_waiting)
        if record.changes != self._shown:
            self._publish()

    def _skip(self, text: str) -> None:
        self._num_skipped += 1
        if self._num_skipped <= MOST_LOGGED:
            _log.warning("%s", text)
        self._record.skip(self._source.shorten(text))

    def _save_if_due(self) -> None:
        if time.monotonic() >= self._save_at:
            self._save()

    def _save(self) -> None:
        """Save the model with its position, unless they are saved already."""
        if self._saved is None or self._position is None:
            return
        seconds = SAVE_SECONDS
        try:
            self._saved.save(self._follower.model, self._position)
            self._position = None
            self._record.set_fault("disk", "")
        except FileError as error:
            seconds = AGAIN_SECONDS
            _log.warning("The model of a stream cannot be saved: %s", error)
            self.events.write_fault("stream_not_saved", find_fault(error))
            self._record.set_fault("disk", NOT_SAVED.format(error))
        self._save_at = time.monotonic() + seconds

    def _publish(self) -> None:
        self._shown = self._record.changes
        self.progress = self._record.progress(self.progress.version + 1)
        self._published_at = time.monotonic()


def _forget_early(model: OnlineTopicModel) -> None:
    """Keep the newest moments of a model's history, so that it does not grow."""
    moments = model.history_["checkpoint"]
    if len(moments) and moments.iloc[-1] - moments.iloc[0] >= MOST_MOMENTS:
        newest = moments > moments.iloc[-1] - MOST_MOMENTS
        model.history_ = model.history_[newest].reset_index(drop=True)


def find_stream() -> Stream | None:
    """The stream of this process, if the server follows one."""
    source = find_source()
    if source is None:
        return None
    made: Stream = pn.state.as_cached(STREAM, lambda: _make_stream(source))
    return made


def _make_stream(source: StreamSource) -> Stream:
    service = find_service()
    names = (str(source.path), source.text_column, source.date_column)
    saved = SavedStream(find_data(None) / STREAMS, *names)
    compiling = partial(service.compilation.ask, first_spec())
    stream = Stream(source, saved, compiling, events=service.events)
    stream.start()
    return stream
