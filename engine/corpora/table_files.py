"""Read tables with one text per row (CSV, TSV, JSON lines, Parquet) in chunks, and report rows that
cannot be read.

pyarrow reads Parquet. For the other formats, neither pandas nor pyarrow can skip every broken row
(one with an open quote, for example), give its number and name the fault.
"""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from stickbreaker.engine.corpora.cells import find_field, list_fields, write_cell
from stickbreaker.engine.corpora.corpus import CorpusError
from stickbreaker.engine.corpora.encodings import Encoding, find_encoding
from stickbreaker.engine.corpora.rows import (
    MAX_TEXT,
    TABLE_SUFFIXES,
    BadRow,
    Chunk,
    Row,
    Table,
    check_ratio,
    first_line,
    gather,
)

if TYPE_CHECKING:
    import pyarrow as pa

NO_SIGN = "\x1f"
# Lines from which the form of a file is found, and the most rows above the names of the columns.
NUM_SNIFFED = 200
MAX_ABOVE = 20
HEADER_BELOW = "The names of the columns seem to be in row {}; the rows above it are left out."
HEADER_TEXT = (
    "Row 1 is read as the names of the columns, such as {!r}. If it is a document, add a row with"
    " names above it."
)
MAX_COLUMNS = 1_000
# Columns up to which fields inside of objects are added.
MAX_NESTED = 200
# Decoded at once. A dictionary can hold a text of 10 MB once that many rows repeat.
PARQUET_ROWS = 16
PLAIN_QUOTES = "Quotation marks are read as plain characters; otherwise rows would be lost."
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}


def open_table(path: Path, encoding: str = "") -> Table:
    """Open a CSV, TSV, JSON lines or Parquet file, by its extension.

    Raises CorpusError if it is missing, unreadable, not of its format, or has too many columns.
    """
    kind = TABLE_SUFFIXES[path.suffix.lower()]
    if kind == "Parquet":
        return check_columns(open_parquet(path))
    found = find_encoding(path, encoding)
    open_text = {"JSON lines": open_json_lines, "JSON": open_json}.get(kind, open_delimited)
    opened = open_text(path, found)
    return check_columns(opened)


def check_columns(table: Table) -> Table:
    """Leave out columns without a name, with a note.

    Raises CorpusError if the table has more than `MAX_COLUMNS` columns, or none with a name.
    """
    if len(table.columns) > MAX_COLUMNS:
        raise CorpusError(
            f"{table.path} has {len(table.columns):,} columns, more than {MAX_COLUMNS:,}."
            " Keep only those for text, date and title."
        )
    named = tuple(column for column in table.columns if column.strip())
    if not named:
        raise CorpusError(
            f"{table.path} has no column with a name. Name the column that contains the texts."
        )
    if len(named) < len(table.columns):
        note = (
            f"{table.path.name} has a column without a name, which is left out. Name it to use it."
        )
        return replace(table, columns=named, notes=(*table.notes, note))
    return table


class Form(NamedTuple):
    """How a CSV or TSV file is written.

    Its separator, whether quotes enclose cells, whether a quote in a cell has a backslash, and the
    number of rows above the names of the columns.
    """

    delimiter: str
    has_quotes: bool = True
    has_escapes: bool = False
    num_above: int = 0

    def rows(self, text: TextIO) -> Any:
        """Read the rows of an open file."""
        lines = _lines(text)
        return csv.reader(
            map(_double_quotes, lines) if self.has_escapes else lines,
            delimiter=self.delimiter,
            strict=True,
            quoting=csv.QUOTE_MINIMAL if self.has_quotes else csv.QUOTE_NONE,
        )


