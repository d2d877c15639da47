"""Held-out scores of several protocols, all in nats per held-out token, and the
number of topics.
"""

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from scipy.special import gammaln, logsumexp, psi

from stickbreaker.engine.algorithm import Algorithm, Phase
from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.corpora.on_workers import StoredPart, map_parts
from stickbreaker.engine.executors import map_shards
from stickbreaker.engine.inference.batch import shares_bound, sum_documents, topics_divergence
from stickbreaker.engine.inference.dirichlet_step import (
    UNTIL_CONVERGED,
    DocumentExpectations,
    fit_documents,
)
from stickbreaker.engine.inference.expectations import document_prior, topic_weights
from stickbreaker.engine.inference.global_step import Statistics
from stickbreaker.engine.inference.held_words import Split, mean_log_likelihood, split_words
from stickbreaker.engine.inference.topic_counts import DecayedCounts
from stickbreaker.engine.kernels.dirichlet import Iterations
from stickbreaker.engine.kernels.importance import Effort, estimate_likelihoods
from stickbreaker.engine.parallel.clusters import Cluster
from stickbreaker.engine.parallel.threads import map_on_threads, split_evenly

PROTOCOLS = {
    "disjoint_words": "a tenth of each test document's distinct words is predicted from the others",
    "tokens_90_10": "a tenth of each test document's tokens is predicted from the others",
    "perplexity_bound": "the bound on the log likelihood of whole test documents, per token",
    "importance_sampling": (
        "the log likelihood of whole test documents, per token, by importance sampling"
    ),
    "within_documents": (
        "a tenth of each training document's tokens is predicted from the tokens learned"
    ),
    "next_batch": (
        "each mini-batch is scored by disjoint words just before the model learns from it"
        " (progressive validation; the corpus size and the vocabulary are known from the start)"
    ),
}
NUM_TOPICS_RULE = "the smallest number of topics that together have 99 % of all expected tokens."
COVERED_SHARE = 0.99
# A topic with fewer expected tokens contains only start-up noise.
LEAST_TOKENS = 1.0
# Documents of a corpus that are scored together.
DOCUMENTS_AT_ONCE = 65_536
FOLD_IN = Iterations(most=50, tolerance=0.0, negligible=0.0)
USUAL_EFFORT = Effort(burn_in=20, num_samples=20, num_draws=100)


def rank_topics(expected_tokens: np.ndarray) -> np.ndarray:
    """Places of the topics in use, the largest first: the fewest whose expected tokens (K,) cover
    99 % of their sum.

    A topic of less than one token is never in use. Before the first batch no topic is.

    >>> rank_topics(np.array([39.5, 0.5, 60.0])), rank_topics(np.zeros(3))
    (array([2, 0]), array([], dtype=int64))
    """
    order = np.argsort(-expected_tokens, kind="stable")
    covered = np.cumsum(expected_tokens[order])
    number = 1 + np.searchsorted(covered, COVERED_SHARE * covered[-1:].sum())
    used: np.ndarray = order[:number][expected_tokens[order[:number]] >= LEAST_TOKENS]
    return used


def count_topics(expected_tokens: np.ndarray) -> int:
    """The number of topics in use, by `rank_topics`; 0 before the first batch.

    >>> count_topics(np.array([60.0, 39.5, 0.5])), count_topics(np.zeros(3))
    (2, 0)
    """
    return len(rank_topics(expected_tokens))


def score(split: Split, doc_shares: np.ndarray, topics: np.ndarray) -> float:
    """Nats per held-out token, Σ log Σ_k E[θ_k] E[topic_kw] over held-out tokens / their number.

    doc_shares: (S, K); topics: (K, V). NaN if nothing is held out. Raises ValueError if the shapes
    do not agree.
    """
    if not len(split.words):
        return float("nan")
    num_documents = len(split.scored)
    if doc_shares.shape != (num_documents, len(topics)) or split.words.max() >= topics.shape[1]:
        raise ValueError(
            f"Shares {doc_shares.shape} and topics {topics.shape} do not fit {num_documents} scored"
            f" documents and their words, up to number {split.words.max()}."
        )
    return mean_log_likelihood(
        split, split.words.astype(np.int64), doc_shares, np.ascontiguousarray(topics.T)
    )


def score_own(algorithm: Algorithm, config: Any, state: Any, split: Split) -> float:
    """Nats per held-out token under the system's own inference."""
    return score_shares(
        algorithm, config, state, split, infer_own(algorithm, config, state, split)
    )[1]


