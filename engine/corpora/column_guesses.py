"""Guess the columns with the text, the date and the title of a table, and say what was assumed."""

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from stickbreaker.engine.corpora.cells import unwrap_text
from stickbreaker.engine.corpora.columns import Columns
from stickbreaker.engine.corpora.dates import COMPACT, SERIAL, explain_date, find_form, read_dates
from stickbreaker.engine.corpora.languages import UNSPACED
from stickbreaker.engine.corpora.rows import Table, shorten
from stickbreaker.engine.corpora.words import MARKS
from stickbreaker.engine.corpora.written_dates import MONTHS, plain_letters

MAX_GUESSED_FROM = 100
# Letters of a cell that are looked at.
MAX_LOOKED_AT = 600
# In characters: names are rarely longer, and texts are.
LONG_NAME = 20
LONGEST_DATE = 40
# Words of a name; longer ones are questions.
LONG_QUESTION = 6

# Usual names of such columns; they decide between columns with suitable content.
TEXT_NAMES = re.compile(
    r"(?i)text|body|content|abstract|message|description|document|speech|comment|review"
)
DATE_NAMES = re.compile(
    r"(?i)(?<!candi)date|year|(?<!sen)time|day|month|when|publish(?!er)|created|issued|dat(?:um|o)"
    r"|\b(?:data|jahr|monat|tag|zeit(?:punkt|stempel)?|année|mois|jour|fecha|año|mes|día|anno|mese"
    r"|giorno|ano|dia|rok|miesiąc|dzień|dátum|év|tarih|yıl|gün|дата|год|рік|ημερομηνία|έτος|jaar|år)\b"
    r"|تاريخ|تاریخ|السنة|سال|תאריך|שנה|日期|日時|日付|年|时间|時間|날짜|일자|연도|วันที่|ngày|năm"
)
# Shorter mixtures of letters and digits may be names that people use.
LEAST_HASH = 12
HEXADECIMAL = re.compile(r"[0-9a-fA-F]+")
# Usual names of titles, with their scores.
TITLE_NAMES = {
    r"(?i)title|headline|subject|heading": 1.0,
    r"(?i)name|label": 0.9,
    r"(?i)\bid\b": 0.3,
}
TITLES = re.compile("|".join(names.replace("(?i)", "") for names in TITLE_NAMES), re.IGNORECASE)
# Words of prose, with their punctuation; not addresses, numbers, hashes and markup.
PROSE = re.compile(
    rf"(?<!\S)[^\w\s/\\<{{]*[^\W\d_](?:[^\W\d_]|[{MARKS}'’.,;:!?、。，；：！？…-])*"
    rf"[^\w\s/\\>=}}]*(?<!\":)(?!\S)|{UNSPACED.pattern}"
)
NUMBER = re.compile(r"[\d.,]+")
YEAR = re.compile(r"\d{4}(?:\.0)?")
DAY = re.compile(r"[0-3]?\d(?:\.0)?")
ADDRESS = re.compile(r"(?i)(?:[a-z][a-z0-9+.-]*:)?[/\\]|www\.")


def guess_columns(table: Table) -> tuple[Columns, tuple[str, ...]]:
    """Guess the columns from the first rows: the text has the longest cells and no dates.

    Others can be None. Also returns notes on the dates.
    """
    names = table.columns[:MAX_GUESSED_FROM]
    chunk = next(iter(table.read(names)))
    filled = {name: [cell for cell in chunk.cells[name] if cell.strip()] for name in names}
    lengths = {name: sum(map(len, cells)) / max(1, len(cells)) for name, cells in filled.items()}
    # Spreadsheets have empty rows at the end.
    num_rows = sum(any(map(str.strip, cells)) for cells in zip(*chunk.cells.values(), strict=True))
    dates = {name: _score_dates(name, filled[name], lengths[name], num_rows) for name in names}
    unread = [name for name in names if not dates[name]]
    texts = [name for name in unread if not _is_date_name(name) or lengths[name] > LONGEST_DATE]
    if "text" in table.has:
        texts = ["text"]
    text = max(texts or unread or names, key=lambda name: _score_texts(name, filled[name]))
    others = [name for name in names if name != text]
    date = max((name for name in others if dates[name]), key=lambda name: dates[name], default=None)
    titles = {
        name: _score_titles(name, filled[name], lengths[name])
        for name in others
        if name != date and (TITLES.search(name) or not _is_date_name(name))
    }
    if "title" in table.has:
        titles = {"title": 1.0}
    title = max(filter(titles.get, titles), key=lambda name: titles[name], default=None)
    if date is None:
        cells = {name: filled[name] for name in others if lengths[name] <= LONGEST_DATE}
        return Columns(text=text, title=title), tuple(_explain_undated(cells, num_rows))
    notes = tuple(_explain_dates(date, [name for name in others if dates[name]], filled))
    return Columns(text=text, date=date, title=title), notes * (not table.date_note)


def _is_date_name(name: str) -> bool:
    """Whether a column is named as one of dates; a question is no such name."""
    return bool(DATE_NAMES.search(name)) and len(name.split()) < LONG_QUESTION


