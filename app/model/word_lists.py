"""The most probable words of topics at the moments of a run."""

from typing import Any, NamedTuple

import numpy as np

from stickbreaker.app.model.progress import Moment
from stickbreaker.engine.algorithm import TopicSummary
from stickbreaker.engine.evaluation.held_out import count_topics, rank_topics

NUM_TOP_WORDS = 10
NUM_LISTED = 50
# Words per topic in all moments together, so that runs with many moments have shorter lists.
MOST_LISTED = 5_000


class WordLists(NamedTuple):
    """The most probable words of the U topics in use at one moment, in this order.

    topic_ids: (U,) int64. words: (U, N) int32, positions in the vocabulary. shares: (U, N) float32,
    p(word | topic).
    """

    topic_ids: np.ndarray
    words: np.ndarray
    shares: np.ndarray


def take_lists(summary: TopicSummary, num_columns: int) -> WordLists:
    """List fifty words of each topic in use, or fewer where there are over 100 columns.

    So all lists of a run take at most 40 kB for each topic, 12 MB for 300; ten words are listed in
    any case.
    """
    number = max(NUM_TOP_WORDS, min(NUM_LISTED, MOST_LISTED // max(1, num_columns)))
    used = np.sort(rank_topics(summary.expected_tokens))
    topics = np.asarray(summary.topics)[used]
    words = find_top_words(topics, number)
    shares = np.take_along_axis(topics, words, axis=1).astype(np.float32)
    lists = WordLists(topic_ids=np.array(summary.topic_ids)[used], words=words, shares=shares)
    for each in lists:
        each.setflags(write=False)
    return lists


def make_moment(
    documents_seen: int, date: Any, summary: TopicSummary, lists: WordLists | None = None
) -> Moment:
    """The topics of a summary as a moment, with their ten most probable words."""
    tokens = np.asarray(summary.expected_tokens, dtype=np.float64)
    total = tokens.sum()
    arrays = {
        "topic_ids": np.array(summary.topic_ids),
        "weights": tokens / total if total > 0 else np.zeros_like(tokens),
        "expected_tokens": tokens.copy(),
        "top_words": find_top_words(summary.topics, NUM_TOP_WORDS),
    }
    for array in arrays.values():
        array.setflags(write=False)
    return Moment(
        documents_seen=documents_seen,
        date=date,
        num_topics=count_topics(tokens),
        lists=lists,
        **arrays,
    )


def find_top_words(topics: np.ndarray, number: int) -> np.ndarray:
    """The most probable words of each topic: (K, number) int32 word ids, fewer columns if there are
    fewer words.

    >>> find_top_words(np.array([[0.1, 0.6, 0.3]]), 2)
    array([[1, 2]], dtype=int32)
    """
    number = min(number, topics.shape[1])
    best = np.argpartition(topics, topics.shape[1] - number, axis=1)[:, topics.shape[1] - number :]
    order = np.argsort(-np.take_along_axis(topics, best, axis=1), axis=1, kind="stable")
    return np.take_along_axis(best, order, axis=1).astype(np.int32)
