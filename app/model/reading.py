"""Reading a corpus with a model as it stands: in the background, with progress, once for all pages of a run."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from stickbreaker.app.model.first_readings import FirstReading, FirstReadings
from stickbreaker.app.model.progress import Checkpoint
from stickbreaker.engine.algorithm import Algorithm, TopicSummary
from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.evaluation.coherence import TopicQuality, measure_quality
from stickbreaker.engine.evaluation.doc_shares import read_shares
from stickbreaker.engine.evaluation.held_out import rank_topics
from stickbreaker.engine.evaluation.topic_space import divergences

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Model:
    """A model at one moment of a run, the corpus it is learned from, and what the run has written down so far.

    train: the documents of the corpus that the run learns from, in reading order. first_readings: `FirstReadings` of
    the run, which go on growing. checkpoints: the columns of its word lists.
    """

    run_id: int
    algorithm: Algorithm
    config: Any
    state: Any
    corpus: Corpus
    train: Corpus
    documents_seen: int
    first_readings: FirstReadings | None = None
    checkpoints: tuple[Checkpoint, ...] = ()


@dataclass(frozen=True, eq=False)
class Reading:
    """What a model says of its corpus.

    summary: its topics. used: (U,) places of those in use, largest first; divergences: (U, U),
    Jensen-Shannon, of these; quality: their NPMI and exclusivity, on this corpus. doc_shares: (D, K) sparse, in the
    order of the corpus; None until all documents are read. doc_tokens: (D,). word_shares: (V,), of all tokens of the
    corpus. first: documents as the run first read them; None where it has kept none.
    """

    model: Model
    summary: TopicSummary
    used: np.ndarray
    divergences: np.ndarray
    quality: TopicQuality
    word_shares: np.ndarray
    doc_tokens: np.ndarray
    doc_shares: csr_array | None = None
    first: FirstReading | None = None

    @property
    def corpus(self) -> Corpus:
        """The corpus of the model."""
        return self.model.corpus

    def position(self, topic_id: int | None) -> int | None:
        """Find the place of a topic in the arrays; None if the model has no such topic."""
        ids = self.summary.topic_ids
        found = np.flatnonzero(ids == topic_id) if topic_id is not None else np.zeros(0, np.intp)
        return int(found[0]) if len(found) else None


@dataclass(frozen=True, eq=False)
class ReadingJob:
    """The state of a reading: "none", "reading", "ready" or "failed"; its result so far; why it failed."""

    status: str = "none"
    share: float = 0.0
    reading: Reading | None = None
    message: str = ""


class Reader:
    """Reads one run's corpus when asked to; `job` is replaced as a whole, and `notify` is called when it is."""

    def __init__(self, take_model: Callable[[], Model | None], notify: Callable[[], None]):
        self._take_model, self._notify = take_model, notify
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_closed = False
        self.job = ReadingJob()

    def ask(self) -> None:
        """Read the corpus with the present model, unless this has been done or a reading is in progress."""
        with self._lock:
            model = self._take_model()
            if model is None or self.job.status == "reading" or self._has_read(model):
                return
            self.job = ReadingJob("reading", reading=self.job.reading)
            self._thread = threading.Thread(target=self._work, args=(model,), name="reading", daemon=True)
            self._thread.start()
        self._notify()

    def close(self) -> None:
        """Stop a reading after the documents that it reads now."""
        self._is_closed = True

    def join(self, timeout: float | None = None) -> None:
        """Wait until the present reading has ended."""
        if self._thread is not None:
            self._thread.join(timeout)

    def _has_read(self, model: Model) -> bool:
        reading = self.job.reading
        if self.job.status != "ready" or reading is None:
            return False
        return (reading.model.run_id, reading.model.documents_seen) == (model.run_id, model.documents_seen)

    def _work(self, model: Model) -> None:
        try:
            reading = self.begin(model)
            self._publish(ReadingJob("reading", 0.0, reading))
            shares = read_shares(model.algorithm, model.config, model.state, model.corpus, self._report)
            if shares is not None:
                kept = model.first_readings
                first = None if kept is None else kept.look(model.corpus.doc_ids)
                self._publish(ReadingJob("ready", 1.0, replace(reading, doc_shares=shares, first=first)))
        except Exception as error:
            _log.exception("The corpus could not be read with the model")
            self._publish(replace(self.job, status="failed", message=f"{type(error).__name__}: {error}"))

    def begin(self, model: Model) -> Reading:
        counts = model.corpus.counts
        words = np.asarray(counts.sum(0), np.float64).ravel()
        summary = model.algorithm.summarize(model.config, model.state)
        used = rank_topics(summary.expected_tokens)
        topics = summary.topics[used]
        distances = divergences(topics)
        quality = measure_quality(summary.topic_ids[used], topics, summary.expected_tokens[used], counts)
        word_shares = words / max(1.0, words.sum())
        return Reading(model, summary, used, distances, quality, word_shares, np.asarray(counts.sum(1)).ravel())

    def _report(self, done: int) -> bool:
        reading = self.job.reading
        if reading is not None:
            self._publish(replace(self.job, share=done / max(1, reading.corpus.num_documents)))
        return not self._is_closed

    def _publish(self, job: ReadingJob) -> None:
        self.job = job
        self._notify()
