"""Read files of word counts: UCI bag-of-words, LDA-C and Matrix Market, each with its list of
words.

pandas parses the entries. scipy.io.mmread and sklearn's load_svmlight_file stop at the first wrong
line instead of skipping it, and report no progress.
"""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
from scipy.sparse import csr_array

from stickbreaker.engine.corpora.corpus_arrays import LARGEST_COUNT
from stickbreaker.engine.corpora.encodings import find_encoding
from stickbreaker.engine.corpora.kinds import LDA_C, MATRIX, UCI
from stickbreaker.engine.corpora.packed_files import open_plain, plain_path
from stickbreaker.engine.corpora.rows import (
    MAX_LISTED,
    BadRow,
    BadRows,
    CorpusError,
    Counted,
    shorten,
)
from stickbreaker.engine.corpora.words import MAX_LETTERS
from stickbreaker.engine.progress_bars import Report

BLOCK = 1 << 23
MAX_DOCUMENTS = 50_000_000
MAX_WORDS = 5_000_000
MAX_ENTRIES = 500_000_000
# A size of more digits is larger than any limit, and Python reads at most 4,300.
MAX_DIGITS = 18
TOO_LARGE = f"{{}} has more than {MAX_DOCUMENTS:,} documents or {MAX_ENTRIES:,} entries. Split it."
UNUSED = (
    "{} has no word number {}, the last of its list, {!r}. If the list has a line too many, such as"
    " a name above the words, all words are wrong: remove that line."
)
OUTSIDE = "word number {} is outside the list of {:,} words: number words from 0"
# A word next to its number or its frequency.
NUMBERED = re.compile(r'"?\d+"?[\s,;]+\S.*|\S.*[\s,;]+"?\d+"?')
SHARE_OF_NUMBERED = 0.9
VOCABULARY_ENDS = (".vocab", ".vocab.txt", "_vocab.txt", ".words", ".tokens", ".words.txt")
VOCABULARY_NAMES = ("vocab.txt", "vocabulary.txt", "vocab.dat", "words.txt")

# Counts, bad lines, and the documents that were skipped.
ReadCounts = tuple[csr_array, BadRows, list[int]]


def read_counts(
    path: Path, kind: str, report: Report = lambda share, message: None, encoding: str = ""
) -> Counted:
    """Read a file of word counts of a format (`UCI`, `LDA_C` or `MATRIX`), and the list of words in
    the same folder, which has this encoding if it is given.

    Raises CorpusError if a file is missing, unreadable or too large.
    """
    words, notes = read_vocabulary(find_vocabulary(path, kind), encoding)
    read = {UCI: _read_uci, LDA_C: _read_lda_c, MATRIX: _read_matrix}[kind]
    try:
        with open_plain(path).open("rb") as stream:
            counts, bad, faulty = read(path, stream, len(words), report)
    except OSError as error:
        raise CorpusError(f"Cannot read {path} ({error}). Compress or copy it again.") from error
    if kind == LDA_C and counts.nnz:
        if counts.indices.min() > 0:
            notes += (_explain_first(path, words, bad),)
        if not bad.count and counts.indices.max() < len(words) - 1:
            notes += (UNUSED.format(path, len(words) - 1, words[-1][:40]),)
    return Counted(kind=kind, counts=counts, words=words, bad=bad, faulty=faulty, notes=notes)


def _explain_first(path: Path, words: list[str], bad: BadRows) -> str:
    """Say that the first word of the list never occurs.

    Raises CorpusError if a number is that of a word after the last: the file counts from 1.
    """
    said = f"{path} has no word number 0, which is {words[0]!r:.40}: LDA-C numbers words from 0"
    if any(row.reason == OUTSIDE.format(len(words), len(words)) for row in bad.listed):
        raise CorpusError(f"{said}, but this file from 1. Subtract 1 from each word number.")
    return f"{said}. If this file numbers them from 1, all words are wrong: subtract 1 from each."


def _stem(path: Path) -> str:
    return re.sub(r"(?i)\.txt$", "", plain_path(path).name)


