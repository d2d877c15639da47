"""Topic shares of documents as Parquet files, for corpora whose shares do not fit in memory."""

import io
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from stickbreaker.engine.algorithm import Algorithm
from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.corpora.on_workers import StoredPart, map_parts
from stickbreaker.engine.executors import map_shards
from stickbreaker.engine.files import whole_files
from stickbreaker.engine.parallel.clusters import Cluster

FILE_DOCUMENTS = 65_536
DOCUMENTS_AT_ONCE = 4_096

Report = Callable[[int], object]


@dataclass(frozen=True)
class ShareReader:
    """A model that reads documents.

    columns: the topics whose shares are given, all or some (K,).
    names: K names of the columns.
    """

    algorithm: Algorithm
    config: Any
    state: Any
    columns: np.ndarray | slice
    names: Sequence[str]

    def infer(self, documents: Documents) -> np.ndarray:
        """The shares (S, K) of documents."""
        infer = self.algorithm.infer
        parts = map_shards(lambda part: infer(self.config, self.state, part), documents)
        shares: np.ndarray = np.concatenate(parts)[:, self.columns]
        return shares

    def write(self, out: BinaryIO, batches: Iterable[Batch]) -> None:
        """Write the shares of some documents as a Parquet file."""
        import pyarrow as pa
        from pyarrow import parquet

        schema = pa.schema([("doc_id", pa.int64()), *((name, pa.float32()) for name in self.names)])
        # Dictionaries do not help: most shares differ.
        with parquet.ParquetWriter(out, schema, compression="zstd", use_dictionary=False) as file:
            for batch in batches:
                shares = self.infer(batch.documents).astype(np.float32)
                columns = [pa.array(batch.doc_ids), *(pa.array(column) for column in shares.T)]
                file.write_batch(pa.record_batch(columns, schema=schema))


@dataclass(frozen=True)
class FileWriter:
    """Writes the file of a part on a worker, if the worker has the folder.

    Its name cannot occur twice.
    """

    reader: ShareReader
    work: Path
    documents_at_once: int

    def __call__(self, part: StoredPart) -> bytes | None:
        """Write the file; if there is no such folder, return its content."""
        batches = part.batches(self.documents_at_once)
        if self.work.is_dir():
            with whole_files.replacing(self.work / name_file(part.number)) as out:
                self.reader.write(out, batches)
            return None
        content = io.BytesIO()
        self.reader.write(content, batches)
        return content.getvalue()


def name_file(number: int) -> str:
    """Name the file of a part of the documents.

    >>> name_file(12)
    'shares-00012.parquet'
    """
    return f"shares-{number:05}.parquet"


def write_shares(
    folder: str | PathLike[str],
    corpus: Corpus,
    reader: ShareReader,
    report: Report = lambda num_documents: None,
    cluster: Cluster | None = None,
) -> Path:
    """Write the topic shares of all documents to Parquet files in a new folder, completely or not
    at all.

    Each file has 65,536 documents: doc_id (int64), and a float32 column for each topic.
    report: receives the number of documents that are done. Workers of a cluster write the same
    content; what a worker without the folder returns, this process writes. Raises CorpusError if
    there is a cluster and the corpus is in memory, ClusterError if a worker cannot read the corpus,
    and FileError if the folder exists already or cannot be written.
    """
    folder = whole_files.find_new_folder(folder)
    with whole_files.building(folder) as work:
        if cluster is None:
            _write_here(work, corpus, reader, report)
        else:
            _write_on(cluster, work, corpus, reader, report)
    return folder


def _write_here(work: Path, corpus: Corpus, reader: ShareReader, report: Report) -> None:
    batches = corpus.batches(DOCUMENTS_AT_ONCE)
    for number in range(-(-corpus.num_documents // FILE_DOCUMENTS)):
        with whole_files.open_synced(work / name_file(number)) as out:
            # FILE_DOCUMENTS is a multiple of DOCUMENTS_AT_ONCE.
            reader.write(out, islice(batches, FILE_DOCUMENTS // DOCUMENTS_AT_ONCE))
        report(min((number + 1) * FILE_DOCUMENTS, corpus.num_documents))


def _write_on(
    cluster: Cluster, work: Path, corpus: Corpus, reader: ShareReader, report: Report
) -> None:
    writer = FileWriter(reader=reader, work=work, documents_at_once=DOCUMENTS_AT_ONCE)
    with closing(map_parts(cluster, corpus, FILE_DOCUMENTS, writer)) as results:
        for done, (number, content) in enumerate(results, start=1):
            path = work / name_file(number)
            if content is not None:
                with whole_files.replacing(path) as out:
                    out.write(content)
            elif not path.is_file():
                raise whole_files.FileError(
                    f"A worker wrote {path.name}, but {path} does not exist here: use a folder that"
                    " all machines share."
                )
            report(min(done * FILE_DOCUMENTS, corpus.num_documents))
    # A worker that has ended may have left an unfinished file.
    whole_files.remove_leftovers(work)
