"""Keep the corpora that a user builds in the user's data folder, each as a folder of Parquet files."""

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Self
from urllib.parse import quote

import numpy as np
from scipy.sparse import coo_array

from stickbreaker.engine.corpora.build import Built, Columns, build_corpus, number_groups
from stickbreaker.engine.corpora.bundled import FILES
from stickbreaker.engine.corpora.corpus import Corpus, CorpusError, Vocabulary
from stickbreaker.engine.corpora.count_files import name_kind
from stickbreaker.engine.corpora.sources import find_source
from stickbreaker.engine.corpora.words import WordChoices
from stickbreaker.engine.verified_files import Header, Kind, read_seal, reading, seal_folder, verify_part
from stickbreaker.engine.whole_files import FileError, building, open_new, open_synced, remove_folder, replacing

if TYPE_CHECKING:
    import pyarrow as pa

FOLDER_VARIABLE = "STICKBREAKER_DATA"
MAX_NAME = 80
ROWS_AT_ONCE = 1_000
ABOUT, COUNTS, VOCABULARY, DOCUMENTS = "corpus.json", "counts.parquet", "vocabulary.parquet", "documents.parquet"
STORED = Kind("corpus", 2, "delete it and build it again", CorpusError)

Report = Callable[[float, str], None]
logger = logging.getLogger(__name__)


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


@dataclass(frozen=True)
class OwnCorpus:
    """The description of a corpus that a user has built.

    Attributes
    ----------
    name : str
        Its name.
    num_documents, vocab_size, num_tokens : int
        Its size.
    date_span : tuple of two str, or None
        The first and the last date.
    date_unit : str
        The precision of the dates, as a NumPy unit.
    split_by : str
        "document" or "group".
    has_text : bool
        Whether the texts are stored.
    source : str
        The name of the file or folder that it was built from.
    num_bad : int
        The number of rows that were skipped.
    built_at : str
        The time of building, in ISO 8601.
    """

    name: str
    num_documents: int
    vocab_size: int
    num_tokens: int
    date_span: tuple[str, str] | None
    date_unit: str
    split_by: str
    has_text: bool
    source: str
    num_bad: int
    built_at: str


def find_folder(folder: str | PathLike[str] | None = None) -> Path:
    """Return the folder of the built corpora.

    Parameters
    ----------
    folder : str or path, optional
        Returned if given.

    Returns
    -------
    Path
        By default, `corpora` in the folder named by the variable STICKBREAKER_DATA, or in the user's data folder.
    """
    if folder is not None:
        return Path(folder)
    if named := os.environ.get(FOLDER_VARIABLE):
        return Path(named) / "corpora"
    import platformdirs

    return platformdirs.user_data_path("stickbreaker", appauthor=False) / "corpora"


def list_own(folder: str | PathLike[str] | None = None) -> tuple[OwnCorpus, ...]:
    """List the corpora that the user has built.

    Parameters
    ----------
    folder : str or path, optional
        The folder of the built corpora; see `find_folder`.

    Returns
    -------
    tuple of OwnCorpus
        Sorted by name. Damaged corpora are skipped, with a warning in the log.
    """
    found = []
    try:
        places = sorted(place for place in find_folder(folder).iterdir() if place.is_dir())
    except OSError:
        return ()
    for place in places:
        if place.name.startswith("."):
            continue
        try:
            found.append(_read_about(place)[0])
        except CorpusError as error:
            logger.warning("%s", error)
    return tuple(sorted(found, key=lambda corpus: corpus.name.lower()))


def find_own(name: str, folder: str | PathLike[str] | None = None) -> OwnCorpus:
    """Find a corpus that the user has built.

    Parameters
    ----------
    name : str
        The name of the corpus.
    folder : str or path, optional
        The folder of the built corpora; see `find_folder`.

    Returns
    -------
    OwnCorpus
        Its description.

    Raises
    ------
    CorpusError
        If there is no such corpus, or its description is damaged.
    """
    return find_stored(name, folder).own


class Stored(NamedTuple):
    """Where a corpus that the user has built is stored: its description, its folder, and the header of its files."""

    own: OwnCorpus
    place: Path
    header: Header

    def find(self, *parts: str) -> Path:
        """Verify these files and return the first one. Raises CorpusError if one is missing or damaged."""
        for part in parts:
            verify_part(self.place / part, self.header, STORED)
        return self.place / parts[0]


def find_stored(name: str, folder: str | PathLike[str] | None = None) -> Stored:
    """Find where a corpus is stored. Raises CorpusError if there is none, or its description is damaged."""
    place = _find_place(name, folder)
    own, header = _read_about(place)
    return Stored(own, place, header)


def _read_about(place: Path) -> tuple[OwnCorpus, Header]:
    """Read the description of the corpus in a folder, and the header of its files."""
    header = read_seal(place / ABOUT, STORED)
    with reading(place / ABOUT, STORED):
        about = dict(header.about or {})
        span = about["date_span"]
        own = OwnCorpus(**about | {"date_span": tuple(span) if span else None})
        if _place(own.name) != place.name:
            raise ValueError(f"it belongs to the corpus {own.name!r}")
    return own, header


