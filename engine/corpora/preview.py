"""Preview a file before a corpus is built from it, and try word choices on it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import NamedTuple

import numpy as np

from stickbreaker.engine.corpora.column_guesses import guess_columns
from stickbreaker.engine.corpora.columns import (
    NO_TEXT,
    Cells,
    Columns,
    date_rows,
    explain_no_rows,
    find_date_form,
    list_kept,
    list_notes,
    resolve_columns,
    take_chunk,
)
from stickbreaker.engine.corpora.known_words import KnownWords
from stickbreaker.engine.corpora.languages import LIBRARIES, UNKNOWN, explain_language
from stickbreaker.engine.corpora.repairs import repair_text
from stickbreaker.engine.corpora.rows import BadRow, BadRows, CorpusError, Counted, Table
from stickbreaker.engine.corpora.sources import STORED, find_source
from stickbreaker.engine.corpora.stored import StoredCorpus, open_stored
from stickbreaker.engine.corpora.word_choices import WordChoices, guess_language
from stickbreaker.engine.corpora.words import (
    WordEffect,
    drop_words,
    explain_single,
    explain_texts,
    measure_words,
)
from stickbreaker.engine.progress_bars import Report, show_share

MAX_SAMPLE = 2_000
MAX_SAMPLE_TEXT = 3_000_000
# Libraries that find words take seconds for more.
MAX_UNSPACED = 300_000
NUM_SHOWN = 5
MAX_SHOWN_TEXT = 600


class ShownDocument(NamedTuple):
    """A document in a preview, with the beginning of its text."""

    title: str
    date: str
    text: str


@dataclass(frozen=True)
class Preview:
    """The content of a file or folder.

    Attributes
    ----------
    kind : str
        The file format.
    columns : tuple of str
        All columns; empty for a file of counts.
    chosen : Columns
        The columns with text, date, title and group.
    num_rows : int
        The number of rows with text, with or without a date.
    num_bad : int
        The number of rows that a corpus would skip.
    bad : tuple of BadRow
        The first of these rows.
    num_undated : int
        The number of rows with text whose date cannot be read.
    date_span : tuple of two str, or None
        The first and the last date.
    language, language_share : str, float
        As returned by `guess_language`.
    first : tuple of ShownDocument
        The first documents.
    notes : tuple of str
        Sentences to show to the user.
    sample : tuple of str
        Texts from all parts of the file, used by `measure`.
    counted : Counted, optional
        The content of a file of counts, or a sample of a stored corpus.
    sheets : tuple of str
        The sheets with cells of an Excel or OpenDocument file; the first is the one that is read.
    """

    kind: str
    columns: tuple[str, ...]
    chosen: Columns
    num_rows: int
    num_bad: int
    bad: tuple[BadRow, ...]
    num_undated: int
    date_span: tuple[str, str] | None
    language: str
    language_share: float
    first: tuple[ShownDocument, ...]
    notes: tuple[str, ...] = ()
    sample: tuple[str, ...] = field(default=(), repr=False)
    counted: Counted | None = field(default=None, repr=False)
    sheets: tuple[str, ...] = ()

    @property
    def is_sample(self) -> bool:
        """Whether `measure` examines only a sample of the documents."""
        if self.counted is None:
            return len(self.sample) < self.num_rows
        return bool(self.counted.counts.shape[0] < self.num_rows)

    def measure(self, words: WordChoices | KnownWords) -> WordEffect:
        """Try word choices, or known words; raise CorpusError if choices keep no word of a file of
        counts.
        """
        if isinstance(words, KnownWords):
            counted = self.counted and (self.counted.counts, self.counted.words)
            return words.measure(self.sample, counted, self.num_rows)
        if self.counted is None:
            return measure_words(self.sample, words, self.num_rows)
        counts, left = drop_words(self.counted.counts, self.counted.words, words)
        totals = counts.sum(axis=0)
        return WordEffect(
            num_terms=len(left),
            num_tokens=int(totals.sum()),
            raw_tokens=int(self.counted.counts.sum()),
            num_empty=int((np.diff(counts.indptr) == 0).sum()),
            words=tuple(left[word] for word in np.argsort(-totals, kind="stable")[:30]),
            num_documents=counts.shape[0],
            of_documents=self.num_rows,
        )

    def without_sample(self) -> "Preview":
        """Return a copy without `sample` and `counted`, which is small enough to send to another
        process.
        """
        return replace(self, sample=(), counted=None)


def preview(  # noqa: PLR0913
    path: str | PathLike[str],
    *,
    text: str | None = None,
    date: str | None = None,
    title: str | None = None,
    group: str | None = None,
    day_first: bool | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    callback: Callable[[float], object] | None = None,
) -> Preview:
    """Read a file or folder to its end, and describe its content.

    Parameters
    ----------
    path : str or path
        A file or a folder.
    text, date, title, group : str, optional
        The columns to use. None guesses the text, date and title columns; "" means no column (of
        dates, titles or groups).
    day_first : bool, optional
        Whether 3/4/1863 is 3 April. By default, the order that most dates need.
    encoding : str, optional
        The encoding of the text, by a name that Python knows. By default, it is detected.
    sheet : str, optional
        The sheet of an Excel or OpenDocument file. By default, the visible one with most rows.
    callback : callable, optional
        Receives the share of the work that is done, from 0 to 1. It may raise an exception to
        cancel.

    Returns
    -------
    Preview
        The columns, the size, the bad rows, the first documents and a sample of the texts.

    Raises
    ------
    CorpusError
        If the file cannot be read or has no usable row; the message names the file, the row and the
        remedy.
    """
    with show_share(False, callback) as report:
        columns = Columns(
            text=text,
            date=date,
            title=title,
            group=group,
            day_first=day_first,
            encoding=encoding,
            sheet=sheet,
        )
        return look_through(path, columns, report)


def look_through(path: str | PathLike[str], columns: Columns, report: Report) -> Preview:
    """The preview with these columns, as in `preview`.

    Report: gets the share that is read and a message.
    """
    source = find_source(path)
    if source.kind == STORED:
        return _preview_stored(open_stored(source.path))
    table = source.read(columns, report)
    if isinstance(table, Counted):
        form = Columns(encoding=columns.encoding, sheet=columns.sheet)
        return replace(_preview_counts(table), chosen=form)
    guess, said = guess_columns(table)
    given = {name: value for name, value in columns._asdict().items() if value is not None}
    chosen = {name: value for name, value in (guess._asdict() | given).items() if value != ""}
    if columns.date is None:
        table = replace(table, notes=(*table.notes, *said))
    return _preview_table(table, resolve_columns(table, Columns(**chosen)), report)


def _preview_table(table: Table, columns: Columns, report: Report) -> Preview:
    cells = Cells(rows=[], dates=[], titles=[], groups=[])
    bad = BadRows()
    sample = _Sample()
    for chunk in table.read(columns.names):
        sample.add(take_chunk(chunk, columns, cells, bad, table))
        report(chunk.share, "Reading the file")
    if not cells.rows:
        said = explain_no_rows(table.path, bad)
        if bad.listed and bad.listed[0].reason == NO_TEXT and not table.has:
            said += f" Put text into the column {columns.text!r}, or choose another column."
        raise CorpusError(said)
    form = find_date_form(columns, cells)
    dates = date_rows(table, columns, cells, bad, form)
    named = zip(cells.titles, cells.rows, strict=True)
    titles = (title.strip() or f"row {row}" for title, row in named)
    language, share = guess_language(sample.texts)
    texts = sample.texts
    notes = list_notes(table, columns, cells, form, bad.left)
    notes += explain_texts(0, sum(repair_text(text) != text for text in texts))
    if language in LIBRARIES or language == UNKNOWN:
        notes = (*notes, explain_language(language))
        while sum(map(len, texts)) > MAX_UNSPACED and len(texts) > 1:
            texts = texts[::2]
    else:
        notes += explain_single([len(text.split()) for text in texts])
    return Preview(
        kind=table.kind,
        columns=table.columns,
        chosen=columns,
        num_rows=len(cells.rows),
        num_bad=bad.count,
        bad=tuple(bad.listed),
        num_undated=len(dates) - len(list_kept(columns, dates)),
        date_span=_find_span(dates[~np.isnat(dates)]),
        language=language,
        language_share=share,
        first=_show_first(titles, dates, sample.first),
        notes=notes,
        sample=tuple(texts),
        sheets=table.sheets,
    )


def _find_span(dates: np.ndarray) -> tuple[str, str] | None:
    """The first and the last date; None if there is none."""
    return (str(dates.min()), str(dates.max())) if len(dates) else None


def _show_first(
    titles: Iterable[str], dates: np.ndarray, texts: Iterable[str]
) -> tuple[ShownDocument, ...]:
    shown = (str(date).replace("NaT", "") for date in dates[:NUM_SHOWN])
    return tuple(map(ShownDocument, titles, shown, texts))


class _Sample:
    """A sample of texts, evenly spaced in the file.

    The spacing doubles whenever the sample grows too large.
    """

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.first: list[str] = []
        self._stride = 1
        self._num_seen = 0
        self._size = 0

    def add(self, texts: Sequence[str]) -> None:
        for text in texts:
            if len(self.first) < NUM_SHOWN:
                self.first.append(" ".join(text[: 2 * MAX_SHOWN_TEXT].split())[:MAX_SHOWN_TEXT])
            if self._num_seen % self._stride == 0:
                self.texts.append(text)
                self._size += len(text)
            self._num_seen += 1
            if len(self.texts) > MAX_SAMPLE or (
                self._size > MAX_SAMPLE_TEXT and len(self.texts) > 1
            ):
                self.texts = self.texts[::2]
                self._stride *= 2
                self._size = sum(map(len, self.texts))


def _preview_counts(counted: Counted) -> Preview:
    counts = counted.counts
    first = []
    for number in range(min(NUM_SHOWN, counts.shape[0])):
        row = slice(counts.indptr[number], counts.indptr[number + 1])
        order = np.argsort(-counts.data[row], kind="stable")[:40]
        words = [
            f"{counted.words[counts.indices[row][at]]} ×{counts.data[row][at]}" for at in order
        ]
        (title,) = counted.titles[number : number + 1] or (f"document {number + 1}",)
        first.append(ShownDocument(title=title, date="", text=", ".join(words)))
    language, share = guess_language([" ".join(counted.words[:2_000])])
    return Preview(
        kind=counted.kind,
        columns=(),
        chosen=Columns(),
        num_rows=counts.shape[0],
        num_bad=counted.bad.count,
        bad=tuple(counted.bad.listed),
        num_undated=0,
        date_span=None,
        language=language,
        language_share=share,
        first=tuple(first),
        notes=counted.notes,
        counted=counted,
        sheets=counted.sheets,
    )


def _preview_stored(corpus: StoredCorpus) -> Preview:
    size = corpus.num_documents
    rows = np.linspace(0, size - 1, min(MAX_SAMPLE, size)).astype(np.int64)
    sample = corpus.select(np.unique(rows))
    seen = _preview_counts(
        Counted(
            kind=STORED,
            counts=sample.counts,
            words=list(corpus.vocabulary),
            bad=BadRows(),
            faulty=[],
            notes=(),
        )
    )
    texts = (document.text for document in seen.first)
    note = (
        f"The words are already chosen; those of a sample of {sample.num_documents:,} documents are"
        " shown."
    )
    return replace(
        seen,
        num_rows=corpus.num_documents,
        date_span=_find_span(corpus.dates) if corpus.has_dates else None,
        first=_show_first(sample.titles, sample.dates, texts),
        notes=(note,),
    )
