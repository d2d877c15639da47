"""Topic shares of groups of documents, such as authors or parties, with intervals."""

from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

LEVEL = 0.95


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
        shares = (member @ topic_tokens).toarray() / totals
        draws = totals**2 / squares
        free = squares - 2 * cubes / totals + squares / draws
    # Σ N² (θ - p)² without a dense (D, K) array.
    around = (
        (member @ topic_tokens.multiply(topic_tokens)).toarray()
        - 2 * shares * (member @ topic_tokens.multiply(tokens[:, None])).toarray()
        + shares**2 * squares
    )
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
