"""Topics that a stream may need besides those of the model, fitted to a mini-batch together with
them.

A candidate starts as the words of one document that the topics predict badly. Some rounds of the
local step follow, in which the candidates and the topics compete for the words of the mini-batch;
only the candidates change. The step then learns from the mini-batch as if they had always been
there. Documents set aside decide whether they stay.
"""

from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.declarations import resolved
from stickbreaker.engine.inference.evidence import score_documents
from stickbreaker.engine.inference.global_step import Statistics, batch_scale
from stickbreaker.engine.inference.held_words import keep_all
from stickbreaker.engine.inference.states import OnlineHDPState
from stickbreaker.engine.inference.topic_counts import gather
from stickbreaker.engine.parallel.threads import map_on_threads, split_evenly

# At most the first number of candidates; a candidate needs the second number of documents in the
# mini-batch.
MOST_CANDIDATES = 32
DOCUMENTS_OF_A_CANDIDATE = 4
# Candidates start as documents of this part of the mini-batch, those predicted worst.
BADLY_PREDICTED = 0.25
ROUNDS = 3
PLACES = 2


class Steps(NamedTuple):
    """Steps of the algorithm, which take a config first.

    expect: (config, state, batch) -> expectations; local: (config, expectations, documents) ->
    statistics; infer: (config, state, documents) -> shares (S, K).
    """

    expect: Callable[[Any, Any, Batch], Any]
    local: Callable[[Any, Any, Documents], Statistics]
    infer: Callable[[Any, Any, Documents], np.ndarray]


class Rivals(NamedTuple):
    """Topics that compete with those of a model for the words of a batch.

    counts: λ - η (U, C) of its words, without the prior; tables: (C,); prior: tokens that they
    have in any case, 0 or (U, C).
    """

    counts: np.ndarray
    tables: np.ndarray
    prior: Any = 0.0


def fit_candidates(
    steps: Steps, config: Any, state: OnlineHDPState, batch: Batch
) -> tuple[OnlineHDPState, Statistics] | None:
    """The state with empty candidates after its topics, and the statistics of the batch with them.

    None without room.

    There is room for as many as fewer topics than K have tokens. A removed topic keeps its place,
    as ids are places, so that there are at most PLACES times K of them.
    """
    documents = batch.documents
    num_known = len(state.tables)
    limit = resolved(config.max_topics)
    num_in_use = np.count_nonzero(state.topic_counts.totals > 0.0)
    room = min(limit - num_in_use, PLACES * limit - num_known)
    number = min(MOST_CANDIDATES, room, documents.num_documents // DOCUMENTS_OF_A_CANDIDATE)
    if number < 1:
        return None
    # One row for each word of the mini-batch; its candidates start as documents that are predicted
    # badly.
    words = documents.distinct_words()
    scale = batch_scale(batch)
    known = state._replace(topic_counts=state.topic_counts.only(words))
    counts = scale * _pick_documents(steps, config, known, documents, number).astype(
        state.topic_counts.precision
    )
    rivals, statistics = compete(
        steps, config, known, batch, Rivals(counts, np.full(number, scale))
    )
    nothing = rivals.counts[:0]
    return add_topics(state, words[:0], nothing, np.zeros(number)), statistics


def compete(
    steps: Steps, config: Any, known: OnlineHDPState, batch: Batch, rivals: Rivals
) -> tuple[Rivals, Statistics]:
    """The rivals after rounds in which they compete with the topics of a state for the words of a
    batch, and the statistics of the last round.

    known: a state with the rows of these words; its topics do not learn.
    """
    words = known.topic_counts.held
    number = len(rivals.tables)
    shape = len(words), len(known.tables) + number
    scale = batch_scale(batch)
    for _ in range(ROUNDS):
        both = add_topics(known, words, rivals.counts + rivals.prior, rivals.tables)
        statistics = _sum_up(steps, config, both, batch)
        counts = gather(statistics.counts, scale, shape, known.topic_counts.precision)
        rivals = rivals._replace(
            counts=counts[:, -number:], tables=scale * statistics.tables[-number:]
        )
    return rivals, statistics


def add_topics(
    state: OnlineHDPState, words: np.ndarray, counts: np.ndarray, tables: np.ndarray
) -> OnlineHDPState:
    """The state with topics added, from λ - η (U, C) of some words (U,), and tables (C,)."""
    return state._replace(
        topic_counts=state.topic_counts.append(words, counts),
        tables=np.append(state.tables, tables),
        expected_tokens=np.append(state.expected_tokens, counts.sum(0, dtype=np.float64)),
    )


def drop_empty(state: OnlineHDPState, num_known: int) -> OnlineHDPState:
    """The state without the topics after the first ones that have no tokens."""
    has_tokens = state.topic_counts.totals > 0.0
    left = np.flatnonzero(has_tokens | (np.arange(len(has_tokens)) < num_known))
    if len(left) == len(has_tokens):
        return state
    return state._replace(
        topic_counts=state.topic_counts.keep(left),
        tables=state.tables[left],
        expected_tokens=state.expected_tokens[left],
    )


def _pick_documents(
    steps: Steps, config: Any, state: OnlineHDPState, documents: Documents, number: int
) -> np.ndarray:
    """Counts (U, C) of drawn documents whose words the topics predict least well."""
    places = np.searchsorted(state.topic_counts.held, documents.words)
    frequencies = np.bincount(places, documents.counts) / documents.num_tokens
    whole = keep_all(documents)
    # The gain of the topics over word frequencies, by document, in nats; then by distinct word.
    gains = score_documents(config, state, whole, steps.infer)
    gains -= np.bincount(
        whole.rows, documents.counts * np.log(frequencies[places]), documents.num_documents
    )
    order = np.argsort(gains / np.maximum(documents.sizes(), 1), kind="stable")
    # Drawn from the worst quarter, so that candidates differ.
    worst = order[: max(number, int(BADLY_PREDICTED * len(order)))]
    drawn = np.random.default_rng([state.step, documents.num_documents]).choice(
        worst, number, replace=False
    )
    counts = np.zeros((len(frequencies), number), np.float32)
    for column, document in enumerate(drawn):
        own = documents.cut(document, document + 1)
        counts[np.searchsorted(state.topic_counts.held, own.words), column] = own.counts
    return counts


def _sum_up(steps: Steps, config: Any, state: OnlineHDPState, batch: Batch) -> Statistics:
    expectations = steps.expect(config, state, batch)
    documents = batch.documents
    spans = split_evenly(documents.starts)
    return reduce(
        add,
        map_on_threads(lambda span: steps.local(config, expectations, documents.cut(*span)), spans),
    )
