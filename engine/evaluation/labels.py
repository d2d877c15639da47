"""A readable label for each topic: the words that distinguish it from the other topics.

The rule, for the topics in use, the largest first:

1. The candidates are the ten most probable words, in the order of their relevance at λ = .6
   (Sievert & Shirley 2014), where the corpus is the mixture of the topics.
2. The label is the first phrase of the vocabulary among the three most relevant candidates.
   Otherwise it is the two most relevant ones, or three where a larger topic has these two. Two
   forms of one word count as one.
3. No two topics have the same words. If a label is taken, its last word is replaced by the next
   candidate.

A topic that has a label keeps it while all the label's words are candidates and one of them is
among the three most relevant. So labels seldom change while a model learns.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, islice
from typing import TypeAlias

from stickbreaker.engine.algorithm import TopicSummary
from stickbreaker.engine.evaluation.held_out import rank_topics
from stickbreaker.engine.evaluation.topic_space import find_top_words, sort_by_relevance

NUM_CANDIDATES = 10
NUM_WORDS = (2, 3)
SEPARATOR = ", "
# Letters that two forms of one word have in common.
SHORTEST_STEM = 3

Labeller: TypeAlias = Callable[[list[str]], str]


def label_topics(
    summary: TopicSummary,
    words: Sequence[str],
    kept: Mapping[int, str] | None = None,
    label_with: Labeller | None = None,
) -> dict[int, str]:
    """Labels of the topics in use by id, the largest topic first, by the rule above.

    kept: earlier labels by topic id, which topics keep while they can.
    label_with: receives the ten most probable words of a topic, the most probable first, and
    returns its label, in place of the rule; equal labels stay as they are.

    >>> import numpy as np
    >>> topics = np.array([[0.5, 0.4, 0.1, 0.0], [0.5, 0.0, 0.1, 0.4]])
    >>> summary = TopicSummary(np.array([3, 8]), topics, np.array([0.6, 0.4]), np.array([60.0,
    ...     40.0]))
    >>> label_topics(summary, ("year", "war", "law", "bank"))
    {3: 'war, year', 8: 'bank, year'}
    """
    used = rank_topics(summary.expected_tokens)
    topics = summary.topics[used]
    top = find_top_words(topics, NUM_CANDIDATES)
    ids = summary.topic_ids[used].tolist()
    if label_with is not None:
        return {
            k: str(label_with([str(words[w]) for w in row]))
            for k, row in zip(ids, top, strict=True)
        }
    ranked = sort_by_relevance(topics, top, summary.expected_tokens[used])
    candidates = [
        [str(words[w]) for w in row if topic[w] > 0]
        for topic, row in zip(topics, ranked, strict=True)
    ]
    labels = _keep(ids, candidates, kept or {})
    taken = {_key(label) for label in labels.values()}
    for topic_id, row in zip(ids, candidates, strict=True):
        if topic_id not in labels:
            labels[topic_id] = next(
                label for label in _propose(row, topic_id) if _key(label) not in taken
            )
            taken.add(_key(labels[topic_id]))
    return {topic_id: labels[topic_id] for topic_id in ids}


def _keep(
    ids: Sequence[int], candidates: Sequence[Sequence[str]], kept: Mapping[int, str]
) -> dict[int, str]:
    """The earlier labels whose words are still candidates, one of them among the most relevant."""
    labels = {}
    for topic_id, row in zip(ids, candidates, strict=True):
        words = _key(kept.get(topic_id, ""))
        if words <= set(row) and words & set(row[: NUM_WORDS[-1]]):
            labels[topic_id] = kept[topic_id]
    return labels


def _propose(candidates: Sequence[str], topic_id: int) -> Iterator[str]:
    """Labels for a topic in the order of preference; the last one is always free."""
    fewest, most = NUM_WORDS
    yield from (each for each in candidates[:most] if " " in each)
    distinct = _drop_forms(candidates)
    first = list(islice(distinct, fewest))
    if first:
        yield SEPARATOR.join(first)
    yield from (SEPARATOR.join(each) for each in combinations([*first, *distinct], most))
    yield f"topic {topic_id}"


def _drop_forms(words: Sequence[str]) -> Iterator[str]:
    """The words that are no other form, and no part, of an earlier one."""
    distinct: list[str] = []
    for word in words:
        if not any(_are_forms(word, other) or word in other.split() for other in distinct):
            distinct.append(word)
            yield word


def _are_forms(one: str, other: str) -> bool:
    """Whether the longer word begins with the shorter one, whose last letter may differ if it is
    not the third.

    >>> _are_forms("treaty", "treaties"), _are_forms("tax", "taxes"), _are_forms("tax", "tariff")
    (True, True, False)
    """
    short, long = sorted((one, other), key=len)
    return len(short) >= SHORTEST_STEM and long.startswith(
        short[: max(SHORTEST_STEM, len(short) - 1)]
    )


def _key(label: str) -> frozenset[str]:
    return frozenset(label.split(SEPARATOR))
