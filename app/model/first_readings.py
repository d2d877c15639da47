"""Topic shares of each document when a run first read it, by the model of that moment.

They are a by-product of the scores of the next mini-batch: the shares that predict a tenth of a
document's distinct words from the others, inferred just before the model learns from the document.
Documents of the first mini-batch are left out, because the model has not learned yet. Documents of
one word are left out, because they have no score. A document takes about a hundred bytes: eight for
each share of at least 0.005, and twenty more.
"""

import threading
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from stickbreaker.engine.evaluation.doc_shares import SMALLEST_SHARE

# The columns of all readings, with the types of their numbers in numpy and in arrays.
COLUMNS = {"doc_ids": "q", "seen": "q", "sizes": "i", "topic_ids": "i", "shares": "f"}


def find_place(topic_ids: np.ndarray, topic_id: int | None) -> int | None:
    """The place of a topic in an array of ids; None if it is not there."""
    found = np.flatnonzero(topic_ids == topic_id)
    return int(found[0]) if len(found) else None


@dataclass(frozen=True, eq=False)
class FirstReading:
    """Documents as they were first read, in the order of a corpus.

    topic_ids: (T,) all topics of these shares, gone ones too. doc_shares: (D, T) sparse, whose rows
    sum to 1 or, where a document has not been read, to 0. seen: (D,) documents learned from when it
    was read, -1 where it has not been.
    """

    topic_ids: np.ndarray
    doc_shares: csr_array
    seen: np.ndarray

    def position(self, topic_id: int | None) -> int | None:
        """Find the column of a topic; None if no document has it."""
        return find_place(self.topic_ids, topic_id)


class FirstReadings:
    """Grows by one mini-batch at a time; can be read from any thread.

    wanted: the ids of the only documents to keep, ascending; None: all.
    """

    def __init__(self) -> None:
        self.wanted: np.ndarray | None = None
        self._lock = threading.Lock()
        self._columns = {name: array(code) for name, code in COLUMNS.items()}

    def __len__(self) -> int:
        return len(self._columns["doc_ids"])

    def take(self, inferred: Any, documents_seen: int) -> None:
        """Add the shares of documents that were read after learning from `documents_seen`."""
        doc_ids = inferred.doc_ids
        inferred_shares = inferred.shares
        if self.wanted is not None:
            is_wanted = np.isin(doc_ids, self.wanted)
            doc_ids = doc_ids[is_wanted]
            inferred_shares = inferred_shares[is_wanted]
        rows, columns = np.nonzero(inferred_shares >= SMALLEST_SHARE)
        shares = inferred_shares[rows, columns]
        sizes = np.bincount(rows, minlength=len(doc_ids))
        totals = np.bincount(rows, shares, len(sizes))
        added = {
            "doc_ids": doc_ids,
            "seen": np.full(len(sizes), documents_seen),
            "sizes": sizes,
            "topic_ids": inferred.topic_ids[columns],
            "shares": shares / totals[rows],
        }
        with self._lock:
            for name, values in added.items():
                self._columns[name].frombytes(values.astype(COLUMNS[name]).tobytes())

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Copy everything, for `restore`."""
        with self._lock:
            return {name: np.array(values) for name, values in self._columns.items()}

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `to_arrays` of others gave. Raises KeyError if an array is missing."""
        with self._lock:
            self._columns = {
                name: array(code, arrays[name].tobytes()) for name, code in COLUMNS.items()
            }

    def look(self, doc_ids: np.ndarray) -> FirstReading | None:
        """The shares in the order of a corpus with these ids (D,); None if there are none."""
        ids, seen, sizes, topics, shares = self.to_arrays().values()
        if not len(ids):
            return None
        order = np.argsort(doc_ids, kind="stable")
        rows = order[np.searchsorted(doc_ids[order], ids)]
        topic_ids, places = np.unique(topics, return_inverse=True)
        shape = (len(doc_ids), len(topic_ids))
        found = np.full(len(doc_ids), -1, np.int64)
        found[rows] = seen
        return FirstReading(
            topic_ids=topic_ids,
            doc_shares=csr_array((shares, (np.repeat(rows, sizes), places)), shape=shape),
            seen=found,
        )
