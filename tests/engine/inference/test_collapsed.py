"""Collapsed sweeps against their naive twins, and the second-order approximations against
enumerated counts.
"""

import numpy as np
import pytest
from scipy.special import polygamma

from stickbreaker.engine.algorithms.cv_hdp import CVHDPConfig
from stickbreaker.engine.inference import collapsed
from stickbreaker.engine.inference.collapsed import Priors
from tests import naive
from tests import naive_collapsed as twin
from tests.small_documents import batch_of, documents_of

DOUBLE = np.finfo(float).eps


def test_the_variance_of_a_positive_count_has_the_square_that_the_paper_omits():
    c, shares = np.ones(3), np.array([0.3, 0.6, 0.1])
    positive, given, spread = twin.moments(c, shares)
    printed = shares @ (1 - shares) / positive - (1 - positive) * given
    assert (round(spread, 4), round(printed, 4)) == (0.2715, 0.3850)


FUNCTIONS = {
    "tables": (twin.expected_tables, lambda a, n: a * polygamma(3, a + n)),
    "log rising factorial": (twin.expected_log_rising, lambda a, n: abs(polygamma(2, a + n))),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("a", [1e-4, 0.01, 0.3, 2.0, 50.0])
def test_second_order_approximations_are_within_taylor_s_remainder_of_enumerated_expectations(
    name, a
):
    expect, third = FUNCTIONS[name]
    rng = np.random.default_rng(0)
    for _ in range(20):
        c, shares = rng.integers(1, 3, 6), rng.random(6) ** rng.integers(1, 9)
        p = twin.distribution(c, shares)
        n, given = np.arange(1, len(p)), twin.moments(c, shares)[1]
        # The third derivative is largest at the least positive count, one.
        remainder = p[1:] @ abs(n - given) ** 3 * third(a, 1.0) / 6
        error = abs(expect(twin.by_paper, a, c, shares) - expect(twin.exactly, a, c, shares))
        assert error <= remainder + 64 * DOUBLE * max(1, -np.log(a))


def test_the_tables_of_a_rare_topic_need_the_exact_probability_of_a_count_of_zero():
    a, c, shares = 0.01, np.ones(10), np.full(10, 0.02)
    exact = twin.expected_tables(twin.exactly, a, c, shares)
    improved, plain = (
        twin.expected_tables(each, a, c, shares) for each in (twin.by_paper, twin.by_taylor)
    )
    assert abs(improved / exact - 1) < 1e-3
    assert abs(plain / exact - 1) > 1


def draw(seed, num_documents=5, vocab_size=8, num_topics=4):
    """A batch of documents, one of which is empty, and priors of many sizes."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.8, (num_documents, vocab_size))
    counts[1] = 0
    doc = rng.gamma(0.3, 1.0, num_topics) + 1e-3
    words_prior = rng.gamma(0.3, 0.1, vocab_size) + 1e-3
    priors = Priors(doc, doc.sum() + 0.5, words_prior, words_prior.sum() + 0.2)
    return batch_of(documents_of(counts))._replace(doc_ids=np.arange(num_documents) * 7), priors


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("seed", range(3))
def test_sweeps_and_their_measures_equal_those_of_the_naive_twin(seed, precision):
    batch, priors = draw(seed)
    rows, starts = naive.split_rows(batch.documents), batch.documents.starts
    config = CVHDPConfig(max_topics=len(priors.doc), precision=precision)
    assignments = collapsed.no_assignments(config, len(priors.words))
    tolerance = {"float32": 1e-4, "float64": 1e-9}[precision]
    q = None
    for _ in range(4):
        assignments, measures = collapsed.make_pass(
            assignments, priors, batch, np.random.default_rng(seed)
        )
        if q is None:
            u = 1 + np.random.default_rng(seed).random(
                (len(batch.documents.words), len(priors.doc)), precision
            )
            q = np.split(u / u.sum(1, keepdims=True).astype(float), starts[1:-1])
        q = twin.sweep(twin.by_paper, rows, q, priors)
        np.testing.assert_allclose(
            assignments.shares, np.concatenate(q), rtol=tolerance, atol=tolerance
        )
        expected = twin.measure(twin.by_paper, rows, q, priors)
        for found, theirs in zip(measures, expected, strict=True):
            np.testing.assert_allclose(found, theirs, rtol=5 * tolerance, atol=tolerance)
        # Rounding grows from sweep to sweep, so each sweep of the twin starts from the state of the
        # engine.
        q = np.split(assignments.shares.astype(float), starts[1:-1])


def test_counts_of_words_are_sums_of_shares():
    batch, priors = draw(0)
    config = CVHDPConfig(max_topics=len(priors.doc), precision="float64")
    assignments, _ = collapsed.make_pass(
        collapsed.no_assignments(config, len(priors.words)), priors, batch, np.random.default_rng(0)
    )
    shares, c = assignments.shares, batch.documents.counts[:, None]
    for w in range(len(priors.words)):
        own = batch.documents.words == w
        np.testing.assert_allclose(
            assignments.word_counts[w, 0], (c * shares)[own].sum(0), atol=1e-12
        )
        np.testing.assert_allclose(
            assignments.word_counts[w, 1], (c * shares * (1 - shares))[own].sum(0), atol=1e-12
        )


def test_the_shares_of_unread_documents_equal_those_of_the_naive_twin(monkeypatch):
    monkeypatch.setattr(collapsed, "MOST_ITERATIONS", 7)
    monkeypatch.setattr(collapsed, "TOLERANCE", 0.0)
    batch, priors = draw(1)
    topics = np.random.default_rng(1).dirichlet(np.full(len(priors.words), 0.3), len(priors.doc))
    mean_prior = priors.doc * 1.3
    tokens = twin.infer(naive.split_rows(batch.documents), topics, priors.doc, 7) + mean_prior
    found = collapsed.infer_shares(batch.documents, topics, priors.doc, mean_prior)
    np.testing.assert_allclose(found, tokens / tokens.sum(1, keepdims=True), rtol=1e-8)


def test_documents_other_than_the_remembered_ones_are_rejected():
    batch, priors = draw(0)
    config = CVHDPConfig(max_topics=len(priors.doc))
    known, _ = collapsed.make_pass(
        collapsed.no_assignments(config, len(priors.words)), priors, batch, np.random.default_rng(0)
    )
    with pytest.raises(ValueError, match="not the documents of the earlier steps"):
        collapsed.make_pass(known, priors, batch._replace(doc_ids=batch.doc_ids + 1), None)


def test_the_estimated_memory_is_that_of_two_states_and_the_counts_between_them():
    batch, priors = draw(0)
    config = CVHDPConfig(max_topics=len(priors.doc))
    vocab_size = int(batch.documents.words.max()) + 1
    empty = collapsed.no_assignments(config, vocab_size)
    priors = priors._replace(words=priors.words[:vocab_size])
    after, _ = collapsed.make_pass(empty, priors, batch, np.random.default_rng(0))
    counts_between = np.zeros((vocab_size, 3, config.max_topics)).nbytes
    expected = 2 * after.shares.nbytes + 3 * after.word_counts.nbytes + counts_between
    assert collapsed.memory(config, batch.documents) == expected
