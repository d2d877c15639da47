"""The files of a stored corpus: shards of documents, which are mapped into memory, and a manifest
that lists them.

A shard is an Arrow file (IPC, uncompressed). Its arrays are read from the mapped pages without a
copy.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache
from hashlib import sha256
from mmap import ACCESS_READ, mmap
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stickbreaker.engine.corpora.documents import Documents
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.word_choices import WordChoices, read_choices
from stickbreaker.engine.files.messages import explain_error
from stickbreaker.engine.files.verified_files import (
    Kind,
    read_seal,
    reading,
    seal_folder,
    verify_part,
)
from stickbreaker.engine.files.whole_files import replacing

if TYPE_CHECKING:
    import pyarrow as pa

MANIFEST = "manifest.json"
VOCABULARY = "vocabulary.parquet"
GROUPS = "groups.parquet"
# Shards that are mapped at the same time: each takes a file handle.
MAX_OPEN = 64
# Entries that are loaded at once, 8 bytes each.
MAX_LOADED = 250_000_000
# Texts in one part of a file, which are read together to show one of them.
TEXTS_AT_ONCE = 1_000
REBUILD = "copy it again from its source, or build the corpus again"
STORED_CORPUS = Kind(name="stored corpus", format=2, remedy=REBUILD, error=CorpusError)


class Shard(NamedTuple):
    """S consecutive documents of a stored corpus.

    dates: (S,) int64, counted in the unit of the manifest; the smallest int64 marks a document
    without a date. rows: (S,) int64, those of the source. groups: (S,) int64;
    None if each document is its own.
    """

    documents: Documents
    doc_ids: np.ndarray
    dates: np.ndarray
    titles: "Sequence[str] | pa.Array"
    rows: np.ndarray
    groups: np.ndarray | None

    def measure(self, file: str) -> "ShardSize":
        """The size of the shard that is in this file."""
        documents = self.documents
        return ShardSize(
            file=file,
            num_documents=documents.num_documents,
            num_entries=len(documents.words),
            num_tokens=documents.num_tokens,
        )


class ShardSize(NamedTuple):
    """The name of a shard's file, and the number of its documents, entries and tokens."""

    file: str
    num_documents: int
    num_entries: int
    num_tokens: int


@dataclass(frozen=True)
class Manifest:
    """The description of a stored corpus.

    date_unit: the precision of the dates. split_by: "document" or "group". source: what it was
    built from. num_skipped: rows. built_at: in ISO 8601; "" if that is the time of the manifest.
    date_span: None if a document has no date, or an earlier version has built the corpus.
    is_loaded: whether all documents are loaded if the corpus is opened by its name. sizes: the
    bytes of each file.
    """

    name: str
    num_documents: int
    vocab_size: int
    num_tokens: int
    date_unit: str
    split_by: str
    has_groups: bool = False
    has_texts: bool = False
    source: str = ""
    num_skipped: int = 0
    built_at: str = ""
    date_span: tuple[str, str] | None = None
    is_loaded: bool = False
    word_choices: WordChoices | None = None
    shards: tuple[ShardSize, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)

    @property
    def num_entries(self) -> int:
        """The number of distinct words in each document, summed over the documents."""
        return sum(shard.num_entries for shard in self.shards)


def name_shard(number: int) -> str:
    """Name the file of a shard.

    >>> name_shard(12)
    'shard-00012.arrow'
    """
    return f"shard-{number:05}.arrow"


def name_texts(number: int | str) -> str:
    """Name the file with the texts of a shard; "*" gives a pattern for all."""
    return f"texts-{number:0>5}.parquet" if number != "*" else "texts-*.parquet"


