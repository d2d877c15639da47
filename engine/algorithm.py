"""The contract that every algorithm follows.

An algorithm is a set of pure functions over tuples of arrays. One `Algorithm` record at the end of
its file binds them:

    init(config, vocab_size, rng)                  -> State
    expect(config, state, batch)                   -> Expectations
    local(config, expectations, documents, rng)    -> Statistics
    blend(config, state, statistics, batch)        -> (State, StepInfo)
    infer(config, state, documents)                -> doc_shares (S, K)
    summarize(config, state)                       -> TopicSummary

An algorithm that cannot run on shards replaces expect, local and blend by

    step(config, state, batch, rng)                -> (State, StepInfo)

Every State has `step` and `expected_tokens` (K,). If an algorithm remembers documents, its State
holds their `doc_ids` and keeps what it remembers in that order. The config of an algorithm that
reads mini-batches has a `batch_size`. The driver, the form of the app, the checkpoints and the
contract tests use only this record.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

import numpy as np

from stickbreaker.engine.corpora.documents import Batch, Documents


class Reads(StrEnum):
    """What one step of an algorithm reads: a mini-batch, or the whole corpus."""

    BATCHES = "batches"
    CORPUS = "corpus"


class InfersBy(StrEnum):
    """How an algorithm infers the topics of one document, once it has learned."""

    SLOTS = "slots"
    DIRICHLET = "dirichlet"
    SAMPLING = "sampling"
    COLLAPSED = "collapsed"
    MIXTURE = "mixture"


class Phase(StrEnum):
    """The part of its schedule that an algorithm's step was in."""

    WARM_UP = "warm-up"
    TWO_LEVEL = "two-level"
    LEARNING = "learning"
    GROWING = "growing"
    SOFT = "soft"
    SOFTENED = "softened"
    BURN_IN = "burn-in"
    SAMPLING = "sampling"


class State(Protocol):
    """What every State has: the number of its steps, and the tokens (K,) of each topic."""

    @property
    def step(self) -> int:
        """Steps taken so far."""

    @property
    def expected_tokens(self) -> np.ndarray:
        """Tokens of the corpus that each topic explains (K,); 0 before the first batch."""


class StepInfo(NamedTuple):
    """What one step did.

    step: number of the step, from 1.
    learning_rate: ρ_t of that step.
    phase: the part of its schedule that the step was in.
    startup_share: share of the start-up mass that is still in the topics after the step, 0 to 1.
    temperature: that of the warm-up; 1 otherwise.
    bound: the objective in nats per token, if the algorithm computes it.
    has_converged: whether the objective converged, so that the run ends here.
    has_fallen: whether the step lowered the objective and was rejected, which ends the run too.
    is_pass_needed: whether another pass probably predicts new documents better; None where the
    algorithm cannot say.
    """

    step: int
    learning_rate: float
    phase: Phase
    startup_share: float
    temperature: float = 1.0
    bound: float | None = None
    has_converged: bool = False
    has_fallen: bool = False
    is_pass_needed: bool | None = None

    @property
    def ends_run(self) -> bool:
        """Whether the run ends with this step."""
        return self.has_converged or self.has_fallen


class TopicSummary(NamedTuple):
    """What an algorithm has learned about the corpus.

    topic_ids: (K,) int64, stable names of the topics; all other fields are in this order.
    topics: (K, V) float32, E[topic], each row sums to 1.
    weights: (K,) float64, E[corpus weights], sums to 1.
    expected_tokens: (K,) float64, tokens of the corpus that each topic explains; 0 before the first
    batch.
    """

    topic_ids: np.ndarray
    topics: np.ndarray
    weights: np.ndarray
    expected_tokens: np.ndarray


# The id in a `Breaking` of the part of the stick that no topic has.
NO_TOPIC = -1


class Breaking(NamedTuple):
    """A stick of length 1 from which the topics break off their weights, one after another.

    topic_ids: (P,) the topic of each piece; NO_TOPIC marks the rest, which is left for topics not
    yet born.
    cuts: (P,) E[β'_k], the share of the remaining stick; weights: (P,) E[β_k], which sum to 1.
    """

    topic_ids: np.ndarray
    cuts: np.ndarray
    weights: np.ndarray


