"""Local steps in other processes: the expectations of a shard's words, and statistics without what
is known already.
"""

from typing import Any

import numpy as np

from stickbreaker.engine.algorithm import WHOLE, Transfer
from stickbreaker.engine.inference.batch import Totals
from stickbreaker.engine.inference.dirichlet_step import LocalExpectations
from stickbreaker.engine.inference.global_step import Statistics
from stickbreaker.engine.kernels.counts import DocumentCounts, FactoredCounts


def narrow(expectations: Any, places: np.ndarray) -> Any:
    """Expectations with only the rows at these places (u,) of the batch's words."""
    return expectations._replace(
        words=expectations.words[places], topics=expectations.topics[places]
    )


def trim(statistics: Statistics) -> Statistics:
    """Statistics without unused space, and without the topic weights of the expectations."""
    return statistics._replace(
        words=statistics.words[:0],
        counts=tuple(_trim_counts(counts) for counts in statistics.counts),
    )


def _trim_counts(counts: DocumentCounts | FactoredCounts) -> DocumentCounts | FactoredCounts:
    if isinstance(counts, FactoredCounts):
        return counts._replace(topics=counts.topics[:0])
    num_used = int((np.diff(counts.starts) * np.diff(counts.topic_starts)).sum())
    return counts._replace(
        topic_ids=counts.topic_ids[: counts.topic_starts[-1]], tokens=counts.tokens[:num_used]
    )


def widen(
    statistics: Statistics, expectations: LocalExpectations, places: np.ndarray
) -> Statistics:
    """Trimmed statistics, with the batch's words and their topic weights again."""
    return widen_weighted(
        statistics, expectations.words, np.ascontiguousarray(expectations.topics), places
    )


def widen_weighted(
    statistics: Statistics, words: np.ndarray, topics: np.ndarray, places: np.ndarray
) -> Statistics:
    """The same with other topic weights (U, K) of factored counts; words: (U,) of the batch."""
    numbers = places.astype(np.int32)

    def widen_counts(counts: DocumentCounts | FactoredCounts) -> DocumentCounts | FactoredCounts:
        if isinstance(counts, FactoredCounts):
            return counts._replace(words=numbers[counts.words], topics=topics)
        return counts._replace(words=numbers[counts.words])

    return statistics._replace(
        words=words, counts=tuple(widen_counts(counts) for counts in statistics.counts)
    )


def widen_totals(totals: Totals, expectations: LocalExpectations, places: np.ndarray) -> Totals:
    """Totals with a row for each word of the batch."""
    topic_words = np.zeros(
        (len(expectations.words), totals.topic_words.shape[1]), totals.topic_words.dtype
    )
    topic_words[places] = totals.topic_words
    return totals._replace(topic_words=topic_words)


OF_STATISTICS = Transfer(narrow=narrow, trim=trim, widen=widen)
# Totals have one row for each word of the shard already.
OF_TOTALS = Transfer(narrow=narrow, trim=WHOLE.trim, widen=widen_totals)