def write_shard(path: Path, shard: Shard) -> None:
    """Write a shard, completely or not at all."""
    import pyarrow as pa

    starts, words, counts = shard.documents
    entries = pa.StructArray.from_arrays([pa.array(words), pa.array(counts)], ["word", "count"])
    columns = {
        "id": pa.array(shard.doc_ids),
        "row": pa.array(shard.rows),
        "date": pa.array(shard.dates),
        "title": pa.array(shard.titles, pa.large_string()),
        "tokens": pa.array(shard.documents.sizes()),
        "words": pa.LargeListArray.from_arrays(pa.array(starts), entries),
    }
    if shard.groups is not None:
        columns["group"] = pa.array(shard.groups)
    write_arrow(path, pa.RecordBatch.from_pydict(columns))


def write_arrow(path: Path, batch: "pa.RecordBatch", rows_at_once: int | None = None) -> None:
    """Write an Arrow file, completely or not at all, in one batch or in batches of some rows."""
    import pyarrow as pa

    with replacing(path) as file, pa.ipc.new_file(file, batch.schema) as writer:
        for first in range(0, max(1, len(batch)), rows_at_once or max(1, len(batch))):
            writer.write_batch(batch.slice(first, rows_at_once))


def map_file(path: Path) -> mmap:
    """Map a file into memory; raise CorpusError if it is missing, empty or cannot be read."""
    try:
        with path.open("rb") as file:
            return mmap(file.fileno(), 0, access=ACCESS_READ)
    except FileNotFoundError as error:
        raise CorpusError(f"{path} is missing: {REBUILD}.") from error
    except (OSError, ValueError) as error:
        raise CorpusError(f"Cannot read {path} ({error}): {REBUILD}.") from error


def map_arrow(path: Path) -> "pa.ipc.RecordBatchFileReader":
    """Map an Arrow file into memory; raise CorpusError if it is missing or damaged."""
    return open_arrow(path, map_file(path))


def open_arrow(path: Path, pages: mmap) -> "pa.ipc.RecordBatchFileReader":
    """Open an Arrow file that is mapped; raise CorpusError if it is damaged."""
    import pyarrow as pa

    try:
        return pa.ipc.open_file(pa.py_buffer(pages))
    except (pa.ArrowException, OSError) as error:
        raise CorpusError(f"Cannot read {path} ({str(error).strip()}): {REBUILD}.") from error


def write_table(
    path: Path,
    columns: Mapping[str, Any],
    rows_at_once: int | None = None,
    compression: str = "zstd",
) -> None:
    """Write columns to a Parquet file, completely or not at all."""
    import pyarrow as pa
    from pyarrow import parquet

    with replacing(path) as file:
        parquet.write_table(
            pa.table(columns), file, compression=compression, row_group_size=rows_at_once
        )


def _find_column(batch: "pa.RecordBatch", name: str) -> np.ndarray:
    """A column of whole numbers; the ids for the rows, which earlier versions have not stored."""
    is_stored = name in batch.schema.names or name != "row"
    numbers: np.ndarray = batch.column(name if is_stored else "id").to_numpy()
    return numbers


class MappedShard(NamedTuple):
    """The pages of a shard's file, and the columns and the word counts in these pages."""

    pages: mmap
    batch: "pa.RecordBatch"
    documents: Documents


