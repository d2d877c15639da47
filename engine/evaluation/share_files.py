"""Topic shares of documents as Parquet files, for corpora whose shares do not fit in memory."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from os import PathLike
from pathlib import Path

import numpy as np

from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.whole_files import FileError, building, open_synced

FILE_DOCUMENTS = 65_536
DOCUMENTS_AT_ONCE = 4_096

Infer = Callable[[Documents], np.ndarray]
Report = Callable[[int], object]


def write_shares(
    folder: str | PathLike[str],
    corpus: Corpus,
    infer: Infer,
    names: Sequence[str],
    report: Report = lambda num_documents: None,
) -> Path:
    """Write the topic shares of all documents to Parquet files in a new folder, completely or not at all.

    Parameters
    ----------
    folder : str or path
        The folder to make. Each file has 65,536 documents: doc_id (int64), and a float32 column for each topic.
    corpus : Corpus
        The documents, read in parts.
    infer : callable
        Returns the shares (S, K) of documents.
    names : sequence of K str
        The names of the columns.
    report : callable
        Receives the number of documents that are done.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    FileError
        If the folder exists already or cannot be written.
    """
    folder = Path(folder).expanduser().absolute()
    if folder.exists():
        raise FileError(f"{folder} already exists: delete it, or choose another folder.")
    batches = corpus.batches(DOCUMENTS_AT_ONCE)
    with building(folder) as work:
        for number, first in enumerate(batches):
            # FILE_DOCUMENTS is a multiple of DOCUMENTS_AT_ONCE.
            rest = (next(batches, None) for _ in range(FILE_DOCUMENTS // DOCUMENTS_AT_ONCE - 1))
            some = chain([first], (batch for batch in rest if batch is not None))
            _write_file(work / f"shares-{number:05}.parquet", some, infer, names)
            report(min((number + 1) * FILE_DOCUMENTS, corpus.num_documents))
    return folder


def _write_file(path: Path, batches: Iterator[Batch], infer: Infer, names: Sequence[str]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema([("doc_id", pa.int64()), *((name, pa.float32()) for name in names)])
    # Dictionaries do not help: most shares differ.
    with open_synced(path) as out, parquet.ParquetWriter(out, schema, compression="zstd", use_dictionary=False) as file:
        for batch in batches:
            shares = infer(batch.documents).astype(np.float32)
            columns = [pa.array(batch.doc_ids), *(pa.array(column) for column in shares.T)]
            file.write_batch(pa.record_batch(columns, schema=schema))
