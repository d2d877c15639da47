"""Merges of topics that raise the bound of a batch algorithm; the larger topic's id remains."""

import numpy as np
from scipy.special import betaln, gammaln, xlogy

from stickbreaker.engine.inference.topic_counts import Merging
from stickbreaker.engine.kernels.similarity import multiply_rows
from stickbreaker.engine.parallel.threads import map_on_threads, split_evenly

# Topics with fewer tokens are not compared; each topic is compared with this number of nearest
# topics.
LEAST_TOKENS = 1.0
NUM_NEIGHBOURS = 5


def find_near(
    roots: np.ndarray, changed: np.ndarray, is_live: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (P, 2) of near topics, smaller id first, and their Bhattacharyya coefficients."""
    number = min(NUM_NEIGHBOURS, int(is_live.sum()) - 1)
    if number < 1:
        return np.empty((0, 2), np.int64), np.empty(0)
    similarity = np.empty((len(changed), len(roots)), roots.dtype)
    spans = split_evenly(np.arange(len(changed) + 1))
    map_on_threads(
        lambda span: multiply_rows(roots, changed[slice(*span)], similarity[slice(*span)]), spans
    )
    # Topics without tokens, and a topic with itself, are no pairs.
    similarity[:, ~is_live] = -1.0
    similarity[np.arange(len(changed)), changed] = -1.0
    nearest = np.argpartition(-similarity, number - 1, axis=1)[:, :number]
    pairs = np.column_stack([np.repeat(changed, number), nearest.ravel()])
    pairs, first = np.unique(np.sort(pairs, axis=1), axis=0, return_index=True)
    return pairs, np.take_along_axis(similarity, nearest, 1).ravel()[first]


def find_merges(
    topic_words: np.ndarray,
    tables: np.ndarray,
    word_concentration: float,
    corpus_concentration: float,
) -> tuple[Merging, float]:
    """Merging of topics (K, V), one pair after another, and a lower limit of its gain in the bound.

    The shares that a slot gives to two topics become one share of the merged topic. Everything else
    about documents stays, and topics and sticks are set to the new sums. This changes three terms
    of the bound: the normalising constants of topics, those of sticks, and the entropy of slots,
    which falls by Σ_jt (φ_jtk + φ_jtl) H(φ_jtk / (φ_jtk + φ_jtl)). H is concave, so this is at most
    (s_k + s_l) H(s_k / (s_k + s_l)) with the tables s (K,). A pair is merged if the three together
    are a gain.
    """
    counts = topic_words.astype(np.float64)
    tables = tables.copy()
    targets = np.arange(len(counts))
    gain = 0.0
    changed = np.flatnonzero(counts.sum(1) >= LEAST_TOKENS)
    while len(changed):
        tokens = counts.sum(1)
        roots = np.sqrt(counts / np.maximum(tokens, LEAST_TOKENS)[:, None])
        pairs, _ = find_near(roots, changed, tokens >= LEAST_TOKENS)
        # The gain in the topics' normalising constants bounds the order in which pairs are tried.
        gains = _gain_in_topics(counts, pairs, word_concentration)
        taken: set[int] = set()
        for (one, other), in_topics in sorted(
            zip(pairs.tolist(), gains, strict=True), key=lambda each: -each[1]
        ):
            merged = _merge(tables, one, other)
            in_all = in_topics + _gain_in_tables(tables, merged, one, other, corpus_concentration)
            # A topic that was merged in this round has other counts now, and waits for the next
            # round.
            if in_all <= 0 or taken & {one, other}:
                continue
            large, small = (one, other) if tokens[one] >= tokens[other] else (other, one)
            tables = _merge(tables, large, small)
            counts[large] += counts[small]
            counts[small] = 0.0
            targets[targets == small] = large
            taken |= {one, other}
            gain += in_all
        # Only pairs with a topic that has just grown can have become a gain.
        changed = np.array([k for k in sorted(taken) if targets[k] == k], int)
    return Merging(targets), gain


def _merge(tables: np.ndarray, large: int, small: int) -> np.ndarray:
    merged = tables.copy()
    merged[large] = tables[large] + tables[small]
    merged[small] = 0.0
    return merged


def _gain_in_topics(counts: np.ndarray, pairs: np.ndarray, word_concentration: float) -> np.ndarray:
    """log B(η + n_k + n_l) + log B(η) - log B(η + n_k) - log B(η + n_l) of pairs (P, 2)."""

    def log_normal(row: np.ndarray) -> float:
        parameters: np.ndarray = row + word_concentration
        log_normal: float = gammaln(parameters).sum() - gammaln(parameters.sum())
        return log_normal

    alone = {k: log_normal(counts[k]) for k in np.unique(pairs)}
    nothing = log_normal(np.zeros(counts.shape[1]))
    return np.array(
        [
            log_normal(counts[k] + counts[m]) + nothing - alone[k] - alone[m]
            for k, m in pairs.tolist()
        ]
    )


def _gain_in_tables(
    tables: np.ndarray, merged: np.ndarray, one: int, other: int, corpus_concentration: float
) -> float:
    """The gain of the sticks minus the largest possible loss of the slots' entropies."""
    pair = tables[[one, other]]
    lost: float = xlogy(pair.sum(), pair.sum()) - xlogy(pair, pair).sum()
    return (
        _sticks_bound(merged, corpus_concentration)
        - _sticks_bound(tables, corpus_concentration)
        - lost
    )


def _sticks_bound(tables: np.ndarray, corpus_concentration: float) -> float:
    ordered = np.sort(tables)[::-1]
    after = corpus_concentration + ordered[::-1].cumsum()[::-1][1:]
    bound: float = (betaln(1.0 + ordered[:-1], after) - betaln(1.0, corpus_concentration)).sum()
    return bound
