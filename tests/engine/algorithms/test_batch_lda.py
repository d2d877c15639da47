"""Batch LDA against that of scikit-learn, online LDA, its naive bound and the
enumerated evidence.
"""

import numpy as np
import pytest
from sklearn.decomposition import LatentDirichletAllocation

from stickbreaker.engine import executors
from stickbreaker.engine.algorithm import Phase
from stickbreaker.engine.algorithms import batch_lda, lda
from stickbreaker.engine.algorithms.batch_lda import BatchLDAConfig
from stickbreaker.engine.algorithms.lda import LDAConfig
from stickbreaker.engine.evaluation import held_out
from stickbreaker.engine.inference import dirichlet_step
from stickbreaker.engine.inference.topic_counts import decayed_counts
from stickbreaker.engine.kernels.dirichlet import Iterations
from tests import naive
from tests.enumeration import DOCUMENTS, VOCAB_SIZE
from tests.small_documents import batch_of, documents_of, documents_of_words, draw_sparse_counts
from tests.small_lda import CONVERGED, K, V, counts_of, draw_topic_words, log_evidence
from tests.small_lda import state_at as online_state_at

SMALL = {"max_topics": K, "precision": "float64"}


@pytest.fixture
def to_convergence(monkeypatch):
    """Documents are fitted to convergence."""
    for module in (dirichlet_step, held_out):
        monkeypatch.setattr(module, "UNTIL_CONVERGED", Iterations(CONVERGED, 0.0, 0.0))


def draw_batch(seed):
    return batch_of(documents_of(draw_sparse_counts(seed)))


def state_at(config, topic_words):
    """A state after a pass, with this λ (K, V)."""
    return batch_lda.BatchLDAState(
        topic_counts=counts_of(config, topic_words),
        expected_tokens=np.zeros(len(topic_words)),
        step=1,
        bound=-np.inf,
        phase=Phase.LEARNING,
        temperature=1.0,
    )


def take_passes(config, state, batch, number):
    """States and StepInfos after each pass."""
    passes = []
    for _ in range(number):
        state, info = executors.step(batch_lda.ALGORITHM, config, state, batch)
        passes.append((state, info))
    return passes


@pytest.mark.usefixtures("to_convergence")
def test_topics_and_perplexity_equal_those_of_batch_lda_in_scikit_learn_from_the_same_start():
    counts = draw_sparse_counts(2)
    config = BatchLDAConfig(**SMALL, doc_concentration=1.5, tolerance=0.0)
    start = np.random.RandomState(0).gamma(100.0, 0.01, (K, V))
    passes = take_passes(config, state_at(config, start), batch_of(documents_of(counts)), 6)
    for number in (1, 6):
        model = LatentDirichletAllocation(
            K,
            doc_topic_prior=0.3,
            topic_word_prior=config.word_concentration,
            learning_method="batch",
            max_iter=number,
            evaluate_every=0,
            max_doc_update_iter=CONVERGED,
            mean_change_tol=1e-14,
            random_state=0,
        ).fit(counts)
        state = passes[number - 1][0]
        ours = state.topic_counts.dense().T + config.word_concentration
        np.testing.assert_allclose(ours, model.components_, rtol=1e-7, atol=1e-7)
        of_lda = (
            documents_of(counts),
            state.topic_counts,
            np.full(K, 0.3),
            config.word_concentration,
        )
        bound = held_out.lda_bound_as_its_authors_ran_it(*of_lda, corpus_size=len(counts))
        # Its documents are fitted until the mean change of their shares is below 1e-14.
        assert np.exp(-bound) == pytest.approx(model.perplexity(counts), rel=1e-9)


@pytest.mark.usefixtures("to_convergence")
def test_equation_16_as_run_adds_a_share_of_the_topics_part_to_equation_16_as_printed():
    counts, eta, alpha = draw_sparse_counts(5)[:4], 0.3, np.full(K, 0.2)
    documents, topic_words = documents_of(counts), draw_topic_words(1) + eta
    of_lda = documents, decayed_counts(np.ascontiguousarray(topic_words.T - eta)), alpha, eta
    B = naive.topic_weights(topic_words.T - eta, eta, True)
    rows = naive.split_rows(documents)
    fits = [naive.fit_dirichlet_document(B[words], c, alpha, CONVERGED) for words, c in rows]
    topics_part = naive.dirichlet_divergence(topic_words, eta)
    printed = naive.lda_bound(rows, fits, topic_words, 0.2, eta) + topics_part
    assert held_out.lda_bound_as_printed(*of_lda) == pytest.approx(printed / counts.sum(), rel=1e-9)
    ran = (printed - 4 / 50 * topics_part) / counts.sum()
    assert held_out.lda_bound_as_its_authors_ran_it(*of_lda, corpus_size=50) == pytest.approx(
        ran, rel=1e-9
    )
    assert ran < printed / counts.sum() - 0.01


