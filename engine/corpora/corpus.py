"""The documents an algorithm learns from: word counts, dates, titles and groups, none of which ever change."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np
from scipy.sparse import csr_array

ORDERS = ("chronological", "shuffled")
SPLITS = ("document", "group")
LARGEST_COUNT = np.iinfo(np.int32).max


class CorpusError(ValueError):
    """A corpus cannot be had as asked; the message names the place and the remedy."""


class Documents(NamedTuple):
    """The words of S documents, as rows one after another.

    starts: (S + 1,) int64; document d holds the entries from `starts[d]` up to `starts[d + 1]`.
    words: (nnz,) int32, word ids, ascending within a document.
    counts: (nnz,) int32, how often the document holds that word.
    """

    starts: np.ndarray
    words: np.ndarray
    counts: np.ndarray

    @property
    def num_documents(self) -> int:
        """The number of documents S."""
        return len(self.starts) - 1

    def sizes(self) -> np.ndarray:
        """Return the number of tokens of each document, (S,) int64.

        >>> Documents(np.array([0, 2, 2, 3]), np.array([0, 4, 1]), np.array([2, 1, 5])).sizes().tolist()
        [3, 0, 5]
        """
        ends = np.append(0, self.counts.cumsum(dtype=np.int64))
        return np.diff(ends[self.starts])

    def indexed(self, words: np.ndarray) -> "Documents":
        """The same documents with each word given as its place in the ascending array `words`, which holds them all.

        The arrays are always new and writable: a kernel is compiled anew for each mix of read-only and writable ones.
        """
        lookup = np.empty(words[-1] + 1 if len(words) else 0, np.int32)
        lookup[words] = np.arange(len(words), dtype=np.int32)
        return Documents(np.array(self.starts, np.int64), lookup.take(self.words), np.array(self.counts, np.int32))

    def cut(self, first: int, last: int) -> "Documents":
        """Documents from the first up to the last, not included."""
        start, end = self.starts[first], self.starts[last]
        return Documents(self.starts[first : last + 1] - start, self.words[start:end], self.counts[start:end])

    def distinct_words(self) -> np.ndarray:
        """The words that occur, ascending (U,)."""
        occurs = np.zeros(self.words.max(initial=-1) + 1, bool)
        # Places of NumPy's own kind are found three times as fast.
        occurs[self.words.astype(np.intp)] = True
        return np.flatnonzero(occurs)


class Batch(NamedTuple):
    """A mini-batch: S documents, their ids (S,) int64, and the number of documents D of the whole corpus."""

    doc_ids: np.ndarray
    documents: Documents
    corpus_size: int


@dataclass(frozen=True)
class Vocabulary:
    """The words of a corpus, in the order of its columns.

    >>> vocabulary = Vocabulary(("peace", "treaty"))
    >>> vocabulary[1], vocabulary.index("peace"), len(vocabulary)
    ('treaty', 0, 2)
    """

    words: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", tuple(self.words))
        if len(self._ids) < len(self.words):
            twice = next(word for i, word in enumerate(self.words) if self._ids[word] != i)
            raise CorpusError(f"The vocabulary holds {twice!r} more than once: name every column by a word of its own.")

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, word_id: int) -> str:
        return self.words[word_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._ids

    def index(self, word: str) -> int:
        """The column of a word; KeyError, with the nearest words there are, if the corpus has none."""
        if word in self._ids:
            return self._ids[word]
        near = get_close_matches(word, self.words, n=3)
        remedy = f"nearest: {', '.join(near)}" if near else "rare words and stop words are left out"
        raise KeyError(f"the corpus has no word {word!r} ({remedy})")


def _check_choice(what: str, choice: str, known: tuple[str, ...]) -> None:
    if choice not in known:
        raise CorpusError(f"No {what} is called {choice!r}: choose one of {', '.join(known)}.")


def _read_dates(name: str, dates: Any) -> np.ndarray:
    try:
        return np.array(dates, dtype="datetime64")
    except ValueError as error:
        raise CorpusError(f"{name}: dates cannot be read ({error}): write them as 1863-12-08, or as a year.") from error


def _read_counts(name: str, given: Any) -> csr_array:
    """A copy of the counts (D, V), int32, each word once a row; whatever is no number of occurrences is refused."""
    counts = csr_array(given)
    try:
        counts.check_format(full_check=True)
    except ValueError as error:
        raise CorpusError(f"{name}: the counts are no sparse matrix by rows ({error}): build it anew.") from error
    if not counts.has_canonical_format:
        # Of float64, since sums of what int32 holds may be more than it holds.
        counts = counts.astype(np.float64, copy=True)
        counts.sum_duplicates()
    data = counts.data
    if data.dtype != np.int32 and data.size:
        is_odd = (data != np.rint(data)) | (data > LARGEST_COUNT) if data.dtype.kind == "f" else data > LARGEST_COUNT
        if is_odd.any():
            raise CorpusError(f"{name}: a count is {data[is_odd][0]}: give whole numbers up to {LARGEST_COUNT}.")
    if data.size and data.min() < 0:
        raise CorpusError(f"{name}: a count is negative: counts are numbers of occurrences.")
    counts = counts.astype(np.int32, copy=True)
    counts.eliminate_zeros()
    return counts


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """D documents over V words, in the order in which they are read.

    counts: (D, V) int32, compressed by rows; each word once a row, ascending, no zeros stored.
    dates: (D,) datetime64 whose unit is the precision known (`datetime64[Y]`: the year); NaT where nobody dated them.
    titles: D names for people.
    doc_ids: (D,) int64, one for every document; it keeps its own through `order`, `split` and `select`.
    groups: (D,) int64, the longer text that a document is a passage of; without it each document is its own.
    group_titles: names of the groups for people; `groups` are places in it.
    split_by: what `split` sets aside unless told otherwise, a "document" or a whole "group" at a time.

    >>> corpus = Corpus("two notes", [[2, 0, 1], [0, 1, 0]], Vocabulary(("peace", "trade", "war")),
    ...                 np.array(["1812", "1815"], "datetime64[Y]"), ("First", "Second"))
    >>> corpus
    Corpus('two notes', 2 documents, 3 words, 4 tokens, 1812 to 1815)
    >>> corpus.documents().words.tolist(), corpus.documents().counts.tolist()
    ([0, 2, 1], [2, 1, 1])
    """

    name: str
    counts: csr_array
    vocabulary: Vocabulary
    dates: np.ndarray
    titles: Sequence[str]
    # Not None for long: what is left out is filled in.
    doc_ids: np.ndarray = field(default=cast(np.ndarray, None))
    groups: np.ndarray = field(default=cast(np.ndarray, None))
    group_titles: Sequence[str] = field(default=cast(Sequence[str], None))
    split_by: str = "document"

    def __post_init__(self) -> None:
        counts = _read_counts(self.name, self.counts)
        own = np.arange(counts.shape[0])
        group_titles = self.titles if self.groups is None else self.group_titles
        frozen = {
            "counts": counts,
            "dates": _read_dates(self.name, self.dates),
            "titles": tuple(self.titles),
            "doc_ids": np.array(own if self.doc_ids is None else self.doc_ids, dtype=np.int64),
            "groups": np.array(own if self.groups is None else self.groups, dtype=np.int64),
            "group_titles": tuple(() if group_titles is None else group_titles),
        }
        for attribute, value in frozen.items():
            object.__setattr__(self, attribute, value)
        self._check()
        for array in (counts.data, counts.indices, counts.indptr, self.dates, self.doc_ids, self.groups):
            array.setflags(write=False)

    def _check(self) -> None:
        num_documents, vocab_size = self.counts.shape
        for what in ("dates", "titles", "doc_ids", "groups"):
            length = len(getattr(self, what))
            if length != num_documents:
                raise CorpusError(f"{self.name}: {num_documents} documents but {length} {what}: give one a document.")
        if len(self.vocabulary) != vocab_size:
            raise CorpusError(f"{self.name}: {vocab_size} columns but {len(self.vocabulary)} words: give one a column.")
        if self.groups.size and not 0 <= self.groups.min() <= self.groups.max() < len(self.group_titles):
            raise CorpusError(f"{self.name}: a group has no title: groups are places in group_titles.")
        _check_choice("split", self.split_by, SPLITS)

    def __repr__(self) -> str:
        size = f"{self.num_documents} documents, {self.vocab_size} words, {self.num_tokens} tokens"
        span = f", {self.dates.min()} to {self.dates.max()}" if self.has_dates else ""
        return f"Corpus({self.name!r}, {size}{span})"

    @property
    def num_documents(self) -> int:
        return int(self.counts.shape[0])

    @property
    def vocab_size(self) -> int:
        return int(self.counts.shape[1])

    @cached_property
    def num_tokens(self) -> int:
        return int(self.counts.data.sum(dtype=np.int64))

    @property
    def has_dates(self) -> bool:
        """Whether every document has a date; without dates the order of the file is the chronology."""
        return self.num_documents > 0 and not np.isnat(self.dates).any()

    def documents(self) -> Documents:
        """All documents, in reading order, as read-only arrays."""
        return self._rows(0, self.num_documents)

    def _rows(self, start: int, stop: int) -> Documents:
        starts = self.counts.indptr[start : stop + 1].astype(np.int64)
        entries = slice(starts[0], starts[-1])
        starts -= starts[0]
        starts.setflags(write=False)
        # The sparse matrix may hold wider indices; kernels are compiled for int32 alone.
        words = self.counts.indices[entries].astype(np.int32, copy=False)
        words.setflags(write=False)
        return Documents(starts, words, self.counts.data[entries])

    def select(self, rows: Sequence[int] | np.ndarray) -> "Corpus":
        """The documents at these positions, in this order; a mask of D booleans keeps the reading order.

        Raises CorpusError where the mask is of another length, or a position is none of this corpus.
        """
        size, rows = self.num_documents, np.asarray(rows)
        if rows.dtype == bool:
            if rows.shape != (size,):
                raise CorpusError(f"{self.name}: a mask of {rows.size} does not fit its {size} documents.")
            rows = np.flatnonzero(rows)
        if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
            raise CorpusError(f"{self.name}: positions of documents are a list of whole numbers, or a mask.")
        rows = rows.astype(np.int64)
        is_beyond = (rows < -size) | (rows >= size)
        if is_beyond.any():
            raise CorpusError(f"{self.name}: there is no document {rows[is_beyond][0]}: it has {size}, counted from 0.")
        return replace(
            self,
            counts=self.counts[rows],
            dates=self.dates[rows],
            titles=tuple(self.titles[row] for row in rows.tolist()),
            doc_ids=self.doc_ids[rows],
            groups=self.groups[rows],
        )

    def merge_groups(self, name: str) -> "Corpus":
        """Whole groups as documents, in the order of their ids, dated by the first document of each."""
        groups, members = np.unique(self.groups, return_inverse=True)
        ones, own = np.ones(self.num_documents, np.int32), np.arange(self.num_documents, dtype=np.int32)
        membership = csr_array((ones, (members.astype(np.int32), own)), shape=(len(groups), self.num_documents))
        in_file = np.lexsort((self.doc_ids, self.groups))
        first = in_file[np.unique(self.groups[in_file], return_index=True)[1]]
        titles = [self.group_titles[group] for group in groups]
        return Corpus(name, membership @ self.counts, self.vocabulary, self.dates[first], titles)

    def order(self, order: str, seed: int = 0) -> "Corpus":
        """The same documents by date (equal dates by `doc_ids`, so in the order of the file), or shuffled by `seed`."""
        _check_choice("order", order, ORDERS)
        if order == "shuffled":
            return self.select(np.random.default_rng(seed).permutation(self.num_documents))
        return self.select(self._chronology())

    def _chronology(self) -> np.ndarray:
        return np.lexsort((self.doc_ids, self.dates))

    def split(self, num_test: int, seed: int = 0, by: str | None = None) -> tuple["Corpus", "Corpus"]:
        """Set documents of all times aside: returns (train, test), both in the present reading order.

        by: "document" sets single documents aside, `num_test` of them; "group" sets whole groups aside, so many that
            they have about `num_test` documents in all. Without it `split_by`.

        The chronology is cut into as many stretches as there are documents or groups to be drawn, of equal length (one
        more or less), and one is drawn from each; a group stands where its first document does. At most half are set
        aside, which leaves a small corpus something to learn.
        """
        if not isinstance(num_test, (int, np.integer)):
            raise CorpusError(f"{num_test!r} is no number of documents to hold out: choose a whole number, 0 or more.")
        if num_test < 0:
            raise CorpusError(f"{num_test} documents cannot be held out: choose 0 or more.")
        by = by or self.split_by
        _check_choice("split", by, SPLITS)
        ids = self.groups if by == "group" else self.doc_ids
        is_test = np.isin(ids, self._draw(ids, num_test, seed))
        return self.select(~is_test), self.select(is_test)

    def _draw(self, ids: np.ndarray, num_test: int, seed: int) -> np.ndarray:
        """Some of the ids that the D documents go by, of all times, with about `num_test` documents in all."""
        # A fixed order under equal dates makes the test set the same however the corpus is ordered now.
        ids, first, sizes = np.unique(ids[self._chronology()], return_index=True, return_counts=True)
        order = np.argsort(first)
        ids, sizes = ids[order], sizes[order]
        num_drawn = min(-(-num_test * len(ids) // max(self.num_documents, 1)), len(ids) // 2)
        edges = np.arange(num_drawn + 1) * len(ids) // max(num_drawn, 1)
        rng = np.random.default_rng(seed)
        pairs = np.stack([rng.integers(edges[:-1], edges[1:]) for _ in range(2)], axis=1)
        # Groups differ much in size: of two, the one is taken that leaves the total nearer to its share of the whole.
        drawn, total = [], 0
        for number, pair in enumerate(pairs, start=1):
            off = np.abs(total + sizes[pair] - number * num_test / num_drawn)
            drawn.append(pair[off.argmin()])
            total += sizes[drawn[-1]]
        return ids[np.array(drawn, dtype=np.int64)]

    def batches(self, size: int, start: int = 0) -> Iterator[Batch]:
        """Mini-batches of `size` documents in reading order, from the document at `start`; the last may be short."""
        if size < 1:
            raise CorpusError(f"A mini-batch of {size} documents teaches nothing: choose 1 or more.")
        for first in range(start, self.num_documents, size):
            last = min(first + size, self.num_documents)
            yield Batch(self.doc_ids[first:last], self._rows(first, last), self.num_documents)
