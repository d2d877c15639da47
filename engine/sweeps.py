"""Documents whose topic shares are one Dirichlet: the local step of LDA, of direct assignment and of a warm-up."""

from typing import NamedTuple

import numpy as np

from engine.global_step import Statistics
from engine.kernels.dirichlet import fit_dirichlet

# The code of Hoffman 2010 and scikit-learn stop there too.
MAX_SWEEPS = 100


class Expectations(NamedTuple):
    """What sweeps read: a batch's words (U,), their topic weights (U, K), a document's prior (K,)."""

    words: np.ndarray
    topics: np.ndarray
    prior: np.ndarray
    step: int
    phase: str


def fit_documents(documents, expectations, num_sweeps):
    """Statistics of documents and their topic shares E[θ] (S, K); nothing is drawn, and shards of a batch add up.

        φ_wk ∝ B_wk exp ψ(g_k),  g_k = prior_k + Σ_w c_w φ_wk        (Hoffman 2010 Eq. 5, from equal g)

    Tables are prior_k (ψ(g_k) - ψ(prior_k)): those that g_k - prior_k customers of the Chinese restaurant process with
    concentration prior_k are expected to open (Teh 2007 sec. 3, at the counts' means).
    """
    topics, prior = expectations.topics, expectations.prior
    word_topics, tables = np.zeros_like(topics), np.zeros(len(prior))
    shares = np.zeros((len(documents.starts) - 1, len(prior)), topics.dtype)
    own = documents.indexed(expectations.words)
    fit_dirichlet(own, topics, prior, num_sweeps, word_topics, tables, shares)
    shares /= shares.sum(1, keepdims=True)
    return Statistics(word_topics, tables), shares
