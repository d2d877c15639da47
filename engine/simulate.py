"""Corpora drawn from the two-level hierarchical Dirichlet process itself, with the truth they were drawn from."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from stickbreaker.engine.corpora.corpus import Corpus, Vocabulary


class Simulation(NamedTuple):
    """A corpus and its truth.

    topics: (K, V); weights: (K,), β.
    words, assignments: (D, N), the word of each token and the topic it was drawn from.
    """

    corpus: Corpus
    topics: np.ndarray
    weights: np.ndarray
    words: np.ndarray
    assignments: np.ndarray

    def topic_words(self):
        """Tokens of each word drawn from each topic (K, V): what knowing every assignment would teach."""
        counts = np.zeros(self.topics.shape, np.int64)
        np.add.at(counts, (self.assignments, self.words), 1)
        return counts


def simulate_hdp(topics, num_documents, doc_length, doc_concentration, corpus_concentration, rng):
    """Draw documents of N = doc_length tokens from the HDP over given topics (K, V).

    By Sethuraman's construction on both levels (Wang 2011 Eq. 4 and 6-10): β ~ GEM(γ) cut at K, where the last stick
    takes the rest; each document breaks its own sticks π_j ~ GEM(α₀), without a cut; its slot t holds topic c_jt ~ β;
    a token draws a slot z_jn by π_j and its word from that slot's topic.
    """
    weights = break_sticks(len(topics), corpus_concentration, rng)
    slots = _draw_slots(num_documents, doc_length, doc_concentration, rng)
    slot_topics = rng.choice(len(topics), (num_documents, slots.max(initial=0) + 1), p=weights)
    assignments = np.take_along_axis(slot_topics, slots, axis=1)
    words = np.empty_like(assignments)
    for k, topic in enumerate(topics):
        of_topic = assignments == k
        words[of_topic] = rng.choice(len(topic), of_topic.sum(), p=topic)
    return Simulation(_as_corpus(words, topics.shape[1]), topics, weights, words, assignments)


def break_sticks(num_sticks, concentration, rng):
    """Weights (T,) drawn from GEM(concentration), cut at T: each stick takes Beta(1, concentration) of what is left.

    The last takes the rest, so they sum to 1. Source: Wang 2011 Eq. 4.

    >>> break_sticks(1, 5.0, np.random.default_rng(0))
    array([1.])
    """
    on = np.append(rng.beta(1.0, concentration, num_sticks - 1), 1.0)
    return on * np.append(1.0, np.cumprod(1.0 - on[:-1]))


class DocumentSticks(NamedTuple):
    """What a document has before its first word: slot_shares (T,) π, slot_topics (T,) c, and doc_shares (K,) θ."""

    slot_shares: np.ndarray
    slot_topics: np.ndarray
    doc_shares: np.ndarray


def break_document_sticks(weights, num_slots, doc_concentration, rng):
    """Draw a document's sticks, its slots' topics by the corpus weights (K,), and the shares of topics that follow.

    θ_k = Σ_t π_t [c_t = k]        (Wang 2011 Eq. 6-8, sticks cut at T = num_slots)
    """
    slot_shares = break_sticks(num_slots, doc_concentration, rng)
    slot_topics = rng.choice(len(weights), num_slots, p=weights)
    return DocumentSticks(slot_shares, slot_topics, np.bincount(slot_topics, slot_shares, len(weights)))


def _draw_slots(num_documents, doc_length, concentration, rng):
    """The slot of each token (D, N), its document's stick broken until every token has one."""
    positions = rng.random((num_documents, doc_length))
    slots = np.zeros((num_documents, doc_length), np.int64)
    left = np.ones((num_documents, 1))
    while True:
        # 1 - Beta(1, α₀) is Beta(α₀, 1): what is left of the stick is counted, for it goes on below 1e-16.
        left = left * rng.beta(concentration, 1.0, left.shape)
        is_beyond = positions < left
        if not is_beyond.any():
            return slots
        slots += is_beyond


def _as_corpus(words, vocab_size):
    """Counts of the words (D, N) of each document, dated evenly over the twentieth century."""
    num_documents, doc_length = words.shape
    starts = np.arange(num_documents + 1) * doc_length
    counts = csr_array((np.ones(words.size, np.int32), words.ravel(), starts), shape=(num_documents, vocab_size))
    dates = np.datetime64("1900", "Y") + np.arange(num_documents) * 100 // max(num_documents, 1)
    titles = [f"Document {j}" for j in range(num_documents)]
    return Corpus("simulated", counts, Vocabulary([f"word{w}" for w in range(vocab_size)]), dates, titles)
