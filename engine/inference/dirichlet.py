"""Documents whose topic shares are one Dirichlet: the local step of LDA, of direct assignment and of a warm-up."""

from typing import NamedTuple

import numpy as np

from stickbreaker.engine.algorithm import Phase
from stickbreaker.engine.inference.global_step import Statistics
from stickbreaker.engine.kernels.counts import FactoredCounts
from stickbreaker.engine.kernels.dirichlet import Sweeps, fit_dirichlet, sum_rows_to_one

# The code of Hoffman 2010 and scikit-learn stop there too. A topic's 1e-7 tokens never grow into any that matter.
UNTIL_SETTLED = Sweeps(100, 1e-3, 1e-7)


class Expectations(NamedTuple):
    """What sweeps read: a batch's words (U,), their topic weights (U, K), a document's prior (K,)."""

    words: np.ndarray
    topics: np.ndarray
    prior: np.ndarray
    step: int
    phase: Phase
    temperature: float = 1.0


def fit_documents(documents, expectations, sweeps, is_learning):
    """Statistics of documents and their topic shares E[θ] (S, K); nothing is drawn, and shards of a batch add up.

        φ_wk ∝ B_wk exp ψ(g_k),  g_k = prior_k + Σ_w c_w φ_wk        (Hoffman 2010 Eq. 5, from equal g)

    Tables are prior_k (ψ(g_k) - ψ(prior_k)): those that g_k - prior_k customers of the Chinese restaurant process with
    concentration prior_k are expected to open (Teh 2007 sec. 3, at the counts' means).
    """
    topics, prior = np.ascontiguousarray(expectations.topics), expectations.prior
    tables, tokens = np.zeros(len(prior)), np.zeros(len(prior))
    num_documents, precision = documents.num_documents, topics.dtype
    shares, weights = np.empty((num_documents, len(prior)), precision), np.empty((num_documents, len(prior)), precision)
    own = documents.indexed(expectations.words)
    scales = np.empty(len(own.words) if is_learning else 0, precision)
    fit_dirichlet(own, topics, prior, sweeps, scales, weights, tables, tokens, shares)
    sum_rows_to_one(shares)
    counts = FactoredCounts(own.starts, own.words, scales, weights, topics)
    phase = expectations.phase, expectations.temperature
    return Statistics(expectations.words, (counts,), tables, tokens, *phase), shares
