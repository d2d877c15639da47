"""Expected counts of words in topics, stored by document, and kernels that add them to λ, word by
word.

A document of n words and A_j topics is stored as n A_j numbers, or as the n + K factors of a
product, never as n K.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from stickbreaker.engine.kernels.compiled import DocumentArrays, njit
from stickbreaker.engine.kernels.special import (
    FAST,
    NOT_RAISED,
    exp_digamma_minus,
    fast_exp,
    raise_rows,
)
from stickbreaker.engine.kernels.vectors import (
    WIDTH,
    add_product,
    load,
    prefetch,
    prefetch_row,
    splat,
    store,
)

# Rows and the tokens of entries are scattered in memory: they are prefetched this number of words
# and entries ahead.
AHEAD = 2
ENTRIES_AHEAD = 6
# These rows of a few hundred topics fit in a core's first cache.
RAISED_ROWS = 8
# A topic's tokens of a word are shared out as if each receiver had this many more, so that none are
# lost.
LEAST_COUNT = 1e-6


class DocumentCounts(NamedTuple):
    """Tokens that S documents expect of each of their words in each of their topics.

    starts: (S + 1,) and words: (nnz,), as in the documents; a word is a row of the batch's topics.
    topic_starts: (S + 1,), topic_ids: document j's topics are
    topic_ids[topic_starts[j]:topic_starts[j + 1]]. tokens: flat, one block (n, A_j) per document.
    Unused space may follow the last block.
    """

    starts: np.ndarray
    words: np.ndarray
    topic_starts: np.ndarray
    topic_ids: np.ndarray
    tokens: np.ndarray


class FactoredCounts(NamedTuple):
    """The same counts as a product scale_i e_jk B_ik, over all K topics.

    starts: (S + 1,) and words: (nnz,), as above; scales: (nnz,) c_i / Σ_l e_l B_il; weights: (S, K)
    e of each document; topics: (U, K) B of the batch's words.
    """

    starts: np.ndarray
    words: np.ndarray
    scales: np.ndarray
    weights: np.ndarray
    topics: np.ndarray


class WordEntries(NamedTuple):
    """The entries of documents, sorted by word.

    starts: (U + 1,), word u's entries are entries[starts[u]:starts[u + 1]]; entries: (nnz,),
    ascending for each word; docs: (nnz,), the document of each.
    """

    starts: np.ndarray
    entries: np.ndarray
    docs: np.ndarray


def empty_counts(
    documents: DocumentArrays, most_topics: int, precision: DTypeLike
) -> DocumentCounts:
    """Empty DocumentCounts with space for most_topics topics per document."""
    num_documents = len(documents.starts) - 1
    return DocumentCounts(
        starts=documents.starts,
        words=documents.words,
        topic_starts=np.zeros(num_documents + 1, np.int64),
        topic_ids=np.empty(num_documents * most_topics, np.int32),
        tokens=np.empty(len(documents.words) * most_topics, precision),
    )


def find_blocks(counts: DocumentCounts) -> np.ndarray:
    """Where each document's block of tokens begins (S,)."""
    ends: np.ndarray = (np.diff(counts.starts) * np.diff(counts.topic_starts)).cumsum()
    return np.append(0, ends)[:-1]


def join_factors(parts: Sequence[FactoredCounts]) -> FactoredCounts:
    """Concatenate the counts of consecutive shards."""
    if len(parts) == 1:
        return parts[0]
    scales, weights = (
        np.concatenate(arrays) for arrays in zip(*(part[2:4] for part in parts), strict=True)
    )
    return FactoredCounts(
        starts=_join_starts([part.starts for part in parts]),
        words=np.concatenate([part.words for part in parts]),
        scales=scales,
        weights=weights,
        topics=parts[0].topics,
    )


def _join_starts(starts: list[np.ndarray]) -> np.ndarray:
    """Where each document starts, from where it starts in its shard."""
    return np.concatenate([[0], np.concatenate([np.diff(each) for each in starts])]).cumsum()


def group_by_word(counts: DocumentCounts | FactoredCounts, num_words: int) -> WordEntries:
    """Sort the entries of counts by word; all words are below num_words."""
    number = len(counts.words)
    grouped = WordEntries(
        starts=np.zeros(num_words + 1, np.int64),
        entries=np.empty(number, np.int32),
        docs=np.empty(number, np.int32),
    )
    group_entries(counts.starts, counts.words, *grouped)
    return grouped


