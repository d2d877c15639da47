"""A path of removals, from all topics of a model down to one, and the states along it."""

from collections.abc import Iterator, Sequence

import numpy as np

from stickbreaker.engine.inference.states import OnlineHDPState
from stickbreaker.engine.inference.topic_counts import DecayedCounts, Removal
from stickbreaker.engine.kernels.similarity import multiply_rows
from stickbreaker.engine.parallel.threads import map_on_threads, split_evenly

# From one point of the path to the next, this part of the topics is left.
LEFT = 0.75
# A path compares at most this number of words, those with the most tokens.
COMPARED_WORDS = 4096
# Topics with fewer tokens are left out of a path. The words of a removed topic go to this number of
# nearest topics.
LEAST_TOKENS = 1e-3
MOST_PARENTS = 6


def slice_path(path: Removal, first: int, last: int) -> Removal:
    """Some consecutive removals of a path."""
    return Removal(
        topics=path.topics[first:last],
        parents=path.parents[first:last],
        weights=path.weights[first:last],
    )


def find_path(counts: DecayedCounts, kept: Sequence[int] | np.ndarray = ()) -> Removal:
    """Removals of topics, one after another, until one topic with tokens is left, or only topics
    `kept`.

    The closest pair first.

        distance of a pair = n_a n_b / (n_a + n_b) (1 - Σ_w sqrt(p_aw p_bw)) / min(d_a, d_b),  d_k =
        Σ_w min(1, n_kw)

    For two samples of one topic it does not depend on their sizes n: the first factors have a mean
    of d/8, because the squared distance of the roots of p has a variance of 1/4n a word (Freeman &
    Tukey 1950). Of the closest pair, the topic with fewer tokens is removed, and the other one
    stands for both from there on. Each word of the removed topic goes to the nearest topics in
    proportion to their tokens of the word.
    """
    # Distances of all pairs, from the roots of p(w | topic).
    words = most_frequent_words(counts, COMPARED_WORDS)
    rows = counts.rows(np.arange(counts.vocab_size) if words is None else words)
    topics = np.flatnonzero(rows.sum(0) > LEAST_TOKENS)
    own = np.ascontiguousarray(rows[:, topics].T)
    tokens = own.sum(1, dtype=np.float64)
    roots = np.sqrt(own / tokens[:, None].astype(own.dtype))
    overlaps = measure_overlaps(roots)
    freedoms = np.minimum(own, 1.0).sum(1, dtype=np.float64)
    sizes = np.outer(tokens, tokens) / np.add.outer(tokens, tokens)
    distances = sizes * (1.0 - overlaps) / np.minimum.outer(freedoms, freedoms)
    np.fill_diagonal(distances, np.inf)
    np.fill_diagonal(overlaps, -1.0)
    is_kept = np.isin(topics, kept)
    distances[np.ix_(is_kept, is_kept)] = np.inf
    number = max(0, len(topics) - max(1, int(is_kept.sum())))
    shape = number, MOST_PARENTS
    path = Removal(
        topics=np.zeros(number, np.int64),
        parents=np.zeros(shape, np.int64),
        weights=np.zeros(shape),
    )
    for place in range(number):
        # The closest pair: the smaller topic goes, and its mixture is the nearest topics by tokens.
        one, other = divmod(int(distances.argmin()), len(topics))
        ranks = (is_kept[one], tokens[one]), (is_kept[other], tokens[other])
        large, small = (one, other) if ranks[0] >= ranks[1] else (other, one)
        most = min(MOST_PARENTS, len(topics) - 1 - place)
        nearest = np.argsort(-overlaps[small], kind="stable")[:most]
        path.topics[place] = topics[small]
        path.parents[place, : len(nearest)] = topics[nearest]
        path.weights[place, : len(nearest)] = tokens[nearest] / tokens[nearest].sum()
        # The larger topic stands for both, so its distances are measured again.
        own[large] += own[small]
        tokens[large] += tokens[small]
        distances[small] = distances[:, small] = np.inf
        overlaps[small] = overlaps[:, small] = -1.0
        is_left = overlaps[large] >= 0.0
        roots[large] = np.sqrt(own[large] / own.dtype.type(tokens[large]))
        overlaps[large] = overlaps[:, large] = np.where(
            is_left, measure_overlaps(roots, large), -1.0
        )
        freedoms[large] = np.minimum(own[large], 1.0).sum()
        factors = (
            tokens[large]
            * tokens
            / (tokens[large] + tokens)
            / np.minimum(freedoms, freedoms[large])
        )
        is_left &= ~(is_kept & is_kept[large])
        distances[large] = distances[:, large] = np.where(
            is_left, factors * (1.0 - overlaps[large]), np.inf
        )
    return path


def measure_overlaps(roots: np.ndarray, topic: int | None = None) -> np.ndarray:
    """Bhattacharyya coefficients of all pairs of topics (K, K), or of one (K,)."""
    chosen = np.arange(len(roots)) if topic is None else np.array([topic])
    overlaps = np.empty((len(chosen), len(roots)), roots.dtype)
    spans = split_evenly(np.arange(len(chosen) + 1))
    map_on_threads(
        lambda span: multiply_rows(roots, chosen[slice(*span)], overlaps[slice(*span)]), spans
    )
    wide = overlaps.astype(np.float64)
    return wide if topic is None else wide[0]


def points_of(num_topics: int, fewest: int = 1) -> list[int]:
    """Numbers of topics at which a path is scored first, down to the fewest.

    >>> points_of(30)
    [30, 22, 16, 12, 9, 6, 4, 3, 2, 1]
    """
    points = [num_topics]
    while points[-1] > fewest:
        points.append(max(fewest, min(points[-1] - 1, int(LEFT * points[-1]))))
    return points


def follow(
    state: OnlineHDPState, path: Removal, numbers: Sequence[int]
) -> Iterator[OnlineHDPState]:
    """States that have only the topics left at some numbers of topics, descending.

    Only words of the documents set aside have rows.
    """
    left = topics_of(state, path)
    state = state._replace(topic_counts=state.topic_counts.only(state.set_aside.distinct_words()))
    done = 0
    num_topics = len(left)
    for number in numbers:
        some = slice_path(path, done, num_topics - number)
        state = remove_topics(state, some)
        left = np.setdiff1d(left, some.topics)
        done = num_topics - number
        yield state._replace(topic_counts=state.topic_counts.keep(left), tables=state.tables[left])


def topics_of(state: OnlineHDPState, path: Removal) -> np.ndarray:
    """The topics at the start of a path: those that are removed, those that receive tokens, and
    those that a person keeps.
    """
    parents = path.parents[path.weights > 0]
    known = np.union1d(path.topics, parents) if len(parents) else [state.tables.argmax()]
    return np.union1d(known, state.decided.kept)


def remove_topics(
    state: OnlineHDPState, removal: Removal, words: np.ndarray | None = None
) -> OnlineHDPState:
    """The state after removals, for `words` (all unless given); the other ids stay."""
    if removal.is_empty:
        return state
    return state._replace(
        topic_counts=state.topic_counts.remove(removal, words),
        tables=removal.share_out(state.tables),
        expected_tokens=removal.share_out(state.expected_tokens),
    )


def most_frequent_words(counts: DecayedCounts, most: int) -> np.ndarray | None:
    """The words with the most tokens, ascending; None if there are at most this number."""
    totals = counts.word_totals()
    if len(totals) <= most:
        return None
    return np.sort(np.argpartition(-totals, most)[:most])
