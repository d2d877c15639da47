"""Topics and the exact evidence of LDA, for tests of its online and batch form."""

from itertools import product

import numpy as np
from scipy.special import logsumexp

from stickbreaker.engine.algorithm import Phase
from stickbreaker.engine.algorithms.lda import LDAState
from stickbreaker.engine.inference.concentrations import first_concentrations
from stickbreaker.engine.inference.topic_counts import decayed_counts
from tests.enumeration import DOCUMENTS, log_assignments, log_words

V, K = 30, 5
# Sweeps that let every document converge.
CONVERGED = 4000


def draw_topic_words(seed, num_topics=K, vocab_size=V):
    """λ (K, V) of topics that all differ."""
    return np.random.default_rng(seed).gamma(1.0, 3.0, (num_topics, vocab_size)) + 0.1


def state_at(config, topic_words, step=0):
    """A state of online LDA with this λ (K, V)."""
    return LDAState(
        topic_counts=counts_of(config, topic_words),
        expected_tokens=np.zeros(len(topic_words)),
        step=step,
        rate_spent=0.0,
        startup_share=1.0,
        phase=Phase.LEARNING,
        temperature=1.0,
        concentrations=first_concentrations(
            config.doc_concentration, config.word_concentration, num_parts=len(topic_words)
        ),
    )


def counts_of(config, topic_words):
    """λ - η of this λ (K, V)."""
    return decayed_counts(np.ascontiguousarray(topic_words.T - config.word_concentration))


def log_evidence(config):
    """log p(words) of five tokens under LDA: the sum over all assignments."""
    num_topics = config.max_topics
    prior = np.full(num_topics, config.doc_concentration / num_topics)
    terms = []
    for topics in product(*(product(range(num_topics), repeat=len(words)) for words in DOCUMENTS)):
        of_words = log_words(sum(topics, ()), config.word_concentration)
        terms.append(of_words + sum(log_assignments(own, prior) for own in topics))
    return logsumexp(terms)
