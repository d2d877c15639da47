"""Collapsed Gibbs sampling of the topic of each token, word by word, in which topics are born and
die.

Tokens are sorted by word. So n_wk is one row of K counts in cache, recounted for each word, and
n_jk is a short list for each document. The probability of topic k for a token of word w in document
j,

    (n_jk + α π_k) q_k,  q_k = (n_wk + η) / (n_k + V η),  and α π_u / V of a new one,

has four parts: document n_jk q_k, over the document's topics; word α π_k n_wk / (n_k + V η), over
the word's topics; smoothing α π_k η / (n_k + V η), over all topics; and new. One uniform number
selects the part. The sum of the second and third is updated as counts change, so a loop over all K
topics runs only once per word and when smoothing is drawn.
"""

import math
from typing import NamedTuple

import numpy as np

from stickbreaker.engine.kernels.compiled import DocumentArrays, njit


class TokenTopics(NamedTuple):
    """The topics of N tokens, sorted by word (V) and then by document (D) in the batch's order.

    word_starts: (V + 1,); docs, topics: (N,), the document and the topic of each token.
    doc_starts: (D + 1,), first token of each document in document order; doc_sizes: (D,), topics of
    each document. doc_topics: (N, 2), each document's topics and the tokens of each, from its
    doc_start on.
    """

    word_starts: np.ndarray
    docs: np.ndarray
    topics: np.ndarray
    doc_starts: np.ndarray
    doc_sizes: np.ndarray
    doc_topics: np.ndarray


class TopicPool(NamedTuple):
    """K topics: their ids, tokens n_k and weights π_k (K,).

    The weight left for new topics, and the next id.

    is_growing: whether topics are born and die; otherwise the K topics stay the same.
    """

    topic_ids: np.ndarray
    tokens: np.ndarray
    weights: np.ndarray
    unused_weight: float
    next_id: int
    is_growing: bool


@njit(nogil=True, cache=True, error_model="numpy")
def group_by_word(
    documents: DocumentArrays,
    assignments: np.ndarray,
    num_topics: int,
    out_token_topics: TokenTopics,
) -> None:
    """Fill out_token_topics, whose starts are set, from the topics (N,) of documents."""
    places = out_token_topics.word_starts.copy()
    in_document = np.zeros(num_topics, np.int32)
    token = 0
    for j in range(documents.starts.shape[0] - 1):
        first = token
        size = 0
        for entry in range(documents.starts[j], documents.starts[j + 1]):
            w = documents.words[entry]
            for _ in range(documents.counts[entry]):
                k = assignments[token]
                place = places[w]
                out_token_topics.docs[place] = j
                out_token_topics.topics[place] = k
                if in_document[k] == 0:
                    out_token_topics.doc_topics[first + size, 0] = k
                    size += 1
                in_document[k] += 1
                places[w] += 1
                token += 1
        out_token_topics.doc_sizes[j] = size
        # The tokens of each topic in the list; the counts are zero again for the next document.
        for place in range(first, first + size):
            k = out_token_topics.doc_topics[place, 0]
            out_token_topics.doc_topics[place, 1] = in_document[k]
            in_document[k] = 0


@njit(nogil=True, cache=True, error_model="numpy")
def read_out(
    documents: DocumentArrays,
    token_topics: TokenTopics,
    new_places: np.ndarray,
    out_assignments: np.ndarray,
    out_topic_words: np.ndarray,
) -> None:
    """Write topics (N,) in document order and counts (V, K), with topics at new places."""
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
def enlarge(array: np.ndarray) -> np.ndarray:
    """A copy of more than twice the length, filled with zeros."""
    out = np.zeros(2 * array.shape[0] + 16, array.dtype)
    out[: array.shape[0]] = array
    return out


@njit(nogil=True, cache=True, error_model="numpy")
def find_topic(doc_topics: np.ndarray, first: int, size: int, k: int) -> int:
    """Place of topic k in a document's list, or -1 if it is not listed."""
    for place in range(first, first + size):
        if doc_topics[place, 0] == k:
            return place
    return -1


@njit(nogil=True, cache=True, error_model="numpy")
def move_token(
    out_doc_topics: np.ndarray, first: int, size: int, before: int, after: int, k: int
) -> int:
    """Move a token from the list's place `before` to topic k at `after` (-1: not yet listed).

    Return the new size.

    out_doc_topics: read and changed.
    """
    if after >= 0:
        out_doc_topics[after, 1] += 1
        out_doc_topics[before, 1] -= 1
        if out_doc_topics[before, 1] == 0:
            size -= 1
            out_doc_topics[before] = out_doc_topics[first + size]
    elif out_doc_topics[before, 1] == 1:
        out_doc_topics[before, 0] = k
    else:
        out_doc_topics[before, 1] -= 1
        out_doc_topics[first + size, 0] = k
        out_doc_topics[first + size, 1] = 1
        size += 1
    return size


