"""Batch HDP: ascent after every update, the whole bound, a pass against the online HDP, and the end
of a run.
"""

import numpy as np
import pytest

from stickbreaker.engine import RunSettings, executors, prepare, run
from stickbreaker.engine.algorithm import Phase
from stickbreaker.engine.algorithms import batch_hdp, hdp
from stickbreaker.engine.algorithms.batch_hdp import BatchHDPConfig
from stickbreaker.engine.algorithms.hdp import HDPConfig
from stickbreaker.engine.inference import slot_step
from stickbreaker.engine.inference.concentrations import first_concentrations
from stickbreaker.engine.inference.merging import find_merges
from stickbreaker.engine.inference.slot_step import limits_of
from stickbreaker.engine.inference.states import OnlineHDPState
from stickbreaker.engine.inference.topic_counts import decayed_counts
from tests import naive
from tests.enumeration import CONCENTRATIONS, DOCUMENTS, VOCAB_SIZE, log_evidence_truncated
from tests.small_documents import batch_of, documents_of, documents_of_words, draw_two_topic_counts

V = 40
SMALL = {"max_topics": 10, "max_slots": 4, "precision": "float64"}
PAPER = {"start": "wang", "topic_expectation": "geometric", "duplicates": "keep"}
SYSTEMS = [
    {"start": start, "topic_expectation": each}
    for start in ("warm", "wang")
    for each in ("mean", "geometric")
]


def draw_batch(seed, num_documents=60):
    return batch_of(documents_of(draw_two_topic_counts(seed, num_documents)))


def distinct_state(config, vocab_size=V, seed=3):
    """A state after five passes, whose topics all differ."""
    rng, num_topics = np.random.default_rng(seed), config.max_topics
    counts, tables = rng.gamma(0.4, 4.0, (vocab_size, num_topics)), rng.gamma(2.0, 5.0, num_topics)
    order = np.argsort(-tables, kind="stable")
    return batch_hdp.BatchHDPState(
        topic_counts=decayed_counts(counts),
        tables=tables,
        expected_tokens=3 * tables,
        order=order,
        step=5,
        bound=-np.inf,
        phase=Phase.TWO_LEVEL,
        temperature=1.0,
    )


def take_pass(config, state, batch):
    return executors.step(batch_hdp.ALGORITHM, config, state, batch)


def full_bound(config, documents, fits, state):
    """Eq. 14 by the naive twin, in which topic k has stick k."""
    order = state.order
    u, v = naive.sticks_of(state.tables[order], config.corpus_concentration)
    topic_words = state.topic_counts.dense().T[order] + config.word_concentration
    fits = [fit._replace(phi=fit.phi[:, order]) for fit in fits]
    return naive.bound(documents, fits, u, v, topic_words, config)


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_bound_of_a_pass_equals_its_naive_twin(system):
    config, batch = BatchHDPConfig(**SMALL | system, corpus_concentration=0.7), draw_batch(5, 12)
    start = distinct_state(config)
    weights = [
        naive.weights_of(start.tables, 0.7, each) for each in (naive.mean_sticks, naive.log_sticks)
    ]
    is_geometric = system["topic_expectation"] == "geometric"
    B = naive.topic_weights(start.topic_counts.dense(), config.word_concentration, is_geometric)
    documents = naive.split_rows(batch.documents)
    sweeps, limits = slot_step.START_ITERATIONS, limits_of(config)
    fits = [naive.fit_document(B[words], c, *weights, sweeps, limits) for words, c in documents]
    state, info = take_pass(config, start, batch)
    expected = full_bound(config, documents, fits, state)
    assert state.bound == pytest.approx(expected, rel=1e-10)
    assert info.bound == pytest.approx(expected / batch.documents.counts.sum(), rel=1e-10)


