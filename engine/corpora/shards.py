"""The files of a stored corpus: shards of documents, which are mapped into memory, and a manifest that lists them.

A shard is an Arrow file (IPC, uncompressed). Its arrays are read from the mapped pages without a copy.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stickbreaker.engine.corpora.corpus import CorpusError, Documents
from stickbreaker.engine.whole_files import replacing

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = 1
MANIFEST = "manifest.json"
VOCABULARY = "vocabulary.parquet"
GROUPS = "groups.parquet"
# Shards that are mapped at the same time: each takes a file handle.
MAX_OPEN = 64
REBUILD = "copy it again from its source, or build the corpus again"


class Shard(NamedTuple):
    """S consecutive documents of a stored corpus.

    Attributes
    ----------
    documents : Documents
        Their word counts.
    doc_ids : (S,) int64
        Their ids.
    dates : (S,) int64
        Their dates, counted in the unit of the manifest; the smallest int64 marks a document without a date.
    titles : sequence of S str, or a pyarrow array
        Their titles.
    groups : (S,) int64, or None
        Their groups; None if each document is its own.
    """

    documents: Documents
    doc_ids: np.ndarray
    dates: np.ndarray
    titles: "Sequence[str] | pa.Array"
    groups: np.ndarray | None


class ShardSize(NamedTuple):
    """The name of a shard's file, and the number of its documents, entries and tokens."""

    file: str
    num_documents: int
    num_entries: int
    num_tokens: int


@dataclass(frozen=True)
class Manifest:
    """The description of a stored corpus.

    Attributes
    ----------
    name : str
        Its name.
    num_documents, vocab_size, num_tokens : int
        Its size.
    date_unit : str
        The precision of the dates, as a NumPy unit.
    split_by : str
        "document" or "group".
    has_groups, has_texts : bool
        Whether there are groups of documents, and whether the texts are stored.
    source : str
        What it was built from.
    num_skipped : int
        The number of rows that were skipped.
    shards : tuple of ShardSize
        The shards in order.
    files : dict of str to [int, str]
        The size in bytes and the SHA-256 of each file.
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
    shards: tuple[ShardSize, ...] = ()
    files: Mapping[str, tuple[int, str]] = field(default_factory=dict)


def name_shard(number: int) -> str:
    """Name the file of a shard.

    >>> name_shard(12)
    'shard-00012.arrow'
    """
    return f"shard-{number:05}.arrow"


def write_shard(path: Path, shard: Shard) -> ShardSize:
    """Write a shard, completely or not at all; return its size."""
    import pyarrow as pa

    starts, words, counts = shard.documents
    entries = pa.StructArray.from_arrays([pa.array(words), pa.array(counts)], ["word", "count"])
    sizes = shard.documents.sizes()
    columns = {
        "id": pa.array(shard.doc_ids),
        "date": pa.array(shard.dates),
        "title": pa.array(shard.titles, pa.large_string()),
        "tokens": pa.array(sizes),
        "words": pa.LargeListArray.from_arrays(pa.array(starts), entries),
    }
    if shard.groups is not None:
        columns["group"] = pa.array(shard.groups)
    write_arrow(path, pa.record_batch(columns))
    return ShardSize(path.name, shard.documents.num_documents, len(words), int(sizes.sum()))


def write_arrow(path: Path, batch: "pa.RecordBatch", rows_at_once: int | None = None) -> None:
    """Write an Arrow file, completely or not at all, in one batch or in batches of some rows."""
    import pyarrow as pa

    with replacing(path) as file, pa.ipc.new_file(file, batch.schema) as writer:
        for first in range(0, max(1, len(batch)), rows_at_once or max(1, len(batch))):
            writer.write_batch(batch.slice(first, rows_at_once))


def map_arrow(path: Path) -> "pa.ipc.RecordBatchFileReader":
    """Map an Arrow file into memory; raise CorpusError if it is missing or damaged."""
    import pyarrow as pa

    try:
        return pa.ipc.open_file(pa.memory_map(str(path)))
    except FileNotFoundError as error:
        raise CorpusError(f"{path} is missing: {REBUILD}.") from error
    except (pa.ArrowException, OSError) as error:
        raise CorpusError(f"Cannot read {path} ({str(error).strip()}): {REBUILD}.") from error


def write_table(path: Path, columns: Mapping[str, Any]) -> None:
    """Write columns to a Parquet file, completely or not at all."""
    import pyarrow as pa
    from pyarrow import parquet

    with replacing(path) as file:
        parquet.write_table(pa.table(columns), file, compression="zstd")


class ShardFiles:
    """The shards of a stored corpus, opened when they are first used.

    Parameters
    ----------
    folder : Path
        The folder.
    manifest : Manifest
        As returned by `read_manifest`.
    """

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder, self.manifest = folder, manifest
        sizes = [shard.num_documents for shard in manifest.shards]
        # Shard n has the documents firsts[n] to firsts[n + 1] - 1.
        self.firsts = np.append(0, np.cumsum(sizes, dtype=np.int64))
        self._map = lru_cache(MAX_OPEN)(self._map_shard)

    def __reduce__(self) -> tuple[Any, ...]:
        return ShardFiles, (self.folder, self.manifest)

    def _map_shard(self, number: int) -> tuple["pa.RecordBatch", Documents]:
        batch = map_arrow(self.folder / self.manifest.shards[number].file).get_batch(0)
        lists = batch.column("words")
        words, counts = (lists.values.field(place).to_numpy() for place in range(2))
        return batch, Documents(lists.offsets.to_numpy(), words, counts)

    def column(self, name: str, places: np.ndarray | None) -> np.ndarray:
        """Return a column of whole numbers at some places of the corpus, or at all in order."""
        parts = [self._map(number)[0].column(name).to_numpy() for number in range(len(self.manifest.shards))]
        whole = np.concatenate([np.zeros(0, np.int64), *parts])
        return whole if places is None else whole[places]

    def title(self, place: int) -> str:
        """Return the title of the document at a place of the corpus."""
        number = int(np.searchsorted(self.firsts, place, side="right")) - 1
        return str(self._map(number)[0].column("title")[place - int(self.firsts[number])])

    def gather(self, places: np.ndarray) -> Documents:
        """Return the word counts of the documents at these places (S,) of the corpus, as read-only arrays."""
        owners = np.searchsorted(self.firsts, places, side="right") - 1
        sizes = np.empty(len(places), np.int64)
        parts = []
        for number in np.unique(owners).tolist():
            rows = np.flatnonzero(owners == number)
            documents = self._map(number)[1]
            own = places[rows] - self.firsts[number]
            sizes[rows] = documents.starts[own + 1] - documents.starts[own]
            parts.append((documents, rows, documents.starts[own]))
        starts = np.append(0, sizes.cumsum())
        words, counts = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.int32)
        for documents, rows, begins in parts:
            lengths = sizes[rows]
            within = np.arange(lengths.sum()) - np.repeat(lengths.cumsum() - lengths, lengths)
            origin, target = (np.repeat(first, lengths) + within for first in (begins, starts[rows]))
            words[target] = documents.words[origin]
            counts[target] = documents.counts[origin]
        for array in (starts, words, counts):
            array.setflags(write=False)
        return Documents(starts, words, counts)


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a stored corpus, and check that its files are there in full.

    Parameters
    ----------
    folder : Path
        The folder.

    Returns
    -------
    Manifest
        The description. Contents of files are not checked; see `check_contents`.

    Raises
    ------
    CorpusError
        If the manifest is damaged or of another version, or a file is missing or has another size.
    """
    path = folder / MANIFEST
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        version = about.pop("format")
        if version != FORMAT:
            raise CorpusError(
                f"{path} has format {version}, and this version of stickbreaker reads {FORMAT}: build the corpus again."
            )
        shards = tuple(ShardSize(*shard) for shard in about.pop("shards"))
        files = {name: (int(size), str(digest)) for name, (size, digest) in about.pop("files").items()}
        manifest = Manifest(**about, shards=shards, files=files)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        if isinstance(error, CorpusError):
            raise
        raise CorpusError(f"Cannot read {path} ({error}): {REBUILD}.") from error
    for name, (size, _) in files.items():
        try:
            found = (folder / name).stat().st_size
        except OSError as error:
            raise CorpusError(f"{folder / name} is missing or closed to you ({error.strerror}): {REBUILD}.") from error
        if found != size:
            raise CorpusError(f"{folder / name} has {found:,} bytes instead of {size:,}: {REBUILD}.")
    return manifest


