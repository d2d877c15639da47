"""Topics that are copies of one another: a likelihood-ratio test finds them, and the larger one's id remains."""

import numpy as np
from scipy.special import betaln, gammaln, xlogy

from stickbreaker.engine.algorithm import Phase
from stickbreaker.engine.inference.states import OnlineHDPState
from stickbreaker.engine.inference.topic_counts import Merging
from stickbreaker.engine.kernels.likeness import compare_pairs, measure_rest, multiply_rows
from stickbreaker.engine.kernels.special import SMALLEST_NORMAL
from stickbreaker.engine.parallel import map_on_threads, split_evenly

# Topics with fewer tokens are not compared; each topic is compared with this number of nearest topics.
LEAST_TOKENS = 1.0
NUM_NEIGHBOURS = 5
# The number of most frequent words that determine which topics are near.
NEAR_WORDS = 2048
# Rounding error of a Bhattacharyya coefficient in float32.
ROUNDING = 1e-5
# Two samples of one topic differ by a G of about its degrees of freedom; topics that share each token by much less.
# In the first pass the limit is a tenth, which merges only the latter, because later documents may separate the former.
# When documents are read again, topics that differ by no more than chance are merged too.
HIGHEST_RATIO, HIGHEST_RATIO_OF_REREADING = 0.1, 1.5
# Number of passes after which two topics have had time to become different.
REREADING = 1.5
# Σρ between two searches: half of the content of the topics has then been replaced.
RATES_BETWEEN = float(np.log(2.0))


