"""Words that a topic has more in one group of documents than in another.

Monroe, Colaresi & Quinn (2008), section 3.5: the log odds of a word in a group, under a Dirichlet
prior α₀ p in proportion to the word's probability p in the topic, are log((y + α₀ p) / (n + α₀ - y
- α₀ p)) for y of n tokens; ζ is the difference of two groups over its standard error. The paper
takes y as a Poisson count, of variance y. Words of one text are not independent, so here it is c y:
c, at least 1, is the spread of a word's tokens over texts as a multiple of y, from both groups.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from stickbreaker.engine.corpora.documents import Documents
from stickbreaker.engine.evaluation.group_shares import Groups, sum_texts
from stickbreaker.engine.kernels.held_out import predict_words

PRIOR_TOKENS = 100.0
OTHERS = "all other groups"


class WordOdds(NamedTuple):
    """The expected tokens of words in two groups (V,) and how their log odds differ (V,), also as a
    multiple of the standard error, z; positive: more in the first.
    """

    first: np.ndarray
    second: np.ndarray
    log_odds: np.ndarray
    z: np.ndarray


def topic_tokens(
    documents: Documents, doc_shares: np.ndarray, topics: np.ndarray, place: int
) -> csr_array:
    """The expected tokens (S, V) of a topic, n_w θ_k φ_kw / Σ_j θ_j φ_jw.

    doc_shares: (S, K); topics: (K, V).
    """
    rows = documents.rows().astype(np.int64)
    words = documents.words.astype(np.int64)
    by_word = np.ascontiguousarray(topics.T, dtype=np.float32)
    doc_shares = np.ascontiguousarray(doc_shares, dtype=np.float64)
    predicted = np.empty(len(words))
    predict_words(rows, words, doc_shares, by_word, predicted)
    own = documents.counts * doc_shares[rows, place] * topics[place, words]
    tokens = own / np.maximum(predicted, 1e-300)
    shape = (documents.num_documents, topics.shape[1])
    return csr_array((tokens, documents.words, documents.starts), shape=shape)


def compare_words(
    tokens: csr_array, is_second: np.ndarray, topic: np.ndarray, prior_tokens: float = PRIOR_TOKENS
) -> WordOdds:
    """Compare the words of a topic in two groups of texts.

    tokens: (T, V), those of the topic in each text; is_second: (T,) bool, false in the first group;
    topic: (V,), its words' probabilities; prior_tokens: α₀.

    >>> tokens = csr_array(np.array([[9.0, 1.0], [1.0, 9.0]]))
    >>> compare_words(tokens, np.array([False, True]), np.array([0.5, 0.5]), 2.0).log_odds.round(2)
    array([ 3.22, -3.22])
    """
    sums = []
    spread = np.zeros(len(topic))
    num_texts = 0
    for own in (~is_second, is_second):
        part = csr_array(tokens[np.flatnonzero(own)])
        sizes = np.asarray(part.sum(1)).ravel()
        part, sizes = csr_array(part[sizes > 0]), sizes[sizes > 0]
        counts = np.asarray(part.sum(0)).ravel()
        share = counts / max(sizes.sum(), 1e-300)
        # Σ (y_t - p n_t)² over the texts t of the group, without a dense (T, V) array.
        spread += np.asarray(part.multiply(part).sum(0)).ravel()
        spread += share * (share * (sizes**2).sum() - 2 * (part.T @ sizes))
        num_texts += len(sizes)
        sums.append(counts)
    spread *= num_texts / max(num_texts - 2, 1)
    dispersion = np.maximum(1.0, spread / np.maximum(sums[0] + sums[1], 1e-300))
    prior = prior_tokens * topic.astype(float)
    odds = []
    variance = np.zeros(len(topic))
    for counts in sums:
        odds.append(np.log(counts + prior) - np.log((counts + prior).sum() - counts - prior))
        variance += (dispersion * counts + prior) / (counts + prior) ** 2
    log_odds = odds[0] - odds[1]
    return WordOdds(sums[0], sums[1], log_odds, log_odds / np.sqrt(variance))


def find_group(groups: Groups, name: str) -> int:
    """The number of a group. Raises ValueError if there is none of this name."""
    if name not in groups.names:
        listed = ", ".join(groups.names[:20])
        raise ValueError(f"There is no group {name!r}: choose one of {listed}.")
    return groups.names.index(name)


def word_frame(
    tokens: csr_array, groups: Groups, pair: tuple[str, str], topic: np.ndarray, words: list[str]
) -> pd.DataFrame:
    """The words that a topic has in either of two groups, those that the first has more come first.

    Columns word, z, log_odds, first, second (expected tokens). tokens: (D, V), of `topic_tokens`;
    pair: the names of the groups, the second perhaps `OTHERS`; topic: (V,); words: (V,).
    """
    by_text, document = sum_texts(tokens, groups.texts)
    of_text = groups.of_document[document]
    is_first = of_text == find_group(groups, pair[0])
    if pair[1] == OTHERS:
        is_second = (of_text >= 0) & ~is_first
    else:
        is_second = of_text == find_group(groups, pair[1])
    chosen = np.flatnonzero(is_first | is_second)
    found = compare_words(csr_array(by_text[chosen]), ~is_first[chosen], topic)
    seen = np.flatnonzero(found.first + found.second >= 1)
    order = seen[np.argsort(-found.z[seen], kind="stable")]
    return pd.DataFrame(
        {
            "word": pd.Series([words[word] for word in order], dtype=str),
            "z": found.z[order],
            "log_odds": found.log_odds[order],
            "first": found.first[order],
            "second": found.second[order],
        }
    )
