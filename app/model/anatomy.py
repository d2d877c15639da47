"""The internals of an algorithm at one moment, computed in the background when a page asks."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stickbreaker.app.model.reading import Model
from stickbreaker.engine.evaluation import anatomy
from stickbreaker.engine.runs.run import next_batch

# Pause before the next answer about a running model: at least these seconds, and this multiple of
# the last answer.
REST_SECONDS = 5.0
REST = 30.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class AnatomyQuestion:
    """A question: the model, the topic and the document.

    topic: None for the largest; document: a row of the corpus, None for the one that is read after
    `place` others.
    """

    model: Model
    topic: int | None = None
    document: int | None = None
    place: int = 0

    def is_like(self, other: "AnatomyQuestion | None") -> bool:
        """Whether the answer would be the same."""
        return other is not None and self._key == other._key

    @property
    def _key(self) -> tuple[Any, ...]:
        model = self.model
        return *model.key, model.config, self.topic, self.document, self.place


@dataclass(frozen=True, eq=False)
class Dissection:
    """The answer; None marks parts that the algorithm does not have.

    row: of the document in the corpus; is_chosen: whether the user selected it. topic: its id,
    whose step `arrows` are.
    """

    model: Model
    stick: anatomy.Breaking | None
    row: int
    is_chosen: bool
    trace: anatomy.SlotTrace | None
    topic: int | None
    noisy: anatomy.NoisyStep | None
    arrows: anatomy.TopicStep | None


@dataclass(frozen=True, eq=False)
class AnatomyJob:
    """The state of a question: "none", "looking", "ready" or "failed"; message: why it failed."""

    status: str = "none"
    dissection: Dissection | None = None
    message: str = ""


class Anatomist:
    """Answers the last question asked; `notify` is called when `job` is replaced."""

    def __init__(self, notify: Callable[[], None]):
        self._notify = notify
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self.asked: AnatomyQuestion | None = None
        self._answered: AnatomyQuestion | None = None
        self._rested_at = 0.0
        self.job = AnatomyJob()

    def ask(self, question: AnatomyQuestion) -> None:
        """Answer this next, unless it is the last question."""
        with self._lock:
            if question.is_like(self.asked):
                return
            self.asked = question
            if self._thread is not None:
                return
            self._thread = threading.Thread(target=self._work, name="anatomy", daemon=True)
            self.job = replace(self.job, status="looking")
            self._thread.start()

    @property
    def is_rested(self) -> bool:
        """Whether the pause after the last answer is over, for a run that continues."""
        return self.job.status == "ready" and time.monotonic() >= self._rested_at

    def forget(self) -> None:
        """Release all models and drop the present question."""
        with self._lock:
            self.asked = self._answered = None
            self.job = AnatomyJob()

    def join(self, timeout: float | None = None) -> None:
        """Wait until the present question is answered."""
        if (thread := self._thread) is not None:
            thread.join(timeout)

    def _work(self) -> None:
        while (question := self._next()) is not None:
            began = time.monotonic()
            try:
                job = AnatomyJob(status="ready", dissection=self._answer(question))
            except Exception as error:
                _log.exception("The internals of the algorithm could not be computed")
                job = AnatomyJob("failed", message=f"{type(error).__name__}: {error}")
            ended = time.monotonic()
            self._rested_at = ended + max(REST_SECONDS, REST * (ended - began))
            with self._lock:
                if self.asked is None:
                    continue
                self._answered = question
                self.job = job if self.asked is question else replace(job, status="looking")
            self._notify()

    def _next(self) -> AnatomyQuestion | None:
        """The next question; None ends the thread."""
        with self._lock:
            if self.asked is None or self.asked is self._answered:
                self._thread = None
                return None
            return self.asked

    def _answer(self, question: AnatomyQuestion) -> Dissection:
        model = question.model
        train = model.train
        batch = next_batch(model.algorithm, model.config, train, model.documents_seen)
        row = question.document
        if row is None:
            next_id = train.doc_ids[(model.documents_seen + question.place) % train.num_documents]
            row = int(np.flatnonzero(model.corpus.doc_ids == next_id)[0])
        noisy = self._preview(model, batch)
        topic = arrows = None
        if noisy is not None:
            tokens = model.state.expected_tokens
            topic = question.topic
            if topic is None or topic >= len(tokens):
                topic = int(np.argmax(tokens))
            arrows = anatomy.step_topic(model.state, noisy, topic)
        document = model.corpus.documents().cut(row, row + 1)
        return Dissection(
            model=model,
            stick=anatomy.break_stick(model.algorithm, model.config, model.state),
            row=row,
            is_chosen=question.document is not None,
            trace=anatomy.trace_document(model.algorithm, model.config, model.state, document),
            topic=topic,
            noisy=noisy,
            arrows=arrows,
        )

    def _preview(self, model: Model, batch: Any) -> anatomy.NoisyStep | None:
        """The next step; it is computed once per model and serves all documents and topics."""
        before = self.job.dissection
        if before is not None:
            known = before.model
            if known.state is model.state and known.config == model.config:
                return before.noisy
        return anatomy.preview_step(model.algorithm, model.config, model.state, batch)
