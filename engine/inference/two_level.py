"""Documents whose words go through slots: the two-level local step, online or over a whole corpus (Wang 2011).

`start` and `topic_expectation` of a config say how; engine/algorithms/hdp.py says what their choices mean.
"""

from typing import NamedTuple

import numpy as np

from stickbreaker.engine.algorithm import Phase
from stickbreaker.engine.inference.expectations import document_prior, topic_weights
from stickbreaker.engine.inference.global_step import Statistics
from stickbreaker.engine.inference.sticks import expected_log_weights, expected_weights
from stickbreaker.engine.kernels.counts import room_for
from stickbreaker.engine.kernels.dirichlet import Sweeps
from stickbreaker.engine.kernels.two_level import Asked, Limits, Prior, fit_one, fit_two_level

START_SWEEPS = Sweeps(10, 0.0, 0.01)
MAX_ITERATIONS = {"warm": 3, "wang": 100, "svi": 100}
TOLERANCE = 1e-3


class Expectations(NamedTuple):
    """What the local step reads: a batch's words (U,) and their topic weights (U, K), α₀E[β] and E[log β] (K,), α₀."""

    words: np.ndarray
    topics: np.ndarray
    prior: np.ndarray
    expected_log_weights: np.ndarray
    doc_concentration: float
    step: int
    phase: Phase
    temperature: float = 1.0


def expect_slots(config, state, sticks, words, phase):
    """Expectations for some words (U,), from the λ - η of a state and the corpus' sticks."""
    topics = topic_weights(state.topic_counts, words, config.word_concentration, config.topic_expectation)
    prior = document_prior(config.doc_concentration, expected_weights(sticks), topics.dtype)
    log_weights = expected_log_weights(sticks).astype(topics.dtype)
    return Expectations(words, topics, prior, log_weights, float(config.doc_concentration), state.step, phase)


def limits_of(config):
    """Sizes and switches of the kernel under a config."""
    is_uniform, num_topics = config.start != "warm", config.max_topics
    num_active = num_topics if is_uniform else min(max(config.max_active_topics, config.max_slots), num_topics)
    return Limits(
        min(config.max_slots, num_active),
        num_active,
        MAX_ITERATIONS[config.start],
        TOLERANCE,
        float(config.doc_concentration),
        is_uniform,
        config.topic_expectation == "geometric",
    )


def fit_slots(documents, expectations, limits, is_learning, has_bound=False, has_sticks=False):
    """Statistics of documents, their topic shares (S, K), and the sum of `bound_slots` over them (0 if not asked for).

    Eq. 15-18 until they resolve; nothing is drawn, and statistics of shards add up. α₀ is that of the expectations.
    """
    topics = np.ascontiguousarray(expectations.topics)
    num_topics, num_documents = len(expectations.prior), documents.num_documents
    prior = _prior_of(expectations)
    tables, tokens = np.zeros(num_topics), np.zeros(num_topics)
    shares, bounds = np.zeros((num_documents, num_topics), topics.dtype), np.zeros(num_documents * has_bound)
    own = documents.indexed(expectations.words)
    counts = room_for(own, limits.max_active if is_learning else 0, topics.dtype)
    limits = limits._replace(doc_concentration=expectations.doc_concentration)
    asked = Asked(bounds, np.zeros(2 * has_sticks))
    fit_two_level(own, topics, prior, START_SWEEPS, limits, counts, tables, tokens, shares, asked)
    phase = expectations.phase, expectations.temperature
    statistics = Statistics(expectations.words, (counts,), tables, tokens, *phase, asked.sticks)
    return statistics, shares, bounds.sum()


def trace_slots(documents, expectations, limits, num_iterations):
    """What one document's slots are after 1, 2, ... iterations of Eq. 18, 15-16 and 17: ids (A,), Slots, `bound_slots`.

    Each is fitted from its start anew by the code that runs; none ends because it has settled.
    """
    own, prior = documents.indexed(expectations.words), _prior_of(expectations)
    limits = limits._replace(doc_concentration=expectations.doc_concentration, tolerance=0.0)
    each = (limits._replace(num_iterations=number) for number in range(1, num_iterations + 1))
    return [fit_one(own, expectations.topics, prior, START_SWEEPS, some) for some in each]


def _prior_of(expectations):
    order = np.argsort(-expectations.prior, kind="stable")
    return Prior(expectations.prior, expectations.expected_log_weights, order)
