"""The online HDP by direct assignment: its naive twin, its tables, and the systems with which it
must agree.
"""

import numpy as np
import pytest

from stickbreaker.engine import executors
from stickbreaker.engine.algorithms import direct_hdp, hdp, lda
from stickbreaker.engine.algorithms.direct_hdp import DirectHDPConfig
from stickbreaker.engine.corpora.documents import Documents
from stickbreaker.engine.inference import dirichlet_step
from stickbreaker.engine.inference.dirichlet_step import DocumentExpectations, fit_documents
from stickbreaker.engine.inference.topic_counts import decayed_counts
from stickbreaker.engine.inference.warm_up import iterations_at
from stickbreaker.engine.kernels.dirichlet import Iterations
from stickbreaker.engine.schedules import learning_rate
from tests import naive
from tests.small_documents import batch_of, documents_of, draw_sparse_counts
from tests.small_lda import state_at
from tests.small_states import distinct_state

V, K = 30, 8
SMALL = {
    "max_topics": K,
    "precision": "float64",
    "delay": 1.0,
    "batch_size": 4,
    "duplicates": "keep",
}
SYSTEMS = [
    {"start": start, "topic_expectation": each}
    for start in ("warm", "hoffman")
    for each in ("mean", "geometric")
]
ROUNDING = {"rtol": 1e-9, "atol": 1e-9}


def draw_batch(seed, corpus_size=None):
    return batch_of(documents_of(draw_sparse_counts(seed, vocab_size=V)), corpus_size)


def take_step(config, state, batch):
    return executors.step(direct_hdp.ALGORITHM, config, state, batch)


@pytest.mark.parametrize("phase", ["warm-up", "learning"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_a_whole_step_equals_its_naive_twin(system, phase, monkeypatch):
    monkeypatch.setattr(dirichlet_step, "UNTIL_CONVERGED", Iterations(60, 0.0, 0.0))
    config = DirectHDPConfig(**SMALL | system | {"doc_concentration": 2.0, "delay": 64.0})
    batch = draw_batch(5, corpus_size=300)
    state = distinct_state(config, V, phase)
    rate = learning_rate(6, 64.0, config.forgetting_rate)
    prior = 2.0 * naive.weights_of(state.tables, config.corpus_concentration, naive.mean_sticks)
    temperature = direct_hdp.expect(config, state, batch).temperature
    sweeps = iterations_at(temperature) if phase == "warm-up" else Iterations(60, 0.0, 0.0)
    counts, tables = naive.step_dirichlet(
        config, prior, sweeps, state.topic_counts.dense(), batch, rate
    )
    after, info = take_step(config, state, batch)
    assert info.phase == phase
    np.testing.assert_allclose(after.topic_counts.dense(), counts, **ROUNDING)
    np.testing.assert_allclose(after.tables, (1 - rate) * state.tables + rate * tables, **ROUNDING)


def test_tables_equal_the_expected_number_that_the_tokens_of_a_topic_open():
    # Words 0 and 1 belong to topics 0 and 1 alone; a document's i-th token of topic k opens a table
    # by a_k / (a_k + i).
    prior, counts = np.array([0.7, 0.2, 0.1]), np.array([4, 9], np.int32)
    topics = np.array([[0.5, 1e-300, 1e-300], [1e-300, 0.5, 1e-300]])
    document = Documents(np.array([0, 2]), np.array([0, 1], np.int32), counts)
    statistics, _ = fit_documents(
        document,
        DocumentExpectations(np.arange(2), topics, prior, 0, "learning"),
        Iterations(50, 0.0, 0.0),
        True,
    )
    opened = [sum(prior[k] / (prior[k] + i) for i in range(counts[k])) for k in range(2)]
    np.testing.assert_allclose(statistics.tables, [*opened, 0.0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("phase", ["warm-up", "learning"])
def test_statistics_under_equal_corpus_weights_equal_those_of_lda_bit_for_bit(phase):
    config = DirectHDPConfig(**SMALL)
    peer = lda.LDAConfig(
        **{name: value for name, value in SMALL.items() if name != "duplicates"},
        topic_expectation="mean",
    )
    state, batch = distinct_state(config, V, "learning"), draw_batch(4)
    # λ is the same; of the expectations only the prior may differ.
    expectations = direct_hdp.expect(config, state, batch)._replace(
        prior=np.full(K, 1.0 / K), phase=phase
    )
    theirs = state_at(peer, np.ones((K, V)), step=5)._replace(
        topic_counts=state.topic_counts,
        expected_tokens=state.expected_tokens,
        rate_spent=state.rate_spent,
        startup_share=0.3,
    )
    their_expectations = lda.expect(peer, theirs, batch)._replace(phase=phase)
    statistics = (
        direct_hdp.ALGORITHM.local(config, expectations, batch.documents),
        lda.local(peer, their_expectations, batch.documents),
    )
    np.testing.assert_array_equal(*(naive.gather_counts(each.counts, V, K) for each in statistics))


def test_of_two_equal_topics_the_one_with_more_tables_gets_the_larger_share():
    config = DirectHDPConfig(**SMALL)
    alike = decayed_counts(np.ones((V, K)))
    state = distinct_state(config, V, "learning")._replace(
        topic_counts=alike, tables=np.arange(K) * 10.0
    )
    shares = direct_hdp.infer(config, state, draw_batch(0).documents)
    assert (np.diff(shares, axis=1) > 0).all()


def test_the_warm_up_is_that_of_the_two_level_hdp_bit_for_bit():
    config, peer = DirectHDPConfig(**SMALL), hdp.HDPConfig(**SMALL)
    ours = direct_hdp.init(config, V, np.random.default_rng(1))
    theirs = hdp.init(peer, V, np.random.default_rng(1))
    for seed in range(3):
        batch = draw_batch(seed, corpus_size=10_000)
        ours, info = take_step(config, ours, batch)
        theirs, their_info = executors.step(hdp.ALGORITHM, peer, theirs, batch)
        assert info == their_info
        assert info.phase == "warm-up"
    np.testing.assert_array_equal(ours.topic_counts.dense(), theirs.topic_counts.dense())
    np.testing.assert_array_equal(ours.tables, theirs.tables)
