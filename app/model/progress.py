"""The state of a run for display: immutable, versioned, and replaced as a whole.

The runner's thread builds a `Progress` and publishes it by one reference assignment; every session
compares `version` with the one that it has shown, and reads without a lock.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from stickbreaker.engine.algorithm import Algorithm, Reads, TopicEdit
from stickbreaker.engine.algorithms import find_algorithm
from stickbreaker.engine.evaluation.held_out import rank_topics
from stickbreaker.engine.inference.states import OnlineHDPConfig, ScheduleConfig
from stickbreaker.engine.runs.settings import RunSettings

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

STATUSES = ("ready", "opening", "compiling", "waiting", "running", "paused", "finished", "failed")
# The rest of a run with the settings before a change, which is drawn beside it.
FORECAST = "forecast"

STEP_COLUMNS = {
    "documents_seen": np.int64,
    "date": "datetime64[s]",
    "seconds": np.float64,
    "learning_rate": np.float64,
    "num_topics": np.int64,
    "startup_share": np.float64,
    "phase": np.int8,
    "batch_size": np.int64,
}
HELDOUT_COLUMNS = {
    "documents_seen": np.int64,
    "date": "datetime64[s]",
    "seconds": np.float64,
    "nats_per_word": np.float64,
}
BOUND_COLUMNS = {"step": np.int64, "nats_per_word": np.float64}
NEXT_BATCH_COLUMNS = {**HELDOUT_COLUMNS, "num_tokens": np.int64}


@dataclass(frozen=True, eq=False)
class Curve:
    """Read-only columns of equal length by name, one row per point.

    >>> curve = Curve.build({"seconds": np.float64}, [(0.5,), (1.5,)])
    >>> len(curve), curve["seconds"].tolist(), bool(Curve.build({"seconds": np.float64}))
    (2, [0.5, 1.5], False)

    The length is the number of points, so an empty curve is false.
    """

    columns: Mapping[str, np.ndarray]

    @classmethod
    def build(cls, dtypes: Mapping[str, Any], rows: Sequence[tuple[Any, ...]] = ()) -> "Curve":
        """Make a curve from rows; their values are in the order of `dtypes`."""
        values = list(zip(*rows, strict=True)) or [()] * len(dtypes)
        columns = {
            name: np.array(column, dtype=dtype)
            for (name, dtype), column in zip(dtypes.items(), values, strict=True)
        }
        freeze(columns.values())
        return cls(MappingProxyType(columns))

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))


def freeze(arrays: Iterable[np.ndarray]) -> None:
    """Make arrays read-only."""
    for array in arrays:
        array.setflags(write=False)


@dataclass(frozen=True)
class Mark:
    """A setting was changed while the run was learning: `text` says which ("κ 0.6 → 0.8")."""

    documents_seen: int
    seconds: float
    date: Any
    text: str


@dataclass(frozen=True, eq=False)
class Moment:
    """The topics at one moment, with only what the page needs.

    topic_ids: (K,) int64, stable names; the other arrays are in this order.
    weights: (K,) float64, shares of the expected tokens; they sum to 1, and are all 0 before the
    first document. expected_tokens: (K,) float64. top_words: (K, 10) int32, positions in the
    vocabulary, the most probable word first. relevant_words: (K, 10) int32, the most relevant of
    the fifty most probable words (λ = .6). lists: the fifty most probable words of the topics in
    use (`WordLists`); None between the columns of the word lists if there are more words.
    read_tokens: (K,) float64, of all documents as read with this model; None if they have not been
    read with it.
    """

    documents_seen: int
    date: Any
    topic_ids: np.ndarray
    weights: np.ndarray
    expected_tokens: np.ndarray
    top_words: np.ndarray
    num_topics: int
    lists: Any = None
    read_tokens: np.ndarray | None = None
    relevant_words: np.ndarray | None = None

    def find_words(self, by_relevance: bool) -> np.ndarray:
        """The ten most relevant or the ten most probable words of each topic (K, 10)."""
        if by_relevance and self.relevant_words is not None:
            return self.relevant_words
        return self.top_words

    @property
    def is_read(self) -> bool:
        """Whether all documents have been read with this model."""
        return self.read_tokens is not None

    @property
    def tokens(self) -> np.ndarray:
        """Tokens of each topic (K,): of all documents as read; until then, the expected ones."""
        return self.expected_tokens if self.read_tokens is None else self.read_tokens

    @property
    def shares(self) -> np.ndarray:
        """The share of each topic (K,) of `tokens`; 0 before the first document."""
        shares: np.ndarray = self.tokens / max(self.tokens.sum(), 1e-300)
        return shares


class ReturnedNames(NamedTuple):
    """The names kept for a corpus that a run was given at its end, by topic id.

    num_sought: how many were kept that the run did not have before. fault: why names could not be
    read or kept.
    """

    given: Mapping[int, str] = MappingProxyType({})
    num_sought: int = 0
    fault: str = ""


class EditLog(NamedTuple):
    """What a person has done with the topics of a run.

    done: in order; fault: why the last request was not possible; can_undo: whether the last edit
    can be taken back; unsupported: seeded topics that the documents do not support after a pass.
    """

    done: tuple[TopicEdit, ...] = ()
    fault: str = ""
    can_undo: bool = False
    unsupported: tuple[int, ...] = ()

    def until(self, documents_seen: int) -> "EditLog":
        """The edits up to a moment of the run; none of these can be undone there."""
        done = tuple(each for each in self.done if each.documents_seen <= documents_seen)
        return EditLog(done=done)


@dataclass(frozen=True)
class StreamFacts:
    """What a page says about a stream without an end, besides its topics.

    batch_size: documents in a mini-batch; num_waiting: those that wait until a mini-batch is full.
    is_dated: whether the documents have dates; without them, times are those at which they were
    read. num_words: words in the vocabulary. num_batches, num_documents: the last mini-batches,
    which the rest describes. new_words, dropped_words: some of them, the newest first; num_new,
    num_dropped: how many there are. num_tokens, num_left_out: tokens, and those of words that are
    not in the vocabulary.
    """

    batch_size: int
    num_waiting: int = 0
    is_dated: bool = False
    num_words: int = 0
    num_batches: int = 0
    num_documents: int = 0
    new_words: tuple[str, ...] = ()
    num_new: int = 0
    dropped_words: tuple[str, ...] = ()
    num_dropped: int = 0
    num_tokens: int = 0
    num_left_out: int = 0


@dataclass(frozen=True, eq=False)
class Progress:
    """Everything that a page shows of one run. In one service, `run_id` and `version` identify it.

    version: grows with every publication, across restarts too. run_id: grows with every restart;
    the key and title of a kept run. topics_key: the same for a run and another pass of it, so that
    the numbers of topics mean the same topics. status: one of `STATUSES`, or "replayed"
    (`replay.rewind`). message: why the run waits, what it compiles, or how it failed.
    cluster_fault: why no run can learn on the cluster, if the run failed because of that.
    corpus_size: training documents; documents_total: the same times the passes. num_held_out:
    documents set aside; None before the corpus is open. algorithm: its name; "" before the first
    run. config: its learning settings are numbers as soon as the corpus is open; of `chosen` a
    person has set them. date_span: the first and the last date of the training documents; None if
    not all have one. held_out_by: what is held out, a "document" or a whole "group" at a time.
    phase: "" before the first mini-batch, then the algorithm's own name for it; temperature: 1 once
    it has cooled. bounds: of the algorithm's own objective, where it computes that.
    planned_columns: documents seen at each column that is still to come. label: names the spec, for
    legends and titles. default_topics: those that the word lists show until the user selects some.
    names: what people have called topics, by id; returned: those of them that were kept for the
    corpus. labels: of the topics at any column of the word lists, by id. edits: of its topics.
    work: what the engine does, set when a step begins; begun_at: when that was, by the runner's
    clock. recorded_on: the day on which a recorded run was learned, which stands in for a run that
    waits for compiled code; "" for a run of this server. stream: of a stream without an end, whose
    corpus_size and documents_total are 0; None for a run over a corpus.
    """

    version: int = 0
    run_id: int | tuple[str, str] = 0
    topics_key: str = ""
    status: str = "ready"
    message: str = ""
    cluster_fault: str = ""
    compile_share: float = 0.0
    corpus_name: str = ""
    algorithm: str = ""
    config: "DataclassInstance | None" = None
    settings: RunSettings | None = None
    chosen: frozenset[str] = frozenset()
    held_out_by: str = "document"
    corpus_size: int = 0
    num_held_out: int | None = None
    date_span: tuple[Any, Any] | None = None
    documents_seen: int = 0
    documents_total: int = 0
    date: Any = None
    documents_per_second: float = 0.0
    phase: str = ""
    temperature: float = 1.0
    startup_share: float = 1.0
    steps: Curve = field(default_factory=lambda: Curve.build(STEP_COLUMNS))
    heldout: Curve = field(default_factory=lambda: Curve.build(HELDOUT_COLUMNS))
    next_batch: Curve = field(default_factory=lambda: Curve.build(NEXT_BATCH_COLUMNS))
    bounds: Curve = field(default_factory=lambda: Curve.build(BOUND_COLUMNS))
    marks: tuple[Mark, ...] = ()
    columns: tuple[Moment, ...] = ()
    now: Moment | None = None
    vocabulary: Any = None
    planned_columns: tuple[int, ...] = ()
    default_topics: tuple[int, ...] = ()
    label: str = ""
    names: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    labels: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    returned: ReturnedNames = field(default_factory=ReturnedNames)
    edits: EditLog = field(default_factory=EditLog)
    work: str = ""
    begun_at: float = 0.0
    recorded_on: str = ""
    stream: StreamFacts | None = None

    @property
    def model_key(self) -> tuple[Any, int, int]:
        """Which run, how many documents it has learned from, and how many edits it has."""
        return self.run_id, self.documents_seen, len(self.edits.done)

    def topic_title(self, topic_id: int) -> str:
        """A topic's name by a person, else its label, else its id."""
        topic_id = int(topic_id)
        return self.names.get(topic_id) or self.labels.get(topic_id) or f"topic {topic_id}"

    @property
    def titles(self) -> dict[int, str]:
        """All names and labels; a view draws its titles again when these change."""
        return {**self.labels, **{topic_id: name for topic_id, name in self.names.items() if name}}

    @property
    def algorithm_record(self) -> Algorithm | None:
        """What the engine says about the algorithm; None before the first run."""
        return find_algorithm(self.algorithm) if self.algorithm else None

    @property
    def reads_corpus(self) -> bool:
        """Whether each step reads the whole corpus: there are no mini-batches."""
        return self.algorithm_record is not None and self.algorithm_record.reads is Reads.CORPUS

    @property
    def schedule(self) -> ScheduleConfig | None:
        """The config, if it has a learning rate."""
        record = self.algorithm_record
        has_rate = record is not None and record.has_learning_rate
        return cast(ScheduleConfig, self.config) if has_rate else None

    @property
    def seed(self) -> int:
        """The seed of the run; the default before the first run."""
        return (self.settings or RunSettings()).seed

    @property
    def removes_topics(self) -> bool:
        """Whether the run removes topics that other topics explain."""
        record = self.algorithm_record
        if self.config is None or record is None or not record.has_setting("duplicates"):
            return False
        return cast(OnlineHDPConfig, self.config).duplicates == "merge"

    @property
    def seconds(self) -> float:
        """Seconds spent learning."""
        return float(sum(self.steps["seconds"][-1:]))

    @property
    def share_done(self) -> float:
        """Documents seen as a share of the total, 0 to 1."""
        return self.documents_seen / self.documents_total if self.documents_total else 0.0


def find_used(moment: Moment, topic_id: int) -> int | None:
    """The place of a topic in a moment's arrays; None if it is absent or not in use."""
    used = rank_topics(moment.tokens)
    return next(iter(used[moment.topic_ids[used] == topic_id].tolist()), None)


def has_no_topic(progress: Progress) -> bool:
    """Whether a run has learned but no topic is in use yet, because there is too little text."""
    return progress.now is not None and not len(rank_topics(progress.now.expected_tokens))