class ShardFiles:
    """The shards of a stored corpus, opened when they are first used."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self.manifest = manifest
        sizes = [shard.num_documents for shard in manifest.shards]
        # Shard n has the documents firsts[n] to firsts[n + 1] - 1.
        self.firsts = np.append(0, np.cumsum(sizes, dtype=np.int64))
        self._map = lru_cache(MAX_OPEN)(self._map_shard)

    def __reduce__(self) -> tuple[Any, ...]:
        return ShardFiles, (self.folder, self.manifest)

    @property
    def places(self) -> range:
        """The places of all documents."""
        return range(self.manifest.num_documents)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the manifest, which has the checksums of all other files."""
        return digest_manifest(self.folder)

    def _open(self, number: int) -> MappedShard:
        """A shard of the right size: reading truncated pages would end the process."""
        shard = self._map(number)
        try:
            self._check_size(number, shard.pages.size())
        except CorpusError:
            self._map.cache_clear()
            raise
        return shard

    def _check_size(self, number: int, found: int) -> None:
        path = self.folder / self.manifest.shards[number].file
        check_size(path, found, self.manifest.sizes.get(path.name, found))

    def _map_shard(self, number: int) -> MappedShard:
        path = self.folder / self.manifest.shards[number].file
        pages = map_file(path)
        self._check_size(number, len(pages))
        with reading(path, STORED_CORPUS):
            batch = open_arrow(path, pages).get_batch(0)
            # Arrow ends the process if the lengths of a damaged file do not agree.
            batch.validate()
            lists = batch.column("words")
            words, counts = (lists.values.field(place).to_numpy() for place in range(2))
        documents = Documents(starts=lists.offsets.to_numpy(), words=words, counts=counts)
        return MappedShard(pages=pages, batch=batch, documents=documents)

    def _name_damage(self, number: int) -> CorpusError:
        path = self.folder / self.manifest.shards[number].file
        return CorpusError(
            f"{path} is damaged, because its documents and words do not agree: {REBUILD}."
        )

    def column(self, name: str, places: np.ndarray | None) -> np.ndarray:
        """Return a column of whole numbers at some places of the corpus, or at all in order."""
        parts = [
            _find_column(self._open(number).batch, name)
            for number in range(len(self.manifest.shards))
        ]
        whole = np.concatenate([np.zeros(0, np.int64), *parts])
        return whole if places is None else whole[places]

    def gather_column(self, name: str, places: np.ndarray) -> np.ndarray:
        """Return a column at the places (S,) of a mini-batch, from the shards that have them."""
        owners = np.searchsorted(self.firsts, places, side="right") - 1
        gathered = np.empty(len(places), np.int64)
        for number in np.unique(owners).tolist():
            rows = np.flatnonzero(owners == number)
            gathered[rows] = (
                self._open(number).batch.column(name).to_numpy()[places[rows] - self.firsts[number]]
            )
        return gathered

    def title(self, place: int) -> str:
        """Return the title of the document at a place of the corpus."""
        number = int(np.searchsorted(self.firsts, place, side="right")) - 1
        return str(self._open(number).batch.column("title")[place - int(self.firsts[number])])

    def titles(self) -> Iterator[str]:
        """Yield the titles of all documents."""
        for number in range(len(self.manifest.shards)):
            yield from self._open(number).batch.column("title").to_pylist()

    def gather(self, places: np.ndarray) -> Documents:
        """Return the word counts of the documents at places (S,), as read-only arrays."""
        owners = np.searchsorted(self.firsts, places, side="right") - 1
        sizes = np.empty(len(places), np.int64)
        parts = []
        for number in np.unique(owners).tolist():
            rows = np.flatnonzero(owners == number)
            documents = self._open(number).documents
            own = places[rows] - self.firsts[number]
            ends = documents.starts[own + 1]
            sizes[rows] = ends - documents.starts[own]
            if sizes[rows].min() < 0 or ends.max() > len(documents.words):
                raise self._name_damage(number)
            parts.append((number, documents, rows, documents.starts[own]))
        starts = np.append(0, sizes.cumsum())
        words = np.empty(starts[-1], np.int32)
        counts = np.empty(starts[-1], np.int32)
        for number, documents, rows, begins in parts:
            lengths = sizes[rows]
            within = np.arange(lengths.sum()) - np.repeat(lengths.cumsum() - lengths, lengths)
            origin, target = (
                np.repeat(first, lengths) + within for first in (begins, starts[rows])
            )
            found = documents.words[origin]
            # As unsigned numbers, negative ones are too large too.
            if len(found) and found.view(np.uint32).max() >= self.manifest.vocab_size:
                raise self._name_damage(number)
            words[target] = found
            counts[target] = documents.counts[origin]
        for array in (starts, words, counts):
            array.setflags(write=False)
        return Documents(starts=starts, words=words, counts=counts)


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a stored corpus, and check the sizes of its files.

    `check_contents` checks the contents.

    Raises CorpusError if the manifest is damaged or of a newer version, or a file is missing or has
    another size.
    """
    # Path.is_file fails without permission.
    if os.path.isfile(folder / name_shard(0)) and not os.path.isfile(folder / MANIFEST):
        raise CorpusError(f"{folder / MANIFEST} is missing: {REBUILD}.")
    header = read_seal(folder / MANIFEST, STORED_CORPUS)
    with reading(folder / MANIFEST, STORED_CORPUS):
        about = dict(header.about or {})
        about["shards"] = tuple(ShardSize(*shard) for shard in about["shards"])
        about["date_span"] = tuple(about.get("date_span") or ()) or None
        about["word_choices"] = read_choices(about.get("word_choices"))
        manifest = Manifest(**about)
    for name, size in manifest.sizes.items():
        try:
            found = (folder / name).stat().st_size
        except OSError as error:
            raise CorpusError(
                f"{folder / name} is missing or cannot be read ({explain_error(error)}): {REBUILD}."
            ) from error
        check_size(folder / name, found, size)
    return manifest


def check_size(path: Path, found: int, expected: int) -> None:
    """Raise CorpusError if a file has another number of bytes than expected."""
    if found != expected:
        raise CorpusError(f"{path} has {found:,} bytes instead of {expected:,}: {REBUILD}.")


def digest_manifest(folder: Path) -> str:
    """Return the SHA-256 of a corpus' manifest; CorpusError if it cannot be read."""
    try:
        return sha256((folder / MANIFEST).read_bytes()).hexdigest()
    except OSError as error:
        raise CorpusError(
            f"{folder / MANIFEST} cannot be read ({explain_error(error)}): {REBUILD}."
        ) from error