def merge_duplicates(state: OnlineHDPState, corpus_size: int) -> OnlineHDPState:
    """Merge duplicates if a search is due: half of the content of the topics has been replaced since the last one.

    The interval before the first search begins at the end of the warm-up.
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


def find_duplicates(topic_words: np.ndarray, highest_ratio: float = HIGHEST_RATIO) -> Merging:
    """Merging of topics whose counts (K, V) differ by a G of less than `highest_ratio` of its degrees of freedom.

    Each of the two must also be nearer to the other than to the sum of all other topics. While all topics are still
    alike, no topic is a copy.

    Each round merges the pairs that are most alike, a topic at most once, and the next round compares the merged topics
    again. The remaining id is that of the topic that was larger before any merging.
    """
    # The words with the most tokens come first: they show soonest that two topics differ.
    by_word = np.argsort(-topic_words.sum(0), kind="stable")
    counts, targets = np.ascontiguousarray(topic_words.T[by_word].T), np.arange(len(topic_words))
    tokens: np.ndarray = counts.sum(1, dtype=np.float64)
    tokens_before = tokens.copy()
    changed = np.flatnonzero(tokens >= LEAST_TOKENS)
    ratios: dict[tuple[int, int], float] = {}
    corpus, rests = counts.sum(0), np.full(len(counts), np.nan)
    roots, shares = np.zeros_like(counts[:, :NEAR_WORDS]), np.zeros(len(counts))
    while len(changed):
        rests[changed] = np.nan
        # The most frequent words decide; the contribution of the others is bounded (Cauchy-Schwarz).
        near = counts[changed, :NEAR_WORDS]
        near_tokens = np.maximum(near.sum(1), SMALLEST_NORMAL)
        roots[changed], shares[changed] = np.sqrt(near / near_tokens[:, None]), near_tokens / tokens[changed]
        pairs, likeness = find_near(roots, changed, tokens >= LEAST_TOKENS)
        likeness = likeness * np.sqrt(shares[pairs].prod(1)) + np.sqrt(np.maximum(1.0 - shares[pairs], 0.0).prod(1))
        pairs = pairs[may_be_copies(tokens[pairs], likeness, counts.shape[1], highest_ratio)]
        ratios |= _compare(counts, pairs, tokens, corpus, rests, highest_ratio)
        taken: set[int] = set()
        for one, other in sorted(ratios, key=ratios.__getitem__):
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


def find_near(roots: np.ndarray, changed: np.ndarray, is_live: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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


def may_be_copies(tokens: np.ndarray, likeness: np.ndarray, vocab_size: int, highest_ratio: float) -> np.ndarray:
    """Whether G of pairs with these tokens (P, 2) and at most these Bhattacharyya coefficients (P,) may be low enough.

    G = 2 (a + b) JS. The weighted Jensen-Shannon divergence JS is at least 2 min(a, b) / (a + b) times the unweighted
    one, because it is concave in the weights and 0 at 0 and 1. The unweighted one is at least (1 - BC) / 2 (Topsøe
    2000).
    """
    freedom = np.minimum(vocab_size, 2.0 * tokens.sum(1))
    is_low: np.ndarray = 2.0 * tokens.min(1) * (1.0 - likeness - ROUNDING) <= highest_ratio * freedom
    return is_low


def _compare(
    counts: np.ndarray,
    pairs: np.ndarray,
    tokens: np.ndarray,
    corpus: np.ndarray,
    rests: np.ndarray,
    highest_ratio: float,
) -> dict[tuple[int, int], float]:
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
    copies = zip(pairs[is_copy].tolist(), ratios[is_copy], strict=True)
    return {(one_id, other_id): ratio for (one_id, other_id), ratio in copies}


def find_merges(
    topic_words: np.ndarray, tables: np.ndarray, word_concentration: float, corpus_concentration: float
) -> tuple[Merging, float]:
    """Merging of topics (K, V), one pair after another, and a lower limit of its gain in the bound.

    The shares that a slot gives to two topics become one share of the merged topic. Everything else about documents
    stays, and topics and sticks are set to the new sums. This changes three terms of the bound: the normalising
    constants of topics, those of sticks, and the entropy of slots, which falls by Σ_jt (φ_jtk + φ_jtl) H(φ_jtk /
    (φ_jtk + φ_jtl)). H is concave, so this is at most (s_k + s_l) H(s_k / (s_k + s_l)) with the tables s (K,). A pair
    is merged if the three together are a gain.
    """
    counts, tables = topic_words.astype(np.float64), tables.copy()
    targets, gain = np.arange(len(counts)), 0.0
    changed = np.flatnonzero(counts.sum(1) >= LEAST_TOKENS)
    while len(changed):
        tokens = counts.sum(1)
        roots = np.sqrt(counts / np.maximum(tokens, LEAST_TOKENS)[:, None])
        pairs, _ = find_near(roots, changed, tokens >= LEAST_TOKENS)
        gains = _gain_in_topics(counts, pairs, word_concentration)
        taken: set[int] = set()
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


def _merge(tables: np.ndarray, large: int, small: int) -> np.ndarray:
    merged = tables.copy()
    merged[large], merged[small] = tables[large] + tables[small], 0.0
    return merged


def _gain_in_topics(counts: np.ndarray, pairs: np.ndarray, word_concentration: float) -> np.ndarray:
    """log B(η + n_k + n_l) + log B(η) - log B(η + n_k) - log B(η + n_l) of pairs (P, 2)."""

    def log_normal(row: np.ndarray) -> float:
        parameters: np.ndarray = row + word_concentration
        log_normal: float = gammaln(parameters).sum() - gammaln(parameters.sum())
        return log_normal

    alone = {k: log_normal(counts[k]) for k in np.unique(pairs)}
    nothing = log_normal(np.zeros(counts.shape[1]))
    return np.array([log_normal(counts[k] + counts[m]) + nothing - alone[k] - alone[m] for k, m in pairs.tolist()])


def _gain_in_tables(tables: np.ndarray, merged: np.ndarray, one: int, other: int, corpus_concentration: float) -> float:
    """The gain of the sticks minus the largest possible loss of the slots' entropies."""
    pair = tables[[one, other]]
    lost: float = xlogy(pair.sum(), pair.sum()) - xlogy(pair, pair).sum()
    return _sticks_bound(merged, corpus_concentration) - _sticks_bound(tables, corpus_concentration) - lost


def _sticks_bound(tables: np.ndarray, corpus_concentration: float) -> float:
    ordered = np.sort(tables)[::-1]
    after = corpus_concentration + ordered[::-1].cumsum()[::-1][1:]
    bound: float = (betaln(1.0 + ordered[:-1], after) - betaln(1.0, corpus_concentration)).sum()
    return bound
