"""The two topics that the word lists show until the user selects some: one that is stable early,
and one that formed late.

They are chosen from the first words, and once more at the first moment at which most topics differ
from all others; then they stay while they are in use. The rule, among the topics that have at least
half a percent of the tokens and differ from all others:

- stable early: coherence × how many of its words are in its lists of the first third of the moments
- formed late: coherence × how many more of its words are in the last third than in the first

A list counts with the words that are in at most a tenth of the lists of its moment. Coherence is
the NPMI of the words; above 0.4 it counts as 0.4, because fixed phrases of forms and headings have
the highest.
"""

from collections.abc import Sequence

import numpy as np

from stickbreaker.app.model.progress import Moment, find_used
from stickbreaker.engine import Corpus
from stickbreaker.engine.evaluation.coherence import npmi
from stickbreaker.engine.evaluation.held_out import rank_topics

LEAST_SHARE = 0.005
MOST_COHERENT = 0.4
# Of all lists: a word in more of them is common.
COMMON = 0.1
# For coherence, so that it takes a moment in a large corpus too.
MOST_DOCUMENTS = 20_000


class DefaultTopics:
    """Follows the moments of a run; `topics` are the two topics, or as many as are in use."""

    def __init__(self) -> None:
        self._pair: list[int | None] = [None, None]
        self._are_apart = False

    @property
    def topics(self) -> tuple[int, ...]:
        """Their ids: the topic that is stable early, then the one that formed late."""
        return tuple(topic_id for topic_id in self._pair if topic_id is not None)

    def follow(self, moments: Sequence[Moment], corpus: Corpus | None = None) -> None:
        """Take the newest of these moments; without a corpus, coherence does not count."""
        now = moments[-1]
        if not self._are_apart and _are_apart(now):
            self._are_apart = True
            self._pair = [None, None]
        kept = [k if k is not None and find_used(now, k) is not None else None for k in self._pair]
        self._pair = _fill(kept, moments, corpus) if None in kept else kept


def default_topics(moments: Sequence[Moment], corpus: Corpus | None = None) -> tuple[int, ...]:
    """The topics that the word lists of these moments show at first, as `DefaultTopics.follow`."""
    followed = DefaultTopics()
    for end in range(1, len(moments) + 1):
        followed.follow(moments[:end], corpus)
    return followed.topics


def _fill(
    pair: list[int | None], moments: Sequence[Moment], corpus: Corpus | None
) -> list[int | None]:
    """Choose the topics that are missing in the pair."""
    now = moments[-1]
    rows = _find_candidates(now)
    ids = now.topic_ids[rows].tolist()
    words = now.find_words(True)[rows]
    overlaps = np.array([_overlaps(moment, ids, words) for moment in moments])
    third = max(1, round(len(moments) / 3))
    early = overlaps[:third].mean(0)
    late = overlaps[-third:].mean(0)
    coherence = _measure_coherence(words, corpus)
    filled = list(pair)
    for place, scores in enumerate((coherence * early, coherence * (late - early))):
        free = [row for row, topic_id in enumerate(ids) if topic_id not in filled]
        if filled[place] is None and free:
            filled[place] = ids[max(free, key=scores.__getitem__)]
    return filled


def _find_candidates(moment: Moment) -> np.ndarray:
    """The places of the large topics that differ from all others, the largest first.

    All topics in use, if there are fewer than two.
    """
    used = rank_topics(moment.tokens)
    differs = _differ(moment.find_words(True)[used])
    large = used[differs & (moment.shares[used] >= LEAST_SHARE)]
    return large if len(large) > 1 else used


def _are_apart(moment: Moment) -> bool:
    """Whether most large topics differ from all others."""
    used = rank_topics(moment.tokens)
    large = used[moment.shares[used] >= LEAST_SHARE]
    return len(large) > 0 and bool(np.mean(_differ(moment.find_words(True)[large])) > 0.5)


def _differ(words: np.ndarray) -> np.ndarray:
    """Which topics (K,) share less than half of their words (K, N) with each other topic."""
    differs = np.ones(len(words), bool)
    for row, own in enumerate(words):
        common = np.isin(words, own).mean(1)
        common[row] = 0
        differs[row] = common.max() < 0.5
    return differs


def _overlaps(moment: Moment, ids: Sequence[int], words: np.ndarray) -> np.ndarray:
    """The share (K,) of the words of each topic (K, N) in its list now, and seldom in others."""
    used = rank_topics(moment.tokens)
    lists = moment.find_words(True)[used]
    listed, times = np.unique(lists, return_counts=True)
    rare = listed[times <= max(1.0, COMMON * len(lists))]
    then = dict(zip(moment.topic_ids[used].tolist(), lists, strict=True))
    common = [np.intersect1d(then.get(topic_id, ()), rare) for topic_id in ids]
    return np.array([np.isin(*each).mean() for each in zip(words, common, strict=True)])


def _measure_coherence(words: np.ndarray, corpus: Corpus | None) -> np.ndarray:
    """The coherence of each topic (K,) from its words (K, N), at most `MOST_COHERENT`."""
    if corpus is None:
        return np.ones(len(words))
    stride = 1 + corpus.num_documents // MOST_DOCUMENTS
    sample = corpus.select(np.arange(0, corpus.num_documents, stride))
    coherence: np.ndarray = np.nan_to_num(npmi(words, sample.counts))
    return coherence.clip(0.0, MOST_COHERENT)
