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
from stickbreaker.engine.corpora.corpus import Corpus, Vocabulary, number_groups
from stickbreaker.engine.corpora.known_words import ALL_UNKNOWN, KnownWords, count_terms
from stickbreaker.engine.corpora.rows import TOO_LARGE, BadRow, BadRows, CorpusError, Counted, Table
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
    words: WordChoices | KnownWords | None = None,
    report: Report = lambda share, message: None,
) -> Built:
    """Build a corpus from a file or folder, with new words, or with those that are known.

    `report` receives the share that is done (0 to 1) and a message, and may raise an exception to
    cancel. A file of counts is used unchanged without `words`. Raises CorpusError if the source
    cannot be read, has no usable row, or has no words left.
    """
    table = source.read(columns, report)
    if isinstance(table, Counted):
        return _take_counts(source, table, columns, words)
    columns = resolve_columns(table, columns)
    words = words or WordChoices()
    counter = WordCounter(words.choices if isinstance(words, KnownWords) else words)
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
    return _finish(source.name, table, columns, words, (counter, cells, bad), report)


def _finish(
    name: str,
    table: Table,
    columns: Columns,
    words: WordChoices | KnownWords,
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
    counts, terms = counter.everything()
    if isinstance(words, WordChoices):
        words = counter.choices
    chosen = _choose(table.path, limit_words, (counts[kept], terms), words)
    counts = chosen.counts
    has_words = np.diff(counts.indptr) > 0
    wordless = [cells.rows[row] for row in kept[~has_words]]
    bad.add([table.name_bad(row, WORDLESS) for row in wordless])
    kept = kept[has_words]
    titles = [name_document(table, cells.rows[row], cells.titles[row]) for row in kept]
    groups = {}
    if columns.group:
        groups = number_groups([cells.groups[row] for row in kept])
    corpus = Corpus(
        name=name,
        counts=counts[has_words],
        vocabulary=chosen.vocabulary,
        dates=dates[kept],
        titles=titles,
        rows=np.array(cells.rows)[kept],
        word_choices=chosen.choices,
        **groups,
    )
    notes = list_notes(table, columns, cells, form, bad.left) + chosen.notes + counter.notes
    return Built(corpus=corpus, bad=bad, notes=notes)


def _take_counts(
    source: Source, counted: Counted, columns: Columns, words: WordChoices | KnownWords | None
) -> Built:
    path = source.path
    sheet = columns.sheet if counted.sheets else None
    if columns._replace(encoding=None) != Columns(sheet=sheet):
        raise CorpusError(
            f"{path} contains word counts. Omit text, date, title, group, day_first and sheet."
        )
    chosen = _choose(path, drop_words, (counted.counts, counted.words), words)
    counts = chosen.counts
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
        vocabulary=chosen.vocabulary,
        dates=dates,
        titles=[titles[number] for number in kept],
        rows=np.array(counted.rows or range(counts.shape[0]))[kept],
        word_choices=chosen.choices,
    )
    return Built(corpus=corpus, bad=bad, notes=counted.notes + chosen.notes)


class Chosen(NamedTuple):
    """The words of a new corpus, their counts (D, V), how they were counted, and notes."""

    counts: csr_array
    vocabulary: Vocabulary
    choices: WordChoices | None
    notes: tuple[str, ...] = ()


def _choose(
    path: Path, limit: Limit, counted: Counts, words: WordChoices | KnownWords | None
) -> Chosen:
    """Choose words with `limit`, take those that are known, or keep all without `words`.

    Raises CorpusError that names the file if no word remains.
    """
    counts, terms = counted
    if isinstance(words, KnownWords):
        taken = words.take(counts, terms)
        left_out = words.find_unknown(count_terms(counts, terms)).note
        if not taken.nnz:
            raise CorpusError(f"{path}: {ALL_UNKNOWN}")
        notes = (left_out,) if left_out else ()
        return Chosen(taken, words.vocabulary, words.choices, notes)
    if words is not None:
        try:
            counts, terms = limit(counts, terms, words)
        except CorpusError as error:
            raise CorpusError(f"{path}: {error}") from error
    return Chosen(counts, Vocabulary(tuple(terms)), words)