@pytest.mark.parametrize("system", SYSTEMS)
def test_one_pass_is_a_full_batch_of_the_online_hdp_with_rate_1(system):
    config, batch = BatchHDPConfig(**SMALL | system, duplicates="keep"), draw_batch(0)
    online = HDPConfig(**SMALL | system, delay=0.0, batch_size=60, duplicates="keep")
    start = distinct_state(config)
    before = OnlineHDPState(
        topic_counts=start.topic_counts,
        tables=start.tables,
        expected_tokens=start.tables,
        step=0,
        rate_spent=9.0,
        startup_share=1.0,
        phase=Phase.TWO_LEVEL,
        temperature=1.0,
        decided_at=0.0,
        documents_read=0,
        concentrations=first_concentrations(
            online.doc_concentration, online.word_concentration, online.corpus_concentration
        ),
    )
    # A first step scales the start to the corpus; this start has that scale already.
    expectations = hdp.expect(online, before._replace(step=1), batch)
    statistics = hdp.local(online, expectations, batch.documents)
    expected, info = hdp.blend(online, before, statistics, batch)
    assert info.learning_rate == 1.0
    state, _ = take_pass(config, start, batch)
    np.testing.assert_allclose(
        state.topic_counts.dense(), expected.topic_counts.dense(), rtol=1e-9, atol=1e-10
    )
    np.testing.assert_allclose(state.tables, expected.tables, rtol=1e-9)
    np.testing.assert_allclose(state.expected_tokens, expected.expected_tokens, rtol=1e-9)


def bound_at(config, totals, words, of_topics, of_sticks):
    """Eq. 14 at the documents of the totals, the topics of one state and the sticks of another."""
    topic_words = of_topics.topic_counts.dense().T + config.word_concentration
    logs = (naive.psi(topic_words) - naive.psi(topic_words.sum(1, keepdims=True))).T[words]
    order = of_sticks.order
    u, v = naive.sticks_of(of_sticks.tables[order], config.corpus_concentration)
    bound = (
        totals.bound
        + (totals.topic_words * logs).sum()
        + totals.tables[order] @ naive.log_sticks(u, v)
    )
    bound -= naive.beta_divergence(u, v, config.corpus_concentration)
    return bound - naive.dirichlet_divergence(topic_words, config.word_concentration)


@pytest.mark.parametrize("corpus_concentration", [0.5, 1.0, 20.0])
def test_no_iteration_in_documents_and_no_update_of_topics_or_sticks_lowers_the_bound(
    corpus_concentration, monkeypatch
):
    monkeypatch.setattr(slot_step, "TOLERANCE", 0.0)
    config = BatchHDPConfig(**SMALL | PAPER, corpus_concentration=corpus_concentration)
    state, batch = distinct_state(config), draw_batch(5)
    words, bounds = batch.documents.distinct_words(), []
    for _ in range(4):
        bounds.append([])
        expectations = batch_hdp.expect(config, state, batch)
        for number in range(1, 15):
            monkeypatch.setattr(slot_step, "MAX_ITERATIONS", {"wang": number})
            totals = batch_hdp.local(config, expectations, batch.documents)
            bounds[-1].append(bound_at(config, totals, words, state, state))
        new, _ = batch_hdp.blend(config, state._replace(bound=-np.inf), totals, batch)
        bounds[-1] += [bound_at(config, totals, words, new, each) for each in (state, new)]
        assert new.bound == pytest.approx(bounds[-1][-1], rel=1e-11)
        state = new
    bounds = np.array(bounds)
    assert (np.diff(bounds) >= -1e-11 * abs(bounds[:, 1:])).all()
    assert bounds[-1, -1] > bounds[0, 0]


