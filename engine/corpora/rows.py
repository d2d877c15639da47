"""What readers of files return: rows of text in chunks, or counts, and the rows that are skipped,
with the reasons.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from scipy.sparse import csr_array

MAX_COLUMNS = 1_000
MAX_LISTED = 1_000
# The longest text and the longest line of a file, in characters.
MAX_TEXT = 10_000_000
# The largest file of one text, which may contain pictures, in bytes.
MAX_FILE = 20 * MAX_TEXT
# What to do with a source that does not fit in memory.
TOO_LARGE = "Build it on disk with engine.build, or take a sample"
# The group of documents without one; a cell with this text means the same.
NO_GROUP = "(none)"
CHUNK_ROWS = 500
CHUNK_TEXT = 1 << 21
# How many characters of a text of a file a message repeats, and of a name in a folder or archive.
MAX_SHOWN = 40
MAX_NAME = 60


class CorpusError(ValueError):
    """A corpus cannot be read, built or selected; the message names the place and the remedy."""


# How much of each kind of part of texts is left out, and of how much.
Parts = Mapping[str, tuple[int, int]]
NOTHING: Parts = MappingProxyType({})


@dataclass
class LeftOut:
    """The parts of texts that are left out, counted while they are read."""

    parts: dict[str, tuple[int, int]] = field(default_factory=dict)

    def add(self, parts: Parts) -> None:
        """Add what is left out of one text, or of several."""
        for what, (number, of) in parts.items():
            before = self.parts.get(what, (0, 0))
            self.parts[what] = (before[0] + number, before[1] + of)

    def take(self) -> Parts:
        """Return what was added since the last call."""
        taken = self.parts
        self.parts = {}
        return taken

    @property
    def note(self) -> str:
        """Say what is left out, with its share; "" if nothing is."""
        said = [f"{what} ({left / of:.1%})" for what, (left, of) in self.parts.items() if left]
        return f"Left out: {', '.join(said)}." if said else ""


class BadRow(NamedTuple):
    """A row that is skipped, and the reason; `row` is None for a whole file."""

    file: str
    row: int | None
    reason: str

    def __str__(self) -> str:
        place = self.file
        if self.row is not None:
            place += f", row {self.row}"
        return f"{place}: {self.reason}"


# The number and the cells of a row, or the reason why it is skipped.
Row = tuple[int, list[str]] | BadRow


@dataclass
class BadRows:
    """The number of skipped rows, the first `MAX_LISTED` of them in order, and what is left out of
    the texts of the others.
    """

    count: int = 0
    listed: list[BadRow] = field(default_factory=list)
    left: LeftOut = field(default_factory=LeftOut)

    def add(self, rows: Sequence[BadRow], count: int | None = None) -> None:
        """Add skipped rows; count: their number, if `rows` has only the first of them."""
        self.count += len(rows) if count is None else count
        if listed := rows[: max(0, MAX_LISTED - len(self.listed))]:
            self.listed += listed
            self.listed.sort(key=lambda row: (row.file, row.row is None, row.row or 0))


class Chunk(NamedTuple):
    """Some rows of a table: their numbers as in a spreadsheet, and the cells of each column.

    share: the share of the file that has been read, 0 to 1. left: what is left out of the texts.
    """

    rows: list[int]
    cells: dict[str, list[str]]
    bad: list[BadRow]
    share: float
    left: Parts = NOTHING


class Content(NamedTuple):
    """What a file with one text contains.

    left: what is left out of the text. others: further texts of the file.
    """

    text: str
    title: str = ""
    date: str = ""
    author: str = ""
    left: Parts = NOTHING
    others: tuple["Content", ...] = ()


@dataclass(frozen=True)
class Table:
    """A file or folder with one text per row, and notes to show to the user.

    `read(columns)` yields all rows of these columns in chunks, from the start; each cell is text.
    has: columns whose meaning is certain, such as "text" and "title" of a folder. files: the names
    of the files in `path`, if each file is a row. date_note: how the dates were found. sheets:
    those of a workbook that have cells, and first the one that is read.

    group_bytes: the sizes of the row groups of a Parquet file, uncompressed.
    `read_groups(columns, first, last)` yields the rows of the groups from `first` to `last - 1`.
    """

    path: Path
    kind: str
    columns: tuple[str, ...]
    read: Callable[[Sequence[str]], Iterator[Chunk]]
    notes: tuple[str, ...] = ()
    has: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    date_note: str = ""
    sheets: tuple[str, ...] = ()
    group_bytes: tuple[int, ...] = ()
    read_groups: Callable[[Sequence[str], int, int], Iterator[Chunk]] | None = None

    def name_bad(self, row: int, reason: str) -> BadRow:
        """Describe a row to be skipped, by its number, or by its file if each file is a row."""
        if self.files:
            name = f"{self.path.name}/{shorten(self.files[row - 1], MAX_NAME)}"
            return BadRow(file=name, row=None, reason=reason)
        return BadRow(file=str(self.path), row=row, reason=reason)


def gather(
    file: str,
    columns: Sequence[str],
    share: Callable[[], float],
    rows: Iterable[Row],
    left: LeftOut | None = None,
) -> Iterator[Chunk]:
    """Group rows into chunks of limited length; the last chunk has share 1.

    file: its name in messages. share: returns the share of the file that has been read. left:
    receives what is left out of the texts of the rows.
    """
    left = left or LeftOut()
    kept: list[tuple[int, list[str]]] = []
    bad: list[BadRow] = []
    size = 0
    for row in rows:
        if not isinstance(row, BadRow) and (reason := _find_fault(row[1])):
            row = BadRow(file=file, row=row[0], reason=reason)
        if isinstance(row, BadRow):
            bad.append(row._replace(file=repair(row.file)))
        else:
            kept.append((row[0], [repair(cell) for cell in row[1]]))
            size += sum(map(len, row[1]))
        if len(kept) + len(bad) >= CHUNK_ROWS or size >= CHUNK_TEXT:
            yield _make_chunk(columns, kept, bad, min(1.0, share()))._replace(left=left.take())
            kept = []
            bad = []
            size = 0
    yield _make_chunk(columns, kept, bad, 1.0)._replace(left=left.take())


class Counted(NamedTuple):
    """The content of a file of word counts: counts (D, V) and words, skipped lines, and notes.

    kind: the name of its format; empty for a table. faulty: the documents that were skipped,
    numbered from 0; their rows of `counts` are empty. titles, rows: the names and first rows of the
    documents of a table. sheets: as for a table.
    """

    kind: str
    counts: csr_array
    words: list[str]
    bad: BadRows
    faulty: list[int]
    notes: tuple[str, ...]
    titles: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()
    sheets: tuple[str, ...] = ()


def explain_fault(error: Exception, place: str) -> str:
    """The reason why a text is skipped, from an error that begins with its place."""
    return str(error).removeprefix(f"{place} is ").rstrip(".")


def repair(text: str) -> str:
    """Replace lone surrogates, which JSON and file names can contain but no encoding can write, by
    "?".
    """
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _find_fault(cells: Sequence[str]) -> str:
    if any("\0" in cell for cell in cells):
        return "the text contains a NUL byte: remove it"
    if any(len(cell) > MAX_TEXT for cell in cells):
        return f"a cell is longer than {MAX_TEXT:,} characters: split the text"
    return ""


def _make_chunk(
    columns: Sequence[str], kept: Sequence[tuple[int, list[str]]], bad: list[BadRow], share: float
) -> Chunk:
    cells = {column: [cells[place] for _, cells in kept] for place, column in enumerate(columns)}
    return Chunk(rows=[row for row, _ in kept], cells=cells, bad=bad, share=share)


def shorten(text: str, length: int = MAX_SHOWN) -> str:
    """Return a text of a file for a message: its middle is left out if it is long.

    >>> shorten("x" * 100, 9)
    'xxxx…xxxx'
    """
    half = (length - 1) // 2
    return text if len(text) <= length else f"{text[:half]}…{text[-half:]}"
