"""Expected counts of words in topics, document by document, and adding them to rows of topics, word by word.

They are kept as what makes them up: n A_j numbers for a document of n words and A_j topics, or n + K, never n K.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from stickbreaker.engine.kernels.special import FAST, exp_digamma_minus, fast_exp
from stickbreaker.engine.kernels.vectors import WIDTH, add_product, load, prefetch_row, splat, store

# Rows lie anywhere in memory: they are sent for while so many words before them are worked on.
AHEAD = 2


class DocumentCounts(NamedTuple):
    """Tokens that S documents expect of each of their words in each of their topics.

    starts: (S + 1,) and words: (nnz,), as in the documents, words being rows of the batch's topics.
    topic_starts: (S + 1,), topic_ids: document j's topics are topic_ids[topic_starts[j]:topic_starts[j + 1]].
    tokens: flat; document after document a block (n, A_j). Spare room may follow what is in use.
    """

    starts: np.ndarray
    words: np.ndarray
    topic_starts: np.ndarray
    topic_ids: np.ndarray
    tokens: np.ndarray


class FactoredCounts(NamedTuple):
    """The same where a word's tokens are scale_i e_jk B_ik, over all K topics.

    starts: (S + 1,) and words: (nnz,), as above; scales: (nnz,) c_i / Σ_l e_l B_il; weights: (S, K) e of each document;
    topics: (U, K) B of the batch's words.
    """

    starts: np.ndarray
    words: np.ndarray
    scales: np.ndarray
    weights: np.ndarray
    topics: np.ndarray


class WordEntries(NamedTuple):
    """The entries of documents in the order of their words.

    starts: (U + 1,), word u's are entries[starts[u]:starts[u + 1]]; entries: (nnz,) ascending for a word; docs: (nnz,)
    whose each is.
    """

    starts: np.ndarray
    entries: np.ndarray
    docs: np.ndarray


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


def join_counts(parts):
    """Counts of one kind, of shard after shard, as those of all documents."""
    if len(parts) == 1:
        return parts[0]
    starts, words = _join_starts([part.starts for part in parts]), np.concatenate([part.words for part in parts])
    if isinstance(parts[0], FactoredCounts):
        scales, weights = (np.concatenate(arrays) for arrays in zip(*(part[2:4] for part in parts), strict=True))
        return FactoredCounts(starts, words, scales, weights, parts[0].topics)
    used = [int((np.diff(part.starts) * np.diff(part.topic_starts)).sum()) for part in parts]
    return DocumentCounts(
        starts,
        words,
        _join_starts([part.topic_starts for part in parts]),
        np.concatenate([part.topic_ids[: part.topic_starts[-1]] for part in parts]),
        np.concatenate([part.tokens[:end] for part, end in zip(parts, used, strict=True)]),
    )


def _join_starts(starts):
    """Where documents start, from where they do in their shards."""
    return np.concatenate([[0], np.concatenate([np.diff(each) for each in starts])]).cumsum()


def group_by_word(counts, num_words):
    """WordEntries of counts whose words are below num_words."""
    number = len(counts.words)
    grouped = WordEntries(np.zeros(num_words + 1, np.int64), np.empty(number, np.int32), np.empty(number, np.int32))
    group_entries(counts.starts, counts.words, *grouped)
    return grouped


def block_starts(counts):
    """Where each document's block of tokens begins (S,)."""
    sizes = np.diff(counts.starts) * np.diff(counts.topic_starts)
    return sizes.cumsum() - sizes


