"""Collapsed Gibbs sampling of the topic of each token, word by word, with topics born and dying on the way.

The tokens of one word follow each other, so that n_wk is a row of K counts in cache, counted anew from them, and
n_jk is a short list for each document. The probability of topic k for a token of word w in document j,

    (n_jk + α π_k) q_k,  q_k = (n_wk + η) / (n_k + V η),  and α π_u / V of a new one,

is drawn in four parts: document n_jk q_k, over the document's topics; word α π_k n_wk / (n_k + V η), over the word's
topics; smoothing α π_k η / (n_k + V η), over all; new. One number in [0, 1) says which; the sum of the second and third
is kept up to date as counts change, so that K topics are gone through only where smoothing is drawn, and once a word.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit


class TokenTopics(NamedTuple):
    """The topics of N tokens, ordered by word (V) and then as the documents (D) stand in the batch.

    word_starts: (V + 1,); docs, topics: (N,), the document and the topic of each token.
    doc_starts: (D + 1,), first token of each document in its own order; doc_sizes: (D,) topics of each document.
    doc_topics: (N, 2), a document's topics and the tokens of each, from its doc_start on.
    """

    word_starts: np.ndarray
    docs: np.ndarray
    topics: np.ndarray
    doc_starts: np.ndarray
    doc_sizes: np.ndarray
    doc_topics: np.ndarray


class TopicPool(NamedTuple):
    """K topics: their ids, tokens n_k and weights π_k (K,); what weight is left to new ones, and the next id.

    is_growing: whether topics are born and die; otherwise there are these K for ever.
    """

    topic_ids: np.ndarray
    tokens: np.ndarray
    weights: np.ndarray
    unused_weight: float
    next_id: int
    is_growing: bool


@njit(nogil=True, cache=True, error_model="numpy")
def lay_out(documents, assignments, num_topics, out):
    """Fill `out` (TokenTopics, its word_starts and doc_starts known) from the topics (N,) document by document."""
    places = out.word_starts.copy()
    in_document = np.zeros(num_topics, np.int32)
    token = 0
    for j in range(documents.starts.shape[0] - 1):
        first, size = token, 0
        for entry in range(documents.starts[j], documents.starts[j + 1]):
            w = documents.words[entry]
            for _ in range(documents.counts[entry]):
                k = assignments[token]
                place = places[w]
                out.docs[place], out.topics[place] = j, k
                if in_document[k] == 0:
                    out.doc_topics[first + size, 0] = k
                    size += 1
                in_document[k] += 1
                places[w] += 1
                token += 1
        out.doc_sizes[j] = size
        for place in range(first, first + size):
            k = out.doc_topics[place, 0]
            out.doc_topics[place, 1], in_document[k] = in_document[k], 0


@njit(nogil=True, cache=True, error_model="numpy")
def read_out(documents, token_topics, new_places, out_assignments, out_topic_words):
    """The topics (N,) document by document, and counts of words in topics (V, K), under the topics' new places."""
    places = token_topics.word_starts.copy()
    token = 0
    for j in range(documents.starts.shape[0] - 1):
        for entry in range(documents.starts[j], documents.starts[j + 1]):
            w = documents.words[entry]
            for _ in range(documents.counts[entry]):
                k = new_places[token_topics.topics[places[w]]]
                out_assignments[token] = k
                places[w] += 1
                token += 1
    for w in range(out_topic_words.shape[0]):
        row = out_topic_words[w]
        for place in range(token_topics.word_starts[w], token_topics.word_starts[w + 1]):
            row[new_places[token_topics.topics[place]]] += 1


@njit(nogil=True, cache=True, error_model="numpy")
def longer(array):
    """A copy with twice the room and some, zeros in the new part."""
    out = np.zeros(2 * array.shape[0] + 16, array.dtype)
    out[: array.shape[0]] = array
    return out


@njit(nogil=True, cache=True, error_model="numpy")
def find_topic(doc_topics, first, size, k):
    """Place of topic k in a document's list, -1 where it is not in it."""
    for place in range(first, first + size):
        if doc_topics[place, 0] == k:
            return place
    return -1


@njit(nogil=True, cache=True, error_model="numpy")
def move_token(doc_topics, first, size, before, after, k):
    """A token goes from the list's place `before` to topic k at place `after` (-1: not listed yet); the new size."""
    if after >= 0:
        doc_topics[after, 1] += 1
        doc_topics[before, 1] -= 1
        if doc_topics[before, 1] == 0:
            size -= 1
            doc_topics[before] = doc_topics[first + size]
    elif doc_topics[before, 1] == 1:
        doc_topics[before, 0] = k
    else:
        doc_topics[before, 1] -= 1
        doc_topics[first + size, 0], doc_topics[first + size, 1] = k, 1
        size += 1
    return size


@njit(nogil=True, cache=True, error_model="numpy")
def draw_from_prior(u, prior, inverse, n_w, eta, word_topics, num_word_topics):
    """The topic at u within Σ_k α π_k q_k: first the word's topics by their counts of it, then all by η."""
    for place in range(num_word_topics):
        k = word_topics[place]
        u -= prior[k] * n_w[k] * inverse[k]
        if u < 0.0:
            return k
    last = -1
    for k in range(prior.shape[0]):
        if prior[k] > 0.0:
            u -= prior[k] * eta * inverse[k]
            last = k
            if u < 0.0:
                return k
    return last


