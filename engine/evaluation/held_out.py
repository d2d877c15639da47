"""Held-out protocols, all in nats per held-out token, and the number of topics."""

from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp, psi

from stickbreaker.engine.algorithm import Algorithm
from stickbreaker.engine.corpora.corpus import Documents
from stickbreaker.engine.executors import map_shards
from stickbreaker.engine.inference.batch import shares_bound, sum_documents, topics_divergence
from stickbreaker.engine.inference.dirichlet import UNTIL_SETTLED, Expectations, fit_documents
from stickbreaker.engine.inference.expectations import document_prior, topic_weights
from stickbreaker.engine.kernels.dirichlet import Sweeps
from stickbreaker.engine.kernels.held_out import choose_held_out, predict_words
from stickbreaker.engine.kernels.importance import Effort, weigh_documents
from stickbreaker.engine.parallel import map_on_threads, split_evenly

PROTOCOLS = {
    "disjoint_words": "a tenth of each test document's distinct words is predicted from the others",
    "tokens_90_10": "a tenth of each test document's tokens is predicted from the others",
    "perplexity_bound": "the bound on the log likelihood of whole test documents, a token",
    "importance_sampling": "the log likelihood of whole test documents, a token, by importance sampling",
    "within_documents": "a tenth of each training document's tokens is predicted from those learned from",
    "next_batch": "each mini-batch is scored by disjoint words just before it is learned from",
}
NUM_TOPICS_RULE = "the fewest topics whose expected tokens cover 99 % of their sum."
HELD_OUT_SHARE = 0.1
COVERED_SHARE = 0.99
FOLD_IN = Sweeps(50, 0.0, 0.0)
USUAL_EFFORT = Effort(burn_in=20, num_samples=20, num_draws=100)


def count_topics(expected_tokens: np.ndarray) -> int:
    """The fewest topics whose expected tokens cover 99 % of their sum; 0 before there are any.

    >>> count_topics(np.array([60.0, 39.5, 0.5])), count_topics(np.zeros(3))
    (2, 0)
    """
    covered = np.sort(expected_tokens)[::-1].cumsum()
    if not expected_tokens.any():
        return 0
    return int((covered < COVERED_SHARE * covered[-1]).sum()) + 1


class Split(NamedTuple):
    """Documents in two parts: what is observed, and what is predicted from it.

    observed: the documents θ is inferred from; rows (n,): document of each held-out entry; words, counts (n,);
    scored (S,): places of the observed documents among those that were split.
    """

    observed: Documents
    rows: np.ndarray
    words: np.ndarray
    counts: np.ndarray
    scored: np.ndarray

    @property
    def num_tokens(self) -> int:
        """Held-out tokens."""
        return int(self.counts.sum())


def split_words(documents: Documents, doc_ids: np.ndarray, seed: int) -> Split:
    """Hold out 10 % of each document's distinct words, at least one; documents with fewer than two are skipped.

    A document's draw depends on (seed, its id) alone. Source: Hoffman et al. 2013 sec. 4; the fraction is ours. Raises
    ValueError where there is not one id a document.
    """
    if len(doc_ids) != documents.num_documents:
        raise ValueError(f"{len(doc_ids)} ids for {documents.num_documents} documents: give one each.")
    is_held = np.zeros(len(documents.words), bool)
    # Copies, since a kernel is compiled anew for arrays that cannot be written.
    starts, doc_ids = np.array(documents.starts, np.int64), np.array(doc_ids, np.int64)
    choose_held_out(starts, doc_ids, int(seed), HELD_OUT_SHARE, is_held)
    return _split(documents, np.where(is_held, 0, documents.counts), np.where(is_held, documents.counts, 0))


