"""Read CSV and TSV files in chunks, and report rows that cannot be read; find out whether a text
file is such a table.

Neither pandas nor pyarrow can skip every broken row (one with an open quote, for example), give
its number and name the fault.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from stickbreaker.engine.corpora.encodings import find_encoding
from stickbreaker.engine.corpora.kinds import HEADINGS, LINES, PAGES, PARAGRAPHS, Role, find_kind
from stickbreaker.engine.corpora.rows import (
    MAX_TEXT,
    BadRow,
    Chunk,
    CorpusError,
    Row,
    Table,
    gather,
)
from stickbreaker.engine.corpora.text_lines import (
    NUM_HEADED,
    divide,
    find_headings,
    is_cut,
    open_text,
    short_lines,
    skip_rest,
)

NO_SIGN = "\x1f"
# Lines from which the form of a file is found, and the most rows above the names of the columns.
NUM_SNIFFED = 200
MAX_ABOVE = 20
HEADER_BELOW = "The names of the columns seem to be in row {}; the rows above it are left out."
HEADER_TEXT = (
    "Row {} is read as the names of the columns, such as {!r}. If it is a document, add a row with"
    " names above it."
)
DESCRIBED = "Row {} describes the columns, as survey services write it, and is left out."
PLAIN_QUOTES = "Quotation marks are read as plain characters; otherwise rows would be lost."
GAP = re.compile(r"(?<=\S)[ \u00a0]{2,}(?=\S)")
GAPS = "Two spaces or more are read as the end of a cell."
ALIGNED = "Cells are read from the place where the name of their column begins."
SAVE_AS_CSV = "save the table as CSV, which shows where each cell ends"
UNEVEN = "{} has columns that are parted by spaces, and not all rows have the same: " + SAVE_AS_CSV
# Rows that show that columns are parted by spaces.
LEAST_ALIGNED = 3
SHARE_OF_GAPS = 0.25
# Fewer lines, paragraphs or pages do not show what a text file is.
LEAST_LINES = 10
LEAST_PAGES = 3
NUM_PAGED = 1_000
SHARE_OF_FILLED = 0.9
SHARE_OF_ENDS = 0.8
LONG_LINE = 120
SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’»)\]]*$")
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar", "^": "caret"}


class Form(NamedTuple):
    """How a CSV or TSV file is written.

    Its separator, whether quotes enclose cells, whether a quote in a cell has a backslash, the
    number of rows above the names of the columns and of those below that describe the columns,
    whether several spaces end a cell, whether a cell begins after the spaces that follow a
    separator, whether rows begin with their numbers, which have no name, and where the columns
    begin if all cells are below their names.
    """

    delimiter: str
    has_quotes: bool = True
    has_escapes: bool = False
    num_above: int = 0
    num_below: int = 0
    has_gaps: bool = False
    skips_spaces: bool = False
    has_numbers: bool = False
    starts: tuple[int, ...] = ()

    def rows(self, text: TextIO) -> Any:
        """Read the rows of an open file."""
        lines = _lines(text)
        if self.has_escapes:
            lines = map(_double_quotes, lines)
        if self.has_gaps:
            lines = (_cut_columns(line, self.starts) for line in lines)
        return csv.reader(
            lines,
            delimiter=self.delimiter,
            strict=True,
            skipinitialspace=self.skips_spaces,
            quoting=csv.QUOTE_MINIMAL if self.has_quotes else csv.QUOTE_NONE,
        )


def open_delimited(path: Path, given: str = "") -> Table:
    """Open a CSV or TSV file with column names in the first row, or below a few narrower ones.

    Raises CorpusError if it is missing, empty or not text, or the first row cannot be read.
    """
    encoding = find_encoding(path, given)
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
    num_columns = len(header) + form.has_numbers
    if form.delimiter == "\t" and _loses_rows(path, encoding.name, form, num_columns):
        form = form._replace(has_quotes=False)
        with path.open(encoding=encoding.name, errors="replace", newline="") as text:
            header = next(islice(form.rows(text), form.num_above, None))
    columns = name_columns([""] * form.has_numbers + header)

    def read(wanted: Sequence[str]) -> Iterator[Chunk]:
        places = [columns.index(column) for column in wanted]
        with open_text(path, encoding, newline="") as (text, share):
            yield from gather(
                str(path), wanted, share, _delimited_rows(path, text, form, places, columns)
            )

    notes = list(encoding.notes)
    if form.has_gaps:
        notes.append(ALIGNED if form.starts else GAPS)
    elif not form.has_quotes:
        notes.append(PLAIN_QUOTES)
    notes += describe_header(columns, form.num_above, form.num_below)
    kind = find_kind(path.name)
    # A text file may be a table.
    name = kind.name if kind.role is Role.TABLE else "CSV"
    return Table(path=path, kind=name, columns=columns, read=read, notes=tuple(notes))


def describe_header(columns: Sequence[str], num_above: int, num_below: int) -> Iterator[str]:
    """Say which rows around the names of the columns are left out, or if a name may be a text."""
    if num_above:
        yield HEADER_BELOW.format(num_above + 1)
    if not all(map(looks_like_name, columns)):
        yield HEADER_TEXT.format(num_above + 1, min(columns, key=looks_like_name)[:40])
    yield from map(DESCRIBED.format, range(num_above + 2, num_above + 2 + num_below))


def looks_like_name(cell: str) -> bool:
    """Whether a cell may be the name of a column, and not a text, a number or a date."""
    return len(cell.split()) <= 8 and len(cell) <= 80 and any(map(str.isalpha, cell))


def _find_form(path: Path, encoding: str) -> Form:
    """Find the separator for which most of the first rows have equally many cells."""
    with path.open(encoding=encoding, errors="replace", newline="") as text:
        lines = [line for line in islice(short_lines(text), NUM_SNIFFED) if len(line) < MAX_TEXT]
    first = "".join(lines[:1])
    if named := re.fullmatch(r"sep=(.)\s*", first):
        return Form(delimiter=named[1], num_above=1)
    # Texts have carets, and names of columns have none.
    signs = [sign for sign in DELIMITERS if sign != "^" or sign in first]
    if path.suffix.lower() in (".tsv", ".tab") and any("\t" in line for line in lines):
        signs = ["\t"]
    if (aligned := _find_aligned(lines, path)) is not None:
        return aligned
    escaped = list(map(_double_quotes, lines))
    has_escapes = escaped != lines and _count_good(escaped) > _count_good(lines)
    if has_escapes:
        lines = escaped
    bare = re.sub(r'"[^"]*"', "", first)
    best = max(signs, key=lambda sign: (*_agree(lines, sign), bare.count(sign), sign == ","))
    skips_spaces = _count_usual(lines, best, skipinitialspace=True) > _count_usual(lines, best)
    if not (_agree(lines, best)[0] or any(sign in bare for sign in signs)):
        # One column: a comma in a text does not end it.
        best = NO_SIGN
    rows = _sniff_rows(lines, best, skipinitialspace=skips_spaces)
    num_above = count_above(rows)
    return Form(
        best,
        has_escapes=has_escapes,
        num_above=num_above,
        num_below=count_below(rows[num_above:]),
        skips_spaces=skips_spaces,
        has_numbers=_have_numbers(rows),
    )


def _have_numbers(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the other rows have one cell more than the first, with their numbers, as R writes.

    After a comma inside of a text is a space.
    """
    header, *others = [*filter(None, rows)] or [[]]
    return len(others) > 1 and all(
        len(row) == len(header) + 1
        and row[0] == str(number)
        and not any(cell.startswith(" ") for cell in row)
        for number, row in enumerate(others, start=1)
    )


