"""Read a sheet of an Excel or OpenDocument file, by default the largest; the names of its columns
are found as in CSV files.
"""

import io
import re
import zipfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from stickbreaker.engine.corpora.cells import write_cell
from stickbreaker.engine.corpora.kinds import find_kind
from stickbreaker.engine.corpora.packed_files import BROKEN, check_unpacked
from stickbreaker.engine.corpora.rows import Chunk, CorpusError, Row, Table, gather, shorten
from stickbreaker.engine.corpora.table_files import (
    NUM_SNIFFED,
    count_above,
    count_below,
    describe_header,
    looks_like_name,
    name_columns,
)
from stickbreaker.engine.files.messages import explain_error

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook

# The cells of a sheet are in memory, also the empty ones to the left of and above others.
MAX_CELLS = 100_000_000
LAST_ROW = re.compile(rb'<row [^>]*?r="(\d+)"')
FAR_COLUMN = re.compile(rb'<c r="([A-Z]{3})\d')
NUM_LISTED = 5
MERGED = "A merged cell counts for each of its rows."
HIDDEN = "The file has hidden rows; they are read too."
HIDDEN_ROW = re.compile(
    rb'<row [^>]*?hidden="(?:1|true)"|<table:table-row [^>]*?visibility="(?:collapse|filter)"'
)
OFFICE = (b"PK", b"\xd0\xcf\x11\xe0")


class _Merged(NamedTuple):
    """A merged cell: its column, from 0, and its first and last row, as in the program."""

    column: int
    first: int
    last: int


def open_sheet(path: Path, given: str = "") -> Table:
    """Open the sheet of this name, or the visible one with most rows; a note names the others.

    Raises CorpusError if the file is damaged, encrypted, too large or empty, or has no such sheet.
    """
    with _explaining(path):
        book, has_hidden = _open_book(path)
        sheets = _order_sheets(book)
    names = [sheet.name for sheet in sheets]
    if not sheets:
        raise CorpusError(f"{path} has no rows. Choose a file with a sheet of texts.")
    if given:
        if given not in names:
            raise CorpusError(
                f"{path} has no sheet {shorten(given)!r} with cells. Choose one of"
                f" {_list_names(names)}."
            )
        sheets.insert(0, sheets.pop(names.index(given)))
    sheet, *others = sheets
    num_blank = (sheet.start or (0, 0))[0]
    first = [list(map(_write, row)) for row in islice(sheet.iter_rows(), num_blank + NUM_SNIFFED)]
    num_above = num_blank + count_above(first[num_blank:])
    merged = _list_merged(sheet)
    # A merged cell is the title of several columns, whose names are below it.
    if any(each.first == each.last == num_above + 1 for each in merged):
        num_above += any(all(map(looks_like_name, row)) for row in first[num_above + 1 :][:1])
    tall: dict[int, list[_Merged]] = {}
    for each in merged:
        if each.last > each.first > num_above + 1:
            tall.setdefault(each.first, []).append(each)
    columns = name_columns(first[num_above])
    num_below = count_below(first[num_above:])
    num_skipped = num_above + 1 + num_below
    seen = [0]

    def read(wanted: Sequence[str]) -> Iterator[Chunk]:
        places = [columns.index(column) for column in wanted]
        share = lambda: seen[0] / (num_blank + sheet.height)  # noqa: E731
        yield from gather(str(path), wanted, share, rows(places))

    def rows(places: Sequence[int]) -> Iterator[Row]:
        # By column: the last row of a merged cell, and its value.
        held: dict[int, tuple[int, Any]] = {}
        for row, cells in enumerate(islice(sheet.iter_rows(), num_skipped, None), num_skipped + 1):
            seen[0] = row
            for each in tall.get(row, ()):
                held[each.column] = (each.last, cells[each.column])
            for column, (last, value) in held.items():
                if row <= last:
                    cells[column] = value
            yield row, [_write(cells[place]) for place in places]

    return Table(
        path=path,
        kind=find_kind(path.name).name,
        columns=columns,
        read=read,
        notes=(
            *_describe_others(sheet, [] if given else others),
            *describe_header(columns, num_above, num_below),
            *([MERGED] if tall else []),
            *([HIDDEN] if has_hidden else []),
        ),
        sheets=tuple(sheet.name for sheet in sheets),
    )


