"""Tables of word counts: a row for each word of a document, or a row for each document with a
column for each word.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from stickbreaker.engine.corpora.rows import BadRows, CorpusError, Counted, Table, shorten
from stickbreaker.engine.corpora.word_choices import MAX_VOCABULARY
from stickbreaker.engine.progress_bars import Report

WHOLE = re.compile(r"\d{1,9}(?:\.0*)?")
WORD = re.compile(r"(?!column \d)[^\W\d_][\w'’.-]*(?: [^\W\d_][\w'’.-]*){0,2}")
WORD_NAMES = re.compile(r"(?i)(?:.*[ _.])?(?:word|term|token|lemma|feature|n.?gram|bigram|stem)s?")
COUNT_NAMES = re.compile(r"(?i)n|tf|.*count.*|.*freq.*|.*occurr.*|n_.*|num.*|times")
# Numbers that are no counts.
PLACE_NAMES = re.compile(
    r"(?i)(?:.*[ _.])?(?:position|pos|index|idx|offset|place|rank|id|start|end)"
)
TEXT_NAMES = re.compile(r"(?i)text|body|content|comment|sentence|message|review")
MOST_TIDY = 6
LEAST_WORDS = 8
# Of the columns of a matrix, and of its cells.
SHARE_OF_WORDS = 0.8
SHARE_OF_ZEROS = 0.25
# A count that is wrong leaves out its row, and not the word.
SHARE_OF_GOOD = 0.9
# Words in a cell of a text, on average.
LONG_TEXT = 8
# Columns that a note lists.
NUM_LISTED = 5
REMEDY = 'To read texts from it, name their column, text="...".'


class CountForm(NamedTuple):
    """The columns of a table of word counts.

    document: the column that names the documents; "" if no column does. words: the columns of
    words, or in a table with a row for each count, that of all words; number: that of the counts.
    """

    document: str
    words: tuple[str, ...]
    number: str = ""

    @property
    def note(self) -> str:
        """Say how the table is read."""
        if self.number:
            return (
                f"Each row is read as the count {self.number!r} of the word {self.words[0]!r} in"
                f" the document {self.document!r}. {REMEDY}"
            )
        return (
            f"Each row is read as a document, and {len(self.words):,} columns, such as"
            f" {self.words[0]!r}, as its counts of words. If the rows are words, exchange rows and"
            f" columns. {REMEDY}"
        )


def find_count_form(table: Table) -> CountForm | None:
    """Find how a table contains word counts, from its first rows; None if it has texts."""
    size = len(table.columns)
    if table.has or not (2 < size <= MOST_TIDY or LEAST_WORDS < size <= MAX_VOCABULARY):
        return None
    cells = next(iter(table.read(table.columns))).cells
    find = _find_tidy if size <= MOST_TIDY else _find_matrix
    return find({name: [cell.strip() for cell in column] for name, column in cells.items()})


def _find_tidy(cells: dict[str, list[str]]) -> CountForm | None:
    """The form with a row for each word of a document, if the name of a column says so."""
    whole = [name for name in cells if "" not in cells[name] and _are_whole(cells[name])]
    counts = [name for name in whole if not PLACE_NAMES.fullmatch(name)]
    words = [name for name in cells if name not in whole and _has_words(name, cells[name])]
    count = max(reversed(counts), key=lambda name: bool(COUNT_NAMES.fullmatch(name)), default=None)
    word = max(
        words,
        key=lambda name: (bool(WORD_NAMES.fullmatch(name)), len(set(cells[name]))),
        default=None,
    )
    if count is None or word is None:
        return None
    # Several columns of counts are documents: their rows are words.
    if len(counts) > 2 and not COUNT_NAMES.fullmatch(count):
        return None
    num_named = bool(WORD_NAMES.fullmatch(word)) + bool(COUNT_NAMES.fullmatch(count))
    # Documents may share a date, and each row may have a number.
    sizes = {name: len(set(cells[name])) for name in cells}
    for name in sorted(cells, key=lambda name: (sizes[name] == len(cells[word]), -sizes[name])):
        num_pairs = len(set(zip(cells[name], cells[word], strict=True)))
        # A document has each word once, and several words unless the rows are sorted by word.
        is_document = num_pairs >= SHARE_OF_GOOD * len(cells[word]) and "" not in cells[name]
        has_several = num_named + (sizes[name] < num_pairs) > 1
        if is_document and has_several and name not in (word, count):
            return CountForm(document=name, words=(word,), number=count)
    return None


def _has_words(name: str, cells: Sequence[str]) -> bool:
    """Whether most cells are one word, or up to three in a column that is named so."""
    most = 3 if WORD_NAMES.fullmatch(name) else 1
    found = [len(cell.split()) for cell in cells if any(map(str.isalpha, cell))]
    return len(found) >= SHARE_OF_WORDS * len(cells) and max(found, default=most + 1) <= most


def _are_whole(cells: Sequence[str]) -> bool:
    """Whether most cells are whole numbers or empty."""
    good = sum(not cell or bool(WHOLE.fullmatch(cell)) for cell in cells)
    return good >= SHARE_OF_GOOD * max(1, len(cells))


def _find_matrix(cells: dict[str, list[str]]) -> CountForm | None:
    """The form with a column for each word, if there is no column of texts."""
    first, *_ = cells
    words = tuple(
        name
        for name, column in cells.items()
        if WORD.fullmatch(name)
        and _are_whole(column)
        # Years and numbers of rows are no counts.
        and any(len(cell) < len("1000") for cell in column)
        and not (name == first and len(set(column)) == len(column))
    )
    numbers = [cell.strip("0.") for name in words for cell in cells[name]]
    if len(words) < max(LEAST_WORDS, SHARE_OF_WORDS * len(cells)) or not any(numbers):
        return None
    others = [name for name in cells if name not in words]
    is_binary = not set(numbers) - {"", "1"}
    for name in others:
        lengths = [len(cell.split()) for cell in cells[name]]
        is_named = TEXT_NAMES.search(name) and max(lengths) > 2
        if is_named or np.mean(lengths) >= (4 if is_binary else LONG_TEXT):
            return None
    if numbers.count("") < SHARE_OF_ZEROS * len(numbers):
        return None
    return CountForm(document=next(iter(others), ""), words=words)


def refuse_count_table(table: Table) -> None:
    """Raise CorpusError if a table contains word counts, which `build` does not read."""
    if form := find_count_form(table):
        raise CorpusError(
            f"{table.path} contains word counts. Load it with load_corpus, and call store_corpus."
            f" {form.note}"
        )


def read_count_table(table: Table, form: CountForm, report: Report) -> Counted:
    """Read a table of word counts."""
    kind = f"{table.kind} of word counts"
    read = _read_tidy if form.number else _read_matrix
    notes = (*table.notes, *_list_left_out(table, form), form.note)
    return read(table, form, report)._replace(kind=kind, notes=notes)


def _list_left_out(table: Table, form: CountForm) -> Iterator[str]:
    """Name the columns that are not read, such as those of dates."""
    used = {form.document, form.number, *form.words}
    if left := [repr(shorten(name)) for name in table.columns if name not in used]:
        more = f" and {len(left) - NUM_LISTED:,} more" * (len(left) > NUM_LISTED)
        columns = f"column{'s' * (len(left) > 1)} {', '.join(left[:NUM_LISTED])}{more}"
        yield f"Counts have no dates and groups. Left out: the {columns}."


def _read_tidy(table: Table, form: CountForm, report: Report) -> Counted:
    names: dict[str, int] = {}
    words: dict[str, int] = {}
    rows: list[int] = []
    entries: list[tuple[int, int, int]] = []
    bad = BadRows()
    columns = (form.document, form.words[0], form.number)
    for chunk in table.read(columns):
        bad.add(chunk.bad)
        for row, name, word, number in zip(
            chunk.rows, *map(chunk.cells.__getitem__, columns), strict=True
        ):
            if not word.strip():
                bad.add([table.name_bad(row, "the word is empty")])
            elif fault := _find_fault([number]):
                bad.add([table.name_bad(row, fault)])
            else:
                document = names.setdefault(name.strip(), len(names))
                if document == len(rows):
                    rows.append(row)
                place = words.setdefault(word.strip(), len(words))
                entries.append((document, place, int(float(number))))
        report(chunk.share, "Reading the counts")
    ordered = sorted(words)
    places = np.empty(len(words), np.int64)
    places[[words[word] for word in ordered]] = np.arange(len(words))
    documents, found, numbers = np.array(entries, np.int64).reshape(-1, 3).T
    counts = csr_array((numbers, (documents, places[found])), shape=(len(names), len(words)))
    return Counted("", counts, ordered, bad, [], (), tuple(names), tuple(rows))


def _read_matrix(table: Table, form: CountForm, report: Report) -> Counted:
    titles: list[str] = []
    rows: list[int] = []
    parts: list[csr_array] = []
    bad = BadRows()
    named = tuple(filter(None, [form.document]))
    for chunk in table.read((*named, *form.words)):
        bad.add(chunk.bad)
        kept = []
        columns = (chunk.cells[word] for word in form.words)
        for place, cells in enumerate(zip(*columns, strict=True)):
            if fault := _find_fault(cells):
                bad.add([table.name_bad(chunk.rows[place], fault)])
            else:
                kept.append([float(cell.strip() or 0) for cell in cells])
                rows.append(chunk.rows[place])
                titles += [chunk.cells[name][place].strip() for name in named]
        shape = (len(kept), len(form.words))
        parts.append(csr_array(np.array(kept, np.int64).reshape(shape)))
        report(chunk.share, "Reading the counts")
    counts = csr_array(_stack(parts))
    return Counted("", counts, list(form.words), bad, [], (), tuple(titles), tuple(rows))


def _stack(parts: Sequence[csr_array]) -> csr_array:
    from scipy.sparse import vstack

    return vstack(parts, "csr")


def _find_fault(cells: Sequence[str]) -> str:
    for cell in cells:
        if cell.strip() and not WHOLE.fullmatch(cell.strip()):
            return f"the count {shorten(cell)!r} is not a whole number of at most 9 digits"
    return ""
