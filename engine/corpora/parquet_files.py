"""Read Parquet files, by row groups, in chunks of rows."""

import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stickbreaker.engine.corpora.cells import Fields, add_fields, find_field, write_cell
from stickbreaker.engine.corpora.packed_files import check_ratio
from stickbreaker.engine.corpora.rows import BadRow, Chunk, CorpusError, Row, Table, gather
from stickbreaker.engine.files.messages import explain_error

if TYPE_CHECKING:
    import pyarrow as pa

# Decoded at once. A dictionary can hold a text of 10 MB once that many rows repeat.
PARQUET_ROWS = 16


def open_parquet(path: Path, encoding: str = "") -> Table:
    """Open a Parquet file; its rows are numbered from 1.

    Raises CorpusError if it is missing, not Parquet, or has two columns of the same name or too
    many rows for its size.
    """
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(_whole(path)) as file:
            names = file.schema_arrow.names
            columns: Fields = {}
            for field in file.schema_arrow:
                add_fields(columns, _list_parquet_fields(field))
            about = file.metadata
            groups = [about.row_group(number) for number in range(about.num_row_groups)]
    except pa.ArrowMemoryError:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise CorpusError(
            f"Cannot read {path} as Parquet ({explain_error(error)}). Save it again."
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
        reason = f"the file cannot be read from here on ({explain_error(error)}): save it again"
        yield BadRow(file=str(path), row=seen[0] + 1, reason=reason)


def _as_value(cell: "pa.Scalar") -> Any:
    """The value of a cell; a date that Python cannot express becomes a text that says so."""
    try:
        return cell.as_py()
    except UnicodeDecodeError:
        raise
    except (ValueError, OverflowError):
        return "a date outside the years 1 to 9999"
