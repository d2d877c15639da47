"""A source of one's own becomes a corpus, chunk by chunk; rows that cannot be used are left out and listed."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from stickbreaker.engine.corpora.corpus import Corpus, CorpusError, Vocabulary
from stickbreaker.engine.corpora.count_files import name_kind, read_counts
from stickbreaker.engine.corpora.dates import explain_date, read_dates
from stickbreaker.engine.corpora.sources import name_source, open_source
from stickbreaker.engine.corpora.table_files import BadRow, BadRows, Chunk, Table
from stickbreaker.engine.corpora.words import WordChoices, WordCounter, drop_words, limit_words

MAX_CHARACTERS = 4_000_000_000
MAX_TITLE = 300
NO_TEXT = "it has no text"

Report = Callable[[float, str], None]


class Columns(NamedTuple):
    """Which columns of a table hold the text, the date, the title and the group; None where none does."""

    text: str | None = None
    date: str | None = None
    title: str | None = None
    group: str | None = None


class Built(NamedTuple):
    """A corpus, the rows left out of it, and sentences to show.

    kept: places of its documents among the texts that were handed to `keep`.
    """

    corpus: Corpus
    bad: BadRows
    notes: tuple[str, ...]
    kept: np.ndarray


class Cells(NamedTuple):
    """Of all rows with text: their numbers, dates, titles and groups as they are written."""

    rows: list[int]
    dates: list[str]
    titles: list[str]
    groups: list[str]


def build_corpus(
    source: Path,
    columns: Columns,
    words: WordChoices | None = None,
    report: Report = lambda share, message: None,
    keep: Callable[[list[str]], None] = lambda texts: None,
) -> Built:
    """Read a source to its end. `report(share, message)` is told how far it is, and may raise to cancel.

    words: which words are counted; without it the defaults, and words already counted stay as they are.
    keep: handed the texts, a list at a time, in their order.
    Raises CorpusError, which names the file, the row as a spreadsheet numbers it, and the remedy.
    """
    if name_kind(source):
        return _take_counts(source, columns, words, report)
    table = open_source(source)
    columns = settle_columns(table, columns)
    choices = words or WordChoices()
    counter, cells, bad = WordCounter(choices), Cells([], [], [], []), BadRows()
    num_characters = 0
    wanted = list(dict.fromkeys(column for column in columns if column))
    for chunk in table.read(wanted):
        texts = take_chunk(chunk, columns, cells, bad, table)
        counter.add(texts)
        keep(texts)
        num_characters += sum(map(len, texts))
        if num_characters > MAX_CHARACTERS:
            raise CorpusError(f"{table.path} holds more than {MAX_CHARACTERS / 1e9:g} billion letters: part it.")
        report(0.9 * chunk.share, "Counting words")
    return _finish(table, columns, choices, (counter, cells, bad), report)


def settle_columns(table: Table, columns: Columns) -> Columns:
    """Fill in what needs no choice, and check the rest. Raises CorpusError with the columns there are."""
    text = columns.text
    if text is None:
        called_text = [column for column in table.columns if column.lower() == "text"]
        text = called_text[0] if called_text else table.columns[0] if len(table.columns) == 1 else None
    names = ", ".join(repr(column) for column in table.columns[:30])
    if text is None:
        raise CorpusError(f'{table.path}: say which column holds the text, text="..."; there are {names}.')
    title = "title" if columns.title is None and "title" in table.has else columns.title
    columns = columns._replace(text=text, title=title)
    for column in columns:
        if column is not None and column not in table.columns:
            raise CorpusError(f"{table.path} has no column {column!r}: choose one of {names}.")
    return columns


def take_chunk(chunk: Chunk, columns: Columns, cells: Cells, bad: BadRows, table: Table) -> list[str]:
    """The texts of a chunk; what else is known of them goes to `cells`, and rows without text or group to `bad`."""
    bad.add(chunk.bad)
    empty = [""] * len(chunk.rows)
    dates, titles, groups = (chunk.cells[column] if column else empty for column in columns[1:])
    texts, wrong = [], []
    for place, (row, text) in enumerate(zip(chunk.rows, chunk.cells[columns.text], strict=True)):
        if not text.strip():
            wrong.append(table.name_bad(row, NO_TEXT))
        elif columns.group and not groups[place].strip():
            wrong.append(table.name_bad(row, "no group is named: name one in every row, or leave groups out"))
        else:
            texts.append(text)
            for known, cell in zip(cells, (row, dates[place], titles[place], groups[place]), strict=True):
                known.append(cell)
    bad.add(wrong)
    return texts


def _finish(
    table: Table,
    columns: Columns,
    choices: WordChoices,
    gathered: tuple[WordCounter, Cells, BadRows],
    report: Report,
) -> Built:
    counter, cells, bad = gathered
    report(0.92, "Reading dates")
    dates = date_rows(table, columns, cells, bad)
    kept = np.arange(len(cells.rows)) if columns.date is None else np.flatnonzero(~np.isnat(dates))
    if not len(kept):
        reason = f"The first: {bad.listed[0]}" if bad.listed else "Put a text into every row below its first"
        raise CorpusError(f"{table.path} has no row that can be used. {reason}.")
    report(0.95, "Choosing words")
    counts, vocabulary = counter.everything()
    counts, vocabulary = _name_place(table.path, limit_words, counts[kept], vocabulary, choices)
    has_words = np.diff(counts.indptr) > 0
    wordless = [cells.rows[row] for row in kept[~has_words]]
    bad.add([table.name_bad(row, "no word to count is left in it") for row in wordless])
    kept = kept[has_words]
    titles = [cells.titles[row].strip()[:MAX_TITLE] or f"{table.path.stem}, row {cells.rows[row]}" for row in kept]
    groups = number_groups([cells.groups[row].strip() for row in kept]) if columns.group else {}
    corpus = Corpus(name_source(table.path), counts[has_words], Vocabulary(vocabulary), dates[kept], titles, **groups)
    return Built(corpus, bad, table.notes, kept)


def date_rows(table: Table, columns: Columns, cells: Cells, bad: BadRows) -> np.ndarray:
    """The dates of all rows, NaT where there is none; with a column of dates such rows go to `bad`."""
    if columns.date is None:
        return np.full(len(cells.rows), "NaT", "datetime64[D]")
    dates = read_dates(cells.dates)
    undated = np.flatnonzero(np.isnat(dates))
    bad.add([table.name_bad(cells.rows[row], explain_date(cells.dates[row])) for row in undated])
    return dates


def number_groups(names: Sequence[str]) -> dict[str, Any]:
    """Groups by the names of their documents, numbered as they first appear, as arguments of `Corpus`."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    groups = np.array([numbers[name] for name in names], np.int64)
    return {"groups": groups, "group_titles": list(numbers), "split_by": "group"}