@dataclass(frozen=True)
class PartScorer:
    """Scores a part of a corpus, here or on a worker of a cluster."""

    algorithm: Algorithm
    config: Any
    state: Any
    seed: int

    def score(self, batch: Batch) -> tuple[float, int]:
        """Nats per held-out token (`disjoint_words`), and the number of these; 0 if none."""
        split = split_words(batch.documents, batch.doc_ids, self.seed)
        if not split.num_tokens:
            return 0.0, 0
        return score_own(self.algorithm, self.config, self.state, split), split.num_tokens

    def __call__(self, part: StoredPart) -> tuple[float, int]:
        """The same on a worker, which reads the documents."""
        (batch,) = part.batches(len(part.doc_ids))
        return self.score(batch)


def score_corpus(scorer: PartScorer, corpus: Corpus, cluster: Cluster | None = None) -> float:
    """Nats per held-out token (`disjoint_words`) of all documents.

    NaN if no document has two distinct words.

    Reads the documents in parts, so that a stored corpus is never loaded. The workers of a cluster
    score one part each; the result is the same, bit for bit.
    """
    if cluster is None:
        scored = [scorer.score(batch) for batch in corpus.batches(DOCUMENTS_AT_ONCE)]
    else:
        by_number = dict(map_parts(cluster, corpus, DOCUMENTS_AT_ONCE, scorer))
        scored = [by_number[number] for number in range(len(by_number))]
    scored = [each for each in scored if each[1]]
    if not scored:
        return float("nan")
    nats, tokens = zip(*scored, strict=True)
    return float(np.average(nats, weights=tokens))


def score_shares(
    algorithm: Algorithm, config: Any, state: Any, split: Split, doc_shares: np.ndarray
) -> tuple[np.ndarray, float]:
    """Topic ids (K,), and nats per held-out token, given the doc shares (S, K) of `infer_own`.

    Reads E[topic] of the held-out words only, where the algorithm has `word_topics`: a mini-batch
    has few of V words.
    """
    if not len(split.words):
        return algorithm.summarize(config, state).topic_ids, float("nan")
    topic_ids, places, topics = take_word_topics(algorithm, config, state, split)
    return topic_ids, mean_log_likelihood(split, places, doc_shares, topics)