def split_tokens(documents: Documents, doc_ids: np.ndarray, seed: int) -> Split:
    """Hold out 10 % of each document's tokens, at least one; documents of fewer than two tokens are skipped.

    Source: Wang 2011 sec. 4.1, and Teh 2007 sec. 4 where the documents are those of training.
    """
    held = np.zeros_like(documents.counts)
    for j, doc_id in enumerate(doc_ids):
        entries = slice(documents.starts[j], documents.starts[j + 1])
        size = documents.counts[entries].sum()
        if size >= 2:
            rng = np.random.default_rng([seed, int(doc_id)])
            held[entries] = rng.multivariate_hypergeometric(
                documents.counts[entries], max(1, round(HELD_OUT_SHARE * size)), method="marginals"
            )
    return _split(documents, documents.counts - held, held)


def _split(documents, observed, held):
    """Keep documents that have held-out words, in two parts."""
    num_documents, is_held = documents.num_documents, held > 0
    rows, is_scored = np.repeat(np.arange(num_documents), np.diff(documents.starts)), np.zeros(num_documents, bool)
    is_scored[rows[is_held]] = True
    scored, is_observed = np.flatnonzero(is_scored), is_scored[rows] & (observed > 0)
    starts = np.append(0, np.bincount(rows[is_observed], minlength=num_documents)[scored].cumsum())
    return Split(
        Documents(starts.astype(np.int64), documents.words[is_observed], observed[is_observed]),
        (is_scored.cumsum() - 1)[rows[is_held]],
        documents.words[is_held],
        held[is_held],
        scored,
    )


def score(split: Split, doc_shares: np.ndarray, topics: np.ndarray) -> float:
    """Nats per held-out token, Σ log Σ_k E[θ_k] E[topic_kw] over held-out tokens / their number.

    doc_shares: (S, K); topics: (K, V). NaN where nothing is held out. Raises ValueError where shapes do not agree.
    """
    if not len(split.words):
        return float("nan")
    num_documents, num_topics = len(split.scored), len(topics)
    if doc_shares.shape != (num_documents, num_topics) or split.words.max() >= topics.shape[1]:
        raise ValueError(
            f"Shares {doc_shares.shape} and topics {topics.shape} do not fit {num_documents} scored documents and"
            f" their words, up to number {split.words.max()}."
        )
    predicted, by_word = np.empty(len(split.words)), np.ascontiguousarray(topics.T)

    def predict(span):
        part = slice(*span)
        predict_words(split.rows[part], split.words[part].astype(np.int64), doc_shares, by_word, predicted[part])

    map_on_threads(predict, split_evenly(np.arange(len(split.words) + 1)))
    return float((split.counts * np.log(predicted)).sum() / split.num_tokens)


def score_own(algorithm: Algorithm, config: Any, state: Any, split: Split) -> float:
    """Nats per held-out token under the system's own inference."""
    return score(split, infer_own(algorithm, config, state, split), algorithm.summarize(config, state).topics)


def infer_own(algorithm: Algorithm, config: Any, state: Any, split: Split) -> np.ndarray:
    """Doc shares (S, K) of the observed documents by the system's own inference."""
    return np.concatenate(map_shards(lambda part: algorithm.infer(config, state, part), split.observed))


