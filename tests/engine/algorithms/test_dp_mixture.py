"""The truncated DP mixture: its twin, ascent after every update, the enumerated evidence, and both
forms of a step.
"""

from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp

from stickbreaker.engine import RunSettings, executors, prepare, run
from stickbreaker.engine.algorithms import dp_mixture
from stickbreaker.engine.algorithms.dp_mixture import BatchDPMixtureConfig, DPMixtureConfig
from stickbreaker.engine.inference.topic_counts import decayed_counts
from tests import naive, naive_free
from tests.enumeration import log_places
from tests.small_documents import batch_of, documents_of, draw_two_topic_counts

K, V = 6, 40
SMALL = {
    "max_topics": K,
    "corpus_concentration": 0.7,
    "word_concentration": 0.4,
    "precision": "float64",
}
CONFIG, ONLINE = BatchDPMixtureConfig(**SMALL, tolerance=0.0), DPMixtureConfig(**SMALL, delay=0.0)
BAGS = np.array([[2, 0, 1], [0, 1, 1], [1, 0, 0], [0, 3, 1], [0, 0, 2]])


def distinct_state(config, vocab_size=V, seed=3):
    """A state after a step, whose components all differ and are in the order of the sticks."""
    rng, num_topics = np.random.default_rng(seed), config.max_topics
    counts = rng.gamma(0.4, 4.0, (vocab_size, num_topics))
    tables = np.sort(rng.gamma(2.0, 5.0, num_topics))[::-1]
    state = dp_mixture.init(config, vocab_size, rng)
    return state._replace(
        topic_counts=decayed_counts(counts), tables=tables, expected_tokens=counts.sum(0), step=1
    )


def globals_of(config, state):
    """λ (K, V) and the sticks of a state, components in the order of the sticks."""
    lam = state.topic_counts.dense().T + config.word_concentration
    return lam[state.order], naive.sticks_of(state.tables[state.order], config.corpus_concentration)


def take_pass(config, state, batch):
    return executors.step(dp_mixture.BATCH, config, state, batch)


def test_q_of_a_document_equals_its_naive_twin():
    state, bags = distinct_state(CONFIG), draw_two_topic_counts(0)
    lam, sticks = globals_of(CONFIG, state)
    expected = [naive.mixture_shares(c, lam, naive.log_sticks(*sticks)) for c in bags]
    found = dp_mixture.infer(CONFIG, state, documents_of(bags))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_a_pass_and_its_bound_equal_their_naive_twins():
    state, bags = distinct_state(CONFIG), draw_two_topic_counts(1)
    lam, sticks = globals_of(CONFIG, state)
    q = np.array([naive.mixture_shares(c, lam, naive.log_sticks(*sticks)) for c in bags])
    new, _ = take_pass(CONFIG, state, batch_of(documents_of(bags)))
    q = q[:, new.order]
    lam, *sticks = naive.mixture_globals(bags, q, 0.7, 0.4)
    found, of_sticks = globals_of(CONFIG, new)
    np.testing.assert_allclose(found, lam, rtol=1e-9)
    np.testing.assert_allclose(of_sticks, sticks, rtol=1e-9)
    np.testing.assert_allclose(new.expected_tokens[new.order], bags.sum(1) @ q, rtol=1e-9)
    assert new.bound == pytest.approx(
        naive.mixture_bound(bags, q, lam, sticks, 0.7, 0.4), rel=1e-11
    )


@pytest.mark.parametrize("corpus_concentration", [0.5, 1.0, 20.0])
def test_no_update_of_documents_components_or_sticks_lowers_the_bound(corpus_concentration):
    config = BatchDPMixtureConfig(
        **SMALL | {"corpus_concentration": corpus_concentration}, tolerance=0.0
    )
    state, bags, bounds = distinct_state(config), draw_two_topic_counts(5), []
    batch = batch_of(documents_of(bags))
    known = corpus_concentration, config.word_concentration
    for _ in range(6):
        lam, sticks = globals_of(config, state)
        new, _ = take_pass(config, state._replace(bound=-np.inf), batch)
        q = dp_mixture.infer(config, state, batch.documents)[:, state.order]
        bounds.append(naive.mixture_bound(bags, q, lam, sticks, *known))
        of_old_order = new.topic_counts.dense().T[state.order] + config.word_concentration
        bounds.append(naive.mixture_bound(bags, q, of_old_order, sticks, *known))
        # The new state may have a better order of the sticks.
        bounds.append(new.bound)
        state = new
    assert (np.diff(bounds) >= -1e-11 * np.abs(bounds[1:])).all()
    assert bounds[-1] > bounds[0]


