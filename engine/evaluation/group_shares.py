"""Topic shares of groups of documents, such as authors or parties, with intervals."""

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.corpora.rows import NO_GROUP

LEVEL = 0.95
# Its groups are addresses, called "1834 Andrew Jackson".
OF_PRESIDENTS = "state-of-the-union"


class Groups(NamedTuple):
    """The group of each document (D,), -1 for none, and the names of groups; for intervals, the
    text that each document is a passage of (D,).
    """

    of_document: np.ndarray
    names: tuple[str, ...]
    texts: np.ndarray

    def select(self, rows: np.ndarray) -> "Groups":
        """The groups of some documents."""
        return self._replace(of_document=self.of_document[rows], texts=self.texts[rows])


def find_groups(corpus: Corpus, names: Sequence[Any] | None = None) -> Groups | None:
    """The groups of a corpus: those of its file, or the presidents of State of the Union. None if
    there is one, or each document has its own.

    names: other groups, one name for each document. The texts of State of the Union are addresses,
    or the parts of one in several groups; in other corpora each document is a text of its own.
    """
    is_given = names is not None
    texts = corpus.groups if corpus.name == OF_PRESIDENTS else np.arange(corpus.num_documents)
    if names is None:
        titles = corpus.group_titles
        if corpus.name == OF_PRESIDENTS:
            titles = [title.partition(" ")[2] for title in titles]
        names = np.array(titles, object)[corpus.groups]
    elif len(names) != corpus.num_documents:
        raise ValueError(
            f"{len(names)} groups for {corpus.num_documents} documents: give one per document."
        )
    given = [NO_GROUP if pd.isna(name) else str(name) for name in names]
    named = sorted(set(given), key=lambda name: (name == NO_GROUP, name))
    numbers = {name: number for number, name in enumerate(named)}
    of_document = np.array([numbers[name] for name in given], np.int64)
    if is_given:
        texts = texts * len(named) + of_document
    if len(named) < 2 or (len(named) == corpus.num_documents and not is_given):
        return None
    return Groups(of_document=of_document, names=tuple(named), texts=texts)


def sum_texts(values: csr_array, texts: np.ndarray) -> tuple[csr_array, np.ndarray]:
    """Sums of rows (D, C) over the passages of each text, (T, C), and a document of each (T,)."""
    _, first, places = np.unique(texts, return_index=True, return_inverse=True)
    entries = (np.ones(len(places)), (places, np.arange(len(places))))
    member = csr_array(entries, shape=(len(first), len(places)))
    return csr_array(member @ values), first


class GroupShares(NamedTuple):
    """Topic shares of groups, and the ends of their intervals (G, K); documents with words (G,).

    A group without words has NaN.
    """

    shares: np.ndarray
    low: np.ndarray
    high: np.ndarray
    num_documents: np.ndarray


