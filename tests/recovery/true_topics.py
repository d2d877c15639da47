"""Simulated corpora, and how many of their true topics a model has found.

A topic is measured by its total variation from the true one, divided by that of the topic estimated
from the true assignments, which is the best possible: 1. Since inference does not know the
assignments, 1.1 to 1.4 is usual; a topic that is split, or merged with another, has 2 or more. One
topic in ten may be missed, because a stick can be so short that only a hundred tokens belong to its
topic.
"""

from functools import cache

import numpy as np
from scipy.optimize import linear_sum_assignment

from stickbreaker.engine.simulate import simulate_hdp

NUM_DOCUMENTS, DOC_LENGTH, VOCAB_SIZE = 2500, 100, 2000
LARGEST_RATIO, FOUND_SHARE = 1.5, 0.9


@cache
def simulate(num_topics, seed):
    """A corpus drawn from the two-level HDP with this number of topics."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(VOCAB_SIZE, 0.01), num_topics)
    return simulate_hdp(topics, NUM_DOCUMENTS, DOC_LENGTH, 1.0, num_topics / 2, rng)


def total_variation(these, those):
    """The total variation (K, L) between the rows of (K, V) and of (L, V)."""
    return np.array([0.5 * abs(row - those).sum(1) for row in these])


def measure_ratios(found, truth, word_concentration=0.01):
    """Total variation (K,) of each topic's match, over that of the true assignments."""
    counts = truth.topic_words() + word_concentration
    known = counts / counts.sum(1, keepdims=True)
    distances = total_variation(truth.topics, found.astype(float))
    true, matched = linear_sum_assignment(distances)
    return distances[true, matched] / np.diag(total_variation(truth.topics, known))


def assert_true_topics(topics, truth):
    """Nine true topics in ten are among these topics (K, V)."""
    ratios, num_topics = measure_ratios(topics, truth), len(truth.topics)
    found = (ratios <= LARGEST_RATIO).sum()
    assert found >= FOUND_SHARE * num_topics, (
        f"{found} of {num_topics}: {np.sort(ratios).round(2).tolist()}"
    )
