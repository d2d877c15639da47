"""Files with a text a row (CSV, TSV, JSON lines, Parquet), read in chunks; rows that cannot be read are told of."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path
from typing import Any, NamedTuple

from stickbreaker.engine.corpora.corpus import CorpusError
from stickbreaker.engine.corpora.encodings import find_encoding

MAX_COLUMNS = 1_000
MAX_ROWS = 5_000_000
MAX_LISTED = 1_000
# Of one text, in characters; a line of a file may not be longer either.
MAX_TEXT = 10_000_000
CHUNK_ROWS = 500
CHUNK_TEXT = 1 << 21
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
TABLE_SUFFIXES = {".csv": "CSV", ".tsv": "TSV", ".tab": "TSV", ".jsonl": "JSON lines", ".ndjson": "JSON lines"} | {
    ".parquet": "Parquet",
    ".pq": "Parquet",
}


class BadRow(NamedTuple):
    """A row, or a whole file (row None), that is left out, and why."""

    file: str
    row: int | None
    reason: str

    def __str__(self) -> str:
        return f"{self.file}: {self.reason}" if self.row is None else f"{self.file}, row {self.row}: {self.reason}"


@dataclass
class BadRows:
    """Rows left out: how many, and the first of them."""

    count: int = 0
    listed: list[BadRow] = field(default_factory=list)

    def add(self, rows: Sequence[BadRow], count: int | None = None) -> None:
        """Add rows; count: how many they are where not all of them are given."""
        self.count += len(rows) if count is None else count
        if listed := rows[: max(0, MAX_LISTED - len(self.listed))]:
            self.listed += listed
            self.listed.sort(key=lambda row: (row.file, row.row is None, row.row or 0))


class Chunk(NamedTuple):
    """Some rows: their numbers as a person counts them, cells by column, bad rows, and the share of the file read."""

    rows: list[int]
    cells: dict[str, list[str]]
    bad: list[BadRow]
    share: float


@dataclass(frozen=True)
class Table:
    """A file with a text a row. `read(columns)` gives its chunks from the start; every cell is text.

    has: columns that are what their names say, as a folder's "text" and "title".
    files: names of files within `path`, where each is a row.
    """

    path: Path
    kind: str
    columns: tuple[str, ...]
    read: Callable[[Sequence[str]], Iterator[Chunk]]
    notes: tuple[str, ...] = ()
    has: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    def name_bad(self, row: int, reason: str) -> BadRow:
        """A row that is left out, by its number, or by its file where it is one."""
        if self.files:
            return BadRow(f"{self.path.name}/{self.files[row - 1]}", None, reason)
        return BadRow(str(self.path), row, reason)


def open_table(path: Path) -> Table:
    """A CSV, TSV, JSON lines or Parquet file by the end of its name. Raises CorpusError where it is none."""
    kind = TABLE_SUFFIXES[path.suffix.lower()]
    opened = {"Parquet": open_parquet, "JSON lines": open_json_lines}.get(kind, open_delimited)(path)
    return check_columns(opened)


def check_columns(table: Table) -> Table:
    """Refuse a file with too many columns."""
    if len(table.columns) > MAX_COLUMNS:
        raise CorpusError(
            f"{table.path} has {len(table.columns):,} columns, more than {MAX_COLUMNS:,}: keep those for text, date and"
            " title only."
        )
    return table


def gather(
    file: str, columns: Sequence[str], share: Callable[[], float], rows: Iterable[tuple[int, list[str]] | BadRow]
) -> Iterator[Chunk]:
    """Rows into chunks of a bounded number and size; `rows` have their cells in the order of the columns.

    Raises CorpusError after `MAX_ROWS`.
    """
    kept, bad, size = [], [], 0
    for num_seen, row in enumerate(rows):
        if num_seen == MAX_ROWS:
            raise CorpusError(f"{file} has more than {MAX_ROWS:,} rows: part it, or take a sample of it.")
        if not isinstance(row, BadRow) and (reason := _find_fault(row[1])):
            row = BadRow(file, row[0], reason)
        if isinstance(row, BadRow):
            bad.append(row._replace(file=mend(row.file)))
        else:
            kept.append((row[0], [mend(cell) for cell in row[1]]))
            size += sum(map(len, row[1]))
        if len(kept) + len(bad) >= CHUNK_ROWS or size >= CHUNK_TEXT:
            yield _make_chunk(columns, kept, bad, min(1.0, share()))
            kept, bad, size = [], [], 0
    yield _make_chunk(columns, kept, bad, 1.0)


def mend(text: str) -> str:
    """The text without halves of characters, which JSON and names of files can hold and no encoding can write."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _find_fault(cells: Sequence[str]) -> str:
    if any("\0" in cell for cell in cells):
        return "it holds a NUL byte: remove it"
    if any(len(cell) > MAX_TEXT for cell in cells):
        return f"a cell is longer than {MAX_TEXT:,} characters: part the text"
    return ""