def shares_by_group(
    doc_shares: csr_array,
    doc_tokens: np.ndarray,
    groups: np.ndarray,
    num_groups: int,
    level: float = LEVEL,
) -> GroupShares:
    """Topic shares of the tokens of each group, with intervals for documents drawn at random.

    Intervals are Wilson's (1927) for n/c draws: n = (Σ N_d)²/Σ N_d² is the size of a group of
    documents with N_d tokens (Kish 1965, section 8.2), and c the spread of the shares of documents
    in a group, as a part of p (1 - p), estimated from all groups: an unbiased Σ N_d² (θ_dk - p_k)²
    over an unbiased p_k (1 - p_k), p_k the share of the group. If no group has two documents, c is
    1, as if each document had a single topic.

    Parameters
    ----------
    doc_shares : (D, K) sparse
        The topic shares of documents, or some columns of them.
    doc_tokens : (D,) int or float
        Their tokens.
    groups : (D,) int
        Their groups, from 0 to G - 1, and -1 for none.
    num_groups : int
        The number of groups G.
    level : float
        The level of the intervals, between 0 and 1.

    Returns
    -------
    GroupShares
        The shares and their intervals, from 0 to 1.

    Notes
    -----
    Percentiles of a bootstrap over documents are not used: they are too short where few documents
    have the topic. If none of a group has it, it is in no resample either.

    Examples
    --------
    >>> shares = csr_array(np.array([[0.5], [0.5], [1.0], [0.0]]))
    >>> found = shares_by_group(shares, np.array([8, 8, 30, 10]), np.array([0, 0, 1, 1]), 2)
    >>> found.shares.ravel().tolist(), found.num_documents.tolist()
    ([0.5, 0.75], [2, 2])
    """
    tokens = doc_tokens.astype(float)
    rows = np.flatnonzero((groups >= 0) & (tokens > 0))
    member = csr_array((np.ones(len(rows)), (groups[rows], rows)), shape=(num_groups, len(tokens)))
    topic_tokens = csr_array(doc_shares.multiply(tokens[:, None]))
    totals, squares, cubes = ((member @ tokens**power)[:, None] for power in (1, 2, 3))
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.minimum((member @ topic_tokens).toarray() / totals, 1.0)
        draws = totals**2 / squares
        free = squares - 2 * cubes / totals + squares / draws
    # Σ N² (θ - p)² without a dense (D, K) array.
    around = (
        (member @ topic_tokens.multiply(topic_tokens)).toarray()
        - 2 * shares * (member @ topic_tokens.multiply(tokens[:, None])).toarray()
        + shares**2 * squares
    )
    # Of equal documents it is 0 but for rounding.
    around = np.maximum(around, 0.0)
    binomial = free * shares * (1 - shares) + around / draws
    # All or nothing, unless groups of several documents say more.
    dispersion = np.ones(doc_shares.shape[1])
    np.divide(
        np.nansum(around, 0),
        np.nansum(binomial, 0),
        out=dispersion,
        where=np.nansum(binomial, 0) > 1e-9 * np.nansum(squares, 0),
    )
    spread = dispersion / draws
    spread *= NormalDist().inv_cdf((1 + level) / 2) ** 2
    middle = (shares + spread / 2) / (1 + spread)
    half = np.sqrt(spread * (shares * (1 - shares) + spread / 4)) / (1 + spread)
    return GroupShares(
        shares=shares,
        low=np.maximum(middle - half, 0),
        high=np.minimum(middle + half, 1),
        num_documents=np.bincount(groups[rows], minlength=num_groups),
    )


def group_frame(doc_shares: csr_array, doc_tokens: np.ndarray, groups: Groups) -> pd.DataFrame:
    """Topic shares of groups as rows: all groups of the first topic, then those of the next.

    Columns topic (the column of doc_shares), group, share, low, high, documents, whole (the share
    in all documents). Passages of one text are not independent: the text counts as one document.
    doc_shares: (D, K) of documents with words; doc_tokens: (D,).
    """
    tokens = doc_tokens.astype(float)
    topic_tokens, first = sum_texts(csr_array(doc_shares.multiply(tokens[:, None])), groups.texts)
    text_tokens = sum_texts(csr_array(tokens[:, None]), groups.texts)[0].toarray().ravel()
    shares = csr_array(topic_tokens.multiply(1 / text_tokens[:, None]))
    size, num_topics = len(groups.names), doc_shares.shape[1]
    found = shares_by_group(shares, text_tokens, groups.of_document[first], size)
    own = groups.of_document[groups.of_document >= 0]
    whole = np.asarray(topic_tokens.sum(0)).ravel() / max(tokens.sum(), 1.0)
    return pd.DataFrame(
        {
            "topic": np.repeat(np.arange(num_topics), size),
            "group": pd.Series(list(groups.names) * num_topics, dtype=str),
            "share": found.shares.T.ravel(),
            "low": found.low.T.ravel(),
            "high": found.high.T.ravel(),
            "documents": np.tile(np.bincount(own, minlength=size), num_topics),
            "whole": np.repeat(whole, size),
        }
    )
