"""Topics that are copies of one another: found by a test of likeness, and merged under the id of the larger."""

from typing import NamedTuple

import numpy as np
from scipy.special import betaln, gammaln, xlogy

from stickbreaker.engine.algorithm import Phase
from stickbreaker.engine.kernels.likeness import compare_pairs, measure_rest, multiply_rows
from stickbreaker.engine.kernels.special import SMALLEST_NORMAL
from stickbreaker.engine.parallel import map_on_threads, split_evenly

# Tokens below which a topic is nothing to compare, and its nearest topics that it is compared with.
LEAST_TOKENS = 1.0
NUM_NEIGHBOURS = 5
# The most frequent words, by which they are found.
NEAR_WORDS = 2048
# Of a Bhattacharyya coefficient in float32.
ROUNDING = 1e-5
# Two samples of one topic differ by a G of about its degrees of freedom; topics that split each token between them by
# far less. A tenth of it merges these alone, while there is more to read that may part the others; topics that still
# differ by no more than chance when documents are read again stand for no more than chance (engine/DECISIONS.md).
HIGHEST_RATIO, HIGHEST_RATIO_OF_REREADING = 0.1, 1.5
# Documents read, in those of the corpus, from where on two topics had their chance to part.
REREADING = 1.5
# Σρ from one look for copies to the next: half of what the topics held has then been replaced.
RATES_BETWEEN = float(np.log(2.0))


class Merging(NamedTuple):
    """Where each topic's counts go: (K,) ids, a topic's own unless it is a copy of a larger one."""

    targets: np.ndarray

    @property
    def is_empty(self):
        """Whether every topic keeps its own."""
        return bool((self.targets == np.arange(len(self.targets))).all())

    def add_up(self, values):
        """Sums of values (K, ...) under the ids they go to; nothing is left under a merged id.

        >>> Merging(np.array([0, 0, 2])).add_up(np.array([5.0, 1.0, 3.0]))
        array([6., 0., 3.])
        """
        summed = values.copy()
        for merged in np.flatnonzero(self.targets != np.arange(len(self.targets))):
            summed[self.targets[merged]] += values[merged]
            summed[merged] = 0
        return summed


def merge_duplicates(state, corpus_size):
    """The state after a look for copies, if one is due: half of what topics held has been replaced since the last look.

    The first look is so long after the warm-up's end. state: of an online HDP, with `rate_spent`, `looked_at` and
    `documents_read`.
    """
    if state.phase == Phase.WARM_UP:
        return state._replace(looked_at=state.rate_spent)
    if state.rate_spent - state.looked_at < RATES_BETWEEN:
        return state
    is_rereading = state.documents_read > REREADING * corpus_size
    ratio = HIGHEST_RATIO_OF_REREADING if is_rereading else HIGHEST_RATIO
    merging = find_duplicates(state.topic_counts.seen().T, ratio)
    return state._replace(
        topic_counts=state.topic_counts.merge(merging),
        tables=merging.add_up(state.tables),
        expected_tokens=merging.add_up(state.expected_tokens),
        looked_at=state.rate_spent,
    )