def take_word_topics(
    algorithm: Algorithm, config: Any, state: Any, split: Split
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Topic ids (K,), the place of each held-out entry among their distinct words (n,), and
    E[topic] of these words (U, K).
    """
    words, places = np.unique(split.words, return_inverse=True)
    if algorithm.word_topics is None:
        summary = algorithm.summarize(config, state)
        return summary.topic_ids, places, np.ascontiguousarray(summary.topics[:, words].T)
    topic_ids, topics = algorithm.word_topics(config, state, words)
    return topic_ids, places, topics


def infer_own(algorithm: Algorithm, config: Any, state: Any, split: Split) -> np.ndarray:
    """Doc shares (S, K) of the observed documents by the system's own inference."""
    # As many parts as cores: each reads the weights of its own words, and documents do not depend
    # on one another.
    parts = [split.observed.cut(*span) for span in split_evenly(split.observed.starts)]
    return np.concatenate(map_on_threads(lambda part: algorithm.infer(config, state, part), parts))


def fold_in(documents: Documents, topics: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Doc shares (S, K) by the common fold-in: topics fixed at their expectations, θ ~
    Dirichlet(prior).

    topics: (K, V); prior: (K,), α₀ E[β]. Source: Wang 2011 sec. 4.1.
    """
    if not documents.num_documents:
        return np.empty((0, len(prior)))
    words = documents.distinct_words()
    weights = np.ascontiguousarray(topics.T[words])
    expectations = DocumentExpectations(
        words=words,
        topics=weights,
        prior=document_prior(prior, weights.dtype),
        step=0,
        phase=Phase.LEARNING,
    )
    parts = map_shards(
        lambda part: fit_documents(part, expectations, FOLD_IN, is_learning=False)[1], documents
    )
    return np.concatenate(parts)


def perplexity_bound(documents: Documents, topics: np.ndarray, prior: np.ndarray) -> float:
    """Bound on the log likelihood of documents given E[topics], in nats per token (Hoffman 2010 Eq.
    16).

    The document part of Eq. 4 at the fold-in's q(θ), with the topics at their expectations. NaN
    without tokens.
    """
    if not len(documents.words):
        return float("nan")
    shares = fold_in(documents, topics, prior)
    sizes = documents.sizes().astype(float)
    g = shares * (prior.sum() + sizes)[:, None]
    return float(
        _document_bounds(documents, topics, prior, np.maximum(g, 1e-30)).sum() / sizes.sum()
    )


def lda_bound_as_printed(
    documents: Documents, topic_counts: DecayedCounts, prior: np.ndarray, word_concentration: float
) -> float:
    """Bound of an LDA, online or batch, in nats per token, by Hoffman 2010 Eq. 16 as printed: the
    documents' part only.

    topic_counts: λ - η; prior: α (K,). Topics are not fixed at their expectations: words are
    weighted by exp E[log topic]. NaN without tokens.
    """
    return _lda_parts(documents, topic_counts, prior, word_concentration)[0]


def lda_bound_as_its_authors_ran_it(
    documents: Documents,
    topic_counts: DecayedCounts,
    prior: np.ndarray,
    word_concentration: float,
    corpus_size: int,
) -> float:
    """Bound of an LDA in nats per token, by Hoffman 2010 Eq. 16 as its authors' code computes it.

    The code adds the topics' part, -KL(q(topics) || p(topics)), times S/D, for S documents and
    corpus_size D. scikit-learn's `perplexity` is the exponential of minus this bound with D = S.
    """
    bound, divergence = _lda_parts(documents, topic_counts, prior, word_concentration)
    return bound - documents.num_documents / corpus_size * divergence


def _lda_parts(
    documents: Documents, topic_counts: DecayedCounts, prior: np.ndarray, word_concentration: float
) -> tuple[float, float]:
    """The documents' part of the bound, and KL of the topics from their prior, per token."""
    num_tokens = documents.num_tokens
    if not num_tokens:
        return float("nan"), float("nan")
    words = documents.distinct_words()
    topics = topic_weights(topic_counts, words, word_concentration, "geometric")
    prior = document_prior(prior, topics.dtype)
    expectations = DocumentExpectations(
        words=words, topics=topics, prior=prior, step=0, phase=Phase.LEARNING
    )

    def fit(part: Documents) -> tuple[Statistics, float]:
        statistics, shares = fit_documents(part, expectations, UNTIL_CONVERGED, is_learning=True)
        return statistics, shares_bound(statistics, shares, part, prior)

    totals = reduce(add, map_shards(lambda part: sum_documents(part, expectations, fit), documents))
    divergence, logs = topics_divergence(topic_counts.dense(), word_concentration)
    bound = totals.bound + (totals.topic_words * logs[words]).sum()
    return float(bound / num_tokens), float(divergence / num_tokens)


def _document_bounds(
    documents: Documents, topics: np.ndarray, prior: np.ndarray, g: np.ndarray
) -> np.ndarray:
    """The document part of Hoffman 2010 Eq. 4 of each document (S,), with g as (S, K)."""
    prior = np.maximum(prior, 1e-30)
    logs = psi(g) - psi(g.sum(1, keepdims=True))
    rows = documents.rows()
    words = np.log(
        np.einsum("nk,nk->n", np.exp(logs)[rows], topics.T[documents.words], dtype=np.float64)
    )
    bounds = np.bincount(rows, documents.counts * words, minlength=len(g))
    bounds += ((prior - g) * logs + gammaln(g) - gammaln(prior)).sum(1)
    total: np.ndarray = bounds + gammaln(prior.sum()) - gammaln(g.sum(1))
    return total


def importance_sampling(
    documents: Documents,
    topics: np.ndarray,
    prior: np.ndarray,
    rng: np.random.Generator,
    effort: Effort = USUAL_EFFORT,
) -> float:
    """An estimate of log p(document) given E[topics], in nats per token of all documents.

    On average too low.

    topics: (K, V); prior: (K,), α₀ E[β]. For the topics of any HDP or LDA; a mixture has
    `mixture_likelihood`. The proposal's counts come from Gibbs samples, as in Wang & Blei 2012 S.3.
    NaN without tokens.
    """
    if not len(documents.words):
        return float("nan")
    words = documents.distinct_words()
    weights = np.ascontiguousarray(topics.T[words], np.float64)
    logs = np.empty(documents.num_documents)
    estimate_likelihoods(
        documents.indexed(words), weights, np.maximum(prior, 1e-30).astype(float), effort, rng, logs
    )
    return float(logs.sum() / documents.num_tokens)


def mixture_likelihood(documents: Documents, topics: np.ndarray, weights: np.ndarray) -> float:
    """log p(document) under a mixture, in nats per token of all documents (Wang & Blei 2012 S.3).

        p(x) = Σ_k E[π_k] ∏_w E[θ_kw]^c_w

    topics: (K, V); weights: (K,). NaN without tokens.
    """
    if not len(documents.words):
        return float("nan")
    of_words = documents.counts[:, None] * np.log(topics.T[documents.words], dtype=np.float64)
    logs = np.zeros((documents.num_documents, len(weights))) + np.log(weights)
    np.add.at(logs, documents.rows(), of_words)
    return float(logsumexp(logs, axis=1).sum() / documents.num_tokens)
