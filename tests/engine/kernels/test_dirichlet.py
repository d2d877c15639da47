"""Dirichlet iterations against their naive twin and the LDA of scikit-learn."""

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp, psi

from stickbreaker.engine.corpora.documents import Documents
from stickbreaker.engine.kernels.counts import FactoredCounts
from stickbreaker.engine.kernels.dirichlet import Iterations, fit_dirichlet
from tests import naive
from tests.small_documents import documents_of, draw_sparse_counts

PRECISIONS = [(np.float32, 1e-4), (np.float64, 1e-9)]


def fit(documents, topics, prior, sweeps):
    """Statistics (U, K), tables (K,) and Dirichlet parameters (S, K) of the kernel."""
    num_topics, num_documents = len(prior), documents.num_documents
    tables = np.zeros(num_topics)
    tokens = np.zeros(num_topics)
    scales = np.empty(len(documents.words), topics.dtype)
    g, e = np.zeros((2, num_documents, num_topics), topics.dtype)
    fit_dirichlet(documents, topics, prior, sweeps, scales, e, tables, tokens, g)
    counts = FactoredCounts(documents.starts, documents.words, scales, e, topics)
    word_topics = naive.gather_counts([counts], len(topics), num_topics)
    np.testing.assert_allclose(word_topics.sum(0), tokens, rtol=1e-5, atol=1e-5)
    return word_topics, tables, g


@pytest.mark.parametrize("num_topics", [6, 37])
@pytest.mark.parametrize(("precision", "tolerance"), PRECISIONS)
@pytest.mark.parametrize(
    "sweeps",
    [
        Iterations(1, 0.0, 0.0),
        Iterations(3, 0.0, 0.0),
        Iterations(40, 0.0, 0.0),
        Iterations(9, 0.0, 0.05),
        Iterations(99, 0.02, 0.0),
        Iterations(20, 0.0, 0.0, 1.7),
    ],
)
def test_the_kernel_equals_its_naive_twin(precision, tolerance, sweeps, num_topics):
    rng = np.random.default_rng(7)
    documents = documents_of(draw_sparse_counts(rng, 12, 15, 8))
    topics = np.ascontiguousarray(
        rng.dirichlet(np.full(15, 0.3), num_topics).T.astype(precision)
    ) + precision(1e-5)
    prior = rng.dirichlet(np.ones(num_topics)).astype(precision)

    def local(B, c):
        g, tokens = naive.sweep(B, c, prior.astype(float), sweeps)
        return tokens, naive.sweep_tables(g, prior.astype(float)), g

    expected = naive.learn(naive.split_rows(documents), topics.astype(float), local, num_topics)
    for ours, twin in zip(fit(documents, topics, prior, sweeps), expected, strict=True):
        np.testing.assert_allclose(ours, twin, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("num_topics", [1, 150, 2000])
def test_a_single_word_spread_over_many_equal_topics_stays_finite(precision, num_topics):
    document = Documents(np.array([0, 1]), np.zeros(1, np.int32), np.ones(1, np.int32))
    topics = np.full((1, num_topics), 1e-4, precision)
    tokens, tables, g = fit(
        document, topics, np.full(num_topics, 1.0 / num_topics, precision), Iterations(3, 0.0, 0.0)
    )
    np.testing.assert_allclose(tokens, 1.0 / num_topics, rtol=1e-4)
    np.testing.assert_allclose(g, 2.0 / num_topics, rtol=1e-4)
    assert np.isfinite(tables).all()


def test_statistics_of_words_add_up_to_their_counts():
    rng = np.random.default_rng(4)
    documents = documents_of(draw_sparse_counts(rng, 30, 9, 8))
    tokens, _, g = fit(
        documents, rng.random((9, 7)) + 0.01, np.full(7, 0.3), Iterations(3, 0.0, 0.0)
    )
    np.testing.assert_allclose(
        tokens.sum(1), np.bincount(documents.words, documents.counts, 9), rtol=1e-12
    )
    sizes = [c.sum() for _, c in naive.split_rows(documents)]
    np.testing.assert_allclose(g.sum(1), np.array(sizes) + 7 * 0.3, rtol=1e-12)


def tempered_bound(logs, c, prior, g, temperature):
    """Highest over φ of Σ c φ (E[log θ] + log B - T log φ) - KL(q(θ) | prior), of a document with
    parameters g (K,).
    """
    log_theta = psi(g) - psi(g.sum())
    words = c @ logsumexp((logs + log_theta) / temperature, axis=1) * temperature
    return words + (prior - g) @ log_theta + gammaln(g).sum() - gammaln(g.sum())


@pytest.mark.parametrize("temperature", [1.0, 1.3, 4.0])
def test_no_sweep_lowers_the_bound_of_a_document_given_the_topics(temperature):
    rng = np.random.default_rng(8)
    documents = documents_of(draw_sparse_counts(rng, 40, 60, 8))
    prior = rng.dirichlet(np.ones(12)) * 0.9
    topics = np.ascontiguousarray(rng.dirichlet(np.full(60, 0.1), 12).T) + 1e-6
    raised = topics ** (1 / temperature)
    swept = [
        fit(documents, raised, prior, Iterations(n, 0.0, 0.0, temperature))[2] for n in range(1, 30)
    ]
    for j, (words, c) in enumerate(naive.split_rows(documents)):
        logs = np.log(topics[words])
        bounds = np.array([tempered_bound(logs, c, prior, g[j], temperature) for g in swept])
        assert (np.diff(bounds) >= -1e-9).all()
        assert bounds[-1] > bounds[0] or len(words) == 0
