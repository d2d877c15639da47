"""What moves inside an algorithm at one moment: its stick, one document's slots, and a topic's next noisy step.

Reading, never learning: states stay as they are. Configs are resolved
(`engine.schedules.resolve`). Letters and equations
of Wang, Paisley & Blei (2011).
"""

from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np
from scipy.special import psi

from stickbreaker.engine.algorithm import Phase
from stickbreaker.engine.corpora.corpus import Batch
from stickbreaker.engine.executors import map_shards
from stickbreaker.engine.inference.global_step import batch_scale
from stickbreaker.engine.inference.sticks import Sticks, corpus_sticks, expected_weights
from stickbreaker.engine.inference.topic_counts import decayed_counts
from stickbreaker.engine.inference.truncation_free import GrowingState, sticks_of
from stickbreaker.engine.inference.two_level import limits_of, trace_slots
from stickbreaker.engine.schedules import learning_rate, resolve

# Stands where a topic would, for the part of the stick that no topic has.
NO_TOPIC = -1
NUM_ITERATIONS, NUM_WORDS = 20, 12


class Breaking(NamedTuple):
    """A stick of length 1 from which topics take their weights, one after another.

    topic_ids: (P,) whose each piece is, NO_TOPIC for what is left to topics not yet born; cuts: (P,) E[β'_k], shares of
    what is left before; weights: (P,) E[β_k], which sum to 1.
    """

    topic_ids: np.ndarray
    cuts: np.ndarray
    weights: np.ndarray


def break_stick(config, state):
    """The corpus' stick as it breaks, under q(β'_k) = Beta(u_k, v_k); None where an algorithm breaks none.

        E[β_k] = E[β'_k] ∏_{l<k} (1 - E[β'_l]),  E[β'_k] = u_k / (u_k + v_k)

    Source: Eq. 4 and 13; of the collapsed system Teh, Kurihara & Welling (2007) Eq. 8, whose last stick leaves a rest.
    """
    if hasattr(state, "sticks"):
        order, num_topics = state.sticks.order, len(state.sticks.order)
        sticks = Sticks(state.sticks.on[order], state.sticks.after[order], np.append(order, num_topics))
        topic_ids = np.append(np.arange(num_topics), NO_TOPIC)
    elif isinstance(state, GrowingState):
        sticks = sticks_of(state.tables, config.corpus_concentration)
        topic_ids = np.append(state.topic_ids, NO_TOPIC)
    elif hasattr(state, "tables") and hasattr(state, "topic_counts"):
        known = state.concentrations.corpus if hasattr(state, "concentrations") else config.corpus_concentration
        sticks = corpus_sticks(state.tables, known, getattr(state, "order", None))
        topic_ids = np.arange(len(state.tables))
    else:
        return None
    cuts = np.append(sticks.on / (sticks.on + sticks.after), 1.0)
    return Breaking(topic_ids[sticks.order], cuts, expected_weights(sticks)[sticks.order])


class SlotTrace(NamedTuple):
    """A document's T slots after each of I iterations, of which a run takes the first `num_taken` (or fewer than I).

    topic_ids: (A,) the topics it considers; slot_topics: (I, T, A) φ_jt; tokens: (I, T) Σ_n ζ_jnt; shares: (I, T)
    E[π_jt]; bounds: (I,) its part of Eq. 14, in nats.
    """

    topic_ids: np.ndarray
    slot_topics: np.ndarray
    tokens: np.ndarray
    shares: np.ndarray
    bounds: np.ndarray
    num_taken: int


def trace_document(algorithm, config, state, documents, num_iterations=NUM_ITERATIONS):
    """Coordinate ascent over the first document's slots, Eq. 15-18; None where an algorithm has no slots.

    A state of the warm-up, in which documents have no slots yet, is taken as if that were over. Topics not considered
    have φ_jtk = 0. The bound reads E[log p(w|φ)] as Eq. 14 does whatever the config's `topic_expectation`.
    """
    if not hasattr(config, "max_slots"):
        return None
    document = documents.cut(0, 1)
    expectations = algorithm.expect(config, state._replace(phase=Phase.TWO_LEVEL), Batch(np.zeros(1), document, 1))
    limits = limits_of(config)
    traced = trace_slots(document, expectations, limits, num_iterations)
    size, topic_ids = len(document.words), traced[0][0]
    phi = np.array([slots.phi[: limits.num_slots, : len(topic_ids)] for _, slots, _ in traced], np.float64)
    words = np.array([slots.tokens[: limits.num_slots, :size] for _, slots, _ in traced], np.float64)
    on, after = np.moveaxis(np.array([slots.sticks for _, slots, _ in traced], np.float64), 1, 0)
    logs = _expected_log_topics(config, state, expectations.words)[:, topic_ids]
    log_weights = expectations.expected_log_weights[topic_ids].astype(np.float64)
    bounds = np.array([bound for *_, bound in traced]) + (phi @ log_weights).sum(1)
    bounds += np.einsum("itn,ita,na->i", words, phi, logs, optimize=True)
    tokens = words.sum(2)
    return SlotTrace(topic_ids, phi, tokens, _break_slots(on, after), bounds, _count_taken(tokens, limits))


