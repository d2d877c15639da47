"""The first pass of a build on disk: texts are counted piece by piece, and the pieces' words are
chosen together.

The sources are divided into parts, which are counted independently of each other. A piece is some
documents of a part, with the words that occur in them. It is written to three files; the last of
them, with the extension .json, marks it as complete. Another file marks a complete part. An
interrupted build continues after the last complete piece of each part.
"""

import heapq
import json
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from hashlib import sha256
from itertools import chain, groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from stickbreaker.engine.corpora.columns import (
    Cells,
    Columns,
    date_rows,
    explain_groups,
    find_date_form,
    list_kept,
    list_notes,
    name_document,
    resolve_columns,
    take_chunk,
)
from stickbreaker.engine.corpora.corpus import Vocabulary
from stickbreaker.engine.corpora.count_tables import refuse_count_table
from stickbreaker.engine.corpora.documents import Documents
from stickbreaker.engine.corpora.known_words import KnownWords
from stickbreaker.engine.corpora.rows import (
    NO_GROUP,
    NOTHING,
    BadRow,
    BadRows,
    Chunk,
    CorpusError,
    LeftOut,
    Parts,
    Table,
)
from stickbreaker.engine.corpora.shards import map_arrow, write_arrow, write_table
from stickbreaker.engine.corpora.sources import count_bytes, find_source, list_files, name_source
from stickbreaker.engine.corpora.word_choices import WordChoices
from stickbreaker.engine.corpora.words import (
    NUM_FIRST,
    WordCounter,
    count_columns,
    explain_no_words,
    explain_texts,
    keep_words,
    resolve_choices,
)
from stickbreaker.engine.declarations import check_whole
from stickbreaker.engine.files.whole_files import replacing

logger = logging.getLogger(__name__)
# Rows from which the form of the dates is found.
DATED_ROWS = 50_000
# A part has at most as many bytes, or it is one file, or one row group of a Parquet file.
PART_BYTES = 128 * 2**20
WORDS_AT_ONCE = 8_192
# Of a Python text, at most.
BYTES_PER_LETTER = 4
# A source with less text is read once.
SMALL_BYTES = 64_000_000
TERMS_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class BuildPlan:
    """Everything that decides the content of a corpus on disk; paths: the sources, in order.

    A piece ends with the chunk in which its counts take `max_memory` bytes, or it has
    `shard_documents`. known: the words of the corpus, if they are given.
    """

    paths: tuple[str, ...]
    columns: Columns
    words: WordChoices
    keeps_text: bool
    max_memory: int
    shard_documents: int
    known: Vocabulary | None = None

    def __post_init__(self) -> None:
        for name in ("max_memory", "shard_documents"):
            object.__setattr__(self, name, check_whole(name, getattr(self, name), 1))


class Part(NamedTuple):
    """A part of the sources: consecutive files, or consecutive row groups of one Parquet file.

    file: the place of its first file. groups: the first row group, and the one after the last;
    None for whole files.
    """

    number: int
    file: int
    num_files: int
    groups: tuple[int, int] | None = None


class Piece(NamedTuple):
    """The content of the file that marks a piece as complete.

    name: the number of its part, and its number in the part. file, chunk: where the next piece
    begins, as the place of the file, and the number of its chunks in the part that have been read.
    date_unit: the precision of the dates. bad: the first of the skipped rows. num_unspaced,
    num_repaired: as in `WordCounter`. num_ungrouped: documents without a group. left: what is left
    out of the texts.
    """

    name: str
    file: int
    chunk: int
    num_documents: int
    date_unit: str
    num_bad: int
    bad: list[tuple[str, int | None, str]]
    num_unspaced: int = 0
    num_repaired: int = 0
    num_ungrouped: int = 0
    left: Parts = NOTHING


class PieceDocuments(NamedTuple):
    """The documents of a piece: counts of the piece's own words, and a table of their other
    columns.
    """

    words: list[str]
    documents: Documents
    columns: Any


