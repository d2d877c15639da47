"""Posteriors of concentrations and sticks: their order, expectations and divergences."""

from itertools import permutations

import numpy as np
from scipy.stats import beta, dirichlet, gamma

from stickbreaker.engine.inference.posteriors import (
    Gamma,
    dirichlet_divergence,
    gamma_divergence,
    stick_posterior,
)
from tests.enumeration import log_sticks


def test_the_order_of_sticks_by_tables_has_the_highest_evidence_of_all_orders():
    tables, concentration = np.array([0.3, 4.0, 1.2, 0.0, 2.5]), 0.8

    def log_evidence_in(order):
        # The place after the last stick has no tables.
        return log_sticks(np.append(tables[list(order)], 0.0), concentration)

    best = max(permutations(range(5)), key=log_evidence_in)
    sticks = stick_posterior(tables, concentration)
    assert tuple(sticks.order) == best
    np.testing.assert_allclose(
        sticks.after[list(best)], concentration + np.array([4.0, 1.5, 0.3, 0.0, 0.0])
    )


def draw_means(draws):
    """Mean and its standard error of independent draws."""
    return draws.mean(0), draws.std(0) / np.sqrt(len(draws))


def test_divergences_and_expectations_equal_means_of_draws():
    rng = np.random.default_rng(0)
    q, p, size = Gamma(3.0, 2.0), Gamma(1.5, 0.7), 200_000
    x = rng.gamma(q.shape, 1 / q.rate, size)
    log_ratio = gamma.logpdf(x, q.shape, scale=1 / q.rate) - gamma.logpdf(
        x, p.shape, scale=1 / p.rate
    )
    found = [(q.mean(), x), (q.expected_log(), np.log(x)), (gamma_divergence(q, p), log_ratio)]
    sticks = stick_posterior(np.array([1.0, 3.0, 0.5]), q.mean())
    v = rng.beta(sticks.on, sticks.after, (size, 3))
    log_prior = beta.logpdf(v, 1.0, x[:, None])
    found.append(
        (sticks.divergence(q), (beta.logpdf(v, sticks.on, sticks.after) - log_prior).sum(1))
    )
    in_order = v[:, sticks.order]
    weights = np.empty_like(v)
    weights[:, sticks.order] = in_order * np.cumprod(
        np.column_stack([np.ones(size), 1 - in_order[:, :-1]]), axis=1
    )
    found += [(sticks.means(), weights), (sticks.expected_logs(), np.log(weights))]
    t, u = np.array([1.0, 2.5, 4.0]), np.array([2.0, 2.0, 2.0])
    y = rng.dirichlet(t, size)
    found.append((dirichlet_divergence(t, u), dirichlet.logpdf(y.T, t) - dirichlet.logpdf(y.T, u)))
    for value, draws in found:
        mean, error = draw_means(draws)
        assert (abs(value - mean) <= 5 * error).all()
