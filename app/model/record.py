"""One run being written down: events in, `Progress` out. Only the runner's thread touches it."""

from collections import deque
from collections.abc import Callable, Generator
from types import MappingProxyType
from typing import Any

import numpy as np

from stickbreaker.app.model.counting import count_all
from stickbreaker.app.model.first_readings import FirstReadings
from stickbreaker.app.model.history import History
from stickbreaker.app.model.progress import (
    BOUND_COLUMNS,
    HELDOUT_COLUMNS,
    NEXT_BATCH_COLUMNS,
    STEP_COLUMNS,
    Checkpoint,
    Mark,
    Progress,
)
from stickbreaker.app.model.reading import Model
from stickbreaker.app.model.run_spec import RunSpec, describe_change, plan_columns
from stickbreaker.app.model.word_lists import find_top_words, take_lists
from stickbreaker.engine.evaluation.held_out import count_topics
from stickbreaker.engine.runs.events import Evaluated, Finished, Snapshot, Stepped
from stickbreaker.engine.runs.run import due_points, is_due
from stickbreaker.engine.schedules import step_size

NUM_TOP_WORDS = 10
MAX_MARKS = 100
SPEED_SECONDS = 5.0
SLOW_SECONDS = 1.0
MAX_NAME = 60


class Record:
    """The state of one run, from its spec to its last event."""

    def __init__(self, spec: RunSpec, run_id: int, clock: Callable[[], float]):
        self.spec, self.run_id, self._clock = spec, run_id, clock
        self.status, self.message, self.compile_share = "ready", "", 0.0
        self.is_over = self.is_kept = False
        self.corpus_size = self.documents_seen = self.batch_size = 0
        self._corpus: Any = None
        self._scored_at = self._listed_at = np.zeros(0, np.int64)
        self._date: Any = None
        self._seconds = 0.0
        self._phase, self._startup_share, self._temperature = "", 1.0, 1.0
        self._state: Any = None
        self._summarized: Any = None
        self._now: Checkpoint | None = None
        self._steps, self._heldout = History(STEP_COLUMNS), History(HELDOUT_COLUMNS)
        self._next_batch, self._bounds = History(NEXT_BATCH_COLUMNS), History(BOUND_COLUMNS)
        self._marks: list[Mark] = []
        self._checkpoints: list[Checkpoint] = []
        self._first_readings = FirstReadings()
        self._learned_config = spec.config
        self._sent_config = spec.config
        self._times: deque[tuple[float, int]] = deque()
        self._names: dict[int, str] = {}
        self._begun_at, self._step_seconds = 0.0, 0.0

    @property
    def is_slow(self) -> bool:
        """Whether the last step took so long that a page should be told when the next one begins."""
        return self._step_seconds >= SLOW_SECONDS

    @property
    def documents_total(self) -> int:
        """Documents to be read in all; those read, once the run has come to an end of its own."""
        return self.documents_seen if self.status == "finished" else self.corpus_size * self.spec.passes

    @property
    def corpus(self) -> Any:
        """The corpus, once it has been opened."""
        return self._corpus

    def prepare(self, corpus: Any, corpus_size: int) -> None:
        """Take in the corpus, so that sizes and planned columns are known before the first mini-batch."""
        self._corpus = corpus
        self.corpus_size = corpus_size
        # Of the corpus' tokens, those of the documents that are learned from.
        num_tokens = corpus.num_tokens * corpus_size // max(1, corpus.num_documents)
        self.spec = self.spec.for_size(corpus_size, num_tokens)
        self._learned_config = self.spec.config
        settings = self.spec.settings
        self._scored_at = due_points(self.documents_total, settings.num_evaluations * self.spec.passes)
        self._listed_at = due_points(self.documents_total, settings.num_snapshots)
        self.batch_size = step_size(self.spec.config, corpus_size)

    def begin(self, run: Callable[..., Generator]) -> Generator:
        """Start the engine."""
        spec = self.spec
        self._sent_config = spec.config
        return run(spec.algorithm, spec.config, self._corpus, spec.settings)

    def configure(self, values: dict[str, Any]) -> None:
        """Change learning settings; a run that has learned already gets a mark, one that is over stays as it was."""
        if self.is_over:
            return
        self.spec = self.spec.with_live(values)
        if self.corpus_size:
            self.spec = self.spec.for_size(self.corpus_size)
        if not self.documents_seen:
            self._learned_config = self.spec.config
            return
        marks = [mark for mark in self._marks if mark.documents_seen != self.documents_seen]
        text = describe_change(self._learned_config, self.spec.config)
        if text:
            marks.append(Mark(self.documents_seen, self._seconds, self._date, text))
        self._marks = marks[-MAX_MARKS:]

    def rename(self, topic_id: int, name: str) -> None:
        """Call a topic so from now on; an empty name takes its own back."""
        self._names[topic_id] = name.strip()[:MAX_NAME]

    def model(self) -> Model | None:
        """Return the model as it stands; None before the first mini-batch."""
        spec = self.spec
        if self._state is None:
            return None
        return Model(
            self.run_id,
            spec.algorithm,
            spec.config,
            self._state,
            self._corpus,
            self.documents_seen,
            self._first_readings,
            tuple(self._checkpoints),
        )

    def start_step(self) -> None:
        """Note that a step begins, before `advance` takes it."""
        self._begun_at = self._clock()

    def advance(self, events: Generator) -> None:
        """Pull events until one mini-batch has been learned from, or the stream has ended."""
        self._pull_step(events)
        self._step_seconds, self._begun_at = self._clock() - self._begun_at, 0.0

    def _pull_step(self, events: Generator) -> None:
        self._learned_config = self.spec.config
        before, event = self.documents_seen, None
        while not isinstance(event, Stepped | Finished):
            event = self._take_in(self._pull(events))
        if isinstance(event, Finished) or event.info.has_converged or self.documents_seen >= self.documents_total:
            while not self.is_over:
                self._take_in(self._pull(events))
        else:
            for points in (self._scored_at, self._listed_at):
                if is_due(points, before, self.documents_seen):
                    self._take_in(self._pull(events))

    def stand_still(self) -> None:
        """Say why nothing is being learned."""
        self._times.clear()
        if not self.is_over:
            self.status, self.message = ("paused" if self.documents_seen else "ready"), ""

    def fail(self, error: BaseException) -> None:
        """End the run; everything computed stays, so a state that cannot be shown is left out for the one before."""
        self.is_over = True
        try:
            self._summarize_now()
        except Exception:
            self._state = self._summarized
        self._times.clear()
        self.status, self.message = "failed", f"{type(error).__name__}: {error}".rstrip(": ")

    def progress(self, version: int) -> Progress:
        """Put everything into one immutable record."""
        spec = self.spec
        return Progress(
            version=version,
            run_id=self.run_id,
            status=self.status,
            message=self.message,
            compile_share=self.compile_share,
            corpus_name=spec.corpus_name,
            algorithm=spec.algorithm.name,
            config=spec.config,
            settings=spec.settings,
            chosen=spec.chosen,
            held_out_by=getattr(self._corpus, "split_by", "document"),
            corpus_size=self.corpus_size,
            num_held_out=self._corpus.num_documents - self.corpus_size if self._corpus is not None else None,
            documents_seen=self.documents_seen,
            documents_total=self.documents_total,
            date=self._date,
            documents_per_second=self._measure_speed(),
            phase=self._phase,
            temperature=self._temperature,
            startup_share=self._startup_share,
            steps=self._steps.curve(),
            heldout=self._heldout.curve(),
            next_batch=self._next_batch.curve(),
            bounds=self._bounds.curve(),
            marks=tuple(self._marks),
            checkpoints=tuple(self._checkpoints),
            now=self._summarize_now(),
            vocabulary=self._corpus.vocabulary if self._corpus is not None else None,
            planned_columns=self._plan_columns(),
            label=spec.label(),
            names=MappingProxyType(dict(self._names)),
            work=self._describe_step() if self.status == "running" and self._begun_at else "",
            begun_at=self._begun_at,
        )

    def _describe_step(self) -> str:
        """Say what the step that has begun learns from."""
        size, num_passes = step_size(self.spec.config, self.corpus_size), self.documents_seen // self.corpus_size
        if size >= self.corpus_size:
            return f"Pass {num_passes + 1} over {count_all(self.corpus_size, 'document')}"
        last = min(self.documents_seen + size, (num_passes + 1) * self.corpus_size)
        first = self.documents_seen + 1
        return f"Learning from document {last:,}" if first == last else f"Learning from documents {first:,} to {last:,}"

    def _pull(self, events: Generator) -> Any:
        if self._sent_config is self.spec.config:
            return next(events)
        self._sent_config = self.spec.config
        return events.send(self.spec.config)

    def _take_in(self, event: Any) -> Any:
        if isinstance(event, Stepped):
            self._take_step(event)
        elif isinstance(event, Evaluated):
            self._take_score(event)
        elif isinstance(event, Snapshot):
            lists = take_lists(event.summary, self.spec.settings.num_snapshots)
            self._checkpoints.append(self._make_checkpoint(event.documents_seen, event.date, event.summary, lists))
        elif isinstance(event, Finished):
            self.is_over = True
            self.status, self.message = "finished", ""
            self._state = event.state
            self._times.clear()
        return event

    def _take_step(self, event: Stepped) -> None:
        self.documents_seen, self._date, self._seconds = event.documents_seen, event.date, event.seconds
        self.batch_size, self._state = event.batch_size, event.state
        self._phase, self._startup_share = event.info.phase, event.info.startup_share
        self._temperature = event.info.temperature
        now = self._clock()
        self._times.append((now, event.documents_seen))
        while len(self._times) > 2 and now - self._times[0][0] > SPEED_SECONDS:
            self._times.popleft()
        self._steps.append(
            event.documents_seen,
            event.date,
            event.seconds,
            event.info.learning_rate,
            event.num_topics,
            event.info.startup_share,
            0 if event.info.phase == "warm-up" else 1,
            event.batch_size,
        )
        if event.info.bound is not None:
            self._bounds.append(event.info.step, event.info.bound)

    def _take_score(self, event: Evaluated) -> None:
        if event.predictive != "own":
            return
        row = (event.documents_seen, event.date, self._seconds, event.nats_per_word)
        if event.protocol == "next_batch":
            self._next_batch.append(*row, event.num_tokens)
            # Nothing is known before the first mini-batch, and after the first pass a document is not new.
            if event.inferred is not None and 0 < event.documents_seen < self.corpus_size:
                self._first_readings.take(event.inferred, event.documents_seen)
        elif event.protocol == "disjoint_words":
            self._heldout.append(*row)

    def _measure_speed(self) -> float:
        if len(self._times) < 2:
            return 0.0
        (first_time, first), (last_time, last) = self._times[0], self._times[-1]
        return (last - first) / max(1e-9, last_time - first_time)

    def _summarize_now(self) -> Checkpoint | None:
        state = self._state
        if state is not self._summarized:
            summary = self.spec.algorithm.summarize(self.spec.config, state)
            self._now = self._make_checkpoint(self.documents_seen, self._date, summary)
            self._summarized = state
        return self._now

    def _make_checkpoint(self, documents_seen: int, date: Any, summary: Any, lists: Any = None) -> Checkpoint:
        tokens = np.asarray(summary.expected_tokens, dtype=np.float64)
        total = tokens.sum()
        arrays = {
            "topic_ids": np.array(summary.topic_ids),
            "weights": tokens / total if total > 0 else np.zeros_like(tokens),
            "expected_tokens": tokens.copy(),
            "top_words": find_top_words(summary.topics, NUM_TOP_WORDS),
        }
        for array in arrays.values():
            array.setflags(write=False)
        return Checkpoint(documents_seen, date, num_topics=count_topics(tokens), lists=lists, **arrays)

    def _plan_columns(self) -> tuple[int, ...]:
        if self.is_over:
            return ()
        planned = plan_columns(
            self.corpus_size, self.spec.passes, self.spec.settings.num_snapshots, self.batch_size
        )
        return tuple(column for column in planned if column > self.documents_seen)