def open_delimited(path: Path, encoding: Encoding) -> Table:
    """Open a CSV or TSV file with column names in the first row, or below a few narrower ones.

    Raises CorpusError if it is missing, empty or not text, or the first row cannot be read.
    """
    form = _find_form(path, encoding.name)
    with path.open(encoding=encoding.name, errors="replace", newline="") as text:
        try:
            header: list[str] = next(islice(form.rows(text), form.num_above, None), [])
        except _LongLineError as error:
            raise CorpusError(
                f"{path}, line 1 is longer than {MAX_TEXT:,} characters. Split it into rows."
            ) from error
        except csv.Error as error:
            raise CorpusError(
                f"Cannot read {path}, row 1, as {path.suffix[1:].upper()} ({error}). Close every"
                " quote."
            ) from error
    if not header:
        raise CorpusError(f"{path} is empty. Write the names of the columns into the first row.")
    if form.delimiter == "\t" and _loses_rows(path, encoding.name, form, len(header)):
        form = form._replace(has_quotes=False)
        with path.open(encoding=encoding.name, errors="replace", newline="") as text:
            header = next(islice(form.rows(text), form.num_above, None))
    columns = _name_columns(header)

    def read(wanted: Sequence[str]) -> Iterator[Chunk]:
        places = [columns.index(column) for column in wanted]
        with _open_text(path, encoding, newline="") as (text, share):
            yield from gather(
                str(path), wanted, share, _delimited_rows(path, text, form, places, len(columns))
            )

    notes = (
        encoding.note,
        "" if form.has_quotes else PLAIN_QUOTES,
        HEADER_BELOW.format(form.num_above + 1) if form.num_above else "",
        HEADER_TEXT.format(min(columns, key=_looks_like_name)[:40])
        if not all(map(_looks_like_name, columns))
        else "",
    )
    return Table(
        path=path,
        kind=TABLE_SUFFIXES[path.suffix.lower()],
        columns=columns,
        read=read,
        notes=tuple(filter(None, notes)),
    )


def _looks_like_name(cell: str) -> bool:
    """Whether a cell may be the name of a column, and not a text, a number or a date."""
    return len(cell.split()) <= 8 and len(cell) <= 80 and any(map(str.isalpha, cell))


def _find_form(path: Path, encoding: str) -> Form:
    """Find the separator for which most of the first rows have equally many cells."""
    with path.open(encoding=encoding, errors="replace", newline="") as text:
        lines = [line for line in islice(_short_lines(text), NUM_SNIFFED) if len(line) < MAX_TEXT]
    first = lines[0] if lines else ""
    if named := re.fullmatch(r"sep=(.)\s*", first):
        return Form(delimiter=named[1], num_above=1)
    signs = DELIMITERS if path.suffix.lower() == ".csv" else "\t"
    has_escapes = any('\\"' in line for line in lines) and _count_good(lines, True) > _count_good(
        lines, False
    )
    if has_escapes:
        lines = list(map(_double_quotes, lines))
    bare = re.sub(r'"[^"]*"', "", first)
    best = max(signs, key=lambda sign: (*_agree(lines, sign), bare.count(sign), sign == ","))
    if not (_agree(lines, best)[0] or any(sign in bare for sign in signs)):
        # One column: a comma in a text does not end it.
        best = NO_SIGN
    return Form(best, has_escapes=has_escapes, num_above=_count_above(lines, best))