@njit(nogil=True, cache=True, error_model="numpy")
def draw_from_prior(
    u: float,
    prior: np.ndarray,
    inverse: np.ndarray,
    n_w: np.ndarray,
    eta: float,
    word_topics: np.ndarray,
    num_word_topics: int,
) -> int:
    """The topic at position u of Σ_k α π_k q_k: first the word's topics by its counts in them, then
    all topics by η.
    """
    for place in range(num_word_topics):
        k: int = word_topics[place]
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
def sample_tokens(
    rng: np.random.Generator,
    out_token_topics: TokenTopics,
    pool: TopicPool,
    alpha: float,
    gamma: float,
    eta: float,
) -> TopicPool:
    """Draw each token's topic given all others; return the new TopicPool.

    out_token_topics: read and changed.

    In the body: prior α π_k, 0 at a place without a topic; inverse 1 / (n_k + V η); q and n_w of
    one word; mass Σ prior q. Topics keep their places. The place of a topic that died (n_k = 0) may
    go to a new topic with a new id. Source: Teh et al. 2006, sec. 5.3.
    """
    word_starts, docs, topics, doc_starts, doc_sizes, doc_topics = out_token_topics
    vocab_size = word_starts.shape[0] - 1
    total_eta = vocab_size * eta
    ids = pool.topic_ids.copy()
    n = pool.tokens.copy()
    prior = alpha * pool.weights
    unused = alpha * pool.unused_weight
    next_id = pool.next_id
    inverse = 1.0 / (n + total_eta)
    q = np.zeros(n.shape[0])
    n_w = np.zeros(n.shape[0], np.int32)
    word_topics = np.zeros(n.shape[0], np.int32)
    cumulative = np.zeros(n.shape[0])
    is_listed = np.zeros(n.shape[0], np.bool_)
    free = np.zeros(n.shape[0], np.int32)
    num_free = 0
    for w in range(vocab_size):
        begin = word_starts[w]
        end = word_starts[w + 1]
        if begin == end:
            continue
        # n_wk, counted again for each word, and the list of its topics.
        num_listed = 0
        for i in range(begin, end):
            k = topics[i]
            if not is_listed[k]:
                is_listed[k] = True
                word_topics[num_listed] = k
                num_listed += 1
            n_w[k] += 1
        # q_k, and the mass Σ_k α π_k q_k of the word and smoothing parts.
        mass = 0.0
        for k in range(n.shape[0]):
            q[k] = (n_w[k] + eta) * inverse[k]
            mass += prior[k] * q[k]
        for i in range(begin, end):
            old = topics[i]
            j = docs[i]
            first = doc_starts[j]
            size = doc_sizes[j]
            # Without this token: counts, q and mass of its topic.
            n[old] -= 1
            n_w[old] -= 1
            inverse[old] = 1.0 / (n[old] + total_eta)
            before_q = q[old]
            q[old] = (n_w[old] + eta) * inverse[old]
            mass += prior[old] * (q[old] - before_q)
            # A topic that has lost its last token returns its weight to the unused part.
            has_died = pool.is_growing and n[old] == 0
            if has_died:
                mass -= prior[old] * q[old]
                unused += prior[old]
                prior[old] = 0.0
                free[num_free] = old
                num_free += 1
            # The token's own topic counts one token less here; the list changes only if the token
            # leaves the topic.
            in_document = 0.0
            before = 0
            for m in range(size):
                k = doc_topics[first + m, 0]
                count = doc_topics[first + m, 1]
                if k == old:
                    before = first + m
                    count -= 1
                in_document += count * q[k]
                cumulative[m] = in_document
            mass = max(mass, 0.0)
            # One number selects the part: document, then word and smoothing, then a new topic.
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
                    # All places are taken: each array grows, and its new places are free.
                    if num_free == 0:
                        num_free = n.shape[0] + 16
                        ids = enlarge(ids)
                        n = enlarge(n)
                        prior = enlarge(prior)
                        inverse = enlarge(inverse)
                        q = enlarge(q)
                        n_w = enlarge(n_w)
                        word_topics = enlarge(word_topics)
                        cumulative = enlarge(cumulative)
                        is_listed = enlarge(is_listed)
                        free = enlarge(free)
                        for m in range(num_free):
                            free[m] = n.shape[0] - 1 - m
                    num_free -= 1
                    new = free[num_free]
                    # The new topic takes the share b ~ Beta(1, γ) of the unused weight; 1 - b is
                    # U^(1/γ).
                    log_left = math.log(1.0 - rng.random()) / gamma
                    prior[new] = -unused * math.expm1(log_left)
                    unused *= math.exp(log_left)
                    # The last freed place is used first, so a topic that loses and regains its only
                    # token keeps its id.
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
            # With this token: counts, q and mass of its new topic.
            n[new] += 1
            n_w[new] += 1
            inverse[new] = 1.0 / (n[new] + total_eta)
            before_q = q[new]
            q[new] = (n_w[new] + eta) * inverse[new]
            mass += prior[new] * (q[new] - before_q)
            if new != old:
                topics[i] = new
                doc_sizes[j] = move_token(doc_topics, first, size, before, after, new)
        # The next word starts from zero counts.
        for place in range(num_listed):
            n_w[word_topics[place]] = 0
            is_listed[word_topics[place]] = False
    return TopicPool(ids, n, prior / alpha, unused / alpha, next_id, pool.is_growing)


@njit(nogil=True, cache=True, error_model="numpy")
def draw_doc_tables(
    rng: np.random.Generator, token_topics: TokenTopics, prior: np.ndarray, out_tables: np.ndarray
) -> None:
    """Add each topic's tables in each document, 1 + Σ_{i<n} [U < α π_k / (α π_k + i)] of n tokens,
    to out_tables (K,).

    These are the occupied tables of a Chinese restaurant of n customers and concentration α π_k.
    Their number m has probability ∝ s(n, m) (α π_k)^m, where s are unsigned Stirling numbers of the
    first kind (Antoniak 1974). prior: (K,), α π.
    """
    for j in range(token_topics.doc_sizes.shape[0]):
        first = token_topics.doc_starts[j]
        for place in range(first, first + token_topics.doc_sizes[j]):
            k = token_topics.doc_topics[place, 0]
            own = prior[k]
            tables = 1
            for i in range(1, token_topics.doc_topics[place, 1]):
                tables += rng.random() * (own + i) < own
            out_tables[k] += tables
