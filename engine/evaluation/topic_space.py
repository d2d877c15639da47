"""Comparing topics: the relevance of their words, distances between them, and a map of them."""

import numpy as np
from scipy.linalg import orthogonal_procrustes
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csc_array, csr_array

SMALLEST = 1e-30
# The weight of relevance that people found best (Sievert & Shirley 2014, sec. 4).
RELEVANCE = 0.6
# Two topics are the same if the Jensen-Shannon divergence of their most probable words, this many,
# is at most half of that of two topics without a common word.
NUM_MATCHED_WORDS = 50
LARGEST_DIVERGENCE = float(np.log(2)) / 2


def relevance(topic: np.ndarray, word_shares: np.ndarray, weight: float) -> np.ndarray:
    """Relevance (..., V) of words to topics (..., V), given the corpus' word shares (V,).

    Weight 1 is probability, 0 is lift.

        weight · log p(w | topic) + (1 - weight) · log (p(w | topic) / p(w))

    The relevance of a word that is not in the corpus is -inf. Source: Sievert & Shirley 2014, sec.
    3.1.

    >>> int(relevance(np.array([0.5, 0.5]), np.array([0.9, 0.1]), 0.0).argmax())
    1
    """
    topic = np.maximum(np.asarray(topic, np.float64), SMALLEST)
    with np.errstate(divide="ignore"):
        lift = np.log(topic) - np.log(word_shares)
    return np.where(word_shares > 0, weight * np.log(topic) + (1 - weight) * lift, -np.inf)


def sort_by_relevance(
    topics: np.ndarray, words: np.ndarray, tokens: np.ndarray, weight: float = RELEVANCE
) -> np.ndarray:
    """Words (K, N) of topics (K, V), the most relevant first, where the corpus is the mixture of
    the topics with these tokens (K,).

    >>> topics = np.array([[0.6, 0.4], [0.9, 0.1]])
    >>> sort_by_relevance(topics, np.array([[0, 1], [0, 1]]), np.ones(2)).tolist()
    [[1, 0], [0, 1]]
    """
    listed, places = np.unique(words, return_inverse=True)
    shares = (tokens / max(float(tokens.sum()), 1e-300)) @ topics[:, listed].astype(np.float64)
    chances = np.take_along_axis(topics, words, axis=1)
    relevances = relevance(chances, shares[places.reshape(words.shape)], weight)
    return np.take_along_axis(words, np.argsort(-relevances, axis=1, kind="stable"), axis=1)


def find_top_words(topics: np.ndarray, num_words: int) -> np.ndarray:
    """Columns of each topic's most probable words (K, num_words), the most probable first.

    All if there are fewer.

    >>> find_top_words(np.array([[0.1, 0.6, 0.3]]), 2)
    array([[1, 2]])
    """
    num_words = min(num_words, topics.shape[1])
    top = np.argpartition(-topics, num_words - 1, axis=1)[:, :num_words]
    order = np.argsort(-np.take_along_axis(topics, top, 1), axis=1, kind="stable")
    return np.take_along_axis(top, order, 1)


def divergences(topics: np.ndarray) -> np.ndarray:
    """Jensen-Shannon divergences (K, K) of topics (K, V), in nats: 0 for equal topics, log 2
    without a common word.

    `scipy.spatial.distance.pdist(topics, "jensenshannon")` gives NaN for a topic without words.

    >>> divergences(np.eye(2)).round(4).tolist()
    [[0.0, 0.6931], [0.6931, 0.0]]
    """
    topics = np.asarray(topics, np.float64)
    negative_entropies = _plogp(topics).sum(1)
    found = np.zeros((len(topics), len(topics)))
    for k in range(len(topics) - 1):
        middles = _plogp(0.5 * (topics[k] + topics[k + 1 :])).sum(1)
        found[k, k + 1 :] = 0.5 * (negative_entropies[k] + negative_entropies[k + 1 :]) - middles
    found = np.maximum(found, 0.0)
    return found + found.T


def divergences_between(ours: np.ndarray | csr_array, theirs: np.ndarray | csr_array) -> np.ndarray:
    """Jensen-Shannon divergences (K, L), in nats, of the rows of two sparse matrices (K, W), (L, W)
    that sum to 1.

        log 2 + ½ Σ_w [p log (p / (p + q)) + q log (q / (p + q))]     over the words that both have

    `scipy.spatial.distance.cdist` takes no sparse matrices.

    >>> divergences_between(np.eye(2), np.array([[0.0, 1.0], [0.5, 0.5]])).round(4).tolist()
    [[0.6931, 0.2158], [0.0, 0.2158]]
    """
    ours = csc_array(ours, dtype=np.float64)
    theirs = csc_array(theirs, dtype=np.float64)
    found = np.full((ours.shape[0], theirs.shape[0]), np.log(2))
    for word in np.flatnonzero((np.diff(ours.indptr) > 0) & (np.diff(theirs.indptr) > 0)):
        here = slice(*ours.indptr[word : word + 2])
        there = slice(*theirs.indptr[word : word + 2])
        p = ours.data[here, None]
        q = theirs.data[None, there]
        # p log (p / (p + q)) as a difference, since the quotient could overflow.
        found[np.ix_(ours.indices[here], theirs.indices[there])] += 0.5 * (
            _plogp(p) + _plogp(q) - _plogp(p + q)
        )
    return np.maximum(found, 0.0)


