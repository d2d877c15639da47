"""Documents whose topic shares are one Dirichlet: the local step of LDA, of direct assignment and
of a warm-up.
"""

from typing import NamedTuple, Protocol, Self

import numpy as np

from stickbreaker.engine.algorithm import Phase
from stickbreaker.engine.corpora.documents import Documents
from stickbreaker.engine.inference.expectations import document_prior, topic_weights
from stickbreaker.engine.inference.global_step import Statistics
from stickbreaker.engine.inference.states import CountsState
from stickbreaker.engine.kernels.counts import FactoredCounts
from stickbreaker.engine.kernels.dirichlet import Iterations, fit_dirichlet, sum_rows_to_one
from stickbreaker.engine.kernels.special import NOT_RAISED

# The code of Hoffman 2010 and scikit-learn stop at the same change. A topic with 1e-7 tokens never
# grows again.
UNTIL_CONVERGED = Iterations(most=100, tolerance=1e-3, negligible=1e-7)


class LocalExpectations(Protocol):
    """What iterations read, and what a warm-up replaces: the expectations of any local step."""

    @property
    def words(self) -> np.ndarray: ...
    @property
    def topics(self) -> np.ndarray: ...
    @property
    def prior(self) -> np.ndarray: ...
    @property
    def phase(self) -> Phase: ...
    @property
    def temperature(self) -> float: ...

    def _replace(
        self,
        *,
        words: np.ndarray = ...,
        topics: np.ndarray = ...,
        phase: Phase = ...,
        temperature: float = ...,
    ) -> Self: ...


class DocumentExpectations(NamedTuple):
    """What the local step without slots reads of the corpus.

        θ_d ~ Dirichlet(α) in LDA (Hoffman 2010 sec. 2), Dirichlet(α₀E[β]) with a corpus' weights

    words: (U,) of the batch; topics: (U, K) their weights B; prior: (K,) α or α₀E[β].
    """

    words: np.ndarray
    topics: np.ndarray
    prior: np.ndarray
    step: int
    phase: Phase
    temperature: float = 1.0


def expect_documents(
    state: CountsState,
    words: np.ndarray,
    phase: Phase,
    priors: tuple[np.ndarray, float],
    expectation: str,
    power: float = NOT_RAISED,
) -> DocumentExpectations:
    """Expectations for some words (U,), from the λ - η of a state, with topic weights B^power.

    priors: those of a document (K,), and η.
    """
    prior, word_concentration = priors
    topics = topic_weights(state.topic_counts, words, word_concentration, expectation, power)
    prior = document_prior(prior, topics.dtype)
    return DocumentExpectations(
        words=words, topics=topics, prior=prior, step=state.step, phase=phase
    )


def fit_documents(
    documents: Documents, expectations: LocalExpectations, iterations: Iterations, is_learning: bool
) -> tuple[Statistics, np.ndarray]:
    """Statistics of documents and their topic shares E[θ] (S, K). Nothing is drawn.

    Statistics of shards add up.

        φ_wk ∝ B_wk exp ψ(g_k),  g_k = prior_k + Σ_w c_w φ_wk        (Hoffman 2010 Eq. 5, from equal
        g)

    At temperature T no iteration lowers Σ_wk c_w φ_wk (log B_wk + E[log θ_k] - T log φ_wk) - KL(g),
    but by rounding and by the topics dropped. Tables are prior_k (ψ(g_k) - ψ(prior_k)): the
    expected tables of g_k - prior_k customers in a Chinese restaurant process with concentration
    prior_k (Teh 2007 sec. 3, at the counts' means).
    """
    topics = np.ascontiguousarray(expectations.topics)
    prior = expectations.prior
    tables = np.zeros(len(prior))
    tokens = np.zeros(len(prior))
    num_documents = documents.num_documents
    precision = topics.dtype
    shares = np.empty((num_documents, len(prior)), precision)
    weights = np.empty((num_documents, len(prior)), precision)
    # Tokens are stored as factors scale_i e_k B_ik, since all topics share them.
    own = documents.indexed(expectations.words)
    scales = np.empty(len(own.words) if is_learning else 0, precision)
    fit_dirichlet(own, topics, prior, iterations, scales, weights, tables, tokens, shares)
    sum_rows_to_one(shares)
    counts = FactoredCounts(
        starts=own.starts, words=own.words, scales=scales, weights=weights, topics=topics
    )
    statistics = Statistics(
        words=expectations.words,
        counts=(counts,),
        tables=tables,
        tokens=tokens,
        phase=expectations.phase,
        temperature=expectations.temperature,
    )
    return statistics, shares


def fit_to_convergence(
    documents: Documents, expectations: LocalExpectations
) -> tuple[Statistics, np.ndarray]:
    """Statistics of documents and their topic shares E[θ] (S, K), iterated until they converge."""
    return fit_documents(documents, expectations, UNTIL_CONVERGED, is_learning=True)


def infer_shares(documents: Documents, expectations: LocalExpectations) -> np.ndarray:
    """Topic shares E[θ] (S, K) of documents, iterated until they converge; nothing is learned."""
    return fit_documents(documents, expectations, UNTIL_CONVERGED, is_learning=False)[1]
