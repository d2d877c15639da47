"""Learned concentrations of LDA against the maxima of their objectives, which are computed directly
from counts.
"""

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import gammaln, psi

from stickbreaker.engine import executors
from stickbreaker.engine.algorithms import find_algorithm
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.inference.concentrations import (
    DocPosterior,
    draw_log_beta,
    learn_from_tables,
    learn_word_concentration,
)
from stickbreaker.engine.runs.checkpoint import Checkpoint, load, save
from stickbreaker.engine.runs.settings import RunSettings
from tests.enumeration import log_dirichlet_multinomial
from tests.small_documents import batch_of, documents_of, draw_sparse_counts

D, K, V = 40, 6, 30
CHOICES = ["learned", "asymmetric"]


def draw_doc_counts(seed, shape=0.3):
    """Tokens (D, K) of documents in topics, and a batch with these numbers of tokens."""
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(50, rng.dirichlet(np.full(K, shape), D))
    counts[0] = 0
    starts = np.minimum(np.arange(-1, D), np.arange(D + 1)).clip(0)
    sizes = counts.sum(1)
    return counts, Batch(
        np.arange(D), Documents(starts, np.zeros(D - 1, np.int32), sizes[1:].astype(np.int32)), D
    )


def maximise(objective):
    """The argument above 0 at which the objective is highest."""
    return np.exp(
        minimize_scalar(
            lambda x: -objective(np.exp(x)), bounds=(-12, 12), options={"xatol": 1e-9}
        ).x
    )


def repeat(update, start, rounds=300):
    """The result of an update that is applied again and again, first to `start`."""
    for _ in range(rounds):
        start = update(start)
    return start


@pytest.mark.parametrize("shape", [0.05, 0.3, 2.0])
def test_a_symmetric_document_concentration_converges_to_its_maximum_a_posteriori(shape):
    counts, batch = draw_doc_counts(1, shape)

    def update(posterior):
        alpha = posterior.mean
        tables = (alpha * (psi(alpha + counts) - psi(alpha))).sum()
        return learn_from_tables(posterior, np.full(K, tables / K), batch, 1.0)

    found = repeat(update, DocPosterior(np.full(K, 1.0 / K), 1.0), 1000)
    best = maximise(
        lambda total: (
            log_dirichlet_multinomial(counts, np.full(K, total / K)) + np.log(total) - total
        )
    )
    assert found.total == pytest.approx(best, rel=1e-5)
    assert len(np.unique(found.mean)) == 1


def test_an_asymmetric_document_concentration_converges_to_its_maximum_a_posteriori():
    counts, batch = draw_doc_counts(2)
    counts[:, 0] *= 3

    def update(posterior):
        alpha = posterior.mean
        tables = (alpha * (psi(alpha + counts) - psi(alpha))).sum(0)
        return learn_from_tables(posterior, tables, sized(batch, counts), 1.0)

    def lost(logs):
        return -log_dirichlet_multinomial(counts, np.exp(logs)) - logs.mean() + np.exp(logs).sum()

    found = repeat(update, DocPosterior(np.full(K, 1.0 / K), 1.0), 1000)
    np.testing.assert_allclose(
        found.mean, np.exp(minimize(lost, np.full(K, -1.0), tol=1e-9).x), rtol=1e-4
    )


def sized(batch, counts):
    """The batch with documents whose numbers of tokens are those of the counts."""
    documents = batch.documents._replace(counts=counts.sum(1)[1:].astype(np.int32))
    return batch._replace(documents=documents)


@pytest.mark.parametrize("true", [0.01, 0.3, 5.0])
def test_a_word_concentration_converges_to_the_maximum_of_its_objective(true):
    rng = np.random.default_rng(4)
    topics = np.array([rng.dirichlet(np.full(V, true)) for _ in range(K)])
    counts = rng.poisson(200 * topics).T + 0.0
    n = counts[counts > 0]
    p = np.minimum(1, n)

    def objective(value):
        own = (p * (gammaln(value + n / p) - gammaln(value))).sum() - value + np.log(value)
        return own + (gammaln(V * value) - gammaln(V * value + counts.sum(0))).sum()

    found = repeat(lambda value: learn_word_concentration(counts, value), 0.1, 40)
    assert found == pytest.approx(maximise(objective), rel=1e-5)
    noisy = repeat(
        lambda value: learn_word_concentration(counts + 0.05, value, noise=0.05), 0.1, 40
    )
    assert noisy == pytest.approx(found, rel=1e-9)