def _make_chunk(columns: Sequence[str], kept: list, bad: list[BadRow], share: float) -> Chunk:
    cells = {column: [cells[place] for _, cells in kept] for place, column in enumerate(columns)}
    return Chunk([row for row, _ in kept], cells, bad, share)


def open_delimited(path: Path) -> Table:
    """A CSV or TSV file whose first row names the columns; commas, semicolons, tabs or bars part them."""
    encoding = find_encoding(path)
    with path.open(encoding=encoding.name, errors="replace", newline="") as text:
        head = text.readline(MAX_TEXT)
        delimiter = _find_delimiter(path, head)
        text.seek(0)
        try:
            header = next(csv.reader(_lines(path, text), delimiter=delimiter, strict=True), [])
        except csv.Error as error:
            raise CorpusError(
                f"{path}, row 1 cannot be read as {path.suffix[1:].upper()} ({error}): close every quote."
            ) from error
    columns = _name_columns(header)
    if not columns:
        raise CorpusError(f"{path} is empty: its first row must name the columns.")

    def read(wanted: Sequence[str]) -> Iterator[Chunk]:
        with path.open("rb") as stream:
            text = io.TextIOWrapper(stream, encoding.name, errors="replace", newline="")
            places = [columns.index(column) for column in wanted]
            rows = _delimited_rows(path, text, delimiter, places, len(columns))
            size = max(1, path.stat().st_size)
            yield from gather(str(path), wanted, lambda: stream.tell() / size, rows)

    return Table(path, TABLE_SUFFIXES[path.suffix.lower()], columns, read, (encoding.note,) if encoding.note else ())


def _find_delimiter(path: Path, head: str) -> str:
    if path.suffix.lower() != ".csv":
        return "\t"
    bare = re.sub(r'"[^"]*"', "", head)
    return max(DELIMITERS, key=lambda sign: (bare.count(sign), sign == ","))


def _lines(path: Path, text: Iterable[str]) -> Iterator[str]:
    number = 0
    while line := text.readline(MAX_TEXT):
        number += 1
        if len(line) == MAX_TEXT and not line.endswith("\n"):
            raise CorpusError(f"{path}, line {number} is longer than {MAX_TEXT:,} characters: part its text into rows.")
        yield line


def _name_columns(header: Sequence[str]) -> tuple[str, ...]:
    """Names that are all there and all different."""
    names: dict[str, None] = {}
    for number, cell in enumerate(header, start=1):
        name = cell.strip() or f"column {number}"
        names[f"{name} ({number})" if name in names else name] = None
    return tuple(names)


def _delimited_rows(path: Path, text: Any, delimiter: str, places: Sequence[int], num_columns: int) -> Iterator:
    csv.field_size_limit(MAX_TEXT)
    reader = csv.reader(_lines(path, text), delimiter=delimiter, strict=True)
    next(reader)
    row = 1
    while True:
        row += 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield BadRow(str(path), row, _explain(error))
            continue
        if len(cells) > num_columns:
            reason = f"it has {len(cells)} cells where the first row has {num_columns}: put texts that hold"
            yield BadRow(str(path), row, f"{reason} {DELIMITERS[delimiter]}s in quotes")
        else:
            cells += [""] * (num_columns - len(cells))
            yield row, [cells[place] for place in places]


def _explain(error: csv.Error) -> str:
    said = str(error)
    if "unexpected end" in said:
        return "a quote is opened and never closed, and all that follows is lost: close every quote"
    if "field larger" in said:
        return f"a cell is longer than {MAX_TEXT:,} characters: close every quote"
    return f"it cannot be read ({said}): close every quote, and write quotes within a text twice"