def _take_counts(source: Path, columns: Columns, words: WordChoices | None, report: Report) -> Built:
    if any(columns):
        raise CorpusError(f"{source} holds counts and no columns: leave text, date, title and group out.")
    counted = read_counts(source, report)
    counts, vocabulary = counted.counts, counted.words
    if words is not None:
        counts, vocabulary = _name_place(source, drop_words, counts, vocabulary, words)
    kept, bad = np.flatnonzero(np.diff(counts.indptr) > 0), counted.bad
    empty = np.setdiff1d(np.arange(counts.shape[0]), np.append(kept, np.array(counted.faulty, np.int64)))
    bad.add([BadRow(str(source), None, f"document {number + 1} has no word to count") for number in empty])
    if not len(kept):
        reason = f"The first fault: {bad.listed[0]}" if counted.bad.count else "Check its list of words"
        raise CorpusError(f"{source} has no document with a word. {reason}.")
    titles = [f"document {number + 1}" for number in kept]
    dates = np.full(len(kept), "NaT", "datetime64[D]")
    corpus = Corpus(name_source(source), counts[kept], Vocabulary(vocabulary), dates, titles)
    return Built(corpus, bad, counted.notes, kept)


def _name_place(path: Path, limit: Callable, *arguments: object) -> tuple:
    """Call `limit`; what it refuses is said of this file."""
    try:
        return limit(*arguments)
    except CorpusError as error:
        raise CorpusError(f"{path}: {error}") from error
