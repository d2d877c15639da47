"""Topics that are born during a run: fresh topics are fitted to recent documents, and tested on held-out words.

A run starts with few topics and collects the documents that it reads. At intervals fresh topics are fitted to the
collected documents alone, and then to what they explain better than the topics of the model (births as in Bryant &
Sudderth 2012 and Hughes, Kim & Sudderth 2015, whose criterion is the bound). Each of them is tested on the next
mini-batch, from which nothing has been learned yet.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from stickbreaker.engine.algorithm import Phase
from stickbreaker.engine.corpora.documents import Batch
from stickbreaker.engine.declarations import resolved
from stickbreaker.engine.inference.global_step import Statistics, batch_scale
from stickbreaker.engine.inference.held_words import MOST_JUDGES, sample_documents, split_halves
from stickbreaker.engine.inference.redundancy import Infer, compared_words, narrow, score_documents
from stickbreaker.engine.inference.states import NO_DOCUMENTS, OnlineHDPState
from stickbreaker.engine.inference.topic_counts import gather

# A run with births starts with at most this number of topics, and each round fits at most FRESH_TOPICS.
START_TOPICS, FRESH_TOPICS = 200, 64
# With room for fewer topics below K there are no further rounds: they cost as much, and few topics are accepted.
LEAST_ROOM = 16
# Documents of a round, as a share of the corpus, and the number that is enough.
COLLECTED_SHARE, MOST_COLLECTED = 0.2, 8192
# At most this number of a mini-batch's documents is collected; more take memory and time, and bring little.
MOST_RECENT = 4 * MOST_COLLECTED
# Passes of the fresh topics over the collected documents, and mini-batches in each.
FRESH_PASSES, FRESH_BATCHES = 2, 8
# Held-out gains are shared out among born topics where they have at least this share of a document.
LEAST_SHARE = 0.01


class Steps(NamedTuple):
    """The steps of the algorithm whose topics are born.

    init: (config, V, generator) -> state; step: (config, state, batch) -> state; infer: (config, state, documents) ->
    shares (S, K); sum_up: (config, state, batch) -> statistics of the batch.
    """

    init: Callable[[Any, int, np.random.Generator], OnlineHDPState]
    step: Callable[[Any, OnlineHDPState, Batch], OnlineHDPState]
    infer: Infer
    sum_up: Callable[[Any, OnlineHDPState, Batch], Statistics]


class Born(NamedTuple):
    """Born topics: λ - η (U, B) of some words (U,), tables, tokens and squared tokens (B,), scaled to the corpus."""

    words: np.ndarray
    counts: np.ndarray
    tables: np.ndarray
    tokens: np.ndarray
    squared_tokens: np.ndarray

    def select(self, is_chosen: np.ndarray) -> "Born":
        """Some of these topics; is_chosen: (B,) bool."""
        of_topics = {name: values[..., is_chosen] for name, values in self._asdict().items() if name != "words"}
        return self._replace(**of_topics)


def create_topics(
    steps: Steps, config: Any, before: OnlineHDPState, after: OnlineHDPState, batch: Batch
) -> OnlineHDPState:
    """The state `after` a step, with the topics born in it, if a round is due; their ids follow those of the others.

    A round is due when enough documents have been collected since the warm-up, in the first pass and in streams. The
    topics are judged in the state `before` the step, for which the documents of the batch are new.
    """
    room = resolved(config.max_topics) - len(after.tables)
    is_rereading = before.documents_read >= batch.corpus_size and not batch.is_stream
    if after.phase == Phase.WARM_UP or room < LEAST_ROOM or is_rereading:
        return after._replace(collected=NO_DOCUMENTS)
    collected, recent = before.collected, sample_documents(batch, MOST_RECENT, before.step).documents
    if collected.num_documents < min(COLLECTED_SHARE * batch.corpus_size, MOST_COLLECTED):
        return after._replace(collected=collected.followed_by(recent))
    whole = Batch(doc_ids=np.arange(collected.num_documents), documents=collected, corpus_size=batch.corpus_size)
    judges = sample_documents(batch, MOST_JUDGES, before.step)
    before = narrow(before, compared_words(before), collected.followed_by(judges.documents))
    born = _compete(steps, config, before, whole, _fit_fresh(steps, config, before, whole, min(FRESH_TOPICS, room)))
    accepted = _judge(steps.infer, config, before, born, judges)
    return add_topics(after, born.select(accepted))._replace(collected=recent)


def add_topics(state: OnlineHDPState, born: Born) -> OnlineHDPState:
    """The state with further topics after its own, which keep their ids."""
    if not len(born.tokens):
        return state
    return state._replace(
        topic_counts=state.topic_counts.append(born.words, born.counts),
        tables=np.append(state.tables, born.tables),
        expected_tokens=np.append(state.expected_tokens, born.tokens),
        squared_tokens=np.append(state.squared_tokens, born.squared_tokens),
    )


def _fit_fresh(steps: Steps, config: Any, state: OnlineHDPState, whole: Batch, number: int) -> Born:
    """Topics fitted to the collected documents alone, by the algorithm itself with its warm-up."""
    words, num_documents = state.topic_counts.held, whole.documents.num_documents
    size = -(-num_documents // FRESH_BATCHES)
    alone = replace(
        config,
        max_topics=number,
        batch_size=size,
        delay=1.0,
        topic_creation="start",
        later_passes="forget",
        duplicates="keep",
        concentrations="fixed",
    )
    rng = np.random.default_rng([state.step, num_documents])
    order = rng.permutation(num_documents)
    fresh = steps.init(alone, len(words), rng)
    fresh = fresh._replace(topic_counts=fresh.topic_counts.in_vocabulary(words, state.topic_counts.vocab_size))
    for _ in range(FRESH_PASSES):
        for first in range(0, num_documents, size):
            places = order[first : first + size]
            part = Batch(doc_ids=places, documents=whole.documents.select(places), corpus_size=num_documents)
            fresh = steps.step(alone, fresh, part)
    scale = batch_scale(whole)
    counts = fresh.topic_counts.rows(words) * fresh.topic_counts.precision.type(scale)
    tokens = scale * fresh.expected_tokens
    return Born(words=words, counts=counts, tables=scale * fresh.tables, tokens=tokens, squared_tokens=scale * tokens)


def _compete(steps: Steps, config: Any, state: OnlineHDPState, whole: Batch, born: Born) -> Born:
    """The born topics with what they explain of the collected documents when the topics of the model explain the rest.

    The topics of the model do not change.
    """
    num_known, scale = len(state.tables), batch_scale(whole)
    found = steps.sum_up(config, add_topics(state, born), whole)
    gathered = gather(found.counts, scale, (len(found.words), len(found.tokens)), born.counts.dtype)
    counts = np.zeros_like(born.counts)
    counts[np.searchsorted(born.words, found.words)] = gathered[:, num_known:]
    tokens = scale * found.tokens[num_known:]
    return born._replace(
        counts=counts, tables=scale * found.tables[num_known:], tokens=tokens, squared_tokens=scale * tokens
    )


def _judge(infer: Infer, config: Any, state: OnlineHDPState, born: Born, judges: Batch) -> np.ndarray:
    """Which born topics (B,) raise the log likelihood of held-out words of some documents.

    Half of the distinct words of each document predict the other half. A document's gain is shared out among the born
    topics in proportion to its shares of them. The corpus would gain D/S times as much, to which the prior γ^n of n
    topics adds log γ for each.
    """
    split = split_halves(judges.documents, judges.doc_ids, state.step)
    if not len(split.scored):
        return np.zeros(len(born.tokens), bool)
    before = score_documents(config, state, split, infer)
    after = score_documents(config, add_topics(state, born), split, infer)
    shares = after.shares[:, len(state.tables) :].astype(np.float64)
    shares /= np.maximum(shares.sum(1, keepdims=True), LEAST_SHARE)
    gains = (after.scores - before.scores)[:, None] * shares
    is_accepted: np.ndarray = gains.sum(0) + np.log(state.concentrations.corpus) / batch_scale(judges) > 0
    return is_accepted
