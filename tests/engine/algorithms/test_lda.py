"""Online LDA against that of scikit-learn and its naive twin, and its bound against enumeration."""

import numpy as np
import pytest
from scipy.special import psi
from sklearn.decomposition import LatentDirichletAllocation

from stickbreaker.engine import executors
from stickbreaker.engine.algorithms import lda
from stickbreaker.engine.algorithms.lda import LDAConfig
from stickbreaker.engine.corpora.documents import Documents
from stickbreaker.engine.inference import dirichlet_step
from stickbreaker.engine.inference.dirichlet_step import DocumentExpectations, fit_documents
from stickbreaker.engine.inference.warm_up import iterations_at
from stickbreaker.engine.kernels.dirichlet import Iterations
from stickbreaker.engine.schedules import learning_rate
from tests import naive
from tests.small_documents import batch_of, documents_of, draw_sparse_counts
from tests.small_lda import CONVERGED, K, V, draw_topic_words, state_at

SMALL = {"max_topics": K, "precision": "float64", "delay": 1.0, "batch_size": 4}
SYSTEMS = [
    {"start": start, "topic_expectation": each}
    for start in ("hoffman", "warm")
    for each in ("geometric", "mean")
]


@pytest.fixture
def to_convergence(monkeypatch):
    """Documents are fitted to convergence."""
    monkeypatch.setattr(dirichlet_step, "UNTIL_CONVERGED", Iterations(CONVERGED, 0.0, 0.0))


def draw_batch(seed, corpus_size=None):
    return batch_of(documents_of(draw_sparse_counts(seed)), corpus_size)


def topic_words_of(config, state):
    """λ (K, V)."""
    return state.topic_counts.dense().T + config.word_concentration


def build_reference(config, topic_words, corpus_size):
    """scikit-learn's online LDA with the same λ and settings, fitted to convergence."""
    model = LatentDirichletAllocation(
        K,
        doc_topic_prior=config.doc_concentration / K,
        topic_word_prior=config.word_concentration,
        learning_decay=config.forgetting_rate,
        learning_offset=config.delay or 1.0,
        total_samples=corpus_size,
        max_doc_update_iter=CONVERGED,
        mean_change_tol=1e-14,
        random_state=0,
    ).fit(draw_sparse_counts(0))
    model.components_, model.n_batch_iter_ = topic_words.copy(), 1
    model.exp_dirichlet_component_ = np.exp(
        psi(topic_words) - psi(topic_words.sum(1, keepdims=True))
    )
    return model


@pytest.mark.usefixtures("to_convergence")
def test_topic_shares_equal_those_of_scikit_learn():
    config = LDAConfig(**SMALL, doc_concentration=1.5)
    topic_words = draw_topic_words(1)
    counts = draw_sparse_counts(2)
    shares = lda.infer(config, state_at(config, topic_words), documents_of(counts))
    np.testing.assert_allclose(
        shares, build_reference(config, topic_words, 100).transform(counts), atol=1e-9
    )


@pytest.mark.usefixtures("to_convergence")
def test_topics_equal_those_of_scikit_learn_after_each_mini_batch_of_a_run():
    config = LDAConfig(**SMALL | {"delay": 3.0}, forgetting_rate=0.7)
    topic_words = draw_topic_words(3)
    model, state = build_reference(config, topic_words, 200), state_at(config, topic_words)
    for seed in range(4):
        counts = draw_sparse_counts(seed)
        model.partial_fit(counts)
        state, _ = executors.step(lda.ALGORITHM, config, state, batch_of(documents_of(counts), 200))
        np.testing.assert_allclose(
            topic_words_of(config, state), model.components_, rtol=1e-8, atol=1e-8
        )


@pytest.mark.parametrize("phase", ["warm-up", "learning"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_a_whole_step_equals_its_naive_twin(system, phase, monkeypatch):
    monkeypatch.setattr(dirichlet_step, "UNTIL_CONVERGED", Iterations(60, 0.0, 0.0))
    config = LDAConfig(**SMALL | system | {"doc_concentration": 2.0, "delay": 64.0})
    batch = draw_batch(5, 300)
    state = state_at(config, draw_topic_words(4), step=3)._replace(phase=phase)
    rate = learning_rate(4, 64.0, config.forgetting_rate)
    temperature = lda.expect(config, state, batch).temperature
    sweeps = iterations_at(temperature) if phase == "warm-up" else Iterations(60, 0.0, 0.0)
    prior = np.full(K, 2.0 / K)
    expected, _ = naive.step_dirichlet(
        config, prior, sweeps, state.topic_counts.dense(), batch, rate
    )
    state, info = executors.step(lda.ALGORITHM, config, state, batch)
    assert info.phase == phase
    np.testing.assert_allclose(state.topic_counts.dense(), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(state.topic_counts.totals, expected.sum(0), rtol=1e-9)


@pytest.mark.parametrize("highest_count", [1, 5, 1000])
def test_no_sweep_lowers_the_bound_of_a_document(highest_count):
    rng = np.random.default_rng(7)
    logs = np.log(rng.dirichlet(np.full(V, 0.1), K).T + 1e-12)
    prior = rng.gamma(0.5, 1.0, K) + 1e-3
    words = np.sort(rng.choice(V, 12, replace=False)).astype(np.int32)
    c = rng.integers(1, highest_count + 1, 12)
    document = Documents(np.array([0, 12]), words, c.astype(np.int32))
    expectations = DocumentExpectations(np.arange(V), np.exp(logs), prior, 0, "learning")
    bounds = []
    for num_sweeps in range(1, 60):
        statistics, shares = fit_documents(
            document, expectations, Iterations(num_sweeps, 0.0, 0.0), is_learning=True
        )
        tokens = naive.gather_counts(statistics.counts, V, K)[words]
        fit = naive.DirichletFit(shares[0] * (prior.sum() + c.sum()), tokens / c[:, None])
        bounds.append(naive.dirichlet_document_bound(logs[words], c.astype(float), fit, prior))
    bounds = np.array(bounds)
    assert (np.diff(bounds) >= -1e-11 * abs(bounds[1:])).all()
    assert bounds[-1] > bounds[0]


def test_weights_are_shares_of_the_expected_tokens_and_equal_at_the_start():
    config = LDAConfig(**SMALL)
    state = lda.init(config, V, np.random.default_rng(0))
    np.testing.assert_allclose(lda.summarize(config, state).weights, 1 / K)
    state, _ = executors.step(lda.ALGORITHM, config, state, draw_batch(0))
    summary = lda.summarize(config, state)
    np.testing.assert_allclose(
        summary.weights, state.expected_tokens / state.expected_tokens.sum(), rtol=1e-12
    )
    assert len(np.unique(summary.weights)) == K


def test_the_start_of_the_paper_has_one_token_for_each_word_and_topic_and_is_the_same_for_any_corpus_size():
    config = LDAConfig(max_topics=50, delay=0.0, batch_size=4)
    state = lda.init(config, 400, np.random.default_rng(0))
    noise = state.topic_counts.dense()
    # Gamma(100, 1/100) has mean 1 and standard deviation 0.1.
    assert noise.mean() == pytest.approx(1.0, abs=5 * 0.1 / np.sqrt(noise.size))
    assert noise.std() == pytest.approx(0.1, rel=5 / np.sqrt(2 * noise.size))
    few, many = (lda.expect(config, state, draw_batch(0, size)).topics for size in (20, 10_000))
    np.testing.assert_array_equal(few, many)