def test_a_newton_step_of_a_word_concentration_follows_the_rate_up_to_its_largest_factor():
    counts = np.eye(V, K) * 50
    near = learn_word_concentration(counts, 0.5, 0.1)
    assert np.log(near / 0.5) == pytest.approx(
        0.1 * np.log(learn_word_concentration(counts, 0.5) / 0.5)
    )
    assert learn_word_concentration(counts, 100.0) == 50.0


def test_draws_of_the_logarithm_of_a_beta_have_its_mean_also_below_the_smallest_float():
    rng, sizes = np.random.default_rng(0), np.full(20_000, 7)
    for on in (1e-4, 0.3, 40.0):
        draws = draw_log_beta(on, sizes, rng)
        error = draws.std() / np.sqrt(len(draws))
        assert abs(draws.mean() - (psi(on) - psi(on + 7))) <= 5 * error


def make_batch(seed):
    return batch_of(documents_of(draw_sparse_counts(seed, D, V)), 3 * D)


def run_steps(choice, num_steps, state=None, **settings):
    """The algorithm, config and state after steps, of which the first forgets the start."""
    algorithm = find_algorithm("lda")
    settings = {"start": "hoffman", "delay": 0.05, "batch_size": 4} | settings
    config = algorithm.config(max_topics=K, concentrations=choice, **settings)
    state = algorithm.init(config, V, np.random.default_rng(0)) if state is None else state
    for _ in range(num_steps):
        state, _ = executors.step(algorithm, config, state, make_batch(state.step))
    return algorithm, config, state


@pytest.mark.parametrize("choice", CHOICES)
def test_learned_concentrations_change_are_used_and_are_resumed_bit_for_bit(choice, tmp_path):
    algorithm, config, state = run_steps(choice, 4)
    fixed = run_steps("fixed", 4)[2].concentrations
    learned = state.concentrations
    assert (fixed.doc.total, fixed.word) == (pytest.approx(1.0), 0.01)
    assert not np.isclose([learned.doc.total, learned.word], [1.0, 0.01], rtol=1e-3).any()
    assert (len(np.unique(learned.doc.mean)) == K) == (choice == "asymmetric")
    back = state._replace(concentrations=fixed)
    documents = make_batch(9).documents
    assert not np.array_equal(
        algorithm.infer(config, state, documents), algorithm.infer(config, back, documents)
    )
    assert not np.array_equal(
        algorithm.summarize(config, state).topics, algorithm.summarize(config, back).topics
    )
    save(tmp_path / "run.npz", Checkpoint("lda", config, RunSettings(), state, 0, 0.0))
    resumed = run_steps(choice, 2, load(tmp_path / "run.npz").state)[2]
    expected, found = run_steps(choice, 2, state)[2], resumed
    np.testing.assert_array_equal(expected.topic_counts.dense(), found.topic_counts.dense())
    assert expected.concentrations.doc.shape.tobytes() == found.concentrations.doc.shape.tobytes()
    assert expected.concentrations[1:] == found.concentrations[1:]


@pytest.mark.parametrize("choice", CHOICES)
def test_concentrations_are_fixed_in_a_warm_up_and_while_a_tenth_of_the_start_remains(choice):
    for settings in ({"delay": 5.0}, {"start": "warm"}):
        state = run_steps(choice, 1, **settings)[2]
        assert state.startup_share > 0.1 or state.phase == "warm-up"
        first = run_steps(choice, 0, **settings)[2].concentrations
        later = state.concentrations
        assert first.doc.total == later.doc.total
        assert first.corpus == later.corpus
        assert first.word == later.word
