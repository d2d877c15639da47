"""The two-level local step, in which the words of a document go through slots.

Online or batch (Wang 2011).

Eq. 15-18 are coordinate ascent on a document's part of Eq. 14 with log B in place of E[log φ],
where B are the topic weights. `start` and `topic_expectation` of a config choose their start and B;
engine/algorithms/hdp.py explains both.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from stickbreaker.engine.algorithm import Phase, SlotTrace
from stickbreaker.engine.corpora.documents import Documents
from stickbreaker.engine.declarations import resolved
from stickbreaker.engine.inference.dirichlet_step import fit_documents
from stickbreaker.engine.inference.expectations import document_prior, topic_weights
from stickbreaker.engine.inference.global_step import Statistics
from stickbreaker.engine.inference.states import CountsState, SlotConfig
from stickbreaker.engine.inference.sticks import Sticks, expected_log_weights, expected_weights
from stickbreaker.engine.kernels.counts import empty_counts
from stickbreaker.engine.kernels.dirichlet import Iterations
from stickbreaker.engine.kernels.special import NOT_RAISED
from stickbreaker.engine.kernels.two_level import Limits, Prior, Slots, fit_one, fit_two_level

START_ITERATIONS = Iterations(most=10, tolerance=0.0, negligible=0.01)
MAX_ITERATIONS = {"warm": 3, "wang": 100, "wang-code": 100, "svi": 100}
# Iterations of a document without E[log β] and E[log π], where a start has any.
WITHOUT_PRIORS = {"wang-code": 3}
TOLERANCE = 1e-3


class SlotExpectations(NamedTuple):
    """What the local step with slots reads of the corpus (Wang 2011, below Eq. 21).

        B_ik = E[φ_k,w_i] or exp E[log φ_k,w_i] = exp(ψ(λ_kw) - ψ(Σ_v λ_kv))

    words: (U,) of the batch; topics: (U, K) B; prior: (K,) α₀E[β]; expected_log_weights: (K,) E[log
    β].
    """

    words: np.ndarray
    topics: np.ndarray
    prior: np.ndarray
    expected_log_weights: np.ndarray
    doc_concentration: float
    step: int
    phase: Phase
    temperature: float = 1.0


ExpectWords = Callable[[Any, Any, np.ndarray, Phase], SlotExpectations]


def expect_slots(
    config: SlotConfig,
    state: CountsState,
    sticks: Sticks,
    words: np.ndarray,
    phase: Phase,
    power: float = NOT_RAISED,
) -> SlotExpectations:
    """Expectations for some words (U,), with weights B^power."""
    topics = topic_weights(
        state.topic_counts, words, config.word_concentration, config.topic_expectation, power
    )
    return SlotExpectations(
        words=words,
        topics=topics,
        prior=document_prior(config.doc_concentration * expected_weights(sticks), topics.dtype),
        expected_log_weights=expected_log_weights(sticks).astype(topics.dtype),
        doc_concentration=float(config.doc_concentration),
        step=state.step,
        phase=phase,
    )


def limits_of(config: SlotConfig) -> Limits:
    """Sizes and switches of the kernel under a config."""
    is_uniform = config.start != "warm"
    num_topics = resolved(config.max_topics)
    # A document considers the largest topics of its first iterations, at least as many as it has
    # slots.
    num_active = (
        num_topics
        if is_uniform
        else min(max(config.max_active_topics, config.max_slots), num_topics)
    )
    return Limits(
        num_slots=min(config.max_slots, num_active),
        max_active=num_active,
        num_iterations=MAX_ITERATIONS[config.start],
        tolerance=TOLERANCE,
        doc_concentration=float(config.doc_concentration),
        is_uniform_start=is_uniform,
        num_without_priors=WITHOUT_PRIORS.get(config.start, 0),
    )


def fit_slots(
    documents: Documents,
    expectations: SlotExpectations,
    limits: Limits,
    is_learning: bool,
    has_bound: bool = False,
) -> tuple[Statistics, np.ndarray, float]:
    """Statistics of documents, their topic shares (S, K), and the sum of `bound_slots` over them (0
    unless requested).

    Eq. 15-18 until they converge. Nothing is drawn; statistics of shards add up. α₀ is that of the
    expectations.
    """
    topics = np.ascontiguousarray(expectations.topics)
    num_topics = len(expectations.prior)
    num_documents = documents.num_documents
    prior = _prior_of(expectations)
    tables = np.zeros(num_topics)
    tokens = np.zeros(num_topics)
    shares = np.zeros((num_documents, num_topics), topics.dtype)
    bounds = np.zeros(num_documents * has_bound)
    own = documents.indexed(expectations.words)
    limits = _fit_limits(limits, expectations)
    counts = empty_counts(own, limits.max_active if is_learning else 0, topics.dtype)
    fit_two_level(
        own, topics, prior, START_ITERATIONS, limits, counts, tables, tokens, shares, bounds
    )
    statistics = Statistics(
        words=expectations.words,
        counts=(counts,),
        tables=tables,
        tokens=tokens,
        phase=expectations.phase,
        temperature=expectations.temperature,
    )
    return statistics, shares, bounds.sum()


def infer_slots(documents: Documents, expectations: SlotExpectations, limits: Limits) -> np.ndarray:
    """Topic shares (S, K) of documents, θ_k = Σ_t E[π_t] φ_tk; nothing is learned.

    After a warm-up step the shares are the normalised Dirichlet parameters after the iterations
    that start a document.
    """
    if expectations.phase == Phase.WARM_UP:
        return fit_documents(documents, expectations, START_ITERATIONS, is_learning=False)[1]
    return fit_slots(documents, expectations, limits, is_learning=False)[1]


def _fit_limits(limits: Limits, expectations: SlotExpectations) -> Limits:
    """The limits with the α₀ of the expectations, and their number of topics, which can be above K,
    where slots start on all topics.
    """
    limits = limits._replace(doc_concentration=expectations.doc_concentration)
    if limits.is_uniform_start:
        limits = limits._replace(max_active=len(expectations.prior))
    return limits


def _prior_of(expectations: SlotExpectations) -> Prior:
    order = np.argsort(-expectations.prior, kind="stable")
    return Prior(
        concentrations=expectations.prior,
        expected_log_weights=expectations.expected_log_weights,
        order=order,
    )


def trace_slots(
    expect_words: ExpectWords,
    config: SlotConfig,
    state: CountsState,
    documents: Documents,
    num_iterations: int,
) -> SlotTrace:
    """Coordinate ascent over the slots of the first document, Eq. 15-18, after each of its
    iterations.

    expect_words: (config, state, words (U,), phase) -> their Expectations; a warm-up is treated as
    finished. Topics that the document does not consider have φ_jtk = 0. No iteration lowers the
    bound, but by rounding:

        Σ_n Σ_t ζ_nt (Σ_k φ_tk log B_nk + E[log π_t] - log ζ_nt) + Σ_tk φ_tk (E[log β_k] - log φ_tk)
        - KL(sticks)

    With B = exp E[log φ] these are the braces of Eq. 14; with B = E[φ] they bound log p(w | topics
    at their means).
    """
    document = documents.cut(0, 1)
    limits = limits_of(config)
    expectations = expect_words(config, state, document.distinct_words(), Phase.TWO_LEVEL)
    traced = _fit_each(document, expectations, limits, num_iterations)
    size = len(document.words)
    topic_ids = traced[0][0]
    phi = np.array(
        [slots.phi[: limits.num_slots, : len(topic_ids)] for _, slots, _ in traced], np.float64
    )
    words = np.array(
        [slots.tokens[: limits.num_slots, :size] for _, slots, _ in traced], np.float64
    )
    on, after = np.moveaxis(np.array([slots.sticks for _, slots, _ in traced], np.float64), 1, 0)
    logs = np.log(expectations.topics[:, topic_ids].astype(np.float64))
    log_weights = expectations.expected_log_weights[topic_ids].astype(np.float64)
    # `bound_slots` lacks the terms of β and of the words: Σ φ E[log β] and Σ c ζ φ log B.
    bounds = np.array([bound for *_, bound in traced]) + (phi @ log_weights).sum(1)
    bounds += np.einsum("itn,ita,na->i", words, phi, logs, optimize=True)
    tokens: np.ndarray = words.sum(2)
    return SlotTrace(
        topic_ids=topic_ids,
        slot_topics=phi,
        tokens=tokens,
        shares=_break_slots(on, after),
        bounds=bounds,
        num_taken=_count_taken(tokens, limits),
    )


def _fit_each(
    document: Documents, expectations: SlotExpectations, limits: Limits, num_iterations: int
) -> list[tuple[np.ndarray, Slots, float]]:
    """Ids (A,), Slots and `bound_slots` of one document after 1, 2, ... iterations of Eq. 18, 15-16
    and 17.

    The compiled code of a run fits each of them from the start; none stops early.
    """
    own = document.indexed(expectations.words)
    prior = _prior_of(expectations)
    limits = _fit_limits(limits, expectations)._replace(tolerance=0.0)
    each = (limits._replace(num_iterations=number) for number in range(1, num_iterations + 1))
    return [fit_one(own, expectations.topics, prior, START_ITERATIONS, some) for some in each]


def _break_slots(on: np.ndarray, after: np.ndarray) -> np.ndarray:
    """E[π_t] (I, T) of sticks (I, T) whose last is 1."""
    cuts: np.ndarray = on / (on + after)
    # E[π_t] = E[π'_t] ∏_{s<t} (1 - E[π'_s]).
    left = np.cumprod(1.0 - cuts[:, :-1], axis=1)
    shares: np.ndarray = cuts * np.concatenate([np.ones((len(cuts), 1)), left], axis=1)
    return shares


def _count_taken(tokens: np.ndarray, limits: Limits) -> int:
    """Iterations until the slots' tokens (I, T) converge, at most as many as the limits allow."""
    changes = abs(np.diff(tokens, axis=0)).sum(1)
    converged = np.flatnonzero(changes < limits.tolerance * tokens[1:].sum(1))
    return (
        min(limits.num_iterations, int(converged[0]) + 2)
        if len(converged)
        else limits.num_iterations
    )
