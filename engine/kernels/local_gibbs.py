"""Collapsed Gibbs sampling of a mini-batch under the truncation-free HDP (Wang & Blei 2012 S.2.2).

Letters in the bodies: z topic of a token, n tokens of a document in a topic, s tables, π shares of
the topics, g the weight (n + b π) of a topic over its total. Columns are topics: first those of the
state, then free columns for new topics, in use while they hold tokens. The number of columns is a
multiple of BLOCK.
"""

from typing import NamedTuple

import numpy as np

from stickbreaker.engine.kernels.compiled import njit
from stickbreaker.engine.kernels.special import FAST
from stickbreaker.engine.kernels.tables import draw_tables

BLOCK = 16


class Tokens(NamedTuple):
    """Tokens of S documents: entry i is `sizes[i]` tokens (usually 1) of word `words[i]` in topic
    `topics[i]`, or -1.

    starts: (S + 1,) int64; words, topics: (N,) int32; sizes: (N,) int64.
    """

    starts: np.ndarray
    words: np.ndarray
    sizes: np.ndarray
    topics: np.ndarray


class LocalTopics(NamedTuple):
    """The topics during this mini-batch.

    words: (U, C), λ + tokens of the mini-batch; totals: (C,), its sum over all V words; tokens:
    (C,) of the mini-batch. tables: (C,), s of the pass; shares: (C,), π, 0 in free columns; rest:
    (1,), π left for new topics. is_counted: (C,), whether a kept sample used the topic; its column
    is then never reused.
    """

    words: np.ndarray
    totals: np.ndarray
    tokens: np.ndarray
    tables: np.ndarray
    shares: np.ndarray
    rest: np.ndarray
    is_counted: np.ndarray


class LocalPrior(NamedTuple):
    """The state's K topics, their sticks u and v, the topic at each place, and b, a, η and V."""

    num_known: int
    on: np.ndarray
    after: np.ndarray
    order: np.ndarray
    doc_concentration: float
    corpus_concentration: float
    word_concentration: float
    vocab_size: int


@njit(nogil=True, cache=True, error_model="numpy")
def find_free(topics: LocalTopics, num_known: int) -> int:
    """The first column that a new topic may take; the number of columns if none is free."""
    num_columns: int = topics.tokens.shape[0]
    for k in range(num_known, num_columns):
        if topics.tokens[k] == 0 and not topics.is_counted[k]:
            return k
    return num_columns


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def sum_blocks(g: np.ndarray, row: np.ndarray, out_sums: np.ndarray) -> float:
    """Write sums of g_k row_k over blocks of BLOCK topics, and return their total."""
    total = 0.0
    for b in range(out_sums.shape[0]):
        block = 0.0
        for k in range(b * BLOCK, b * BLOCK + BLOCK):
            block += g[k] * row[k]
        out_sums[b] = block
        total += block
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def find_place(g: np.ndarray, row: np.ndarray, sums: np.ndarray, position: float) -> int:
    """The topic at a position in the cumulative sum of g_k row_k, by the sums of `sum_blocks`.

    Its weight is not 0.
    """
    b = 0
    while b < sums.shape[0] - 1 and position >= sums[b]:
        position -= sums[b]
        b += 1
    last = 0
    for k in range(b * BLOCK, b * BLOCK + BLOCK):
        weight = g[k] * row[k]
        if weight > 0.0:
            last = k
            position -= weight
            if position < 0.0:
                break
    return last