def _explain_undated(filled: Mapping[str, Sequence[str]], num_rows: int) -> Iterator[str]:
    """Say why the first column that is named as one of dates is not read as dates."""
    for name in filter(_is_date_name, filled):
        dates = read_dates(filled[name])
        if len(filled[name]) < 0.5 * num_rows and not np.isnat(dates).all():
            yield (
                f"Dates are not read from the column {name!r}, which is mostly empty: rows without"
                " a date would be left out."
            )
            return
        if np.isnat(dates).any():
            cell = filled[name][int(np.isnat(dates).argmax())]
            yield f"The column {name!r} is not read as dates: {explain_date(cell)}."
            return


def _is_part(cell: str) -> bool:
    """Whether a cell is the number of a day or month, or the name of a month."""
    return bool(DAY.fullmatch(cell)) or plain_letters(cell).strip(" .") in MONTHS


def _explain_dates(
    date: str, dated: Sequence[str], filled: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """Say what was assumed of the dates: that numbers are dates, and which columns are not read."""
    numbers = [
        name
        for name in dated
        if not _is_date_name(name) and all(map(NUMBER.fullmatch, filled[name]))
    ]
    if date in numbers:
        yield f"The numbers in {date!r} are read as dates. Choose no date column if that is wrong."
    others = [repr(shorten(name)) for name in dated if name not in (date, *numbers)]
    if others:
        yield f"Dates are read from {date!r}. Columns with other dates: {', '.join(others)}."
    days = [
        name
        for name, cells in filled.items()
        if _is_date_name(name) and cells and all(map(_is_part, cells))
    ]
    if days and all(map(YEAR.fullmatch, filled[date])):
        parts = ", ".join(repr(shorten(name)) for name in days)
        yield (
            f"Only the year is read, without {parts}. Write dates into one column, such as"
            " 1863-12-08, to read days."
        )


def _score_texts(name: str, cells: Sequence[str]) -> float:
    """Score a column as the text, by the mean length of the prose in its cells and its name.

    Cells without prose are only better than empty ones, and an empty "text" column beats names.
    """
    plain = [
        unwrap_text(cell) or "" for cell in cells[:MAX_GUESSED_FROM] if not ADDRESS.match(cell)
    ]
    shown = [cell[:MAX_LOOKED_AT] for cell in plain]
    num_cells = max(1, len(cells[:MAX_GUESSED_FROM]))
    num_letters = sum(len(word) + 1 for cell in shown for word in PROSE.findall(cell))
    length = num_letters / num_cells
    if cells and not num_letters:
        length = 1 - 1 / (2 + sum(sum(map(str.isalpha, cell)) for cell in shown) / num_cells)
    # A text that many rows repeat, such as a licence, is not the text of the documents.
    length *= len(set(cells)) / max(1, len(cells))
    if not TEXT_NAMES.search(name):
        return length
    return 3 * length or LONG_NAME


def _score_dates(name: str, cells: Sequence[str], length: float, num_rows: int) -> float:
    """Score a column as the date; 0 if less than 60 % of the cells are dates."""
    if not 4 <= length <= LONGEST_DATE or len(cells) < 0.5 * num_rows:
        return 0.0
    is_named = _is_date_name(name)
    form = find_form(cells)
    # Numbers of five and six digits are dates only in a column named as one.
    if form in (SERIAL, COMPACT) and not is_named:
        return 0.0
    dates = read_dates(cells, form)
    # Any number of four digits may be a year, so years before 1400 count only in a column named as
    # a date.
    years = dates.astype("datetime64[Y]").astype(np.int64) + 1970
    is_likely = ~np.isnat(dates) & (is_named | (years >= 1400))
    share = float(is_likely.mean())
    # One date in all rows, such as that of the export, says less.
    return share + is_named + 0.1 * (len(set(cells)) > 1) if share >= 0.6 else 0.0


def _score_titles(name: str, cells: Sequence[str], length: float) -> float:
    """Score a column as the title: short cells that are mostly distinct and contain letters, and
    are not hashes.
    """
    if not cells or length > 200 or sum(map(is_hash, cells)) > 0.5 * len(cells):
        return 0.0
    has_letters = sum(any(map(str.isalpha, cell)) for cell in cells) / len(cells)
    distinct = len(set(cells)) / len(cells)
    is_named = max(score * bool(re.search(names, name)) for names, score in TITLE_NAMES.items())
    if distinct < 0.5 or not (is_named or has_letters > 0.5):
        return 0.0
    return distinct * has_letters + is_named


def is_hash(cell: str) -> bool:
    """Whether a cell looks like a hash or a UUID: hexadecimal digits, or one long mixture of
    letters and digits.

    >>> (is_hash("9e107d9d372bb6826bd81d3542a419d6"), is_hash("2b1cfd62-39ac-4f7e"),
    ...  is_hash("RFC 8446"))
    (True, True, False)
    """
    bare = cell.strip().replace("-", "")
    if len(bare) < LEAST_HASH or not bare.isascii() or not bare.isalnum():
        return False
    num_digits = sum(map(str.isdigit, bare))
    return 0 < num_digits < len(bare) and (
        bool(HEXADECIMAL.fullmatch(bare)) or num_digits >= 0.2 * len(bare)
    )
