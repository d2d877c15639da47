"""Expectations that local steps read: topics under their Dirichlet, and a document's prior over
them.
"""

from typing import Any

import numpy as np
from scipy.special import gammaln, psi

from stickbreaker.engine.algorithm import TopicSummary
from stickbreaker.engine.inference.topic_counts import DecayedCounts
from stickbreaker.engine.kernels.special import NOT_RAISED

# A prior below this gives no document a share, and ψ of a denormal number overflows.
SMALLEST_PRIOR = 1e-30


def topic_weights(
    counts: DecayedCounts,
    words: np.ndarray,
    word_concentration: float,
    expectation: str,
    power: float = NOT_RAISED,
) -> np.ndarray:
    """Weights B (U, K) of some words (U,) in the topics, or powers of them, from λ - η in
    DecayedCounts.

        "mean":       B_ik = λ_ki / Σ_w λ_kw              E[topic] (CVB0, Asuncion 2009)
        "geometric":  B_ik = exp(ψ(λ_ki) - ψ(Σ_w λ_kw))   exp E[log topic] (Hoffman 2010 Eq. 6)

    >>> from stickbreaker.engine.inference.topic_counts import decayed_counts
    >>> counts = decayed_counts(np.array([[2.0], [1.0]]))
    >>> topic_weights(counts, np.array([0]), 0.5, "mean")
    array([[0.625]])
    """
    totals: np.ndarray = counts.totals + word_concentration * counts.vocab_size
    if expectation == "mean":
        return counts.rows(words, word_concentration, 1.0 / totals, power)
    return counts.geometric_rows(words, word_concentration, psi(totals), power)


def expected_topics(counts: DecayedCounts, word_concentration: float) -> np.ndarray:
    """E[topic] (K, V) from λ - η in DecayedCounts."""
    return topic_weights(counts, np.arange(counts.vocab_size), word_concentration, "mean").T


def summarize_by_tokens(topics: np.ndarray, expected_tokens: np.ndarray) -> TopicSummary:
    """Summary of a model without corpus weights: each topic's weight is its share of the expected
    tokens (K,).

    Before the first document all weights are equal; the ids are the places of the topics.

    >>> summarize_by_tokens(np.eye(2), np.array([3.0, 1.0])).weights
    array([0.75, 0.25])
    """
    num_topics = len(expected_tokens)
    total = expected_tokens.sum()
    weights = expected_tokens / total if total > 0 else np.full(num_topics, 1.0 / num_topics)
    return TopicSummary(
        topic_ids=np.arange(num_topics),
        topics=topics,
        weights=weights,
        expected_tokens=expected_tokens,
    )


def document_prior(prior: np.ndarray, precision: np.dtype[Any]) -> np.ndarray:
    """Dirichlet parameters (K,) of a document without words, in this precision."""
    rounded: np.ndarray = np.maximum(prior.astype(precision), precision.type(SMALLEST_PRIOR))
    return rounded


def log_expected_likelihood(counts: np.ndarray, topic_words: np.ndarray) -> np.ndarray:
    """log E[∏_w θ_w^c_w] of θ ~ Dirichlet(topic_words), over words (..., V), which a collapsed step
    compares.

    q(z = k) ∝ E[p(x, z = k | θ)]: Wang & Blei 2012 Eq. 6, and sec. 2.3 in closed form.
    """
    of_words = (gammaln(topic_words + counts) - gammaln(topic_words)).sum(-1)
    likelihood: np.ndarray = (
        of_words + gammaln(topic_words.sum(-1)) - gammaln((topic_words + counts).sum(-1))
    )
    return likelihood


def expected_log_likelihood(counts: np.ndarray, topic_words: np.ndarray) -> np.ndarray:
    """E[log ∏_w θ_w^c_w] of θ ~ Dirichlet(topic_words), over words (..., V), which a mean-field
    step compares.

    q(z = k) ∝ exp E[log p(x, z = k | θ)]: Wang & Blei 2012 Eq. 5.
    """
    likelihood: np.ndarray = (
        counts * (psi(topic_words) - psi(topic_words.sum(-1, keepdims=True)))
    ).sum(-1)
    return likelihood
