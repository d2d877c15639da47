"""The topic of each token, as samplers remember it: begun, swept, kept while documents come and go, and read."""

from typing import NamedTuple

import numpy as np

from stickbreaker.engine.corpora.corpus import CorpusError, Documents
from stickbreaker.engine.kernels.gibbs import TokenTopics, TopicPool, draw_tables, lay_out, read_out, sweep_tokens

MOST_TOKENS = 2**31 - 1
DOCUMENTS_AT_ONCE = 1000


class Assignments(NamedTuple):
    """The topics of N tokens in D documents.

    doc_ids, doc_sizes: (D,) int64, the documents and their tokens.
    topics: (N,) int32, document by document in the order of doc_ids, within it in the order of its words; places among
        the state's K topics.
    topic_words: (V, K) int32, tokens of each word in each topic.
    """

    doc_ids: np.ndarray
    doc_sizes: np.ndarray
    topics: np.ndarray
    topic_words: np.ndarray


class TopicAverages(NamedTuple):
    """E[topic] averaged over samples, of each topic over those taken since its birth.

    topics: (V, K) float32, or (0, 0) before the first sample; num_samples: (K,) int64.
    """

    topics: np.ndarray
    num_samples: np.ndarray


class Sweep(NamedTuple):
    """What a sweep leaves: assignments, the pool of its K topics before the next π, and tables (K,), 0 if not drawn."""

    assignments: Assignments
    pool: TopicPool
    tables: np.ndarray


def no_assignments(vocab_size, num_topics):
    """Nothing read yet."""
    none = np.zeros(0, np.int64)
    return Assignments(none, none, none.astype(np.int32), np.zeros((vocab_size, num_topics), np.int32))


def no_averages(num_topics):
    """Nothing averaged yet."""
    return TopicAverages(np.zeros((0, 0), np.float32), np.zeros(num_topics, np.int64))


def count_tokens(documents):
    """Tokens of each document (S,). Raises CorpusError where they are more than a sampler can remember."""
    sizes = documents.sizes()
    if sizes.sum() > MOST_TOKENS:
        raise CorpusError(
            f"The corpus has {sizes.sum()} tokens, and a sampler remembers the topic of each, of {MOST_TOKENS} at most:"
            " sample from fewer documents, or choose an algorithm that keeps no topic for each token."
        )
    return sizes


def estimate_memory(documents, vocab_size, num_topics):
    """Bytes of a state with these documents and so many topics, and of what a sweep needs beside it.

    A token costs 4 bytes in each of two states and 16 in a sweep; counts and averages of words in topics 12.
    """
    num_tokens = int(documents.counts.sum(dtype=np.int64))
    return 24 * num_tokens + 40 * len(documents.starts) + 12 * vocab_size * num_topics


def settle_assignments(assignments, batch, num_topics, rng):
    """Topics (N,) of the batch's tokens: those of a document already known, others uniformly among `num_topics`."""
    doc_sizes = count_tokens(batch.documents)
    if np.array_equal(batch.doc_ids, assignments.doc_ids) and np.array_equal(doc_sizes, assignments.doc_sizes):
        return doc_sizes, assignments.topics
    topics = rng.integers(num_topics, size=doc_sizes.sum(), dtype=np.int32)
    old_starts = np.append(0, assignments.doc_sizes.cumsum())
    starts = np.append(0, doc_sizes.cumsum())
    known = {int(doc_id): row for row, doc_id in enumerate(assignments.doc_ids)}
    for row, doc_id in enumerate(batch.doc_ids):
        old = known.get(int(doc_id))
        if old is not None and doc_sizes[row] == assignments.doc_sizes[old]:
            topics[starts[row] : starts[row + 1]] = assignments.topics[old_starts[old] : old_starts[old + 1]]
    return doc_sizes, topics


def sweep(assignments, batch, pool, concentrations, rng, with_tables=True):
    """One sweep over every token, then the tables of each topic in each document, if they are asked for.

    pool: TopicPool of K topics, whose tokens are counted here; concentrations: (α, γ, η). Where topics come and go,
    those without a token are gone before and after. A document not met before starts at topics drawn uniformly.
    """
    alpha, gamma, eta = concentrations
    doc_sizes, topics = settle_assignments(assignments, batch, len(pool.topic_ids), rng)
    tokens = np.bincount(topics, minlength=len(pool.topic_ids))
    vocab_size = len(assignments.topic_words)
    documents = _own_documents(batch.documents)
    layout = _lay_out(documents, doc_sizes, topics, vocab_size, len(tokens))
    swept = sweep_tokens(rng, layout, _drop_empty(pool._replace(tokens=tokens)), alpha, gamma, eta)
    tables = np.zeros(len(swept.tokens), np.int64)
    if with_tables:
        draw_tables(rng, layout, alpha * swept.weights, tables)
    kept = _choose_kept(swept)
    new_places = np.zeros(len(swept.tokens), np.int32)
    new_places[kept] = np.arange(len(kept))
    topics, topic_words = np.empty_like(topics), np.zeros((vocab_size, len(kept)), np.int32)
    read_out(documents, layout, new_places, topics, topic_words)
    pool = swept._replace(topic_ids=swept.topic_ids[kept], tokens=swept.tokens[kept], weights=swept.weights[kept])
    return Sweep(Assignments(np.array(batch.doc_ids), doc_sizes, topics, topic_words), pool, tables[kept])