@njit(nogil=True, cache=True, error_model="numpy")
def group_entries(
    starts: np.ndarray,
    words: np.ndarray,
    out_starts: np.ndarray,
    out_entries: np.ndarray,
    out_docs: np.ndarray,
) -> None:
    """Sort entries by word with a counting sort; out_starts holds zeros at the start."""
    for word in words:
        out_starts[word + 1] += 1
    for u in range(out_starts.shape[0] - 1):
        out_starts[u + 1] += out_starts[u]
    place = out_starts[:-1].copy()
    for j in range(starts.shape[0] - 1):
        for i in range(starts[j], starts[j + 1]):
            u = words[i]
            out_entries[place[u]] = i
            out_docs[place[u]] = j
            place[u] += 1


@njit(nogil=True, cache=True, error_model="numpy")
def next_block(
    out_counts: DocumentCounts, j: int, topic_ids: np.ndarray, place: int
) -> tuple[np.ndarray, int]:
    """Record document j's topics.

    Return its block (n, A_j) of tokens, which begins at `place`, and the block's end.

    Writes to the arrays of out_counts, and reads its starts.
    """
    first = out_counts.topic_starts[j]
    out_counts.topic_starts[j + 1] = first + topic_ids.shape[0]
    for m in range(topic_ids.shape[0]):
        out_counts.topic_ids[first + m] = topic_ids[m]
    num_words = out_counts.starts[j + 1] - out_counts.starts[j]
    end = place + num_words * topic_ids.shape[0]
    return out_counts.tokens[place:end].reshape(num_words, topic_ids.shape[0]), end


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def add_blocks(
    counts: DocumentCounts,
    grouped: WordEntries,
    blocks: np.ndarray,
    span: tuple[int, int],
    factor: float,
    places: np.ndarray,
    out_rows: np.ndarray,
) -> None:
    """Add factor times the words' counts to their rows at `places` (U,).

    blocks: (S,) where each document's tokens begin; span: the first and last word for this call,
    since threads divide the words.
    """
    for u in range(span[0], span[1]):
        if u + AHEAD < span[1]:
            prefetch_row(out_rows, places[u + AHEAD])
        out = out_rows[places[u]]
        # Σ_j of the documents that have the word, over the topics of each.
        for place in range(grouped.starts[u], grouped.starts[u + 1]):
            if place + ENTRIES_AHEAD < grouped.entries.shape[0]:
                ahead = place + ENTRIES_AHEAD
                prefetch(
                    counts.tokens,
                    find_tokens(counts, blocks, grouped.entries[ahead], grouped.docs[ahead]),
                )
            j = grouped.docs[place]
            topic_ids = counts.topic_ids[counts.topic_starts[j] : counts.topic_starts[j + 1]]
            first = find_tokens(counts, blocks, grouped.entries[place], j)
            for m in range(topic_ids.shape[0]):
                # Unsigned, because numba checks a signed index for negative values.
                out[np.uint32(topic_ids[m])] += factor * counts.tokens[np.uint64(first + m)]


