"""Coherence of topics: NPMI of their top words, exclusivity, and diversity.

The top words of a topic are its ten most probable words. Topics are rows of E[topic]; words that
occur together are counted over whole documents of reference counts.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csc_array

from stickbreaker.engine.evaluation.topic_space import find_top_words

NUM_TOP_WORDS = 10
# The weight of exclusivity in FREX; frequency has the rest.
EXCLUSIVITY_WEIGHT = 0.5
NEVER_TOGETHER = -1.0


class TopicQuality(NamedTuple):
    """Coherence (NPMI) and exclusivity of each of U topics.

    topic_ids: (U,) int64.
    shares: (U,) of the tokens that these topics explain, sum 1.
    npmi: (U,) in [-1, 1].
    exclusivity: (U,) in (0, 1].
    top_words: (U, 10) word ids, the most probable first.
    """

    topic_ids: np.ndarray
    shares: np.ndarray
    npmi: np.ndarray
    exclusivity: np.ndarray
    top_words: np.ndarray


class OverallQuality(NamedTuple):
    """All topics in five numbers.

    npmi: mean over the topics.
    weighted_npmi: mean over the tokens.
    below_zero: share of the topics whose NPMI is below zero.
    exclusivity: mean over the topics.
    diversity: share of distinct words among the top words of all topics.
    """

    npmi: float
    weighted_npmi: float
    below_zero: float
    exclusivity: float
    diversity: float


def measure_quality(
    topic_ids: np.ndarray, topics: np.ndarray, tokens: np.ndarray, counts: Any
) -> TopicQuality:
    """NPMI and exclusivity of each topic (U, V) in use, with the counts of reference documents (D,
    V).

    tokens: (U,) expected tokens. Topics that are not in use would change the exclusivity of the
    others.
    """
    top = find_top_words(topics, NUM_TOP_WORDS)
    shares = np.asarray(tokens, np.float64) / max(float(np.sum(tokens)), 1e-300)
    return TopicQuality(
        topic_ids=np.asarray(topic_ids),
        shares=shares,
        npmi=npmi(top, counts),
        exclusivity=exclusivity(topics, top),
        top_words=top,
    )


def sum_up(quality: TopicQuality) -> OverallQuality:
    """The quality of all topics together; every number is NaN if there is no topic."""
    if not len(quality.npmi):
        return OverallQuality(**dict.fromkeys(OverallQuality._fields, float("nan")))
    return OverallQuality(
        npmi=float(quality.npmi.mean()),
        weighted_npmi=float((quality.shares * quality.npmi).sum()),
        below_zero=float((quality.npmi < 0).mean()),
        exclusivity=float(quality.exclusivity.mean()),
        diversity=diversity(quality.top_words),
    )


def npmi(top_words: np.ndarray, counts: Any) -> np.ndarray:
    """Mean normalised pointwise mutual information of all pairs of a topic's top words (K, N), as
    (K,) in [-1, 1].

        NPMI(v, w) = log [p(v, w) / (p(v) p(w))] / -log p(v, w)        (Bouma 2009 Eq. 8)

    p(v) is the share of the reference documents, counts (D, V), that contain v, and p(v, w) the
    share that contain both. A pair that never occurs together has the limit -1, even if a word is
    in no document. A pair that occurs together in every document has 0: its words are independent.
    Topics of fewer than two words have NaN. Lau, Newman & Baldwin 2014 count in sliding windows;
    this counts whole documents.

    >>> npmi(np.array([[0, 1], [0, 2]]), np.array([[1, 2, 0], [3, 1, 0], [0, 0, 1], [0, 0, 4]]))
    array([ 1., -1.])
    """
    top_words = np.asarray(top_words)
    first, second = np.triu_indices(top_words.shape[1], 1)
    if not len(first):
        return np.full(len(top_words), np.nan)
    words, places = np.unique(top_words, return_inverse=True)
    present = csc_array(csc_array(counts)[:, words] > 0, dtype=np.float32)
    shares = np.empty((len(top_words), top_words.shape[1], top_words.shape[1]))
    # A dense product for each topic is faster than a sparse one for all. float32 counts 16 million
    # documents exactly.
    for k, row in enumerate(places.reshape(top_words.shape)):
        is_in = present[:, row].toarray()
        shares[k] = is_in.T @ is_in
    shares /= max(1, present.shape[0])
    single = np.diagonal(shares, axis1=1, axis2=2)
    both = shares[:, first, second]
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.log(both / (single[:, first] * single[:, second])) / -np.log(both)
    values = np.where(both >= 1, 0.0, np.where(both > 0, values, NEVER_TOGETHER))
    means: np.ndarray = values.mean(1)
    return means


def exclusivity(
    topics: np.ndarray, top_words: np.ndarray, weight: float = EXCLUSIVITY_WEIGHT
) -> np.ndarray:
    """Mean FREX of each topic's top words (K, N), as (K,) in (0, 1].

        FREX(k, w) = [ω / ECDF(φ_kw / Σ_j φ_jw) + (1 - ω) / ECDF(φ_kw)]⁻¹        (Bischof & Airoldi
        2012 Eq. 5, ω = .5)

    Each ECDF is over the V words of topic k (K, V): the share of words whose value is at most this
    one. So FREX is the weighted harmonic mean of two ranks, and 1 is the word that is both the most
    frequent and the most exclusive.

    >>> exclusivity(np.array([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]), np.array([[1],
    ...     [0]])).round(2).tolist()
    [1.0, 0.8]
    """
    topics = np.asarray(topics)
    scores = frex(topics, top_words, weight)
    return np.asarray(scores.mean(1))


def frex(topics: np.ndarray, words: np.ndarray, weight: float = EXCLUSIVITY_WEIGHT) -> np.ndarray:
    """FREX (K, N) of some words (K, N) of each topic (K, V); see `exclusivity`."""
    totals = np.maximum(topics.sum(0, dtype=np.float64), 1e-300)
    scores = np.empty(words.shape)
    for k, row in enumerate(topics):
        exclusive = _rank(row / totals, words[k])
        frequent = _rank(row, words[k])
        scores[k] = 1.0 / (weight / exclusive + (1.0 - weight) / frequent)
    return scores


def _rank(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The share of values (V,) that are at most the one at each place (N,)."""
    ranks: np.ndarray = np.searchsorted(np.sort(values), values[places], side="right") / len(values)
    return ranks


def diversity(top_words: ArrayLike) -> float:
    """Share of distinct words among the top words (K, N) of all topics, 1/K to 1.

    NaN without topics.

    Source: Dieng, Ruiz & Blei 2020, sec. 5 (with 25 words).

    >>> diversity([[0, 1], [1, 2]])
    0.75
    """
    words = np.asarray(top_words)
    if not words.size:
        return float("nan")
    return len(np.unique(words)) / words.size