class SlotTrace(NamedTuple):
    """The T slots of a document after each of I iterations.

    A run takes the first `num_taken` of these iterations.

    topic_ids: (A,) the topics that the document considers; slot_topics: (I, T, A) φ_jt; tokens: (I,
    T) Σ_n ζ_jnt; shares: (I, T) E[π_jt]; bounds: (I,) the document's part of Eq. 14 of Wang 2011,
    in nats, with log E[topic] in place of E[log topic] where the local step has it.
    """

    topic_ids: np.ndarray
    slot_topics: np.ndarray
    tokens: np.ndarray
    shares: np.ndarray
    bounds: np.ndarray
    num_taken: int


class NoisyStep(NamedTuple):
    """A step of λ that has not been taken: the estimate of λ from a mini-batch alone, and the
    learning rate.

    step: t, from 1; learning_rate: ρ_t; scale: D/S; words: (U,) of the mini-batch, and those with
    prior tokens; target: (U, K) λ̂ - η of these words, which is 0 for all other words.
    """

    step: int
    learning_rate: float
    scale: float
    words: np.ndarray
    target: np.ndarray


class EditKind(StrEnum):
    """What a person can do with topics."""

    MERGE = "merge"
    REMOVE = "remove"
    SPLIT = "split"
    PIN = "pin"
    SEED = "seed"


class Edit(NamedTuple):
    """One thing that a person does with topics.

    topic_ids: the topics that it changes; none for a seed. words: positions (M,) in the vocabulary
    of the words of a seed. weight: of the prior tokens, as a multiple of the tokens that the words
    have in the topic (pin) or in the corpus (seed).
    """

    kind: EditKind
    topic_ids: tuple[int, ...] = ()
    words: tuple[int, ...] = ()
    weight: float = 1.0


class TopicEdit(NamedTuple):
    """What a person has done with topics of a model, and when.

    Attributes
    ----------
    kind : {"merge", "remove", "split", "pin", "seed"}
        What was done.
    topic_ids : tuple of int
        The topics that it changed. The first one stays; the last one of a split is new.
    words : tuple of str
        The words of a seed.
    name : str
        The name that a seeded topic was given.
    step : int
        The number of mini-batches learned from before.
    documents_seen : int
        The number of documents learned from before.
    """

    kind: str
    topic_ids: tuple[int, ...]
    words: tuple[str, ...] = ()
    name: str = ""
    step: int = 0
    documents_seen: int = 0


Init = Callable[[Any, int, np.random.Generator], State]
Expect = Callable[[Any, Any, Batch], Any]
Local = Callable[[Any, Any, Documents, np.random.Generator | None], Any]
Blend = Callable[[Any, Any, Any, Batch], tuple[Any, StepInfo]]
Step = Callable[[Any, Any, Batch, np.random.Generator], tuple[Any, StepInfo]]
Infer = Callable[[Any, Any, Documents], np.ndarray]
Summarize = Callable[[Any, Any], TopicSummary]
Memory = Callable[[Any, Documents], int]
SetAside = Callable[[Any, Any, Batch], Batch]
StartFrom = Callable[[Any, int, Batch, np.ndarray], State]
WordTopics = Callable[[Any, Any, np.ndarray], tuple[np.ndarray, np.ndarray]]
Stick = Callable[[Any, Any], Breaking]
Trace = Callable[[Any, Any, Documents, int], SlotTrace]
Preview = Callable[[Any, Any, Any, Batch], NoisyStep]


class Proposal(NamedTuple):
    """An edit, and how much better the documents set aside are predicted after it.

    gain, error: in nats per token of their words, with its standard error.
    """

    edit: Edit
    gain: float
    error: float

    @property
    def is_supported(self) -> bool:
        """Whether a split gains more than its error, or a merge loses less than its error."""
        return self.gain > (-self.error if self.edit.kind is EditKind.MERGE else self.error)


Apply = Callable[[Any, Any, Edit, Batch], Any]
Propose = Callable[[Any, Any, Batch], Iterator[tuple[float, Proposal | None]]]
LDAPriors = Callable[[Any, Any], tuple[np.ndarray, float]]
Narrow = Callable[[Any, np.ndarray], Any]
Trim = Callable[[Any], Any]
Widen = Callable[[Any, Any, np.ndarray], Any]
CONCENTRATIONS = ("doc_concentration", "corpus_concentration", "word_concentration")


@dataclass(frozen=True)
class Transfer:
    """How the local step of a shard runs in another process, so that little is sent there and back.

    narrow: (expectations, places (u,)) -> the expectations for only these of the batch's words
    (U,).
    trim: statistics -> the same without unused space, and without arrays of the expectations.
    widen: (trimmed statistics of narrowed expectations, expectations, places (u,)) -> statistics
    for the batch's words.

    The result is that of `local` with all expectations, bit for bit.
    """

    narrow: Narrow
    trim: Trim
    widen: Widen


