"""Expectations that local steps read: topics under their Dirichlet, and a document's prior over them."""

import numpy as np
from scipy.special import gammaln, psi

from stickbreaker.engine.kernels.special import SMALLEST_EXPONENT
from stickbreaker.engine.parallel import map_on_threads, split_rows

# A prior below this is no share of any document, and ψ of a denormal overflows.
SMALLEST_PRIOR = 1e-30


def topic_weights(counts, words, word_concentration, expectation):
    """Weights B (U, K) of some words (U,) in the topics, from λ - η in DecayedCounts.

        B_ik = λ_ki / Σ_w λ_kw                      expectation "mean": E[topic] (Wang & Blei 2012 Eq. 6)
        B_ik = exp(ψ(λ_ki) - ψ(Σ_w λ_kw))           expectation "geometric": exp E[log topic] (Hoffman 2010 Eq. 6)

    >>> from stickbreaker.engine.inference.topic_counts import decayed_counts
    >>> counts = decayed_counts(np.array([[2.0], [1.0]]))
    >>> topic_weights(counts, np.array([0]), 0.5, "mean")
    array([[0.625]])
    """
    totals = counts.totals + word_concentration * counts.vocab_size
    if expectation == "mean":
        return counts.rows(words, word_concentration, 1.0 / totals)
    topics = np.empty((len(words), len(totals)), counts.precision)
    digammas, smallest = psi(totals).astype(topics.dtype), topics.dtype.type(SMALLEST_EXPONENT[topics.dtype])

    def weigh(span):
        own = slice(*span)
        counts.weigh(words[own], word_concentration, digammas, smallest, topics[own])

    map_on_threads(weigh, split_rows(*topics.shape))
    return topics


def expected_topics(counts, word_concentration):
    """E[topic] (K, V) from λ - η in DecayedCounts."""
    return topic_weights(counts, np.arange(counts.vocab_size), word_concentration, "mean").T


def document_prior(doc_concentration, weights, precision):
    """Dirichlet parameters (K,) of a document before its words are seen: the total by the topics' weights (K,)."""
    return np.maximum((doc_concentration * weights).astype(precision), np.dtype(precision).type(SMALLEST_PRIOR))


def log_expected_likelihood(counts, topic_words):
    """log E[∏_w θ_w^c_w] of θ ~ Dirichlet(topic_words), over words (..., V): what a collapsed step compares.

    q(z = k) ∝ E[p(x, z = k | θ)]: Wang & Blei 2012 Eq. 6, and sec. 2.3 in closed form.
    """
    of_words = (gammaln(topic_words + counts) - gammaln(topic_words)).sum(-1)
    return of_words + gammaln(topic_words.sum(-1)) - gammaln((topic_words + counts).sum(-1))


def expected_log_likelihood(counts, topic_words):
    """E[log ∏_w θ_w^c_w] of θ ~ Dirichlet(topic_words), over words (..., V): what a mean-field step compares.

    q(z = k) ∝ exp E[log p(x, z = k | θ)]: Wang & Blei 2012 Eq. 5.
    """
    return (counts * (psi(topic_words) - psi(topic_words.sum(-1, keepdims=True)))).sum(-1)
