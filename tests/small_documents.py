"""Small documents, and mini-batches of them, for several test files."""

import numpy as np

from stickbreaker.engine.corpora.documents import Batch, Documents


def documents_of(counts):
    """Documents of an array (S, V) of counts."""
    rows, words = np.nonzero(counts)
    starts = np.append(0, np.bincount(rows, minlength=len(counts)).cumsum())
    return Documents(
        starts, words.astype(np.int32), np.asarray(counts)[rows, words].astype(np.int32)
    )


def documents_of_pairs(pairs):
    """Documents of pairs (words, counts), whose entries keep their order."""
    starts = np.append(0, np.cumsum([len(words) for words, _ in pairs]))
    return Documents(
        starts, *(np.concatenate(part).astype(np.int32) for part in zip(*pairs, strict=True))
    )


def documents_of_words(lists):
    """Documents of lists of words, one word for each token."""
    return documents_of_pairs([np.unique(words, return_counts=True) for words in lists])


def batch_of(documents, corpus_size=None):
    """A mini-batch of documents, by default the whole corpus; ids count from 0."""
    size = documents.num_documents
    return Batch(np.arange(size), documents, corpus_size or size)


def draw_sparse_counts(seed, num_documents=20, vocab_size=30, max_words=10):
    """Counts (S, V) of documents of 1 to `max_words` distinct words; the last document is empty.

    seed: a number, or a generator to draw from.
    """
    rng = np.random.default_rng(seed)
    counts = np.zeros((num_documents, vocab_size), np.int32)
    for row in counts[:-1]:
        size = rng.integers(1, max_words + 1)
        row[rng.choice(vocab_size, size, replace=False)] = rng.integers(1, 6, size)
    return counts


def draw_two_topic_counts(seed, num_documents=60):
    """Counts (S, 40) of documents of two of five topics; the last one is empty."""
    rng = np.random.default_rng(seed)
    counts = np.zeros((num_documents, 40), np.int32)
    for row in counts[:-1]:
        for topic in rng.choice(5, 2, replace=False):
            row[8 * topic : 8 * topic + 8] += rng.poisson(1.5, 8).astype(np.int32)
    return counts


def draw_documents(num_documents=40, vocab_size=50):
    """Documents of 2 to 30 distinct words, after one without words and one with one word."""
    rng = np.random.default_rng(0)
    sizes = np.append([0, 1], rng.integers(2, 31, num_documents - 2))
    words = [np.sort(rng.choice(vocab_size, size, replace=False)) for size in sizes]
    starts = np.append(0, sizes.cumsum())
    return Documents(
        starts,
        np.concatenate(words).astype(np.int32),
        rng.integers(1, 9, starts[-1]).astype(np.int32),
    )