def _sniff_rows(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    """The first rows of a file, without the last one, which may be cut; [] for bad ones."""
    csv.field_size_limit(MAX_TEXT)
    reader = csv.reader(lines, delimiter=delimiter)
    rows: list[list[str]] = []
    while True:
        try:
            rows.append(next(reader))
        except StopIteration:
            return rows[:-1] if len(lines) == NUM_SNIFFED else rows
        except csv.Error:
            rows.append([])


def _usual(widths: Sequence[int]) -> tuple[int, int]:
    """The most frequent number of cells, two or more, and the number of rows that have it."""
    (width, number), *_ = [*Counter(each for each in widths if each > 1).most_common(1), (1, 0)]
    return width, number


def _agree(lines: Sequence[str], delimiter: str) -> tuple[bool, float]:
    """Whether most rows have the same number of cells, and their share."""
    widths = [len(row) for row in _sniff_rows(lines, delimiter) if row]
    width, number = _usual(widths)
    share = number / max(1, len(widths))
    # A title above the table is no name of a column.
    first = "".join(lines[:1])
    is_titled = width > 2 or " " in first.strip() or not "".join(lines[1:2]).strip()
    if share <= 0.5 or not (delimiter in first or is_titled):
        return False, 0.0
    return True, round(share, 1)


def _double_quotes(line: str) -> str:
    return line.replace('\\"', '""')


def _count_good(lines: Sequence[str], has_escapes: bool) -> int:
    """The number of rows that can be read, with quotes written as \\" or not."""
    good = 0
    rows = csv.reader(map(_double_quotes, lines) if has_escapes else lines, strict=True)
    while True:
        try:
            next(rows)
        except StopIteration:
            return good
        except csv.Error:
            continue
        good += 1


def _count_above(lines: Sequence[str], delimiter: str) -> int:
    """The number of rows with one cell or none above the first with the usual number of cells."""
    rows = _sniff_rows(lines, delimiter)
    width, number = _usual([len(row) for row in rows])
    for above, row in enumerate(rows[:MAX_ABOVE]):
        if sum(bool(cell.strip()) for cell in row) > 1:
            return above if number > 1 and len(row) == width else 0
    return 0


@contextmanager
def _open_text(
    path: Path, encoding: Encoding, newline: str | None = None
) -> Iterator[tuple[TextIO, Callable[[], float]]]:
    """Open a text file, with a function that returns the share of the file that has been read."""
    with path.open("rb") as stream:
        size = max(1, path.stat().st_size)
        yield (
            io.TextIOWrapper(stream, encoding.name, errors="replace", newline=newline),
            lambda: stream.tell() / size,
        )


def _loses_rows(path: Path, encoding: str, form: Form, num_columns: int) -> bool:
    """Whether a file with tabs has fewer complete rows if quotation marks enclose cells than if
    they are plain.
    """
    with path.open(encoding=encoding, errors="replace", newline="") as text:
        if not any(line.count('"') % 2 for line in _short_lines(text)):
            return False
    with path.open(encoding=encoding, errors="replace", newline="") as text:
        num_plain = sum(
            line.count("\t") == num_columns - 1 and not _is_cut(line) for line in _short_lines(text)
        )
    with path.open(encoding=encoding, errors="replace", newline="") as text:
        rows = _delimited_rows(path, text, form, range(num_columns), num_columns)
        return num_plain - 1 > sum(not isinstance(row, BadRow) for row in rows)


class _LongLineError(csv.Error):
    """A line is longer than `MAX_TEXT`."""


def _lines(text: TextIO) -> Iterator[str]:
    """The lines of a file.

    A line that is too long raises _LongLineError, and the next line follows.
    """

    def read_line() -> str:
        line = text.readline(MAX_TEXT)
        if _is_cut(line):
            _skip_rest(text)
            raise _LongLineError
        return line

    # Unlike a generator, this iterator continues after an error.
    return iter(read_line, "")


def _skip_rest(text: TextIO) -> None:
    while _is_cut(text.readline(MAX_TEXT)):
        pass


def _is_cut(line: str) -> bool:
    return len(line) == MAX_TEXT and not line.endswith("\n")


def _name_columns(header: Sequence[str]) -> tuple[str, ...]:
    """Fill in missing column names, and number repeated ones."""
    names: dict[str, None] = {}
    for number, cell in enumerate(header, start=1):
        name = cell.strip() or f"column {number}"
        names[f"{name} ({number})" if name in names else name] = None
    return tuple(names)


def _delimited_rows(
    path: Path, text: TextIO, form: Form, places: Sequence[int], num_columns: int
) -> Iterator[Row]:
    csv.field_size_limit(MAX_TEXT)
    reader: Any = form.rows(text)
    row = form.num_above + 1
    for _ in range(row):
        next(reader)
    while True:
        row += 1
        num_before = reader.line_num
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            reason = _explain(error, reader.line_num - num_before - 1)
            yield BadRow(file=str(path), row=row, reason=reason)
            continue
        if len(cells) > num_columns and any(cells[num_columns:]):
            sign = DELIMITERS.get(form.delimiter, form.delimiter)
            fault = f"the row has {len(cells)} cells instead of {num_columns}"
            yield BadRow(
                file=str(path),
                row=row,
                reason=f"{fault}: put texts with a {sign} in quotes",
            )
        else:
            cells += [""] * (num_columns - len(cells))
            yield row, [cells[place] for place in places]


def _explain(error: csv.Error, num_lines: int) -> str:
    """Say why a row cannot be read.

    num_lines: the lines after its first one that are lost with it.
    """
    said = str(error)
    if isinstance(error, _LongLineError):
        return f"a line is longer than {MAX_TEXT:,} characters: split it into rows"
    if "unexpected end" in said:
        return "a quote is not closed, so the rest of the file is lost: close every quote"
    lost = (
        f", so {num_lines:,} more line{'s are' if num_lines > 1 else ' is'} lost"
        if num_lines
        else ""
    )
    if "field larger" in said:
        return f"a cell is longer than {MAX_TEXT:,} characters{lost}: close every quote"
    return (
        f"the row cannot be read ({said}){lost}: close every quote, and double quotes inside a text"
    )


def open_json_lines(path: Path, encoding: Encoding) -> Table:
    """Open a file with one JSON object per line.

    The columns are the keys of the first thousand objects.

    Raises CorpusError if it is missing, empty or not text, or has no JSON object in its first
    lines.
    """
    columns: dict[str, tuple[str, ...]] = {}
    with path.open(encoding=encoding.name, errors="replace") as text:
        for number, line in enumerate(_short_lines(text)):
            if number == 0 and line.lstrip().startswith("["):
                raise CorpusError(
                    f"{path} is one JSON list, not JSON lines. Write one object per line."
                )
            found = _read_object(line)
            if isinstance(found, dict):
                _add_fields(columns, list_fields(found))
            if number == 1_000 or len(columns) > MAX_COLUMNS:
                break
    if not columns:
        raise CorpusError(
            f'{path} has no JSON object in its first lines. Write one per line, like {{"text":'
            " ...}."
        )

    def read(wanted: Sequence[str]) -> Iterator[Chunk]:
        paths = [columns[name] for name in wanted]
        with _open_text(path, encoding) as (text, share):
            yield from gather(str(path), wanted, share, _json_rows(path, text, paths))

    return Table(
        path=path,
        kind="JSON lines",
        columns=tuple(columns),
        read=read,
        notes=(encoding.note,) if encoding.note else (),
    )


def open_json(path: Path, encoding: Encoding) -> Table:
    """Open a JSON file with a list of objects, alone or in an object, or with one object per line.

    Raises CorpusError if it has another form.
    """
    with path.open(encoding=encoding.name, errors="replace") as text:
        first = next((line for line in _short_lines(text) if line.strip()), "")
    if isinstance(_read_object(first), dict):
        return open_json_lines(path, encoding)
    items = _load_items(path, encoding)
    columns: dict[str, tuple[str, ...]] = {}
    for item in items[:1_000]:
        _add_fields(columns, list_fields(item))

    def read(wanted: Sequence[str]) -> Iterator[Chunk]:
        paths = [columns[name] for name in wanted]
        seen = [0]
        yield from gather(str(path), wanted, lambda: seen[0] / len(items), rows(paths, seen))

    def rows(paths: Sequence[Sequence[str]], seen: list[int]) -> Iterator[Row]:
        for row, item in enumerate(items, start=1):
            seen[0] = row
            if isinstance(item, dict):
                yield row, [write_cell(find_field(item, field)) for field in paths]
            else:
                yield BadRow(file=str(path), row=row, reason="the item is not a JSON object")

    return Table(
        path=path,
        kind="JSON",
        columns=tuple(columns),
        read=read,
        notes=(encoding.note,) if encoding.note else (),
    )


def _load_items(path: Path, encoding: Encoding) -> list[Any]:
    """The longest list with objects in a JSON file, which is it or one of its fields."""
    try:
        with path.open(encoding=encoding.name, errors="replace") as text:
            content = json.load(text)
    except (ValueError, RecursionError) as error:
        raise CorpusError(
            f"Cannot read {path} as JSON ({first_line(error)}). Write a list of objects, or one"
            " object per line into a .jsonl file."
        ) from error
    inside = list(content.values()) if isinstance(content, dict) else [content]
    lists = [each for each in inside if isinstance(each, list)]
    items: list[Any] = max(lists, key=len, default=[])
    if items and all(isinstance(each, str) for each in items):
        return [{"text": each} for each in items]
    if not any(isinstance(each, dict) for each in items):
        raise CorpusError(f"{path} has no list of objects. Write one, like [{{'text': ...}}].")
    return items


def _add_fields(columns: dict[str, tuple[str, ...]], paths: Iterable[tuple[str, ...]]) -> None:
    """Add fields as columns: all that are not in an object, and at most `MAX_NESTED` others."""
    for path in paths:
        if len(path) == 1 or len(columns) < MAX_NESTED:
            columns.setdefault(".".join(path), path)


def _short_lines(text: TextIO) -> Iterator[str]:
    """The lines of a file; of a line that is too long only as much as shows that."""
    while line := text.readline(MAX_TEXT):
        if _is_cut(line):
            _skip_rest(text)
        yield line


def _read_object(line: str) -> dict[str, Any] | str:
    """Parse a line into a JSON object, or explain why it is wrong."""
    if _is_cut(line):
        return f"the line is longer than {MAX_TEXT:,} characters: split it"
    try:
        found = json.loads(line)
    except json.JSONDecodeError as error:
        return (
            f"the line is not JSON ({error.msg} at character {error.pos + 1}): write one object per"
            " line"
        )
    except (ValueError, RecursionError):
        return "the JSON is nested too deeply or has too long a number: write a flat object"
    return (
        found
        if isinstance(found, dict)
        else "the line is not a JSON object: write one object per line"
    )


def _json_rows(path: Path, text: TextIO, wanted: Sequence[Sequence[str]]) -> Iterator[Row]:
    for row, line in enumerate(_short_lines(text), start=1):
        found = _read_object(line) if line.strip() else {}
        if isinstance(found, str):
            yield BadRow(file=str(path), row=row, reason=found)
        else:
            yield row, [write_cell(find_field(found, field)) for field in wanted]


def open_parquet(path: Path) -> Table:
    """Open a Parquet file; its rows are numbered from 1.

    Raises CorpusError if it is missing, not Parquet, or has two columns of the same name or too
    many rows for its size.
    """
    import pyarrow as pa
    from pyarrow import parquet

    if not path.is_file():
        raise CorpusError(f"File not found: {path.absolute()}. Check the folder and the name.")
    try:
        with parquet.ParquetFile(_whole(path)) as file:
            names = file.schema_arrow.names
            columns: dict[str, tuple[str, ...]] = {}
            for field in file.schema_arrow:
                _add_fields(columns, _list_parquet_fields(field))
            about = file.metadata
            groups = [about.row_group(number) for number in range(about.num_row_groups)]
    except pa.ArrowMemoryError:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise CorpusError(
            f"Cannot read {path} as Parquet ({first_line(error)}). Save it again."
        ) from error
    if len(set(names)) < len(names):
        raise CorpusError(f"{path} has two columns with the same name. Rename one.")

    num_rows = [group.num_rows for group in groups]
    # A row takes memory and time even if all its cells are empty.
    check_ratio(path, sum(num_rows), path.stat().st_size)

    def read_groups(wanted: Sequence[str], first: int, last: int) -> Iterator[Chunk]:
        before = sum(num_rows[:first])
        total = max(1, sum(num_rows[first:last]))
        seen = [before]
        paths = [columns[name] for name in wanted]
        rows = _parquet_rows(path, paths, seen, range(first, last))
        yield from gather(str(path), wanted, lambda: (seen[0] - before) / total, rows)

    return Table(
        path=path,
        kind="Parquet",
        columns=tuple(columns),
        read=lambda wanted: read_groups(wanted, 0, len(groups)),
        group_bytes=tuple(group.total_byte_size for group in groups),
        read_groups=read_groups,
    )


def _whole(path: Path) -> Path | io.BytesIO:
    """The file, in memory if it is packed, because Parquet is not read from its start."""
    if isinstance(path, Path):
        return path
    with path.open("rb") as stream:
        return io.BytesIO(stream.read())


def _list_parquet_fields(field: "pa.Field") -> Iterator[tuple[str, ...]]:
    """List the paths of all fields of a column, as `list_fields` does.

    A map has none: its keys differ between the rows.
    """
    from pyarrow import types

    kind = field.type
    while types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        kind = kind.value_type
    if types.is_struct(kind):
        for inside in kind:
            yield from ((field.name, *path) for path in _list_parquet_fields(inside))
    elif not types.is_map(kind):
        yield (field.name,)


def _parquet_rows(
    path: Path, wanted: Sequence[Sequence[str]], seen: list[int], groups: range
) -> Iterator[Row]:
    """The rows of some row groups.

    `seen` has the number of the row before them, and then of each row.
    """
    import pyarrow as pa
    from pyarrow import parquet

    unpacked = 0
    try:
        packed = path.stat().st_size
        with parquet.ParquetFile(_whole(path)) as file:
            wanted_once = list(dict.fromkeys(field[0] for field in wanted))
            for batch in file.iter_batches(
                batch_size=PARQUET_ROWS, row_groups=list(groups), columns=wanted_once
            ):
                parts = {name: batch.column(name) for name in wanted_once}
                for row in range(batch.num_rows):
                    # One row at a time: as Python objects, a batch would take its memory once more.
                    values = {name: _as_value(part[row]) for name, part in parts.items()}
                    cells = [write_cell(find_field(values, field)) for field in wanted]
                    seen[0] += 1
                    yield seen[0], cells
                    unpacked += sum(map(len, cells))
                check_ratio(path, unpacked, packed)
    except pa.ArrowMemoryError:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = f"the file cannot be read from here on ({first_line(error)}): save it again"
        yield BadRow(file=str(path), row=seen[0] + 1, reason=reason)


def _as_value(cell: "pa.Scalar") -> Any:
    """The value of a cell; a date that Python cannot express becomes a text that says so."""
    try:
        return cell.as_py()
    except UnicodeDecodeError:
        raise
    except (ValueError, OverflowError):
        return "a date outside the years 1 to 9999"
