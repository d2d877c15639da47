"""The life of topics over a run, by the rules below, from its word lists. Pure.

A topic is there at a moment where it is in use. By the moments of a run so far:

- born: the first at which it is there, unless that is the run's first.
- stable: the first from which on each of its lists of ten has at least nine of the ten words that
  it has now, and not the newest moment alone. One word may differ, because the tenth and the
  eleventh word have nearly equal probabilities. If a list changes later, it is no longer stable.
- near-duplicate: the first from which on it has been similar to one larger topic, the most similar
  one now: the Bhattacharyya coefficient of their fifty most probable words (1 for copies) is at
  least 0.8. A merge into that topic is proposed.
- gone: the first at which it is no longer there, if it is never there again. If it was similar to a
  topic that stayed, that topic is named, because it probably absorbed it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from stickbreaker.app.model.progress import Moment
from stickbreaker.app.model.word_lists import NUM_TOP_WORDS, WordLists

KINDS = ("born", "stable", "near-duplicate", "gone")
BORN, STABLE, NEAR_DUPLICATE, GONE = KINDS
NUM_STEADY = 9
LEAST_SIMILARITY = 0.8


class LifeEvent(NamedTuple):
    """An event of a topic. column: the place of the moment; other: the topic it is similar to."""

    column: int
    kind: str
    topic_id: int
    other: int | None = None
    similarity: float = float("nan")


def find_events(moments: Sequence[Moment]) -> tuple[LifeEvent, ...]:
    """The events of all topics so far, sorted by column, kind and topic."""
    lists = [point.lists for point in moments if point.lists is not None]
    if not lists:
        return ()
    there = [
        dict(zip(each.topic_ids.tolist(), range(len(each.topic_ids)), strict=True))
        for each in lists
    ]
    events = [
        LifeEvent(column, BORN, topic_id)
        for topic_id in set().union(*there)
        if (column := [topic_id in known for known in there].index(True)) > 0
    ]
    events += [
        LifeEvent(start, STABLE, topic_id)
        for topic_id in there[-1]
        if (start := _stable_from(lists, there, topic_id)) is not None
    ]
    tokens = dict(
        zip(moments[-1].topic_ids.tolist(), moments[-1].expected_tokens.tolist(), strict=True)
    )
    events += _proposals(lists, there, tokens) + _deaths(lists, there)
    return tuple(
        sorted(events, key=lambda each: (each.column, KINDS.index(each.kind), each.topic_id))
    )


def _stable_from(
    lists: Sequence[WordLists], there: Sequence[dict[int, int]], topic_id: int
) -> int | None:
    now = set(lists[-1].words[there[-1][topic_id], :NUM_TOP_WORDS].tolist())
    # A small vocabulary has fewer than ten words.
    least = len(now) - (NUM_TOP_WORDS - NUM_STEADY)
    stable = None
    for column in range(len(lists) - 2, -1, -1):
        place = there[column].get(topic_id)
        if place is None:
            break
        if len(now.intersection(lists[column].words[place, :NUM_TOP_WORDS].tolist())) < least:
            break
        stable = column
    return stable


def _proposals(
    lists: Sequence[WordLists], there: Sequence[dict[int, int]], tokens: dict[int, float]
) -> list[LifeEvent]:
    """For each current topic the most similar larger one, and since which column."""
    pairs = _similar_now(lists[-1], tokens)
    events = []
    for column in range(len(lists) - 1, -1, -1):
        # One product serves all pairs; it is skipped when no pair is left.
        similarity = (
            find_similarity(lists[column - 1], lists[column - 1]) if column and pairs else None
        )
        for one, (other, value) in list(pairs.items()):
            if similarity is None or not _are_similar(similarity, there[column - 1], one, other):
                events.append(LifeEvent(column, NEAR_DUPLICATE, one, other, value))
                del pairs[one]
    return events


def _are_similar(similarity: np.ndarray, places: dict[int, int], one: int, other: int) -> bool:
    """Whether two topics were both there, at these places of a moment, and similar."""
    if one not in places or other not in places:
        return False
    return bool(similarity[places[one], places[other]] >= LEAST_SIMILARITY)


def _similar_now(lists: WordLists, tokens: dict[int, float]) -> dict[int, tuple[int, float]]:
    """The most similar larger topic of each topic that has one, and how similar it is."""
    ids = lists.topic_ids.tolist()
    similarity = find_similarity(lists, lists)
    found = {}
    for place, topic_id in enumerate(ids):
        size = (tokens[topic_id], -topic_id)
        larger = [each for each, other in enumerate(ids) if (tokens[other], -other) > size]
        if larger and (similar := similarity[place, larger]).max() >= LEAST_SIMILARITY:
            found[topic_id] = (ids[larger[similar.argmax()]], float(similar.max()))
    return found


def _deaths(lists: Sequence[WordLists], there: Sequence[dict[int, int]]) -> list[LifeEvent]:
    events = []
    known = set(there[-1])
    for column in range(len(lists) - 2, -1, -1):
        gone = sorted(set(there[column]) - known)
        stayed = sorted(set(there[column]) & set(there[column + 1]))
        known |= set(gone)
        if not gone:
            continue
        ours, theirs = (
            _take(lists[column], [there[column][k] for k in ids]) for ids in (gone, stayed)
        )
        for topic_id, row in zip(gone, find_similarity(ours, theirs), strict=True):
            event = LifeEvent(column + 1, GONE, topic_id)
            if len(row) and row.max() >= LEAST_SIMILARITY:
                event = event._replace(other=stayed[row.argmax()], similarity=float(row.max()))
            events.append(event)
    return events


def _take(lists: WordLists, places: Sequence[int]) -> WordLists:
    return WordLists(
        topic_ids=lists.topic_ids[places], words=lists.words[places], shares=lists.shares[places]
    )


def find_similarity(ours: WordLists, theirs: WordLists) -> np.ndarray:
    """Bhattacharyya coefficients (U, W) of the shares of topics' listed words."""
    if not ours.words.size or not theirs.words.size:
        return np.zeros((len(ours.topic_ids), len(theirs.topic_ids)))
    num_words = 1 + max(ours.words.max(), theirs.words.max())
    rows = []
    for each in (ours, theirs):
        shares = each.shares.astype(np.float64)
        shares /= np.maximum(shares.sum(1, keepdims=True), 1e-300)
        starts = np.arange(len(shares) + 1) * shares.shape[1]
        entries = (np.sqrt(shares).ravel(), each.words.ravel(), starts)
        rows.append(csr_array(entries, shape=(len(shares), num_words)))
    similarity: np.ndarray = (rows[0] @ rows[1].T).toarray()
    return similarity