class PlanFiles:
    """The files of a plan as one stream of chunks."""

    def __init__(self, plan: BuildPlan) -> None:
        self.plan = plan
        self.table = lru_cache(1)(self._open)
        # All chunks, with their places, if they are few and have been read once.
        self._chunks: list[tuple[int, int, Chunk]] = []
        # What to say about the sources, once the form of the dates is known.
        self.notes: tuple[str, ...] = ()

    def _open(self, number: int) -> Table:
        source = find_source(self.plan.paths[number], max_bytes=float("inf"), is_one=False)
        table = source.open(self.plan.columns)
        if self.plan.columns.text is None:
            refuse_count_table(table)
        return table

    def columns(self, number: int) -> Columns:
        """Return the columns of a file, completed and checked."""
        return resolve_columns(self.table(number), self.plan.columns)

    def parts(self) -> list[Part]:
        """Divide the files into parts, by their sizes alone."""
        parts: list[Part] = []
        first = total = 0
        for number, path in enumerate(map(Path, self.plan.paths)):
            groups: tuple[int, ...] = ()
            size = count_bytes(path)
            if name_source(path).kind == "Parquet" and path.is_file():
                groups = self.table(number).group_bytes
                size = sum(groups)
            if number > first and total + size > PART_BYTES:
                parts.append(Part(number=len(parts), file=first, num_files=number - first))
                first = number
                total = 0
            total += size
            if total > PART_BYTES and len(groups) > 1:
                for span in _divide(groups):
                    parts.append(Part(number=len(parts), file=number, num_files=1, groups=span))
                first = number + 1
                total = 0
        if first < len(self.plan.paths):
            parts.append(
                Part(number=len(parts), file=first, num_files=len(self.plan.paths) - first)
            )
        return parts

    def chunks(self, part: Part, file: int = 0, chunk: int = 0) -> Iterator[tuple[int, int, Chunk]]:
        """Yield the place of the file, the number of the chunk in it, and the chunk, from a chunk
        of a part on.
        """
        if self._chunks:
            yield from (each for each in self._chunks if each[:2] >= (file, chunk))
            return
        for number in range(max(file, part.file), part.file + part.num_files):
            wanted = self.columns(number).names
            table = self.table(number)
            if part.groups is None or table.read_groups is None:
                chunks = table.read(wanted)
            else:
                chunks = table.read_groups(wanted, *part.groups)
            for place, some in enumerate(chunks):
                if (number, place) >= (file, chunk):
                    yield number, place, some

    def date_form(self) -> str:
        """Return the form of the dates in the first rows with text; "" without a date column."""
        if self.plan.columns.date is None:
            self.notes = self.table(0).notes
            return ""
        cells = Cells(rows=[], dates=[], titles=[], groups=[])
        bad = BadRows()
        parts = self.parts()
        found: list[tuple[int, int, Chunk]] = []
        num_bytes = 0
        for number, place, chunk in chain.from_iterable(map(self.chunks, parts)):
            texts = take_chunk(chunk, self.columns(number), cells, bad, self.table(number))
            num_bytes += BYTES_PER_LETTER * sum(map(len, texts))
            if len(parts) == 1 and num_bytes <= min(SMALL_BYTES, self.plan.max_memory):
                found.append((number, place, chunk))
            else:
                found.clear()
            if len(cells.rows) >= DATED_ROWS:
                break
        else:
            self._chunks = found
        form = find_date_form(self.plan.columns, cells)
        self.notes = list_notes(self.table(0), self.plan.columns, cells, form)
        return form


def resolve_plan(plan: BuildPlan) -> BuildPlan:
    """Choose the tokenizer that the first texts need, and say so.

    Raises CorpusError if its library is missing.
    """
    sources = PlanFiles(plan)
    texts: list[str] = []
    cells = Cells(rows=[], dates=[], titles=[], groups=[])
    for number, _, chunk in islice(chain.from_iterable(map(sources.chunks, sources.parts())), 20):
        table = sources.table(number)
        texts += take_chunk(chunk, sources.columns(number), cells, BadRows(), table)
        if len(texts) >= NUM_FIRST:
            break
    words, notes = resolve_choices(plan.words, texts[:NUM_FIRST])
    for note in notes:
        logger.warning(note)
    return replace(plan, words=words)


