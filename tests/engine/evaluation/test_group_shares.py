"""Topic shares of groups: against sums by hand, and the coverage of their intervals."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from stickbreaker.engine.evaluation.group_shares import shares_by_group


def draw_documents(rng, number):
    """Shares (D, 12) of few topics a document, and tokens of very different documents."""
    shares = rng.dirichlet(np.full(12, 0.05) * np.arange(1, 13), number)
    shares[shares < 0.005] = 0
    return csr_array(shares / shares.sum(1, keepdims=True)), rng.geometric(0.01, number)


def test_shares_and_intervals_equal_sums_by_hand():
    rng = np.random.default_rng(0)
    shares, tokens = draw_documents(rng, 60)
    groups = rng.integers(-1, 3, 60)
    tokens[groups == 2] = 0
    found = shares_by_group(shares, tokens, groups, 4)
    theta = shares.toarray()
    spread = possible = 0
    for group in (0, 1):
        own = np.flatnonzero(groups == group)
        share = tokens[own] @ theta[own] / tokens[own].sum()
        around = (tokens[own, None] ** 2 * (theta[own] - share) ** 2).sum(0)
        # The share is a mean of the documents: it is nearer to them than the true share is.
        parts = tokens[own] / tokens[own].sum()
        free = (tokens[own] ** 2 * (1 - 2 * parts + parts @ parts)).sum()
        spread += around
        possible += free * share * (1 - share) + around * (parts @ parts)
    dispersion = spread / possible
    for group in (0, 1):
        own = groups == group
        share = tokens[own] @ theta[own] / tokens[own].sum()
        np.testing.assert_allclose(found.shares[group], share)
        assert found.num_documents[group] == own.sum()
        # The ends are the shares p whose distance from the share is 1.96 standard errors of p.
        draws = tokens[own].sum() ** 2 / (tokens[own] ** 2).sum() / dispersion
        for end in (found.low[group], found.high[group]):
            error = np.sqrt(end * (1 - end) / draws)
            np.testing.assert_allclose(np.abs(share - end), 1.959964 * error, rtol=1e-6, atol=1e-9)
    for values in (found.shares, found.low, found.high):
        assert np.isnan(values[2:]).all()
    assert found.num_documents[2:].tolist() == [0, 0]


@pytest.mark.parametrize("size", [5, 20, 100])
def test_19_of_20_intervals_of_groups_drawn_at_random_contain_the_whole_share(size):
    rng = np.random.default_rng(size)
    shares, tokens = draw_documents(rng, 4000)
    whole = tokens @ shares.toarray() / tokens.sum()
    groups = rng.permutation(np.arange(4000) // size)
    found = shares_by_group(shares, tokens, groups, 4000 // size)
    held = (found.low <= whole) & (whole <= found.high)
    # Topics of one group are dependent: the error is that of the mean over groups.
    error = held.mean(1).std() / np.sqrt(len(held))
    assert held.mean() == pytest.approx(0.95, abs=3 * error)


def test_intervals_of_single_documents_are_those_of_one_draw():
    shares = csr_array(np.array([[0.0], [0.5], [1.0]]))
    found = shares_by_group(shares, np.array([3, 1, 2]), np.arange(3), 3)
    np.testing.assert_allclose(found.low.ravel(), [0, 0.0546, 0.2065], atol=1e-4)
    np.testing.assert_allclose(found.high.ravel(), [0.7935, 0.9454, 1], atol=1e-4)