def find_duplicates(topic_words, highest_ratio=HIGHEST_RATIO):
    """Merging of topics whose counts (K, V) differ by a G of less than `highest_ratio` of its degrees of freedom.

    Each of the two must also be nearer to the other than to all that the rest of the topics hold: where topics have yet
    to part, all of them are alike and none is a copy.

    Round after round the most alike of such pairs are merged, a topic at most once a round, and what a round made is
    compared anew. The id kept is that of the topic that was larger before any merging.
    """
    # The words with the most tokens first: they soon tell that two are no copies.
    by_word = np.argsort(-topic_words.sum(0), kind="stable")
    counts, targets = np.ascontiguousarray(topic_words.T[by_word].T), np.arange(len(topic_words))
    tokens = counts.sum(1, dtype=np.float64)
    tokens_before = tokens.copy()
    changed, ratios = np.flatnonzero(tokens >= LEAST_TOKENS), {}
    corpus, rests = counts.sum(0), np.full(len(counts), np.nan)
    roots, shares = np.zeros_like(counts[:, :NEAR_WORDS]), np.zeros(len(counts))
    while len(changed):
        rests[changed] = np.nan
        # By their most frequent words, to which what the others may add is bounded (Cauchy-Schwarz).
        near = counts[changed, :NEAR_WORDS]
        near_tokens = np.maximum(near.sum(1), SMALLEST_NORMAL)
        roots[changed], shares[changed] = np.sqrt(near / near_tokens[:, None]), near_tokens / tokens[changed]
        pairs, likeness = find_near(roots, changed, tokens >= LEAST_TOKENS)
        likeness = likeness * np.sqrt(shares[pairs].prod(1)) + np.sqrt(np.maximum(1.0 - shares[pairs], 0.0).prod(1))
        pairs = pairs[may_be_copies(tokens[pairs], likeness, counts.shape[1], highest_ratio)]
        ratios |= _compare(counts, pairs, tokens, corpus, rests, highest_ratio)
        taken = set()
        for one, other in sorted(ratios, key=ratios.get):
            if taken & {one, other}:
                continue
            large, small = (one, other) if tokens_before[one] >= tokens_before[other] else (other, one)
            taken |= {large, small}
            counts[large] += counts[small]
            tokens[large] += tokens[small]
            tokens[small] = 0.0
            targets[targets == small] = large
        changed = np.array([k for k in sorted(taken) if tokens[k] > 0], int)
        ratios = {pair: ratio for pair, ratio in ratios.items() if not taken & set(pair)}
    return Merging(targets)


def find_near(roots, changed, is_live):
    """Pairs (P, 2), smaller id first, of topics and their nearest; Bhattacharyya coefficients Σ_w sqrt(p q) (P,)."""
    number = min(NUM_NEIGHBOURS, int(is_live.sum()) - 1)
    if number < 1:
        return np.empty((0, 2), np.int64), np.empty(0)
    likeness = np.empty((len(changed), len(roots)), roots.dtype)
    spans = split_evenly(np.arange(len(changed) + 1))
    map_on_threads(lambda span: multiply_rows(roots, changed[slice(*span)], likeness[slice(*span)]), spans)
    likeness[:, ~is_live] = -1.0
    likeness[np.arange(len(changed)), changed] = -1.0
    nearest = np.argpartition(-likeness, number - 1, axis=1)[:, :number]
    pairs = np.column_stack([np.repeat(changed, number), nearest.ravel()])
    pairs, first = np.unique(np.sort(pairs, axis=1), axis=0, return_index=True)
    return pairs, np.take_along_axis(likeness, nearest, 1).ravel()[first]


def may_be_copies(tokens, likeness, vocab_size, highest_ratio):
    """Whether G of pairs with so many tokens (P, 2) and that Bhattacharyya coefficient (P,) or less may be low enough.

    G = 2 (a + b) JS, the weighted Jensen-Shannon divergence JS being 2 min(a, b) / (a + b) times the unweighted at
    least, as it is concave in the weights and 0 at 0 and 1, and that one (1 - BC) / 2 at least (Topsøe 2000).
    """
    freedom = np.minimum(vocab_size, 2.0 * tokens.sum(1))
    return 2.0 * tokens.min(1) * (1.0 - likeness - ROUNDING) <= highest_ratio * freedom


def _compare(counts, pairs, tokens, corpus, rests, highest_ratio):
    """The pairs that are copies, with their ratios of G to its degrees of freedom; rests: (K,), NaN until measured."""
    tests = np.empty((len(pairs), 2))
    spans = split_evenly(np.arange(len(pairs) + 1))
    map_on_threads(lambda span: compare_pairs(counts, pairs[slice(*span)], highest_ratio, tests[slice(*span)]), spans)
    is_low = tests[:, 0] < np.inf
    pairs, (statistics, freedom) = pairs[is_low], tests[is_low].T
    asked = np.unique(pairs[np.isnan(rests[pairs])])
    measure_rest(counts, corpus, asked, rests)
    one, other = tokens[pairs].T
    ratios = statistics / np.maximum(freedom, 1.0)
    distances = statistics * (one + other) / (one * other)
    is_copy = (ratios < highest_ratio) & (distances < rests[pairs].min(1, initial=np.inf))
    return {tuple(pair): ratio for pair, ratio in zip(pairs[is_copy].tolist(), ratios[is_copy], strict=True)}


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
