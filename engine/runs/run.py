"""The driver: reads a prepared corpus, mini-batch by mini-batch, and yields what happens."""

import time
from collections.abc import Callable, Generator, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from stickbreaker.engine.algorithm import Algorithm, Reads, StepInfo
from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.corpora.documents import Batch
from stickbreaker.engine.evaluation.held_out import count_topics, infer_own, score_own, score_shares
from stickbreaker.engine.executors import step as take_step
from stickbreaker.engine.inference.held_words import split_words
from stickbreaker.engine.runs.checkpoint import Checkpoint, fingerprint, load, save
from stickbreaker.engine.runs.events import DocShares, Evaluated, Moment, Stepped, Update
from stickbreaker.engine.runs.prepared import Prepared
from stickbreaker.engine.runs.remote_steps import RemoteSteps
from stickbreaker.engine.runs.sampled_start import asks_for_sampler, start_from_sampler

if TYPE_CHECKING:
    from distributed import Client

# Seconds between two checkpoints of a run that writes them.
SAVE_SECONDS = 30.0
# Yields updates, and may be sent a config.
Updates = Generator[Update, Any, None]
# Returns what a checkpoint is to hold next to the run itself after an update.
Note: TypeAlias = Callable[[Update], Mapping[str, np.ndarray]]


def run(
    prepared: Prepared,
    *,
    resume: Checkpoint | None = None,
    checkpoint: str | PathLike[str] | None = None,
    every: float = SAVE_SECONDS,
    client: "Client | None" = None,
) -> Updates:
    """Yield one Update for each mini-batch, to the last pass or until the algorithm has converged.

    A config that is sent with `.send()` acts from the next mini-batch; make it with `apply_live`.

    Parameters
    ----------
    prepared : Prepared
        The run.
    resume : Checkpoint, optional
        A checkpoint of the same run: prepare the run with its config and settings.
    checkpoint : str or path, optional
        A file (.npz). The run continues from it if it exists, and writes it after a mini-batch once
        `every` seconds have passed, at its end, and when it is interrupted.
    every : float
        Seconds between two checkpoints.
    client : distributed.Client, optional
        The local steps of each mini-batch are computed by the workers of this Dask cluster. The
        result is the same, bit for bit. `RunSettings.num_shards` sets the number of tasks of a
        mini-batch.

    Returns
    -------
    generator of Update
        An update for each mini-batch.

    Raises
    ------
    ValueError
        If `resume` or the file is of another algorithm, of other settings, or of a corpus with
        another number of words, or if the steps of the algorithm cannot be divided among the
        workers of a client.
    ClusterError
        If Dask is not installed, or a worker cannot read the corpus, has other versions or a
        different processor.
    CheckpointError
        If the file cannot be read or written.
    """
    if checkpoint is not None:
        if resume is not None:
            raise ValueError(
                "Give resume or checkpoint, not both: a run continues from one checkpoint."
            )
        return run_with_notes(prepared, checkpoint, lambda update: {}, every=every, client=client)
    if resume is not None:
        _check_same_run(prepared, resume)
    remote = None if client is None else RemoteSteps(client, prepared)
    return _Run(prepared, resume, remote).updates()


def run_with_notes(
    prepared: Prepared,
    checkpoint: str | PathLike[str],
    note: Note,
    *,
    every: float = SAVE_SECONDS,
    client: "Client | None" = None,
) -> Updates:
    """Run as `run` does with a checkpoint, which also has the notes of the last update."""
    path = Path(checkpoint)
    updates = run(prepared, resume=load(path) if path.exists() else None, client=client)
    return _save_as_it_runs(prepared, updates, path, every, note)