def open_json_lines(path: Path) -> Table:
    """A file with a JSON object a line; its columns are the keys of the first thousand."""
    encoding = find_encoding(path)
    columns: dict[str, None] = {}
    with path.open(encoding=encoding.name, errors="replace") as text:
        for number, line in enumerate(_lines(path, text)):
            if number == 0 and line.lstrip().startswith("["):
                raise CorpusError(f"{path} is one JSON list, not JSON lines: write one object a line.")
            found = _read_object(line)
            columns |= dict.fromkeys(found if isinstance(found, dict) else ())
            if number == 1_000 or len(columns) > MAX_COLUMNS:
                break
    if not columns:
        raise CorpusError(f'{path} has no JSON object in its first lines: write one object a line, as {{"text": ...}}.')

    def read(wanted: Sequence[str]) -> Iterator[Chunk]:
        with path.open("rb") as stream:
            text = io.TextIOWrapper(stream, encoding.name, errors="replace")
            size = max(1, path.stat().st_size)
            yield from gather(str(path), wanted, lambda: stream.tell() / size, _json_rows(path, text, wanted))

    return Table(path, "JSON lines", tuple(columns), read, (encoding.note,) if encoding.note else ())


def _read_object(line: str) -> dict | str:
    """The object of a line, or why there is none."""
    try:
        found = json.loads(line)
    except json.JSONDecodeError as error:
        return f"it is not JSON ({error.msg} at character {error.pos + 1}): write one object a line"
    except (ValueError, RecursionError):
        return "its JSON is too deep or holds too long a number: write a flat object"
    return found if isinstance(found, dict) else "it is no JSON object: write one object a line"


def _json_rows(path: Path, text: Any, wanted: Sequence[str]) -> Iterator:
    for row, line in enumerate(_lines(path, text), start=1):
        found = _read_object(line) if line.strip() else {}
        if isinstance(found, str):
            yield BadRow(str(path), row, found)
        else:
            yield row, [write_cell(found.get(column)) for column in wanted]


def write_cell(value: Any) -> str:
    """Any value as text: nothing for None and NaN, ISO for dates, JSON for what is nested."""
    if isinstance(value, str):
        return value
    if value is None or value != value:
        return ""
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    if hasattr(value, "isoformat"):
        # Before there were time zones clocks differed by seconds, which ISO dates do not write.
        is_zoned = hasattr(value, "astimezone") and value.tzinfo is not None
        return (value.astimezone(UTC) if is_zoned else value).isoformat()
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, dict | list) else str(value)


def open_parquet(path: Path) -> Table:
    """A Parquet file; its rows are numbered from 1."""
    import pyarrow as pa
    from pyarrow import parquet

    if not path.is_file():
        raise CorpusError(f"There is no file {path.absolute()}: check its folder and its name.")
    try:
        with parquet.ParquetFile(path) as file:
            columns, num_rows = tuple(file.schema_arrow.names), file.metadata.num_rows
    except (pa.ArrowException, OSError) as error:
        raise CorpusError(f"{path} cannot be read as Parquet ({_first_line(error)}): write it again.") from error
    if len(set(columns)) < len(columns):
        raise CorpusError(f"{path} has two columns of one name: name each column differently.")

    def read(wanted: Sequence[str]) -> Iterator[Chunk]:
        seen = [0]
        rows = _parquet_rows(path, wanted, seen)
        yield from gather(str(path), wanted, lambda: seen[0] / max(1, num_rows), rows)

    return Table(path, "Parquet", columns, read)


def _parquet_rows(path: Path, wanted: Sequence[str], seen: list[int]) -> Iterator:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=CHUNK_ROWS, columns=list(dict.fromkeys(wanted))):
                parts = {name: batch.column(name).to_pylist() for name in batch.schema.names}
                for cells in zip(*(parts[column] for column in wanted), strict=True):
                    seen[0] += 1
                    yield seen[0], [write_cell(cell) for cell in cells]
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = f"from here on it cannot be read ({_first_line(error)}): write the file again"
        yield BadRow(str(path), seen[0] + 1, reason)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".")
