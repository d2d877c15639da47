"""Corpus-level sticks: weights of the topics from the tables that serve them."""

from typing import NamedTuple

import numpy as np
from scipy.special import betaln, psi


class Sticks(NamedTuple):
    """Beta parameters of K - 1 sticks, `on` (u) and `after` (v), and the topic that stands at each of K places."""

    on: np.ndarray
    after: np.ndarray
    order: np.ndarray


def corpus_sticks(tables, corpus_concentration, order=None):
    """Sticks from the expected tables of each topic (K,), the topic with the most tables first or in a given order.

        u_k = 1 + s_k,  v_k = γ + Σ_{l>k} s_l        (Wang 2011 Eq. 19, 20)

    Re-ordering by size is a better bound for any stick-breaking prior (Kurihara et al. 2007); it moves an index, no
    topic. A blend of (u, v) under a fixed order is the same as this function of blended tables.

    >>> corpus_sticks(np.array([1.0, 5.0, 2.0]), 1.0)
    Sticks(on=array([6., 3.]), after=array([4., 2.]), order=array([1, 2, 0]))
    """
    order = np.argsort(-tables, kind="stable") if order is None else order
    ordered = tables[order]
    tail = ordered[::-1].cumsum()[::-1]
    return Sticks(1.0 + ordered[:-1], corpus_concentration + tail[1:], order)


def expected_weights(sticks):
    """E[β] by topic (K,), sums to 1; the last stick is 1, so the truncation keeps all the mass.

    >>> expected_weights(Sticks(np.array([3.0]), np.array([1.0]), np.array([1, 0])))
    array([0.25, 0.75])
    """
    on = np.append(sticks.on / (sticks.on + sticks.after), 1.0)
    left = np.append(1.0, np.cumprod(1.0 - on[:-1]))
    weights = np.empty(len(on))
    weights[sticks.order] = on * left
    return weights


def expected_log_weights(sticks):
    """E[log β] by topic (K,); Wang 2011, below Eq. 21."""
    total = psi(sticks.on + sticks.after)
    on = np.append(psi(sticks.on) - total, 0.0)
    left = np.append(0.0, np.cumsum(psi(sticks.after) - total))
    weights = np.empty(len(on))
    weights[sticks.order] = on + left
    return weights


def sticks_bound(sticks, corpus_concentration):
    """What sticks add to a bound that their tables s have just set: Σ_k s_k E[log β_k] - KL from Beta(1, γ).

    >>> bool(np.isclose(sticks_bound(corpus_sticks(np.array([2.0, 1.0]), 1.0), 1.0), np.log(1 / 12)))
    True
    """
    return float((betaln(sticks.on, sticks.after) - betaln(1.0, corpus_concentration)).sum())
