"""The two-level local step against its naive twin; ascent of the bound; what start each document gets."""

import numpy as np
import pytest
from scipy.special import psi

from engine.algorithms.hdp import HDPConfig
from engine.corpus import Documents
from engine.kernels.dirichlet import sweep_topics
from engine.kernels.two_level import (
    Limits,
    fit_two_level,
    rank_topics,
    update_slot_topics,
    update_sticks,
    update_word_slots,
)
from tests import naive

K, T, V = 12, 4, 25
STARTS = [("warm", False), ("warm", True), ("wang", False), ("wang", True)]


def limits_of(start, is_geometric, num_iterations=20, tolerance=1e-3):
    is_wang = start == "wang"
    return Limits(T, K if is_wang else 7, 10, num_iterations, tolerance, 0.8, is_wang, is_geometric)


def draw_problem(seed, precision=np.float64):
    """Documents, topic weights (V, K), prior and E[log β]."""
    rng = np.random.default_rng(seed)
    sizes = np.append(rng.integers(1, 15, 9), 0)
    words = [np.sort(rng.choice(V, size, replace=False)) for size in sizes]
    starts = np.append(0, sizes.cumsum())
    counts = rng.integers(1, 6, starts[-1]).astype(np.int32)
    documents = Documents(starts, np.concatenate(words).astype(np.int32), counts)
    lam = rng.gamma(0.2, 5.0, (V, K)) + 0.05
    tables = rng.gamma(1.0, 3.0, K)
    prior = 0.8 * naive.weights_of(tables, 1.0, naive.mean_sticks)
    log_beta = naive.weights_of(tables, 1.0, naive.log_sticks)
    return documents, *(array.astype(precision) for array in (lam / lam.sum(0), prior, log_beta))


def fit(documents, topics, prior, log_beta, limits):
    """Statistics (V, K), tables (K,) and shares (S, K) of the kernel."""
    out = np.zeros_like(topics), np.zeros(K), np.zeros((len(documents.starts) - 1, K), topics.dtype)
    fit_two_level(documents, topics, prior, log_beta, limits, *out)
    return out


@pytest.mark.parametrize(("start", "is_geometric"), STARTS)
def test_the_double_precision_kernel_equals_its_naive_twin(start, is_geometric):
    limits = limits_of(start, is_geometric)
    for seed in range(3):
        documents, topics, prior, log_beta = draw_problem(seed)

        def local(B, c, prior=prior, log_beta=log_beta):
            return naive.statistics(naive.fit_document(B, c, prior, log_beta, limits), c)

        expected = naive.learn(naive.split_rows(documents), topics, local, K)
        for ours, twin in zip(fit(documents, topics, prior, log_beta, limits), expected, strict=True):
            np.testing.assert_allclose(ours, twin, rtol=1e-9, atol=1e-9)


def topics_chosen_by_the_kernel(B, c, prior, limits):
    e, g, active = np.ones_like(prior), prior.copy(), np.arange(limits.num_active)
    sweep_topics(B, c.astype(B.dtype), prior, limits.num_sweeps, e, g)
    rank_topics(g, prior, np.argsort(-prior), limits.num_active, np.zeros(K, bool), active)
    return active


@pytest.mark.parametrize(("start", "is_geometric"), STARTS)
def test_the_single_precision_kernel_equals_its_twin_on_the_same_topics(start, is_geometric):
    # Three iterations: a longer ascent multiplies rounding by the sharpness of the bound, not by an error of ours.
    limits = limits_of(start, is_geometric, num_iterations=3, tolerance=0.0)
    documents, *arrays = draw_problem(5, np.float32)

    def local(B, c):
        active = topics_chosen_by_the_kernel(B.astype(np.float32), c, arrays[1], limits)
        wide = [array.astype(float) for array in arrays[1:]]
        return naive.statistics(naive.fit_document(B, c, *wide, limits, active), c)

    expected = naive.learn(naive.split_rows(documents), arrays[0].astype(float), local, K)
    for ours, twin in zip(fit(documents, *arrays, limits), expected, strict=True):
        np.testing.assert_allclose(ours, twin, rtol=1e-4, atol=1e-4)


def ascend_document(words, c, lam, log_beta):
    """The document's bound after each single update by the compiled Eq. 15-18, from Wang's start."""
    logs = (psi(lam) - psi(lam.sum(0)))[words]
    B, zeta, phi = np.exp(logs), np.full((len(c), T), 1.0 / T), np.full((T, K), 1.0 / K)
    a, b = np.ones(T - 1), np.full(T - 1, 0.8)
    for _ in range(25):
        update_sticks(c @ zeta, 0.8, a, b)
        yield naive.document_bound(logs, c, naive.Fit(a, b, phi, zeta), 0.8, log_beta)
        update_slot_topics(logs, c, zeta, log_beta, phi)
        yield naive.document_bound(logs, c, naive.Fit(a, b, phi, zeta), 0.8, log_beta)
        update_word_slots(B, logs, phi, naive.log_sticks(a, b), True, zeta)
        yield naive.document_bound(logs, c, naive.Fit(a, b, phi, zeta), 0.8, log_beta)


@pytest.mark.parametrize("eta", [0.01, 0.5])
@pytest.mark.parametrize("highest_count", [1, 5, 1000])
def test_no_single_document_update_lowers_the_bound(eta, highest_count):
    rng = np.random.default_rng(11)
    log_beta = naive.weights_of(rng.gamma(1.0, 3.0, K), 1.0, naive.log_sticks)
    for _ in range(5):
        lam = rng.gamma(0.2, 20.0, (V, K)) + eta
        words = rng.choice(V, 12, replace=False)
        c = rng.integers(1, highest_count + 1, 12).astype(float)
        bounds = np.array(list(ascend_document(words, c, lam, log_beta)))
        assert (np.diff(bounds) >= -1e-11 * abs(bounds[1:])).all()
        assert bounds[-1] > bounds[0]


