"""Topics beside one another: the relevance of their words, how far apart they are, and a map of them."""

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csc_array

SMALLEST = 1e-30


def relevance(topic, word_shares, weight):
    """Relevance (V,) of words to a topic (V,) among the corpus' word shares (V,): 1 is probability, 0 is lift.

        weight · log p(w | topic) + (1 - weight) · log (p(w | topic) / p(w))

    A word that the corpus lacks has none: its relevance is -inf. Source: Sievert & Shirley 2014, sec. 3.1.

    >>> relevance(np.array([0.5, 0.5]), np.array([0.9, 0.1]), 0.0).argmax()
    np.int64(1)
    """
    topic = np.maximum(np.asarray(topic, np.float64), SMALLEST)
    with np.errstate(divide="ignore"):
        lift = np.log(topic) - np.log(word_shares)
    return np.where(word_shares > 0, weight * np.log(topic) + (1 - weight) * lift, -np.inf)


def divergences(topics):
    """Jensen-Shannon divergences (K, K) of topics (K, V), in nats: 0 for equals, log 2 where no word is shared.

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


def divergences_between(ours, theirs):
    """Jensen-Shannon divergences (K, L), in nats, of the rows of two sparse matrices (K, W), (L, W) that sum to 1.

        log 2 + ½ Σ_w [p log (p / (p + q)) + q log (q / (p + q))]     over the words that both have

    >>> divergences_between(np.eye(2), np.array([[0.0, 1.0], [0.5, 0.5]])).round(4).tolist()
    [[0.6931, 0.2158], [0.0, 0.2158]]
    """
    ours, theirs = csc_array(ours, dtype=np.float64), csc_array(theirs, dtype=np.float64)
    found = np.full((ours.shape[0], theirs.shape[0]), np.log(2))
    for word in np.flatnonzero((np.diff(ours.indptr) > 0) & (np.diff(theirs.indptr) > 0)):
        here = slice(*ours.indptr[word : word + 2])
        there = slice(*theirs.indptr[word : word + 2])
        p, q = ours.data[here, None], theirs.data[None, there]
        # p log (p / (p + q)), without a quotient that could overflow.
        found[np.ix_(ours.indices[here], theirs.indices[there])] += 0.5 * (_plogp(p) + _plogp(q) - _plogp(p + q))
    return np.maximum(found, 0.0)


def match_topics(distances):
    """Pairs of rows and columns whose distances (K, L) add up to the least, one to one, nearest pair first.

    Pairs that share no word, at log 2, are none. Source: Kuhn's assignment problem, `scipy.optimize`.

    >>> match_topics(np.array([[0.1, 0.2, 0.6], [0.3, 0.69314718056, 0.6]]))
    [(0, 1), (1, 0)]
    """
    pairs = zip(*linear_sum_assignment(distances), strict=True)
    alike = [(int(i), int(j)) for i, j in pairs if distances[i, j] < np.log(2) - 1e-9]
    return sorted(alike, key=lambda pair: distances[pair])


def _plogp(shares):
    return shares * np.log(np.maximum(shares, SMALLEST))


def lay_out(distances, topic_ids, last=None):
    """Places (K, 2) of topics on a plane whose distances resemble those given (K, K); finite for any K, 0 included.

    By classical scaling (Torgerson 1952); of an axis and its mirror image, the one whose longer tail is positive.
    `last` is an earlier (topic_ids, places): the new places are turned, mirrored, shifted and scaled onto those of the
    topics in both (Procrustes), so that a map moves no more than its topics do.

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


def _fit_onto(places, topic_ids, last_ids, last_places):
    _, here, there = np.intersect1d(topic_ids, last_ids, return_indices=True)
    if len(here) < 2:
        return places
    ours, theirs = places[here], last_places[there]
    ours_centre, theirs_centre = ours.mean(0), theirs.mean(0)
    left, values, right = np.linalg.svd((ours - ours_centre).T @ (theirs - theirs_centre))
    size = ((ours - ours_centre) ** 2).sum()
    scale = values.sum() / size if size > 0 else 1.0
    return scale * (places - ours_centre) @ (left @ right) + theirs_centre
