"""Build a corpus from a user's file or folder, chunk by chunk; rows that cannot be used are skipped and listed."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from stickbreaker.engine.corpora.corpus import Corpus, CorpusError, Vocabulary
from stickbreaker.engine.corpora.count_files import read_counts
from stickbreaker.engine.corpora.dates import explain_date, read_dates
from stickbreaker.engine.corpora.rows import BadRow, BadRows, Chunk, Table
from stickbreaker.engine.corpora.sources import TOO_LARGE, Source
from stickbreaker.engine.corpora.words import WordChoices, WordCounter, drop_words, limit_words
from stickbreaker.engine.progress_bars import Report

# Columns that an error lists.
NUM_LISTED = 8
MAX_CHARACTERS = 4_000_000_000
MAX_ROWS = 5_000_000
MAX_TITLE = 300
NO_TEXT = "the text is empty"
WORDLESS = "no counted words remain in the text"

# Counts (D, V) and their V words.
Counts = tuple[csr_array, list[str]]
Limit = Callable[[csr_array, Sequence[str], WordChoices], Counts]


class Columns(NamedTuple):
    """The columns with the text, the date, the title and the group; None if there is no such column."""

    text: str | None = None
    date: str | None = None
    title: str | None = None
    group: str | None = None


class Built(NamedTuple):
    """The result of `build_corpus`.

    Attributes
    ----------
    corpus : Corpus
        The corpus.
    bad : BadRows
        The rows that were skipped.
    notes : tuple of str
        Sentences to show to the user.
    kept : (D,) int64
        The position of each document among the texts passed to `keep`.
    """

    corpus: Corpus
    bad: BadRows
    notes: tuple[str, ...]
    kept: np.ndarray


class Cells(NamedTuple):
    """The numbers of all rows with text, and their dates, titles and groups as written."""

    rows: list[int]
    dates: list[str]
    titles: list[str]
    groups: list[str]


def build_corpus(
    source: Source,
    columns: Columns,
    words: WordChoices | None = None,
    report: Report = lambda share, message: None,
    keep: Callable[[list[str]], None] = lambda texts: None,
) -> Built:
    """Build a corpus from a file or folder.

    Parameters
    ----------
    source : Source
        As returned by `find_source`.
    columns : Columns
        The columns to use. If `text` is None, it is the column called "text", or the only one.
    words : WordChoices, optional
        Which words are counted. By default, `WordChoices()`; a file of counts is used unchanged.
    report : callable
        Receives the share that is done (0 to 1) and a message. It may raise an exception to cancel.
    keep : callable
        Receives the texts in order, one list at a time.

    Returns
    -------
    Built
        The corpus and the skipped rows.

    Raises
    ------
    CorpusError
        If the source cannot be read, has no usable row, or has no words left.
    """
    if source.is_counted:
        return _take_counts(source, columns, words, report)
    table = source.open()
    columns = settle_columns(table, columns)
    choices = words or WordChoices()
    counter, cells, bad = WordCounter(choices), Cells(rows=[], dates=[], titles=[], groups=[]), BadRows()
    num_characters = 0
    wanted = list(dict.fromkeys(column for column in columns if column))
    for chunk in table.read(wanted):
        texts = take_chunk(chunk, columns, cells, bad, table)
        counter.add(texts)
        keep(texts)
        num_characters += sum(map(len, texts))
        if num_characters > MAX_CHARACTERS:
            raise CorpusError(f"{table.path} has more than {MAX_CHARACTERS / 1e9:g} billion characters. {TOO_LARGE}.")
        report(0.9 * chunk.share, "Counting words")
    return _finish(source.name, table, columns, choices, (counter, cells, bad), report)


def settle_columns(table: Table, columns: Columns) -> Columns:
    """Complete the choice of columns, and check it.

    Parameters
    ----------
    table : Table
        The table.
    columns : Columns
        The chosen columns.

    Returns
    -------
    Columns
        With a text column, and the title column of a folder or archive.

    Raises
    ------
    CorpusError
        If no text column is clear, or a column does not exist; the message lists the columns.
    """
    text = columns.text
    if text is None:
        called_text = [column for column in table.columns if column.lower() == "text"]
        text = called_text[0] if called_text else table.columns[0] if len(table.columns) == 1 else None
    names = _list_names(table.columns)
    if text is None:
        raise CorpusError(f'{table.path}: choose the column with the text, text="...". The columns are {names}.')
    title = "title" if columns.title is None and "title" in table.has else columns.title
    columns = columns._replace(text=text, title=title)
    for column in columns:
        if column is not None and column not in table.columns:
            raise CorpusError(f"{table.path} has no column {_shorten(column)}. Choose one of {names}.")
    return columns


def _list_names(columns: Sequence[str]) -> str:
    """The first columns, with the number of the others."""
    left = f" and {len(columns) - NUM_LISTED:,} more" if len(columns) > NUM_LISTED else ""
    return ", ".join(map(_shorten, columns[:NUM_LISTED])) + left


def _shorten(column: object) -> str:
    return repr(f"{column[:19]}…" if isinstance(column, str) and len(column) > 20 else column)


def take_chunk(chunk: Chunk, columns: Columns, cells: Cells, bad: BadRows, table: Table) -> list[str]:
    """Take the texts and the other cells from a chunk.

    Parameters
    ----------
    chunk : Chunk
        The next rows of the table.
    columns : Columns
        As returned by `settle_columns`.
    cells : Cells
        Extended by the row numbers, dates, titles and groups.
    bad : BadRows
        Extended by the bad rows and by rows without text or group.
    table : Table
        The table of the chunk.

    Returns
    -------
    list of str
        The texts of the good rows.

    Raises
    ------
    CorpusError
        If there are more than `MAX_ROWS` rows in `cells` and `bad`.
    """
    bad.add(chunk.bad)
    text_cells = chunk.cells[columns.text] if columns.text else []
    empty = [""] * len(chunk.rows)
    dates, titles, groups = (chunk.cells[column] if column else empty for column in columns[1:])
    texts, wrong = [], []
    for place, (row, text) in enumerate(zip(chunk.rows, text_cells, strict=True)):
        if not text.strip():
            wrong.append(table.name_bad(row, NO_TEXT))
        elif columns.group and not groups[place].strip():
            wrong.append(table.name_bad(row, "the group is missing: add one, or choose no group column"))
        else:
            texts.append(text)
            cells.rows.append(row)
            cells.dates.append(dates[place])
            cells.titles.append(titles[place])
            cells.groups.append(groups[place])
    bad.add(wrong)
    if len(cells.rows) + bad.count > MAX_ROWS:
        raise CorpusError(f"{table.path} has more than {MAX_ROWS:,} rows. {TOO_LARGE}.")
    return texts


def name_document(table: Table, row: int, title: str) -> str:
    """Return the title of a document, or a name made of its file and row if it has none."""
    return title.strip()[:MAX_TITLE] or f"{table.path.stem}, row {row}"


def _finish(
    name: str,
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
        reason = f"First problem: {bad.listed[0]}" if bad.listed else "Put texts into the rows below the header row"
        raise CorpusError(f"{table.path} has no usable rows. {reason}.")
    report(0.95, "Choosing words")
    counts, vocabulary = counter.everything()
    counts, vocabulary = _name_file(table.path, limit_words, counts[kept], vocabulary, choices)
    has_words = np.diff(counts.indptr) > 0
    wordless = [cells.rows[row] for row in kept[~has_words]]
    bad.add([table.name_bad(row, WORDLESS) for row in wordless])
    kept = kept[has_words]
    titles = [name_document(table, cells.rows[row], cells.titles[row]) for row in kept]
    groups = number_groups([cells.groups[row].strip() for row in kept]) if columns.group else {}
    corpus = Corpus(
        name=name,
        counts=counts[has_words],
        vocabulary=Vocabulary(tuple(vocabulary)),
        dates=dates[kept],
        titles=titles,
        **groups,
    )
    return Built(corpus=corpus, bad=bad, notes=table.notes, kept=kept)


def date_rows(table: Table, columns: Columns, cells: Cells, bad: BadRows, form: str = "") -> np.ndarray:
    """Read the dates of all rows.

    Parameters
    ----------
    table : Table
        The table.
    columns : Columns
        The chosen columns.
    cells : Cells
        The cells of the N rows with text.
    bad : BadRows
        Extended by the rows whose date cannot be read, if there is a date column.
    form : str
        The form of the dates, from `find_form`; by default, the form that most cells have.

    Returns
    -------
    (N,) datetime64
        NaT for rows without a date.
    """
    if columns.date is None:
        return np.full(len(cells.rows), "NaT", "datetime64[D]")
    dates = read_dates(cells.dates, form)
    undated = np.flatnonzero(np.isnat(dates))
    bad.add([table.name_bad(cells.rows[row], explain_date(cells.dates[row])) for row in undated])
    return dates


def number_groups(names: Sequence[str]) -> dict[str, Any]:
    """Number the groups in order of appearance.

    Parameters
    ----------
    names : sequence of D str
        The name of each document's group.

    Returns
    -------
    dict
        The arguments `groups`, `group_titles` and `split_by` of `Corpus`.
    """
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    groups = np.array([numbers[name] for name in names], np.int64)
    return {"groups": groups, "group_titles": list(numbers), "split_by": "group"}


def _take_counts(source: Source, columns: Columns, words: WordChoices | None, report: Report) -> Built:
    path = source.path
    if any(columns):
        raise CorpusError(f"{path} contains word counts, without columns. Omit text, date, title and group.")
    counted = read_counts(path, source.kind, report)
    counts, vocabulary = counted.counts, counted.words
    if words is not None:
        counts, vocabulary = _name_file(path, drop_words, counts, vocabulary, words)
    kept, bad = np.flatnonzero(np.diff(counts.indptr) > 0), counted.bad
    empty = np.setdiff1d(np.arange(counts.shape[0]), np.append(kept, np.array(counted.faulty, np.int64)))
    bad.add(
        [BadRow(file=str(path), row=None, reason=f"document {number + 1} has no counted words") for number in empty]
    )
    if not len(kept):
        reason = f"First problem: {bad.listed[0]}" if counted.bad.count else "Check its list of words"
        raise CorpusError(f"{path} has no documents with words. {reason}.")
    titles = [f"document {number + 1}" for number in kept]
    dates = np.full(len(kept), "NaT", "datetime64[D]")
    corpus = Corpus(
        name=source.name,
        counts=counts[kept],
        vocabulary=Vocabulary(tuple(vocabulary)),
        dates=dates,
        titles=titles,
    )
    return Built(corpus=corpus, bad=bad, notes=counted.notes, kept=kept)


def _name_file(path: Path, limit: Limit, counts: csr_array, words: Sequence[str], choices: WordChoices) -> Counts:
    """Call `limit`, and add the file to the message of a CorpusError."""
    try:
        return limit(counts, words, choices)
    except CorpusError as error:
        raise CorpusError(f"{path}: {error}") from error
