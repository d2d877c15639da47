"""Stored corpora on the workers of a cluster: each worker reads the same files, from its own mapped
pages.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from typing import Any, NamedTuple, overload

import numpy as np

from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.stored import StoredCorpus, StoredRows
from stickbreaker.engine.parallel.clusters import (
    Cluster,
    ClusterError,
    TaskLostError,
    worker_address,
)


class StoredPart(NamedTuple):
    """Consecutive documents of a stored corpus: their part's number, places and ids."""

    number: int
    rows: StoredRows
    doc_ids: np.ndarray
    corpus_size: int

    def batches(self, size: int) -> Iterator[Batch]:
        """Read the documents, some at once; ClusterError names a worker that cannot."""
        for first in range(0, len(self.doc_ids), size):
            some = slice(first, first + size)
            documents = read_rows(self.rows._replace(places=self.rows.places[some]))
            yield Batch(
                doc_ids=self.doc_ids[some], documents=documents, corpus_size=self.corpus_size
            )


class StoredParts(Sequence[StoredPart]):
    """The parts of a stored corpus, of `size` documents each; the last one may be short."""

    def __init__(self, corpus: StoredCorpus, size: int) -> None:
        self._corpus = corpus
        self._size = size

    def __len__(self) -> int:
        return (self._corpus.num_documents + self._size - 1) // self._size

    @overload
    def __getitem__(self, number: int) -> StoredPart: ...
    @overload
    def __getitem__(self, number: slice) -> list[StoredPart]: ...
    def __getitem__(self, number: int | slice) -> StoredPart | list[StoredPart]:
        if isinstance(number, slice):
            return [self[each] for each in range(len(self))[number]]
        corpus = self._corpus
        first = range(len(self))[number] * self._size
        last = min(first + self._size, corpus.num_documents)
        return StoredPart(
            number=first // self._size,
            rows=corpus.refer(first, last),
            doc_ids=corpus.doc_ids[first:last],
            corpus_size=corpus.num_documents,
        )


def map_parts(
    cluster: Cluster, corpus: Corpus, size: int, function: Callable[[StoredPart], Any]
) -> Generator[tuple[int, Any], None, None]:
    """Yield the number and the result of each part of a stored corpus, in the order in which
    workers end.

    size: the number of documents in a part. Raises CorpusError if the corpus is in memory, and
    ClusterError if a worker cannot read it, or if a part ends every worker.
    """
    if not isinstance(corpus, StoredCorpus):
        raise CorpusError(
            f"{corpus.name!r} is in memory, but workers read a corpus on disk: write it with"
            " store_corpus to a folder that all machines can read, or leave out client."
        )
    check_corpus(cluster, corpus)
    with closing(cluster.map_unordered(function, StoredParts(corpus, size))) as results:
        for number, result in results:
            if isinstance(result, TaskLostError):
                raise result
            yield number, result


def check_corpus(cluster: Cluster, corpus: Corpus) -> None:
    """Raise ClusterError if a worker cannot read the files of a stored corpus."""
    if not isinstance(corpus, StoredCorpus):
        return
    for address, error in sorted(cluster.run_everywhere(_find_error, corpus.refer(0, 0)).items()):
        if error:
            raise ClusterError(_unreadable(address, error))


def read_rows(rows: StoredRows) -> Documents:
    """The documents, on a worker; ClusterError names the worker if it cannot read them."""
    try:
        return rows.read()
    except CorpusError as error:
        raise ClusterError(_unreadable(worker_address(), error)) from error


def _find_error(rows: StoredRows) -> str:
    """Why a worker cannot read documents; "" if it can."""
    try:
        rows.read()
    except CorpusError as error:
        return str(error)
    return ""


def _unreadable(address: str, error: object) -> str:
    return (
        f"Worker {address} cannot read the corpus. {error} All machines need the corpus at the same"
        " path."
    )
