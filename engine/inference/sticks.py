"""Corpus-level sticks: the weights of topics from their tables."""

from typing import NamedTuple

import numpy as np
from scipy.special import betaln, psi

from stickbreaker.engine.algorithm import Breaking


class Sticks(NamedTuple):
    """q of the corpus' sticks, from which topics break off their weights.

        q(β'_k) = Beta(u_k, v_k) for k < K,  β'_K = 1,  β_k = β'_k ∏_{l<k} (1 - β'_l)

    Source: Wang 2011 Eq. 4 and 13.

    on: (K - 1,) u; after: (K - 1,) v; order: (K,) the topic at each place along the stick.
    """

    on: np.ndarray
    after: np.ndarray
    order: np.ndarray


def corpus_sticks(
    tables: np.ndarray, corpus_concentration: float, order: np.ndarray | None = None
) -> Sticks:
    """Sticks from the expected tables of each topic (K,), in the given order or by falling number
    of tables.

        u_k = 1 + s_k,  v_k = γ + Σ_{l>k} s_l        (Wang 2011 Eq. 19, 20)

    Ordering by size gives a better bound for any stick-breaking prior (Kurihara et al. 2007). Only
    an index moves, not the topics. A blend of (u, v) under a fixed order equals this function of
    blended tables.

    >>> corpus_sticks(np.array([1.0, 5.0, 2.0]), 1.0)
    Sticks(on=array([6., 3.]), after=array([4., 2.]), order=array([1, 2, 0]))
    """
    order = np.argsort(-tables, kind="stable") if order is None else order
    ordered = tables[order]
    # Σ_{l≥k} s_l from the last topic on.
    tail = ordered[::-1].cumsum()[::-1]
    return Sticks(on=1.0 + ordered[:-1], after=corpus_concentration + tail[1:], order=order)


def expected_weights(sticks: Sticks) -> np.ndarray:
    """E[β] by topic (K,), which sums to 1: the last stick is 1, so the truncation loses no mass.

    >>> expected_weights(Sticks(np.array([3.0]), np.array([1.0]), np.array([1, 0])))
    array([0.25, 0.75])
    """
    on = np.append(sticks.on / (sticks.on + sticks.after), 1.0)
    # What the sticks before leave: ∏_{l<k} (1 - E[β'_l]).
    left = np.append(1.0, np.cumprod(1.0 - on[:-1]))
    weights = np.empty(len(on))
    weights[sticks.order] = on * left
    return weights


def expected_log_weights(sticks: Sticks) -> np.ndarray:
    """E[log β] by topic (K,); Wang 2011, below Eq. 21."""
    total = psi(sticks.on + sticks.after)
    on = np.append(psi(sticks.on) - total, 0.0)
    # Σ_{l<k} E[log (1 - β'_l)].
    left = np.append(0.0, np.cumsum(psi(sticks.after) - total))
    weights = np.empty(len(on))
    weights[sticks.order] = on + left
    return weights


def sticks_bound(sticks: Sticks, corpus_concentration: float) -> float:
    """The sticks' part of a bound, where their tables s have just set them: Σ_k s_k E[log β_k] - KL
    from Beta(1, γ).

    >>> sticks = corpus_sticks(np.array([2.0, 1.0]), 1.0)
    >>> bool(np.isclose(sticks_bound(sticks, 1.0), np.log(1 / 12)))
    True
    """
    return float((betaln(sticks.on, sticks.after) - betaln(1.0, corpus_concentration)).sum())


def find_order(
    tables: np.ndarray, order: np.ndarray, corpus_concentration: float
) -> tuple[np.ndarray, float]:
    """The order of topics along the sticks, and its part of the bound: by size, unless the previous
    order is better.

    The previous order can be better with γ > 1, because the last stick always has share 1.

    >>> find_order(np.array([1.0, 2.0]), np.array([0, 1]), 1.0)[0]
    array([1, 0])
    """
    bounds = []
    for each in (np.argsort(-tables, kind="stable"), order):
        sticks = corpus_sticks(tables, corpus_concentration, each)
        bounds.append((sticks_bound(sticks, corpus_concentration), each))
    best = bounds[0] if bounds[0][0] >= bounds[1][0] else bounds[1]
    return best[1], best[0]


def break_stick(sticks: Sticks, topic_ids: np.ndarray) -> Breaking:
    """Break the stick under q(β'_k) = Beta(u_k, v_k).

    topic_ids: (K,) the ids of the topics that the sticks order.

        E[β_k] = E[β'_k] ∏_{l<k} (1 - E[β'_l]),  E[β'_k] = u_k / (u_k + v_k)  (Wang 2011 Eq. 4, 13)

    >>> sticks = Sticks(np.array([3.0]), np.array([1.0]), np.array([1, 0]))
    >>> break_stick(sticks, np.array([7, 8])).topic_ids
    array([8, 7])
    """
    cuts = np.append(sticks.on / (sticks.on + sticks.after), 1.0)
    return Breaking(
        topic_ids=topic_ids[sticks.order], cuts=cuts, weights=expected_weights(sticks)[sticks.order]
    )
