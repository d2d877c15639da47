"""The online HDP: whole steps against naive twins, identities, and extreme settings."""

from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
import pytest

from stickbreaker.engine import executors
from stickbreaker.engine.algorithms import direct_hdp, hdp
from stickbreaker.engine.algorithms.direct_hdp import DirectHDPConfig
from stickbreaker.engine.algorithms.hdp import HDPConfig
from stickbreaker.engine.estimators import OnlineHDP
from stickbreaker.engine.evaluation.held_out import count_topics
from stickbreaker.engine.inference.slot_step import START_ITERATIONS, limits_of
from stickbreaker.engine.inference.warm_up import iterations_at
from stickbreaker.engine.parallel import threads
from stickbreaker.engine.schedules import learning_rate
from stickbreaker.engine.simulate import simulate_hdp
from tests import naive
from tests.small_documents import batch_of, documents_of, draw_two_topic_counts
from tests.small_states import distinct_state

V, D = 40, 60
SYSTEMS = [
    {"start": start, "topic_expectation": each}
    for start in hdp.STARTS
    for each in ("mean", "geometric")
]
SMALL = {
    "max_topics": 10,
    "max_slots": 4,
    "precision": "float64",
    "delay": 1.0,
    "batch_size": 4,
    "duplicates": "keep",
}


# The online HDP with two levels and by direct assignment.
CONFIGS = [HDPConfig(**SMALL | system) for system in SYSTEMS]
CONFIGS += [
    DirectHDPConfig(**{name: value for name, value in SMALL.items() if name != "max_slots"})
]
ALGORITHMS = {each.config: each for each in (hdp.ALGORITHM, direct_hdp.ALGORITHM)}
of_configs = pytest.mark.parametrize("config", CONFIGS, ids=lambda each: type(each).__name__)


def draw_batch(seed, num_documents=D, corpus_size=None):
    return batch_of(documents_of(draw_two_topic_counts(seed, num_documents)), corpus_size)


def take_steps(config, batches, state=None):
    state = hdp.init(config, V, np.random.default_rng(1)) if state is None else state
    for batch in batches:
        state, _ = executors.step(ALGORITHMS[type(config)], config, state, batch)
    return state


def assert_same(one, other, **tolerance):
    """States are equal: bit for bit, or within a tolerance."""
    for name in ("tables", "expected_tokens"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), **tolerance)
    np.testing.assert_allclose(one.topic_counts.dense(), other.topic_counts.dense(), **tolerance)


BITS = {"rtol": 0, "atol": 0}
ROUNDING = {"rtol": 1e-9, "atol": 1e-9}


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("phase", ["warm-up", "two-level"])
def test_a_whole_step_equals_its_naive_twin(system, phase):
    config = HDPConfig(**SMALL | system | {"delay": 64.0})
    batch, state = draw_batch(5, 12, corpus_size=100), distinct_state(config, V, phase)
    rate = learning_rate(state.step + 1, 64.0, config.forgetting_rate)
    pair = state.topic_counts.dense(), state.tables
    temperature = hdp.expect(config, state, batch).temperature
    local_settings = iterations_at(temperature), START_ITERATIONS, limits_of(config)
    counts, tables = naive.step(config, local_settings, phase, pair, batch, rate)
    ours = take_steps(config, [batch], state)
    assert ours.phase == phase
    np.testing.assert_allclose(ours.topic_counts.dense(), counts, **ROUNDING)
    np.testing.assert_allclose(ours.topic_counts.totals, counts.sum(0), **ROUNDING)
    np.testing.assert_allclose(ours.tables, tables, **ROUNDING)


@of_configs
def test_a_full_batch_with_rate_1_is_coordinate_ascent(config):
    config, algorithm = replace(config, delay=0.0, batch_size=D), ALGORITHMS[type(config)]
    batch, start = draw_batch(0), distinct_state(config, V)._replace(step=0)
    expected = algorithm.local(config, algorithm.expect(config, start, batch), batch.documents)
    state = take_steps(config, [batch], start)
    words = np.unique(batch.documents.words)
    dense = naive.gather_counts(expected.counts, len(words), config.max_topics)
    np.testing.assert_allclose(state.topic_counts.rows(words), dense, **ROUNDING)
    assert not state.topic_counts.rows(np.setdiff1d(np.arange(V), words)).any()
    np.testing.assert_allclose(state.tables, expected.tables, **ROUNDING)
    assert state.startup_share == 0.0


@of_configs
def test_the_mean_of_targets_over_equal_mini_batches_is_the_full_target(config):
    counts, start = draw_two_topic_counts(4), distinct_state(config, V)
    full = take_steps(config, [batch_of(documents_of(counts))], start)
    parts = [
        take_steps(config, [batch_of(documents_of(part), D)], start) for part in np.split(counts, 6)
    ]
    for read in (lambda s: s.tables, lambda s: s.expected_tokens, lambda s: s.topic_counts.dense()):
        np.testing.assert_allclose(
            np.mean([read(part) for part in parts], axis=0), read(full), **ROUNDING
        )


@pytest.mark.parametrize("phase", ["warm-up", "two-level"])
@of_configs
def test_the_labels_of_topics_do_not_matter(config, phase):
    state, batch = distinct_state(config, V, phase), draw_batch(2)
    labels = np.random.default_rng(0).permutation(config.max_topics)

    def relabel(state):
        counts = state.topic_counts.keep(labels)
        tables, tokens = state.tables[labels], state.expected_tokens[labels]
        return state._replace(topic_counts=counts, tables=tables, expected_tokens=tokens)

    assert_same(
        relabel(take_steps(config, [batch], state)),
        take_steps(config, [batch], relabel(state)),
        **ROUNDING,
    )


