"""The columns that a user chooses from a table, and what is taken from its rows: texts, dates,
titles and groups.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from stickbreaker.engine.corpora.cells import (
    Fields,
    add_fields,
    find_field,
    list_fields,
    read_value,
    unwrap_text,
    write_cell,
)
from stickbreaker.engine.corpora.dates import explain_date, explain_form, find_form, read_dates
from stickbreaker.engine.corpora.rows import (
    MAX_COLUMNS,
    NO_GROUP,
    TOO_LARGE,
    BadRows,
    Chunk,
    CorpusError,
    LeftOut,
    Table,
    shorten,
)
from stickbreaker.engine.files.messages import cut

# Columns that an error lists.
NUM_LISTED = 8
MAX_ROWS = 5_000_000
MAX_TITLE = 300
NO_TEXT = "the text is empty"
# What programs write where there is no text.
PLACEHOLDER = re.compile(
    r"(?i)nan|none|null|nil|n/?a|#(?:n/a|ref!|value!|name\?)|<na>|\((?:blank|null|none|empty)\)"
    r"|\[(?:deleted|removed)\]|\\n"
)
FIELDS = "The fields of the JSON objects in {} are columns."
WORDLESS = "no counted words remain in the text"


class Columns(NamedTuple):
    """The columns with the text, the date, the title and the group, and how they are read.

    None if there is no such column, and for what is found in the file.

    day_first: whether 3/4/1863 is 3 April. encoding: that of the files. sheet: that of a workbook.
    """

    text: str | None = None
    date: str | None = None
    title: str | None = None
    group: str | None = None
    day_first: bool | None = None
    encoding: str | None = None
    sheet: str | None = None

    @property
    def names(self) -> list[str]:
        """The chosen columns, each of them once.

        Raises CorpusError if one is not named by a text.
        """
        chosen = [self.text, self.date, self.title, self.group]
        for column in chosen:
            if column is not None and not isinstance(column, str):
                raise CorpusError(
                    f"{column!r:.40} is no name of a column: give its name as a text."
                )
        return list(dict.fromkeys(column for column in chosen if column))


class Cells(NamedTuple):
    """The numbers of all rows with text, their dates and titles as written, and their groups."""

    rows: list[int]
    dates: list[str]
    titles: list[str]
    groups: list[str]


def resolve_columns(table: Table, columns: Columns) -> Columns:
    """Complete the chosen columns with that of the text, and with the title of a folder or archive.

    Raises CorpusError that lists the columns if no text column is clear, or a chosen column does
    not exist.
    """
    called_text = (column for column in table.columns if column.lower() == "text")
    (only,) = table.columns if len(table.columns) == 1 else (None,)
    text = next(called_text, only) if columns.text in (None, "") else columns.text
    names = _list_names(table.columns)
    if text is None:
        raise CorpusError(
            f'{table.path}: choose the column with the text, text="...". The columns are {names}.'
        )
    columns = columns._replace(text=text)
    if columns.title is None and "title" in table.has:
        columns = columns._replace(title="title")
    for column in columns.names:
        if column not in table.columns:
            raise CorpusError(
                f"{table.path} has no column {_shorten(column)}. Choose one of {names}."
            )
    return columns


def _list_names(columns: Sequence[str]) -> str:
    """The first columns, with the number of the others."""
    listed = ", ".join(map(_shorten, columns[:NUM_LISTED]))
    left = len(columns) - NUM_LISTED
    return f"{listed} and {left:,} more" if left > 0 else listed


def _shorten(column: object) -> str:
    """A column for a message; it can be of another type than text by mistake."""
    return repr(cut(column, 20) if isinstance(column, str) else column)


def take_chunk(
    chunk: Chunk, columns: Columns, cells: Cells, bad: BadRows, table: Table
) -> list[str]:
    """Return the texts of the good rows of a chunk.

    Add their other cells to `cells`, and the other rows, with what is left out of texts, to `bad`.

    The columns are those of `resolve_columns`. Raises CorpusError if `cells` and `bad` then have
    more than `MAX_ROWS` rows.
    """
    bad.add(chunk.bad)
    bad.left.add(chunk.left)
    empty = [""] * len(chunk.rows)
    chosen = (columns.text, columns.date, columns.title, columns.group)
    text_cells, dates, titles, groups = (chunk.cells.get(name or "", empty) for name in chosen)
    texts = []
    wrong = []
    for place, (row, text) in enumerate(zip(chunk.rows, text_cells, strict=True)):
        plain = unwrap_text(text)
        if plain is None:
            wrong.append(table.name_bad(row, _explain_object(columns.text or "", text)))
        elif PLACEHOLDER.fullmatch(plain.strip()):
            wrong.append(table.name_bad(row, f"the text is only {plain.strip()!r}"))
        elif not plain.strip():
            wrong.append(table.name_bad(row, NO_TEXT))
        else:
            texts.append(plain)
            cells.rows.append(row)
            cells.dates.append(dates[place])
            cells.titles.append(titles[place])
            cells.groups.append(_name_group(groups[place]) if columns.group else "")
    bad.add(wrong)
    if len(cells.rows) + bad.count > MAX_ROWS:
        raise CorpusError(f"{table.path} has more than {MAX_ROWS:,} rows. {TOO_LARGE}.")
    return texts


def _name_group(cell: str) -> str:
    name = cell.strip()
    return NO_GROUP if not name or PLACEHOLDER.fullmatch(name) else name


def explain_groups(num_ungrouped: int, num_rows: int) -> tuple[str, ...]:
    """Say how many of the rows with text have no group."""
    if not num_ungrouped:
        return ()
    said = f"{num_ungrouped:,} of {num_rows:,} rows have no group"
    return (f'{said}: they are read as the group "{NO_GROUP}".',)


def _explain_object(column: str, cell: str) -> str:
    """Say that a text is a JSON object, and which fields can be read instead."""
    names = ", ".join(map(_shorten, list(_list_columns(column, [cell]))[:NUM_LISTED]))
    remedy = f"choose a field of it, such as {names}" if names else "write its text instead"
    return f"the text in {_shorten(column)} is a JSON object: {remedy}"


def _list_columns(name: str, cells: Sequence[str]) -> Fields:
    """The fields of a column if most of its filled cells are JSON objects; none otherwise."""
    filled = [cell for cell in cells if cell.strip()]
    objects = [cell for cell in filled if "{" in cell and unwrap_text(cell) is None]
    fields: Fields = {}
    if 2 * len(objects) > len(filled):
        for cell in objects:
            add_fields(fields, list_fields({name: read_value(cell)}))
    return {column: path for column, path in fields.items() if len(path) > 1}


def split_objects(table: Table) -> Table:
    """Replace columns of JSON objects by the fields of these objects, as in JSON files."""
    # Wider tables have word counts.
    if table.has or len(table.columns) > MAX_COLUMNS:
        return table
    chunk = next(iter(table.read(table.columns)))
    found = {name: _list_columns(name, cells) for name, cells in chunk.cells.items()}
    names = [repr(shorten(name)) for name, fields in found.items() if fields]
    if not names:
        return table
    fields: Fields = {}
    for name in table.columns:
        fields |= found[name] or {name: (name,)}

    def read(chunks: Iterable[Chunk], wanted: Sequence[str]) -> Iterator[Chunk]:
        for chunk in chunks:
            values = {
                name: list(map(read_value, cells)) if found[name] else cells
                for name, cells in chunk.cells.items()
            }
            paths = {name: fields[name] for name in wanted}
            cells = {
                name: [write_cell(find_field(value, path[1:])) for value in values[path[0]]]
                for name, path in paths.items()
            }
            yield chunk._replace(cells=cells)

    def list_bases(wanted: Sequence[str]) -> list[str]:
        return list(dict.fromkeys(fields[name][0] for name in wanted))

    groups = table.read_groups
    return replace(
        table,
        columns=tuple(fields),
        read=lambda wanted: read(table.read(list_bases(wanted)), wanted),
        read_groups=groups
        and (lambda wanted, *span: read(groups(list_bases(wanted), *span), wanted)),
        notes=(*table.notes, FIELDS.format(", ".join(names[:NUM_LISTED]))),
    )


def list_notes(
    table: Table, columns: Columns, cells: Cells, form: str, left: LeftOut | None = None
) -> tuple[str, ...]:
    """List what to say about a table that has been read with these columns.

    form: that of the dates. left: what was left out of the texts; None for the first rows only.
    """
    dated = "" if columns.date is None else table.date_note or explain_form(cells.dates, form)
    notes = tuple(filter(None, (*table.notes, dated)))
    if left is None:
        return notes
    grouped = explain_groups(cells.groups.count(NO_GROUP), len(cells.rows))
    return notes + grouped + tuple(filter(None, [left.note]))


def name_document(table: Table, row: int, title: str) -> str:
    """Return the title of a document, or a name made of its file and row if it has none."""
    return title.strip()[:MAX_TITLE] or f"{table.path.stem}, row {row}"


def find_date_form(columns: Columns, cells: Cells) -> str:
    """Find the form that most of the dates have; "" without a date column."""
    if columns.date is None:
        return ""
    return find_form(cells.dates, columns.day_first)


def date_rows(table: Table, columns: Columns, cells: Cells, bad: BadRows, form: str) -> np.ndarray:
    """Read the dates (N,) of the rows with text, which have this form.

    NaT without a date column, and for rows that are added to `bad`.
    """
    if columns.date is None:
        return np.full(len(cells.rows), "NaT", "datetime64[D]")
    dates = read_dates(cells.dates, form)
    undated = np.flatnonzero(np.isnat(dates))
    bad.add([table.name_bad(cells.rows[row], explain_date(cells.dates[row])) for row in undated])
    return dates


def list_kept(columns: Columns, dates: np.ndarray) -> np.ndarray:
    """List the rows that have a date, or all without a date column."""
    return np.flatnonzero(~np.isnat(dates) | (columns.date is None))


def explain_no_rows(path: Path | str, bad: BadRows) -> str:
    """Say that a source has no usable row, with the first reason."""
    reason = explain_first(bad, "Put texts into the rows below the header row")
    return f"{path} has no usable rows. {reason}."


def explain_first(bad: BadRows, otherwise: str) -> str:
    """Return the first reason why rows were skipped, or a remedy if none was."""
    return f"First problem: {bad.listed[0]}" if bad.listed else otherwise