def _divide(sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Divide row groups of these sizes into spans of at most PART_BYTES, or of one row group.

    >>> list(_divide([PART_BYTES // 2, PART_BYTES // 2, 1, 2 * PART_BYTES, 1]))
    [(0, 2), (2, 3), (3, 4), (4, 5)]
    """
    first = total = 0
    for number, size in enumerate(sizes):
        if number > first and total + size > PART_BYTES:
            yield first, number
            first = number
            total = 0
        total += size
    yield first, len(sizes)


def has_pieces(folder: Path) -> bool:
    """Whether any piece is complete."""
    return any(folder.glob("piece-*.json"))


def _name_piece(part: int, number: int) -> str:
    return f"{part:05}-{number:05}"


def _read_piece(folder: Path, name: str) -> Piece | None:
    """Read the file that marks a piece as complete; None if the piece is not complete."""
    try:
        return Piece(**json.loads((folder / f"piece-{name}.json").read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None


def _read_pieces(folder: Path, part: Part) -> list[Piece]:
    """The complete pieces of a part."""
    pieces: list[Piece] = []
    while (piece := _read_piece(folder, _name_piece(part.number, len(pieces)))) is not None:
        pieces.append(piece)
    return pieces


def _part_path(folder: Path, part: Part) -> Path:
    return folder / f"part-{part.number:05}.json"


# Counts parts somewhere, and receives the share of them that is done.
CountParts = Callable[[str, Sequence[Part], Callable[[float], object]], None]


def count_pieces(
    plan: BuildPlan,
    folder: Path,
    report: Callable[[float], object],
    count_parts: CountParts | None = None,
) -> list[Piece]:
    """Count all texts into pieces in `folder`, after those that are already complete.

    Return all pieces in order.

    `report` receives the share of the sources that has been read. count_parts: counts the parts
    elsewhere.
    """
    sources = PlanFiles(plan)
    parts = sources.parts()
    missing = [part for part in parts if not _part_path(folder, part).exists()]
    form = sources.date_form()
    for note in sources.notes:
        logger.warning(note)
    num_done = len(parts) - len(missing)

    def report_part(before: int, share: float) -> None:
        report((num_done + before + share) / len(parts))

    if count_parts is not None:
        count_parts(form, missing, lambda share: report_part(0, share * len(missing)))
    else:
        for number, part in enumerate(missing):
            count_part(sources, part, form, folder, partial(report_part, number))
    pieces = [piece for part in parts for piece in _read_pieces(folder, part)]
    counted = (
        sum(piece.num_unspaced for piece in pieces),
        sum(piece.num_repaired for piece in pieces),
    )
    grouped = explain_groups(
        sum(piece.num_ungrouped for piece in pieces), sum(piece.num_documents for piece in pieces)
    )
    left = LeftOut()
    for piece in pieces:
        left.add(piece.left)
    for note in filter(None, (*explain_texts(*counted), *grouped, left.note)):
        logger.warning(note)
    return pieces


def count_part(
    sources: PlanFiles,
    part: Part,
    form: str,
    folder: Path,
    report: Callable[[float], object] = lambda share: None,
) -> None:
    """Count one part, after its pieces that are already complete; form: that of the dates."""
    pieces = _read_pieces(folder, part)
    file, chunk = (pieces[-1].file, pieces[-1].chunk) if pieces else (part.file, 0)
    number = len(pieces)
    counter = _PieceCounter(sources.plan, folder)
    for place, chunk_number, some in sources.chunks(part, file, chunk):
        counter.add(sources, place, some, form)
        report((place - part.file + some.share) / part.num_files)
        if counter.is_full:
            counter.write(_name_piece(part.number, number), place, chunk_number + 1)
            number = number + 1
            counter = _PieceCounter(sources.plan, folder)
    if counter.num_seen:
        counter.write(_name_piece(part.number, number), part.file + part.num_files, 0)
    with replacing(_part_path(folder, part)):
        pass


class _PieceCounter:
    """Counts the documents of one piece."""

    def __init__(self, plan: BuildPlan, folder: Path) -> None:
        self._plan = plan
        self._folder = folder
        self._counter = WordCounter(plan.words)
        self._bad = BadRows()
        self._files: list[int] = []
        self._rows: list[int] = []
        self._titles: list[str] = []
        self._groups: list[str] = []
        self._texts: list[str] = []
        self._dates: list[np.ndarray] = []

    @property
    def num_seen(self) -> int:
        """The number of rows, good and bad."""
        return len(self._rows) + self._bad.count

    @property
    def is_full(self) -> bool:
        """Whether the piece has as many documents, or takes as much memory, as the plan allows."""
        num_bytes = self._counter.num_bytes + BYTES_PER_LETTER * sum(map(len, self._texts))
        return len(self._rows) >= self._plan.shard_documents or num_bytes >= self._plan.max_memory

    def add(self, sources: PlanFiles, number: int, chunk: Chunk, form: str) -> None:
        """Count the rows of a chunk."""
        table = sources.table(number)
        columns = sources.columns(number)
        cells = Cells(rows=[], dates=[], titles=[], groups=[])
        bad = BadRows()
        texts = take_chunk(chunk, columns, cells, bad, table)
        dates = date_rows(table, columns, cells, bad, form)
        kept = list_kept(columns, dates).tolist()
        self._bad.add(bad.listed, bad.count)
        self._bad.left.add(bad.left.parts)
        self._counter.add(texts[row] for row in kept)
        self._dates.append(dates[kept])
        self._files += [number] * len(kept)
        self._rows += [cells.rows[row] for row in kept]
        self._titles += [name_document(table, cells.rows[row], cells.titles[row]) for row in kept]
        self._groups += [cells.groups[row] for row in kept]
        if self._plan.keeps_text:
            self._texts += [texts[row] for row in kept]

    def write(self, name: str, file: int, chunk: int) -> None:
        """Write the piece; the next one begins at a chunk of a file."""
        import pyarrow as pa

        counts, words = self._counter.everything()
        dates = np.concatenate(self._dates)
        frequency, totals = count_columns(counts)
        described = {
            "word": pa.array(words, pa.large_string()),
            "documents": frequency.astype(np.int64),
            "total": totals.astype(np.int64),
        }
        path = self._folder / f"words-{name}.arrow"
        write_arrow(path, pa.RecordBatch.from_pydict(described), WORDS_AT_ONCE)
        indices = pa.array(counts.indices.astype(np.int32, copy=False))
        entries = pa.StructArray.from_arrays([indices, pa.array(counts.data)], ["word", "count"])
        columns = {
            "words": pa.LargeListArray.from_arrays(
                pa.array(counts.indptr.astype(np.int64)), entries
            ),
            "date": dates.view(np.int64),
            "file": np.array(self._files, np.int64),
            "row": np.array(self._rows, np.int64),
            "title": pa.array(self._titles, pa.large_string()),
            "group": pa.array(self._groups, pa.large_string()),
        }
        write_arrow(self._folder / f"piece-{name}.arrow", pa.RecordBatch.from_pydict(columns))
        if self._plan.keeps_text:
            texts = {"text": pa.array(self._texts, pa.large_string())}
            write_table(self._folder / f"texts-{name}.parquet", texts, compression="lz4")
        bad = [(row.file, row.row, row.reason) for row in self._bad.listed]
        unit = np.datetime_data(dates.dtype)[0]
        piece = Piece(
            name=name,
            file=file,
            chunk=chunk,
            num_documents=len(self._rows),
            date_unit=unit,
            num_bad=self._bad.count,
            bad=bad,
            num_unspaced=self._counter.num_unspaced,
            num_repaired=self._counter.num_repaired,
            num_ungrouped=self._groups.count(NO_GROUP),
            left=self._bad.left.parts,
        )
        with replacing(self._folder / f"piece-{name}.json") as out:
            out.write(json.dumps(piece._asdict()).encode())


def open_piece(folder: Path, name: str) -> PieceDocuments:
    """Map the documents of a complete piece."""
    batch = map_arrow(folder / f"piece-{name}.arrow").get_batch(0)
    lists = batch.column("words")
    words, counts = (lists.values.field(place).to_numpy() for place in range(2))
    listed = map_arrow(folder / f"words-{name}.arrow").read_all()["word"].to_pylist()
    return PieceDocuments(
        words=listed,
        documents=Documents(starts=lists.offsets.to_numpy(), words=words, counts=counts),
        columns=batch,
    )


def choose_plan_words(folder: Path, pieces: Sequence[Piece], plan: BuildPlan) -> list[str]:
    """Choose the words of the corpus from all pieces, as `limit_words` does in memory.

    They are those that are known, or in alphabetical order.

    Raises CorpusError if no word remains.
    """
    merged = heapq.merge(*(_read_words(folder, piece.name) for piece in pieces))
    terms = ((word, *_add(rows)) for word, rows in groupby(merged, key=itemgetter(0)))
    if plan.known is not None:
        known = KnownWords(plan.known, plan.words)
        if note := known.find_unknown((word, total) for word, _, total in terms).note:
            logger.warning(note)
        return list(plan.known)
    choices = plan.words
    num_rows = sum(piece.num_documents for piece in pieces)
    min_documents, max_share = choices.limits(num_rows)
    limits = (min_documents, max_share * num_rows)
    kept: list[tuple[str, int, int]] = []
    has_words = False
    while block := list(islice(terms, TERMS_AT_ONCE)):
        has_words = True
        # The most frequent words of all are among those kept so far and the most frequent of this
        # block.
        candidates = kept + block
        frequency, totals = (
            np.array([term[place] for term in candidates], np.int64) for place in (1, 2)
        )
        places = keep_words(frequency, totals, choices.max_words, limits).tolist()
        kept = [candidates[place] for place in places]
    if not kept:
        raise CorpusError(explain_no_words(choices, num_rows, has_words))
    return [word for word, _, _ in kept]


def _read_words(folder: Path, name: str) -> Iterator[tuple[str, int, int]]:
    reader = map_arrow(folder / f"words-{name}.arrow")
    batches = (reader.get_batch(place) for place in range(reader.num_record_batches))
    return chain.from_iterable(
        zip(*(column.to_pylist() for column in batch.columns), strict=True) for batch in batches
    )


def _add(rows: Iterator[tuple[str, int, int]]) -> tuple[int, int]:
    documents = total = 0
    for _, in_documents, in_total in rows:
        documents += in_documents
        total += in_total
    return documents, total


def describe_plan(plan: BuildPlan) -> dict[str, Any]:
    """Describe a plan with the sizes and times of its files, to recognize an unfinished build with
    the same plan.
    """
    return {
        **asdict(plan),
        "known": plan.known and sha256("\n".join(plan.known).encode()).hexdigest(),
        "part_bytes": PART_BYTES,
        "files": [describe_source(Path(path)) for path in plan.paths],
    }


def describe_source(path: Path) -> list[Any]:
    """The size and time of a file; for a folder a digest of those of all files in it."""
    if not path.is_dir():
        return [path.stat().st_size, path.stat().st_mtime_ns]
    digest = sha256()
    for file in list_files(path):
        stat = file.stat()
        digest.update(
            f"{file.relative_to(path)}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode(
                "utf-8", "replace"
            )
        )
    return [digest.hexdigest()]


def list_bad(piece: Piece) -> list[BadRow]:
    """The first skipped rows of a piece."""
    return [BadRow(file=file, row=row, reason=reason) for file, row, reason in piece.bad]