@njit(nogil=True, cache=True, error_model="numpy")
def find_tokens(counts: DocumentCounts, blocks: np.ndarray, i: int, j: int) -> int:
    """Where the tokens of entry i, of document j, begin."""
    num_topics = counts.topic_starts[j + 1] - counts.topic_starts[j]
    first: int = blocks[j] + (i - counts.starts[j]) * num_topics
    return first


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def add_products(
    counts: FactoredCounts,
    grouped: WordEntries,
    span: tuple[int, int],
    factor: float,
    places: np.ndarray,
    out_rows: np.ndarray,
) -> None:
    """As `add_blocks`, of FactoredCounts: B_ik multiplies Σ_j scale_ij e_jk once."""
    weights = counts.weights
    num_topics = out_rows.shape[1]
    total = np.empty(num_topics, weights.dtype)
    for u in range(span[0], span[1]):
        if u + AHEAD < span[1]:
            prefetch_row(out_rows, places[u + AHEAD])
        start = grouped.starts[u]
        end = grouped.starts[u + 1]
        first = 0
        # Four vectors of topics at a time fill the registers; the last four may repeat topics
        # already summed.
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
                scale = counts.scales[grouped.entries[place]]
                e = weights[grouped.docs[place]]
                for k in range(num_topics):
                    total[k] += scale * e[k]
        # B_ik is the same for all documents, so it multiplies their sum.
        topics = counts.topics[u]
        out = out_rows[places[u]]
        for k in range(num_topics):
            out[k] += factor * (total[k] * topics[k])


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def scale_rows(
    rows: np.ndarray,
    places: np.ndarray,
    scale: float,
    offset: float,
    factors: np.ndarray,
    power: float,
    out_rows: np.ndarray,
) -> None:
    """Write ((scale · row + offset) · factors (K,))^power of rows at `places` (U,) to (U, K)."""
    scale = factors.dtype.type(scale)
    offset = factors.dtype.type(offset)
    for first in range(0, places.shape[0], RAISED_ROWS):
        last = min(first + RAISED_ROWS, places.shape[0])
        for u in range(first, last):
            if u + AHEAD < places.shape[0]:
                prefetch_row(rows, places[u + AHEAD])
            row = rows[places[u]]
            out = out_rows[u]
            # (λ - η + offset) · factor; with factor 1 / Σ_w λ_kw it is E[topic].
            for k in range(factors.shape[0]):
                out[k] = (scale * row[k] + offset) * factors[k]
        if power != NOT_RAISED:
            raise_rows(out_rows[first:last], power)


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def geometric_rows(
    rows: np.ndarray,
    places: np.ndarray,
    scale: float,
    offset: float,
    total_digammas: np.ndarray,
    smallest_exponent: float,
    power: float,
    out_rows: np.ndarray,
) -> None:
    """Write exp E[log topic] = exp(ψ(λ) - ψ(Σ λ)) of λ = scale · row + offset, for rows at `places`
    (U,), to (U, K).

    A lower limit keeps float32 values normal; then they are raised to a power. Source: Wang 2011,
    the expectations below Eq. 21.
    """
    scale = total_digammas.dtype.type(scale)
    offset = total_digammas.dtype.type(offset)
    smallest = fast_exp(smallest_exponent)
    for first in range(0, places.shape[0], RAISED_ROWS):
        last = min(first + RAISED_ROWS, places.shape[0])
        for u in range(first, last):
            if u + AHEAD < places.shape[0]:
                prefetch_row(rows, places[u + AHEAD])
            row = rows[places[u]]
            out = out_rows[u]
            # exp(ψ(λ_kw) - ψ(Σ_w λ_kw)).
            for k in range(total_digammas.shape[0]):
                out[k] = max(
                    exp_digamma_minus(scale * row[k] + offset, total_digammas[k]), smallest
                )
        if power != NOT_RAISED:
            raise_rows(out_rows[first:last], power)


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def sum_rows(
    rows: np.ndarray, places: np.ndarray, span: tuple[int, int], out_totals: np.ndarray
) -> None:
    """Write the sums of the rows at `places` (V,) of a span of words to (V,)."""
    for u in range(span[0], span[1]):
        row = rows[places[u]]
        total = rows.dtype.type(0)
        for k in range(row.shape[0]):
            total += row[k]
        out_totals[u] = total


@njit(nogil=True, cache=True, error_model="numpy")
def copy_rows(
    rows: np.ndarray, places: np.ndarray, span: tuple[int, int], factor: float, out_rows: np.ndarray
) -> None:
    """Write factor times the rows at `places` (U,) of a span of words to other rows."""
    for u in range(span[0], span[1]):
        row = rows[places[u]]
        out = out_rows[u]
        for k in range(row.shape[0]):
            out[k] = factor * row[k]


@njit(nogil=True, cache=True, error_model="numpy")
def share_out_rows(
    span: tuple[int, int],
    topics: np.ndarray,
    parents: np.ndarray,
    factors: np.ndarray,
    out_rows: np.ndarray,
    out_totals: np.ndarray,
) -> None:
    """Share out topics (M,) among their parents in a span of rows (U, K).

    parents, factors: (M, P); topic m's tokens of a word go to its parents in proportion to factors
    times their own tokens of the word. Places from the first factor 0 on are unused. The sums of
    the new rows are added to out_totals (K,).
    """
    num_parents = np.zeros(topics.shape[0], np.int64)
    for m in range(topics.shape[0]):
        while num_parents[m] < parents.shape[1] and factors[m, num_parents[m]] > 0.0:
            num_parents[m] += 1
    for u in range(span[0], span[1]):
        out = out_rows[u]
        # Parent p gets its part factor_p n_wp / Σ_q factor_q n_wq of the removed topic's tokens of
        # the word.
        for m in range(topics.shape[0]):
            total = 0.0
            for p in range(num_parents[m]):
                total += factors[m, p] * (out[parents[m, p]] + LEAST_COUNT)
            share = out[topics[m]] / total
            out[topics[m]] = 0
            for p in range(num_parents[m]):
                out[parents[m, p]] += share * factors[m, p] * (out[parents[m, p]] + LEAST_COUNT)
        for k in range(out.shape[0]):
            out_totals[k] += out[k]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def share_out_by_weights(
    span: tuple[int, int],
    topics: np.ndarray,
    parents: np.ndarray,
    weights: np.ndarray,
    out_rows: np.ndarray,
) -> None:
    """Share out topics (M,) by weights (M, P), which 0 ends, in a span of rows (U, K)."""
    for u in range(span[0], span[1]):
        out = out_rows[u]
        for m in range(topics.shape[0]):
            number = out[topics[m]]
            out[topics[m]] = 0
            for p in range(parents.shape[1]):
                if weights[m, p] == 0:
                    break
                out[parents[m, p]] += weights[m, p] * number
