"""Build a corpus from a user's file and store it in the user's data folder, and export it to one file."""

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Self

import numpy as np
from scipy.sparse import coo_array

from stickbreaker.engine.corpora.build import Built, Columns, build_corpus
from stickbreaker.engine.corpora.corpus import Corpus, CorpusError
from stickbreaker.engine.corpora.library import (
    ABOUT,
    COUNTS,
    DOCUMENTS,
    OWN_CORPUS,
    VOCABULARY,
    OwnCorpus,
    check_name,
    find_folder,
    find_own,
    load_own,
    name_folder,
)
from stickbreaker.engine.corpora.sources import find_source
from stickbreaker.engine.corpora.words import WordChoices
from stickbreaker.engine.files.verified_files import seal_folder
from stickbreaker.engine.files.whole_files import FileError, building, open_new, open_synced, replacing
from stickbreaker.engine.progress_bars import Report

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_AT_ONCE = 1_000


@dataclass(frozen=True)
class BuildRequest:
    """A request to build a corpus.

    Attributes
    ----------
    path : Path
        The file or folder.
    name : str
        The name of the new corpus.
    columns : Columns
        The columns to use.
    words : WordChoices, optional
        Which words are counted.
    keeps_text : bool
        Whether the texts are stored with the counts.
    """

    path: Path
    name: str
    columns: Columns = Columns()  # noqa: RUF009
    words: WordChoices | None = None
    keeps_text: bool = True


def build_own(
    request: BuildRequest,
    report: Report = lambda share, message: None,
    folder: str | PathLike[str] | None = None,
) -> tuple[OwnCorpus, Built]:
    """Build a corpus and store it; after an error or a cancellation, nothing is stored.

    Parameters
    ----------
    request : BuildRequest
        What to build.
    report : callable
        Receives the share that is done (0 to 1) and a message. It may raise an exception to cancel.
    folder : str or path, optional
        The folder of the built corpora. By default, `corpora` in the folder of STICKBREAKER_DATA or the user's data.

    Returns
    -------
    own : OwnCorpus
        The description of the stored corpus.
    built : Built
        The corpus and the skipped rows.

    Raises
    ------
    CorpusError
        If the name is not valid, the source cannot be read, or the folder cannot be written.
    """
    name, library = check_name(request.name, folder), find_folder(folder)
    try:
        with building(library / name_folder(name)) as work:
            source = find_source(request.path)
            has_text = request.keeps_text and not source.is_counted
            with _TextWriter(work / "texts.parquet") if has_text else nullcontext() as texts:
                keep = texts.add if texts else lambda texts: None
                built = build_corpus(source, request.columns, request.words, report, keep)
                report(0.97, "Writing the corpus")
                about = _write(work, name, built, texts, source.path)
    except FileError as error:
        raise CorpusError(str(error)) from error
    return about, built


class _TextWriter:
    """Writes texts to a temporary file, so that a large corpus need not fit in memory; the block removes it."""

    def __init__(self, path: Path):
        self.path = path
        self._writer: Any = None

    def __enter__(self) -> Self:
        self._file = open_new(self.path)
        return self

    def __exit__(self, *error: object) -> None:
        if self._writer is not None:
            self._writer.close()
        self._file.close()
        self.path.unlink(missing_ok=True)

    def add(self, texts: list[str]) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        batch = pa.table({"text": pa.array(texts, pa.large_string())})
        if self._writer is None:
            self._writer = parquet.ParquetWriter(self._file, batch.schema, compression="zstd")
        self._writer.write_table(batch)

    def read(self, kept: np.ndarray) -> Iterator["pa.Array"]:
        """Yield the texts at these positions, which ascend."""
        import pyarrow as pa
        from pyarrow import parquet

        self._writer.close()
        self._file.flush()
        start = 0
        with parquet.ParquetFile(self.path) as file:
            for batch in file.iter_batches(ROWS_AT_ONCE):
                here = kept[np.searchsorted(kept, start) : np.searchsorted(kept, start + len(batch))] - start
                start += len(batch)
                yield batch.column(0).take(pa.array(here))


