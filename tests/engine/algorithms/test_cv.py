"""CV-HDP and CV-LDA: the collapsed bound with exact expectations against log p(words), and runs of
both.

The evidence is that of the untruncated model, with its concentrations and τ under their priors: the
sum over every seating of the franchise, with α, γ and β integrated one by one, and τ by moments of
its Dirichlet.
"""

from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy import integrate
from scipy.special import gammaln, logsumexp, psi
from scipy.stats import gamma

from stickbreaker.engine.algorithms import cv_hdp, cv_lda, find_algorithm
from stickbreaker.engine.algorithms.cv_hdp import CVHDPConfig
from stickbreaker.engine.algorithms.cv_lda import CVLDAConfig
from stickbreaker.engine.evaluation.held_out import count_topics
from stickbreaker.engine.inference import collapsed
from stickbreaker.engine.runs.prepared import prepare
from stickbreaker.engine.runs.run import run
from tests import naive, naive_free
from tests import naive_collapsed as twin
from tests.collapsed_ascent import FIXED, LEARNED, PRIORS, SIZES, ascend, bound_of, learn
from tests.enumeration import DOCUMENTS, VOCAB_SIZE, franchise, log_words

ROUNDING = 1e-11


def integrate_gamma(function, shape, rate):
    """E[function(x)] under a gamma."""
    return integrate.quad(
        lambda u: function(gamma.ppf(u, shape, scale=1 / rate)), 0, 1, epsabs=0, epsrel=1e-7
    )[0]


@cache
def words_integrated(served, config):
    """p(words | topics of the tokens), the topics, τ and β integrated out."""
    words = np.array(sum(DOCUMENTS, ()))
    counts = [
        [((words == w) & (np.array(served) == k)).sum() for w in range(VOCAB_SIZE)]
        for k in set(served)
    ]
    tables = [np.ones(1) for _ in range(VOCAB_SIZE)]
    for own in counts:
        numbers = [[naive_free.stirling(n, m) for m in range(n + 1)] for n in own]
        tables = [np.convolve(row, new) for row, new in zip(tables, numbers, strict=True)]
    a, total = config.base_total / VOCAB_SIZE, 0.0
    for m in product(*(range(len(row)) for row in tables)):
        moment = (
            gammaln(config.base_total)
            - gammaln(config.base_total + sum(m))
            + sum(gammaln(a + np.array(m)))
        )
        moment -= VOCAB_SIZE * gammaln(a)
        weight = np.prod([row[each] for row, each in zip(tables, m, strict=True)])
        if weight > 0:
            total += (
                weight
                * np.exp(moment)
                * beta_moment(sum(m), tuple(sum(own) for own in counts), config)
            )
    return total


@cache
def beta_moment(power, sizes, config):
    """E[β^power Π_k Γ(β)/Γ(β + n_k)]."""
    return integrate_gamma(
        lambda x: x**power * np.exp(sum(gammaln(x) - gammaln(x + n) for n in sizes)),
        config.word_shape,
        config.word_rate,
    )


@cache
def alpha_moment(num_tables, config):
    """E[α^tables Π_d Γ(α)/Γ(α + n_d)]."""
    return integrate_gamma(
        lambda x: x**num_tables * np.exp(sum(gammaln(x) - gammaln(x + n) for n in SIZES)),
        config.doc_shape,
        config.doc_rate,
    )


@cache
def gamma_moment(num_topics, num_tables, config):
    """E[γ^topics Γ(γ)/Γ(γ + tables)]."""
    return integrate_gamma(
        lambda x: x**num_topics * np.exp(gammaln(x) - gammaln(x + num_tables)),
        config.corpus_shape,
        config.corpus_rate,
    )


@cache
def log_evidence(config):
    """log p(words) of the HDP without truncation, every concentration integrated over its prior."""
    eta, terms = config.word_total / VOCAB_SIZE, []
    for served, num_tables, log_joint in franchise(1.0, 1.0, eta):
        # The log joint of the seating at α = γ = 1 without its factors of α and γ depends on the
        # sizes of the groups.
        sizes = (
            log_joint
            - log_words(served, eta)
            + sum(gammaln(1 + n) for n in SIZES)
            + gammaln(1 + num_tables)
        )
        concentrations = alpha_moment(num_tables, config) * gamma_moment(
            len(set(served)), num_tables, config
        )
        is_fixed = config.word_prior == "fixed"
        words = np.exp(log_words(served, eta)) if is_fixed else words_integrated(served, config)
        terms.append(sizes + np.log(concentrations) + np.log(words))
    return logsumexp(terms)


