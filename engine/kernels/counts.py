"""Expected counts of words in topics, document by document, and adding them to rows of topics.

A document of n words expects tokens of its own A_j topics only, so it writes n A_j numbers and not n K.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from engine.kernels.special import FAST


class DocumentCounts(NamedTuple):
    """Tokens that S documents expect of each of their words in each of their topics.

    starts: (S + 1,) and words: (nnz,), as in the documents, words being rows of the batch's topics.
    topic_starts: (S + 1,), topic_ids: document j's topics are topic_ids[topic_starts[j]:topic_starts[j + 1]].
    tokens: flat; document after document a block (n, A_j). Its spare room at the end is not in use.
    """

    starts: np.ndarray
    words: np.ndarray
    topic_starts: np.ndarray
    topic_ids: np.ndarray
    tokens: np.ndarray


def room_for(documents, most_topics, precision):
    """DocumentCounts with room for most_topics a document, nothing in them yet."""
    num_documents = len(documents.starts) - 1
    return DocumentCounts(
        documents.starts,
        documents.words,
        np.zeros(num_documents + 1, np.int64),
        np.empty(num_documents * most_topics, np.int32),
        np.empty(len(documents.words) * most_topics, precision),
    )


@njit(nogil=True, cache=True, error_model="numpy")
def next_block(counts, j, topic_ids, place):
    """Give document j these topics; returns its block (n, A_j) of tokens, which begins at `place`, and its end."""
    first = counts.topic_starts[j]
    counts.topic_starts[j + 1] = first + topic_ids.shape[0]
    for m in range(topic_ids.shape[0]):
        counts.topic_ids[first + m] = topic_ids[m]
    num_words = counts.starts[j + 1] - counts.starts[j]
    end = place + num_words * topic_ids.shape[0]
    return counts.tokens[place:end].reshape(num_words, topic_ids.shape[0]), end


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def add_counts(counts, factor, places, out_rows):
    """Add factor times the counts to the rows at the places (U,) of the documents' words."""
    place = 0
    for j in range(counts.starts.shape[0] - 1):
        topic_ids = counts.topic_ids[counts.topic_starts[j] : counts.topic_starts[j + 1]]
        num_topics = topic_ids.shape[0]
        for i in range(counts.starts[j], counts.starts[j + 1]):
            row = out_rows[places[counts.words[i]]]
            for m in range(num_topics):
                row[topic_ids[m]] += factor * counts.tokens[place + m]
            place += num_topics


@njit(nogil=True, cache=True, error_model="numpy")
def copy_rows(rows, places, new_places):
    """Copy the rows at some places (U,) to new ones of the same array (its output is an input too)."""
    for u in range(places.shape[0]):
        rows[new_places[u], :] = rows[places[u]]


@njit(nogil=True, cache=True, error_model="numpy")
def add_columns(block, topic_ids, out_tokens):
    """Add the column sums of a block (n, A) to out_tokens (K,) float64."""
    for m in range(topic_ids.shape[0]):
        total = 0.0
        for i in range(block.shape[0]):
            total += block[i, m]
        out_tokens[topic_ids[m]] += total


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def scale_rows(rows, places, scale, offset, factors, out_rows):
    """(scale · row + offset) · factors (K,) of the rows at some places (U,), into (U, K)."""
    scale, offset = factors.dtype.type(scale), factors.dtype.type(offset)
    for u in range(places.shape[0]):
        row, out = rows[places[u]], out_rows[u]
        for k in range(factors.shape[0]):
            out[k] = (scale * row[k] + offset) * factors[k]