def check_contents(folder: Path) -> None:
    """Read all files of a stored corpus; raise CorpusError if one differs from its checksum."""
    header = read_seal(folder / MANIFEST, STORED_CORPUS)
    for name in header.parts or ():
        verify_part(folder / name, header, STORED_CORPUS)


def seal_corpus(
    folder: Path, manifest: Manifest, words: Sequence[str], groups: Sequence[str]
) -> None:
    """Complete a folder of shards and texts: write the vocabulary, the groups and the manifest.

    groups: their titles, if there are some. The manifest is given without `date_span` and `sizes`.
    """
    # An earlier format has the same file, whose bytes stay.
    if not (folder / VOCABULARY).exists():
        write_table(folder / VOCABULARY, {"word": list(words)})
    if manifest.has_groups:
        write_table(folder / GROUPS, {"title": list(groups)})
    files = [
        path for path in sorted(folder.iterdir()) if path.name[0] != "." and path.name != MANIFEST
    ]
    sizes = {path.name: path.stat().st_size for path in files}
    about = asdict(manifest) | {
        "date_span": _find_span(folder, manifest),
        "is_loaded": manifest.is_loaded and manifest.num_entries <= MAX_LOADED,
        "sizes": sizes,
    }
    seal_folder(folder, MANIFEST, STORED_CORPUS, about, [path.name for path in files])


def _find_span(folder: Path, manifest: Manifest) -> tuple[str, str] | None:
    """The first and the last date; None if there are no documents, or one has no date."""
    dates = [
        map_arrow(folder / shard.file).get_batch(0)["date"].to_numpy() for shard in manifest.shards
    ]
    ends = np.array(
        [end for part in dates if len(part) for end in (part.min(), part.max())], np.int64
    )
    span = ends.view(f"datetime64[{manifest.date_unit}]")
    if not len(span) or np.isnat(span).any():
        return None
    return str(span.min()), str(span.max())


def is_stored(path: str | PathLike[str]) -> bool:
    """Return whether a path is the folder of a stored corpus; its manifest may be missing."""
    # Path("") is the current folder, and Path.is_file fails for a name that is too long.
    folder = os.path.expanduser(path)
    return bool(folder) and any(
        os.path.isfile(os.path.join(folder, name)) for name in (MANIFEST, name_shard(0))
    )