@pytest.mark.parametrize("config", [FIXED, LEARNED], ids=["fixed", "learned"])
@pytest.mark.parametrize("seed", range(4))
def test_with_exact_expectations_no_update_lowers_the_bound_and_it_stays_below_the_evidence(
    config, seed
):
    exact, _ = ascend(config, seed, num_rounds=12)
    assert (np.diff(exact) >= -ROUNDING * abs(exact[1:])).all()
    assert exact[-1] <= log_evidence(config)


NARROW = {"doc_shape": 1e6, "doc_rate": 1e6, "corpus_shape": 1e6, "corpus_rate": 1e6}
NARROW_WORDS = {
    "word_prior": "learned",
    "word_shape": 1e6,
    "word_rate": 1e6 / 1.5,
    "base_total": 1e7,
}


@pytest.mark.parametrize("words", [{}, NARROW_WORDS], ids=["fixed", "learned"])
def test_the_evidence_under_concentrated_priors_is_that_of_the_franchise_at_their_means(words):
    config = CVHDPConfig(word_total=1.5, **NARROW, **words)
    joints = [log_joint for *_, log_joint in franchise(1.0, 1.0, 0.5)]
    # A prior of shape 1e6 has a relative variance of 1e-6, and five tokens give curvatures of at
    # most 25.
    assert log_evidence(config) == pytest.approx(logsumexp(joints), abs=25 * 4e-6)


def test_an_additional_empty_topic_does_not_change_the_bound():
    q = [np.random.default_rng(0).dirichlet(np.ones(2), size) for size in SIZES]
    padded = [np.pad(rows, ((0, 0), (0, 1))) for rows in q]
    bounds = []
    for num_topics, shares in ((2, q), (3, padded)):
        config = CVHDPConfig(
            max_topics=num_topics, precision="float64", **{**NARROW, "corpus_rate": 5e5}
        )
        state = cv_hdp.init(config, VOCAB_SIZE, None)._replace(step=1)
        bounds.append(bound_of(twin.exactly, config, learn(config, state, shares), shares))
    # Only γ sees one more empty stick, and the relative variance of its prior is 1e-6.
    assert bounds[0] == pytest.approx(bounds[1], abs=1e-5)


def steps_of(module, config, corpus, num_steps):
    """States and infos of steps on the whole corpus."""
    batch = next(corpus.batches(corpus.num_documents))
    state = module.init(config, corpus.vocab_size, np.random.default_rng(0))
    for number in range(num_steps):
        state, info = module.step(config, state, batch, np.random.default_rng(number))
        yield state, info


SYSTEMS = {"cv-hdp": (cv_hdp, CVHDPConfig), "cv-lda": (cv_lda, CVLDAConfig)}


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_bound_of_a_step_equals_its_naive_twin_at_the_posteriors_before_it(name, tiny_corpus):
    module, config_class = SYSTEMS[name]
    config = config_class(max_topics=4, precision="float64")
    before = None
    rows = naive.split_rows(tiny_corpus.documents())
    for state, info in steps_of(module, config, tiny_corpus, 4):
        if before is not None:
            q = np.split(state.assignments.shares, tiny_corpus.documents().starts[1:-1])
            is_hdp = module is cv_hdp
            priors = (
                module.find_priors(before)
                if is_hdp
                else module.find_priors(config, tiny_corpus.vocab_size)
            )
            expected = twin.measure(twin.by_paper, rows, q, priors)[3]
            expected -= cv_hdp.divergence(config, before) if is_hdp else 0.0
            assert info.bound == pytest.approx(expected / tiny_corpus.num_tokens, rel=1e-9)
        before = state