def fold_in(documents: Documents, topics: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Doc shares (S, K) by the common fold-in: topics fixed at their expectations, θ ~ Dirichlet(prior).

    topics: (K, V); prior: (K,), α₀ E[β]. Source: Wang 2011 sec. 4.1.
    """
    if len(documents.starts) < 2:
        return np.empty((0, len(prior)))
    words = documents.distinct_words()
    weights = np.ascontiguousarray(topics.T[words])
    expectations = Expectations(words, weights, document_prior(1.0, prior, weights.dtype), 0, "fold-in")
    parts = map_shards(lambda part: fit_documents(part, expectations, FOLD_IN, is_learning=False)[1], documents)
    return np.concatenate(parts)


def perplexity_bound(documents: Documents, topics: np.ndarray, prior: np.ndarray) -> float:
    """Bound on the log likelihood of documents given E[topics], in nats per token (Hoffman 2010 Eq. 16).

    The document part of Eq. 4 at the fold-in's q(θ), with the topics at their expectations; NaN without a token.
    """
    if not len(documents.words):
        return float("nan")
    shares = fold_in(documents, topics, prior)
    sizes = documents.sizes().astype(float)
    g = shares * (prior.sum() + sizes)[:, None]
    return float(_document_bounds(documents, topics, prior, np.maximum(g, 1e-30)).sum() / sizes.sum())


def lda_perplexity_bound(documents, topic_counts, prior, word_concentration):
    """Bound on log p(documents, topics) of an LDA, online or batch, in nats per token (Hoffman 2010 Eq. 16 and 4).

    topic_counts: λ - η in DecayedCounts; prior: α (K,). Topics are not fixed at their expectations: words weigh E[log
    topic], and the topics' own part, once for all documents, is in it, as in Hoffman's code and in scikit-learn's
    `score`, whose `perplexity` is exp of minus this.
    """
    words = documents.distinct_words()
    topics = topic_weights(topic_counts, words, word_concentration, "geometric")
    prior = document_prior(1.0, prior, topics.dtype)
    expectations = Expectations(words, topics, prior, 0, "bound")

    def fit(part):
        statistics, shares = fit_documents(part, expectations, UNTIL_SETTLED, is_learning=True)
        return statistics, shares_bound(statistics, shares, part, prior)

    totals = reduce(add, map_shards(lambda part: sum_documents(part, expectations, fit), documents))
    divergence, logs = topics_divergence(topic_counts.dense(), word_concentration)
    bound = totals.bound + (totals.topic_words * logs[words]).sum() - divergence
    return float(bound / documents.counts.sum(dtype=np.int64))


def _document_bounds(documents, topics, prior, g):
    prior = np.maximum(prior, 1e-30)
    logs = psi(g) - psi(g.sum(1, keepdims=True))
    rows = np.repeat(np.arange(len(g)), np.diff(documents.starts))
    words = np.log(np.einsum("nk,nk->n", np.exp(logs)[rows], topics.T[documents.words], dtype=np.float64))
    bounds = np.bincount(rows, documents.counts * words, minlength=len(g))
    bounds += ((prior - g) * logs + gammaln(g) - gammaln(prior)).sum(1)
    return bounds + gammaln(prior.sum()) - gammaln(g.sum(1))


def importance_sampling(
    documents: Documents,
    topics: np.ndarray,
    prior: np.ndarray,
    rng: np.random.Generator,
    effort: Effort = USUAL_EFFORT,
) -> float:
    """log p(document) given E[topics], summed over documents, in nats per token; too low rather than too high.

    topics: (K, V); prior: (K,), α₀ E[β]. Source: Wang & Blei 2012 S.3, which takes the proposal's counts from Gibbs
    samples as here; for any topics and any HDP or LDA. Of a mixture: `mixture_likelihood`. NaN where there is no token.
    """
    if not len(documents.words):
        return float("nan")
    words = documents.distinct_words()
    weights = np.ascontiguousarray(topics.T[words], np.float64)
    logs = np.empty(documents.num_documents)
    weigh_documents(documents.indexed(words), weights, np.maximum(prior, 1e-30).astype(float), effort, rng, logs)
    return float(logs.sum() / documents.counts.sum(dtype=np.float64))


def mixture_likelihood(documents: Documents, topics: np.ndarray, weights: np.ndarray) -> float:
    """log p(document) under a mixture, summed over documents, in nats per token; Wang & Blei 2012 S.3.

        p(x) = Σ_k E[π_k] ∏_w E[θ_kw]^c_w

    topics: (K, V); weights: (K,). NaN where there is no token.
    """
    if not len(documents.words):
        return float("nan")
    num_documents = documents.num_documents
    of_words = documents.counts[:, None] * np.log(topics.T[documents.words], dtype=np.float64)
    logs = np.zeros((num_documents, len(weights))) + np.log(weights)
    np.add.at(logs, np.repeat(np.arange(num_documents), np.diff(documents.starts)), of_words)
    return float(logsumexp(logs, axis=1).sum() / documents.counts.sum(dtype=np.float64))
