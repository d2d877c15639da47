"""Build a corpus on disk from text that does not fit in memory; an interrupted build continues where it stopped."""

import json
import logging
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from stickbreaker.engine.corpora.build import WORDLESS, Columns
from stickbreaker.engine.corpora.corpus import CorpusError
from stickbreaker.engine.corpora.count_files import name_kind
from stickbreaker.engine.corpora.documents import Documents
from stickbreaker.engine.corpora.pieces import (
    BuildPlan,
    Piece,
    PlanFiles,
    choose_words,
    count_pieces,
    describe_plan,
    list_bad,
    open_piece,
    read_piece,
)
from stickbreaker.engine.corpora.remote_files import copy_remote, is_remote
from stickbreaker.engine.corpora.rows import MAX_LISTED, BadRows
from stickbreaker.engine.corpora.shards import (
    TEXTS_AT_ONCE,
    Manifest,
    Shard,
    ShardSize,
    check_target,
    name_shard,
    name_texts,
    seal_corpus,
    write_shard,
    write_table,
)
from stickbreaker.engine.corpora.sources import find_source
from stickbreaker.engine.corpora.stored import SHARD_DOCUMENTS, StoredCorpus, open_stored
from stickbreaker.engine.corpora.table_files import TABLE_SUFFIXES
from stickbreaker.engine.corpora.words import WordChoices
from stickbreaker.engine.progress_bars import Report, show_share
from stickbreaker.engine.whole_files import replacing, sync_folder

DATE_UNITS = ("Y", "M", "D", "s")
MAX_MEMORY = 1_000_000_000
PLAN = "plan.json"
PIECES = "pieces"

Source = str | PathLike[str]
logger = logging.getLogger(__name__)


def build(  # noqa: PLR0913
    source: Source | Sequence[Source],
    *,
    to: str | PathLike[str],
    text: str | None = None,
    date: str | None = None,
    title: str | None = None,
    group: str | None = None,
    words: WordChoices | None = None,
    keeps_text: bool = False,
    max_memory: int = MAX_MEMORY,
    shard_documents: int = SHARD_DOCUMENTS,
    verbose: bool = False,
    callback: Callable[[float], object] | None = None,
) -> StoredCorpus:
    """Build a corpus on disk, shard by shard; the text and the counts need not fit in memory.

    The first pass counts all words, the second writes the counts of the chosen words. If the build was interrupted, the
    same call continues with the first document that has not been counted. The words are those that `load_corpus`
    chooses. The form of the dates is the one that most of the first 50,000 rows have.

    Parameters
    ----------
    source : str, path, or sequence of them
        Files or folders of text, as for `load_corpus`, of any size. A folder of tables is read table by table, in the
        order of their names. An address such as `s3://bucket/texts/` needs fsspec; its files are copied first.
    to : str or path
        The folder to make.
    text, date, title, group : str, optional
        The columns, as for `load_corpus`.
    words : WordChoices, optional
        Which words are counted. By default, `WordChoices()`.
    keeps_text : bool
        Whether the texts are stored with the counts.
    max_memory : int
        The approximate limit in bytes of the counts in memory; a shard that reaches it has fewer documents.
    shard_documents : int
        A shard ends with the chunk of 500 rows in which it reaches this number of documents.
    verbose : bool
        Whether a progress bar is shown.
    callback : callable, optional
        Receives the share of the work that is done, from 0 to 1. It may raise an exception to cancel.

    Returns
    -------
    StoredCorpus
        The corpus, opened.

    Raises
    ------
    CorpusError
        If a source cannot be read, no words remain, the folder exists or cannot be written, or an unfinished build
        with other settings or files is in the way.
    """
    with _working_in(to) as (target, work), show_share(verbose, callback) as report:
        paths = tuple(map(str, list_sources(source, work)))
        columns = Columns(text=text, date=date, title=title, group=group)
        plan = BuildPlan(
            paths=paths,
            columns=columns,
            words=words or WordChoices(),
            keeps_text=keeps_text,
            max_memory=max_memory,
            shard_documents=shard_documents,
        )
        _build(plan, work, target, report)
    return open_stored(target)