def test_no_corpus_update_lowers_the_bound():
    documents, _, _, _ = draw_problem(3)
    documents, config = naive.split_rows(documents), HDPConfig(doc_concentration=0.8, word_concentration=0.1)
    lam, tables = np.random.default_rng(0).gamma(1.0, 1.0, (K, V)) + 0.1, np.ones(K)
    bounds, limits = [], limits_of("wang", True, num_iterations=200, tolerance=1e-12)
    u, v = naive.sticks_of(tables, 1.0)
    for _ in range(4):
        B = np.exp(psi(lam) - psi(lam.sum(1, keepdims=True))).T
        fits = [naive.fit_document(B[w], c, tables, naive.log_sticks(u, v), limits) for w, c in documents]
        # A start sweep is exempt: documents begin anew in each round, so only the corpus updates are compared.
        bounds.append([naive.bound(documents, fits, u, v, lam, config)])
        u, v = naive.sticks_of(sum(fit.phi.sum(0) for fit in fits), 1.0)
        bounds[-1].append(naive.bound(documents, fits, u, v, lam, config))
        lam = np.full((K, V), config.word_concentration)
        for (words, c), each in zip(documents, fits, strict=True):
            lam[:, words] += naive.statistics(each, c)[0].T
        bounds[-1].append(naive.bound(documents, fits, u, v, lam, config))
    bounds = np.array(bounds)
    assert (np.diff(bounds) >= -1e-11 * abs(bounds[:, 1:])).all()


def repeat_tokens(words, c):
    """Every token on its own, with count 1."""
    return np.repeat(words, c.astype(int)), np.ones(int(c.sum()))


@pytest.mark.parametrize("start", ["warm", "wang"])
def test_a_count_of_n_is_the_word_n_times_in_statistics_and_in_the_bound(start):
    documents, topics, prior, log_beta = draw_problem(8)
    pairs = [repeat_tokens(*pair) for pair in naive.split_rows(documents)]
    starts = np.append(0, np.cumsum([len(words) for words, _ in pairs]))
    tokens = Documents(starts, np.concatenate([w for w, _ in pairs]), np.ones(starts[-1], np.int32))
    limits = limits_of(start, True)
    for counted, repeated in zip(
        fit(documents, topics, prior, log_beta, limits), fit(tokens, topics, prior, log_beta, limits), strict=True
    ):
        np.testing.assert_allclose(counted, repeated, rtol=1e-10, atol=1e-10)
    bounds = []
    for words, c in (naive.split_rows(documents)[0], pairs[0]):
        fitted = naive.fit_document(topics[words], c, prior, log_beta, limits)
        bounds.append(naive.document_bound(np.log(topics[words]), c, fitted, 0.8, log_beta))
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-12)


def two_topic_document():
    """A document half of topic 0, half of topic 1, and topics of ten words each."""
    topics = np.full((20, 2), 1e-4)
    topics[:10, 0] = topics[10:, 1] = 0.1
    document = Documents(np.array([0, 20]), np.arange(20, dtype=np.int32), np.full(20, 3, np.int32))
    return document, topics, np.full(2, 0.5), np.log(np.full(2, 0.5))


@pytest.mark.parametrize("is_geometric", [True, False])
def test_the_warm_start_gives_a_document_of_two_topics_a_slot_for_each(is_geometric):
    document, topics, prior, log_beta = two_topic_document()
    limits = Limits(2, 2, 10, 3, 1e-3, 1.0, False, is_geometric)
    tables, shares = np.zeros(2), np.zeros((1, 2))
    fit_two_level(document, topics, prior, log_beta, limits, np.zeros_like(topics), tables, shares)
    np.testing.assert_allclose(tables, [1, 1], atol=1e-6)
    fitted = naive.fit_document(topics, np.full(20, 3.0), prior, log_beta, limits)
    np.testing.assert_allclose(fitted.zeta.sum(0), [10, 10], atol=0.1)


def test_wangs_start_leaves_all_slots_identical_after_a_sweep():
    _, topics, prior, log_beta = two_topic_document()
    c = np.array([3.0] * 10 + [4.0] * 10)
    fitted = naive.fit_document(topics, c, prior, log_beta, Limits(2, 2, 0, 1, 0.0, 1.0, True, True))
    np.testing.assert_array_equal(fitted.phi[0], fitted.phi[1])
    zeta = np.full((20, 2), 0.5)
    phi = np.empty((2, 2))
    update_slot_topics(np.log(topics), c, zeta, log_beta, phi)
    np.testing.assert_array_equal(phi[0], phi[1])
    update_word_slots(topics, np.log(topics), phi, naive.log_sticks(fitted.a, fitted.b), True, zeta)
    assert np.ptp(zeta, axis=0).max() < 1e-12


def test_topics_without_tokens_in_a_document_come_last_by_their_prior():
    prior = np.array([0.1, 0.4, 0.3, 0.2])
    g = prior + np.array([2.0, 0.001, 0.0, 5.0])
    active = np.zeros(4, np.int64)
    rank_topics(g, prior, np.argsort(-prior), 4, np.zeros(4, bool), active)
    assert active.tolist() == [3, 0, 1, 2]
    np.testing.assert_array_equal(active, naive.choose_topics(g, prior, 4))