@njit(nogil=True, cache=True, error_model="numpy")
def sweep_tokens(rng, token_topics, pool, alpha, gamma, eta):
    """Draw each token's topic anew given all others; writes to the arrays of `token_topics`, returns the new TopicPool.

    prior: α π_k, 0 where a place holds no topic; inverse: 1 / (n_k + V η); q, n_w: of one word; mass: Σ prior q.
    Topics keep their places; a place whose topic died (n_k = 0) may be given to a new one, under a new id. Source: Teh
    et al. 2006, sec. 5.3.
    """
    word_starts, docs, topics, doc_starts, doc_sizes, doc_topics = token_topics
    vocab_size = word_starts.shape[0] - 1
    total_eta = vocab_size * eta
    ids, n = pool.topic_ids.copy(), pool.tokens.copy()
    prior = alpha * pool.weights
    unused, next_id = alpha * pool.unused_weight, pool.next_id
    inverse, q = 1.0 / (n + total_eta), np.zeros(n.shape[0])
    n_w, word_topics, cumulative = np.zeros(n.shape[0], np.int32), np.zeros(n.shape[0], np.int32), np.zeros(n.shape[0])
    is_listed = np.zeros(n.shape[0], np.bool_)
    free = np.zeros(n.shape[0], np.int32)
    num_free = 0
    for w in range(vocab_size):
        begin, end = word_starts[w], word_starts[w + 1]
        if begin == end:
            continue
        num_listed = 0
        for i in range(begin, end):
            k = topics[i]
            if not is_listed[k]:
                is_listed[k] = True
                word_topics[num_listed] = k
                num_listed += 1
            n_w[k] += 1
        mass = 0.0
        for k in range(n.shape[0]):
            q[k] = (n_w[k] + eta) * inverse[k]
            mass += prior[k] * q[k]
        for i in range(begin, end):
            old, j = topics[i], docs[i]
            first, size = doc_starts[j], doc_sizes[j]
            n[old] -= 1
            n_w[old] -= 1
            inverse[old] = 1.0 / (n[old] + total_eta)
            before_q = q[old]
            q[old] = (n_w[old] + eta) * inverse[old]
            mass += prior[old] * (q[old] - before_q)
            has_died = pool.is_growing and n[old] == 0
            if has_died:
                mass -= prior[old] * q[old]
                unused += prior[old]
                prior[old] = 0.0
                free[num_free] = old
                num_free += 1
            # An own topic counts one token less here; its list is changed only where the token leaves it.
            in_document, before = 0.0, 0
            for m in range(size):
                k, count = doc_topics[first + m, 0], doc_topics[first + m, 1]
                if k == old:
                    before = first + m
                    count -= 1
                in_document += count * q[k]
                cumulative[m] = in_document
            mass = max(mass, 0.0)
            u = rng.random() * (in_document + mass + unused / vocab_size)
            after = -1
            if u < in_document:
                m = 0
                while cumulative[m] <= u:
                    m += 1
                after = first + m
                new = doc_topics[after, 0]
            else:
                new = -1
                u -= in_document
                if u < mass or unused == 0.0:
                    new = draw_from_prior(u, prior, inverse, n_w, eta, word_topics, num_listed)
                if new < 0:
                    if num_free == 0:
                        num_free = n.shape[0] + 16
                        ids, n, prior, inverse, q = longer(ids), longer(n), longer(prior), longer(inverse), longer(q)
                        n_w, word_topics, cumulative = longer(n_w), longer(word_topics), longer(cumulative)
                        is_listed, free = longer(is_listed), longer(free)
                        for m in range(num_free):
                            free[m] = n.shape[0] - 1 - m
                    num_free -= 1
                    new = free[num_free]
                    # The stick's piece b ~ Beta(1, γ) of what was left; 1 - b is U^(1/γ).
                    log_left = math.log(1.0 - rng.random()) / gamma
                    prior[new] = -unused * math.expm1(log_left)
                    unused *= math.exp(log_left)
                    # The place freed last is taken first: a topic that dies and is born of one token keeps its id.
                    if not has_died:
                        ids[new] = next_id
                        next_id += 1
                    inverse[new] = 1.0 / total_eta
                    q[new] = eta * inverse[new]
                    mass += prior[new] * q[new]
                after = find_topic(doc_topics, first, size, new)
            if not is_listed[new]:
                is_listed[new] = True
                word_topics[num_listed] = new
                num_listed += 1
            n[new] += 1
            n_w[new] += 1
            inverse[new] = 1.0 / (n[new] + total_eta)
            before_q = q[new]
            q[new] = (n_w[new] + eta) * inverse[new]
            mass += prior[new] * (q[new] - before_q)
            if new != old:
                topics[i] = new
                doc_sizes[j] = move_token(doc_topics, first, size, before, after, new)
        for place in range(num_listed):
            n_w[word_topics[place]] = 0
            is_listed[word_topics[place]] = False
    return TopicPool(ids, n, prior / alpha, unused / alpha, next_id, pool.is_growing)


@njit(nogil=True, cache=True, error_model="numpy")
def draw_tables(rng, token_topics, prior, out_tables):
    """Add each topic's tables in each document, 1 + Σ_{i<n} [U < α π_k / (α π_k + i)] of n tokens, to out_tables (K,).

    These are the occupied tables of a Chinese restaurant of n customers and concentration α π_k; their number has
    probability ∝ s(n, m) (α π_k)^m, s being unsigned Stirling numbers of the first kind (Antoniak 1974).
    prior: (K,), α π.
    """
    for j in range(token_topics.doc_sizes.shape[0]):
        first = token_topics.doc_starts[j]
        for place in range(first, first + token_topics.doc_sizes[j]):
            k = token_topics.doc_topics[place, 0]
            own, tables = prior[k], 1
            for i in range(1, token_topics.doc_topics[place, 1]):
                tables += rng.random() * (own + i) < own
            out_tables[k] += tables