def _save_as_it_runs(
    prepared: Prepared, updates: Updates, path: Path, every: float, note: Note
) -> Updates:
    """Pass updates on, and write a checkpoint after some of them and after the last."""
    config = prepared.config
    saved_at = time.monotonic()
    unsaved = None
    documents = fingerprint(prepared.train)
    try:
        sent = None
        while (update := _send(updates, sent)) is not None:
            unsaved = _checkpoint(prepared, config, update.stepped, documents), update
            if time.monotonic() - saved_at >= every:
                save(path, unsaved[0].with_notes(note(update)))
                saved_at = time.monotonic()
                unsaved = None
            sent = yield update
            config = sent or config
    finally:
        if unsaved is not None:
            saved, last = unsaved
            save(path, saved.with_notes(note(last)))


def _send(updates: Updates, config: Any) -> Update | None:
    """The next update under a config, or under the present one if it is None."""
    try:
        return updates.send(config)
    except StopIteration:
        return None


def _checkpoint(prepared: Prepared, config: Any, stepped: Stepped, documents: str) -> Checkpoint:
    return Checkpoint(
        algorithm=prepared.algorithm.name,
        config=config,
        settings=prepared.settings,
        state=stepped.state,
        documents_seen=stepped.documents_seen,
        seconds=stepped.seconds,
        has_ended=stepped.info.ends_run,
        documents=documents,
    )


def _check_same_run(prepared: Prepared, saved: Checkpoint) -> None:
    name = prepared.algorithm.name
    corpus = prepared.train
    if saved.algorithm != name:
        raise ValueError(
            f"The checkpoint was written by {saved.algorithm!r}, not {name!r}: resume it with"
            " that algorithm."
        )
    if saved.documents and saved.documents != fingerprint(corpus):
        raise ValueError(
            "The checkpoint was written for other training documents: delete it, or name another"
            " file."
        )
    same = prepared.with_config(saved.config)
    pairs = ((same.config, prepared.config), (saved.settings, prepared.settings))
    different = [
        name for old, new in pairs for name in vars(old) if getattr(old, name) != getattr(new, name)
    ]
    if different:
        raise ValueError(
            f"The checkpoint was written with another {' and '.join(different)}: use the same"
            " settings, or delete it."
        )
    if saved.state is None:
        return
    num_words = prepared.algorithm.summarize(saved.config, saved.state).topics.shape[1]
    if num_words != corpus.vocab_size:
        raise ValueError(
            f"The checkpoint was written for a corpus of {num_words} words, but {corpus.name!r} has"
            f" {corpus.vocab_size}: resume it with its own corpus."
        )


