"""Export a corpus that a user has built to one Parquet file."""

from collections.abc import Iterator
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.corpora.library import load_own
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.shards import TEXTS_AT_ONCE
from stickbreaker.engine.corpora.texts import Texts, find_texts
from stickbreaker.engine.files.whole_files import FileError, replacing

if TYPE_CHECKING:
    import pyarrow as pa


def export_own(name: str, target: Path, folder: str | PathLike[str] | None = None) -> Path:
    """Write a corpus that the user has built to one Parquet file.

    Parameters
    ----------
    name : str
        The name of the corpus.
    target : Path
        The file to write.
    folder : str or path, optional
        The folder of the built corpora. By default, `corpora` in the folder of STICKBREAKER_DATA or
        the user's data.

    Returns
    -------
    Path
        `target`. It has one row per document: title, date, group, text (if stored), words and
        counts.

    Raises
    ------
    CorpusError
        If there is no such corpus, it is damaged, or the file cannot be written.
    """
    from pyarrow import parquet

    tables = _list_tables(load_own(name, folder), find_texts(name, folder))
    first = next(tables)
    try:
        with (
            replacing(Path(target)) as out,
            parquet.ParquetWriter(out, first.schema, compression="zstd") as writer,
        ):
            for table in chain([first], tables):
                writer.write_table(table)
    except FileError as error:
        raise CorpusError(str(error)) from error
    return target


def _list_tables(corpus: Corpus, texts: Texts | None) -> Iterator["pa.Table"]:
    """Yield tables of consecutive documents, with texts, words and counts; at least one."""
    words = np.array(corpus.vocabulary.words, dtype=object)
    if texts is None:
        for first in range(0, max(1, corpus.num_documents), TEXTS_AT_ONCE):
            yield _describe(
                corpus,
                np.arange(first, min(first + TEXTS_AT_ONCE, corpus.num_documents)),
                {},
                words,
            )
    else:
        for ids, some in texts.scan():
            yield _describe(corpus, ids, {"text": some}, words)


def _describe(
    corpus: Corpus, rows: np.ndarray, texts: dict[str, "pa.ChunkedArray"], words: np.ndarray
) -> "pa.Table":
    """A row for each document; words: the vocabulary."""
    import pyarrow as pa

    some = corpus.select(rows)
    counted = some.documents()
    starts = pa.array(counted.starts, pa.int32())
    dates = np.datetime_as_string(some.dates)
    groups: list[str | None] = [None] * len(rows)
    if corpus.split_by == "group" or len(corpus.group_titles) < corpus.num_documents:
        groups = [corpus.group_titles[group] for group in some.groups]
    return pa.table(
        {
            "title": pa.array(list(some.titles), pa.string()),
            "date": pa.array(dates.tolist(), pa.string(), mask=np.isnat(some.dates)),
            "group": pa.array(groups, pa.string()),
            **texts,
            "words": pa.ListArray.from_arrays(starts, pa.array(words[counted.words], pa.string())),
            "counts": pa.ListArray.from_arrays(starts, pa.array(counted.counts)),
        }
    )