def test_the_posteriors_after_a_step_are_those_of_equation_8(tiny_corpus):
    config = CVHDPConfig(
        max_topics=4, precision="float64", word_prior="learned", word_total=5.0, **PRIORS
    )
    (before, _), (after, _) = steps_of(cv_hdp, config, tiny_corpus, 2)
    documents, V = tiny_corpus.documents(), tiny_corpus.vocab_size
    q = np.split(after.assignments.shares, documents.starts[1:-1])
    rows, mean = naive.split_rows(documents), before.alpha.mean()
    tables, words, log_xi, _ = twin.measure(twin.by_paper, rows, q, cv_hdp.find_priors(before))
    log_eta = sum(psi(mean) - psi(mean + c.sum()) for _, c in rows)
    np.testing.assert_allclose(
        after.alpha, [config.doc_shape + tables.sum(), config.doc_rate - log_eta]
    )
    np.testing.assert_allclose(
        after.beta, [config.word_shape + words.sum(), config.word_rate - log_xi]
    )
    np.testing.assert_allclose(after.base, config.base_total / V + words)
    rests = [before.gamma.mean() + sum(t for t in tables if t < own) for own in tables]
    np.testing.assert_allclose(after.sticks.on, 1 + tables)
    np.testing.assert_allclose(after.sticks.after, rests)
    log_rests = sum(psi(b) - psi(a + b) for a, b in zip(1 + tables, rests, strict=True))
    np.testing.assert_allclose(
        after.gamma, [config.corpus_shape + 4, config.corpus_rate - log_rests]
    )


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_run_ends_when_the_bound_has_converged(name, tiny_corpus):
    algorithm = find_algorithm(name)
    config = algorithm.config(max_topics=4, word_total=0.6)
    *_, last = run(prepare(algorithm, config, tiny_corpus))
    stepped = last.stepped
    assert stepped.info.has_converged
    assert stepped.info.step < algorithm.passes
    assert count_topics(stepped.state.expected_tokens) >= 2


def test_ids_stay_with_their_topics_while_the_order_of_the_sticks_moves(tiny_corpus):
    config, batch = CVHDPConfig(max_topics=5), next(tiny_corpus.batches(12))
    *_, (state, _) = steps_of(cv_hdp, config, tiny_corpus, 3)
    moved = np.array([3, 0, 4, 1, 2])
    assignments, sticks = state.assignments, state.sticks
    other = state._replace(
        assignments=assignments._replace(
            shares=assignments.shares[:, moved], word_counts=assignments.word_counts[:, :, moved]
        ),
        expected_tokens=state.expected_tokens[moved],
        sticks=sticks._replace(
            on=sticks.on[moved], after=sticks.after[moved], order=np.argsort(moved)[sticks.order]
        ),
    )
    one, two = (cv_hdp.step(config, each, batch, None)[0] for each in (state, other))
    for first, second in zip(
        cv_hdp.summarize(config, one)[1:], cv_hdp.summarize(config, two)[1:], strict=True
    ):
        np.testing.assert_allclose(first[moved], second, rtol=1e-4, atol=1e-6)


def test_a_soft_start_sweeps_under_a_large_beta_and_then_under_its_own(tiny_corpus):
    config = CVHDPConfig(
        max_topics=4, first_passes="soft", precision="float64", word_prior="learned", word_total=0.6
    )
    before = None
    for state, info in steps_of(cv_hdp, config, tiny_corpus, cv_hdp.SOFT_PASSES + 3):
        is_soft = info.step <= cv_hdp.SOFT_PASSES
        assert info.phase == ("soft" if is_soft else "learning")
        assert (info.bound is None) == (info.step <= cv_hdp.SOFT_PASSES + 1)
        assert (state.beta.mean() == pytest.approx(0.6)) == is_soft
        if before is not None:
            priors = cv_hdp.find_priors(before)
            if is_soft:
                priors = priors._replace(
                    words=np.full(6, cv_hdp.SOFT_WORDS), word_total=6 * cv_hdp.SOFT_WORDS
                )
            batch = next(tiny_corpus.batches(12))
            expected, _ = collapsed.make_pass(before.assignments, priors, batch, None)
            np.testing.assert_array_equal(state.assignments.shares, expected.shares)
        before = state