class _Run:
    """The state of one driver between two mini-batches."""

    def __init__(
        self, prepared: Prepared, resume: Checkpoint | None, remote: RemoteSteps | None
    ) -> None:
        self.prepared = prepared
        self.remote = remote
        self.algorithm = prepared.algorithm
        self.config = prepared.config
        self.seed = prepared.settings.seed
        self.has_ended = False
        if resume is None or resume.state is None:
            rng = np.random.default_rng([self.seed, 0])
            self.state = self.algorithm.init(self.config, prepared.train.vocab_size, rng)
            self.seen = 0
            self.seconds = 0.0
        else:
            self.state = resume.state
            self.seen = resume.documents_seen
            self.seconds = resume.seconds
            self.has_ended = resume.has_ended
        self.newest = np.maximum.accumulate(prepared.train.dates)
        self.held_out = None
        if (test := prepared.test) is not None:
            self.held_out = split_words(test.documents(), test.doc_ids, self.seed)
        self.moments = prepared.moment_points
        self.evaluations = prepared.evaluation_points
        # A step of the whole corpus leaves no document to score before it is read.
        self.scores_next_batch = (
            prepared.settings.score_next_batch and self.algorithm.reads is Reads.BATCHES
        )

    @property
    def is_over(self) -> bool:
        return self.has_ended or self.seen >= self.prepared.documents_total

    def updates(self) -> Updates:
        """All updates from here to the end."""
        if self.seen == 0 and asks_for_sampler(self.algorithm, self.config):
            began = time.perf_counter()
            self.state = start_from_sampler(
                self.algorithm, self.config, self.prepared.train, self.seed
            )
            self.seconds = time.perf_counter() - began
        while not self.is_over:
            sent = yield self._advance()
            if sent is not None:
                self.config = sent

    def _advance(self) -> Update:
        """Score the next mini-batch, learn from it, and do what is due after it."""
        batch, date = self._next_batch()
        before = self.seen
        next_batch = None
        if self.scores_next_batch:
            next_batch = self._score_ahead(batch, date)
        stepped = self._learn(batch, date)
        return Update(
            stepped=stepped,
            next_batch=next_batch,
            held_out=self._evaluate(date) if self._is_due(self.evaluations, before) else None,
            moment=self._summarize(date) if self._is_due(self.moments, before) else None,
            is_last=self.is_over,
        )

    def _next_batch(self) -> tuple[Batch, np.datetime64]:
        """The next mini-batch under the present batch size, and the newest date in it."""
        train = self.prepared.train
        batch = next_batch(self.algorithm, self.config, train, self.seen)
        end = self.seen % train.num_documents + len(batch.doc_ids)
        return batch, self.newest[end - 1]

    def _learn(self, batch: Batch, date: np.datetime64) -> Stepped:
        began = time.perf_counter()
        self.state, info = self._step(batch)
        self.seconds += time.perf_counter() - began
        self.seen += len(batch.doc_ids)
        self.has_ended = info.ends_run
        num_topics = count_topics(self.state.expected_tokens)
        return Stepped(
            documents_seen=self.seen,
            date=date,
            batch_size=len(batch.doc_ids),
            info=info,
            num_topics=num_topics,
            state=self.state,
            seconds=self.seconds,
        )

    def _step(self, batch: Batch) -> tuple[Any, StepInfo]:
        num_shards = self.prepared.settings.num_shards
        if self.remote is not None:
            first = self.seen % self.prepared.corpus_size
            return self.remote.step(self.config, self.state, batch, first, num_shards)
        rng = np.random.default_rng([self.seed, self.state.step + 1])
        return take_step(self.algorithm, self.config, self.state, batch, rng, num_shards)

    def _score_ahead(self, batch: Batch, date: np.datetime64) -> Evaluated | None:
        """Score a mini-batch before it is learned from, and keep its topic shares."""
        split = split_words(batch.documents, batch.doc_ids, self.seed)
        if not split.num_tokens:
            return None
        shares = infer_own(self.algorithm, self.config, self.state, split)
        topic_ids, nats = score_shares(self.algorithm, self.config, self.state, split, shares)
        inferred = DocShares(
            doc_ids=batch.doc_ids[split.scored], shares=shares, topic_ids=topic_ids
        )
        return self._report("next_batch", date, nats, split.num_tokens, inferred)

    def _evaluate(self, date: np.datetime64) -> Evaluated | None:
        split = self.held_out
        if split is None or not split.num_tokens:
            return None
        nats = score_own(self.algorithm, self.config, self.state, split)
        return self._report("disjoint_words", date, nats, split.num_tokens)

    def _report(
        self,
        protocol: str,
        date: np.datetime64,
        nats: float,
        num_tokens: int,
        inferred: DocShares | None = None,
    ) -> Evaluated:
        return Evaluated(
            documents_seen=self.seen,
            date=date,
            protocol=protocol,
            predictive="own",
            nats_per_word=nats,
            num_tokens=num_tokens,
            inferred=inferred,
        )

    def _summarize(self, date: np.datetime64) -> Moment:
        return Moment(
            documents_seen=self.seen,
            date=date,
            summary=self.algorithm.summarize(self.config, self.state),
        )

    def _is_due(self, points: np.ndarray, before: int) -> bool:
        """Whether a point was reached in this mini-batch; at the end of the run, all are."""
        now = self.prepared.documents_total if self.has_ended else self.seen
        return bool(((points > before) & (points <= now)).any())


def next_batch(algorithm: Algorithm, config: Any, train: Corpus, documents_seen: int) -> Batch:
    """The mini-batch that is read after `documents_seen` documents."""
    size = algorithm.step_size(config, train.num_documents)
    return next(train.batches(size, start=documents_seen % train.num_documents))