def _expected_log_topics(config, state, words):
    """E[log p(w|φ_k)] of some words (U, K); Wang 2011 below Eq. 21."""
    counts, eta = state.topic_counts, _word_concentration(config, state)
    return psi(counts.rows(words, eta).astype(np.float64)) - psi(counts.totals + eta * counts.vocab_size)


def _word_concentration(config, state):
    return state.concentrations.word if hasattr(state, "concentrations") else config.word_concentration


def _break_slots(on, after):
    """E[π_t] (I, T) of sticks (I, T) whose last is 1."""
    cuts = on / (on + after)
    left = np.cumprod(1.0 - cuts[:, :-1], axis=1)
    return cuts * np.concatenate([np.ones((len(cuts), 1)), left], axis=1)


def _count_taken(tokens, limits):
    """Iterations until the slots' tokens (I, T) have settled, or as many as the limits allow."""
    changes = abs(np.diff(tokens, axis=0)).sum(1)
    settled = np.flatnonzero(changes < limits.tolerance * tokens[1:].sum(1))
    return min(limits.num_iterations, int(settled[0]) + 2) if len(settled) else limits.num_iterations


class NoisyStep(NamedTuple):
    """A step of λ that has not been taken: where a mini-batch alone would put λ, and how far the step goes.

    step: t, from 1; learning_rate: ρ_t; scale: D/S; words: (U,) of the mini-batch; target: (U, K) λ̂ - η of these, which
    is 0 for all others.
    """

    step: int
    learning_rate: float
    scale: float
    words: np.ndarray
    target: np.ndarray


def preview_step(algorithm, config, state, batch):
    """The step that an algorithm would take with this mini-batch; None where none goes part of the way to a target.

        λ̂_kw = η + D/S Σ_j Σ_t φ_jtk Σ_n ζ_jnt I[w_jn = w],  ∂λ = λ̂ - λ        (Eq. 22, mini-batches of sec. 3.2)

    Systems without slots and warm-ups count the words of topics their own way, as their `local` does.
    """
    if algorithm.blend is None or not hasattr(config, "forgetting_rate"):
        return None
    expectations = algorithm.expect(config, state, batch)
    parts = map_shards(lambda part: algorithm.local(config, expectations, part), batch.documents)
    statistics = reduce(add, parts)
    words, precision = batch.documents.distinct_words(), state.topic_counts.precision
    nothing = decayed_counts(np.zeros((len(words), len(statistics.tokens)), precision))
    scale = batch_scale(batch)
    # With ρ = 1 nothing is left of what was there: Eq. 25 is its own target.
    target = nothing.blend(1.0, np.arange(len(words)), statistics.counts, scale, statistics.tokens)
    config = resolve(config, batch.corpus_size)
    rate = float(learning_rate(state.step + 1, config.delay, config.forgetting_rate))
    return NoisyStep(state.step + 1, rate, scale, words, target.dense())


class TopicStep(NamedTuple):
    """A noisy step as it moves some words (N,) of one topic: λ before, the target λ̂, and λ after."""

    words: np.ndarray
    before: np.ndarray
    target: np.ndarray
    after: np.ndarray


def step_topic(config, state, noisy, topic, number=NUM_WORDS):
    """The words for which λ or λ̂ of a topic (its place) are largest, and λ ← λ + ρ (λ̂ - λ) of these (Eq. 25).

    Copies of topics that the step may merge afterwards are not looked for.
    """
    eta, counts = _word_concentration(config, state), state.topic_counts
    before = counts.rows(np.arange(counts.vocab_size), eta)[:, topic].astype(np.float64)
    target = np.full(counts.vocab_size, float(eta))
    target[noisy.words] += noisy.target[:, topic]
    words = np.argsort(-np.maximum(before, target), kind="stable")[:number]
    before, target = before[words], target[words]
    return TopicStep(words, before, target, before + noisy.learning_rate * (target - before))
