"""Systems without a truncation: topics are born as the stream asks for them, and those that come to nothing go.

What the DP mixture and the HDP of Wang & Blei (2012) share: the state, its step, and how it is read.
"""

from typing import NamedTuple

import numpy as np

from stickbreaker.engine.algorithm import Phase, StepInfo, TopicSummary
from stickbreaker.engine.inference.expectations import expected_topics
from stickbreaker.engine.inference.global_step import batch_scale
from stickbreaker.engine.inference.sticks import corpus_sticks, expected_weights
from stickbreaker.engine.inference.topic_counts import DecayedCounts, decayed_counts
from stickbreaker.engine.kernels.counts import DocumentCounts

# Documents between two looks for topics that came to nothing; Wang & Blei 2012 sec. 3.
REMOVE_EVERY = 20_000
PHASE = Phase.GROWING


class GrowingState(NamedTuple):
    """What the next step needs of K topics, in the order of their birth; K is 0 before the first document.

    topic_counts: λ - η, word by word (V, K).
    tables: (K,) of the corpus; u_k = 1 + tables, v_k = a + those of later sticks. In a mixture a document is a table.
    expected_tokens: (K,), η not counted.
    topic_ids: (K,) int64, numbered by birth; next_id: of the next to be born; a removed topic's id never returns.
    documents_seen: n_t, over all passes.
    """

    topic_counts: DecayedCounts
    tables: np.ndarray
    expected_tokens: np.ndarray
    topic_ids: np.ndarray
    next_id: int
    documents_seen: int
    step: int


class Found(NamedTuple):
    """What a mini-batch's sampled assignments say on the average: of the K topics known before, then of those born.

    words: the mini-batch's distinct words (U,); counts: (U, C) tokens of words in topics; tables: (C,).
    """

    words: np.ndarray
    counts: np.ndarray
    tables: np.ndarray


def start(vocab_size, precision):
    """The state before the first document: no topic at all."""
    counts = decayed_counts(np.zeros((vocab_size, 0), precision))
    return GrowingState(counts, np.zeros(0), np.zeros(0), np.zeros(0, np.int64), 0, 0, 0)


def sticks_of(tables, corpus_concentration):
    """Sticks u, v (K,) of K topics, the one with the most tables first; the place after them is what is left."""
    return corpus_sticks(np.append(tables, 0.0), corpus_concentration)


def weights_of(state, corpus_concentration):
    """E[π] (K,) of the topics; what is missing to 1 is left for topics not yet born."""
    return expected_weights(sticks_of(state.tables, corpus_concentration))[:-1]


def learning_rate(num_documents, documents_seen, corpus_size):
    """ρ_t = S / n_t until the corpus is read, then S / D; n_t counts this mini-batch. Wang & Blei 2012 sec. 3.

    >>> learning_rate(10, 40, 100), learning_rate(10, 400, 100)
    (0.25, 0.1)
    """
    return min(1.0, num_documents / min(documents_seen, corpus_size))


def grow(state, batch, found, criterion):
    """(State, StepInfo) after λ, u and v move to what the mini-batch says of the corpus (Wang & Blei 2012 Eq. 11).

        λ_kw ← (1 - ρ) λ_kw + ρ (η + D/S n_kw),  and so the tables behind u and v

    Erratum: the update of v in sec. 2.3 has its sum outside of the parenthesis. Every REMOVE_EVERY documents topics
    with less than one of `criterion` ("expected_tokens" or "tables") are removed.
    """
    num_known = len(state.topic_ids)
    tokens = found.counts.sum(0)
    born = num_known + np.flatnonzero(tokens[num_known:])
    columns = np.append(np.arange(num_known), born)
    num_documents = batch.documents.num_documents
    seen, scale = state.documents_seen + num_documents, batch_scale(batch)
    rate = learning_rate(num_documents, seen, batch.corpus_size)
    kept, factor = np.append(np.full(num_known, 1.0 - rate), np.zeros(len(born))), rate * scale
    counts = state.topic_counts.select(np.arange(num_known), len(born)) if len(born) else state.topic_counts
    rows = _as_rows(found.counts[:, columns], counts.precision)
    grown = GrowingState(
        counts.blend(rate, found.words, (rows,), scale, tokens[columns]),
        kept * _pad(state.tables, len(born)) + factor * found.tables[columns],
        kept * _pad(state.expected_tokens, len(born)) + factor * tokens[columns],
        np.append(state.topic_ids, state.next_id + np.arange(len(born))),
        state.next_id + len(born),
        seen,
        state.step + 1,
    )
    if seen // REMOVE_EVERY > state.documents_seen // REMOVE_EVERY:
        grown = remove(grown, getattr(grown, criterion) < 1.0)
    return grown, StepInfo(grown.step, rate, PHASE, 0.0)


def _pad(array, number):
    return np.append(array, np.zeros(number))


def _as_rows(counts, precision):
    """Counts (U, K) as a document of one word for each row, with only the topics that have tokens of it."""
    rows, topics = np.nonzero(counts)
    each = np.arange(len(counts) + 1)
    starts = np.searchsorted(rows, each)
    tokens = counts[rows, topics].astype(precision)
    return DocumentCounts(each, each[:-1].astype(np.int32), starts, topics.astype(np.int32), tokens)


def remove(state, is_gone):
    """The state without some topics; the others keep their ids."""
    if not is_gone.any():
        return state
    kept = np.flatnonzero(~is_gone)
    return state._replace(
        topic_counts=state.topic_counts.select(kept),
        tables=state.tables[kept],
        expected_tokens=state.expected_tokens[kept],
        topic_ids=state.topic_ids[kept],
    )


def widen(array, num_columns, value=0):
    """The array with more columns at its end, if it has fewer."""
    if array.shape[-1] >= num_columns:
        return array
    wider = np.full((*array.shape[:-1], num_columns), value, array.dtype)
    wider[..., : array.shape[-1]] = array
    return wider


def summarize(config, state):
    """E[topics], E[π] of the topics born so far, scaled to sum to 1, and expected tokens.

    Before the first birth: the topic that will be born first, as its prior has it, every word alike.
    """
    if not len(state.topic_ids):
        vocab_size = state.topic_counts.vocab_size
        uniform = np.full((1, vocab_size), 1.0 / vocab_size, np.float32)
        return TopicSummary(np.array([state.next_id]), uniform, np.ones(1), np.zeros(1))
    weights = weights_of(state, config.corpus_concentration)
    topics = expected_topics(state.topic_counts, config.word_concentration)
    return TopicSummary(state.topic_ids, topics, weights / weights.sum(), state.expected_tokens)