def match_topics(distances: np.ndarray) -> list[tuple[int, int]]:
    """One-to-one pairs of rows and columns with the smallest sum of distances (K, L), nearest pair
    first.

    Pairs without a common word, at distance log 2, are left out. Source: Kuhn 1955, by
    `scipy.optimize`.

    >>> match_topics(np.array([[0.1, 0.2, 0.6], [0.3, 0.69314718056, 0.6]]))
    [(0, 1), (1, 0)]
    """
    pairs = zip(*linear_sum_assignment(distances), strict=True)
    alike = [(int(i), int(j)) for i, j in pairs if distances[i, j] < np.log(2) - 1e-9]
    return sorted(alike, key=lambda pair: distances[pair])


def shorten_topics(topics: np.ndarray) -> csr_array:
    """Topics (K, V) as the distributions of their fifty most probable words, in sparse rows.

    >>> shorten_topics(np.array([[0.25, 0.75]])).toarray()
    array([[0.25, 0.75]])
    """
    words = find_top_words(topics, NUM_MATCHED_WORDS)
    shares = np.take_along_axis(topics, words, 1).astype(np.float64)
    shares /= np.maximum(shares.sum(1, keepdims=True), SMALLEST)
    rows = np.repeat(np.arange(len(words)), words.shape[1])
    return csr_array((shares.ravel(), (rows, words.ravel())), shape=topics.shape)


def find_partners(ours: csr_array, theirs: csr_array) -> np.ndarray:
    """The same topic (K,) in another model for each of ours; -1 if it has none.

    Topics, of fifty words each, are matched one to one so that the sum of the divergences is
    smallest; pairs above LARGEST_DIVERGENCE are not the same topic.

    >>> ours, theirs = np.array([[0.5, 0.5, 0], [0, 0, 1]]), np.array([[1, 0, 0], [0.6, 0.4, 0]])
    >>> find_partners(csr_array(ours), csr_array(theirs))
    array([ 1, -1])
    """
    partners = np.full(ours.shape[0], -1)
    distances = divergences_between(ours, theirs)
    near = np.where(distances <= LARGEST_DIVERGENCE, distances, np.log(2))
    for topic, partner in match_topics(near):
        partners[topic] = partner
    return partners


def _plogp(shares: np.ndarray) -> np.ndarray:
    terms: np.ndarray = shares * np.log(np.maximum(shares, SMALLEST))
    return terms


def lay_out(
    distances: np.ndarray, topic_ids: np.ndarray, last: tuple[np.ndarray, np.ndarray] | None = None
) -> np.ndarray:
    """Places (K, 2) of topics on a plane whose distances approximate the given ones (K, K).

    Finite for K = 0 too.

    Uses classical scaling (Torgerson 1952). Each axis points so that its longer tail is positive.
    `last` is an earlier (topic_ids, places): the new places are rotated, mirrored, shifted and
    scaled to fit those of the common topics (Procrustes), so that a map moves only as much as its
    topics do.

    >>> lay_out(np.zeros((1, 1)), np.array([7])).tolist()
    [[0.0, 0.0]]
    """
    num_topics = len(distances)
    if num_topics < 2:
        return np.zeros((num_topics, 2))
    centring = np.eye(num_topics) - 1.0 / num_topics
    values, vectors = np.linalg.eigh(-0.5 * centring @ (distances**2) @ centring)
    places = np.zeros((num_topics, 2))
    largest = np.argsort(-values)[:2]
    places[:, : len(largest)] = vectors[:, largest] * np.sqrt(np.maximum(values[largest], 0.0))
    places *= np.where((places**3).sum(0) < 0, -1.0, 1.0)
    return places if last is None else _fit_onto(places, topic_ids, *last)


def _fit_onto(
    places: np.ndarray, topic_ids: np.ndarray, last_ids: np.ndarray, last_places: np.ndarray
) -> np.ndarray:
    """Move places (K, 2) so that the common topics are as near as can be to their last ones."""
    _, here, there = np.intersect1d(topic_ids, last_ids, return_indices=True)
    if len(here) < 2:
        return places
    ours_centre = places[here].mean(0)
    theirs_centre = last_places[there].mean(0)
    ours = places[here] - ours_centre
    rotation, total = orthogonal_procrustes(ours, last_places[there] - theirs_centre)
    size = (ours**2).sum()
    scale = total / size if size > 0 else 1.0
    moved: np.ndarray = scale * (places - ours_centre) @ rotation + theirs_centre
    return moved
