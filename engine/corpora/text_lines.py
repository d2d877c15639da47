"""The lines of text files, and the texts that they form: pages, paragraphs, lines, or parts with
numbered headings.
"""

import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TextIO

from stickbreaker.engine.corpora.encodings import Encoding, find_encoding
from stickbreaker.engine.corpora.kinds import HEADINGS, LINES, PAGES, PARAGRAPHS
from stickbreaker.engine.corpora.rows import MAX_TEXT, BadRow, Chunk, Row, Table, gather

LONG_LINES = "the {} is longer than {:,} characters: split it"
UNITS = {
    LINES: "line",
    PARAGRAPHS: "paragraph",
    PAGES: "page",
    HEADINGS: "part below a numbered heading",
}
# Lines in which headings are looked for.
NUM_HEADED = 20_000
LONGEST_HEADING = 100
HEADING = re.compile(
    r"(?P<word>[^\W\d_a-z][^\W\d_]*) +(?P<number>\d{1,4}|[IVXLC]+)(?:[^\w\s].*| +[^\Wa-z].*)?"
    r"|(?P<before>\d{1,4}|[IVXLC]+)\. *(?P<after>[^\W\d_]*)|(?P<alone>[IVXLC]+)"
)
ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
# What is numbered, but does not begin a part.
CAPTIONS = "figure fig table tab abbildung abb tabelle tableau figura tabla tabella plate note page"


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


def _read_heading(line: str) -> tuple[str, int]:
    """The word and the number of a line that may be a heading; 0 if it is none.

    >>> [_read_heading(line) for line in ("Chapter IX. Peace", "## 12. Brief", "XL", "In May")]
    [('chapter', 9), ('brief', 12), ('', 40), ('', 0)]
    """
    found = HEADING.fullmatch(line.strip("#*_= \t\r\n")) if len(line) <= LONGEST_HEADING else None
    if found is None:
        return "", 0
    written = found["number"] or found["before"] or found["alone"]
    word = (found["word"] or found["after"] or "").lower()
    if written.isdecimal():
        return word, int(written)
    values = [ROMAN[sign] for sign in written]
    ends = [*values[1:], 0]
    return word, sum(one if one >= after else -one for one, after in zip(values, ends, strict=True))


def find_headings(lines: Iterable[str]) -> tuple[str, int]:
    """The word of headings whose numbers count up from 1, "" for numbers alone, and the last
    number; 0 if there are none.
    """
    last: Counter[str] = Counter()
    for word, number in map(_read_heading, lines):
        last[word] += number == last[word] + 1 and word not in CAPTIONS.split()
    return max(last.items(), key=lambda each: each[1], default=("", 0))


def divide(lines: Iterable[str], kind: str, heading: str = "") -> Iterator[tuple[int, str]]:
    """The lines, paragraphs, pages or parts of a text that are not blank, with the number of the
    page, or of the first line; of one that is too long, as much as shows that.

    heading: the word of the headings with which parts begin.
    """
    begins: Callable[[str], bool] = {
        LINES: lambda line: True,
        PARAGRAPHS: lambda line: not line.strip(),
        PAGES: lambda line: "\f" in line,
        HEADINGS: lambda line: _is_heading(line, heading),
    }[kind]
    first = page = 1
    text = ""
    for row, line in enumerate(lines, start=1):
        page += line.count("\f")
        if begins(line):
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


def _is_heading(line: str, heading: str) -> bool:
    word, number = _read_heading(line)
    return number > 0 and word == heading


def open_lines(path: Path, given: str = "", kind: str = LINES) -> Table:
    """Open a text file with one text per line, or per paragraph, page or heading (kind:
    `PARAGRAPHS`, `PAGES`, `HEADINGS`); its rows are the numbers of the first lines, or of the
    pages. The title of a part is its first line, which is not in the text.

    Raises CorpusError if it is missing, empty or not text.
    """
    encoding = find_encoding(path, given)
    heading = ""
    columns: tuple[str, ...] = ("text",)
    if kind == HEADINGS:
        columns = ("text", "title")
        with open_text(path, encoding) as (text, _):
            heading, _ = find_headings(islice(short_lines(text), NUM_HEADED))

    def read(wanted: Sequence[str]) -> Iterator[Chunk]:
        with open_text(path, encoding) as (text, share):
            yield from gather(str(path), wanted, share, rows(text, wanted))

    def rows(text: TextIO, wanted: Sequence[str]) -> Iterator[Row]:
        for row, found in divide(short_lines(text), kind, heading):
            title, _, below = found.partition("\n")
            if len(found) >= MAX_TEXT:
                yield BadRow(file=str(path), row=row, reason=LONG_LINES.format(unit, MAX_TEXT))
            elif kind != HEADINGS:
                yield row, [found] * len(wanted)
            # A table of contents has headings alone.
            elif below.strip():
                cells = {"text": below.strip(), "title": title.strip("#*_= \r")}
                yield row, [cells[column] for column in wanted]

    unit = UNITS[kind]
    notes = (*encoding.notes, f"Each {unit} is read as a document.")
    return Table(path=path, kind=kind, columns=columns, read=read, notes=notes, has=columns[1:])


open_paragraphs = partial(open_lines, kind=PARAGRAPHS)
open_pages = partial(open_lines, kind=PAGES)
open_headings = partial(open_lines, kind=HEADINGS)