def check_contents(folder: Path, manifest: Manifest) -> None:
    """Read all files of a stored corpus; raise CorpusError if one differs from its checksum."""
    for name, (_, digest) in manifest.files.items():
        if _hash(folder / name) != digest:
            raise CorpusError(f"The content of {folder / name} has changed: {REBUILD}.")


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_target(target: Path) -> None:
    """Raise CorpusError if a path exists already, so that no corpus is overwritten."""
    if target.exists():
        raise CorpusError(f"{target} already exists. Delete it, or choose another folder.")


def make_folder(folder: Path) -> None:
    """Make a folder to write into, with its parents; raise CorpusError if that is not possible."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Also fails where the folder exists and is closed to the user.
        (folder / ".trial").touch()
        (folder / ".trial").unlink()
    except OSError as error:
        raise CorpusError(f"Cannot write {folder} ({error.strerror}). Check the permissions and the path.") from error


def finish(work: Path, target: Path, manifest: Manifest, words: Sequence[str], groups: Sequence[str] | None) -> None:
    """Write the vocabulary, the groups and the manifest next to the shards, and give the folder its name.

    Parameters
    ----------
    work : Path
        The folder with the shards, and with nothing else but files of the corpus.
    target : Path
        Its final path, which must not exist.
    manifest : Manifest
        The description, still without `files`.
    words : sequence of V str
        The vocabulary.
    groups : sequence of str, or None
        The titles of the groups.
    """
    write_table(work / VOCABULARY, {"word": list(words)})
    if groups is not None:
        write_table(work / GROUPS, {"title": list(groups)})
    files = {path.name: (path.stat().st_size, _hash(path)) for path in sorted(work.iterdir()) if path.name != MANIFEST}
    about = {"format": FORMAT, **asdict(manifest), "files": files}
    with replacing(work / MANIFEST) as file:
        file.write(json.dumps(about, indent=1).encode())
    os.rename(work, target)


@contextmanager
def writing(target: Path) -> Iterator[Path]:
    """Yield a folder next to `target` to write a corpus into, for `finish`; it is deleted after an error."""
    check_target(target)
    work = target.with_name(f".{target.name}.writing")
    make_folder(work)
    try:
        yield work
    except OSError as error:
        raise CorpusError(f"Cannot write {target} ({error}). Check the free space and the permissions.") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