@pytest.mark.parametrize(("num_topics", "num_slots"), [(1, 1), (2, 1), (2, 2), (3, 2), (3, 3)])
@pytest.mark.parametrize("system", SYSTEMS)
def test_the_bound_of_no_pass_exceeds_the_enumerated_evidence_of_the_truncated_model(
    num_topics, num_slots, system
):
    sizes = {
        "max_topics": num_topics,
        "max_slots": num_slots,
        "precision": "float64",
        "duplicates": "keep",
    }
    config = BatchHDPConfig(**sizes | system | CONCENTRATIONS, tolerance=0.0)
    batch = batch_of(documents_of_words(DOCUMENTS))
    evidence = log_evidence_truncated(num_topics, num_slots)
    for seed in range(3):
        state, bounds = distinct_state(config, VOCAB_SIZE, seed), []
        for _ in range(6):
            state, _ = take_pass(config, state, batch)
            bounds.append(state.bound)
        assert bounds == sorted(bounds)
        # With one topic and one slot nothing is approximated.
        assert (
            bounds[-1] == pytest.approx(evidence, abs=1e-12)
            if num_topics == 1
            else bounds[-1] < evidence
        )


def test_a_pass_that_lowers_the_bound_is_rejected_and_ends_the_run_without_convergence():
    config, batch = BatchHDPConfig(**SMALL | PAPER), draw_batch(0)
    state, _ = take_pass(config, distinct_state(config), batch)
    above = state._replace(bound=0.5 * state.bound)
    kept, info = take_pass(config, above, batch)
    assert (info.has_converged, info.has_fallen, info.ends_run) == (False, True, True)
    assert (kept.step, kept.bound) == (above.step + 1, above.bound)
    np.testing.assert_array_equal(kept.topic_counts.dense(), above.topic_counts.dense())


@pytest.mark.parametrize("system", [PAPER, {"duplicates": "merge"}])
def test_a_run_ends_when_its_bound_has_converged_or_would_fall_and_the_bound_never_falls(
    system, state_of_the_union
):
    config = BatchHDPConfig(**system, max_topics=20, tolerance=1e-3)
    corpus = state_of_the_union.select(range(0, 10_000, 50))
    settings = RunSettings(num_evaluations=0, num_moments=0)
    prepared = prepare(batch_hdp.ALGORITHM, config, corpus, settings)
    infos = [update.stepped.info for update in run(prepared)]
    bounds = [info.bound for info in infos if info.phase == "two-level"]
    assert bounds == sorted(bounds)
    assert len(bounds) > 2
    assert [info.ends_run for info in infos] == [False] * (len(infos) - 1) + [True]
    assert infos[-1].has_fallen == (bounds[-1] == bounds[-2])
    assert len(infos) < batch_hdp.ALGORITHM.passes


@pytest.mark.parametrize("corpus_concentration", [0.5, 20.0])
def test_merges_raise_the_bound_by_at_least_their_stated_gain(corpus_concentration):
    config = BatchHDPConfig(**SMALL | PAPER, corpus_concentration=corpus_concentration)
    rng, documents = np.random.default_rng(2), naive.split_rows(draw_batch(5, 12).documents)
    # Slots that divide every topic between two ids, by shares drawn at random.
    halves, fits = rng.dirichlet(np.full(5, 0.4), (12, 4)), []
    for (_, c), phi in zip(documents, halves, strict=True):
        share, zeta = rng.random((4, 5)), rng.dirichlet(np.ones(4), len(c))
        a, b = naive.update_sticks(c, zeta, config.doc_concentration)
        fits.append(naive.Fit(a, b, np.hstack([phi * share, phi * (1 - share)]), zeta))

    def bound_of(fits):
        tables, counts = sum(fit.phi.sum(0) for fit in fits), np.zeros((V, 10))
        for (words, c), fit in zip(documents, fits, strict=True):
            counts[words] += naive.statistics(fit, c)[0]
        order = np.argsort(-tables, kind="stable")
        state = distinct_state(config)._replace(
            topic_counts=decayed_counts(counts), tables=tables, order=order
        )
        return full_bound(config, documents, fits, state), counts, tables

    before, counts, tables = bound_of(fits)
    merging, gain = find_merges(counts.T, tables, config.word_concentration, corpus_concentration)
    assert not merging.is_empty
    assert gain > 0
    after, *_ = bound_of([fit._replace(phi=merging.add_up(fit.phi.T).T) for fit in fits])
    assert after >= before + gain * (1 - 1e-9)