def _as_it_is(value: Any, *others: Any) -> Any:
    """The first argument."""
    return value


WHOLE = Transfer(narrow=_as_it_is, trim=_as_it_is, widen=_as_it_is)


@dataclass(frozen=True)
class Algorithm:
    """The record that binds an algorithm: `name` for files and commands, `title` for people.

    reads: what a step reads.
    infers_by: how it infers a document's topics.
    passes: default number of passes over the corpus.
    memory: (config, documents) -> bytes that it needs to remember these training documents.
    stick: (config, state) -> the corpus' stick as the topics break it.
    word_topics: (config, state, words (U,)) -> topic_ids (K,) and E[topic] of these words (U, K),
    the same numbers as in `summarize`.
    trace: (config, state, documents, number of iterations) -> the slots of the first document.
    start_from: (config, vocab_size, batch, tokens (nnz, K) of its entries) -> the state that
    continues from them.
    preview: (config, state, statistics, batch) -> the step of λ that `blend` would take.
    lda_priors: (config, state) -> α (K,) and η of an LDA, whose state has λ - η as `topic_counts`.
    set_aside: (config, state, batch) -> the batch without the documents that its step must not
    learn from.
    edit: (config, state, edit, batch) -> the state after what a person has done with topics; it
    reads the documents of the batch to split a topic and to start one from words.
    propose: (config, state, batch) -> the share done, and the evidence of a merge or split.
    transfer: how a shard's local step runs in another process; by default, all expectations are
    sent there.
    has_corpus_weights: whether documents share learned topic weights, as in an HDP; the prior of
    an LDA is uniform.

    Raises ValueError unless it has either `step` or all of `expect`, `local` and `blend`.
    """

    name: str
    title: str
    config: type[Any]
    reads: Reads
    infers_by: InfersBy
    init: Init
    infer: Infer
    summarize: Summarize
    expect: Expect | None = None
    local: Local | None = None
    blend: Blend | None = None
    step: Step | None = None
    passes: int = 1
    memory: Memory | None = None
    stick: Stick | None = None
    trace: Trace | None = None
    word_topics: WordTopics | None = None
    preview: Preview | None = None
    start_from: StartFrom | None = None
    lda_priors: LDAPriors | None = None
    set_aside: SetAside | None = None
    edit: Apply | None = None
    propose: Propose | None = None
    transfer: Transfer = WHOLE
    has_corpus_weights: bool = True

    def __post_init__(self) -> None:
        has_parts = [part is not None for part in (self.expect, self.local, self.blend)]
        if any(has_parts) == (self.step is not None) or any(has_parts) != all(has_parts):
            raise ValueError(
                f"Algorithm {self.name!r} needs either step, or all of expect, local and blend."
            )

    def has_setting(self, name: str) -> bool:
        """Whether the config has a field of that name."""
        return any(each.name == name for each in fields(self.config))

    @property
    def concentrations(self) -> tuple[str, ...]:
        """The concentrations that the config has; `doc_concentration` is the total α₀."""
        return tuple(filter(self.has_setting, CONCENTRATIONS))

    @property
    def has_bound(self) -> bool:
        """Whether steps compute the objective, and `tolerance` ends the run."""
        return self.has_setting("tolerance")

    @property
    def has_learning_rate(self) -> bool:
        """Whether steps follow ρ_t = (τ₀ + t)^-κ, with `delay` and `forgetting_rate`."""
        return self.has_setting("forgetting_rate")

    def step_size(self, config: Any, corpus_size: int) -> int:
        """Documents that a step reads: S, or D for an algorithm without mini-batches."""
        return int(config.batch_size) if self.reads is Reads.BATCHES else corpus_size

    def learned(self, config: Any, state: Any, batch: Batch) -> Batch:
        """The batch that a step learns from."""
        return batch if self.set_aside is None else self.set_aside(config, state, batch)

    def parts(self) -> tuple[Expect, Local, Blend]:
        """expect, local and blend; ValueError if the algorithm has its own step."""
        if self.expect is None or self.local is None or self.blend is None:
            raise ValueError(
                f"Algorithm {self.name!r} has its own step, so it has no expect, local and blend."
            )
        return self.expect, self.local, self.blend