@njit(nogil=True, cache=True, error_model="numpy")
def group_entries(starts, words, out_starts, out_entries, out_docs):
    """Sort entries by their words, by counting; out_starts begins as zeros."""
    for word in words:
        out_starts[word + 1] += 1
    for u in range(out_starts.shape[0] - 1):
        out_starts[u + 1] += out_starts[u]
    place = out_starts[:-1].copy()
    for j in range(starts.shape[0] - 1):
        for i in range(starts[j], starts[j + 1]):
            u = words[i]
            out_entries[place[u]], out_docs[place[u]] = i, j
            place[u] += 1


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
def add_blocks(counts, first_tokens, grouped, span, factor, places, new_places, out_rows):
    """Rows at the places (U,) of words, plus factor times their DocumentCounts, into the new places.

    first_tokens: `block_starts`; span: words first to last, so that threads take some each. The new rows are of the
    array that the old ones are in.
    """
    for u in range(span[0], span[1]):
        if u + AHEAD < span[1]:
            prefetch_row(out_rows, places[u + AHEAD])
            prefetch_row(out_rows, new_places[u + AHEAD])
        row, out = out_rows[places[u]], out_rows[new_places[u]]
        for k in range(row.shape[0]):
            out[k] = row[k]
        for place in range(grouped.starts[u], grouped.starts[u + 1]):
            i, j = grouped.entries[place], grouped.docs[place]
            topic_ids = counts.topic_ids[counts.topic_starts[j] : counts.topic_starts[j + 1]]
            first = first_tokens[j] + (i - counts.starts[j]) * topic_ids.shape[0]
            tokens = counts.tokens[first : first + topic_ids.shape[0]]
            for m in range(topic_ids.shape[0]):
                # Unsigned: a number that might be negative is checked for that.
                out[np.uint32(topic_ids[m])] += factor * tokens[m]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def add_products(counts, grouped, span, factor, places, new_places, out_rows):
    """As `add_blocks`, of FactoredCounts: a word's topic weights B_ik multiply Σ_j scale_ij e_jk once."""
    num_topics, weights = out_rows.shape[1], counts.weights
    total = np.empty(num_topics, weights.dtype)
    for u in range(span[0], span[1]):
        if u + AHEAD < span[1]:
            prefetch_row(out_rows, places[u + AHEAD])
            prefetch_row(out_rows, new_places[u + AHEAD])
        start, end, first = grouped.starts[u], grouped.starts[u + 1], 0
        # As many topics at a time as registers hold; the last of them may have been added up before.
        while first < num_topics and num_topics >= 4 * WIDTH:
            first = min(first, num_topics - 4 * WIDTH)
            one = two = three = four = splat(weights.dtype.type(0))
            for place in range(start, end):
                scale = splat(counts.scales[grouped.entries[place]])
                k = grouped.docs[place] * num_topics + first
                one = add_product(one, scale, load(weights, k))
                two = add_product(two, scale, load(weights, k + WIDTH))
                three = add_product(three, scale, load(weights, k + 2 * WIDTH))
                four = add_product(four, scale, load(weights, k + 3 * WIDTH))
            store(total, first, one)
            store(total, first + WIDTH, two)
            store(total, first + 2 * WIDTH, three)
            store(total, first + 3 * WIDTH, four)
            first += 4 * WIDTH
        if first == 0:
            total[:] = 0.0
            for place in range(start, end):
                scale, e = counts.scales[grouped.entries[place]], weights[grouped.docs[place]]
                for k in range(num_topics):
                    total[k] += scale * e[k]
        row, topics, out = out_rows[places[u]], counts.topics[u], out_rows[new_places[u]]
        for k in range(num_topics):
            out[k] = row[k] + factor * (total[k] * topics[k])


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def scale_rows(rows, places, scale, offset, factors, out_rows):
    """(scale · row + offset) · factors (K,) of the rows at some places (U,), into (U, K)."""
    scale, offset = factors.dtype.type(scale), factors.dtype.type(offset)
    for u in range(places.shape[0]):
        if u + AHEAD < places.shape[0]:
            prefetch_row(rows, places[u + AHEAD])
        row, out = rows[places[u]], out_rows[u]
        for k in range(factors.shape[0]):
            out[k] = (scale * row[k] + offset) * factors[k]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def weigh_rows(rows, places, scale, offset, total_digammas, smallest_exponent, out_rows):
    """exp E[log topic] = exp(ψ(λ) - ψ(Σ λ)) of λ = scale · row + offset, rows at some places (U,), into (U, K).

    Floored so that no float32 is denormal. Source: Wang 2011, the expectations below Eq. 21.
    """
    scale, offset = total_digammas.dtype.type(scale), total_digammas.dtype.type(offset)
    smallest = fast_exp(smallest_exponent)
    for u in range(places.shape[0]):
        if u + AHEAD < places.shape[0]:
            prefetch_row(rows, places[u + AHEAD])
        row, out = rows[places[u]], out_rows[u]
        for k in range(total_digammas.shape[0]):
            out[k] = max(exp_digamma_minus(scale * row[k] + offset, total_digammas[k]), smallest)


@njit(nogil=True, cache=True, error_model="numpy")
def merge_rows(rows, places, span, copies, targets, out_rows):
    """Rows at the places (V,) of a span of words, as rows of their own in that order, copies added to their targets."""
    for u in range(span[0], span[1]):
        row, out = rows[places[u]], out_rows[u]
        for k in range(row.shape[0]):
            out[k] = row[k]
        for m in range(copies.shape[0]):
            out[targets[m]] += out[copies[m]]
            out[copies[m]] = 0
