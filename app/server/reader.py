"""Reads a corpus with a model in the background, once for all pages of a run."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from stickbreaker.app.model.model_record import find_consensus
from stickbreaker.app.model.other_runs import OtherRuns
from stickbreaker.app.model.reading import (
    Model,
    ReadingJob,
    begin_reading,
    choose_read,
    complete_reading,
)
from stickbreaker.app.model.run_store import RunStore
from stickbreaker.app.server.reading_queue import Turn
from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.corpora.stored import StoredCorpus
from stickbreaker.engine.evaluation.doc_shares import read_shares
from stickbreaker.engine.parallel.clusters import Cluster
from stickbreaker.engine.runs.checkpoint import Checkpoint

POLL_SECONDS = 0.2

_log = logging.getLogger(__name__)


class Reader:
    """Reads one run's corpus when asked to; `notify` is called when `job` is replaced.

    store: keeps readings, so that a corpus is not read twice with one model. turn: when a reading
    may begin; at once without it. find_cluster: the workers that read.
    """

    def __init__(
        self,
        take_model: Callable[[], Model | None],
        notify: Callable[[], None],
        store: RunStore | None = None,
        turn: Turn | None = None,
        find_cluster: Callable[[], Cluster | None] = lambda: None,
    ):
        self._take_model = take_model
        self._notify = notify
        self._store = store or RunStore()
        self._turn = turn
        self._find_cluster = find_cluster
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_closed = False
        self._sampled: tuple[Corpus, Corpus] | None = None
        # What other runs say of the last model that they were compared with, by its key.
        self._again: dict[tuple[Any, int, int], OtherRuns] = {}
        self.job = ReadingJob()

    def ask(self) -> None:
        """Read the corpus with the current model, once."""
        with self._lock:
            model = self._take_model()
            if model is None or self.job.status == "reading" or self._has_read(model):
                return
            self.job = ReadingJob("reading", reading=self.job.reading)
            self._thread = threading.Thread(
                target=self._work, args=(model,), name="reading", daemon=True
            )
            self._thread.start()
        self._notify()

    def take_again(self, model: Model, again: OtherRuns) -> None:
        """Give the reading of a model what other runs say of it."""
        self._again = {model.key: again}
        self._join_again()

    def _join_again(self) -> None:
        """Give the reading what other runs say of its model, once both are there."""
        reading = self.job.reading
        if reading is None or not reading.is_read:
            return
        again = self._again.get(reading.model.key)
        if again is not None and again is not reading.again:
            self._publish(replace(self.job, reading=replace(reading, again=again)))
            self._store.keep_again(reading.model, again)

    def find_consensus(self, model: Model) -> Checkpoint | None:
        """The consensus of other runs of a model, if there is one."""
        return find_consensus(self.job.reading, model.key)

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
        return reading.model.key == model.key

    def _work(self, model: Model) -> None:
        try:
            model = self._sample(model)
            shares = self._store.find_shares(model)
            if shares is None and not self._wait():
                return
            reading = begin_reading(model)
            is_new = shares is None
            if is_new:
                self._publish(ReadingJob("reading", reading=reading))
                read = (model.algorithm, model.config, model.state, model.corpus, self._report)
                shares = read_shares(*read, self._find_cluster())
            if shares is not None:
                again = self._store.find_again(model)
                reading = replace(complete_reading(reading, shares), again=again)
                self._publish(ReadingJob("ready", 1.0, reading))
                self._store.keep_reading(reading, is_new)
                self._join_again()
        except Exception as error:
            _log.exception("The corpus could not be read with the model")
            self._publish(
                replace(self.job, status="failed", message=f"{type(error).__name__}: {error}")
            )
        finally:
            if self._turn is not None:
                self._turn.leave()

    def _sample(self, model: Model) -> Model:
        """The model with one sample of a stored corpus in memory."""
        corpus = model.corpus
        if not isinstance(corpus, StoredCorpus):
            return model
        if self._sampled is None or self._sampled[0] is not corpus:
            self._sampled = corpus, choose_read(corpus).load()
        return replace(model, corpus=self._sampled[1], num_in_corpus=corpus.num_documents)

    def _wait(self) -> bool:
        """Wait for the turn of this reading; False if the reader is closed meanwhile."""
        while self._turn is not None and (message := self._turn.ask()):
            if self._is_closed:
                return False
            if message != self.job.message:
                self._publish(replace(self.job, message=message))
            time.sleep(POLL_SECONDS)
        return True

    def _report(self, done: int) -> bool:
        reading = self.job.reading
        if reading is not None:
            self._publish(replace(self.job, share=done / max(1, reading.corpus.num_documents)))
        return not self._is_closed

    def _publish(self, job: ReadingJob) -> None:
        self.job = job
        self._notify()
