"""Merges of topics that raise the bound of a whole corpus, whatever its documents' slots hold."""

import numpy as np
from scipy.special import betaln, gammaln, xlogy

from stickbreaker.engine.inference.merging import Merging, find_near

LEAST_TOKENS = 1.0


def find_merges(topic_words, tables, word_concentration, corpus_concentration):
    """Merging of topics (K, V), one pair after another, and how much it raises the bound at least.

    A slot's shares of two topics become one share of the topic that both became, all else about documents stays, and
    topics and sticks are set to the new sums. Of the bound that changes three terms: the topics' normalising constants,
    the sticks', and the slots' entropy, which falls by Σ_jt (φ_jtk + φ_jtl) H(φ_jtk / (φ_jtk + φ_jtl)). H is concave,
    so that is (s_k + s_l) H(s_k / (s_k + s_l)) at most, s being the tables (K,). A pair is merged where all of it is a
    gain.
    """
    counts, tables = topic_words.astype(np.float64), tables.copy()
    targets, gain = np.arange(len(counts)), 0.0
    changed = np.flatnonzero(counts.sum(1) >= LEAST_TOKENS)
    while len(changed):
        tokens = counts.sum(1)
        roots = np.sqrt(counts / np.maximum(tokens, LEAST_TOKENS)[:, None])
        pairs, _ = find_near(roots, changed, tokens >= LEAST_TOKENS)
        gains, taken = _gain_in_topics(counts, pairs, word_concentration), set()
        for (one, other), in_topics in sorted(zip(pairs.tolist(), gains, strict=True), key=lambda each: -each[1]):
            merged = _merge(tables, one, other)
            in_all = in_topics + _gain_in_tables(tables, merged, one, other, corpus_concentration)
            if in_all <= 0 or taken & {one, other}:
                continue
            large, small = (one, other) if tokens[one] >= tokens[other] else (other, one)
            tables = _merge(tables, large, small)
            counts[large] += counts[small]
            counts[small] = 0.0
            targets[targets == small] = large
            taken |= {one, other}
            gain += in_all
        changed = np.array([k for k in sorted(taken) if targets[k] == k], int)
    return Merging(targets), gain


def _merge(tables, large, small):
    merged = tables.copy()
    merged[large], merged[small] = tables[large] + tables[small], 0.0
    return merged


def _gain_in_topics(counts, pairs, word_concentration):
    """log B(η + n_k + n_l) + log B(η) - log B(η + n_k) - log B(η + n_l) of pairs (P, 2)."""

    def log_normal(row):
        parameters = row + word_concentration
        return gammaln(parameters).sum() - gammaln(parameters.sum())

    alone = {k: log_normal(counts[k]) for k in np.unique(pairs)}
    nothing = log_normal(np.zeros(counts.shape[1]))
    return np.array([log_normal(counts[k] + counts[m]) + nothing - alone[k] - alone[m] for k, m in pairs.tolist()])


def _gain_in_tables(tables, merged, one, other, corpus_concentration):
    """What sticks gain and slots' entropies lose at most."""
    pair = tables[[one, other]]
    lost = xlogy(pair.sum(), pair.sum()) - xlogy(pair, pair).sum()
    return _sticks_bound(merged, corpus_concentration) - _sticks_bound(tables, corpus_concentration) - lost


def _sticks_bound(tables, corpus_concentration):
    ordered = np.sort(tables)[::-1]
    after = corpus_concentration + ordered[::-1].cumsum()[::-1][1:]
    return (betaln(1.0 + ordered[:-1], after) - betaln(1.0, corpus_concentration)).sum()
