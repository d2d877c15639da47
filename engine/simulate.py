"""Corpora drawn from known topics."""

from typing import NamedTuple

import numpy as np

from engine.corpus import Corpus, Vocabulary


class Simulation(NamedTuple):
    """A corpus and its truth: topics (K, V), and the tokens of each word drawn from each topic (K, V)."""

    corpus: Corpus
    topics: np.ndarray
    topic_words: np.ndarray


def simulate_topics(topics, num_documents, doc_length, doc_concentration, rng):
    """Draw documents of doc_length tokens whose shares of topics (K, V) are Dirichlet(doc_concentration / K)."""
    num_topics, vocab_size = topics.shape
    shares = rng.dirichlet(np.full(num_topics, doc_concentration / num_topics), num_documents)
    by_topic = np.array([rng.multinomial(doc_length, share) for share in shares])
    counts, topic_words = np.zeros((num_documents, vocab_size), np.int32), np.zeros((num_topics, vocab_size), np.int64)
    for k in range(num_topics):
        drawn = rng.multinomial(by_topic[:, k], topics[k])
        counts += drawn.astype(np.int32)
        topic_words[k] = drawn.sum(0)
    dates = np.datetime64("1900", "Y") + np.arange(num_documents) * 100 // num_documents
    titles = [f"Document {j}" for j in range(num_documents)]
    vocabulary = Vocabulary(tuple(f"word{w}" for w in range(vocab_size)))
    return Simulation(Corpus("simulated", counts, vocabulary, dates, titles), topics, topic_words)
