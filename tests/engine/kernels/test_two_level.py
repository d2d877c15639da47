"""The two-level local step against its naive twin, ascent of the bound, and the start of each
document.
"""

import numpy as np
import pytest

from stickbreaker.engine.corpora.documents import Documents
from stickbreaker.engine.kernels.counts import empty_counts
from stickbreaker.engine.kernels.dirichlet import Iterations
from stickbreaker.engine.kernels.two_level import (
    LOWEST,
    Limits,
    Prior,
    assign_words,
    choose_topics,
    fit_two_level,
    multiply,
    update_slot_topics,
    update_sticks,
)
from tests import naive
from tests.small_documents import documents_of_pairs

K, T, V = 12, 4, 25
STARTS = ["warm", "wang"]
SWEEPS, NO_BOUNDS = Iterations(10, 0.0, 0.01), np.empty(0)


def limits_of(start, num_iterations=20, tolerance=1e-3):
    is_wang = start == "wang"
    return Limits(T, K if is_wang else 7, num_iterations, tolerance, 0.8, is_wang)


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


def fit(documents, topics, prior, log_beta, limits, sweeps=SWEEPS):
    """Statistics (V, K), tables (K,), shares (S, K) and tokens (K,) of the kernel."""
    counts = empty_counts(documents, limits.max_active, topics.dtype)
    num_topics = topics.shape[1]
    tables = np.zeros(num_topics)
    tokens = np.zeros(num_topics)
    shares = np.zeros((documents.num_documents, num_topics))
    corpus = Prior(prior, log_beta, np.argsort(-prior, kind="stable"))
    shares = shares.astype(topics.dtype)
    fit_two_level(
        documents, topics, corpus, sweeps, limits, counts, tables, tokens, shares, NO_BOUNDS
    )
    word_topics = naive.gather_counts([counts], len(topics), num_topics)
    np.testing.assert_allclose(word_topics.sum(0), tokens, rtol=1e-5, atol=1e-5)
    return word_topics, tables, shares


def twin(documents, topics, prior, log_beta, limits):
    def local(B, c):
        return naive.statistics(naive.fit_document(B, c, prior, log_beta, SWEEPS, limits), c)

    return naive.learn(naive.split_rows(documents), topics, local, K)


@pytest.mark.parametrize("start", STARTS)
def test_the_double_precision_kernel_equals_its_naive_twin(start):
    limits = limits_of(start)
    for seed in range(3):
        problem = draw_problem(seed)
        for ours, expected in zip(fit(*problem, limits), twin(*problem, limits), strict=True):
            np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("start", STARTS)
def test_the_single_precision_kernel_equals_its_twin(start):
    # Three iterations only, since each further one amplifies rounding.
    limits = limits_of(start, num_iterations=3, tolerance=0.0)
    documents, *arrays = draw_problem(5, np.float32)
    expected = twin(documents, *(array.astype(float) for array in arrays), limits)
    for ours, theirs in zip(fit(documents, *arrays, limits), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)


def test_without_room_for_counts_the_shares_are_the_same():
    documents, *arrays = draw_problem(6)
    limits, num_topics = limits_of("warm"), K
    tables = np.zeros(num_topics)
    tokens = np.zeros(num_topics)
    shares = np.zeros((documents.num_documents, num_topics))
    corpus = Prior(arrays[1], arrays[2], np.argsort(-arrays[1], kind="stable"))
    counts = empty_counts(documents, 0, np.float64)
    fit_two_level(
        documents, arrays[0], corpus, SWEEPS, limits, counts, tables, tokens, shares, NO_BOUNDS
    )
    assert not tokens.any()
    np.testing.assert_array_equal(shares, fit(documents, *arrays, limits)[2])


def pad(array, *sizes, value=0.0):
    """Pad an array to the given rows and columns with a value."""
    return np.pad(
        array,
        [(0, size - old) for size, old in zip(sizes, array.shape, strict=True)],
        constant_values=value,
    )