def _find_place(name: str, folder: str | PathLike[str] | None) -> Path:
    """The folder of a corpus. Raises CorpusError where there is none."""
    place = find_folder(folder) / _place(name)
    if not name or name.startswith(".") or not place.is_dir():
        raise CorpusError(f"No corpus {name!r} has been built. Build it, or choose another one.")
    return place


def check_name(name: str, folder: str | PathLike[str] | None = None) -> str:
    """Check the name of a new corpus.

    Parameters
    ----------
    name : str
        The name.
    folder : str or path, optional
        The folder of the built corpora; see `find_folder`.

    Returns
    -------
    str
        The name without leading and trailing spaces.

    Raises
    ------
    CorpusError
        If the name is not valid or already in use.
    """
    name = name.strip()
    if not any(map(str.isalnum, name)) or len(name) > MAX_NAME or not name.isprintable():
        raise CorpusError(
            f"Invalid corpus name {name[:MAX_NAME]!r}: use 1 to {MAX_NAME} characters, with a letter or digit."
        )
    if name.startswith("."):
        raise CorpusError(f"Invalid corpus name {name!r}: start with a letter or digit.")
    if len(_place(name)) > 200:
        raise CorpusError(f"Invalid corpus name {name!r}: use fewer non-Latin letters.")
    taken = {corpus.name.lower() for corpus in list_own(folder)} | set(FILES)
    if name.lower() in taken or (find_folder(folder) / _place(name)).exists():
        raise CorpusError(f"A corpus {name!r} already exists. Choose another name, or delete that corpus.")
    return name


def _place(name: str) -> str:
    return quote(name, safe=" ")


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
        The folder of the built corpora; see `find_folder`.

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
        with building(library / _place(name)) as work:
            source = find_source(request.path)
            has_text = request.keeps_text and not name_kind(source)
            with _TextWriter(work / "texts.parquet") if has_text else nullcontext() as texts:
                keep = texts.add if texts else lambda texts: None
                built = build_corpus(source, request.columns, request.words, report, keep)
                report(0.97, "Writing the corpus")
                about = _write(work, name, built, texts, source)
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
        name,
        corpus.num_documents,
        corpus.vocab_size,
        corpus.num_tokens,
        (str(corpus.dates.min()), str(corpus.dates.max())) if corpus.has_dates else None,
        np.datetime_data(corpus.dates.dtype)[0],
        corpus.split_by,
        texts is not None,
        source.name,
        built.bad.count,
        datetime.now().isoformat(),
    )
    seal_folder(work, ABOUT, STORED, asdict(about), tuple(tables))
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


def load_own(name: str, folder: str | PathLike[str] | None = None) -> Corpus:
    """Load a corpus that the user has built.

    Parameters
    ----------
    name : str
        The name of the corpus.
    folder : str or path, optional
        The folder of the built corpora; see `find_folder`.

    Returns
    -------
    Corpus
        The corpus in the order of its file.

    Raises
    ------
    CorpusError
        If there is no such corpus, or it is damaged.
    """
    from pyarrow import parquet

    stored = find_stored(name, folder)
    about, place = stored.own, stored.place
    stored.find(VOCABULARY, COUNTS, DOCUMENTS)
    with reading(place, STORED):
        words = parquet.read_table(place / VOCABULARY)["word"].to_pylist()
        counts = parquet.read_table(place / COUNTS)
        documents = parquet.read_table(place / DOCUMENTS, columns=["title", "date", "group"])
        rows, columns, data = (counts[column].to_numpy() for column in ("document", "word", "count"))
        dates = [date or "NaT" for date in documents["date"].to_pylist()]
        grouping = number_groups(documents["group"].to_pylist()) if about.split_by == "group" else {}
        return Corpus(
            name,
            coo_array((data, (rows, columns)), shape=(about.num_documents, len(words))).tocsr(),
            Vocabulary(words),
            np.array(dates, f"datetime64[{about.date_unit}]"),
            documents["title"].to_pylist(),
            **grouping,
        )


def delete_own(name: str, folder: str | PathLike[str] | None = None) -> None:
    """Delete a corpus that the user has built.

    Parameters
    ----------
    name : str
        The name of the corpus.
    folder : str or path, optional
        The folder of the built corpora; see `find_folder`.

    Raises
    ------
    CorpusError
        If there is no such corpus.
    """
    try:
        remove_folder(_find_place(name, folder))
    except FileError as error:
        raise CorpusError(str(error)) from error


def export_own(name: str, target: Path, folder: str | PathLike[str] | None = None) -> Path:
    """Write a corpus that the user has built to one Parquet file.

    Parameters
    ----------
    name : str
        The name of the corpus.
    target : Path
        The file to write.
    folder : str or path, optional
        The folder of the built corpora; see `find_folder`.

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

    corpus, stored = load_own(name, folder), find_stored(name, folder)
    kept = ["title", "date", "group"] + ["text"] * stored.own.has_text
    try:
        with parquet.ParquetFile(stored.find(DOCUMENTS)) as file, replacing(Path(target)) as out:
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