@pytest.mark.parametrize("phase", ["warm-up", "two-level"])
def test_statistics_of_shards_add_up_to_those_of_the_whole(phase):
    config = HDPConfig(**SMALL)
    batch = draw_batch(1, 200)
    expectations = hdp.expect(config, distinct_state(config, V, phase), batch)
    shards = executors.shard(batch.documents)
    assert len(shards) > 1
    summed = reduce(add, [hdp.local(config, expectations, each) for each in shards])
    whole, num_words = hdp.local(config, expectations, batch.documents), len(expectations.words)
    for read in (
        lambda s: s.tables,
        lambda s: s.tokens,
        lambda s: naive.gather_counts(s.counts, num_words, 10),
    ):
        np.testing.assert_allclose(read(summed), read(whole), **ROUNDING)


def test_a_run_is_the_same_bit_for_bit_for_any_number_of_threads(monkeypatch):
    config = HDPConfig(max_topics=10, delay=1.0, batch_size=16)
    batches = [draw_batch(seed, 200) for seed in range(3)]
    states = []
    for num_threads in (1, 5):
        monkeypatch.setattr(threads, "count_cores", lambda number=num_threads: number)
        states.append(take_steps(config, batches))
    assert_same(*states, **BITS)


def test_expected_tokens_leave_out_the_start_and_approach_the_corpus():
    config, batch = HDPConfig(**SMALL | {"delay": 3.0}), draw_batch(9)
    start = hdp.init(config, V, np.random.default_rng(1))
    state = take_steps(config, [batch] * 5, start)
    expected = (1 - state.startup_share) * batch.documents.num_tokens
    assert state.expected_tokens.sum() == pytest.approx(expected, rel=1e-9)
    # The start is drawn for one document, and the first batch scales it to the corpus.
    left = batch.corpus_size * start.topic_counts.totals.sum() * state.startup_share
    assert state.topic_counts.totals.sum() - state.expected_tokens.sum() == pytest.approx(
        left, rel=1e-9
    )


@pytest.mark.parametrize(
    ("algorithm", "start", "first", "last"),
    [
        (hdp.ALGORITHM, "warm", "warm-up", "two-level"),
        (hdp.ALGORITHM, "wang", "two-level", "two-level"),
        (hdp.ALGORITHM, "wang-code", "two-level", "two-level"),
        (hdp.ALGORITHM, "svi", "two-level", "two-level"),
        (direct_hdp.ALGORITHM, "warm", "warm-up", "learning"),
        (direct_hdp.ALGORITHM, "hoffman", "learning", "learning"),
    ],
)
def test_the_warm_up_ends_once_and_only_the_warm_start_has_one(algorithm, start, first, last):
    config, phases = algorithm.config(max_topics=5, delay=1.0, start=start, batch_size=10), []
    state = algorithm.init(config, V, np.random.default_rng(1))
    for _ in range(12):
        state, info = executors.step(algorithm, config, state, draw_batch(0, 10, D))
        phases.append(info.phase)
    assert (phases[0], phases[-1]) == (first, last)
    assert phases == sorted(phases, reverse=True)


def test_at_a_truncation_of_twice_the_true_number_of_topics_the_mean_number_is_within_a_tenth_of_the_true_one():
    found, true_numbers = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        simulation = simulate_hdp(rng.dirichlet(np.full(600, 0.1), 10), 1000, 50, 1.0, 5.0, rng)
        found.append(OnlineHDP(max_topics=20, random_state=0).fit(simulation.corpus).n_topics_)
        true_numbers.append(count_topics(simulation.topic_words().sum(1).astype(float)))
    assert np.mean(found) == pytest.approx(np.mean(true_numbers), rel=0.1)


def test_the_start_of_figure_9_is_that_of_wang_with_corpus_sticks_at_their_prior():
    starts, batch = ("svi", "wang"), draw_batch(0)
    svi, wang = (
        hdp.init(HDPConfig(start=each, max_topics=150), V, np.random.default_rng(0))
        for each in starts
    )
    np.testing.assert_array_equal(svi.topic_counts.dense(), wang.topic_counts.dense())
    u, v = np.ones(149), np.ones(149)
    expected = naive.log_sticks(u, v)
    read = hdp.expect(HDPConfig(start="svi"), svi, batch).expected_log_weights
    np.testing.assert_allclose(read, expected, rtol=1e-5)


def test_the_first_update_of_figure_9_leaves_the_slots_of_words_uniform():
    rng, num_slots = np.random.default_rng(0), 3
    logs, c = np.log(rng.dirichlet(np.ones(5), 6).T), np.array([1.0, 2.0, 1.0, 3.0, 1.0])
    zeta = np.tile(naive.softmax(c @ logs), (num_slots, 1))
    phi = naive.softmax(logs @ zeta.T, axis=1)
    np.testing.assert_allclose(phi, 1 / num_slots, rtol=1e-12)


def test_the_same_topic_keeps_its_id_when_the_order_of_weights_changes():
    config, state = HDPConfig(**SMALL), distinct_state(HDPConfig(**SMALL), V)
    before = hdp.ALGORITHM.summarize(config, state)
    after = hdp.ALGORITHM.summarize(config, state._replace(tables=state.tables[::-1].copy()))
    np.testing.assert_array_equal(before.topic_ids, after.topic_ids)
    np.testing.assert_array_equal(before.topics, after.topics)
    assert np.argmax(before.weights) != np.argmax(after.weights)
