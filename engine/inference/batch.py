"""Passes over a whole corpus: the sums over its documents, the bound, and the rule that ends a run.

The bound is written without the corpus' variational parameters. Where the documents' sums have just
set λ and the corpus' sticks, their part of the bound and the documents' E[log p(w|topics)] and
E[log p(c|β)] add up to the logarithms of normalising constants (Wang 2011 Eq. 14, Hoffman 2010 Eq.
4).
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol, Self, TypeVar

import numpy as np
from scipy.special import gammaln, psi

from stickbreaker.engine.algorithm import Phase, StepInfo
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.inference.dirichlet_step import LocalExpectations, fit_documents
from stickbreaker.engine.inference.global_step import Statistics
from stickbreaker.engine.inference.topic_counts import DecayedCounts, add_counts, decayed_counts
from stickbreaker.engine.inference.warm_up import (
    PILOT_DOCUMENTS,
    ExpectPower,
    cool_to,
    iterations_at,
)
from stickbreaker.engine.kernels.bounds import bound_documents
from stickbreaker.engine.kernels.counts import FactoredCounts

DOCUMENTS_AT_ONCE = 1024
WORDS_AT_ONCE = 1024
WARM_UP_PASSES = 10
NO_BOUND = float("-inf")


class BatchState(Protocol):
    """What passes over a whole corpus need of a State."""

    @property
    def topic_counts(self) -> DecayedCounts: ...
    @property
    def step(self) -> int: ...
    @property
    def bound(self) -> float: ...
    @property
    def phase(self) -> Phase: ...
    @property
    def temperature(self) -> float: ...

    def _replace(
        self,
        *,
        topic_counts: DecayedCounts = ...,
        expected_tokens: np.ndarray = ...,
        step: int = ...,
        bound: float = ...,
        phase: Phase = ...,
        temperature: float = ...,
    ) -> Self: ...


class PassConfig(Protocol):
    """A config of passes over a whole corpus."""

    @property
    def word_concentration(self) -> float: ...
    @property
    def tolerance(self) -> float: ...


class PassExpectations(Protocol):
    """What the sums over documents read of a pass's expectations: topics (U, K)."""

    @property
    def topics(self) -> np.ndarray: ...
    @property
    def phase(self) -> Phase: ...
    @property
    def temperature(self) -> float: ...


AnyBatchState = TypeVar("AnyBatchState", bound=BatchState)
AnyExpectations = TypeVar("AnyExpectations", bound=LocalExpectations)
Fit = Callable[[Documents], tuple[Statistics, float]]


class Totals(NamedTuple):
    """Sums over documents: expected counts of words in topics (U, K), tables and tokens (K,).

    All of them add up.

    bound: the documents' part of the bound without E[log p(w|topics)] and E[log p(c|β)]; NO_BOUND
    in a warm-up.
    """

    topic_words: np.ndarray
    tables: np.ndarray
    tokens: np.ndarray
    bound: float
    phase: Phase
    temperature: float

    def __add__(self, other: "Totals") -> "Totals":  # type: ignore[override]  # a tuple's + would join them
        return Totals(
            topic_words=self.topic_words + other.topic_words,
            tables=self.tables + other.tables,
            tokens=self.tokens + other.tokens,
            bound=self.bound + other.bound,
            phase=self.phase,
            temperature=self.temperature,
        )


def cool_pass(
    state: BatchState, batch: Batch, expect_words: ExpectPower[AnyExpectations]
) -> AnyExpectations:
    """The expectations of the next pass; a warm-up takes at most WARM_UP_PASSES of them."""
    words = batch.documents.distinct_words()
    if state.phase != Phase.WARM_UP:
        return expect_words(words)
    progress = min(1.0, state.step / WARM_UP_PASSES)
    pilot = take_pilot(batch.documents)
    narrow = expect_words(pilot.distinct_words())
    return cool_to(
        progress, state.temperature, pilot, narrow, lambda power: expect_words(words, power=power)
    )


def sum_by_phase(documents: Documents, expectations: LocalExpectations, fit: Fit) -> Totals:
    """Totals of documents: by Dirichlet iterations in a warm-up, by `fit` after it."""
    if expectations.phase != Phase.WARM_UP:
        return sum_documents(documents, expectations, fit)
    iterations = iterations_at(expectations.temperature)

    def fit_warm(part: Documents) -> tuple[Statistics, float]:
        return fit_documents(part, expectations, iterations, is_learning=True)[0], NO_BOUND

    return sum_documents(documents, expectations, fit_warm)


def sum_documents(documents: Documents, expectations: PassExpectations, fit: Fit) -> Totals:
    """Totals of documents, a thousand at a time: `fit` gives the Statistics of documents and their
    part of the bound.

    The expected counts of each document of a corpus would need far more memory than their sums.
    """
    topic_words = np.zeros_like(expectations.topics)
    num_documents = documents.num_documents
    places = np.arange(len(topic_words), dtype=np.int32)
    tables, tokens = np.zeros((2, topic_words.shape[1]))
    total = 0.0
    for first in range(0, num_documents, DOCUMENTS_AT_ONCE):
        statistics, bound = fit(documents.cut(first, min(first + DOCUMENTS_AT_ONCE, num_documents)))
        for counts in statistics.counts:
            add_counts((counts,), topic_words.dtype.type(1), places, topic_words)
        tables += statistics.tables
        tokens += statistics.tokens
        total += bound
    return Totals(
        topic_words=topic_words,
        tables=tables,
        tokens=tokens,
        bound=total,
        phase=expectations.phase,
        temperature=expectations.temperature,
    )