def name_counts(path: Path, kind: str) -> str:
    """Derive the name of a corpus from the name of its file of counts.

    >>> name_counts(Path("docword.kos.txt.gz"), UCI), name_counts(Path("ap.2.ldac"), LDA_C)
    ('kos', 'ap.2')
    """
    stem = _stem(path)
    if kind == UCI:
        stem = re.sub(r"(?i)\.uci$", "", stem)
        return re.sub(r"(?i)^docword\W*", "", stem) or stem
    return Path(stem).stem


def find_vocabulary(path: Path, kind: str) -> Path:
    """Find the list of words next to a file of counts.

    Raise CorpusError if no file has a usual name.
    """
    stem = _stem(path)
    plain = Path(stem).stem
    names = [f"{plain}{end}" for end in VOCABULARY_ENDS]
    # gensim adds an extension to the whole name.
    names.append(f"{stem}.vocab")
    if stem.lower().startswith("docword"):
        names.insert(0, re.sub("(?i)^docword", "vocab", stem) + ".txt")
    for name in (*names, *VOCABULARY_NAMES):
        if (found := path.parent / name).is_file():
            return found
    raise CorpusError(
        f"No list of words for {path}. Put one word per line into {names[0]} in the same folder."
    )


def read_vocabulary(path: Path, given: str = "") -> tuple[list[str], tuple[str, ...]]:
    """Read the words of a list, one per line, and notes for the user.

    A repeated or missing word gets its line number.

    Raises CorpusError if the file is missing, not text, or has too many words or a word of more
    than `MAX_LETTERS` letters.
    """
    encoding = find_encoding(path, given)
    with path.open(encoding=encoding.name, errors="replace") as text:
        lines = text.read(MAX_WORDS * 40).split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    if len(lines) > MAX_WORDS:
        raise CorpusError(f"{path} has more than {MAX_WORDS:,} words. Keep the most frequent ones.")
    numbered = [line for line in lines if NUMBERED.fullmatch(line.strip())]
    if len(numbered) > SHARE_OF_NUMBERED * len(lines):
        raise CorpusError(
            f"{path} has numbers next to the words, {numbered[0]!r:.60}. Remove them."
        )
    seen: set[str] = set()
    words = []
    for number, line in enumerate(lines, start=1):
        word = line.strip().replace("\0", "")
        # R writes words in quotes.
        if len(word) > 2 and word[0] == word[-1] == '"':
            word = word[1:-1].replace('""', '"')
        word = word or f"(line {number})"
        if len(word) > MAX_LETTERS:
            reason = f"a word has more than {MAX_LETTERS} letters"
            raise CorpusError(f"{path}, line {number}: {reason}. Put one word in each line.")
        if word in seen:
            word = f"{word} (line {number})"
        words.append(word)
        seen.add(word)
    return words, encoding.notes


def _read_uci(path: Path, stream: IO[bytes], num_words: int, report: Report) -> ReadCounts:
    head = [stream.readline(100).strip() for _ in range(3)]
    if not all(line.isdigit() for line in head):
        raise CorpusError(
            f"{path} must begin with three lines: the numbers of documents, words and entries."
        )
    num_documents, declared, num_entries = _read_sizes(path, head)
    if declared != num_words:
        raise CorpusError(
            f"{path} has {declared:,} words but its list has {num_words:,}. Use the list that"
            " belongs to it."
        )
    return _read_entries(path, stream, (num_documents, num_words, num_entries), 4, report)


def _read_matrix(path: Path, stream: IO[bytes], num_words: int, report: Report) -> ReadCounts:
    head = stream.readline(1000).decode("ascii", "replace").lower().split()
    line_number = 2
    if head[:2] != ["%%matrixmarket", "matrix"] or len(head) < 5:
        raise CorpusError(f"{path} does not begin with %%MatrixMarket. Save it as Matrix Market.")
    if head[2] != "coordinate" or head[3] not in ("integer", "real") or head[4] != "general":
        form = shorten(" ".join(head[2:5]))
        raise CorpusError(f"{path} is in the form {form!r}. Save it as coordinate integer general.")
    while (line := stream.readline(10_000)).startswith(b"%"):
        line_number += 1
    sizes = line.split()
    if len(sizes) != 3 or not all(size.isdigit() for size in sizes):
        raise CorpusError(
            f"{path}, line {line_number}: write the numbers of rows, columns and entries."
        )
    num_rows, num_columns, num_entries = _read_sizes(path, sizes)
    if num_words not in (num_rows, num_columns):
        raise CorpusError(
            f"{path} has {num_rows:,} rows and {num_columns:,} columns, but its list has"
            f" {num_words:,} words. The rows or the columns must be the words."
        )
    is_by_document = num_columns == num_words
    shape = (num_rows if is_by_document else num_columns, num_words, num_entries)
    return _read_entries(path, stream, shape, line_number + 1, report, is_by_document)


