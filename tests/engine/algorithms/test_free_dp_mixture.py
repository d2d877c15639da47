"""The truncation-free DP mixture: q(z) in closed form and by enumeration, new components, and their
removal.
"""

import numpy as np
import pytest

from stickbreaker.engine.algorithms import free_dp_mixture
from stickbreaker.engine.algorithms.free_dp_mixture import FreeDPMixtureConfig
from stickbreaker.engine.inference.expectations import log_expected_likelihood
from stickbreaker.engine.inference.truncation_free import REMOVE_EVERY
from tests import naive_free
from tests.enumeration import probabilities, standard_error
from tests.small_documents import batch_of, documents_of
from tests.small_states import growing_state

CONFIG = FreeDPMixtureConfig(corpus_concentration=0.7, word_concentration=0.4, precision="float64")
KNOWN = np.array([[3.0, 0.4, 1.0], [1.0, 2.0, 0.5]])
BAGS = np.array([[2, 0, 1], [0, 1, 1], [1, 0, 0], [0, 20, 3]])
NUM_ERRORS = 5


def make_state(counts=KNOWN, documents=(2.5, 1.5)):
    """A state that has components with these counts (K, V)."""
    return growing_state(counts, documents, documents_seen=4)


NOTHING = make_state(np.zeros((0, 3)), ())


@pytest.mark.parametrize("bag", BAGS)
@pytest.mark.parametrize("state", [NOTHING, make_state()], ids=["no component", "two components"])
def test_q_of_one_document_equals_its_closed_form(state, bag):
    num_known = len(state.topic_ids)
    u, v = 1.0 + state.tables, 0.7 + np.append(state.tables[1:], 0.0)[:num_known]
    left = np.append(1.0, np.cumprod(v / (u + v)))
    lam = np.vstack([state.topic_counts.dense().T, np.zeros(3)]) + 0.4
    odds = log_expected_likelihood(bag, lam) + np.log(left * np.append(u / (u + v), 1.0))
    documents, shares = documents_of(bag[None]), np.empty(num_known + free_dp_mixture.FIRST_ROOM)
    words, prior = documents.distinct_words(), free_dp_mixture.prior_of(CONFIG, state)
    components, z = free_dp_mixture.open_components(CONFIG, state, words), np.array([-1], np.int32)
    own = documents.indexed(words)
    free_dp_mixture.sample_components(
        own, components, prior, 0, np.random.default_rng(0), z, shares
    )
    np.testing.assert_allclose(shares[: num_known + 1], probabilities(odds), rtol=1e-10)
    assert not shares[num_known + 1 :].any()


def test_samples_of_one_document_have_the_frequencies_of_the_closed_form():
    config = FreeDPMixtureConfig(**vars(CONFIG) | {"num_samples": 1000})
    rng = np.random.default_rng(0)
    exact = naive_free.mixture_posterior(BAGS[:1], KNOWN + 0.4, ([3.5, 2.5], [2.2, 0.7]), 0.7, 0.4)
    shares = probabilities([log_p for _, log_p in exact])
    found = free_dp_mixture.sample_batch(config, make_state(), documents_of(BAGS[:1]), rng)
    errors = np.sqrt(shares * (1 - shares) / 1000)
    assert (abs(found.tables[:3] - shares) <= NUM_ERRORS * errors).all()


