"""Convert the values of cells to text: lists, objects, dates with times, and lists written as
text.
"""

import ast
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time
from typing import Any

import numpy as np

# Deeper fields of objects are not columns.
MAX_DEPTH = 8
# Columns up to which fields inside of objects are added.
MAX_NESTED = 200
# The path of each column in the objects of the rows.
Fields = dict[str, tuple[str, ...]]
# A list as NumPy writes it, without commas.
STRING = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
NUMPY_LIST = re.compile(rf"\[\s*{STRING}(?:\s+{STRING})*\s*\]")
# An object that cannot be read, because it is cut, for example.
OBJECT = re.compile(r"""\s*\[?\s*\{\s*(["'])[^"']{1,80}\1\s*(?::|=>)""")


def write_cell(value: Any, depth: int = 0) -> str:
    """Convert a value from JSON, Parquet or a data frame to text.

    None, NaN and objects become "". Dates and times are ISO 8601, as they were written, without a
    time zone. The texts of a list, also those in objects of messages ({"text": ...}), are joined by
    line ends, and its words by spaces.

    >>> write_cell(["new", "york"]), write_cell(["A first line.", "A second one."])
    ('new york', 'A first line.\\nA second one.')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, np.ndarray | tuple | set | frozenset):
        value = list(value)
    if isinstance(value, list) and depth < MAX_DEPTH:
        parts = [text for each in value if (text := write_cell(each, depth + 1).strip())]
        has_texts = any(len(part.split()) > 1 for part in parts)
        return ("\n" if has_texts else " ").join(parts)
    if isinstance(value, dict) and depth:
        value = value.get("text")
        return value if isinstance(value, str) else ""
    if value is None or isinstance(value, dict | list) or value != value:
        return ""
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    if isinstance(value, datetime):
        value = value.replace(tzinfo=None)
    return value.isoformat() if isinstance(value, date | time) else str(value)


def list_fields(value: Any, depth: int = 0) -> Iterator[tuple[str, ...]]:
    """List the paths of all fields of an object that are not objects themselves.

    >>> list(list_fields({"id": 1, "body": {"text": "a", "links": [{"to": "b"}]}}))
    [('id',), ('body', 'text'), ('body', 'links', 'to')]
    """
    if not isinstance(value, dict):
        return
    for key, field in value.items():
        inside = field if isinstance(field, list) else [field]
        objects = [each for each in inside if isinstance(each, dict)]
        if len(objects) < len(inside) or not inside:
            yield (key,)
        if depth < MAX_DEPTH:
            for each in objects:
                yield from ((key, *path) for path in list_fields(each, depth + 1))


def add_fields(columns: Fields, paths: Iterable[tuple[str, ...]]) -> None:
    """Add fields as columns: all that are not in an object, and others up to `MAX_NESTED`."""
    for path in paths:
        if len(path) == 1 or len(columns) < MAX_NESTED:
            columns.setdefault(".".join(path), path)


def find_field(value: Any, path: Sequence[str]) -> Any:
    """Find a field by its path; in a list of objects, the fields of all of them."""
    if not path:
        return value
    if isinstance(value, list):
        return [find_field(each, path) for each in value if isinstance(each, dict)]
    if isinstance(value, dict):
        return find_field(value.get(path[0]), path[1:])
    return None


def read_value(text: str) -> Any:
    """Read a list, an object or bytes that are written as text, in JSON or in Python, or as JSON in
    JSON; any other text is returned as it is.
    """
    if not text.lstrip().startswith(("[", "{", '"[', '"{', "b'", 'b"')):
        return text
    try:
        value = json.loads(text)
        return read_value(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        bare = text.strip()
        try:
            if NUMPY_LIST.fullmatch(bare):
                return list(map(ast.literal_eval, re.findall(STRING, bare)))
            return ast.literal_eval(bare)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            return text


def unwrap_text(text: str) -> str | None:
    """Join a list that is written as text, and decode bytes; None for JSON objects.

    >>> unwrap_text("['new', 'york']"), unwrap_text("[deleted]"), unwrap_text('{"a": 1}')
    ('new york', '[deleted]', None)
    """
    value = read_value(text)
    if isinstance(value, str):
        return None if OBJECT.match(value) else text
    if isinstance(value, bytes):
        return write_cell(value)
    if any(isinstance(each, dict) for each in (value if isinstance(value, list) else [value])):
        return None
    has_texts = isinstance(value, list) and any(isinstance(each, str | list) for each in value)
    return write_cell(value) if has_texts else text