def _find_aligned(lines: Sequence[str], path: Path) -> Form | None:
    """The form of a file whose columns are all parted by several spaces; None if they are not.

    Raises CorpusError if which cells are empty is not clear.
    """
    rows = [_replace_gaps(line).rstrip().split(NO_SIGN) for line in lines]
    above = count_above(rows)
    widths = [len(row) for row in rows[above:] if row != [""]]
    if len(widths) < LEAST_ALIGNED or widths[0] < 2:
        return None
    # A name of a column has no separator.
    if any(map(lines[above].__contains__, DELIMITERS)):
        return None
    is_even = widths.count(widths[0]) >= SHARE_OF_FILLED * len(widths)
    # A title has a blank line below it, and is not as many names.
    is_titled = above == 0 or not lines[above - 1].strip()
    has_gaps = sum(width > 1 for width in widths) >= SHARE_OF_GAPS * len(widths)
    has_names = is_titled and all(map(looks_like_name, rows[above]))
    starts = _find_starts(lines[above:]) if has_gaps and has_names else ()
    if starts or (is_even and is_titled):
        return Form(NO_SIGN, has_quotes=False, num_above=above, has_gaps=True, starts=starts)
    if (has_gaps and has_names) or (is_even and len(lines[above - 1].split()) == widths[0]):
        raise CorpusError(f"{UNEVEN.format(path)}.")
    return None


def _find_starts(lines: Sequence[str]) -> tuple[int, ...]:
    """Where the columns begin if the cells of all rows begin below their names; () if they do not.

    >>> _find_starts(["day   text", "1901  Peace", "      Trade  and"])
    (0, 6)
    >>> _find_starts(["a  b", "abc d"])
    ()
    """
    header, *rows = lines
    first = len(header) - len(header.lstrip())
    starts = (first, *(gap.end() for gap in GAP.finditer(header)))
    return starts if all(_find_cells(row, starts) for row in rows) else ()