@pytest.mark.parametrize("state", [NOTHING, make_state()], ids=["no component", "two components"])
def test_the_frequencies_of_the_sampler_are_those_of_the_enumerated_posterior(state):
    num_known, rng = len(state.topic_ids), np.random.default_rng(2)
    lam, documents = state.topic_counts.dense().T + 0.4, documents_of(BAGS)
    prior = free_dp_mixture.prior_of(CONFIG, state)
    exact = naive_free.mixture_posterior(BAGS, lam, (prior.on, prior.after), 0.7, 0.4)
    shares = probabilities([log_p for _, log_p in exact])
    places = {z: j for j, (z, _) in enumerate(exact)}
    words = documents.distinct_words()
    own = documents.indexed(words)
    components = free_dp_mixture.open_components(CONFIG, state, words)
    z, seen = np.full(len(BAGS), -1, np.int32), np.zeros((15_000, len(exact)), bool)
    for number in range(-100, len(seen)):
        components = free_dp_mixture.make_pass(own, components, prior, rng, z)
        if number >= 0:
            seen[number, places[naive_free.name_new(z, num_known)]] = True
    usual = shares > 1e-3
    assert (abs(seen.mean(0) - shares)[usual] <= NUM_ERRORS * standard_error(seen)[usual]).all()
    assert abs(seen[:, usual].any(1).mean() - shares[usual].sum()) <= NUM_ERRORS * standard_error(
        seen[:, usual].any(1)
    )


def make_batch(bags, corpus_size):
    return batch_of(documents_of(bags), corpus_size)


def test_documents_without_a_common_word_create_components_that_keep_their_ids():
    rng, state = np.random.default_rng(0), free_dp_mixture.init(FreeDPMixtureConfig(), 40, None)
    bags = np.kron(np.tile(np.eye(4, dtype=int), (6, 1)), np.full((1, 10), 3))
    for number in range(3):
        before = state
        state, info = free_dp_mixture.step(
            FreeDPMixtureConfig(), before, make_batch(bags, 240), rng
        )
        assert state.topic_ids[: len(before.topic_ids)].tolist() == before.topic_ids.tolist()
        assert info.learning_rate == pytest.approx(1 / (number + 1))
    np.testing.assert_allclose(np.sort(state.tables)[-4:], 60.0, rtol=0.05)
    assert state.tables.sum() == pytest.approx(240)
    shares = free_dp_mixture.infer(FreeDPMixtureConfig(), state, documents_of(bags))
    assert shares.max(1).min() > 0.99
    np.testing.assert_allclose(state.expected_tokens, 30 * state.tables)


def test_a_batch_that_runs_out_of_columns_continues_where_it_stopped(monkeypatch):
    bags, ends = np.kron(np.eye(20, dtype=int), np.full((1, 2), 40)), []
    for room in (1, 50):
        monkeypatch.setattr(free_dp_mixture, "FIRST_ROOM", room)
        state = free_dp_mixture.init(FreeDPMixtureConfig(), 40, None)
        ends.append(
            free_dp_mixture.step(
                FreeDPMixtureConfig(), state, make_batch(bags, 20), np.random.default_rng(0)
            )
        )
    assert len(ends[0][0].topic_ids) >= 20
    np.testing.assert_array_equal(ends[0][0].topic_counts.dense(), ends[1][0].topic_counts.dense())


def test_components_below_one_document_are_removed_every_twenty_thousand_documents():
    counts = np.array([[50.0, 0.0, 3.0], [20.0, 10.0, 0.0], [0.0, 30.0, 9.0]])
    state = make_state(counts, (5.0, 0.5, 4.0))._replace(documents_seen=REMOVE_EVERY - 1)
    batch = make_batch(BAGS[:1], 1_000_000)
    after, _ = free_dp_mixture.step(CONFIG, state, batch, np.random.default_rng(0))
    assert after.topic_ids[:2].tolist() == [0, 2]
    assert after.next_id >= 3


def test_a_document_alone_in_a_component_has_one_component_in_all_samples():
    state, config = free_dp_mixture.init(CONFIG, 40, None), FreeDPMixtureConfig(num_samples=20)
    for bags in (np.eye(40, dtype=int)[:1] * 50, np.eye(40, dtype=int)[:3] * 50):
        found = free_dp_mixture.sample_batch(
            config, state, documents_of(bags), np.random.default_rng(0)
        )
        assert found.tables[: len(bags)].tolist() == [1.0] * len(bags)
