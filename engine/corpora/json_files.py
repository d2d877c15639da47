"""Read JSON files with a list of objects, or with one object per line."""

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from stickbreaker.engine.corpora.cells import (
    MAX_DEPTH,
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
    shorten,
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
        lines = (line for line in short_lines(text) if line.strip())
        first, *others = [*islice(lines, 2)] or ["[]"]
    found = _read_object(first)
    if isinstance(found, dict) and (others or not _find_items(found)[0]):
        return open_json_lines(path, given)
    items, notes = _load_items(path, encoding)
    return open_items(path, "JSON", items, (*encoding.notes, *notes))


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


def _load_items(path: Path, encoding: Encoding) -> tuple[list[Any], tuple[str, ...]]:
    """The rows of a JSON file, with notes."""
    try:
        with path.open(encoding=encoding.name, errors="replace") as text:
            content = json.load(text)
    except (ValueError, RecursionError) as error:
        raise CorpusError(
            f"Cannot read {path} as JSON ({explain_error(error)}). Write a list of objects, or one"
            " object per line into a .jsonl file."
        ) from error
    items, notes = _find_items(content)
    if not items:
        raise CorpusError(f"{path} has no list of objects. Write one, like [{{'text': ...}}].")
    return items, notes


def _find_items(content: Any) -> tuple[list[Any], tuple[str, ...]]:
    """The rows of JSON, with notes: the list of objects with most text, a data frame, or a list of
    texts; none if most text is outside of the list, as in one document.
    """
    lists = {name: each for name, each in _list_leaves(content) if isinstance(each, list)}
    tables = {name: each for name, each in lists.items() if any(isinstance(i, dict) for i in each)}
    texts = [each for each in lists.values() if all(isinstance(item, str) for item in each)]
    num_letters = {name: sum(map(_count_letters, each[:1_000])) for name, each in tables.items()}
    num_outside = _count_letters(content)
    name = max(tables, key=lambda name: (num_letters[name], len(tables[name])), default="")
    if tables and num_letters[name] >= num_outside:
        left = ", ".join(repr(shorten(other)) for other in tables if other != name)
        note = f"The list {shorten(name)!r} is read. Left out: {left}."
        return tables[name], (note,) * bool(left)
    if isinstance(content, dict) and (rows := _read_frame(content)):
        return rows, ()
    longest = max(texts, key=len, default=[])
    is_corpus = sum(map(len, longest)) >= num_outside
    return [{"text": text} for text in longest if is_corpus], ()


def _read_frame(content: dict[str, Any]) -> list[Any]:
    """The rows of a data frame that is written as columns, as objects by their ids, or as the names
    of columns and lists; none if it is something else.
    """
    values = list(content.values())
    names, data = content.get("columns"), content.get("data")
    if isinstance(names, list) and isinstance(data, list):
        keys = list(map(str, names))
        return [dict(zip(keys, row, strict=False)) for row in data if isinstance(row, list)]
    if all(isinstance(each, list) for each in values):
        is_frame = len(set(map(len, values))) == 1 < len(values)
        rows = zip(*values, strict=is_frame)
        return [dict(zip(content, row, strict=True)) for row in rows if is_frame]
    if not all(isinstance(each, dict) for each in values):
        return []
    shared = set.intersection(*map(set, values))
    if len(shared) > len(values) > 1:
        return [{name: content[name].get(row) for name in content} for row in values[0]]
    return [{"id": name} | content[name] for name in content if shared and len(values) > 2]


def _list_leaves(value: Any, name: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """The values in an object, and in its objects, that are no objects, with their paths."""
    if not isinstance(value, dict) or depth > MAX_DEPTH:
        yield name, value
        return
    for key, each in value.items():
        yield from _list_leaves(each, f"{name}.{key}".removeprefix("."), depth + 1)


def _count_letters(value: Any) -> int:
    """The length of the texts in an object, outside of lists."""
    return sum(len(each) for _, each in _list_leaves(value) if isinstance(each, str))


def _read_object(line: str) -> dict[str, Any] | str:
    """Parse a line into a JSON object, an empty one if it is empty, or explain why it is wrong."""
    if is_cut(line):
        return LONG_LINES.format("line", MAX_TEXT)
    try:
        found = json.loads(line.rstrip().removesuffix(",") or "{}")
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
