"""Which topics of a model come back in other runs, and the topics that several runs have in common.

Two topics are the same by the rule of `find_partners`. By it, models of unrelated corpora share no
topic, or one or two of the most frequent words (tests/engine/evaluation/test_found_again.py).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, vstack

from stickbreaker.engine.algorithm import TopicSummary
from stickbreaker.engine.evaluation.coherence import NUM_TOP_WORDS
from stickbreaker.engine.evaluation.held_out import rank_topics
from stickbreaker.engine.evaluation.topic_space import (
    find_partners,
    find_top_words,
    shorten_topics,
)

# Rounds in which each run's topics are matched to the groups that those of the other runs form.
MOST_ROUNDS = 4
# A word is constant in a topic if this part of the runs with the topic have it among its ten.
CONSTANT = 0.9


class FoundAgain(NamedTuple):
    """How the U topics in use of a model, the largest first, come back in R other runs.

    topic_ids: (U,) int64.
    shares: (U,) of the tokens of the model.
    run_shares: (R, U) of the tokens of each run, in the same topic; NaN where it does not come
    back.
    top_words: (U, 10) word ids.
    word_runs: (U, 10), the number of runs that have the word among the ten of the same topic.
    num_topics: (R,), topics in use.
    """

    topic_ids: np.ndarray
    shares: np.ndarray
    run_shares: np.ndarray
    top_words: np.ndarray
    word_runs: np.ndarray
    num_topics: np.ndarray

    @property
    def num_found(self) -> np.ndarray:
        """In how many runs each topic comes back, (U,)."""
        return np.asarray((~np.isnan(self.run_shares)).sum(0))

    @property
    def share_ranges(self) -> np.ndarray:
        """The smallest and the largest share of each topic, (U, 2), in the model and the runs."""
        shares = np.vstack([self.shares, self.run_shares])
        return np.stack([np.nanmin(shares, 0), np.nanmax(shares, 0)], 1)

    @property
    def is_constant(self) -> np.ndarray:
        """Which of the ten words (U, 10) are in nine of ten runs that have the topic."""
        num_found = self.num_found[:, None]
        return np.asarray((self.word_runs >= CONSTANT * num_found) & (num_found > 0))


class RunTopics(NamedTuple):
    """The U topics in use of a run, the largest first, as `find_again` compares them.

    topic_ids: (U,); top_words: (U, 10) word ids; shares: (U,) of the tokens; rows: (U, V), the
    fifty most probable words of each.
    """

    topic_ids: np.ndarray
    top_words: np.ndarray
    shares: np.ndarray
    rows: csr_array


def take_topics(summary: TopicSummary) -> RunTopics:
    """Take what `find_again` needs of a summary."""
    used = rank_topics(summary.expected_tokens)
    topics = summary.topics[used]
    return RunTopics(
        topic_ids=summary.topic_ids[used],
        top_words=find_top_words(topics, NUM_TOP_WORDS),
        shares=summary.expected_tokens[used] / max(summary.expected_tokens.sum(), 1e-300),
        rows=shorten_topics(topics),
    )


def find_again(ours: RunTopics, others: Sequence[RunTopics]) -> FoundAgain:
    """Look for the topics in use of a model in other runs with the same words.

    >>> def run(*topics):
    ...     tokens = np.full(len(topics), 10.0)
    ...     return take_topics(TopicSummary(np.arange(len(topics)), np.array(topics), None, tokens))
    >>> found = find_again(run([1, 0, 0], [0, 0.5, 0.5]), [run([0, 0.75, 0.25])])
    >>> found.num_found.tolist(), found.share_ranges[1].tolist()
    ([0, 1], [0.5, 1.0])
    """
    run_shares = np.full((len(others), len(ours.shares)), np.nan)
    word_runs = np.zeros(ours.top_words.shape, np.int64)
    num_topics = np.zeros(len(others), np.int64)
    for run, other in enumerate(others):
        partners = find_partners(ours.rows, other.rows)
        found = np.flatnonzero(partners >= 0)
        theirs = other.top_words[partners[found]]
        run_shares[run, found] = other.shares[partners[found]]
        word_runs[found] += (ours.top_words[found][:, :, None] == theirs[:, None]).any(2)
        num_topics[run] = len(other.shares)
    return FoundAgain(
        topic_ids=ours.topic_ids,
        shares=ours.shares,
        run_shares=run_shares,
        top_words=ours.top_words,
        word_runs=word_runs,
        num_topics=num_topics,
    )


def group_topics(
    runs: Sequence[csr_array], tokens_of_runs: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Group the topics of several runs: the number of the group of each topic, by run.

    A group has at most one topic of a run. Each run's topics are matched to the mean topics of the
    groups that those of the other runs form, by tokens; a topic without a partner begins a group.
    This is repeated until no topic changes its group, at most MOST_ROUNDS times.
    runs: the topics (U, V) of each run, from `shorten_topics`; tokens_of_runs: (U,) of each topic.

    >>> runs, tokens = [csr_array(np.eye(2)), csr_array([[0.0, 1.0]])], [np.ones(2), np.ones(1)]
    >>> [groups.tolist() for groups in group_topics(runs, tokens)]
    [[1, 0], [0]]
    """
    rows = csr_array(vstack(runs))
    # Only words that any topic has as one of its fifty.
    rows = rows[:, np.unique(rows.indices)]
    tokens = np.concatenate(tokens_of_runs)
    run_of = np.repeat(np.arange(len(runs)), [len(each) for each in tokens_of_runs])
    groups = np.full(len(run_of), -1)
    for _ in range(MOST_ROUNDS):
        before = groups.copy()
        for run in range(len(runs)):
            own = np.flatnonzero(run_of == run)
            groups[own] = -1
            members = np.flatnonzero(groups >= 0)
            known, places = np.unique(groups[members], return_inverse=True)
            shape = len(known), len(groups)
            sums = csr_array((tokens[members], (places, members)), shape=shape) @ rows
            partners = find_partners(rows[own], shorten_topics(sums.toarray()))
            is_new = partners < 0
            first = groups.max(initial=-1) + 1
            groups[own[~is_new]] = known[partners[~is_new]]
            groups[own[is_new]] = first + np.arange(is_new.sum())
        if (groups == before).all():
            break
    _, groups = np.unique(groups, return_inverse=True)
    return [groups[run_of == run] for run in range(len(runs))]