def ascend_document(logs, c, log_beta):
    """The bound after each compiled update of Eq. 15-18, from Wang's start."""
    num_words = len(logs)
    log_weights, counts, log_prior = pad(logs, 16, 16), pad(c, 16), pad(log_beta, 16, value=LOWEST)
    tokens, phi = pad(np.tile(c / T, (T, 1)), 4, 16), pad(np.full((T, K), 1.0 / K), 4, 16)
    sticks = np.array([np.ones(T), np.full(T, 0.8)])

    def bound():
        zeta = tokens[:T, :num_words].T / c[:, None]
        return naive.document_bound(
            logs, c, naive.Fit(*sticks[:, :-1], phi[:T, :K], zeta), 0.8, log_beta
        )

    for _ in range(25):
        update_sticks(tokens[:T].sum(1), 0.8, sticks)
        yield bound()
        update_slot_topics(log_weights, tokens, log_prior, phi)
        yield bound()
        multiply(phi, np.ascontiguousarray(log_weights.T), tokens)
        assign_words(counts, naive.log_sticks(*sticks[:, :-1]), np.empty((2, 16)), tokens)
        yield bound()


@pytest.mark.parametrize("eta", [0.01, 0.5])
@pytest.mark.parametrize("highest_count", [1, 5, 1000])
@pytest.mark.parametrize("is_geometric", [True, False])
def test_no_single_document_update_lowers_the_bound(eta, highest_count, is_geometric):
    rng = np.random.default_rng(11)
    log_beta = naive.weights_of(rng.gamma(1.0, 3.0, K), 1.0, naive.log_sticks)
    for _ in range(5):
        lam = rng.gamma(0.2, 20.0, (V, K)) + eta
        words = rng.choice(V, 12, replace=False)
        c = rng.integers(1, highest_count + 1, 12).astype(float)
        logs = np.log(naive.topic_weights(lam - eta, eta, is_geometric))[words]
        bounds = np.array(list(ascend_document(logs, c, log_beta)))
        assert (np.diff(bounds) >= -1e-11 * abs(bounds[1:])).all()
        assert bounds[-1] > bounds[0]


def repeat_tokens(words, c):
    """The words and counts of a document with an entry of count 1 for every token."""
    return np.repeat(words, c.astype(int)), np.ones(int(c.sum()))


@pytest.mark.parametrize("start", ["warm", "wang"])
def test_a_count_of_n_is_the_word_n_times_in_statistics_and_in_the_bound(start):
    documents, topics, prior, log_beta = draw_problem(8)
    pairs = [repeat_tokens(*pair) for pair in naive.split_rows(documents)]
    tokens, limits = documents_of_pairs(pairs), limits_of(start)
    for counted, repeated in zip(
        fit(documents, topics, prior, log_beta, limits),
        fit(tokens, topics, prior, log_beta, limits),
        strict=True,
    ):
        np.testing.assert_allclose(counted, repeated, rtol=1e-10, atol=1e-10)
    bounds = []
    for words, c in (naive.split_rows(documents)[0], pairs[0]):
        fitted = naive.fit_document(topics[words], c, prior, log_beta, SWEEPS, limits)
        bounds.append(naive.document_bound(np.log(topics[words]), c, fitted, 0.8, log_beta))
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-12)


def two_topic_document():
    """A document half of topic 0, half of topic 1, and topics of ten words each."""
    topics = np.full((20, 2), 1e-4)
    topics[:10, 0] = topics[10:, 1] = 0.1
    document = Documents(np.array([0, 20]), np.arange(20, dtype=np.int32), np.full(20, 3, np.int32))
    return document, topics, np.full(2, 0.5), np.log(np.full(2, 0.5))


def test_the_warm_start_gives_a_document_of_two_topics_a_slot_for_each():
    document, topics, prior, log_beta = two_topic_document()
    limits = Limits(2, 2, 3, 1e-3, 1.0, False)
    _, tables, _ = fit(document, topics, prior, log_beta, limits)
    np.testing.assert_allclose(tables, [1, 1], atol=1e-6)
    fitted = naive.fit_document(topics, np.full(20, 3.0), prior, log_beta, SWEEPS, limits)
    np.testing.assert_allclose(fitted.zeta.sum(0), [10, 10], atol=0.1)


