"""Build a corpus from a user's file or folder, chunk by chunk.

Rows that cannot be used are skipped and listed.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from stickbreaker.engine.corpora.columns import (
    WORDLESS,
    Cells,
    Columns,
    date_rows,
    explain_first,
    explain_no_rows,
    find_date_form,
    list_kept,
    list_notes,
    name_document,
    resolve_columns,
    take_chunk,
)
from stickbreaker.engine.corpora.corpus import Corpus, CorpusError, Vocabulary, number_groups
from stickbreaker.engine.corpora.rows import TOO_LARGE, BadRow, BadRows, Counted, Table
from stickbreaker.engine.corpora.sources import Source
from stickbreaker.engine.corpora.word_choices import WordChoices
from stickbreaker.engine.corpora.words import (
    WordCounter,
    drop_words,
    limit_words,
)
from stickbreaker.engine.progress_bars import Report

MAX_CHARACTERS = 4_000_000_000

# Counts (D, V) and their V words.
Counts = tuple[csr_array, list[str]]
Limit = Callable[[csr_array, Sequence[str], WordChoices], Counts]


class Built(NamedTuple):
    """A corpus, the rows that were skipped, and sentences to show to the user."""

    corpus: Corpus
    bad: BadRows
    notes: tuple[str, ...]


def build_corpus(
    source: Source,
    columns: Columns,
    words: WordChoices | None = None,
    report: Report = lambda share, message: None,
) -> Built:
    """Build a corpus from a file or folder.

    `report` receives the share that is done (0 to 1) and a message, and may raise an exception to
    cancel. A file of counts is used unchanged without `words`. Raises CorpusError if the source
    cannot be read, has no usable row, or has no words left.
    """
    table = source.read(columns, report)
    if isinstance(table, Counted):
        return _take_counts(source, table, columns, words)
    columns = resolve_columns(table, columns)
    choices = words or WordChoices()
    counter = WordCounter(choices)
    cells = Cells(rows=[], dates=[], titles=[], groups=[])
    bad = BadRows()
    num_characters = 0
    for chunk in table.read(columns.names):
        texts = take_chunk(chunk, columns, cells, bad, table)
        counter.add(texts)
        num_characters += sum(map(len, texts))
        if num_characters > MAX_CHARACTERS:
            raise CorpusError(
                f"{table.path} has more than {MAX_CHARACTERS / 1e9:g} billion characters."
                f" {TOO_LARGE}."
            )
        report(0.9 * chunk.share, "Counting words")
    return _finish(source.name, table, columns, choices, (counter, cells, bad), report)


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
    form = find_date_form(columns, cells)
    dates = date_rows(table, columns, cells, bad, form)
    kept = list_kept(columns, dates)
    if not len(kept):
        raise CorpusError(explain_no_rows(table.path, bad))
    report(0.95, "Choosing words")
    counts, vocabulary = counter.everything()
    counts, vocabulary = _name_file(table.path, limit_words, counts[kept], vocabulary, choices)
    has_words = np.diff(counts.indptr) > 0
    wordless = [cells.rows[row] for row in kept[~has_words]]
    bad.add([table.name_bad(row, WORDLESS) for row in wordless])
    kept = kept[has_words]
    titles = [name_document(table, cells.rows[row], cells.titles[row]) for row in kept]
    groups = {}
    if columns.group:
        groups = number_groups([cells.groups[row].strip() for row in kept])
    corpus = Corpus(
        name=name,
        counts=counts[has_words],
        vocabulary=Vocabulary(tuple(vocabulary)),
        dates=dates[kept],
        titles=titles,
        rows=np.array(cells.rows)[kept],
        word_choices=choices,
        **groups,
    )
    return Built(corpus=corpus, bad=bad, notes=list_notes(table, columns, cells.dates, form))


def _take_counts(
    source: Source, counted: Counted, columns: Columns, words: WordChoices | None
) -> Built:
    path = source.path
    if columns.names:
        raise CorpusError(f"{path} contains word counts. Omit text, date, title and group.")
    counts = counted.counts
    vocabulary = counted.words
    if words is not None:
        counts, vocabulary = _name_file(path, drop_words, counts, vocabulary, words)
    kept = np.flatnonzero(np.diff(counts.indptr) > 0)
    bad = counted.bad
    empty = np.setdiff1d(
        np.arange(counts.shape[0]), np.append(kept, np.array(counted.faulty, np.int64))
    )
    reasons = (f"document {number + 1} has no counted words" for number in empty)
    bad.add([BadRow(file=str(path), row=None, reason=reason) for reason in reasons])
    if not len(kept):
        reason = explain_first(bad, "Check its list of words")
        raise CorpusError(f"{path} has no documents with words. {reason}.")
    titles = counted.titles or [
        f"document {number + 1}" for number in range(len(counts.indptr) - 1)
    ]
    dates = np.full(len(kept), "NaT", "datetime64[D]")
    corpus = Corpus(
        name=source.name,
        counts=counts[kept],
        vocabulary=Vocabulary(tuple(vocabulary)),
        dates=dates,
        titles=[titles[number] for number in kept],
        rows=np.array(counted.rows or range(counts.shape[0]))[kept],
        word_choices=words,
    )
    return Built(corpus=corpus, bad=bad, notes=counted.notes)


def _name_file(
    path: Path, limit: Limit, counts: csr_array, words: Sequence[str], choices: WordChoices
) -> Counts:
    """Call `limit`, and add the file to the message of a CorpusError."""
    try:
        return limit(counts, words, choices)
    except CorpusError as error:
        raise CorpusError(f"{path}: {error}") from error
