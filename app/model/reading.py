"""What a model says of its corpus."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy.sparse import csr_array

from stickbreaker.app.model.first_readings import FirstReading, FirstReadings, find_place
from stickbreaker.app.model.progress import Moment, Progress
from stickbreaker.engine.algorithm import Algorithm, TopicSummary
from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.corpora.stored import StoredCorpus
from stickbreaker.engine.evaluation.coherence import TopicQuality, measure_quality
from stickbreaker.engine.evaluation.held_out import rank_topics
from stickbreaker.engine.evaluation.labels import Labeller, label_topics
from stickbreaker.engine.evaluation.topic_space import divergences
from stickbreaker.engine.runs.checkpoint import Checkpoint
from stickbreaker.engine.runs.settings import RunSettings

if TYPE_CHECKING:
    from stickbreaker.engine import TopicModel

# Of a corpus that need not fit in memory, this many documents are read.
MOST_READ = 50_000


@dataclass(frozen=True, eq=False)
class Model:
    """A model at one moment of a run, its corpus, and what the run has written down so far.

    train: the documents of the corpus that the run learns from, in reading order. first_readings:
    `FirstReadings` of the run, which keep growing. moments: the columns of its word lists. labels:
    of its topics, by id; label_with: as for `label_topics`. num_in_corpus: the documents of the
    whole corpus, where `corpus` is a sample of it. topics_key: as in `Progress`. num_edits: of its
    topics, by a person. test, settings: held-out documents and settings of the run.
    """

    run_id: int
    algorithm: Algorithm
    config: Any
    state: Any
    corpus: Corpus
    train: Corpus
    documents_seen: int
    first_readings: FirstReadings | None = None
    columns: tuple[Moment, ...] = ()
    labels: Mapping[int, str] = field(default_factory=dict)
    label_with: Labeller | None = None
    num_in_corpus: int = 0
    topics_key: str = ""
    num_edits: int = 0
    test: Corpus | None = None
    settings: RunSettings = field(default_factory=RunSettings)

    @property
    def key(self) -> tuple[Any, int, int]:
        """Which run the model is of, how many documents it had seen, and how many edits it had."""
        return self.run_id, self.documents_seen, self.num_edits


@dataclass(frozen=True, eq=False)
class Reading:
    """What a model says of its corpus.

    summary: its topics; once all documents are read, expected_tokens are those of the documents as
    read, Σ_d of doc_shares times doc_tokens. used: (U,) places of those in use, largest first;
    divergences: (U, U), Jensen-Shannon, of these; quality: their NPMI and exclusivity, on this
    corpus. doc_shares: (D, K) sparse, in the order of the corpus; None until all documents are
    read. doc_tokens: (D,). word_shares: (V,), of all tokens of the corpus. first: documents as the
    run first read them; None if it has kept none. labels: of the topics, by id. num_weighted: the
    number of topics in use by the model's own weights, as on the Live page. again: `OtherRuns`, if
    there are any.
    """

    model: Model
    summary: TopicSummary
    used: np.ndarray
    divergences: np.ndarray
    quality: TopicQuality
    word_shares: np.ndarray
    doc_tokens: np.ndarray
    num_weighted: int
    doc_shares: csr_array | None = None
    first: FirstReading | None = None
    labels: Mapping[int, str] = field(default_factory=dict)
    again: Any = None

    @property
    def is_read(self) -> bool:
        """Whether all documents are read, so that shares are those of the documents."""
        return self.doc_shares is not None

    @property
    def corpus(self) -> Corpus:
        """The corpus of the model."""
        return self.model.corpus

    def position(self, topic_id: int | None) -> int | None:
        """Find the place of a topic in the arrays; None if the model has no such topic."""
        return find_place(self.summary.topic_ids, topic_id)


@dataclass(frozen=True, eq=False)
class ReadingJob:
    """The state of a reading ("none", "reading", "ready", "failed"), its result so far, and why it
    failed or waits.
    """

    status: str = "none"
    share: float = 0.0
    reading: Reading | None = None
    message: str = ""


def begin_reading(model: Model) -> Reading:
    """The reading of a model before its documents: topics, similarities and coherence."""
    counts = model.corpus.counts
    words = np.asarray(counts.sum(0), np.float64).ravel()
    summary = model.algorithm.summarize(model.config, model.state)
    compared = _compare_topics(summary, counts)
    return Reading(
        model=model,
        summary=summary,
        **compared,
        word_shares=words / max(1.0, words.sum()),
        doc_tokens=np.asarray(counts.sum(1)).ravel(),
        num_weighted=len(compared["used"]),
        labels=model.labels,
    )


def complete_reading(reading: Reading, doc_shares: csr_array) -> Reading:
    """The reading with the shares of all documents, from which the sizes of the topics follow."""
    model = reading.model
    summary = reading.summary._replace(
        expected_tokens=doc_shares.T @ reading.doc_tokens.astype(np.float64)
    )
    kept = model.first_readings
    labels = label_topics(summary, model.corpus.vocabulary.words, model.labels, model.label_with)
    return replace(
        reading,
        summary=summary,
        **_compare_topics(summary, model.corpus.counts),
        doc_shares=doc_shares,
        first=None if kept is None else kept.look(model.corpus.doc_ids),
        labels={**model.labels, **labels},
    )


def choose_read(corpus: StoredCorpus) -> StoredCorpus:
    """At most MOST_READ documents of a stored corpus, evenly spaced."""
    number = min(corpus.num_documents, MOST_READ)
    rows = np.arange(number) * corpus.num_documents // max(1, number)
    return cast(StoredCorpus, corpus.select(rows))


def list_read(corpus: Corpus) -> np.ndarray | None:
    """The ids of the documents to read; None: all, since the corpus is in memory."""
    return np.sort(choose_read(corpus).doc_ids) if isinstance(corpus, StoredCorpus) else None


def _compare_topics(summary: TopicSummary, counts: csr_array) -> dict[str, Any]:
    """The parts of a `Reading` about the topics in use."""
    used = rank_topics(summary.expected_tokens)
    topics = summary.topics[used]
    tokens = summary.expected_tokens[used]
    quality = measure_quality(summary.topic_ids[used], topics, tokens, counts)
    return {"used": used, "divergences": divergences(topics), "quality": quality}


def to_estimator(model: Model, settings: RunSettings) -> "TopicModel":
    """The model as one that Python's users load, with the settings of its run."""
    # Importing scikit-learn takes a second.
    from stickbreaker.engine.estimators import from_checkpoint

    checkpoint = Checkpoint(
        algorithm=model.algorithm.name,
        config=model.config,
        settings=settings,
        state=model.state,
        documents_seen=model.documents_seen,
        seconds=0.0,
    )
    corpus = model.corpus
    estimator = from_checkpoint(checkpoint, corpus.vocabulary.words, model.train.num_documents)
    estimator.word_choices_ = corpus.word_choices
    return estimator


def with_reading(progress: Progress, reading: Reading | None) -> Progress:
    """The progress with tokens and labels of a complete reading of its current model."""
    if reading is None or not reading.is_read or progress.now is None:
        return progress
    if reading.model.key != progress.model_key:
        return progress
    now = replace(progress.now, read_tokens=reading.summary.expected_tokens)
    return replace(progress, now=now, labels=reading.labels)