def _read_sizes(path: Path, digits: list[bytes]) -> list[int]:
    if any(len(number) > MAX_DIGITS for number in digits):
        raise CorpusError(TOO_LARGE.format(path))
    return [int(number) for number in digits]


def _read_entries(
    path: Path,
    stream: IO[bytes],
    shape: tuple[int, int, int],
    line: int,
    report: Report,
    is_by_document: bool = True,
) -> ReadCounts:
    """Read lines of document, word and count, with ids from 1.

    `line` is the number of the first line.
    """
    num_documents, num_words, num_entries = shape
    _check_size(path, num_documents, num_entries)
    parts = []
    bad = BadRows()
    num_read = 0
    has_zeros = np.zeros(2, bool)
    for block in _blocks(stream):
        entries, wrong = parse_entries(path, block, line)
        if not is_by_document:
            entries[:, :2] = entries[:, 1::-1]
        is_good = _are_good(entries, num_documents, num_words)
        has_zeros |= (entries[~is_good, :2] == 0).any(axis=0)
        bad.add(wrong)
        bad.add(
            [_explain_entry(path, entry) for entry in entries[~is_good][:MAX_LISTED]],
            int((~is_good).sum()),
        )
        parts.append(entries[is_good, :3].astype(np.int32))
        line += block.count(b"\n")
        num_read += len(parts[-1])
        _check_size(path, num_documents, num_read)
        report(min(1.0, num_read / max(1, num_entries)), "Reading the counts")
    if num_read + bad.count < num_entries:
        reason = (
            f"the file is incomplete, with {num_read + bad.count:,} of {num_entries:,} entries:"
            " copy it again"
        )
        bad.add([BadRow(file=str(path), row=None, reason=reason)])
    documents, words, counts = np.concatenate([*parts, np.zeros((0, 3), np.int32)]).T
    most = np.array([documents.max(initial=0), words.max(initial=0)])
    if (has_zeros & (most < shape[:2])).any():
        raise CorpusError(
            f"{path} numbers documents or words from 0, but its format from 1. Add 1 to each."
        )
    # The sum of repeated entries may exceed int32.
    counts = counts.astype(np.int64)
    return (
        csr_array((counts, (documents - 1, words - 1)), shape=(num_documents, num_words)),
        bad,
        [],
    )


def _check_size(path: Path, num_documents: int, num_entries: int) -> None:
    if num_documents > MAX_DOCUMENTS or num_entries > MAX_ENTRIES:
        raise CorpusError(TOO_LARGE.format(path))


