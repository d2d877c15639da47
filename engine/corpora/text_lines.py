"""The lines of text files, and the texts that they form: pages, paragraphs or lines."""

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TextIO

from stickbreaker.engine.corpora.encodings import Encoding, find_encoding
from stickbreaker.engine.corpora.kinds import LINES, PAGES, PARAGRAPHS
from stickbreaker.engine.corpora.rows import MAX_TEXT, BadRow, Chunk, Row, Table, gather

LONG_LINES = "the {} is longer than {:,} characters: split it"
UNITS = {LINES: "line", PARAGRAPHS: "paragraph", PAGES: "page"}


@contextmanager
def open_text(
    path: Path, encoding: Encoding, newline: str | None = None
) -> Iterator[tuple[TextIO, Callable[[], float]]]:
    """Open a text file, with a function that returns the share of the file that has been read."""
    with path.open("rb") as stream:
        size = max(1, path.stat().st_size)
        yield (
            io.TextIOWrapper(stream, encoding.name, errors="replace", newline=newline),
            lambda: stream.tell() / size,
        )


def short_lines(text: TextIO) -> Iterator[str]:
    """The lines of a file; of a line that is too long only as much as shows that."""
    while line := text.readline(MAX_TEXT):
        if is_cut(line):
            skip_rest(text)
        yield line


def skip_rest(text: TextIO) -> None:
    """Skip what is left of a line that is cut."""
    while is_cut(text.readline(MAX_TEXT)):
        pass


def is_cut(line: str) -> bool:
    """Whether a line is too long, and its end is left out."""
    return len(line) == MAX_TEXT and not line.endswith("\n")


def divide(lines: Iterable[str], kind: str) -> Iterator[tuple[int, str]]:
    """The lines, paragraphs or pages of a text that are not blank, with the number of the page, or
    of the first line; of one that is too long, as much as shows that.
    """
    first = page = 1
    text = ""
    for row, line in enumerate(lines, start=1):
        page += line.count("\f")
        if {LINES: True, PARAGRAPHS: not line.strip(), PAGES: "\f" in line}[kind]:
            if text.strip():
                yield first, text.strip()
            text = ""
        if not text.strip():
            first = page if kind == PAGES else row
            text = ""
        if len(text) <= MAX_TEXT:
            text += line
    if text.strip():
        yield first, text.strip()


def open_lines(path: Path, given: str = "", kind: str = LINES) -> Table:
    """Open a text file with one text per line, or per paragraph or page (kind: `PARAGRAPHS`,
    `PAGES`); its rows are the numbers of the first lines, or of the pages.

    Raises CorpusError if it is missing, empty or not text.
    """
    encoding = find_encoding(path, given)

    def read(wanted: Sequence[str]) -> Iterator[Chunk]:
        with open_text(path, encoding) as (text, share):
            yield from gather(str(path), wanted, share, rows(text, len(wanted)))

    def rows(text: TextIO, num_wanted: int) -> Iterator[Row]:
        for row, found in divide(short_lines(text), kind):
            if len(found) >= MAX_TEXT:
                yield BadRow(file=str(path), row=row, reason=LONG_LINES.format(unit, MAX_TEXT))
            else:
                yield row, [found] * num_wanted

    unit = UNITS[kind]
    notes = (*encoding.notes, f"Each {unit} is read as a document.")
    return Table(path=path, kind=kind, columns=("text",), read=read, notes=notes)


open_paragraphs = partial(open_lines, kind=PARAGRAPHS)
open_pages = partial(open_lines, kind=PAGES)
