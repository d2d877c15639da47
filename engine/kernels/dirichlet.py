"""Coordinate ascent on a document's Dirichlet over all topics, and its expected tokens of each
topic.

Letters in the bodies: c counts of a document's words, B topic weight of a word, g Dirichlet
parameters of the topics, h tokens of the topics, e ∝ exp ψ(g). A document's words are padded to a
multiple of BLOCK with count 0, its topics with B = 0 and a prior of NOTHING.
"""

from typing import NamedTuple

import numpy as np

from stickbreaker.engine.kernels.compiled import DocumentArrays, njit
from stickbreaker.engine.kernels.special import FAST, exp_digamma, fast_digamma
from stickbreaker.engine.kernels.vectors import (
    LINE,
    WIDTH,
    add_product,
    load,
    prefetch_row,
    splat,
    store,
    store_sums,
)

# Words and topics are padded to whole vectors.
BLOCK = WIDTH
# A prior so small that its e is 0 compared with every other topic's.
NOTHING = 1e-30


class Iterations(NamedTuple):
    """When the iterations over a document end: after `most`, or when Σ_k |Δg_k| is below
    `tolerance` of its tokens.

    From the second iteration on, topics left with fewer than `negligible` tokens are dropped. At
    temperature T the shares of a word are ∝ (e_k B_ik)^(1/T); the topic weights passed in must then
    be B^(1/T).
    """

    most: int
    tolerance: float
    negligible: float
    temperature: float = 1.0


class WorkArrays(NamedTuple):
    """Working memory of a shard: ids of a document's topics, places kept, prior, e, g and h (K,), c
    and scales (N,).

    weights: B of all topics, (N, K), flat; columns: B of the topics not dropped, (A, N), flat.
    Kernels read and change it, as out_work.
    """

    topic_ids: np.ndarray
    kept: np.ndarray
    prior: np.ndarray
    e: np.ndarray
    g: np.ndarray
    h: np.ndarray
    counts: np.ndarray
    scales: np.ndarray
    weights: np.ndarray
    columns: np.ndarray


@njit(nogil=True, cache=True, error_model="numpy")
def round_up(number: int) -> int:
    """The next multiple of BLOCK."""
    return (number + BLOCK - 1) // BLOCK * BLOCK