def _own_documents(documents):
    """Writable arrays of the types that kernels are compiled for."""
    starts, words, counts = documents
    return Documents(np.array(starts, np.int64), np.array(words, np.int32), np.array(counts, np.int32))


def _lay_out(documents, doc_sizes, topics, vocab_size, num_topics):
    num_tokens = len(topics)
    word_sizes = np.bincount(documents.words, documents.counts, vocab_size).astype(np.int64)
    layout = TokenTopics(
        np.append(0, word_sizes.cumsum()),
        np.empty(num_tokens, np.int32),
        np.empty(num_tokens, np.int32),
        doc_sizes.cumsum() - doc_sizes,
        np.zeros(len(doc_sizes), np.int32),
        np.empty((num_tokens, 2), np.int32),
    )
    lay_out(documents, topics, num_topics, layout)
    return layout


def _drop_empty(pool):
    """Where topics come and go, the weight of those without a token is left to new ones."""
    if not pool.is_growing:
        return pool
    weights = np.where(pool.tokens > 0, pool.weights, 0.0)
    return pool._replace(weights=weights, unused_weight=pool.unused_weight + (pool.weights - weights).sum())


def _choose_kept(pool):
    """Places of the topics that live on, by id; a corpus without tokens keeps one that nobody uses."""
    places = np.flatnonzero(pool.tokens) if pool.is_growing else np.arange(len(pool.tokens))
    places = places if len(places) else np.array([0])
    return places[np.argsort(pool.topic_ids[places])]


def is_sample(config, step):
    """Whether the sweep of this number is one of those that averages are of."""
    beyond = step - config.burn_in
    return beyond > 0 and beyond % config.sample_every == 0


def follow_topics(averages, old_ids, topic_ids):
    """The same averages for the topics there are now, known again by their ids; new ones have no samples."""
    if np.array_equal(old_ids, topic_ids):
        return averages
    place = {int(topic_id): k for k, topic_id in enumerate(old_ids)}
    old = np.array([place.get(int(topic_id), -1) for topic_id in topic_ids])
    num_samples = np.where(old >= 0, averages.num_samples[old], 0)
    return TopicAverages(averages.topics[:, old] if len(averages.topics) else averages.topics, num_samples)


def average(averages, assignments, word_concentration):
    """Averages with E[topic] of one more sample, of the same topics."""
    num_samples = averages.num_samples + 1
    sample = _sample_topics(assignments.topic_words, assignments.topic_words.sum(0), word_concentration)
    if len(averages.topics):
        sample += (averages.topics - sample) * ((num_samples - 1) / num_samples).astype(np.float32)
    return TopicAverages(sample, num_samples)


def _sample_topics(topic_words, tokens, word_concentration, vocab_size=None):
    """E[topic] of one sample, (n_wk + η) / (n_k + V η), for rows of words (U, K)."""
    vocab_size = vocab_size or len(topic_words)
    scale = 1.0 / (tokens + vocab_size * word_concentration)
    return (topic_words * scale + word_concentration * scale).astype(np.float32)


def read_topics(assignments, averages, word_concentration, words=slice(None)):
    """E[topic] of some words (U, K): its average over samples where one was taken, otherwise that of this sample."""
    topic_words = assignments.topic_words
    topics = _sample_topics(topic_words[words], topic_words.sum(0), word_concentration, len(topic_words))
    if len(averages.topics):
        topics = np.where(averages.num_samples > 0, averages.topics[words], topics)
    return topics


def predict_words(assignments, prior, unused_prior, word_concentration, rows, words):
    """Probability Σ_k θ_jk φ_kw of words (n,) in the documents at rows (n,) of doc_ids, under this one sample.

    Teh 2007 Eq. 17: θ_jk = (α π_k + n_jk) / (α + n_j), φ_kw = (η + n_kw) / (V η + n_k); its mean over samples is what
    predicts. prior: (K,), α π; unused_prior: α π_u, of topics not born yet, whose words are all alike.
    """
    topic_words, num_topics = assignments.topic_words, len(prior)
    vocab_size, tokens = len(topic_words), topic_words.sum(0)
    starts = np.append(0, assignments.doc_sizes.cumsum())
    predicted = np.empty(len(rows))
    for first in range(0, len(assignments.doc_ids), DOCUMENTS_AT_ONCE):
        last = min(first + DOCUMENTS_AT_ONCE, len(assignments.doc_ids))
        own = np.flatnonzero((rows >= first) & (rows < last))
        documents = np.repeat(np.arange(last - first), assignments.doc_sizes[first:last])
        places = documents * num_topics + assignments.topics[starts[first] : starts[last]]
        shares = np.bincount(places, minlength=(last - first) * num_topics).reshape(-1, num_topics) + prior
        topics = (topic_words[words[own]] + word_concentration) / (tokens + vocab_size * word_concentration)
        known = np.einsum("nk,nk->n", shares[rows[own] - first], topics)
        total = prior.sum() + unused_prior + assignments.doc_sizes[rows[own]]
        predicted[own] = (known + unused_prior / vocab_size) / total
    return predicted