@pytest.mark.parametrize("topic_expectation", ["geometric", "mean"])
def test_the_bound_of_a_pass_equals_its_naive_twin(topic_expectation, monkeypatch):
    monkeypatch.setattr(dirichlet_step, "UNTIL_CONVERGED", Iterations(30, 0.0, 0.0))
    config = BatchLDAConfig(**SMALL, topic_expectation=topic_expectation, doc_concentration=2.0)
    batch, start = draw_batch(1), state_at(config, draw_topic_words(4))
    ((state, info),) = take_passes(config, start, batch, 1)
    B = naive.topic_weights(
        start.topic_counts.dense(), config.word_concentration, topic_expectation == "geometric"
    )
    documents = naive.split_rows(batch.documents)
    fits = [
        naive.fit_dirichlet_document(B[words], c, np.full(K, 2.0 / K), 30) for words, c in documents
    ]
    topic_words = state.topic_counts.dense().T + config.word_concentration
    expected = naive.lda_bound(documents, fits, topic_words, 2.0 / K, config.word_concentration)
    assert state.bound == pytest.approx(expected, rel=1e-11)
    assert info.bound == pytest.approx(expected / batch.documents.counts.sum(), rel=1e-11)


def test_one_pass_is_a_full_batch_of_online_lda_with_rate_1():
    batch, topic_words = draw_batch(3), draw_topic_words(2)
    config, online = BatchLDAConfig(**SMALL), LDAConfig(**SMALL, delay=0.0)
    expected, _ = executors.step(lda.ALGORITHM, online, online_state_at(online, topic_words), batch)
    ((state, _),) = take_passes(config, state_at(config, topic_words), batch, 1)
    np.testing.assert_allclose(
        state.topic_counts.dense(), expected.topic_counts.dense(), rtol=1e-10, atol=1e-12
    )
    np.testing.assert_allclose(state.expected_tokens, expected.expected_tokens, rtol=1e-10)


@pytest.mark.parametrize("num_topics", [1, 2, 3])
@pytest.mark.usefixtures("to_convergence")
def test_passes_ascend_the_bound_up_to_the_enumerated_evidence_at_most(num_topics):
    batch = batch_of(documents_of_words(DOCUMENTS))
    settings = {
        "max_topics": num_topics,
        "doc_concentration": 0.5 * num_topics,
        "word_concentration": 0.4,
    }
    config = BatchLDAConfig(**SMALL | settings, tolerance=0.0)
    evidence = log_evidence(config)
    for seed in range(3):
        passes = take_passes(
            config, state_at(config, draw_topic_words(seed, num_topics, VOCAB_SIZE)), batch, 8
        )
        bounds = np.array([state.bound for state, _ in passes])
        assert (np.diff(bounds) >= -1e-11 * abs(bounds[1:])).all()
        # With one topic nothing is approximated.
        assert (
            bounds[-1] == pytest.approx(evidence, abs=1e-12)
            if num_topics == 1
            else bounds[-1] < evidence
        )


def test_the_run_ends_at_the_first_pass_that_gains_less_than_the_tolerance():
    config, batch = BatchLDAConfig(**SMALL, tolerance=1e-3), draw_batch(0)
    passes = take_passes(config, batch_lda.init(config, V, np.random.default_rng(0)), batch, 60)
    bounds = np.array([state.bound for state, _ in passes])
    is_enough = np.diff(bounds) <= 1e-3 * abs(bounds[:-1])
    assert is_enough.any()
    assert [info.ends_run for _, info in passes] == [False, *is_enough]
    assert [info.has_fallen for _, info in passes] == [False, *(np.diff(bounds) == 0)]
    assert not any(info.has_converged and info.has_fallen for _, info in passes)


@pytest.mark.parametrize("start", ["hoffman", "warm"])
def test_only_a_warm_start_has_passes_without_a_bound(start):
    config, batch = BatchLDAConfig(**SMALL, start=start), draw_batch(0)
    passes = take_passes(config, batch_lda.init(config, V, np.random.default_rng(0)), batch, 12)
    phases = [info.phase for _, info in passes]
    assert phases[0] == {"hoffman": "learning", "warm": "warm-up"}[start]
    assert phases[-1] == "learning"
    assert [info.bound is None for _, info in passes] == [phase == "warm-up" for phase in phases]
