"""How many topics a model has: the fewest that predict the documents that were set aside as well as
any number does.

A model starts with more topics than it needs. Some documents, drawn by their places, are set aside:
no step learns from them. A path of removals leads from all topics down to one: each time the
smaller of the two closest topics goes. At points of the path half of the distinct words of each
document set aside predict the other half. The fewest topics whose score is at most .001 nats per
word below the best one are kept; one topic also with α₀ and η of its own. So a topic stays only if
documents that were not learned from need it.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from stickbreaker.engine.algorithm import Phase
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.inference.expectations import topic_weights
from stickbreaker.engine.inference.held_words import Split, predict, split_halves
from stickbreaker.engine.inference.removals import (
    LEAST_TOKENS,
    find_path,
    follow,
    most_frequent_words,
    points_of,
    remove_topics,
    slice_path,
    topics_of,
)
from stickbreaker.engine.inference.states import (
    HIGHEST,
    HIGHEST_ETA,
    LOWEST,
    Concentrations,
    OnlineHDPConfig,
    OnlineHDPState,
)
from stickbreaker.engine.inference.topic_counts import Merging, Removal
from stickbreaker.engine.inference.warm_up import startup_noise
from stickbreaker.engine.kernels.held_out import draw_places
from stickbreaker.engine.parallel.threads import map_on_threads, split_evenly
from stickbreaker.engine.schedules import TOO_MUCH_LEFT

# A tenth of the documents is set aside until they are a hundred, then a twentieth, at most this
# number.
SMALL_SHARE = 0.1
ENOUGH_SET_ASIDE = 100
SHARE = 0.05
MOST_SET_ASIDE = 1024
# A first part of the documents set aside scores all points of the path; points this number of
# standard errors below the best are left out for the others.
FIRST_SCORED = 64
CLEARLY_WORSE = 2.0
# Scores that differ by less, in nats per token of the documents set aside, count as equal: the
# fewer topics are kept.
NEGLIGIBLE = 1e-3
# A removal shares out the tokens of this number of words one by one, and those of rarer words in
# the proportions of the topic.
SHARED_WORDS = 2**15
# Σρ between two decisions in a first pass and in streams: half of the content of the topics has
# then been replaced.
RATES_BETWEEN = float(np.log(2.0))

Infer = Callable[[Any, OnlineHDPState, Documents], np.ndarray]
Grow = Callable[[], OnlineHDPState | None]


def share_set_aside(corpus_size: int) -> float:
    """The share of the D documents that is set aside.

    >>> [round(share_set_aside(size) * size) for size in (200, 1_000, 10_000, 1_000_000)]
    [20, 100, 500, 1024]
    """
    number = max(min(SMALL_SHARE * corpus_size, ENOUGH_SET_ASIDE), SHARE * corpus_size)
    return min(number, MOST_SET_ASIDE) / corpus_size


def set_aside(config: OnlineHDPConfig, state: OnlineHDPState, batch: Batch) -> Batch:
    """The mini-batch without the documents that its step must not learn from, which become its
    `set_aside`.

    A document is drawn by its place in the reading order, so that each pass draws the same
    documents.
    """
    if config.duplicates != "merge":
        return batch
    first = state.documents_read
    if not batch.is_stream:
        first %= batch.corpus_size
    is_set_aside = np.zeros(batch.documents.num_documents, bool)
    draw_places(first, share_set_aside(batch.corpus_size), is_set_aside)
    if is_set_aside.all() or not is_set_aside.any():
        return batch
    # The step learns from the others; the documents set aside travel with them.
    learned = np.flatnonzero(~is_set_aside)
    return batch._replace(
        doc_ids=batch.doc_ids[learned],
        documents=batch.documents.select(learned),
        set_aside=batch.documents.select(np.flatnonzero(is_set_aside)),
    )


def decide(
    infer: Infer,
    config: OnlineHDPConfig,
    before: OnlineHDPState,
    batch: Batch,
    grow: Grow = lambda: None,
) -> OnlineHDPState:
    """The state after a step, with the topics, α₀ and η that the documents set aside choose, if a
    decision is due.

    grow: () -> the state after the same step with candidates, or None; called in streams only,
    where topics appear.

    A decision is due when half of the content of the topics has been replaced since the last one or
    since the warm-up (in a first pass and in streams), at the end of the first pass, and in the
    middle of each later pass.
    """
    state = before._replace(set_aside=_add_set_aside(before, batch))
    if state.phase == Phase.WARM_UP:
        return state._replace(decided_at=state.rate_spent)
    has_learned = state.startup_share < TOO_MUCH_LEFT and state.set_aside.num_documents > 0
    if has_learned and _is_due(state, batch):
        state = _decide_now(infer, config, state, batch, grow)
    has_ended_pass = state.documents_read % batch.corpus_size == 0 and not batch.is_stream
    return _note_pass(infer, config, state) if has_learned and has_ended_pass else state


def _decide_now(
    infer: Infer, config: OnlineHDPConfig, state: OnlineHDPState, batch: Batch, grow: Grow
) -> OnlineHDPState:
    is_first = state.startup_share > 0.0
    if is_first:
        # With too small an η, many topics look worse than few; with fewer topics, another η may be
        # better.
        state = choose_concentrations(
            infer, config, leave_out_start(config, state, batch.corpus_size)
        )
    # In the first decision, topics that are not needed are left over.
    rivals = []
    if batch.is_stream and not is_first and (grown := grow()) is not None:
        rivals = [grown._replace(set_aside=state.set_aside, concentrations=state.concentrations)]
    state = choose_concentrations(infer, config, choose_number(infer, config, state, *rivals))
    if state.documents_read >= batch.corpus_size and not batch.is_stream:
        state = prefer_one(infer, config, state)
    return state._replace(decided_at=state.rate_spent)


def _note_pass(infer: Infer, config: OnlineHDPConfig, state: OnlineHDPState) -> OnlineHDPState:
    split = split_set_aside(state)
    if not len(split.scored):
        return state
    score = float(score_documents(config, state, split, infer).sum() / split.num_tokens)
    return state._replace(pass_score=score, has_converged=score < state.pass_score + NEGLIGIBLE)


def split_set_aside(state: OnlineHDPState) -> Split:
    """The documents set aside in two halves of their distinct words."""
    return split_halves(state.set_aside, np.arange(state.set_aside.num_documents), 0)


def _add_set_aside(state: OnlineHDPState, batch: Batch) -> Documents:
    """The latest documents that were set aside; those of later passes are known already."""
    if state.documents_read > batch.corpus_size and not batch.is_stream:
        return state.set_aside
    documents = state.set_aside.followed_by(batch.set_aside)
    return documents.cut(max(0, documents.num_documents - MOST_SET_ASIDE), documents.num_documents)


def _is_due(state: OnlineHDPState, batch: Batch) -> bool:
    read = state.documents_read
    corpus_size = batch.corpus_size
    if read == corpus_size:
        return True
    if read < corpus_size or batch.is_stream:
        return state.rate_spent - state.decided_at >= RATES_BETWEEN
    return 0 <= read % corpus_size - corpus_size / 2 < batch.num_read


def leave_out_start(
    config: OnlineHDPConfig, state: OnlineHDPState, corpus_size: int
) -> OnlineHDPState:
    """The state without its start, whose uniform words would make a mixture look useful."""
    if state.startup_share == 0.0:
        return state
    # ∏(1 - ρ) of the start-up counts is left in each word and topic, and as much of the first
    # tables.
    noise = state.startup_share * startup_noise(state.topic_counts, config.start, corpus_size)
    tables = state.tables - state.startup_share * corpus_size / len(state.tables)
    return state._replace(
        topic_counts=state.topic_counts.less(noise),
        tables=np.maximum(tables, 0.0),
        startup_share=0.0,
    )


def choose_number(infer: Infer, config: OnlineHDPConfig, *states: OnlineHDPState) -> OnlineHDPState:
    """The state with the fewest topics whose score is negligibly below the best one, on the paths
    from all states.

        score of n topics = log p(documents set aside | n topics) + n log γ

    The second term is the prior γ^n of n topics (Chinese restaurant process): a higher γ keeps more
    topics. Between the fewest points that are enough and the next one, the number is found by
    halving the interval.
    """
    paths = [find_path(state.topic_counts, state.decided.kept) for state in states]
    prior = np.log(states[0].concentrations.corpus)
    negligible = NEGLIGIBLE * states[0].set_aside.num_tokens

    def score(place: int, numbers: Sequence[int]) -> dict[int, float]:
        scores = score_path(infer, config, states[place], paths[place], numbers)
        return {number: float(each.sum() + prior * number) for number, each in scores.items()}

    # First the points of the path; the best of all paths decides what is enough.
    sizes = [len(topics_of(*pair)) for pair in zip(states, paths, strict=True)]
    fewest_left = [size - len(path.topics) for size, path in zip(sizes, paths, strict=True)]
    points = list(map(points_of, sizes, fewest_left))
    scores = [score(place, each) for place, each in enumerate(points)]
    enough = max(max(each.values()) for each in scores) - negligible

    def is_enough(place: int, number: int) -> bool:
        return score(place, [number])[number] >= enough

    found = []
    for place, totals in enumerate(scores):
        known = [number for number, total in totals.items() if total >= enough]
        if known:
            # The score falls where topics are missing, so the fewest that are enough follow by
            # bisection.
            too_few = max(
                (number for number in points[place] if number < min(known)),
                default=fewest_left[place] - 1,
            )
            between = range(too_few + 1, min(known))
            found.append(
                (too_few + 1 + bisect_left(between, True, key=partial(is_enough, place)), place)
            )
    fewest, place = min(found)
    state = states[place]
    path = paths[place]
    # The chosen model: all removals of its path down to that number.
    words = most_frequent_words(state.topic_counts, SHARED_WORDS)
    return remove_topics(state, slice_path(path, 0, points[place][0] - fewest), words)


def prefer_one(infer: Infer, config: Any, state: OnlineHDPState) -> OnlineHDPState:
    """The state with one topic, if with α₀ and η of its own its score is negligibly lower, also by
    a standard error more, if that is not negligible.

    On a path all numbers are scored with one η, which was chosen with more topics: together they
    have more prior counts than one topic with the same η.
    """
    used = np.flatnonzero(state.topic_counts.totals > LEAST_TOKENS)
    split = split_set_aside(state)
    is_free = config.concentrations != "fixed" and not len(state.decided.kept)
    if not is_free or len(used) < 2 or not len(split.scored):
        return state
    known = narrow(state, used)
    counts = known.topic_counts.merge(Merging(np.zeros(len(used), np.int64))).keep(np.zeros(1, int))
    one = known._replace(topic_counts=counts, tables=known.tables.sum(keepdims=True))
    one = choose_concentrations(infer, config, one)

    def score(each: OnlineHDPState) -> np.ndarray:
        return score_documents(replace(config, max_topics=len(each.tables)), each, split, infer)

    gains = score(one) - score(known)
    gain = gains.sum() + (1 - len(used)) * np.log(state.concentrations.corpus)
    error = np.sqrt(len(gains)) * gains.std()
    least = NEGLIGIBLE * state.set_aside.num_tokens
    # Few documents cannot tell one topic from several.
    if gain - (error if error > least else 0.0) < -least:
        return state
    targets = np.arange(len(state.tables))
    targets[used] = used[state.expected_tokens[used].argmax()]
    merging = Merging(targets)
    return state._replace(
        topic_counts=state.topic_counts.merge(merging),
        tables=merging.add_up(state.tables),
        expected_tokens=merging.add_up(state.expected_tokens),
        concentrations=one.concentrations,
    )


def choose_concentrations(infer: Infer, config: Any, state: OnlineHDPState) -> OnlineHDPState:
    """The state with η, then α₀, doubled or halved as long as the score rises."""
    split = split_set_aside(state)
    if config.concentrations == "fixed" or not len(split.scored):
        return state
    # Topics without tokens predict nothing, and only the words of these documents are scored.
    scored = narrow(state, np.flatnonzero(state.topic_counts.totals > LEAST_TOKENS))
    config = replace(config, max_topics=len(scored.tables))

    def score_with(tried: Concentrations) -> float:
        return float(
            score_documents(config, scored._replace(concentrations=tried), split, infer).sum()
        )

    found = state.concentrations
    least = NEGLIGIBLE * state.set_aside.num_tokens
    best = score_with(found)
    for scale in (_scale_word, _scale_doc):
        for factor in (2.0, 0.5):
            before = best
            # Doubled, or else halved, as long as it gains.
            while (tried := scale(found, factor)) != found and (
                gained := score_with(tried) - best
            ) > least:
                best = best + gained
                found = tried
            if best > before:
                break
    return state._replace(concentrations=found)


def _scale_word(concentrations: Concentrations, factor: float) -> Concentrations:
    word = concentrations.word * factor
    if not LOWEST <= word <= HIGHEST_ETA:
        return concentrations
    return concentrations._replace(word=word)


def _scale_doc(concentrations: Concentrations, factor: float) -> Concentrations:
    doc = concentrations.doc
    is_allowed = LOWEST <= doc.total * factor <= HIGHEST
    if not is_allowed:
        return concentrations
    return concentrations._replace(doc=doc._replace(shape=doc.shape * factor))


def narrow(state: OnlineHDPState, topics: np.ndarray) -> OnlineHDPState:
    """The state with some topics (n,) only, and the words of the documents set aside only."""
    counts = state.topic_counts.only(state.set_aside.distinct_words()).keep(topics)
    return state._replace(topic_counts=counts, tables=state.tables[topics])


def score_path(
    infer: Infer, config: Any, state: OnlineHDPState, path: Removal, numbers: Sequence[int]
) -> dict[int, np.ndarray]:
    """Log likelihood (J,) of the documents set aside by number of topics, descending.

    Not of numbers clearly worse than another.
    """
    documents = state.set_aside
    doc_ids = np.arange(documents.num_documents)
    points = dict(zip(numbers, follow(state, path, numbers), strict=True))
    scores = dict.fromkeys(points, np.zeros(0))
    for first, last in ((0, FIRST_SCORED), (FIRST_SCORED, len(doc_ids))):
        if first >= len(doc_ids):
            break
        split = split_halves(documents.cut(first, min(last, len(doc_ids))), doc_ids[first:last], 0)
        if not len(split.scored):
            break
        # Numbers of topics that are clearly worse on the first documents are not scored on the
        # others.
        scores = _leave_out_worse(scores, NEGLIGIBLE * documents.cut(0, first).num_tokens)
        for number in scores:
            point = points[number]
            halves = score_documents(
                replace(config, max_topics=len(point.tables)), point, split, infer
            )
            scores[number] = np.append(scores[number], halves.reshape(2, -1).sum(0))
    return scores


def score_numbers(
    infer: Infer, config: Any, state: OnlineHDPState
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of topics at the points of a path from all topics to one, ascending (N,), and nats
    per word (N,) of the documents set aside with each; none without such documents.
    """
    split = split_set_aside(state)
    if not len(split.scored):
        return np.zeros(0, np.int64), np.zeros(0)
    path = find_path(state.topic_counts)
    numbers = points_of(len(path.topics) + 1)
    scores = [
        score_documents(replace(config, max_topics=number), point, split, infer).sum()
        / split.num_tokens
        for number, point in zip(numbers, follow(state, path, numbers), strict=True)
    ]
    return np.array(numbers)[::-1], np.array(scores)[::-1]


def _leave_out_worse(scores: dict[int, np.ndarray], negligible: float) -> dict[int, np.ndarray]:
    best = max(scores.values(), key=np.sum)
    behind = {number: best - each for number, each in scores.items()}
    limits = {number: CLEARLY_WORSE * np.sqrt((each**2).sum()) for number, each in behind.items()}
    return {
        number: each
        for number, each in scores.items()
        if behind[number].sum() <= limits[number] + negligible
    }


def score_documents(config: Any, state: OnlineHDPState, split: Split, infer: Infer) -> np.ndarray:
    """Log likelihood of the held-out words of each observed document of a split (S,), in nats."""
    spans = split_evenly(split.observed.starts)
    shares = np.concatenate(
        map_on_threads(lambda span: infer(config, state, split.observed.cut(*span)), spans)
    )
    words, places = np.unique(split.words, return_inverse=True)
    by_word = topic_weights(state.topic_counts, words, state.concentrations.word, "mean")
    logs = split.counts * np.log(predict(split, places, shares, by_word))
    return np.bincount(split.rows, logs, len(split.scored))