def _find_cells(line: str, starts: Sequence[int]) -> list[str]:
    """The cells of a line that are below the names of their columns; [] if one begins elsewhere."""
    ends = [*starts[1:], None]
    cells = [
        line[start:end].rstrip() for start, end in zip(starts, ends[: len(starts)], strict=True)
    ]
    before = [line[max(0, start - 1) : start].strip() for start in starts]
    is_aligned = not any(before) and all(cell == cell.lstrip() for cell in cells)
    return cells if is_aligned else []


def _cut_columns(line: str, starts: Sequence[int]) -> str:
    cells = _find_cells(line, starts)
    return NO_SIGN.join(cells) + "\n" if cells else _replace_gaps(line)


def _each_row(lines: Sequence[str], **form: Any) -> Iterator[list[str] | None]:
    """The rows of some lines; None for those that cannot be read."""
    csv.field_size_limit(MAX_TEXT)
    reader = csv.reader(lines, **form)
    while True:
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error:
            yield None


def _count_good(lines: Sequence[str]) -> int:
    return sum(row is not None for row in _each_row(lines, strict=True))


def _sniff_rows(lines: Sequence[str], delimiter: str, **form: Any) -> list[list[str]]:
    """The first rows of a file, without the last one, which may be cut; [] for bad ones."""
    rows = [row or [] for row in _each_row(lines, delimiter=delimiter, **form)]
    if len(lines) == NUM_SNIFFED:
        rows.pop()
    return rows


def _usual(widths: Sequence[int]) -> tuple[int, int]:
    """The most frequent number of cells, two or more, and the number of rows that have it."""
    (width, number), *_ = [*Counter(each for each in widths if each > 1).most_common(1), (1, 0)]
    return width, number


def _count_usual(lines: Sequence[str], delimiter: str, **form: Any) -> int:
    return _usual([len(row) for row in _sniff_rows(lines, delimiter, **form)])[1]


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


def _replace_gaps(line: str) -> str:
    return GAP.sub(NO_SIGN, line.lstrip(" "))


def count_above(rows: Sequence[Sequence[str]]) -> int:
    """The number of comments, and of rows with one cell or none, above the first usual row."""
    width, number = _usual([len(row) for row in rows])
    for above, row in enumerate(rows[:MAX_ABOVE]):
        if len(row) != width and "".join(row[:1]).startswith("#"):
            continue
        if sum(bool(cell.strip()) for cell in row) > 1:
            return above if number > 1 and len(row) == width else 0
    return 0


def count_below(rows: Sequence[Sequence[str]]) -> int:
    """The number of rows below the names of the columns in which Qualtrics or SurveyMonkey has
    written its questions and numbers.

    >>> count_below([["Q1"], ["What is new?"], ['{"ImportId":"QID1"}'], ["Peace."]])
    2
    """
    for number, row in enumerate(rows[:3]):
        if "Open-Ended Response" in row or any(cell.startswith('{"ImportId":') for cell in row):
            return number
    return 0


def _loses_rows(path: Path, encoding: str, form: Form, num_columns: int) -> bool:
    """Whether a file with tabs has fewer complete rows if quotation marks enclose cells than if
    they are plain.
    """
    with path.open(encoding=encoding, errors="replace", newline="") as text:
        if not any(line.count('"') % 2 for line in short_lines(text)):
            return False
    with path.open(encoding=encoding, errors="replace", newline="") as text:
        num_plain = sum(
            line.count("\t") == num_columns - 1 and not is_cut(line) for line in short_lines(text)
        )
    with path.open(encoding=encoding, errors="replace", newline="") as text:
        rows = _delimited_rows(path, text, form, range(num_columns), [""] * num_columns)
        return num_plain - 1 > sum(not isinstance(row, BadRow) for row in rows)


class _LongLineError(csv.Error):
    """A line is longer than `MAX_TEXT`."""


def _lines(text: TextIO) -> Iterator[str]:
    """The lines of a file.

    A line that is too long raises _LongLineError, and the next line follows.
    """

    def read_line() -> str:
        line = text.readline(MAX_TEXT)
        if is_cut(line):
            skip_rest(text)
            raise _LongLineError
        return line

    # Unlike a generator, this iterator continues after an error.
    return iter(read_line, "")


def name_columns(header: Sequence[str]) -> tuple[str, ...]:
    """Fill in missing column names, and number repeated ones."""
    names: dict[str, None] = {}
    for number, cell in enumerate(header, start=1):
        name = cell.strip() or f"column {number}"
        if name in names:
            name = f"{name} ({number})"
        names[name] = None
    return tuple(names)