def _list_merged(sheet: "CalamineSheet") -> list[_Merged]:
    """The merged cells of a sheet; OpenDocument files do not show them."""
    _, left = sheet.start or (0, 0)
    ranges = sheet.merged_cell_ranges or []
    return [_Merged(column - left, first + 1, last + 1) for (first, column), (last, _) in ranges]


def _describe_others(chosen: "CalamineSheet", others: Sequence["CalamineSheet"]) -> Iterator[str]:
    """Say which sheet is read, if it was not chosen and there are others with cells."""
    if others:
        yield (
            f"The sheet {shorten(chosen.name)!r} with {chosen.height:,} rows is read;"
            f" {_list_names([sheet.name for sheet in others])}"
            f" {'are' if len(others) > 1 else 'is'} left out. Set sheet to read another."
        )


def _list_names(names: Sequence[str]) -> str:
    listed = ", ".join(repr(shorten(name)) for name in names[:NUM_LISTED])
    return listed + f" and {len(names) - NUM_LISTED} more" * (len(names) > NUM_LISTED)


@contextmanager
def _explaining(path: Path) -> Generator[None, None, None]:
    """Name the file in all errors of the reader."""
    from python_calamine import CalamineError

    try:
        yield
    except BaseException as error:
        # A panic of the reader, which is written in Rust, is no Exception.
        is_panic = type(error).__name__ == "PanicException"
        known = (*BROKEN, CalamineError, ValueError, NotImplementedError)
        if isinstance(error, CorpusError) or not (is_panic or isinstance(error, known)):
            raise
        raise CorpusError(
            f"Cannot read the sheets of {path}: it is damaged or has a password"
            f" ({explain_error(error)}). Save it again without a password, or as CSV UTF-8."
        ) from error


def _open_book(path: Path) -> "tuple[CalamineWorkbook, bool]":
    """The sheets of a file, and whether it has hidden rows, which .xls files do not show."""
    from python_calamine import CalamineWorkbook

    with path.open("rb") as stream:
        content = stream.read()
    if not content.startswith(OFFICE):
        raise CorpusError(
            f"{path} is not an Excel or OpenDocument file. If it is a text with separators, rename"
            " it to .csv; otherwise save it again."
        )
    has_hidden = content.startswith(b"PK") and _check_members(path, content)
    return CalamineWorkbook.from_object(io.BytesIO(content)), has_hidden


def _order_sheets(book: "CalamineWorkbook") -> "list[CalamineSheet]":
    """The sheets with cells, and first the visible one with most rows."""
    from python_calamine import SheetTypeEnum, SheetVisibleEnum

    known = [sheet for sheet in book.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]
    hidden = {sheet.name for sheet in known if sheet.visible != SheetVisibleEnum.Visible}
    every = (book.get_sheet_by_name(sheet.name) for sheet in known)
    sheets = [sheet for sheet in every if sheet.height]
    if sheets:
        sheets.remove(
            largest := max(sheets, key=lambda each: (each.name not in hidden, each.height))
        )
        sheets.insert(0, largest)
    return sheets


def _check_members(path: Path, content: bytes) -> bool:
    """Refuse what needs too much memory, and find out whether there are hidden rows; reading the
    members to their ends finds damage.
    """
    has_hidden = False
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        check_unpacked(path, sum(member.file_size for member in members), len(content))
        for member in members:
            xml = archive.read(member)
            has_hidden |= bool(HIDDEN_ROW.search(xml))
            last = LAST_ROW.match(xml, max(0, xml.rfind(b"<row ")))
            far = max(FAR_COLUMN.findall(xml), default=b"")
            width = sum((sign - 64) * 26**place for place, sign in enumerate(reversed(far)))
            if last and int(last[1]) * width > MAX_CELLS:
                raise CorpusError(
                    f"{path} has cells up to column {far.decode()} and row {int(last[1]):,}. Delete"
                    " what is far from the table."
                )
    return has_hidden


def _write(value: Any) -> str:
    """The text of a cell: whole numbers without decimals, dates as ISO 8601.

    >>> _write(1863.0), _write(0.5), _write("peace")
    ('1863', '0.5', 'peace')
    """
    return write_cell(int(value) if isinstance(value, float) and value.is_integer() else value)
