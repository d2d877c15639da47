"""Read JSON files with a list of objects, or with one object per line."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

from stickbreaker.engine.corpora.cells import (
    Fields,
    add_fields,
    find_field,
    list_fields,
    write_cell,
)
from stickbreaker.engine.corpora.encodings import Encoding, find_encoding
from stickbreaker.engine.corpora.rows import (
    MAX_COLUMNS,
    MAX_TEXT,
    BadRow,
    Chunk,
    CorpusError,
    Row,
    Table,
    gather,
)
from stickbreaker.engine.corpora.text_lines import LONG_LINES, is_cut, open_text, short_lines
from stickbreaker.engine.files.messages import explain_error


def open_json_lines(path: Path, given: str = "") -> Table:
    """Open a file with one JSON object per line.

    The columns are the keys of the first thousand objects.

    Raises CorpusError if it is missing, empty or not text, or has no JSON object in its first
    lines.
    """
    encoding = find_encoding(path, given)
    columns: Fields = {}
    with path.open(encoding=encoding.name, errors="replace") as text:
        for number, line in enumerate(short_lines(text)):
            if number == 0 and line.lstrip().startswith("["):
                raise CorpusError(
                    f"{path} is one JSON list, not JSON lines. Write one object per line."
                )
            found = _read_object(line)
            if isinstance(found, dict):
                add_fields(columns, list_fields(found))
            if number == 1_000 or len(columns) > MAX_COLUMNS:
                break
    if not columns:
        raise CorpusError(
            f'{path} has no JSON object in its first lines. Write one per line, like {{"text":'
            " ...}."
        )

    def read(wanted: Sequence[str]) -> Iterator[Chunk]:
        paths = [columns[name] for name in wanted]
        with open_text(path, encoding) as (text, share):
            yield from gather(str(path), wanted, share, _json_rows(path, text, paths))

    return Table(
        path=path, kind="JSON lines", columns=tuple(columns), read=read, notes=encoding.notes
    )


def open_json(path: Path, given: str = "") -> Table:
    """Open a JSON file with a list of objects, alone or in an object, or with one object per line.

    Raises CorpusError if it has another form.
    """
    encoding = find_encoding(path, given)
    with path.open(encoding=encoding.name, errors="replace") as text:
        first = next((line for line in short_lines(text) if line.strip()), "[]")
    if isinstance(_read_object(first), dict):
        return open_json_lines(path, given)
    return open_items(path, "JSON", _load_items(path, encoding), encoding.notes)


def open_items(
    path: Path, kind: str, items: Sequence[Any], notes: tuple[str, ...] = (), first: int = 1
) -> Table:
    """Open a list of objects; first: the number of its first row."""
    columns: Fields = {}
    for item in items[:1_000]:
        add_fields(columns, list_fields(item))

    def read(wanted: Sequence[str]) -> Iterator[Chunk]:
        paths = [columns[name] for name in wanted]
        seen = [0]
        yield from gather(str(path), wanted, lambda: seen[0] / len(items), rows(paths, seen))

    def rows(paths: Sequence[Sequence[str]], seen: list[int]) -> Iterator[Row]:
        for row, item in enumerate(items, first):
            seen[0] = row
            if isinstance(item, dict):
                yield row, [write_cell(find_field(item, field)) for field in paths]
            else:
                yield BadRow(file=str(path), row=row, reason="the item is not a JSON object")

    return Table(path=path, kind=kind, columns=tuple(columns), read=read, notes=notes)


def _load_items(path: Path, encoding: Encoding) -> list[Any]:
    """The longest list with objects in a JSON file, which is it or one of its fields."""
    try:
        with path.open(encoding=encoding.name, errors="replace") as text:
            content = json.load(text)
    except (ValueError, RecursionError) as error:
        raise CorpusError(
            f"Cannot read {path} as JSON ({explain_error(error)}). Write a list of objects, or one"
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


def _read_object(line: str) -> dict[str, Any] | str:
    """Parse a line into a JSON object, an empty one if it is empty, or explain why it is wrong."""
    if is_cut(line):
        return LONG_LINES.format("line", MAX_TEXT)
    try:
        found = json.loads(line.rstrip() or "{}")
    except json.JSONDecodeError as error:
        return (
            f"the line is not JSON ({error.msg} at character {error.pos + 1}): write one object per"
            " line"
        )
    except (ValueError, RecursionError):
        return "the JSON is nested too deeply or has too long a number: write a flat object"
    if not isinstance(found, dict):
        return "the line is not a JSON object: write one object per line"
    return found


def _json_rows(path: Path, text: TextIO, wanted: Sequence[Sequence[str]]) -> Iterator[Row]:
    for row, line in enumerate(short_lines(text), start=1):
        found = _read_object(line)
        if isinstance(found, str):
            yield BadRow(file=str(path), row=row, reason=found)
        else:
            yield row, [write_cell(find_field(found, field)) for field in wanted]
