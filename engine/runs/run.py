"""The driver: reads a corpus once, mini-batch by mini-batch, and yields what happens."""

import time
from collections.abc import Generator
from dataclasses import replace
from typing import Any

import numpy as np

from stickbreaker.engine.algorithm import Algorithm
from stickbreaker.engine.corpora.corpus import Batch, Corpus
from stickbreaker.engine.evaluation.held_out import Split, count_topics, infer_own, score, score_own, split_words
from stickbreaker.engine.executors import step as take_step
from stickbreaker.engine.runs.checkpoint import Position
from stickbreaker.engine.runs.events import DocShares, Evaluated, Event, Finished, Snapshot, Stepped
from stickbreaker.engine.runs.settings import RunSettings, live_settings
from stickbreaker.engine.schedules import resolve, step_size

# Yields events, and may be sent a config.
Events = Generator[Event, Any, None]
MOST_HELD_OUT = 0.1


def split_corpus(corpus: Corpus, settings: RunSettings) -> tuple[Corpus, Corpus]:
    """Training documents in reading order, and test documents, for these settings."""
    num_test = max(1, min(settings.num_test, int(MOST_HELD_OUT * corpus.num_documents)))
    train, test = corpus.split(num_test, settings.seed)
    return train.order(settings.order, seed=settings.seed), test


def run(
    algorithm: Algorithm,
    config: Any,
    corpus: Corpus,
    settings: RunSettings | None = None,
    *,
    resume: Position | None = None,
) -> Events:
    """Yield the events of a run; a config sent with `.send()` acts from the next mini-batch.

    Per mini-batch: Evaluated("next_batch") if asked for, Stepped, Evaluated("disjoint_words") and Snapshot if due;
    at the end, or once the algorithm says that it has converged, Finished. Of a sent config only the settings marked
    `live` are taken. `resume` is a Position, whose own config and settings are used. Raises ValueError where `resume`
    is of another algorithm, or of a corpus with another number of words, and TypeError where the
    config is another algorithm's.
    """
    settings = settings or RunSettings()
    if resume is None and not isinstance(config, algorithm.config):
        raise TypeError(
            f"The settings are of {type(config).__name__}: {algorithm.name} needs {algorithm.config.__name__}."
        )
    if resume is not None:
        if resume.algorithm != algorithm.name:
            raise ValueError(f"The checkpoint is of {resume.algorithm!r}: resume it with that, not {algorithm.name!r}.")
        num_words = algorithm.summarize(resume.config, resume.state).topics.shape[1]
        if num_words != corpus.vocab_size:
            raise ValueError(
                f"The checkpoint is of a corpus of {num_words} words, and {corpus.name!r} has {corpus.vocab_size}:"
                " resume it with the corpus that it was made on."
            )
        config, settings = resume.config, resume.settings
    train, test = split_corpus(corpus, settings)
    return _Run(algorithm, config, train, settings, resume).events(
        split_words(test.documents(), test.doc_ids, settings.seed)
    )


def learn(algorithm: Algorithm, config: Any, corpus: Corpus, settings: RunSettings) -> Events:
    """Yield the events of a run that holds nothing out and reads the documents in the order they stand in.

    `order`, `num_test` and `num_evaluations` of the settings are not used.
    """
    return _Run(algorithm, config, corpus, replace(settings, num_evaluations=0), None).events(None)


