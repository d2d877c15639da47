"""The most probable words of topics at the moments of a run."""

from typing import Any, NamedTuple

import numpy as np

from stickbreaker.app.model.progress import Moment, freeze
from stickbreaker.engine.algorithm import TopicSummary
from stickbreaker.engine.evaluation.held_out import count_topics, rank_topics
from stickbreaker.engine.evaluation.topic_space import find_top_words, sort_by_relevance

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
    words = find_top_words(topics, number).astype(np.int32)
    shares = np.take_along_axis(topics, words, axis=1).astype(np.float32)
    lists = WordLists(topic_ids=np.array(summary.topic_ids)[used], words=words, shares=shares)
    freeze(lists)
    return lists


def make_moment(
    documents_seen: int, date: Any, summary: TopicSummary, lists: WordLists | None = None
) -> Moment:
    """The topics of a summary as a moment, with their ten most probable and most relevant words."""
    tokens = np.asarray(summary.expected_tokens, dtype=np.float64)
    words = find_top_words(summary.topics, NUM_LISTED).astype(np.int32)
    relevant = sort_by_relevance(summary.topics, words, tokens)
    arrays = {
        "topic_ids": np.array(summary.topic_ids),
        "weights": tokens / max(tokens.sum(), 1e-300),
        "expected_tokens": tokens.copy(),
        "top_words": words[:, :NUM_TOP_WORDS].copy(),
        "relevant_words": relevant[:, :NUM_TOP_WORDS].copy(),
    }
    freeze(arrays.values())
    return Moment(
        documents_seen=documents_seen,
        date=date,
        num_topics=count_topics(tokens),
        lists=lists,
        **arrays,
    )