def _blocks(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield blocks of whole lines."""
    rest = b""
    while block := stream.read(BLOCK):
        whole, _, rest_after = (rest + block).rpartition(b"\n")
        if not whole and len(rest_after) > BLOCK:
            raise OSError("a line is too long")
        if whole:
            yield whole + b"\n"
        rest = rest_after
    if rest.strip():
        yield rest + b"\n"


def parse_entries(path: Path, block: bytes, line: int) -> tuple[np.ndarray, list[BadRow]]:
    """Parse whole lines into entries (N, 4) of row, column, count and line number, and into bad
    lines.
    """
    import pandas as pd

    try:
        table = pd.read_csv(
            io.BytesIO(block),
            sep=r"\s+",
            header=None,
            names=["one", "two", "count", "more"],
            dtype=np.float64,
            skip_blank_lines=False,
            index_col=False,
            on_bad_lines="error",
        ).to_numpy()
    except (ValueError, pd.errors.ParserError):
        table = None
    is_whole = table is not None and len(table) == block.count(b"\n")
    if is_whole and np.isfinite(table[:, :3]).all() and np.isnan(table[:, 3]).all():
        return np.column_stack([table[:, :3], line + np.arange(len(table))]), []
    entries = []
    bad = []
    for number, text in enumerate(block.splitlines(), start=line):
        try:
            one, two, count = map(float, text.split())
            entries.append((one, two, count, number))
        except ValueError:
            if text.strip():
                shown = text[:40].decode("ascii", "replace")
                bad.append(
                    BadRow(
                        file=str(path),
                        row=number,
                        reason=f"{shown!r} is wrong: write the document, word and count",
                    )
                )
    return np.array(entries, np.float64).reshape(-1, 4), bad


def _are_good(entries: np.ndarray, num_documents: int, num_words: int) -> np.ndarray:
    documents, words, counts = entries[:, :3].T
    is_whole = (np.floor(entries[:, :3]) == entries[:, :3]).all(axis=1)
    is_inside = (
        (documents >= 1) & (documents <= num_documents) & (words >= 1) & (words <= num_words)
    )
    is_good: np.ndarray = is_whole & is_inside & (counts >= 1) & (counts <= LARGEST_COUNT)
    return is_good


def _explain_entry(path: Path, entry: np.ndarray) -> BadRow:
    document, word, count, line = entry
    if count > LARGEST_COUNT:
        reason = f"the count {count:g} is too large: use at most {LARGEST_COUNT}"
    elif count < 1 or count != np.floor(count):
        reason = f"the count {count:g} is not a number of occurrences: use whole numbers, 1 or more"
    else:
        reason = (
            f"document {document:g} or word {word:g} is outside the size in the header: number both"
            " from 1"
        )
    return BadRow(file=str(path), row=int(line), reason=reason)


def _read_lda_c(path: Path, stream: IO[bytes], num_words: int, report: Report) -> ReadCounts:
    size = max(1, path.stat().st_size)
    parts = [np.zeros((0, 2), np.int64)]
    lengths: list[int] = []
    faulty: list[int] = []
    bad = BadRows()
    num_read = 0
    for block in _blocks(stream):
        for line in block.splitlines():
            pairs = parse_document(line, num_words)
            if isinstance(pairs, str):
                bad.add([BadRow(file=str(path), row=len(lengths) + 1, reason=pairs)])
                faulty.append(len(lengths))
                pairs = parts[0]
            lengths.append(len(pairs))
            parts.append(pairs)
        num_read += len(block)
        _check_size(path, len(lengths), sum(lengths))
        report(min(1.0, num_read / size), "Reading the counts")
    words, counts = np.concatenate(parts).T
    starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return csr_array((counts, words, starts), shape=(len(lengths), num_words)), bad, faulty


def parse_document(line: bytes, num_words: int) -> np.ndarray | str:
    """Parse a line into pairs (N, 2) of word and count, or explain why it is wrong."""
    if not line.strip():
        return np.zeros((0, 2), np.int64)
    try:
        first, *values = map(int, line.replace(b":", b" ").split())
    except ValueError:
        return "the line must look like '2 0:1 7:3': write the number of words, then word:count"
    if len(values) != 2 * first:
        return (
            f"the line has {len(values) / 2:g} words instead of {shorten(str(first))}: write"
            " word:count for each"
        )
    # Checked before the conversion, because int64 cannot hold every integer.
    if max(values, default=0) > LARGEST_COUNT:
        return (
            f"{shorten(str(max(values)))} is too large: use word numbers and counts of at most"
            f" {LARGEST_COUNT}"
        )
    pairs = np.array(values, np.int64).reshape(-1, 2)
    if len(pairs) and not (pairs[:, 0].min() >= 0 and pairs[:, 0].max() < num_words):
        wrong = next(word for word in pairs[:, 0].tolist() if not 0 <= word < num_words)
        return OUTSIDE.format(wrong, num_words)
    if len(pairs) and pairs[:, 1].min() < 1:
        return "a count is less than 1: use whole numbers, 1 or more"
    return pairs
