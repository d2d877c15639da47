"""Systems without a truncation: documents create topics, and topics that stay almost empty are
removed.

What the DP mixture and the HDP of Wang & Blei (2012) share: the state, its step, its stick and its
summary.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from stickbreaker.engine.algorithm import NO_TOPIC, Breaking, Phase, StepInfo, TopicSummary
from stickbreaker.engine.corpora.documents import Batch
from stickbreaker.engine.inference.expectations import expected_topics, topic_weights
from stickbreaker.engine.inference.global_step import batch_scale
from stickbreaker.engine.inference.sticks import (
    Sticks,
    break_stick,
    corpus_sticks,
    expected_weights,
)
from stickbreaker.engine.inference.topic_counts import DecayedCounts, decayed_counts
from stickbreaker.engine.kernels.counts import DocumentCounts
from stickbreaker.engine.kernels.local_gibbs import LocalPrior, LocalTopics
from stickbreaker.engine.kernels.mixture import Components, MixturePrior

# Documents between two searches for topics to remove; Wang & Blei 2012 sec. 3.
REMOVE_EVERY = 20_000
AnyTopics = TypeVar("AnyTopics", LocalTopics, Components)


class GrowingConfig(Protocol):
    """A config of a system without a truncation."""

    @property
    def corpus_concentration(self) -> float: ...
    @property
    def word_concentration(self) -> float: ...
    @property
    def precision(self) -> str: ...


class GrowingState(NamedTuple):
    """What the next step needs of K topics, in the order of their birth.

    K is 0 before the first document.

        q(θ_k) = Dirichlet(λ_k),  q(β'_k) = Beta(u_k, v_k)        (Wang & Blei 2012 sec. 2.3, S.2)

    topic_counts: λ - η, word by word (V, K).
    tables: (K,) of the corpus; u_k = 1 + tables, v_k = a + tables of later sticks. In a mixture a
    document is a table.
    expected_tokens: (K,), without η.
    topic_ids: (K,) int64, numbered by birth;
    next_id: the id of the next new topic. Ids of removed topics never return.
    documents_seen: n_t, over all passes.
    """

    topic_counts: DecayedCounts
    tables: np.ndarray
    expected_tokens: np.ndarray
    topic_ids: np.ndarray
    next_id: int
    documents_seen: int
    step: int


class SampledCounts(NamedTuple):
    """Averages of a mini-batch's sampled assignments: first for the K earlier topics, then for the
    new ones.

    words: the mini-batch's distinct words (U,); counts: (U, C) tokens of words in topics; tables:
    (C,).
    """

    words: np.ndarray
    counts: np.ndarray
    tables: np.ndarray


def init(config: GrowingConfig, vocab_size: int, rng: np.random.Generator) -> GrowingState:
    """State before the first document, without topics; nothing is drawn."""
    return GrowingState(
        topic_counts=decayed_counts(np.zeros((vocab_size, 0), config.precision)),
        tables=np.zeros(0),
        expected_tokens=np.zeros(0),
        topic_ids=np.zeros(0, np.int64),
        next_id=0,
        documents_seen=0,
        step=0,
    )


def sticks_of(tables: np.ndarray, corpus_concentration: float) -> Sticks:
    """Sticks u, v (K,) by falling number of tables; the place after them is the rest."""
    return corpus_sticks(np.append(tables, 0.0), corpus_concentration)


def stick(config: GrowingConfig, state: GrowingState) -> Breaking:
    """The corpus' stick as the topics break it, with a rest for topics not yet born."""
    return break_stick(
        sticks_of(state.tables, config.corpus_concentration), np.append(state.topic_ids, NO_TOPIC)
    )


def weights_of(state: GrowingState, corpus_concentration: float) -> np.ndarray:
    """E[π] (K,) of the topics; the remainder to 1 belongs to topics not yet born."""
    return expected_weights(sticks_of(state.tables, corpus_concentration))[:-1]


def growing_rate(num_documents: int, documents_seen: int, corpus_size: int) -> float:
    """ρ_t = S / n_t in the first pass, then S / D.

    N_t includes this mini-batch. Wang & Blei 2012 sec. 3.

    >>> growing_rate(10, 40, 100), growing_rate(10, 400, 100)
    (0.25, 0.1)
    """
    return min(1.0, num_documents / min(documents_seen, corpus_size))


def grow(
    state: GrowingState,
    batch: Batch,
    found: SampledCounts,
    size_of: Callable[[GrowingState], np.ndarray],
) -> tuple[GrowingState, StepInfo]:
    """(State, StepInfo) after λ, u and v move towards the mini-batch's estimate (Wang & Blei 2012
    Eq. 11).

        λ_kw ← (1 - ρ) λ_kw + ρ (η + D/S n_kw),  and likewise the tables behind u and v

    Erratum: the update of v in sec. 2.3 has its sum outside of the parenthesis. Every REMOVE_EVERY
    documents, topics whose size (K,) is below 1 are removed; size_of: state -> size.
    """
    num_known = len(state.topic_ids)
    tokens = found.counts.sum(0)
    # Columns of topics that got tokens; the other columns stay free.
    born = num_known + np.flatnonzero(tokens[num_known:])
    columns = np.append(np.arange(num_known), born)
    num_documents = batch.documents.num_documents
    seen = state.documents_seen + num_documents
    scale = batch_scale(batch)
    rate = growing_rate(num_documents, seen, batch.corpus_size)
    # λ, s and n ← (1 - ρ) of them + ρ D/S of the mini-batch; those of a new topic start at 0.
    kept = np.append(np.full(num_known, 1.0 - rate), np.zeros(len(born)))
    factor = rate * scale
    counts = state.topic_counts
    if len(born):
        counts = counts.append(np.zeros(0, np.int64), np.zeros((0, len(born))))
    rows = _as_rows(found.counts[:, columns], counts.precision)
    grown = GrowingState(
        topic_counts=counts.blend(rate, found.words, (rows,), scale, tokens[columns]),
        tables=kept * _pad(state.tables, len(born)) + factor * found.tables[columns],
        expected_tokens=kept * _pad(state.expected_tokens, len(born)) + factor * tokens[columns],
        topic_ids=np.append(state.topic_ids, state.next_id + np.arange(len(born))),
        next_id=state.next_id + len(born),
        documents_seen=seen,
        step=state.step + 1,
    )
    # From time to time, topics that explain less than one document or token are removed.
    if seen // REMOVE_EVERY > state.documents_seen // REMOVE_EVERY:
        grown = remove(grown, size_of(grown) < 1.0)
    return grown, StepInfo(
        step=grown.step, learning_rate=rate, phase=Phase.GROWING, startup_share=0.0
    )


def _pad(array: np.ndarray, number: int) -> np.ndarray:
    return np.append(array, np.zeros(number))


def _as_rows(counts: np.ndarray, precision: np.dtype[Any]) -> DocumentCounts:
    """Counts (U, K) as a document of one word for each row, with the topics of its tokens."""
    rows, topics = np.nonzero(counts)
    each = np.arange(len(counts) + 1)
    starts = np.searchsorted(rows, each)
    tokens = counts[rows, topics].astype(precision)
    return DocumentCounts(
        starts=each,
        words=each[:-1].astype(np.int32),
        topic_starts=starts,
        topic_ids=topics.astype(np.int32),
        tokens=tokens,
    )


def remove(state: GrowingState, is_gone: np.ndarray) -> GrowingState:
    """Remove some topics from the state; the others keep their ids."""
    if not is_gone.any():
        return state
    kept = np.flatnonzero(~is_gone)
    return state._replace(
        topic_counts=state.topic_counts.keep(kept),
        tables=state.tables[kept],
        expected_tokens=state.expected_tokens[kept],
        topic_ids=state.topic_ids[kept],
    )


def open_columns(
    config: GrowingConfig, state: GrowingState, words: np.ndarray, num_columns: int
) -> tuple[np.ndarray, np.ndarray]:
    """λ of words (U, C) and its sums (C,); columns of topics not yet born hold η."""
    num_known = len(state.topic_ids)
    eta = float(config.word_concentration)
    of_words = np.full((len(words), num_columns), eta)
    # Known topics have λ = η + counts; a topic not yet born has only η.
    of_words[:, :num_known] += state.topic_counts.rows(words)
    totals = np.full(num_columns, eta * state.topic_counts.vocab_size)
    totals[:num_known] += state.topic_counts.totals
    return of_words, totals


def widen(array: np.ndarray, num_columns: int, value: float = 0) -> np.ndarray:
    """Append columns to the array until it has `num_columns`."""
    if array.shape[-1] >= num_columns:
        return array
    wider = np.full((*array.shape[:-1], num_columns), value, array.dtype)
    wider[..., : array.shape[-1]] = array
    return wider


def double_columns(topics: AnyTopics, prior: LocalPrior | MixturePrior) -> AnyTopics:
    """The same topics with twice the columns; the new ones hold η, and are empty."""
    num_columns = len(topics.totals)
    eta = prior.word_concentration
    new = {"words": eta, "totals": eta * prior.vocab_size}
    # Arrays of another length are not of columns.
    columns = {
        name: array for name, array in topics._asdict().items() if array.shape[-1] == num_columns
    }
    return topics._replace(
        **{name: widen(array, 2 * num_columns, new.get(name, 0)) for name, array in columns.items()}
    )


def prior_fields(config: GrowingConfig, state: GrowingState) -> dict[str, Any]:
    """What the kernels of both systems read of a state: its sticks, a, η and V."""
    sticks = sticks_of(state.tables, config.corpus_concentration)
    return {
        "num_known": len(state.topic_ids),
        "on": sticks.on,
        "after": sticks.after,
        "order": sticks.order[:-1],
        "corpus_concentration": float(config.corpus_concentration),
        "word_concentration": float(config.word_concentration),
        "vocab_size": state.topic_counts.vocab_size,
    }


def summarize(config: GrowingConfig, state: GrowingState) -> TopicSummary:
    """E[topics], E[π] of the topics born so far, scaled to sum to 1, and expected tokens.

    Before the first birth: the expectation of the first topic under its prior, in which all words
    are equally likely.
    """
    if not len(state.topic_ids):
        topic_ids, topics = word_topics(config, state, np.arange(state.topic_counts.vocab_size))
        return TopicSummary(
            topic_ids=topic_ids, topics=topics.T, weights=np.ones(1), expected_tokens=np.zeros(1)
        )
    weights = weights_of(state, config.corpus_concentration)
    return TopicSummary(
        topic_ids=state.topic_ids,
        topics=expected_topics(state.topic_counts, config.word_concentration),
        weights=weights / weights.sum(),
        expected_tokens=state.expected_tokens,
    )


def word_topics(
    config: GrowingConfig, state: GrowingState, words: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Topic ids (K,) and E[topic] of some words (U, K), as in a summary."""
    if not len(state.topic_ids):
        return np.array([state.next_id]), np.full(
            (len(words), 1), 1.0 / state.topic_counts.vocab_size, np.float32
        )
    return state.topic_ids, topic_weights(
        state.topic_counts, words, config.word_concentration, "mean"
    )