def shares_bound(
    statistics: Statistics, shares: np.ndarray, documents: Documents, prior: np.ndarray
) -> float:
    """Sum of `bound_documents` over documents with shares (S, K) of one Dirichlet each."""
    sizes = documents.sizes()
    (counts,), bounds = statistics.counts, np.empty(len(sizes))
    # Documents with one Dirichlet have factored counts.
    assert isinstance(counts, FactoredCounts)
    doc_topics = shares * (prior.sum(dtype=np.float64) + sizes)[:, None].astype(shares.dtype)
    bound_documents(counts, documents.counts.astype(shares.dtype), doc_topics, prior, bounds)
    return float(bounds.sum())


def topics_bound(topic_counts: np.ndarray, word_concentration: float) -> float:
    """The topics' part of a bound, where their counts n (V, K) have just set them: Σ n E[log φ] -
    KL from Dirichlet(η).

        Σ_k log B(η + n_k) - log B(η)

    >>> bool(np.isclose(topics_bound(np.array([[1.0], [0.0]]), 1.0), np.log(1 / 2)))
    True
    """
    vocab_size, num_topics = topic_counts.shape
    totals = topic_counts.sum(0, dtype=np.float64) + vocab_size * word_concentration
    # log Γ(Vη) - log Γ(Vη + n_k) of each topic, then log Γ(η + n_kw) - log Γ(η) of its words.
    bound = num_topics * gammaln(vocab_size * word_concentration) - gammaln(totals).sum()
    for first in range(0, vocab_size, WORDS_AT_ONCE):
        counts = topic_counts[first : first + WORDS_AT_ONCE].astype(np.float64)
        bound += (gammaln(counts + word_concentration) - gammaln(word_concentration)).sum()
    return float(bound)


def topics_divergence(
    topic_counts: np.ndarray, word_concentration: float
) -> tuple[float, np.ndarray]:
    """KL of topics Dirichlet(λ_k) from Dirichlet(η), and E[log φ] (V, K), from λ - η."""
    topic_words = topic_counts.astype(np.float64) + word_concentration
    totals = topic_words.sum(0)
    logs: np.ndarray = psi(topic_words) - psi(totals)
    # KL[Dirichlet(λ) || Dirichlet(η)] = log of the normalisers' ratio + Σ (λ - η) E[log φ].
    log_normal = (gammaln(totals) - gammaln(topic_words).sum(0)).sum()
    of_prior = gammaln(word_concentration * len(logs)) - len(logs) * gammaln(word_concentration)
    return log_normal - len(totals) * of_prior + (topic_counts * logs).sum(), logs


def spread(totals: Totals, words: np.ndarray, vocab_size: int) -> np.ndarray:
    """λ - η of all words (V, K) from the totals of the words that occur (U,)."""
    dense = np.zeros((vocab_size, totals.topic_words.shape[1]), totals.topic_words.dtype)
    dense[words] = totals.topic_words
    return dense


def take_pilot(documents: Documents) -> Documents:
    """A few documents at equal distances in the corpus."""
    num_documents = documents.num_documents
    places = np.linspace(0, num_documents - 1, min(PILOT_DOCUMENTS, num_documents)).astype(int)
    return documents.select(np.unique(places))


def end_pass(
    config: PassConfig,
    old: AnyBatchState,
    new: AnyBatchState,
    totals: Totals,
    batch: Batch,
    sticks: float = 0.0,
) -> tuple[AnyBatchState, StepInfo]:
    """(State, StepInfo) after λ - η are the totals of the whole corpus, unless that lowers the
    bound.

    new: has the algorithm's own values after the pass; sticks: the part of the bound of the corpus'
    sticks.
    """
    dense = spread(totals, batch.documents.distinct_words(), old.topic_counts.vocab_size)
    new = new._replace(
        topic_counts=decayed_counts(dense),
        expected_tokens=totals.tokens,
        step=old.step + 1,
        bound=totals.bound + topics_bound(dense, config.word_concentration) + sticks,
        phase=totals.phase,
        temperature=totals.temperature,
    )
    return accept_pass(old, new, config.tolerance, batch.documents)


def accept_pass(
    old: AnyBatchState, new: AnyBatchState, tolerance: float, documents: Documents
) -> tuple[AnyBatchState, StepInfo]:
    """Accept or reject a pass, and return the state and its StepInfo.

    The run has converged if the pass raises the bound by at most the tolerance. Each pass fits the
    documents from the start, as Hoffman 2010 sec. 2.1 advises, so a document may reach a worse
    optimum than before, and all of them together may. A pass that lowers the bound is rejected. The
    run then ends without convergence, because the next pass would be the same. Rates are 1: nothing
    remains of the start.
    """
    num_tokens = documents.num_tokens
    gain = new.bound - old.bound
    # Neither holds in a warm-up, whose bound is -∞.
    has_fallen = bool(np.isfinite(gain) and gain < 0)
    has_converged = bool(np.isfinite(gain) and 0 <= gain <= tolerance * abs(old.bound))
    state = old._replace(step=new.step) if has_fallen else new
    bound = float(state.bound / num_tokens) if np.isfinite(state.bound) and num_tokens else None
    info = StepInfo(
        step=new.step,
        learning_rate=1.0,
        phase=state.phase,
        startup_share=0.0,
        temperature=state.temperature,
        bound=bound,
        has_converged=has_converged,
        has_fallen=has_fallen,
    )
    return state, info
