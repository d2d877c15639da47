"""What a person does with topics, from which learning goes on.

- merge: the largest topic gets the words and tables of the others, which become empty.
- remove: the topic becomes empty. Its part of the stick goes back, and the other topics take its
  words as documents are read.
- split: the topic keeps the larger half of its words, and a further topic gets the other one.
- pin: the words of the topic become prior tokens, ten times as many as it has now. A prior token
  counts in each step like a token of the documents, so that documents change the words little.
- seed: a further topic whose words have prior tokens, as many as the corpus has of each word. It
  starts with the words of documents that it can explain better than the other topics.

Topics keep their ids, and an id is never used again. Documents set aside remove no topic that a
person has split, pinned or seeded, and so decide only on the others.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from stickbreaker.engine.algorithm import Edit, EditKind
from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.inference.candidates import Rivals, Steps, add_topics, compete
from stickbreaker.engine.inference.evidence import share_set_aside
from stickbreaker.engine.inference.expectations import topic_weights
from stickbreaker.engine.inference.global_step import batch_scale
from stickbreaker.engine.inference.held_words import keep_all, predict
from stickbreaker.engine.inference.removals import remove_topics
from stickbreaker.engine.inference.states import Decided, OnlineHDPState
from stickbreaker.engine.inference.topic_counts import Merging, Removal
from stickbreaker.engine.kernels.held_out import draw_places

# A pinned topic has prior tokens of the words of which it has at least this number of tokens.
LEAST_PINNED = 0.5
PIN_WEIGHT = 10.0
# How many edits can be undone.
MOST_UNDONE = 5
# Documents that are read to split a topic or to seed one; of more, some are drawn.
MOST_DOCUMENTS = 4096
# Each half of a split needs this share of the topic's tokens in the documents.
LEAST_HALF = 0.02
AXIS_ITERATIONS = 50
# A seed is supported if its topic has at least this share of all tokens, without the seed's words.
SUPPORTED_SHARE = 1e-3


class EditError(ValueError):
    """An edit that is not possible; the message says why and what to do."""


def edit_topics(
    steps: Steps, config: Any, state: OnlineHDPState, edit: Edit, batch: Batch
) -> OnlineHDPState:
    """The state after an edit; steps: those of the algorithm; batch: documents, to split and to
    seed.

    Raises EditError if a topic does not exist or is empty, or cannot be merged, removed or split.
    """
    _check(state, edit)
    match edit.kind:
        case EditKind.MERGE:
            return _merge(state, edit.topic_ids)
        case EditKind.REMOVE:
            return _remove(state, edit.topic_ids[0])
        case EditKind.PIN:
            return _pin(state, edit.topic_ids[0], edit.weight)
        case EditKind.SPLIT:
            return _split(steps, config, state, edit.topic_ids[0], batch)
        case EditKind.SEED:
            return _seed(steps, config, state, edit, batch)


def _check(state: OnlineHDPState, edit: Edit) -> None:
    if edit.kind is EditKind.SEED:
        return
    if state.step == 0:
        raise EditError("The topics have no words yet: let the model learn first.")
    in_use = {*np.flatnonzero(state.expected_tokens >= 1.0).tolist(), *state.decided.kept.tolist()}
    for topic_id in edit.topic_ids:
        if topic_id not in in_use:
            raise EditError(
                f"There is no topic {topic_id}: give the id of a topic in use, as in topics_frame."
            )
    if edit.kind is EditKind.MERGE and len(set(edit.topic_ids)) < 2:
        raise EditError("A merge needs at least two different topics.")
    if edit.kind is EditKind.REMOVE and len(in_use) < 2:
        raise EditError(f"Topic {edit.topic_ids[0]} is the only topic, so it cannot be removed.")


def _merge(state: OnlineHDPState, topic_ids: tuple[int, ...]) -> OnlineHDPState:
    merged = np.unique(topic_ids)
    targets = np.arange(len(state.tables))
    targets[merged] = merged[state.expected_tokens[merged].argmax()]
    merging = Merging(targets)
    decided = state.decided
    return state._replace(
        topic_counts=state.topic_counts.merge(merging),
        tables=merging.add_up(state.tables),
        expected_tokens=merging.add_up(state.expected_tokens),
        decided=decided._replace(
            kept=np.unique(targets[decided.kept]), topics=targets[decided.topics]
        ),
    )


def _remove(state: OnlineHDPState, topic_id: int) -> OnlineHDPState:
    # No mixture of other topics gets its tokens.
    nowhere = Removal(
        topics=np.array([topic_id]), parents=np.zeros((1, 1), np.int64), weights=np.zeros((1, 1))
    )
    decided = state.decided
    kept = decided.kept[decided.kept != topic_id]
    decided = decided.select(decided.topics != topic_id)._replace(kept=kept)
    return remove_topics(state, nowhere)._replace(decided=decided)


def _pin(state: OnlineHDPState, topic_id: int, weight: float) -> OnlineHDPState:
    # An earlier prior of the topic is replaced.
    is_other = state.decided.topics != topic_id
    old = state.decided.select(~is_other)
    counts = state.topic_counts.add(old.words, old.topics, -old.tokens)
    tokens = counts.dense()[:, topic_id].astype(np.float64)
    words = np.flatnonzero(tokens >= LEAST_PINNED)
    decided = state.decided.select(is_other)
    state = state._replace(topic_counts=counts, decided=decided)
    if weight == 0.0:
        kept = decided.kept[decided.kept != topic_id]
        return state._replace(decided=decided._replace(kept=kept))
    return _give_prior(state, topic_id, words, weight * tokens[words])


def _give_prior(
    state: OnlineHDPState, topic_id: int, words: np.ndarray, tokens: np.ndarray, scale: float = 1.0
) -> OnlineHDPState:
    """The state with prior tokens (M,) of words (M,); scale: of λ, which starts for D = 1."""
    topics = np.full(len(words), topic_id)
    decided = state.decided
    return state._replace(
        topic_counts=state.topic_counts.add(words, topics, scale * tokens),
        decided=decided._replace(
            kept=np.union1d(decided.kept, [topic_id]),
            topics=np.append(decided.topics, topics),
            words=np.append(decided.words, words),
            tokens=np.append(decided.tokens, tokens),
        ),
    )


def _split(
    steps: Steps, config: Any, state: OnlineHDPState, topic_id: int, batch: Batch
) -> OnlineHDPState:
    shares, share = _fit_half(steps, config, state, topic_id, batch)
    counts = state.topic_counts
    moved = shares * counts.dense()[:, topic_id]
    new = len(state.tables)
    words = np.arange(len(moved))
    grown = add_topics(state, words[:0], np.zeros((0, 1), counts.precision), np.zeros(1))
    left = grown.topic_counts.add(words, np.full(len(moved), topic_id), -moved)
    decided = state.decided
    is_own = decided.topics == topic_id
    own = decided.select(is_own)
    left_of_own = np.where(is_own, 1.0 - shares[decided.words], 1.0)
    return grown._replace(
        topic_counts=left.add(words, np.full(len(moved), new), moved),
        tables=_divide(grown.tables, topic_id, new, share),
        expected_tokens=_divide(grown.expected_tokens, topic_id, new, share),
        decided=Decided(
            kept=np.union1d(decided.kept, [topic_id, new]),
            topics=np.append(decided.topics, np.full(len(own.topics), new)),
            words=np.append(decided.words, own.words),
            tokens=np.append(left_of_own * decided.tokens, shares[own.words] * own.tokens),
        ),
    )


def _fit_half(
    steps: Steps, config: Any, state: OnlineHDPState, topic_id: int, batch: Batch
) -> tuple[np.ndarray, float]:
    """The part of each word (V,) of a topic that its smaller half gets, and its part of all."""
    documents = batch.documents
    tokens = _count_tokens(steps, config, state, documents, topic_id)
    has_tokens = np.bincount(documents.rows(), tokens, documents.num_documents) > 1.0
    if np.count_nonzero(has_tokens) < 2:
        raise EditError(
            f"Topic {topic_id} is in fewer than two of these documents: give documents in which it"
            " occurs to split it."
        )
    chosen = np.flatnonzero(has_tokens)
    some = batch._replace(documents=documents.select(chosen), doc_ids=batch.doc_ids[chosen])
    words = some.documents.distinct_words()
    tokens = tokens[has_tokens[documents.rows()]]
    scale = batch_scale(some)
    halves = scale * _halve(some.documents.indexed(words), tokens, len(words))
    # The halves compete with all other topics for the words of these documents.
    others = _remove(state, topic_id)
    known = others._replace(topic_counts=others.topic_counts.only(words))
    tables = np.full(2, state.tables[topic_id] / 2)
    start = Rivals(halves.astype(state.topic_counts.precision), tables)
    counts = compete(steps, config, known, some, start)[0].counts
    sizes = counts.sum(0, dtype=np.float64)
    if sizes.min() <= LEAST_HALF * sizes.sum():
        raise EditError(f"Topic {topic_id} does not split: its documents use the same words.")
    small = int(sizes.argmin())
    share = float(sizes[small] / sizes.sum())
    # Words that are not in these documents are divided like all; a token more is, too, so that rare
    # words do not decide alone.
    shares = np.full(state.topic_counts.vocab_size, share)
    shares[words] = (counts[:, small] + scale * share) / (counts.sum(1) + scale)
    return shares, share


def _divide(values: np.ndarray, topic_id: int, new: int, share: float) -> np.ndarray:
    divided = values.copy()
    divided[new] = share * values[topic_id]
    divided[topic_id] -= divided[new]
    return divided


def _count_tokens(
    steps: Steps, config: Any, state: OnlineHDPState, documents: Documents, topic_id: int
) -> np.ndarray:
    """The expected tokens of a topic in each entry (nnz,) of documents."""
    shares = steps.infer(config, state, documents)
    words, places = np.unique(documents.words, return_inverse=True)
    by_word = topic_weights(state.topic_counts, words, state.concentrations.word, "mean")
    whole = keep_all(documents)
    own = shares[whole.rows, topic_id] * by_word[places, topic_id]
    tokens: np.ndarray = documents.counts * own / predict(whole, places, shares, by_word)
    return tokens


def _halve(documents: Documents, tokens: np.ndarray, num_words: int) -> np.ndarray:
    """Words (U, 2) of two groups of documents, from a topic's tokens (nnz,) of their entries.

    The groups are the two sides of the first axis of a correspondence analysis. The mean document
    and word are added to the sizes, so that no rare word has an axis of its own (regularised
    spectral clustering, Qin & Rohe 2013).
    """
    shape = documents.num_documents, num_words
    table = csr_array((tokens, documents.words, documents.starts), shape=shape)
    by_document = table.sum(1)
    by_word = table.sum(0)
    documents_damped = by_document + by_document.mean()
    words_damped = by_word + by_word.mean()
    axis = np.random.default_rng(0).standard_normal(num_words)
    for _ in range(AXIS_ITERATIONS):
        axis = axis - (words_damped @ axis) / words_damped.sum()
        side = table @ axis / documents_damped
        side -= (documents_damped @ side) / documents_damped.sum()
        axis = table.T @ side / words_damped
        axis = axis / max(np.abs(axis).max(), 1e-300)
    is_right = side > 0
    halves: np.ndarray = np.stack([table.T @ ~is_right, table.T @ is_right], 1).astype(np.float64)
    return halves


def _seed(
    steps: Steps, config: Any, state: OnlineHDPState, edit: Edit, batch: Batch
) -> OnlineHDPState:
    words = np.unique(edit.words)
    if not len(words):
        raise EditError("A topic needs at least one word to start from.")
    new = len(state.tables)
    documents = batch.documents
    if state.step == 0:
        # λ is random and for D = 1: the topic starts like the others, with its words more frequent.
        noise = state.topic_counts.dense().mean(1, keepdims=True)
        seeded = add_topics(state, np.arange(len(noise)), noise, state.tables.mean(keepdims=True))
        seeded = seeded._replace(expected_tokens=np.zeros(new + 1))
        num_tokens = np.bincount(documents.words, documents.counts, len(noise))[words]
        tokens = edit.weight * batch_scale(batch) * np.maximum(num_tokens, 1.0)
        return _give_prior(seeded, new, words, tokens, 1.0 / batch.corpus_size)
    tokens = edit.weight * np.maximum(state.topic_counts.word_totals()[words], 1.0)
    has_word = np.isin(documents.words, words)
    chosen = np.unique(documents.rows()[has_word])
    counts = np.zeros((0, 1), state.topic_counts.precision)
    held = words[:0]
    num_in_use = np.count_nonzero(state.expected_tokens > 0.0)
    tables = np.array([state.tables.sum() / max(1, num_in_use)])
    if len(chosen):
        # The words of documents with the seed's words, for which the topic competes.
        held = documents.distinct_words()
        known = state._replace(topic_counts=state.topic_counts.only(held))
        prior = np.zeros((len(held), 1), counts.dtype)
        is_held = np.isin(words, held)
        prior[np.searchsorted(held, words[is_held]), 0] = tokens[is_held]
        own = documents.select(chosen)
        places = np.searchsorted(held, own.words)
        start = batch_scale(batch) * np.bincount(places, own.counts, len(held))[:, None]
        rivals = Rivals(start.astype(counts.dtype), tables, prior)
        counts, tables, _ = compete(steps, config, known, batch, rivals)[0]
    seeded = add_topics(state, held, counts, tables)
    return _give_prior(seeded, new, words, tokens)


def list_changed(edit: Edit, state: OnlineHDPState) -> tuple[int, ...]:
    """The topics that an edit has changed, in the state after it: the one that stays, others that
    were merged into it, and a new one last.
    """
    new = len(state.tables) - 1
    if edit.kind is EditKind.SEED:
        return (new,)
    if edit.kind is EditKind.SPLIT:
        return (*edit.topic_ids, new)
    ids = sorted(set(edit.topic_ids), key=lambda topic_id: -state.expected_tokens[topic_id])
    return tuple(ids)


def draw_documents(corpus: Corpus) -> Corpus:
    """The documents of a corpus that an edit reads, in their order."""
    return _draw_rows(corpus, np.arange(corpus.num_documents))


def draw_learned(train: Corpus, documents_seen: int) -> Batch:
    """Documents that a run over a corpus has learned from, for an edit: none that it set aside.

    Before the run has read any, they are those that it will learn from.
    """
    is_left_out = np.zeros(train.num_documents, bool)
    draw_places(0, share_set_aside(train.num_documents), is_left_out)
    if documents_seen:
        is_left_out[documents_seen:] = True
    rows = np.flatnonzero(~is_left_out)
    some = _draw_rows(train, rows if len(rows) else np.arange(train.num_documents))
    return next(some.batches(some.num_documents))._replace(corpus_size=train.num_documents)


def _draw_rows(corpus: Corpus, rows: np.ndarray) -> Corpus:
    if len(rows) > MOST_DOCUMENTS:
        rows = np.sort(np.random.default_rng(0).choice(rows, MOST_DOCUMENTS, replace=False))
    return corpus if len(rows) == corpus.num_documents else corpus.select(rows)


def find_support(state: OnlineHDPState, topic_id: int) -> float:
    """The share of all tokens that a seeded topic has, without its prior and the words of its seed.

    It is below SUPPORTED_SHARE if documents do not support the topic.
    """
    own = state.decided.select(state.decided.topics == topic_id)
    of_words = state.topic_counts.rows(own.words)[:, topic_id].sum() - own.tokens.sum()
    others = max(0.0, float(state.expected_tokens[topic_id] - of_words))
    return others / max(float(state.expected_tokens.sum()), 1.0)