@contextmanager
def _working_in(to: str | PathLike[str]) -> Iterator[tuple[Path, Path]]:
    """Make the folder of an unfinished build, and name it in errors; it stays only if a build with a piece stopped.

    It yields the folder to make and the folder of the unfinished build.
    """
    target = Path(to).expanduser().absolute()
    check_target(target)
    work = target.with_name(f".{target.name}.building")
    _make_folder(work)
    try:
        yield target, work
    except CorpusError:
        if read_piece(work / PIECES, 0) is None:
            shutil.rmtree(work, ignore_errors=True)
        raise
    except OSError as error:
        raise CorpusError(
            f"The build of {target} stopped ({error}). Finished work is kept in {work}: check the free space and the"
            " permissions, and build again with the same arguments."
        ) from error
    shutil.rmtree(work, ignore_errors=True)


def _make_folder(folder: Path) -> None:
    """Make the folder of the unfinished build; raise CorpusError if nothing can be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(folder / "trial"):
            pass
        (folder / "trial").unlink()
    except OSError as error:
        reason = error.strerror or error
        raise CorpusError(f"Cannot write {folder} ({reason}). Check the permissions and the path.") from error


def list_sources(source: Source | Sequence[Source], work: Path) -> list[Path]:
    """List the files and folders to read, in order; remote files are copied into `work` first."""
    sources = [source] if isinstance(source, (str, PathLike)) else list(source)
    found: list[Path] = []
    for each in sources:
        # Copies of another address must not be taken for those of this one.
        copies = work / f"copies-{sha256(str(each).encode()).hexdigest()[:16]}"
        found += copy_remote(str(each), copies) if is_remote(str(each)) else _list_tables(Path(each))
    for path in found:
        if name_kind(path):
            raise CorpusError(f"{path} contains word counts. Load it with load_corpus, and call store_corpus.")
    if not found:
        raise CorpusError("There is no source. Name a file or a folder.")
    return found


def _list_tables(path: Path) -> list[Path]:
    """The tables of a folder in the order of their names, if it has any; otherwise the file or folder itself."""
    found = find_source(path, max_bytes=float("inf")).absolute()
    if not found.is_dir():
        return [found]
    tables = [file for file in sorted(found.iterdir()) if file.suffix.lower() in TABLE_SUFFIXES and file.name[0] != "."]
    return tables or [found]


def _keep_plan(plan: BuildPlan, work: Path) -> None:
    """Write the plan of a new build, or check that an unfinished build with complete pieces has the same plan."""
    path, described = work / PLAN, json.loads(json.dumps(describe_plan(plan)))
    if not path.is_file() or read_piece(work / PIECES, 0) is None:
        with replacing(path) as file:
            file.write(json.dumps(described).encode())
    elif json.loads(path.read_text(encoding="utf-8")) != described:
        raise CorpusError(
            f"{work} holds an unfinished build with other arguments or files. Use the same ones again, or delete this"
            " folder."
        )


def _build(plan: BuildPlan, work: Path, target: Path, report: Report) -> None:
    _keep_plan(plan, work)
    folder, corpus = work / PIECES, work / "corpus"
    for each in (folder, corpus):
        each.mkdir(exist_ok=True)
    pieces = count_pieces(plan, folder, lambda share: report(0.85 * share, "Counting words"))
    bad = BadRows()
    for piece in pieces:
        bad.add(list_bad(piece), piece.num_bad)
    if not any(piece.num_documents for piece in pieces):
        reason = f"First problem: {bad.listed[0]}" if bad.listed else "Put texts into the rows below the first"
        raise CorpusError(f"{plan.paths[0]} has no usable rows. {reason}.")
    report(0.86, "Choosing words")
    words = choose_words(folder, pieces, plan.words)
    shards = _Shards(plan, work, words, pieces)
    for number, piece in enumerate(pieces):
        shards.write(number, piece, bad)
        report(0.88 + 0.12 * (number + 1) / len(pieces), "Writing shards")
    manifest = shards.describe(target.name, bad.count)
    seal_corpus(corpus, manifest, words, list(shards.groups) if manifest.has_groups else None)
    os.rename(corpus, target)
    sync_folder(target.parent)
    for note in PlanFiles(plan).table(0).notes:
        logger.warning(note)
    if bad.count:
        listed = "; ".join(map(str, bad.listed[:5]))
        logger.warning("%s: skipped %s rows. First: %s", target, f"{bad.count:,}", listed)


class _Shards:
    """The second pass: each piece becomes a shard with the chosen words only."""

    def __init__(self, plan: BuildPlan, work: Path, words: Sequence[str], pieces: Sequence[Piece]) -> None:
        self._plan, self._pieces, self._corpus = plan, work / PIECES, work / "corpus"
        self._ids = {word: number for number, word in enumerate(words)}
        units = [piece.date_unit for piece in pieces if piece.num_documents]
        self._unit = max(units, key=DATE_UNITS.index) if plan.columns.date else "D"
        self._sources = PlanFiles(plan)
        self._sizes: list[ShardSize] = []
        self.groups: dict[str, int] = {}

    def write(self, number: int, piece: Piece, bad: BadRows) -> None:
        """Write the shard of a piece, unless it is complete; documents without a chosen word are skipped."""
        words, documents, columns = open_piece(self._pieces, number)
        documents, kept = _keep_words(documents, np.array([self._ids.get(word, -1) for word in words], np.int32))
        self._report_wordless(columns, ~kept, bad)
        rows = np.flatnonzero(kept)
        groups = self._number_groups(columns.column("group").take(rows).to_pylist())
        first = sum(size.num_documents for size in self._sizes)
        dates = columns.column("date").to_numpy()[rows].view(f"datetime64[{piece.date_unit}]")
        shard = Shard(
            documents=documents,
            doc_ids=np.arange(first, first + len(rows)),
            dates=dates.astype(f"datetime64[{self._unit}]").view(np.int64),
            titles=columns.column("title").take(rows),
            groups=groups,
        )
        path = self._corpus / name_shard(number)
        if self._plan.keeps_text and not (self._corpus / name_texts(number)).exists():
            self._write_texts(number, rows, shard.doc_ids)
        size = ShardSize(
            file=path.name,
            num_documents=len(rows),
            num_entries=len(documents.words),
            num_tokens=documents.num_tokens,
        )
        self._sizes.append(size if path.exists() else write_shard(path, shard))

    def _number_groups(self, names: list[str]) -> np.ndarray | None:
        if self._plan.columns.group is None:
            return None
        return np.array([self.groups.setdefault(name, len(self.groups)) for name in names], np.int64)

    def _report_wordless(self, columns: Any, is_wordless: np.ndarray, bad: BadRows) -> None:
        places = np.flatnonzero(is_wordless)
        files, rows = (columns.column(name).to_numpy()[places[:MAX_LISTED]].tolist() for name in ("file", "row"))
        listed = [self._sources.table(file).name_bad(row, WORDLESS) for file, row in zip(files, rows, strict=True)]
        bad.add(listed, len(places))

    def _write_texts(self, number: int, rows: np.ndarray, doc_ids: np.ndarray) -> None:
        from pyarrow import parquet

        texts = parquet.read_table(self._pieces / f"texts-{number:05}.parquet")["text"].take(rows)
        write_table(self._corpus / name_texts(number), {"document": doc_ids, "text": texts}, TEXTS_AT_ONCE)

    def describe(self, name: str, num_skipped: int) -> Manifest:
        """Describe all shards."""
        is_grouped = self._plan.columns.group is not None
        return Manifest(
            name=name,
            num_documents=sum(size.num_documents for size in self._sizes),
            vocab_size=len(self._ids),
            num_tokens=sum(size.num_tokens for size in self._sizes),
            date_unit=self._unit,
            split_by="group" if is_grouped else "document",
            has_groups=is_grouped,
            has_texts=self._plan.keeps_text,
            source=", ".join(Path(path).name for path in self._plan.paths[:3]),
            num_skipped=num_skipped,
            shards=tuple(self._sizes),
        )


def _keep_words(documents: Documents, ids: np.ndarray) -> tuple[Documents, np.ndarray]:
    """Number words by `ids` (W,), without those of id -1; return the documents with words, and a mask (S,) of them."""
    words = ids[documents.words]
    is_kept = words >= 0
    ends = np.append(0, is_kept.cumsum())[documents.starts]
    has_words = np.diff(ends) > 0
    starts = np.append(0, ends[1:][has_words])
    return Documents(starts=starts, words=words[is_kept], counts=documents.counts[is_kept]), has_words
