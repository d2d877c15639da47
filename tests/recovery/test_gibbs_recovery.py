"""The Gibbs sampler of the HDP finds true topics, and the number of topics does not depend on its
start.
"""

import numpy as np
import pytest

from stickbreaker.engine.algorithms import gibbs_hdp
from stickbreaker.engine.inference.gibbs import Assignments, count_tokens, no_averages
from stickbreaker.engine.simulate import simulate_hdp
from tests.enumeration import standard_error
from tests.recovery.true_topics import assert_true_topics, simulate

pytestmark = pytest.mark.extended

NUM_SWEEPS, NUM_DISCARDED = 6000, 1000


def read_whole(corpus):
    return next(corpus.batches(corpus.num_documents))


def count_topics(initial_topics, corpus, seed):
    """Topics with a token after each sweep."""
    config = gibbs_hdp.GibbsHDPConfig(
        initial_topics=initial_topics, word_concentration=0.1, burn_in=10**9
    )
    rng, batch = np.random.default_rng([seed, initial_topics]), read_whole(corpus)
    state, found = gibbs_hdp.init(config, corpus.vocab_size, rng), []
    for sweep in range(NUM_SWEEPS + NUM_DISCARDED):
        state, _ = gibbs_hdp.step(config, state, batch, rng)
        if sweep >= NUM_DISCARDED:
            found.append(len(state.topic_ids))
    return np.array(found, float)


@pytest.mark.parametrize("seed", range(3))
def test_chains_from_one_topic_and_from_thirty_agree_on_the_number_of_topics(seed):
    rng = np.random.default_rng(seed)
    truth = simulate_hdp(rng.dirichlet(np.full(30, 0.1), 5), 60, 15, 1.0, 2.5, rng)
    one, thirty = (count_topics(initial, truth.corpus, seed) for initial in (1, 30))
    error = np.hypot(standard_error(one), standard_error(thirty))
    assert abs(one.mean() - thirty.mean()) <= 3 * error, (
        f"{one.mean():.2f}, {thirty.mean():.2f} ± {error:.2f}"
    )


def assign_truth(truth):
    """Config and state of a sampler at the true assignments."""
    batch, num_topics = read_whole(truth.corpus), len(truth.topics)
    order = np.lexsort(
        (truth.words.ravel(), np.repeat(np.arange(len(truth.words)), truth.words.shape[1]))
    )
    topics = truth.assignments.ravel()[order].astype(np.int32)
    tables = np.array([(truth.assignments == k).any(1).sum() for k in range(num_topics)], float)
    weights = (tables + 1) / (tables.sum() + num_topics + 1)
    config = gibbs_hdp.GibbsHDPConfig(initial_topics=num_topics, burn_in=20, sample_every=1)
    empty = gibbs_hdp.init(config, truth.corpus.vocab_size, None)
    assignments = Assignments(
        batch.doc_ids, count_tokens(batch.documents), topics, empty.assignments.topic_words
    )
    return config, empty._replace(
        assignments=assignments,
        averages=no_averages(num_topics),
        weights=weights,
        tables=tables,
        unused_weight=1.0 - weights.sum(),
    )


@pytest.mark.parametrize("num_topics", [10, 30])
@pytest.mark.parametrize("seed", range(3))
def test_a_chain_from_a_soft_start_finds_nine_topics_in_ten(num_topics, seed):
    truth = simulate(num_topics, seed)
    config = gibbs_hdp.GibbsHDPConfig(start="soft", burn_in=120, sample_every=1)
    state, batch = gibbs_hdp.init(config, truth.corpus.vocab_size, None), read_whole(truth.corpus)
    for number in range(1, 161):
        state, _ = gibbs_hdp.step(config, state, batch, np.random.default_rng([seed, number]))
    assert len(state.topic_ids) >= num_topics
    assert_true_topics(gibbs_hdp.summarize(config, state).topics, truth)


@pytest.mark.parametrize("num_topics", [10, 30])
@pytest.mark.parametrize("seed", range(3))
def test_a_chain_from_the_true_assignments_keeps_nine_topics_in_ten(num_topics, seed):
    truth = simulate(num_topics, seed)
    config, state = assign_truth(truth)
    rng, batch = np.random.default_rng(seed), read_whole(truth.corpus)
    for _ in range(40):
        state, _ = gibbs_hdp.step(config, state, batch, rng)
    assert_true_topics(gibbs_hdp.summarize(config, state).topics, truth)