def log_evidence(num_topics):
    """log p(words) of the mixture with K components: the sum over all assignments."""
    terms = []
    for z in product(range(num_topics), repeat=len(BAGS)):
        of_words = naive_free.log_topics(z, list(BAGS), np.zeros((0, 3)), CONFIG.word_concentration)
        terms.append(log_places(z, num_topics, CONFIG.corpus_concentration) + of_words)
    return logsumexp(terms)


@pytest.mark.parametrize("num_topics", [1, 2, 4])
def test_the_bound_rises_and_never_exceeds_the_enumerated_evidence(num_topics):
    config = BatchDPMixtureConfig(**SMALL | {"max_topics": num_topics}, tolerance=0.0)
    evidence, batch = log_evidence(num_topics), batch_of(documents_of(BAGS))
    for seed in range(5):
        state, bounds = distinct_state(config, 3, seed), []
        for _ in range(8):
            state, _ = take_pass(config, state, batch)
            bounds.append(state.bound)
        assert bounds == sorted(bounds)
        # With one component nothing is approximated.
        assert (
            bounds[-1] == pytest.approx(evidence, abs=1e-12)
            if num_topics == 1
            else bounds[-1] < evidence
        )


def test_a_stochastic_step_of_rate_one_over_all_documents_is_a_pass_of_coordinate_ascent():
    batch, start = batch_of(documents_of(draw_two_topic_counts(2))), distinct_state(CONFIG)
    expectations = dp_mixture.expect(ONLINE, start, batch)
    statistics = dp_mixture.local(ONLINE, expectations, batch.documents)
    stepped, info = dp_mixture.blend(ONLINE, start._replace(step=0), statistics, batch)
    assert (info.learning_rate, info.startup_share) == (1.0, 0.0)
    passed, _ = take_pass(CONFIG, start, batch)
    np.testing.assert_allclose(
        stepped.topic_counts.dense(), passed.topic_counts.dense(), rtol=1e-9, atol=1e-10
    )
    np.testing.assert_allclose(stepped.tables, passed.tables, rtol=1e-9)
    np.testing.assert_allclose(stepped.expected_tokens, passed.expected_tokens, rtol=1e-9)


def test_the_mean_of_the_targets_of_equal_mini_batches_is_the_target_of_the_whole_corpus():
    counts, start = draw_two_topic_counts(4, 12), distinct_state(CONFIG)._replace(step=0)
    whole, *parts = (batch_of(documents_of(part), 12) for part in (counts, *np.split(counts, 3)))
    targets = [
        executors.step(dp_mixture.ALGORITHM, ONLINE, start, batch)[0] for batch in (whole, *parts)
    ]
    dense = [each.topic_counts.dense() for each in targets]
    np.testing.assert_allclose(np.mean(dense[1:], 0), dense[0], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(
        np.mean([each.tables for each in targets[1:]], 0), targets[0].tables, rtol=1e-9
    )


@pytest.mark.parametrize(
    "algorithm", [dp_mixture.ALGORITHM, dp_mixture.BATCH], ids=lambda each: each.name
)
def test_documents_without_a_common_word_share_no_component(algorithm):
    kinds = np.tile(np.arange(4), 6)
    batch = batch_of(
        documents_of(np.kron(np.eye(4, dtype=np.int32)[kinds], np.full((1, V // 4), 3, np.int32)))
    )
    config = algorithm.config(max_topics=20)
    state = algorithm.init(config, V, np.random.default_rng(0))
    for _ in range(10):
        state, _ = executors.step(algorithm, config, state, batch)
    shares = algorithm.infer(config, state, batch.documents)
    assert shares.max(1).min() > 0.99
    assert all(len(set(kinds[shares.argmax(1) == k])) == 1 for k in set(shares.argmax(1)))


def test_a_run_ends_when_its_bound_has_converged_and_the_bound_never_falls(state_of_the_union):
    corpus = state_of_the_union.select(range(0, 10_000, 50))
    config = BatchDPMixtureConfig(max_topics=20, tolerance=1e-4)
    settings = RunSettings(num_evaluations=0, num_moments=0)
    infos = [each.stepped.info for each in run(prepare(dp_mixture.BATCH, config, corpus, settings))]
    bounds = [info.bound for info in infos]
    assert bounds == sorted(bounds)
    assert [info.ends_run for info in infos] == [False] * (len(infos) - 1) + [True]
    assert 2 < len(infos) < dp_mixture.BATCH.passes
