"""Collapsed Gibbs sampling of a mini-batch under the truncation-free HDP (Wang & Blei 2012 S.2.2).

Letters in the bodies: z topic of a token, n tokens of a document in a topic, s tables, π shares of the topics, g what a
document and the corpus have for a topic over the topic's total. Columns are topics: first those that the state knows,
then room for topics that are born here, in use while they hold tokens. Columns are padded to a multiple of BLOCK.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from stickbreaker.engine.kernels.special import FAST
from stickbreaker.engine.kernels.tables import draw_tables

BLOCK = 16


class Tokens(NamedTuple):
    """Tokens of S documents: token i is `sizes[i]` (1 as a rule) of word `words[i]`, of topic `topics[i]`, -1 for none.

    starts: (S + 1,) int64; words, topics: (N,) int32; sizes: (N,) int64.
    """

    starts: np.ndarray
    words: np.ndarray
    sizes: np.ndarray
    topics: np.ndarray


class LocalTopics(NamedTuple):
    """Topics as this mini-batch sees them.

    words: (U, C), λ + tokens of the mini-batch; totals: (C,), its sum over all V words; tokens: (C,) of the mini-batch.
    tables: (C,), s of the sweep; shares: (C,), π, 0 where no topic is; rest: (1,), π of all that are not born.
    is_counted: (C,), whether a sample was taken of the topic, whose column is then no other's.
    """

    words: np.ndarray
    totals: np.ndarray
    tokens: np.ndarray
    tables: np.ndarray
    shares: np.ndarray
    rest: np.ndarray
    is_counted: np.ndarray


class Prior(NamedTuple):
    """What the state says: its K topics, their sticks u and v and the topic at each place, b, a, η and V."""

    num_known: int
    on: np.ndarray
    after: np.ndarray
    order: np.ndarray
    doc_concentration: float
    corpus_concentration: float
    word_concentration: float
    vocab_size: int


@njit(nogil=True, cache=True, error_model="numpy")
def find_room(topics, num_known):
    """The first column that a newborn topic may take; their number if there is none."""
    for k in range(num_known, topics.tokens.shape[0]):
        if topics.tokens[k] == 0 and not topics.is_counted[k]:
            return k
    return topics.tokens.shape[0]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def add_blocks(g, row, out_sums):
    """Sums of g_k row_k over blocks of BLOCK topics, and their total."""
    total = 0.0
    for b in range(out_sums.shape[0]):
        block = 0.0
        for k in range(b * BLOCK, b * BLOCK + BLOCK):
            block += g[k] * row[k]
        out_sums[b] = block
        total += block
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def find_place(g, row, sums, position):
    """The topic in whose part of the line of g_k row_k a position lies; rounding aside, that of add_blocks."""
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
def sample_documents(tokens, topics, prior, first, logs, rng):
    """One Gibbs sweep over z of the tokens from `first` on, and s of each document at its end.

        p(z = k) ∝ (n_k + b π_k) (λ_kw + n_kw) / Σ_w (λ_kw + n_kw),  p(z is new) ∝ b π_rest / V        (S.2.2)

    Counts n_kw are of the whole mini-batch, and its newborn topics are open to all its documents. A new topic takes
    π = x π_rest, x ~ Beta(1, a), and gives it back when it loses its last token. Returns the token at which the room
    for new topics ended, N if it did not: the caller makes room and calls again. Written: `tokens.topics`, `topics`.
    """
    z, b, num_known = tokens.topics, prior.doc_concentration, prior.num_known
    num_columns, num_tokens = topics.totals.shape[0], tokens.words.shape[0]
    n, g, sums = np.zeros(num_columns), np.empty(num_columns), np.empty(num_columns // BLOCK)
    free = find_room(topics, num_known)
    for d in range(tokens.starts.shape[0] - 1):
        if tokens.starts[d + 1] <= first:
            continue
        n[:] = 0.0
        for i in range(tokens.starts[d], tokens.starts[d + 1]):
            if z[i] >= 0:
                n[z[i]] += tokens.sizes[i]
        for k in range(num_columns):
            g[k] = (n[k] + b * topics.shares[k]) / topics.totals[k]
        for i in range(max(first, tokens.starts[d]), tokens.starts[d + 1]):
            if free == num_columns:
                return i
            row, size, k, newborn = topics.words[tokens.words[i]], tokens.sizes[i], z[i], free
            if k >= 0:
                move(topics, n, k, row, -size, prior.word_concentration)
                if k >= num_known and topics.tokens[k] == 0:
                    topics.rest[0] += topics.shares[k]
                    topics.shares[k] = 0.0
                    # A topic that only this token keeps alive keeps its column from sample to sample.
                    newborn = k
                g[k] = (n[k] + b * topics.shares[k]) / topics.totals[k]
            total = add_blocks(g, row, sums)
            position = rng.random() * (total + b * topics.rest[0] / prior.vocab_size)
            if position < total:
                k = find_place(g, row, sums, position)
            else:
                k = newborn
                # 1 - Beta(1, a) is Beta(a, 1).
                left = topics.rest[0] * rng.random() ** (1.0 / prior.corpus_concentration)
                topics.shares[k], topics.rest[0] = topics.rest[0] - left, left
            z[i] = k
            move(topics, n, k, row, size, prior.word_concentration)
            g[k] = (n[k] + b * topics.shares[k]) / topics.totals[k]
            if k == newborn or newborn != free:
                free = find_room(topics, num_known)
        for k in range(num_columns):
            if n[k] > 0.0:
                topics.tables[k] += draw_tables(np.int64(n[k]), max(b * topics.shares[k], 1e-300), logs, rng)
    return num_tokens


@njit(nogil=True, cache=True, error_model="numpy")
def move(topics, n, k, row, size, word_concentration):
    """Add `size` tokens (less than none to take them away) of a word to topic k, in the mini-batch and document."""
    n[k] += size
    # Rounding may not take a word below its prior.
    row[k] = max(row[k] + size, word_concentration)
    topics.totals[k] += size
    topics.tokens[k] += size


@njit(nogil=True, cache=True, error_model="numpy")
def draw_shares(topics, prior, rng):
    """π given the tables s of the whole mini-batch.

        π̄_k ~ Beta(u_k + s_k, v_k + Σ_{l after k} s_l) for the K known topics, in the order of their sticks
        (π_new..., π_rest) ~ Dirichlet(s_new..., a) of what these leave

    The second line stands where S.2.2 prints Beta(1 + s_k, a + Σ s_l) for newborn topics too. That is right for sticks
    at fixed places, but a topic that is always born at the next place comes in the order of appearance, in which the
    tables alone count (Pitman 1996; Teh 2006, direct assignment): see engine/DECISIONS.md.
    """
    tables, shares, left, later = topics.tables, topics.shares, 1.0, topics.tables.sum()
    for place in range(prior.num_known):
        k = prior.order[place]
        later -= tables[k]
        on = rng.standard_gamma(prior.on[place] + tables[k])
        after = rng.standard_gamma(prior.after[place] + max(later, 0.0))
        shares[k] = left * on / (on + after)
        left *= after / (on + after)
    topics.rest[0] = left
    drawn = 0.0
    for k in range(prior.num_known, tables.shape[0]):
        if topics.tokens[k] > 0:
            shares[k] = rng.standard_gamma(tables[k])
            drawn += shares[k]
    if drawn > 0.0:
        rest = rng.standard_gamma(prior.corpus_concentration)
        for k in range(prior.num_known, tables.shape[0]):
            shares[k] *= left / (drawn + rest)
        topics.rest[0] = left * rest / (drawn + rest)


@njit(nogil=True, cache=True, error_model="numpy")
def count_sample(tokens, topics, out_counts):
    """Add the tokens of a sample to out_counts (U, C), and keep the columns of its topics."""
    for i in range(tokens.words.shape[0]):
        out_counts[tokens.words[i], tokens.topics[i]] += tokens.sizes[i]
        topics.is_counted[tokens.topics[i]] = True
