"""Topic shares of a corpus under a learned model, by document and by period."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, vstack

from stickbreaker.engine.algorithm import Algorithm
from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.corpora.documents import Documents
from stickbreaker.engine.executors import map_shards
from stickbreaker.engine.parallel.clusters import Cluster, TaskLostError

SMALLEST_SHARE = 0.005
DOCUMENTS_AT_ONCE = 2048
UNITS = ("decade", "year", "month", "equal counts")
MEASURES = ("share of tokens", "share of documents", "tokens")


@dataclass(frozen=True)
class _SparseReader:
    """A model that reads documents; it gives their shares (S, K), sparse."""

    algorithm: Algorithm
    config: Any
    state: Any

    def __call__(self, documents: Documents) -> csr_array:
        infer = self.algorithm.infer
        shares = np.concatenate(
            map_shards(lambda part: infer(self.config, self.state, part), documents)
        )
        shares = np.where(shares >= SMALLEST_SHARE, shares, 0)
        return csr_array(
            (shares / np.maximum(shares.sum(1, keepdims=True), 1e-30)).astype(np.float32)
        )


def read_shares(
    algorithm: Algorithm,
    config: Any,
    state: Any,
    corpus: Corpus,
    report: Callable[[int], bool] = lambda done: True,
    cluster: Cluster | None = None,
) -> csr_array | None:
    """Topic shares (D, K) of all documents in reading order, sparse: shares under 0.005 are left
    out, rows sum to 1.

    report(done) is called from time to time with the number of documents read. If it returns False,
    reading ends and the result is None.
    cluster: the workers that read, with the same result. Never learns. Raises ClusterError if a
    part ends every worker.
    """
    read = _SparseReader(algorithm=algorithm, config=config, state=state)
    batches = corpus.batches(DOCUMENTS_AT_ONCE)
    parts: dict[int, csr_array] = {}
    if cluster is None:
        results: Iterator[tuple[int, Any]] = (
            (place, read(batch.documents)) for place, batch in enumerate(batches)
        )
    else:
        results = cluster.map_unordered(read, [batch.documents for batch in batches])
    if not report(0):
        return None
    for place, part in results:
        if isinstance(part, TaskLostError):
            raise part
        parts[place] = part
        if not report(min(len(parts) * DOCUMENTS_AT_ONCE, corpus.num_documents)):
            return None
    in_order = [parts[place] for place in range(len(parts))]
    if not in_order:
        return csr_array((0, 0), dtype=np.float32)
    return vstack(in_order, format="csr")


class Periods(NamedTuple):
    """Periods: that of each document (D,), -1 without a date; names and first dates (P,)."""

    of_document: np.ndarray
    names: tuple[str, ...]
    starts: np.ndarray


def divide(dates: np.ndarray, unit: str, number: int = 20) -> Periods:
    """Divide documents with dates (D,) datetime64 into periods.

    "equal counts" makes `number` periods of equal size.

    Includes every period from the first to the last, even without documents. Raises ValueError for
    an unknown unit.

    >>> divide(np.array(["1801", "1809", "1823"], "datetime64[Y]"), "decade").names
    ('1800s', '1810s', '1820s')
    """
    if unit not in UNITS:
        raise ValueError(f"Unknown unit {unit!r}: choose one of {', '.join(map(repr, UNITS))}.")
    dated = np.flatnonzero(~np.isnat(dates))
    if not len(dated):
        return Periods(
            of_document=np.full(len(dates), -1), names=(), starts=np.zeros(0, "datetime64[D]")
        )
    if unit == "equal counts":
        return _divide_evenly(dates, dated, number)
    numpy_unit, length = {"decade": ("Y", 10), "year": ("Y", 1), "month": ("M", 1)}[unit]
    places = dates[dated].astype(f"datetime64[{numpy_unit}]").astype(np.int64)
    # numpy counts years from 1970, which is the start of a decade.
    places = places // length
    found = np.full(len(dates), -1)
    found[dated] = places - places.min()
    starts = (np.arange(places.min(), places.max() + 1) * length).astype(
        f"datetime64[{numpy_unit}]"
    )
    names = tuple(f"{start}s" if unit == "decade" else str(start) for start in starts)
    return Periods(of_document=found, names=names, starts=starts.astype("datetime64[D]"))


def _divide_evenly(dates: np.ndarray, dated: np.ndarray, number: int) -> Periods:
    number = min(number, len(dated))
    order = dated[np.argsort(dates[dated], kind="stable")]
    found = np.full(len(dates), -1)
    found[order] = np.arange(len(order)) * number // len(order)
    first = [order[np.searchsorted(found[order], period)] for period in range(number)]
    last = [
        order[np.searchsorted(found[order], period, side="right") - 1] for period in range(number)
    ]
    names = tuple(_name_span(dates[a], dates[b]) for a, b in zip(first, last, strict=True))
    return Periods(
        of_document=found, names=names, starts=dates[np.array(first)].astype("datetime64[D]")
    )


def _name_span(first: np.datetime64, last: np.datetime64) -> str:
    return str(first) if first == last else f"{first} to {last}"


def add_up(
    doc_shares: csr_array, doc_tokens: np.ndarray, periods: Periods, measure: str
) -> np.ndarray:
    """A measure of topics (P, K) by period, from doc shares (D, K) and tokens of documents (D,).

    "tokens": expected tokens; "share of tokens": share of the period's tokens; "share of
    documents": share of the documents whose largest topic it is. A period without documents has 0
    tokens, and NaN as its shares. Raises ValueError for an unknown measure.
    """
    if measure not in MEASURES:
        raise ValueError(
            f"Unknown measure {measure!r}: choose one of {', '.join(map(repr, MEASURES))}."
        )
    is_dated = periods.of_document >= 0
    rows = np.flatnonzero(is_dated)
    shape = (len(periods.names), len(doc_tokens))
    values = doc_tokens[rows].astype(float)
    if measure == "share of documents":
        values = np.ones(len(rows))
        largest = np.asarray(doc_shares.argmax(1)).ravel()
        own = np.asarray(doc_shares.max(1).todense()).ravel() > 0
        doc_shares = csr_array(
            (np.ones(own.sum()), (np.flatnonzero(own), largest[own])), shape=doc_shares.shape
        )
    membership = csr_array((values, (periods.of_document[rows], rows)), shape=shape)
    summed = np.asarray((membership @ doc_shares).todense())
    if measure == "tokens":
        return summed
    totals = np.asarray(membership.sum(1)).ravel()
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(totals[:, None] > 0, summed / totals[:, None], np.nan)


def find_typical(
    doc_shares: csr_array,
    doc_tokens: np.ndarray,
    topic: int,
    number: int,
    among: np.ndarray | None = None,
) -> np.ndarray:
    """Rows of the `number` documents that are most about a topic.

    Documents with a share of at least 0.5 come first; within each group, those with more expected
    tokens of the topic.
    among: (D,) bool, the documents to choose from.
    """
    shares = np.asarray(doc_shares[:, [topic]].todense()).ravel()
    if among is not None:
        shares = shares * among
    rows = np.flatnonzero(shares > 0)
    tokens = shares[rows] * doc_tokens[rows]
    typical: np.ndarray = rows[np.lexsort((-tokens, shares[rows] < 0.5))][:number]
    return typical
