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


class _Sums(NamedTuple):
    """Sums over the texts t of G groups, of the tokens y_t of each word and n_t of all words.

    tokens, squares, products: Σ y_t, Σ y_t² and Σ y_t n_t (G, V); sizes, square_sizes: Σ n_t and Σ
    n_t² (G, 1); texts: those with tokens (G, 1).
    """

    tokens: np.ndarray
    squares: np.ndarray
    products: np.ndarray
    sizes: np.ndarray
    square_sizes: np.ndarray
    texts: np.ndarray


def _sum_groups(tokens: csr_array, of_text: np.ndarray, num_groups: int) -> _Sums:
    """tokens: (T, V); of_text: (T,), the group of each text, -1 for none."""
    sizes = np.asarray(tokens.sum(1)).ravel()
    known = np.flatnonzero((of_text >= 0) & (sizes > 0))
    entries = np.ones(len(known)), (of_text[known], known)
    member = csr_array(entries, shape=(num_groups, len(sizes)))
    by_size = csr_array((sizes[known], entries[1]), shape=member.shape)
    return _Sums(
        tokens=(member @ tokens).toarray(),
        squares=(member @ tokens.multiply(tokens)).toarray(),
        products=(by_size @ tokens).toarray(),
        sizes=(member @ sizes)[:, None],
        square_sizes=(member @ sizes**2)[:, None],
        texts=np.asarray(member.sum(1))[:, None],
    )


def _compare_sums(first: _Sums, second: _Sums, topic: np.ndarray, prior_tokens: float) -> WordOdds:
    """Compare the words of pairs of groups; all arrays of the result are (G, V)."""
    spread = np.zeros(first.tokens.shape)
    for sums in (first, second):
        share = sums.tokens / np.maximum(sums.sizes, 1e-300)
        # Σ (y_t - p n_t)² over the texts t of the group.
        spread += sums.squares + share * (share * sums.square_sizes - 2 * sums.products)
    num_texts = first.texts + second.texts
    spread *= num_texts / np.maximum(num_texts - 2, 1)
    dispersion = np.maximum(1.0, spread / np.maximum(first.tokens + second.tokens, 1e-300))
    prior = prior_tokens * topic.astype(float)
    odds = []
    variance = np.zeros(first.tokens.shape)
    for sums in (first, second):
        known = sums.tokens + prior
        odds.append(np.log(known) - np.log(known.sum(1, keepdims=True) - known))
        variance += (dispersion * sums.tokens + prior) / known**2
    log_odds = odds[0] - odds[1]
    return WordOdds(first.tokens, second.tokens, log_odds, log_odds / np.sqrt(variance))


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
    both = _sum_groups(tokens, is_second.astype(np.int64), 2)
    first, second = (_Sums(*(each[[group]] for each in both)) for group in (0, 1))
    return WordOdds(*(each[0] for each in _compare_sums(first, second, topic, prior_tokens)))


def compare_with_others(
    tokens: csr_array, groups: Groups, chosen: np.ndarray, topic: np.ndarray
) -> WordOdds:
    """Compare the words of a topic in each of some groups with those in all other groups.

    tokens: (D, V), of `topic_tokens`; chosen: (C,), numbers of groups; topic: (V,). The arrays of
    the result are (C, V).
    """
    by_text, document = sum_texts(tokens, groups.texts)
    of_text = groups.of_document[document]
    places = np.full(len(groups.names) + 1, -1)
    places[chosen] = np.arange(len(chosen))
    first = _sum_groups(by_text, places[of_text], len(chosen))
    whole = _sum_groups(by_text, np.minimum(of_text, 0), 1)
    rest = zip(whole, first, strict=True)
    others = _Sums(*(np.maximum(each - own, 0) for each, own in rest))
    return _compare_sums(first, others, topic, PRIOR_TOKENS)


def find_group(groups: Groups, name: object) -> int:
    """The number of a group. Raises ValueError if there is none of this name."""
    if str(name) not in groups.names:
        listed = ", ".join(groups.names[:20])
        raise ValueError(f"There is no group {name!r}: choose one of {listed}.")
    return groups.names.index(str(name))


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
        if (is_first & is_second).any():
            raise ValueError(f"Both groups are {pair[0]!r}: give two, or leave out the second.")
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