@njit(nogil=True, cache=True, error_model="numpy")
def sample_documents(
    out_tokens: Tokens,
    out_topics: LocalTopics,
    prior: LocalPrior,
    first: int,
    logs: np.ndarray,
    rng: np.random.Generator,
) -> int:
    """One Gibbs pass over z of the tokens from `first` on.

    Draws the tables s of each document at its end.

        p(z = k) ∝ (n_k + b π_k) (λ_kw + n_kw) / Σ_w (λ_kw + n_kw),  p(z is new) ∝ b π_rest / V
        (S.2.2)

    Counts n_kw are those of the whole mini-batch, and all its documents share the new topics. A new
    topic takes π = x π_rest, x ~ Beta(1, a), and returns it when it loses its last token. Returns
    the token at which no free column was left, or N: the caller adds columns and calls again.
    Changes out_tokens.topics and out_topics.
    """
    z = out_tokens.topics
    b = prior.doc_concentration
    num_known = prior.num_known
    num_columns: int = out_topics.totals.shape[0]
    num_tokens: int = out_tokens.words.shape[0]
    n = np.zeros(num_columns)
    g = np.empty(num_columns)
    sums = np.empty(num_columns // BLOCK)
    free = find_free(out_topics, num_known)
    for d in range(out_tokens.starts.shape[0] - 1):
        if out_tokens.starts[d + 1] <= first:
            continue
        n[:] = 0.0
        # n_k of the document.
        for i in range(out_tokens.starts[d], out_tokens.starts[d + 1]):
            if z[i] >= 0:
                n[z[i]] += out_tokens.sizes[i]
        # g_k = (n_k + b π_k) / Σ_w (λ_kw + n_kw).
        for k in range(num_columns):
            g[k] = (n[k] + b * out_topics.shares[k]) / out_topics.totals[k]
        for i in range(max(first, out_tokens.starts[d]), out_tokens.starts[d + 1]):
            if free == num_columns:
                return i
            row = out_topics.words[out_tokens.words[i]]
            size = out_tokens.sizes[i]
            k = z[i]
            newborn = free
            # Without this token.
            if k >= 0:
                move(out_topics, n, k, row, -size, prior.word_concentration)
                if k >= num_known and out_topics.tokens[k] == 0:
                    out_topics.rest[0] += out_topics.shares[k]
                    out_topics.shares[k] = 0.0
                    # A topic of this token only keeps its column from sample to sample.
                    newborn = k
                g[k] = (n[k] + b * out_topics.shares[k]) / out_topics.totals[k]
            # Σ_k g_k (λ_kw + n_kw) of the topics, and b π_rest / V of a new one.
            total = sum_blocks(g, row, sums)
            position = rng.random() * (total + b * out_topics.rest[0] / prior.vocab_size)
            if position < total:
                k = find_place(g, row, sums, position)
            else:
                k = newborn
                # 1 - Beta(1, a) is Beta(a, 1).
                left = out_topics.rest[0] * rng.random() ** (1.0 / prior.corpus_concentration)
                out_topics.shares[k] = out_topics.rest[0] - left
                out_topics.rest[0] = left
            # With this token in its new topic.
            z[i] = k
            move(out_topics, n, k, row, size, prior.word_concentration)
            g[k] = (n[k] + b * out_topics.shares[k]) / out_topics.totals[k]
            if k == newborn or newborn != free:
                free = find_free(out_topics, num_known)
        # s_k ~ the tables that n_k customers occupy at concentration b π_k.
        for k in range(num_columns):
            if n[k] > 0.0:
                out_topics.tables[k] += draw_tables(
                    int(n[k]), max(b * out_topics.shares[k], 1e-300), logs, rng
                )
    return num_tokens


@njit(nogil=True, cache=True, error_model="numpy")
def move(
    out_topics: LocalTopics,
    out_n: np.ndarray,
    k: int,
    out_row: np.ndarray,
    size: int,
    word_concentration: float,
) -> None:
    """Add `size` tokens of a word (or remove, if negative) to topic k of the document."""
    out_n[k] += size
    # Rounding must not make a word's parameter smaller than its prior.
    out_row[k] = max(out_row[k] + size, word_concentration)
    out_topics.totals[k] += size
    out_topics.tokens[k] += size


@njit(nogil=True, cache=True, error_model="numpy")
def draw_shares(out_topics: LocalTopics, prior: LocalPrior, rng: np.random.Generator) -> None:
    """π given the tables s of the whole mini-batch.

        π̄_k ~ Beta(u_k + s_k, v_k + Σ_{l after k} s_l) for the K known topics, in the order of
        their sticks (π_new..., π_rest) ~ Dirichlet(s_new..., a) of what these leave

    S.2.2 prints Beta(1 + s_k, a + Σ s_l) for new topics too. That holds for sticks at fixed places.
    But new topics are appended in order of appearance, where only the tables count (Pitman 1996;
    Teh 2006, direct assignment), so the second line differs: see the engine's decisions.
    """
    tables = out_topics.tables
    shares = out_topics.shares
    # Sticks of the known topics: a Beta draw as two gamma draws over their sum.
    left = 1.0
    later = out_topics.tables.sum()
    for place in range(prior.num_known):
        k = prior.order[place]
        later -= tables[k]
        on = rng.standard_gamma(prior.on[place] + tables[k])
        after = rng.standard_gamma(prior.after[place] + max(later, 0.0))
        shares[k] = left * on / (on + after)
        left *= after / (on + after)
    out_topics.rest[0] = left
    # What they leave is a Dirichlet draw over the new topics and the rest.
    drawn = 0.0
    for k in range(prior.num_known, tables.shape[0]):
        if out_topics.tokens[k] > 0:
            shares[k] = rng.standard_gamma(tables[k])
            drawn += shares[k]
    if drawn > 0.0:
        rest = rng.standard_gamma(prior.corpus_concentration)
        for k in range(prior.num_known, tables.shape[0]):
            shares[k] *= left / (drawn + rest)
        out_topics.rest[0] = left * rest / (drawn + rest)


@njit(nogil=True, cache=True, error_model="numpy")
def count_sample(tokens: Tokens, out_topics: LocalTopics, out_counts: np.ndarray) -> None:
    """Add the tokens of a sample to out_counts (U, C), and mark its topics as counted."""
    for i in range(tokens.words.shape[0]):
        out_counts[tokens.words[i], tokens.topics[i]] += tokens.sizes[i]
        out_topics.is_counted[tokens.topics[i]] = True