def _write(work: Path, name: str, built: Built, texts: _TextWriter | None, source: Path) -> OwnCorpus:
    import pyarrow as pa

    corpus = built.corpus
    counts = coo_array(corpus.counts)
    columns = {"document": counts.row.astype(np.int64), "word": counts.col.astype(np.int32), "count": counts.data}
    tables = {
        COUNTS: [pa.table(columns)],
        VOCABULARY: [pa.table({"word": list(corpus.vocabulary)})],
        DOCUMENTS: _describe_in_parts(corpus, texts.read(built.kept) if texts else None),
    }
    for part, content in tables.items():
        with open_synced(work / part) as file:
            _write_tables(file, content)
    about = OwnCorpus(
        name=name,
        num_documents=corpus.num_documents,
        vocab_size=corpus.vocab_size,
        num_tokens=corpus.num_tokens,
        date_span=(str(corpus.dates.min()), str(corpus.dates.max())) if corpus.has_dates else None,
        date_unit=np.datetime_data(corpus.dates.dtype)[0],
        split_by=corpus.split_by,
        has_text=texts is not None,
        source=source.name,
        num_bad=built.bad.count,
        built_at=datetime.now().isoformat(),
    )
    seal_folder(work, ABOUT, OWN_CORPUS, asdict(about), tuple(tables))
    return about


def _write_tables(file: BinaryIO, tables: Iterable["pa.Table"]) -> None:
    """Write tables of one schema, of which there is at least one, as one Parquet file."""
    from pyarrow import parquet

    tables = iter(tables)
    first = next(tables)
    with parquet.ParquetWriter(file, first.schema, compression="zstd") as writer:
        for table in chain([first], tables):
            writer.write_table(table)


def _describe_in_parts(corpus: Corpus, texts: Iterator["pa.Array"] | None) -> Iterator["pa.Table"]:
    """Yield the title, date, group and text of some documents at a time."""
    import pyarrow as pa

    table = describe_documents(corpus)
    if texts is None:
        yield table
        return
    schema, start = table.schema.append(pa.field("text", pa.large_string())), 0
    for part in texts:
        rows = table.slice(start, len(part))
        start += len(part)
        yield rows.append_column("text", pa.chunked_array([part])).cast(schema)


def describe_documents(corpus: Corpus) -> "pa.Table":
    """Return the titles, dates and groups of the documents.

    Parameters
    ----------
    corpus : Corpus
        The corpus.

    Returns
    -------
    pyarrow.Table
        D rows of text columns: title, date (ISO 8601 in the known precision) and group.
    """
    import pyarrow as pa

    dates = np.datetime_as_string(corpus.dates)
    groups = [corpus.group_titles[group] for group in corpus.groups] if corpus.split_by == "group" else None
    return pa.table(
        {
            "title": pa.array(corpus.titles, pa.string()),
            "date": pa.array(dates.tolist(), pa.string(), mask=np.isnat(corpus.dates)),
            "group": pa.array(groups or [None] * corpus.num_documents, pa.string()),
        }
    )


def export_own(name: str, target: Path, folder: str | PathLike[str] | None = None) -> Path:
    """Write a corpus that the user has built to one Parquet file.

    Parameters
    ----------
    name : str
        The name of the corpus.
    target : Path
        The file to write.
    folder : str or path, optional
        The folder of the built corpora. By default, `corpora` in the folder of STICKBREAKER_DATA or the user's data.

    Returns
    -------
    Path
        `target`. It has one row per document: title, date, group, text (if stored), words and counts.

    Raises
    ------
    CorpusError
        If there is no such corpus, it is damaged, or the file cannot be written.
    """
    from pyarrow import parquet

    corpus, files = load_own(name, folder), find_own(name, folder)
    if files.about.is_stored:
        raise CorpusError(f"The corpus {name!r} is stored in a separate folder: copy that folder.")
    kept = ["title", "date", "group"] + ["text"] * files.about.has_text
    try:
        with parquet.ParquetFile(files.find(DOCUMENTS)) as file, replacing(Path(target)) as out:
            _write_tables(out, _add_counts(corpus, file.iter_batches(ROWS_AT_ONCE, columns=kept)))
    except FileError as error:
        raise CorpusError(str(error)) from error
    return target


def _add_counts(corpus: Corpus, batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.Table"]:
    """Yield the descriptions of consecutive documents with their words and counts."""
    import pyarrow as pa

    words, start = np.array(corpus.vocabulary.words, dtype=object), 0
    for batch in batches:
        rows = corpus.counts[start : start + len(batch)]
        start += len(batch)
        starts = pa.array(rows.indptr, pa.int32())
        counted = {
            "words": pa.ListArray.from_arrays(starts, pa.array(words[rows.indices])),
            "counts": pa.ListArray.from_arrays(starts, pa.array(rows.data)),
        }
        yield pa.table(dict(zip(batch.schema.names, batch.columns, strict=True)) | counted)
