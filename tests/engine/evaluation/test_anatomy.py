"""Traces, sticks and previewed steps of algorithms against naive twins and the next step."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stickbreaker.engine import REGISTRY, RunSettings, find_algorithm, prepare, run
from stickbreaker.engine.algorithms import hdp
from stickbreaker.engine.algorithms.hdp import HDPConfig
from stickbreaker.engine.evaluation.anatomy import (
    CONVERGED_SHARE,
    MOST_ITERATIONS,
    NO_TOPIC,
    break_stick,
    preview_step,
    step_topic,
    trace_document,
)
from stickbreaker.engine.inference.slot_step import START_ITERATIONS, limits_of
from stickbreaker.engine.runs.checkpoint import flatten
from stickbreaker.engine.runs.run import next_batch
from tests import naive
from tests.small_documents import batch_of, documents_of, draw_two_topic_counts
from tests.small_states import distinct_state

V = 40
SMALL = {"max_topics": 10, "max_slots": 4, "precision": "float64", "corpus_concentration": 0.7}
SYSTEMS = [
    {"start": start, "topic_expectation": each}
    for start in ("warm", "wang")
    for each in ("mean", "geometric")
]
STEPPING = [each.name for each in REGISTRY if each.preview is not None]


def fit_naively(config, state, document, num_iterations):
    words, c = document
    weights = [
        naive.weights_of(state.tables, 0.7, each) for each in (naive.mean_sticks, naive.log_sticks)
    ]
    B = naive.topic_weights(
        state.topic_counts.dense(),
        config.word_concentration,
        config.topic_expectation == "geometric",
    )
    limits = limits_of(config)._replace(num_iterations=num_iterations, tolerance=0.0)
    fit = naive.fit_document(B[words], c, *weights, START_ITERATIONS, limits)
    return fit, naive.document_bound(np.log(B[words]), c, fit, config.doc_concentration, weights[1])


@pytest.mark.parametrize("system", SYSTEMS)
def test_slots_and_the_bound_after_every_iteration_equal_their_naive_twins(system):
    config, documents = HDPConfig(**SMALL | system), documents_of(draw_two_topic_counts(5, 12))
    state = distinct_state(config, V)
    trace = trace_document(hdp.ALGORITHM, config, state, documents, 6)
    document = naive.split_rows(documents)[0]
    assert 3 <= len(trace.bounds) <= 6
    for i in range(len(trace.bounds)):
        fit, bound = fit_naively(config, state, document, i + 1)
        np.testing.assert_allclose(trace.slot_topics[i], fit.phi[:, trace.topic_ids], atol=1e-9)
        np.testing.assert_allclose(trace.tokens[i], document[1] @ fit.zeta, atol=1e-9)
        np.testing.assert_allclose(trace.shares[i], naive.mean_sticks(fit.a, fit.b), atol=1e-12)
        assert trace.bounds[i] == pytest.approx(bound, rel=1e-9)


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_last_iteration_that_a_run_takes_has_the_inferred_shares(system):
    config, documents = HDPConfig(**SMALL | system), documents_of(draw_two_topic_counts(5, 12))
    state = distinct_state(config, V)
    for place in range(6):
        document = documents.cut(place, place + 1)
        trace = trace_document(
            hdp.ALGORITHM, config, state, document, limits_of(config).num_iterations
        )
        last = trace.num_taken - 1
        inferred = hdp.infer(config, state, document)[0]
        np.testing.assert_allclose(
            trace.shares[last] @ trace.slot_topics[last], inferred[trace.topic_ids], atol=1e-12
        )


@given(
    st.integers(0, 2**32),
    st.sampled_from(SYSTEMS),
    st.sampled_from([0.01, 0.5]),
    st.sampled_from([0.1, 1.0, 5.0]),
)
@example(0, {}, 0.01, 1.0)
def test_the_bound_of_a_document_never_falls(seed, system, word_concentration, doc_concentration):
    concentrations = {
        "word_concentration": word_concentration,
        "doc_concentration": doc_concentration,
    }
    config = HDPConfig(**SMALL | system | concentrations)
    counts = np.random.default_rng(seed).poisson(
        np.random.default_rng(seed).gamma(0.3, 4.0, (1, V))
    )
    trace = trace_document(
        hdp.ALGORITHM, config, distinct_state(config, V), documents_of(counts), 20
    )
    assert (np.diff(trace.bounds) >= -1e-9).all()


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_trace_ends_when_slots_have_settled_and_not_before_the_last_iteration_of_a_run(system):
    config, documents = HDPConfig(**SMALL | system), documents_of(draw_two_topic_counts(5, 12))
    for place in range(6):
        document = documents.cut(place, place + 1)
        trace = trace_document(hdp.ALGORITHM, config, distinct_state(config, V), document)
        moved = abs(np.diff(trace.tokens, axis=0)).sum(1) / 2 / document.counts.sum()
        assert moved[-1] < CONVERGED_SHARE
        assert (moved[trace.num_taken - 1 : -1] >= CONVERGED_SHARE).all()
        assert trace.num_taken <= len(trace.bounds) == len(trace.tokens) < MOST_ITERATIONS


def test_a_document_without_words_has_empty_slots():
    config = HDPConfig(**SMALL)
    empty = documents_of(np.zeros((1, V), int))
    trace = trace_document(hdp.ALGORITHM, config, distinct_state(config, V), empty, 3)
    assert not trace.tokens.any()
    assert np.isfinite(trace.bounds).all()
    np.testing.assert_allclose(trace.shares.sum(1), 1.0)


def learn(algorithm, corpus, passes):
    """The config and the last state of a run."""
    prepared = prepare(
        algorithm, algorithm.config(), corpus, RunSettings(passes=passes, num_evaluations=0)
    )
    *_, last = run(prepared)
    return prepared.config, last.state


@pytest.mark.parametrize(
    "algorithm", [each for each in REGISTRY if each.stick], ids=lambda each: each.name
)
def test_the_parts_of_the_stick_are_the_weights_of_the_summary(algorithm, tiny_corpus):
    config, state = learn(algorithm, tiny_corpus, passes=3)
    stick = break_stick(algorithm, config, state)
    assert stick.weights.sum() == pytest.approx(1.0)
    left = 1.0
    for cut, weight in zip(stick.cuts, stick.weights, strict=True):
        assert weight == pytest.approx(left * cut, abs=1e-12)
        left -= weight
    summary, is_topic = algorithm.summarize(config, state), stick.topic_ids != NO_TOPIC
    weight_of = dict(zip(summary.topic_ids.tolist(), summary.weights, strict=True))
    own = stick.weights[is_topic] / stick.weights[is_topic].sum()
    expected = [weight_of[topic_id] for topic_id in stick.topic_ids[is_topic].tolist()]
    np.testing.assert_allclose(own, np.array(expected) / sum(expected), rtol=1e-9)


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_target_of_a_mini_batch_equals_a_naive_step_with_rate_1(system):
    config = HDPConfig(**SMALL | system, delay=3.0, batch_size=8)
    state, batch = distinct_state(config, V), batch_of(documents_of(draw_two_topic_counts(5, 12)))
    noisy = preview_step(hdp.ALGORITHM, config, state, batch)
    settings = None, START_ITERATIONS, limits_of(config)
    expected, _ = naive.step(
        config, settings, "two-level", (state.topic_counts.dense(), state.tables), batch, 1.0
    )
    dense = np.zeros_like(expected)
    dense[noisy.words] = noisy.target
    np.testing.assert_allclose(dense, expected, rtol=1e-9, atol=1e-9)
    assert (noisy.step, noisy.learning_rate) == (6, pytest.approx((3.0 + 6) ** -0.6))


@pytest.mark.parametrize("name", STEPPING)
def test_a_previewed_topic_equals_the_topic_after_the_next_step(name, tiny_corpus):
    algorithm, settings = find_algorithm(name), RunSettings(passes=8, num_evaluations=0)
    unmerged = {} if name == "lda" else {"duplicates": "keep"}
    config = algorithm.config(
        max_topics=4, batch_size=4, delay=1.0, precision="float64", **unmerged
    )
    prepared = prepare(algorithm, config, tiny_corpus, settings)
    for before, after in pairwise(update.stepped for update in run(prepared)):
        batch = next_batch(prepared.algorithm, config, prepared.train, before.documents_seen)
        noisy = preview_step(algorithm, config, before.state, batch)
        assert (noisy.step, noisy.learning_rate) == (after.info.step, after.info.learning_rate)
        for topic in range(4):
            moved = step_topic(before.state, noisy, topic, 6)
            eta = config.word_concentration
            np.testing.assert_allclose(
                moved.after, after.state.topic_counts.dense()[moved.words, topic] + eta, rtol=1e-9
            )


@pytest.mark.parametrize("name", STEPPING)
def test_traces_and_previews_do_not_change_the_state(name, tiny_corpus):
    algorithm = find_algorithm(name)
    config = algorithm.config(max_topics=4, batch_size=4, delay=1.0)
    updates = run(prepare(algorithm, config, tiny_corpus, RunSettings(passes=8, num_evaluations=0)))
    state = [update.state for update in updates][5]
    before = [array.tobytes() for _, array in flatten("state", state)]
    batch = next(tiny_corpus.batches(4))
    noisy = preview_step(algorithm, config, state, batch)
    step_topic(state, noisy, 0)
    trace_document(algorithm, config, state, tiny_corpus.documents())
    assert [array.tobytes() for _, array in flatten("state", state)] == before


@pytest.mark.parametrize("algorithm", REGISTRY, ids=lambda each: each.name)
def test_an_algorithm_without_a_trace_a_stick_or_a_preview_gives_none(algorithm, tiny_corpus):
    config, state = learn(algorithm, tiny_corpus, passes=2)
    trace = trace_document(algorithm, config, state, tiny_corpus.documents(), 2)
    assert (trace is None) == (algorithm.trace is None)
    stick = break_stick(algorithm, config, state)
    assert (stick is None) == (algorithm.stick is None)
    noisy = preview_step(algorithm, config, state, next(tiny_corpus.batches(4)))
    assert (noisy is not None) == (algorithm.name in STEPPING)
