"""Topics that a corpus was drawn from are found again."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from engine.algorithms import REGISTRY
from engine.run import run
from engine.settings import RunSettings
from engine.simulate import simulate_topics

QUIET = RunSettings(num_evaluations=0, num_snapshots=0, score_next_batch=False, num_test=100)


def fit(algorithm, config, corpus):
    """The summary at the end of one pass."""
    *_, finished = run(algorithm, config, corpus, QUIET)
    return algorithm.summarize(config, finished.state)


@pytest.mark.parametrize("algorithm", REGISTRY, ids=lambda each: each.name)
@pytest.mark.parametrize("max_topics", [150, 300])
def test_every_true_topic_is_found_within_five_standard_errors(algorithm, max_topics):
    rng = np.random.default_rng(0)
    corpus, topics, topic_words = simulate_topics(rng.dirichlet(np.full(500, 0.05), 20), 5000, 80, 1.0, rng)
    found = fit(algorithm, algorithm.config(max_topics=max_topics, batch_size=64), corpus).topics.astype(float)
    tokens = topic_words.sum(1, keepdims=True)
    distance = 0.5 * abs(found[:, None] - (topic_words / tokens)[None]).sum(-1)
    matched, true = linear_sum_assignment(distance)
    # The mean distance of a topic estimated from its own tokens: E|x| = sqrt(2/π) σ, word by word.
    error = 0.5 * np.sqrt(2 / np.pi * topics * (1 - topics) / tokens).sum(1)
    assert (distance[matched, true] <= 5 * error[true]).all()