def test_the_start_of_wang_leaves_all_slots_identical_after_a_sweep():
    _, topics, prior, log_beta = two_topic_document()
    c = np.array([3.0] * 10 + [4.0] * 10)
    fitted = naive.fit_document(topics, c, prior, log_beta, SWEEPS, Limits(2, 2, 1, 0.0, 1.0, True))
    np.testing.assert_array_equal(fitted.phi[0], fitted.phi[1])
    tokens, phi = pad(np.tile(c / 2, (2, 1)), 4, 32), np.empty((4, 16))
    log_weights, counts = pad(np.log(topics), 32, 16), pad(c, 32)
    update_slot_topics(log_weights, tokens, pad(log_beta, 16, value=LOWEST), phi)
    np.testing.assert_array_equal(phi[0], phi[1])
    multiply(phi, np.ascontiguousarray(log_weights.T), tokens)
    assign_words(counts, naive.log_sticks(fitted.a, fitted.b), np.empty((2, 32)), tokens)
    assert np.ptp(tokens[:2, :20] / c, axis=0).max() < 1e-12


def fit_as_its_authors_ran_it(E, c, log_beta, num_slots, alpha, num_iterations):
    """θ (K,) by Wang's loop: priors enter in the fourth iteration. e: (K, n)."""
    zeta, log_pi = np.full((len(c), num_slots), 1 / num_slots), np.zeros(num_slots)
    for iteration in range(num_iterations):
        has_priors = iteration >= 3
        phi = naive.softmax(zeta.T @ (E * c).T + has_priors * log_beta, axis=1)
        zeta = naive.softmax((phi @ E).T + has_priors * log_pi, axis=1)
        a, b = naive.update_sticks(c, zeta, alpha)
        log_pi = naive.log_sticks(a, b)
    return naive.mean_sticks(a, b) @ naive.softmax(
        zeta.T @ (E * c).T + (num_iterations >= 3) * log_beta, axis=1
    )


@pytest.mark.parametrize("num_iterations", [1, 2, 3, 4, 12])
def test_priors_enter_in_the_fourth_iteration_as_the_authors_ran_it(num_iterations):
    documents, topics, prior, log_beta = draw_problem(4)
    # Their iteration sets φ first, from uniform slots; here φ is set last.
    limits = limits_of("wang", num_iterations + 1, tolerance=0.0)._replace(num_without_priors=3)
    _, _, shares = fit(documents, topics, prior, log_beta, limits)
    for (words, c), ours in zip(naive.split_rows(documents)[:-1], shares, strict=False):
        theirs = fit_as_its_authors_ran_it(
            np.log(topics[words]).T, c, log_beta, T, 0.8, num_iterations
        )
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def test_as_the_authors_ran_it_a_document_settles_before_its_priors_enter():
    documents, topics, prior, log_beta = draw_problem(4)
    # The last document has no words.
    documents = documents.cut(0, documents.num_documents - 1)
    limits = limits_of("wang", 100)._replace(num_without_priors=3)
    for once, again in zip(
        fit(documents, topics, prior, log_beta, limits),
        fit(documents, topics, prior, np.roll(log_beta, 1), limits._replace(num_iterations=2)),
        strict=True,
    ):
        np.testing.assert_array_equal(once, again)
    with_priors = fit(documents, topics, prior, log_beta, limits._replace(num_without_priors=0))
    assert abs(with_priors[2] - fit(documents, topics, prior, log_beta, limits)[2]).max() > 0.1


def test_topics_without_tokens_in_a_document_come_last_by_their_prior():
    prior, tokens = np.array([0.1, 0.4, 0.3, 0.2]), np.array([2.0, 0.001, 0.0, 5.0])
    active, limits = np.zeros(4, np.int64), Limits(2, 4, 1, 0.0, 1.0, False)
    order = np.argsort(-prior)
    assert (
        choose_topics(np.arange(4), tokens.copy(), limits, 0.01, order, np.zeros(4, bool), active)
        == 4
    )
    assert active.tolist() == [3, 0, 1, 2]
    np.testing.assert_array_equal(active, naive.choose_topics(tokens, prior, limits, 0.01))


def test_a_document_chooses_the_largest_topics_up_to_the_maximum():
    tokens = np.random.default_rng(0).random(300) + 0.01
    active, limits = np.zeros(300, np.int64), Limits(4, 40, 1, 0.0, 1.0, False)
    assert (
        choose_topics(
            np.arange(300), tokens.copy(), limits, 0.01, np.arange(300), np.zeros(300, bool), active
        )
        == 40
    )
    assert active[:40].tolist() == np.argsort(-tokens)[:40].tolist()