class _Run:
    """The state of one driver between two events."""

    def __init__(
        self, algorithm: Algorithm, config: Any, train: Corpus, settings: RunSettings, resume: Position | None
    ) -> None:
        self.algorithm, self.train, self.settings = algorithm, train, settings
        self.config = resolve(config, train.num_documents, train.num_tokens)
        if resume is None:
            rng = np.random.default_rng([settings.seed, 0])
            self.state = algorithm.init(self.config, train.vocab_size, rng)
            self.seen, self.seconds = 0, 0.0
        else:
            self.state, self.seen, self.seconds = resume.state, resume.documents_seen, resume.seconds
        passes = settings.passes or algorithm.passes
        self.total = passes * train.num_documents
        self.snapshots = due_points(self.total, settings.num_snapshots)
        self.evaluations = due_points(self.total, settings.num_evaluations * passes)
        # A step of the whole corpus has nothing before it that is yet to be read.
        self.scores_next_batch = settings.score_next_batch and hasattr(self.config, "batch_size")
        self.has_converged = False

    def events(self, held_out: Split | None) -> Events:
        """All events from here to the end."""
        while self.seen < self.total and not self.has_converged:
            batch, date = self._next_batch()
            before = self.seen
            if self.scores_next_batch:
                yield from self._score_ahead(batch, date)
            yield from self._accept(self._learn(batch, date))
            if self._is_due(self.evaluations, before):
                yield from self._evaluate("disjoint_words", held_out, date)
            if self._is_due(self.snapshots, before):
                summary = self.algorithm.summarize(self.config, self.state)
                yield from self._accept(Snapshot(self.seen, date, summary))
        yield from self._accept(Finished(self.seen, self.state, self.seconds))

    def _accept(self, event: Event) -> Events:
        """Yield an event; take the live settings of a config that is sent back."""
        sent = yield event
        if sent is not None:
            live = {name: getattr(sent, name) for name in live_settings(type(self.config))}
            self.config = resolve(replace(self.config, **live), self.train.num_documents)

    def _next_batch(self) -> tuple[Batch, Any]:
        """The next mini-batch under the present batch size, and the newest date in it."""
        batch = next_batch(self.config, self.train, self.seen)
        end = self.seen % self.train.num_documents + len(batch.doc_ids)
        return batch, self.train.dates[:end].max()

    def _learn(self, batch: Batch, date: Any) -> Stepped:
        began = time.perf_counter()
        rng = np.random.default_rng([self.settings.seed, self.state.step + 1])
        self.state, info = take_step(self.algorithm, self.config, self.state, batch, rng)
        self.seconds += time.perf_counter() - began
        self.seen += len(batch.doc_ids)
        self.has_converged = info.has_converged
        num_topics = count_topics(self.state.expected_tokens)
        return Stepped(self.seen, date, len(batch.doc_ids), info, num_topics, self.state, self.seconds)

    def _score_ahead(self, batch: Batch, date: Any) -> Events:
        """Score a mini-batch that is yet to be learned from, and tell the θ that this takes: it costs nothing more."""
        split = split_words(batch.documents, batch.doc_ids, self.settings.seed)
        if split.num_tokens:
            shares = infer_own(self.algorithm, self.config, self.state, split)
            summary = self.algorithm.summarize(self.config, self.state)
            inferred = DocShares(batch.doc_ids[split.scored], shares, summary.topic_ids)
            nats = score(split, shares, summary.topics)
            yield from self._accept(Evaluated(self.seen, date, "next_batch", "own", nats, split.num_tokens, inferred))

    def _evaluate(self, protocol: str, split: Split | None, date: Any) -> Events:
        if split is not None and split.num_tokens:
            nats = score_own(self.algorithm, self.config, self.state, split)
            yield from self._accept(Evaluated(self.seen, date, protocol, "own", nats, split.num_tokens))

    def _is_due(self, points: np.ndarray, before: int) -> bool:
        return is_due(points, before, self.total if self.has_converged else self.seen)


def next_batch(config: Any, train: Corpus, documents_seen: int) -> Batch:
    """The mini-batch that a settled config reads after so many documents, of however many passes."""
    size = step_size(config, train.num_documents)
    return next(train.batches(size, start=documents_seen % train.num_documents))


def is_due(points: np.ndarray, before: int, now: int) -> bool:
    """Whether one of the due points lies after `before` documents and by `now`.

    >>> is_due(due_points(100, 4), 25, 49), is_due(due_points(100, 4), 25, 50)
    (False, True)
    """
    return bool(((points > before) & (points <= now)).any())


def due_points(total: int, number: int) -> np.ndarray:
    """Documents seen at which something is due, evenly spread and the last at the end.

    >>> due_points(100, 4)
    array([ 25,  50,  75, 100])
    """
    return np.ceil(total * np.arange(1, number + 1) / max(number, 1)).astype(np.int64)
