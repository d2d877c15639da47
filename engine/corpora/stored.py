"""A corpus on disk that need not fit in memory: its documents are read from mapped files when they
are needed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from functools import cached_property, lru_cache
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, cast, overload

import numpy as np
from scipy.sparse import csr_array

from stickbreaker.engine.corpora.corpus import Corpus, Vocabulary, check_corpus
from stickbreaker.engine.corpora.documents import Documents
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.shards import (
    GROUPS,
    MAX_LOADED,
    STORED_CORPUS,
    VOCABULARY,
    Manifest,
    Shard,
    ShardFiles,
    ShardSize,
    check_contents,
    digest_manifest,
    name_shard,
    read_manifest,
    seal_corpus,
    write_shard,
)
from stickbreaker.engine.corpora.word_choices import WordChoices
from stickbreaker.engine.declarations import check_whole
from stickbreaker.engine.files.verified_files import reading
from stickbreaker.engine.files.whole_files import FileError, building, find_new_folder

SHARD_DOCUMENTS = 65_536
# Corpora that `StoredRows` keeps open.
MAX_CORPORA = 4


class Titles(Sequence[str]):
    """The titles of the documents at some places of a stored corpus, read one at a time."""

    def __init__(self, files: ShardFiles, places: np.ndarray | range) -> None:
        self._files = files
        self._places = places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> "Titles": ...
    def __getitem__(self, row: int | slice) -> "str | Titles":
        if isinstance(row, slice):
            return Titles(self._files, self._places[row])
        return self._files.title(int(self._places[row]))

    def __iter__(self) -> Iterator[str]:
        if isinstance(self._places, range) and self._places == self._files.places:
            return self._files.titles()
        return map(self._files.title, map(int, self._places))


class StoredCorpus(Corpus):
    """A corpus, or some of its documents, in a folder of mapped files.

    It has all the methods of a `Corpus`.

    `counts` and `documents()` load all its documents, and refuse to do so above 2 GB.

    Parameters
    ----------
    files : ShardFiles
        The shards.
    vocabulary : Vocabulary
        The V words.
    places : (D,) int64, optional
        The places of the documents in the stored corpus, in reading order. By default, all in the
        order of the file.
    """

    def __init__(
        self, files: ShardFiles, vocabulary: Vocabulary, places: np.ndarray | None = None
    ) -> None:
        own: dict[str, Any] = {"_files": files, "_places": places, "vocabulary": vocabulary}
        own |= {"name": files.manifest.name, "split_by": files.manifest.split_by}
        for attribute, value in own.items():
            object.__setattr__(self, attribute, value)
        if places is not None:
            places.setflags(write=False)

    _files: ShardFiles
    _places: np.ndarray | None

    def __reduce__(self) -> tuple[Any, ...]:
        return StoredCorpus, (self._files, self.vocabulary, self._places)

    @property
    def folder(self) -> Path:
        """The folder of the stored corpus."""
        return self._files.folder

    @property
    def is_loaded(self) -> bool:
        """Whether all documents are loaded into memory if the corpus is opened by its name."""
        return self._files.manifest.is_loaded

    @property
    def num_documents(self) -> int:
        """The number of documents D."""
        return self._files.manifest.num_documents if self._places is None else len(self._places)

    @property
    def word_choices(self) -> WordChoices | None:
        """How the words were counted, as in `Corpus`."""
        return self._files.manifest.word_choices

    @property
    def vocab_size(self) -> int:
        """The number of words V in the vocabulary."""
        return len(self.vocabulary)

    @cached_property
    def num_tokens(self) -> int:
        """The sum of all counts."""
        if self._places is None:
            return self._files.manifest.num_tokens
        return int(self._files.column("tokens", self._places).sum())

    @cached_property
    def dates(self) -> np.ndarray:
        """The dates (D,), as in `Corpus`."""
        dates = self._files.column("date", self._places).view(
            f"datetime64[{self._files.manifest.date_unit}]"
        )
        return _read_only(dates)

    @property
    def doc_ids(self) -> np.ndarray:
        """The id of each document (D,).

        Read at each access, because mini-batches need only their own.
        """
        return _read_only(self._files.column("id", self._places))

    @property
    def rows(self) -> np.ndarray:
        """The row of each document in its file (D,), as in `Corpus`."""
        return _read_only(self._files.column("row", self._places))

    @cached_property
    def groups(self) -> np.ndarray:
        """The group of each document (D,)."""
        if self._files.manifest.has_groups:
            return _read_only(self._files.column("group", self._places))
        return _read_only(self._places_between(0, self.num_documents))

    @property
    def titles(self) -> Sequence[str]:
        """The titles of the documents."""
        return Titles(self._files, self._files.places if self._places is None else self._places)

    @cached_property
    def group_titles(self) -> Sequence[str]:
        """The titles of the groups."""
        if self._files.manifest.has_groups:
            return tuple(_read_column(self.folder / GROUPS, "title"))
        return Titles(self._files, self._files.places)

    @property
    def counts(self) -> csr_array:
        """The counts (D, V), loaded into memory; raise CorpusError above 2 GB."""
        starts, words, counts = self.documents()
        return csr_array((counts, words, starts), shape=(self.num_documents, self.vocab_size))

    def documents(self) -> Documents:
        """Return all D documents in reading order, loaded into memory.

        Returns
        -------
        Documents
            Read-only arrays.

        Raises
        ------
        CorpusError
            If they need more than 2 GB.
        """
        manifest = self._files.manifest
        num_entries = manifest.num_entries * self.num_documents // max(1, manifest.num_documents)
        if num_entries > MAX_LOADED:
            raise CorpusError(
                f"{self.name}: {self.num_documents:,} documents do not fit in memory. Read them in"
                " mini-batches, or take a sample with select."
            )
        return self._rows(0, self.num_documents)

    def load(self) -> Corpus:
        """Return the same corpus in memory.

        Returns
        -------
        Corpus
            All its documents.
        """
        return Corpus(**{each.name: getattr(self, each.name) for each in fields(Corpus)})

    def check(self) -> None:
        """Compare all files with their checksums.

        Raise CorpusError that names the first file that differs.
        """
        check_contents(self.folder)

    def refer(self, start: int, stop: int) -> "StoredRows":
        """Return the documents from `start` to `stop - 1` in reading order, by their places.

        Parameters
        ----------
        start, stop : int
            Positions in reading order.

        Returns
        -------
        StoredRows
            What another process needs to read them.
        """
        return StoredRows(
            folder=self.folder, digest=self._files.digest, places=self._places_between(start, stop)
        )

    def _rows(self, start: int, stop: int) -> Documents:
        return self._files.gather(self._places_between(start, stop))

    def _ids(self, start: int, stop: int) -> np.ndarray:
        return _read_only(self._files.gather_column("id", self._places_between(start, stop)))

    def _places_between(self, start: int, stop: int) -> np.ndarray:
        return np.arange(start, stop) if self._places is None else self._places[start:stop]

    def _take(self, rows: np.ndarray) -> "StoredCorpus":
        places = rows % max(1, self.num_documents) if self._places is None else self._places[rows]
        return StoredCorpus(self._files, self.vocabulary, places)

    def _shuffle(self, seed: int, window: int) -> np.ndarray:
        """Shuffle the shards, and then the documents of each window of shards together."""
        firsts = self._files.firsts
        rng = np.random.default_rng(seed)
        places = self._places_between(0, self.num_documents)
        owners = np.searchsorted(firsts, places, side="right") - 1
        shards = rng.permutation(len(firsts) - 1)
        window_of = np.empty(len(shards), np.int64)
        window_of[shards] = np.arange(len(shards)) // window
        # Sorting by place first makes the order independent of the present one.
        rows = np.argsort(places, kind="stable")
        rows = rows[np.argsort(window_of[owners[rows]], kind="stable")]
        for part in np.split(rows, np.flatnonzero(np.diff(window_of[owners[rows]])) + 1):
            rng.shuffle(part)
        return rows


class StoredRows(NamedTuple):
    """Some documents of a stored corpus, by their places (S,): another process reads them from its
    own mapped files.

    digest: that of the manifest of the corpus.
    """

    folder: Path
    digest: str
    places: np.ndarray

    def read(self) -> Documents:
        """Return the documents; CorpusError if the folder is unreadable or of another corpus."""
        return _open_files(self.folder, self.digest).gather(self.places)


@lru_cache(MAX_CORPORA)
def _open_files(folder: Path, digest: str) -> ShardFiles:
    manifest = read_manifest(folder)
    if digest_manifest(folder) != digest:
        raise CorpusError(f"{folder} holds another corpus: copy the same folder to all machines.")
    return ShardFiles(folder, manifest)


def _read_only(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array


def _read_column(path: Path, name: str) -> list[str]:
    from pyarrow import parquet

    with reading(path, STORED_CORPUS):
        return cast(list[str], parquet.read_table(path)[name].to_pylist())


def name_unfinished(target: Path) -> Path:
    """The folder of an unfinished build of a corpus."""
    return target.with_name(f".{target.name}.building")


def open_stored(path: str | PathLike[str], name: str = "") -> StoredCorpus:
    """Open a stored corpus without reading its documents, under another name than that of its
    manifest if it is given.

    Raises CorpusError if a file is missing, is incomplete or has another version.
    """
    folder = Path(path).expanduser().absolute()
    manifest = read_manifest(folder)
    if name:
        manifest = replace(manifest, name=name)
    return StoredCorpus(
        ShardFiles(folder, manifest), Vocabulary(tuple(_read_column(folder / VOCABULARY, "word")))
    )


def store_corpus(
    corpus: Corpus, to: str | PathLike[str], shard_documents: int = SHARD_DOCUMENTS
) -> StoredCorpus:
    """Write a corpus to a folder of mapped files, completely or not at all.

    Parameters
    ----------
    corpus : Corpus
        Any corpus, in its present reading order.
    to : str or path
        The folder to make.
    shard_documents : int
        The number of documents in a shard.

    Returns
    -------
    StoredCorpus
        The stored corpus, opened.

    Raises
    ------
    CorpusError
        If the folder exists or cannot be written.
    TypeError
        If it is not a corpus.
    ValueError
        If `shard_documents` is not a whole number of at least 1.
    """
    check_corpus(corpus)
    shard_documents = check_whole("shard_documents", shard_documents, 1)
    try:
        target = find_new_folder(to)
        with building(target) as work:
            write_corpus(corpus, work, shard_documents)
    except FileError as error:
        raise CorpusError(str(error)) from error
    return open_stored(target)


def write_corpus(corpus: Corpus, folder: Path, shard_documents: int, **about: Any) -> None:
    """Write a corpus into an empty folder, or one with its texts; about: for the manifest."""
    own = np.arange(corpus.num_documents)
    is_plain = np.array_equal(corpus.groups, own) and len(corpus.group_titles) == len(own)
    has_groups = corpus.split_by == "group" or not is_plain
    manifest = replace(_write_shards(corpus, folder, shard_documents, has_groups), **about)
    groups = list(map(_as_utf8, corpus.group_titles))
    seal_corpus(folder, manifest, corpus.vocabulary.words, groups)


def _as_utf8(title: object) -> str:
    """A title without lone surrogates, which no file can hold; an empty one if there is none."""
    return "" if title is None else str(title).encode(errors="replace").decode()


def _write_shards(corpus: Corpus, work: Path, shard_documents: int, has_groups: bool) -> Manifest:
    shards: list[ShardSize] = []
    first = 0
    for batch in corpus.batches(shard_documents):
        part = slice(first, first + len(batch.doc_ids))
        first = part.stop
        groups = corpus.groups[part] if has_groups else None
        dates = corpus.dates[part].view(np.int64)
        shard = Shard(
            documents=batch.documents,
            doc_ids=batch.doc_ids,
            dates=dates,
            titles=list(map(_as_utf8, corpus.titles[part])),
            rows=corpus.rows[part],
            groups=groups,
        )
        file = name_shard(len(shards))
        write_shard(work / file, shard)
        shards.append(shard.measure(file))
    return Manifest(
        name=corpus.name,
        num_documents=corpus.num_documents,
        vocab_size=corpus.vocab_size,
        num_tokens=corpus.num_tokens,
        date_unit=np.datetime_data(corpus.dates.dtype)[0],
        split_by=corpus.split_by,
        has_groups=has_groups,
        word_choices=corpus.word_choices,
        shards=tuple(shards),
    )