@njit(nogil=True, cache=True, error_model="numpy")
def make_lines(number: int, like: np.ndarray) -> np.ndarray:
    """An uninitialised array of the dtype of `like`, aligned to a cache line.

    A vector that crosses two cache lines takes two reads.
    """
    array = np.empty(number + LINE // like.itemsize, like.dtype)
    first = -array.ctypes.data % LINE // like.itemsize
    return array[first : first + number]


@njit(nogil=True, cache=True, error_model="numpy")
def make_work_arrays(longest: int, topics: np.ndarray) -> WorkArrays:
    """Working memory for up to `longest` words (padded), in the precision of the topics (U, K)."""
    width = round_up(topics.shape[1])
    return WorkArrays(
        np.empty(width, np.int64),
        np.empty(width, np.uint32),
        make_lines(width, topics),
        make_lines(width, topics),
        make_lines(width, topics),
        make_lines(width, topics),
        make_lines(longest, topics),
        make_lines(longest, topics),
        make_lines(longest * width, topics),
        make_lines(longest * width, topics),
    )


@njit(nogil=True, cache=True, error_model="numpy")
def load_document(
    documents: DocumentArrays, j: int, topics: np.ndarray, out_work: WorkArrays
) -> int:
    """Copy the padded counts (N,) and topic weights (N, K) of document j; return N."""
    first = documents.starts[j]
    last = documents.starts[j + 1]
    num_words = round_up(last - first)
    num_topics = topics.shape[1]
    width = round_up(num_topics)
    weights = out_work.weights
    zero = splat(out_work.e.dtype.type(0))
    whole = num_topics // BLOCK * BLOCK
    for i in range(last - first):
        out_work.counts[i] = documents.counts[first + i]
        row = documents.words[first + i] * num_topics
        place = i * width
        store(weights, place + width - BLOCK, zero)
        for k in range(0, whole, BLOCK):
            store(weights, place + k, load(topics, row + k))
        if whole > 0:
            # The last vector overlaps the one before it.
            store(weights, place + num_topics - BLOCK, load(topics, row + num_topics - BLOCK))
        else:
            for k in range(num_topics):
                weights[place + k] = topics[documents.words[first + i], k]
        if last + i < documents.words.shape[0]:
            # The rows of the next document are loaded while this one is fitted.
            prefetch_row(topics, documents.words[last + i])
    # Padded words have count 0 and weights 1, so that no sum is 0/0.
    for i in range(last - first, num_words):
        out_work.counts[i] = 0.0
        for k in range(0, width, BLOCK):
            store(weights, i * width + k, splat(out_work.e.dtype.type(1)))
    return num_words


# These are inlined: passing the arrays of a WorkArrays takes as long as an iteration over few
# topics.
@njit(inline="always", nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def dot_rows(
    rows: np.ndarray, num_rows: int, width: int, weights: np.ndarray, out_sums: np.ndarray
) -> None:
    """Write Σ_k weight_k row_rk of each row (R,).

    rows: flat (R, W), R padded to four, W to whole vectors.
    """
    for r in range(0, num_rows, 4):
        sum_0 = sum_1 = sum_2 = sum_3 = splat(out_sums.dtype.type(0))
        place = r * width
        for k in range(0, width, BLOCK):
            numbers = load(weights, k)
            sum_0 = add_product(sum_0, numbers, load(rows, place + k))
            sum_1 = add_product(sum_1, numbers, load(rows, place + width + k))
            sum_2 = add_product(sum_2, numbers, load(rows, place + 2 * width + k))
            sum_3 = add_product(sum_3, numbers, load(rows, place + 3 * width + k))
        store_sums(out_sums, r, sum_0, sum_1, sum_2, sum_3)


@njit(inline="always", nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def add_rows(
    rows: np.ndarray, num_rows: int, width: int, weights: np.ndarray, out_sums: np.ndarray
) -> None:
    """Write Σ_r weight_r row_rk (W,), four vectors of a row at once, or one of four rows."""
    zero = splat(out_sums.dtype.type(0))
    first = 0
    while first + 4 * BLOCK <= width:
        sum_0 = sum_1 = sum_2 = sum_3 = zero
        place = first
        for r in range(num_rows):
            weight = splat(weights[r])
            sum_0 = add_product(sum_0, weight, load(rows, place))
            sum_1 = add_product(sum_1, weight, load(rows, place + BLOCK))
            sum_2 = add_product(sum_2, weight, load(rows, place + 2 * BLOCK))
            sum_3 = add_product(sum_3, weight, load(rows, place + 3 * BLOCK))
            place += width
        store(out_sums, first, sum_0)
        store(out_sums, first + BLOCK, sum_1)
        store(out_sums, first + 2 * BLOCK, sum_2)
        store(out_sums, first + 3 * BLOCK, sum_3)
        first += 4 * BLOCK
    while first < width:
        sum_0 = sum_1 = sum_2 = sum_3 = zero
        place = first
        for r in range(0, num_rows, 4):
            sum_0 = add_product(sum_0, splat(weights[r]), load(rows, place))
            sum_1 = add_product(sum_1, splat(weights[r + 1]), load(rows, place + width))
            sum_2 = add_product(sum_2, splat(weights[r + 2]), load(rows, place + 2 * width))
            sum_3 = add_product(sum_3, splat(weights[r + 3]), load(rows, place + 3 * width))
            place += 4 * width
        store(out_sums, first, (sum_0 + sum_1) + (sum_2 + sum_3))
        first += BLOCK


@njit(inline="always", nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def update_parameters(out_work: WorkArrays, width: int, least: float) -> tuple[float, np.int32]:
    """Replace h_k by h_k e_k and g_k by prior_k + h_k for `width` topics.

    Return Σ_k |Δg_k| and the number kept.

    A topic with less than `least` tokens, or with e = 0, is marked to be dropped: its prior and g
    become NOTHING.
    """
    prior = out_work.prior
    e = out_work.e
    g = out_work.g
    h = out_work.h
    change = e.dtype.type(0)
    num_kept = np.int32(0)
    nothing = e.dtype.type(NOTHING)
    for k in range(width):
        # The topic's tokens e_k Σ_i c_i B_ik / Σ_l e_l B_il, and g = prior + tokens.
        tokens = h[k] * e[k]
        is_kept = (tokens >= least) & (e[k] > 0)
        after = prior[k] + tokens
        change += abs(after - g[k])
        num_kept += np.int32(is_kept)
        h[k] = tokens
        g[k] = after if is_kept else nothing
        prior[k] = prior[k] if is_kept else nothing
    return change, num_kept


@njit(inline="always", nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def iterate_once(out_work: WorkArrays, num_words: int, num_left: int, are_columns: bool) -> None:
    """Compute scale_i = c_i / Σ_l e_l B_il and h_k = Σ_i scale_i B_ik, from the columns where
    topics were dropped.
    """
    width = round_up(num_left)
    num_columns = (num_left + 3) // 4 * 4
    if are_columns:
        add_rows(out_work.columns, num_columns, num_words, out_work.e, out_work.scales)
    else:
        dot_rows(out_work.weights, num_words, width, out_work.e, out_work.scales)
    # c_i over the norm Σ_l e_l B_il of the word's shares (Hoffman 2010 Eq. 5).
    for i in range(0, num_words, BLOCK):
        store(out_work.scales, i, load(out_work.counts, i) / load(out_work.scales, i))
    if are_columns:
        dot_rows(out_work.columns, num_columns, num_words, out_work.scales, out_work.h)
    else:
        add_rows(out_work.weights, num_words, width, out_work.scales, out_work.h)


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def iterate_topics(
    num_words: int, prior: np.ndarray, iterations: Iterations, out_work: WorkArrays
) -> tuple[int, bool]:
    """Repeat g_k = prior_k + e_k Σ_i c_i B_ik / Σ_l e_l B_il, e_k ∝ exp(ψ(g_k) / T), from e = 1.

    out_work: read and changed; holds a document's counts and weights (N, K). The result is the
    first A elements of its topic_ids, e, g and h (the tokens). Returns the number A of topics not
    dropped, and whether their weights are in out_work.columns (A, N), which is so after the first
    drop.
    """
    num_left = prior.shape[0]
    are_columns = False
    num_tokens = prior.dtype.type(0)
    for i in range(num_words):
        num_tokens += out_work.counts[i]
    for k in range(num_left):
        out_work.topic_ids[k] = k
        out_work.prior[k] = prior[k]
    out_work.prior[num_left:] = NOTHING
    # A copy of one array to a slice of another would take the compiler a second, for its messages.
    for k in range(out_work.g.shape[0]):
        out_work.g[k] = out_work.prior[k]
    out_work.e[:] = 1.0
    # At least one topic has 1/K of the tokens, so one topic is always kept.
    least = min(prior.dtype.type(iterations.negligible), num_tokens / (num_left + num_left))
    for number in range(iterations.most):
        width = round_up(num_left)
        # Hoffman 2010 Alg. 2: φ_ik ∝ e_k B_ik, g_k = prior_k + Σ_i c_i φ_ik, e_k = exp ψ(g_k).
        iterate_once(out_work, num_words, num_left, are_columns)
        change, num_kept = update_parameters(
            out_work, width, least if number > 0 else out_work.e.dtype.type(0)
        )
        exp_digamma(out_work.g, width, 1.0 / iterations.temperature, out_work.e)
        if change < iterations.tolerance * num_tokens:
            break
        # The first drop copies every weight that is kept, which costs as much as an iteration over
        # all topics.
        if (num_kept + 4 if are_columns else 4 * num_kept) <= num_left:
            num_left = drop_topics(num_words, num_left, are_columns, out_work)
            are_columns = True
    return num_left, are_columns


@njit(nogil=True, cache=True, error_model="numpy")
def drop_topics(num_words: int, num_left: int, are_columns: bool, out_work: WorkArrays) -> int:
    """Keep the topics with e > 0, with their weights as columns; return their number."""
    num_kept = 0
    width = round_up(num_left)
    kept = out_work.kept
    for k in range(num_left):
        # A branch here would be mispredicted at every topic kept.
        kept[num_kept] = k
        num_kept += out_work.e[k] > 0
    # The kept topics close ranks, with B of each as a column.
    for m in range(num_kept):
        k = kept[m]
        place = m * num_words
        if not are_columns:
            for i in range(num_words):
                out_work.columns[place + i] = out_work.weights[i * width + k]
        elif m < k:
            for i in range(0, num_words, BLOCK):
                store(out_work.columns, place + i, load(out_work.columns, k * num_words + i))
        out_work.topic_ids[m] = out_work.topic_ids[k]
        out_work.prior[m] = out_work.prior[k]
        out_work.e[m] = out_work.e[k]
        out_work.g[m] = out_work.g[k]
        out_work.h[m] = out_work.h[k]
    for k in range(num_kept, round_up(num_kept)):
        out_work.prior[k] = NOTHING
        out_work.g[k] = NOTHING
        out_work.e[k] = 0.0
        out_work.h[k] = 0.0
    for place in range(num_kept * num_words, (num_kept + 3) // 4 * 4 * num_words):
        out_work.columns[place] = 0.0
    return num_kept


@njit(nogil=True, cache=True, error_model="numpy")
def write_factors(
    num_words: int,
    num_left: int,
    are_columns: bool,
    out_work: WorkArrays,
    out_scales: np.ndarray,
    out_e: np.ndarray,
    out_tokens: np.ndarray,
) -> None:
    """Write the factors of a document's tokens scale_i e_k B_ik: scales (n,) and e (K,), 0 for
    topics dropped.

    Their sums over words are added to out_tokens (K,).
    """
    iterate_once(out_work, num_words, num_left, are_columns)
    for i in range(out_scales.shape[0]):
        out_scales[i] = out_work.scales[i]
    out_e[:] = 0.0
    for m in range(num_left):
        k = out_work.topic_ids[m]
        out_e[k] = out_work.e[m]
        out_tokens[k] += out_work.e[m] * out_work.h[m]


@njit(nogil=True, cache=True, error_model="numpy")
def add_tables(
    topic_ids: np.ndarray,
    prior: np.ndarray,
    out_g: np.ndarray,
    prior_digamma: np.ndarray,
    out_tables: np.ndarray,
) -> None:
    """Add the expected tables prior_k (ψ(g_k) - ψ(prior_k)) of a document's topics to out_tables
    (K,).

    out_g: (A,), g, which is replaced by ψ(g).
    """
    for m in range(out_g.shape[0]):
        out_g[m] = fast_digamma(out_g[m])
    for m in range(topic_ids.shape[0]):
        # Rounding must not make a table negative.
        out_tables[topic_ids[m]] += max(0.0, prior[m] * (out_g[m] - prior_digamma[topic_ids[m]]))


@njit(nogil=True, cache=True, error_model="numpy")
def longest_document(documents: DocumentArrays) -> int:
    """Distinct words of the longest document, padded."""
    longest = 1
    for j in range(documents.starts.shape[0] - 1):
        longest = max(longest, documents.starts[j + 1] - documents.starts[j])
    return round_up(longest)


@njit(nogil=True, cache=True, error_model="numpy")
def fit_dirichlet(
    documents: DocumentArrays,
    topics: np.ndarray,
    prior: np.ndarray,
    iterations: Iterations,
    out_scales: np.ndarray,
    out_e: np.ndarray,
    out_tables: np.ndarray,
    out_tokens: np.ndarray,
    out_doc_topics: np.ndarray,
) -> None:
    """Fit each document to all topics, from equal weights, and write its statistics.

    documents: their words index `topics` (U, K); prior: (K,). Writes g to out_doc_topics (S, K).
    Unless out_scales is empty, also writes c_i / Σ_l e_l B_il to out_scales (nnz,) and e to out_e
    (S, K), and adds the sums of c_i e_k B_ik / Σ_l e_l B_il to out_tokens (K,) and the expected
    tables prior_k (ψ(g_k) - ψ(prior_k)) to out_tables (K,).
    """
    work = make_work_arrays(longest_document(documents), topics)
    prior_digamma = np.empty_like(prior)
    for k in range(prior.shape[0]):
        prior_digamma[k] = fast_digamma(prior[k])
    for j in range(documents.starts.shape[0] - 1):
        num_words = load_document(documents, j, topics, work)
        num_left, are_columns = iterate_topics(num_words, prior, iterations, work)
        own = work.topic_ids[:num_left]
        g = work.g[:num_left]
        shares = out_doc_topics[j]
        # A topic that was dropped has only its prior.
        for k in range(prior.shape[0]):
            shares[k] = prior[k]
        for m in range(num_left):
            shares[own[m]] = max(shares[own[m]], g[m])
        if out_scales.shape[0] > 0:
            scales = out_scales[documents.starts[j] : documents.starts[j + 1]]
            write_factors(num_words, num_left, are_columns, work, scales, out_e[j], out_tokens)
            add_tables(own, work.prior, g, prior_digamma, out_tables)


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def sum_rows_to_one(out_rows: np.ndarray) -> None:
    """Divide each row (S, K) of positive numbers by its sum."""
    for j in range(out_rows.shape[0]):
        row = out_rows[j]
        total = out_rows.dtype.type(0)
        for k in range(out_rows.shape[1]):
            total += row[k]
        for k in range(out_rows.shape[1]):
            row[k] /= total