def _delimited_rows(
    path: Path, text: TextIO, form: Form, places: Sequence[int], columns: Sequence[str]
) -> Iterator[Row]:
    csv.field_size_limit(MAX_TEXT)
    num_columns = len(columns)
    reader: Any = form.rows(text)
    row = form.num_above + 1
    num_skipped = row + form.num_below
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
        if row <= num_skipped:
            continue
        if form.has_gaps and len(cells) not in (0, num_columns):
            reason = f"the row has {len(cells)} cells instead of {num_columns}: {SAVE_AS_CSV}"
            yield BadRow(file=str(path), row=row, reason=reason)
        elif len(cells) > num_columns and any(cells[num_columns:]):
            sign = DELIMITERS.get(form.delimiter, form.delimiter)
            fault = f"the row has {len(cells)} cells instead of {num_columns}"
            reason = f"{fault}: put texts with a {sign} in quotes, and name all columns"
            yield BadRow(file=str(path), row=row, reason=reason)
        elif num_columns > 1 and _repeat(cells, columns):
            reason = "the row repeats the names of the columns"
            yield BadRow(file=str(path), row=row, reason=reason)
        else:
            cells += [""] * (num_columns - len(cells))
            yield row, [cells[place] for place in places]


def _repeat(cells: Sequence[str], columns: Sequence[str]) -> bool:
    """Whether a row has the names of the columns, as in files written one after the other."""
    first = cells[0].lstrip("\ufeff") if cells else ""
    return first == columns[0] and tuple(cells[1:]) == tuple(columns[1:])


def _explain(error: csv.Error, num_lines: int) -> str:
    """Say why a row cannot be read.

    num_lines: the lines after its first one that are lost with it.
    """
    said = str(error)
    if isinstance(error, _LongLineError):
        return f"a line is longer than {MAX_TEXT:,} characters: split it into rows"
    if "unexpected end" in said:
        return "a quote is not closed, so the rest of the file is lost: close every quote"
    lost = ""
    if num_lines:
        lost = f", so {num_lines:,} more line{'s are' if num_lines > 1 else ' is'} lost"
    if "field larger" in said:
        return f"a cell is longer than {MAX_TEXT:,} characters{lost}: close every quote"
    return (
        f"the row cannot be read ({said}){lost}: close every quote, and double quotes inside a text"
    )


def find_text_kind(path: Path) -> str:
    """Find out from its first lines whether a text file is a table ("CSV" or "JSON lines"), or has
    a text in each page, paragraph, line or below each heading (`PAGES`, `PARAGRAPHS`, `LINES`,
    `HEADINGS`); "" if nothing is clear.
    """
    with path.open(encoding=find_encoding(path).name, errors="replace", newline="") as text:
        lines = [*islice(short_lines(text), NUM_HEADED)]
    if len([*divide(lines[:NUM_PAGED], PAGES)]) >= LEAST_PAGES:
        return PAGES
    _, num_headings = find_headings(lines)
    otherwise = HEADINGS * (num_headings >= LEAST_PAGES)
    lines = lines[:NUM_SNIFFED]
    filled = [line.strip() for line in lines if line.strip()]
    if len(filled) < LEAST_LINES:
        return ""
    if all(line[0] + line[-1] == "{}" for line in filled):
        return "JSON lines"
    # Blank lines separate paragraphs.
    kind = LINES if len(filled) >= SHARE_OF_FILLED * len(lines) else PARAGRAPHS
    with suppress(CorpusError):
        # Verses may have spaces in the middle of all lines.
        if " " not in GAP.sub("", filled[0]) and _find_aligned(lines, path) is not None:
            return "CSV"
    for sign in DELIMITERS:
        rows = [row for row in _sniff_rows(lines, sign) if row] or [[]]
        is_table = len(rows[0]) > 1 and len(set(map(len, rows))) == 1
        has_names = len(rows[0]) > 1 and all(map(looks_like_name, rows[0]))
        may_be_table = kind == LINES and has_names and not SENTENCE_END.search(filled[0])
        if is_table or may_be_table:
            return "CSV" if is_table and has_names else otherwise
    if otherwise:
        return otherwise
    # Lines of a text that is broken into lines are short and end anywhere.
    texts = [text for _, text in divide(lines, kind)]
    num_ends = sum(bool(SENTENCE_END.search(text)) for text in texts)
    is_long = sorted(map(len, texts))[len(texts) // 2] >= LONG_LINE
    is_clear = is_long or num_ends >= SHARE_OF_ENDS * len(texts)
    return kind if len(texts) >= LEAST_LINES and is_clear else ""
