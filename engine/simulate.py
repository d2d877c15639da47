"""Corpora simulated from the two-level hierarchical Dirichlet process, with their true topics."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from stickbreaker.engine.corpora.corpus import Corpus, Vocabulary


class Simulation(NamedTuple):
    """A simulated corpus and its true parameters.

    topics: (K, V); weights: (K,), β.
    words, assignments: (D, N), the word and the topic of each token.
    """

    corpus: Corpus
    topics: np.ndarray
    weights: np.ndarray
    words: np.ndarray
    assignments: np.ndarray

    def topic_words(self) -> np.ndarray:
        """The number of tokens of each word that were drawn from each topic (K, V)."""
        counts = np.zeros(self.topics.shape, np.int64)
        np.add.at(counts, (self.assignments, self.words), 1)
        return counts


def simulate_hdp(
    topics: np.ndarray,
    num_documents: int,
    doc_length: int,
    doc_concentration: float,
    corpus_concentration: float,
    rng: np.random.Generator,
) -> Simulation:
    """Draw documents of N = doc_length tokens from the HDP over given topics (K, V).

    Uses Sethuraman's construction on both levels (Wang 2011 Eq. 4 and 6-10): β ~ GEM(γ) truncated
    at K, where the last stick takes the rest; each document has its own sticks π_j ~ GEM(α₀), not
    truncated; its slot t holds topic c_jt ~ β; each token draws a slot z_jn from π_j and its word
    from that slot's topic.
    """
    weights = break_sticks(len(topics), corpus_concentration, rng)
    slots = _draw_slots(num_documents, doc_length, doc_concentration, rng)
    slot_topics = rng.choice(len(topics), (num_documents, slots.max(initial=0) + 1), p=weights)
    assignments = np.take_along_axis(slot_topics, slots, axis=1)
    words = np.empty_like(assignments)
    for k, topic in enumerate(topics):
        of_topic = assignments == k
        words[of_topic] = rng.choice(len(topic), of_topic.sum(), p=topic)
    return Simulation(
        corpus=_as_corpus(words, topics.shape[1]),
        topics=topics,
        weights=weights,
        words=words,
        assignments=assignments,
    )


def break_sticks(num_sticks: int, concentration: float, rng: np.random.Generator) -> np.ndarray:
    """Draw weights (T,) from GEM(concentration) truncated at T: each stick takes Beta(1,
    concentration) of the rest.

    The last stick takes all that is left, so the weights sum to 1. Source: Wang 2011 Eq. 4.

    >>> break_sticks(1, 5.0, np.random.default_rng(0))
    array([1.])
    """
    on = np.append(rng.beta(1.0, concentration, num_sticks - 1), 1.0)
    weights: np.ndarray = on * np.append(1.0, np.cumprod(1.0 - on[:-1]))
    return weights


class DocumentSticks(NamedTuple):
    """A document before its first word: slot_shares (T,) π, slot_topics (T,) c, shares θ."""

    slot_shares: np.ndarray
    slot_topics: np.ndarray
    doc_shares: np.ndarray


def break_document_sticks(
    weights: np.ndarray, num_slots: int, doc_concentration: float, rng: np.random.Generator
) -> DocumentSticks:
    """Draw a document's sticks and its slots' topics from the corpus weights (K,), and compute its
    topic shares.

    θ_k = Σ_t π_t [c_t = k]        (Wang 2011 Eq. 6-8, sticks truncated at T = num_slots)
    """
    slot_shares = break_sticks(num_slots, doc_concentration, rng)
    slot_topics = rng.choice(len(weights), num_slots, p=weights)
    return DocumentSticks(
        slot_shares=slot_shares,
        slot_topics=slot_topics,
        doc_shares=np.bincount(slot_topics, slot_shares, len(weights)),
    )


def _draw_slots(
    num_documents: int, doc_length: int, concentration: float, rng: np.random.Generator
) -> np.ndarray:
    """Draw the slot of each token (D, N), breaking sticks until every token has one."""
    positions = rng.random((num_documents, doc_length))
    slots = np.zeros((num_documents, doc_length), np.int64)
    left = np.ones((num_documents, 1))
    while True:
        # 1 - Beta(1, α₀) is Beta(α₀, 1). The rest of the stick is drawn directly, so it stays exact
        # below 1e-16.
        left = left * rng.beta(concentration, 1.0, left.shape)
        is_beyond = positions < left
        if not is_beyond.any():
            return slots
        slots += is_beyond


def _as_corpus(words: np.ndarray, vocab_size: int) -> Corpus:
    """A corpus of the words (D, N) of documents, dated evenly over the twentieth century."""
    num_documents, doc_length = words.shape
    starts = np.arange(num_documents + 1) * doc_length
    counts = csr_array(
        (np.ones(words.size, np.int32), words.ravel(), starts), shape=(num_documents, vocab_size)
    )
    dates = np.datetime64("1900", "Y") + np.arange(num_documents) * 100 // max(num_documents, 1)
    titles = [f"Document {j}" for j in range(num_documents)]
    return Corpus(
        name="simulated",
        counts=counts,
        vocabulary=Vocabulary(tuple(f"word{w}" for w in range(vocab_size))),
        dates=dates,
        titles=titles,
    )
