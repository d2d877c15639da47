"""A corpus, which never changes: documents with words, dates, titles and groups, in an order."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from functools import cached_property
from typing import Any, cast

import numpy as np
from scipy.sparse import csr_array

from stickbreaker.engine.corpora.corpus_arrays import check_counts, check_dates, check_numbers
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.corpora.rows import NO_GROUP, CorpusError
from stickbreaker.engine.corpora.word_choices import WordChoices, check_choices

ORDERS = ("chronological", "shuffled")
SPLITS = ("document", "group")
# One of fewer groups, such as parties, is too large a part of the corpus to hold out.
MIN_SPLIT_GROUPS = 20
# Shards of a stored corpus that are shuffled together.
SHUFFLE_WINDOW = 16


@dataclass(frozen=True)
class Vocabulary:
    """The words of a corpus, in the order of its columns.

    Parameters
    ----------
    words : tuple of V str
        The words; another sequence is converted.

    Raises
    ------
    CorpusError
        If a word occurs twice.

    Examples
    --------
    >>> vocabulary = Vocabulary(("peace", "treaty"))
    >>> vocabulary[1], vocabulary.index("peace"), len(vocabulary)
    ('treaty', 0, 2)
    """

    words: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", tuple(self.words))
        if len(self._ids) < len(self.words):
            twice = next(word for i, word in enumerate(self.words) if self._ids[word] != i)
            raise CorpusError(
                f"The vocabulary contains {twice!r} more than once: give each column a different"
                " word."
            )

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
        """Return the column of a word.

        Parameters
        ----------
        word : str
            A word of the corpus.

        Returns
        -------
        int
            Its column, 0 to V - 1.

        Raises
        ------
        KeyError
            If the corpus does not contain the word; the message lists similar words.
        """
        if word in self._ids:
            return self._ids[word]
        hint = "rare words and stop words are not counted"
        if near := get_close_matches(word, self.words, n=3):
            hint = f"similar words: {', '.join(near)}"
        raise KeyError(f"the corpus does not contain the word {word!r} ({hint})")


def _check_choice(what: str, choice: str, known: tuple[str, ...]) -> None:
    if choice not in known:
        raise CorpusError(f"Unknown {what} {choice!r}: choose one of {', '.join(known)}.")


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """D documents over V words, in reading order.

    Parameters
    ----------
    name : str
        The name of the corpus.
    counts : (D, V) array or sparse matrix
        How often each word occurs in each document; stored as a CSR array of int32 without zeros.
    vocabulary : Vocabulary
        The V words.
    dates : (D,) datetime64
        The unit is the known precision (`datetime64[Y]` for years). NaT marks a document without a
        date.
    titles : sequence of D str
        The titles shown to a reader.
    doc_ids : (D,) int64, optional
        The id of each document, kept by `order`, `split` and `select`. The default is 0 to D - 1.
    groups : (D,) int64, optional
        The longer text that each document is a passage of, as an index into `group_titles`. By
        default each document is its own group.
    group_titles : sequence of str, optional
        The titles of the groups.
    split_by : str
        What `split` draws by default: each "document" on its own, or a whole "group".
    rows : (D,) int64, optional
        The row of each document in its file, as in a spreadsheet: the first one below the names of
        the columns of a CSV file is 2. The default is `doc_ids`.
    word_choices : WordChoices, optional
        How the words were counted. None if that is not known.

    Raises
    ------
    CorpusError
        If the lengths disagree, a count is not a whole number from 0 to 2³¹ - 1, or a group has no
        title.

    Examples
    --------
    >>> words = Vocabulary(("peace", "trade", "war"))
    >>> years = np.array(["1812", "1815"], "datetime64[Y]")
    >>> corpus = Corpus("two notes", [[2, 0, 1], [0, 1, 0]], words, years, ("First", "Second"))
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
    # __post_init__ replaces each None by its default.
    doc_ids: np.ndarray = field(default=cast(np.ndarray, None))
    groups: np.ndarray = field(default=cast(np.ndarray, None))
    group_titles: Sequence[str] = field(default=cast(Sequence[str], None))
    split_by: str = "document"
    rows: np.ndarray = field(default=cast(np.ndarray, None))
    word_choices: WordChoices | None = None

    def __post_init__(self) -> None:
        counts = check_counts(self.name, self.counts)
        own = np.arange(counts.shape[0])
        doc_ids = own if self.doc_ids is None else self.doc_ids
        numbers = {
            "doc_ids": doc_ids,
            "groups": own if self.groups is None else self.groups,
            "rows": doc_ids if self.rows is None else self.rows,
        }
        values = {what: check_numbers(self.name, what, given) for what, given in numbers.items()}
        dates = check_dates(self.name, self.dates)
        titles = tuple(self.titles)
        of_groups = () if self.group_titles is None else tuple(self.group_titles)
        group_titles = titles if self.groups is None else of_groups
        texts = {"titles": titles, "group_titles": group_titles}
        self._hold({"counts": counts, "dates": dates, **texts, **values})
        self._check()

    def _hold(self, values: dict[str, Any]) -> None:
        """Set fields, and make all arrays read-only."""
        for attribute, value in values.items():
            object.__setattr__(self, attribute, value)
        counts = self.counts
        of_counts = (counts.data, counts.indices, counts.indptr)
        for array in (*of_counts, self.dates, self.doc_ids, self.groups, self.rows):
            array.setflags(write=False)

    def _check(self) -> None:
        num_documents, vocab_size = self.counts.shape
        for what in ("dates", "titles", "doc_ids", "groups", "rows"):
            length = len(getattr(self, what))
            if length != num_documents:
                raise CorpusError(
                    f"{self.name}: {num_documents} documents but {length} {what}. Give one per"
                    " document."
                )
        if len(self.vocabulary) != vocab_size:
            raise CorpusError(
                f"{self.name}: {vocab_size} columns but {len(self.vocabulary)} words. Give one per"
                " column."
            )
        num_groups = len(self.group_titles)
        if self.groups.size and not 0 <= self.groups.min() <= self.groups.max() < num_groups:
            raise CorpusError(
                f"{self.name}: a group has no title. Use groups from 0 to len(group_titles) - 1."
            )
        _check_choice("split", self.split_by, SPLITS)
        check_choices("word_choices", self.word_choices)

    def __repr__(self) -> str:
        size = f"{self.num_documents} documents, {self.vocab_size} words, {self.num_tokens} tokens"
        if self.has_dates:
            size += f", {self.dates.min()} to {self.dates.max()}"
        return f"Corpus({self.name!r}, {size})"

    @property
    def num_documents(self) -> int:
        """The number of documents D."""
        return int(self.counts.shape[0])

    @property
    def vocab_size(self) -> int:
        """The number of words V in the vocabulary."""
        return int(self.counts.shape[1])

    @cached_property
    def num_tokens(self) -> int:
        """The sum of all counts."""
        return int(self.counts.data.sum(dtype=np.int64))

    @property
    def has_dates(self) -> bool:
        """Whether every document has a date; without, the file has the chronological order."""
        return self.num_documents > 0 and not np.isnat(self.dates).any()

    def documents(self) -> Documents:
        """Return all D documents in reading order.

        Returns
        -------
        Documents
            Read-only arrays.
        """
        return self._rows(0, self.num_documents)

    def _rows(self, start: int, stop: int) -> Documents:
        starts = self.counts.indptr[start : stop + 1].astype(np.int64)
        entries = slice(starts[0], starts[-1])
        starts -= starts[0]
        starts.setflags(write=False)
        # SciPy may store int64 indices; kernels are compiled for int32 only.
        words = self.counts.indices[entries].astype(np.int32, copy=False)
        words.setflags(write=False)
        return Documents(starts=starts, words=words, counts=self.counts.data[entries])

    def select(self, rows: Sequence[int] | np.ndarray) -> "Corpus":
        """Return a corpus of some of the documents.

        Parameters
        ----------
        rows : (S,) int or (D,) bool
            Positions of the documents, in the order wanted, or a mask, which keeps the reading
            order.

        Returns
        -------
        Corpus
            The selected documents, with their ids.

        Raises
        ------
        CorpusError
            If the mask has another length than D, or a position is outside the corpus.
        """
        size = self.num_documents
        rows = np.asarray(rows)
        if rows.dtype == bool:
            if rows.shape != (size,):
                raise CorpusError(
                    f"{self.name}: the mask has {rows.size} values for {size} documents. Give one"
                    " per document."
                )
            rows = np.flatnonzero(rows)
        if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
            raise CorpusError(f"{self.name}: rows must be a list of whole numbers, or a mask.")
        rows = rows.astype(np.int64)
        is_beyond = (rows < -size) | (rows >= size)
        if is_beyond.any():
            raise CorpusError(
                f"{self.name}: position {rows[is_beyond][0]} is out of range for {size} documents."
                " Positions start at 0."
            )
        return self._take(rows)

    def _take(self, rows: np.ndarray) -> "Corpus":
        if np.array_equal(rows, np.arange(self.num_documents)):
            return self
        # Rows of a checked corpus are not checked again, because the check copies all counts.
        taken = object.__new__(type(self))
        changed = {
            "counts": self.counts[rows],
            "dates": self.dates[rows],
            "titles": tuple(map(self.titles.__getitem__, rows.tolist())),
            "doc_ids": self.doc_ids[rows],
            "groups": self.groups[rows],
            "rows": self.rows[rows],
        }
        taken._hold({each.name: getattr(self, each.name) for each in fields(self)} | changed)
        return taken

    def merge_groups(self, name: str) -> "Corpus":
        """Return a corpus in which each group is one document.

        Parameters
        ----------
        name : str
            The name of the new corpus.

        Returns
        -------
        Corpus
            The groups in ascending order; each has the date of its first document in the file.
            Documents without a group follow, unchanged.
        """
        ids = self._ids_of_groups()
        groups, members = np.unique(ids, return_inverse=True)
        ones = np.ones(self.num_documents, np.int32)
        own = np.arange(self.num_documents, dtype=np.int32)
        membership = csr_array(
            (ones, (members.astype(np.int32), own)), shape=(len(groups), self.num_documents)
        )
        in_file = np.lexsort((self.doc_ids, ids))
        first = in_file[np.unique(ids[in_file], return_index=True)[1]]
        known = dict(enumerate(self.group_titles))
        titles = [
            known.get(each, self.titles[row]) for each, row in zip(groups, first, strict=True)
        ]
        return Corpus(
            name=name,
            counts=membership @ self.counts,
            vocabulary=self.vocabulary,
            dates=self.dates[first],
            titles=titles,
            word_choices=self.word_choices,
        )

    def _ids_of_groups(self) -> np.ndarray:
        """The group of each document (D,), or another number of its own for one without."""
        if NO_GROUP not in self.group_titles:
            return self.groups
        is_none = np.array([title == NO_GROUP for title in self.group_titles])[self.groups]
        return np.where(is_none, len(self.group_titles) + self.doc_ids, self.groups)

    def order(self, order: str, seed: int = 0, window: int = SHUFFLE_WINDOW) -> "Corpus":
        """Return the same documents in another reading order.

        Parameters
        ----------
        order : str
            "chronological" sorts by date, then by `doc_ids`, which is the order of the file.
            "shuffled" is random.
        seed : int
            The seed of the random order.
        window : int
            The number of shards of a stored corpus that are shuffled together; a corpus in memory
            is shuffled as a whole.

        Returns
        -------
        Corpus
            The documents with their ids, in the new order.

        Raises
        ------
        CorpusError
            If the order is unknown.
        """
        _check_choice("order", order, ORDERS)
        if order == "shuffled":
            return self._take(self._shuffle(seed, window))
        return self._take(self._chronology())

    def _shuffle(self, seed: int, window: int) -> np.ndarray:
        return np.random.default_rng(seed).permutation(self.num_documents)

    def _chronology(self) -> np.ndarray:
        return np.lexsort((self.doc_ids, self.dates))

    def split(
        self, num_test: int, seed: int = 0, by: str | None = None
    ) -> tuple["Corpus", "Corpus"]:
        """Split the corpus into documents to train on and documents to test on.

        To draw n documents or groups, the chronological order is divided into n intervals of equal
        length (to within one), and one is drawn from each. The position of a group is that of its
        first document.

        Parameters
        ----------
        num_test : int
            The number of test documents; at most half of the documents or groups are drawn.
        seed : int
            The seed of the draw. The test set does not depend on the reading order.
        by : str, optional
            "document" draws exactly `num_test` documents; "group" draws whole groups with about
            `num_test` documents in total, and single documents without a group. The default is
            `split_by`.

        Returns
        -------
        train : Corpus
            The other documents, in the present reading order.
        test : Corpus
            The drawn documents, in the present reading order.

        Raises
        ------
        CorpusError
            If `num_test` is not a whole number, 0 or more, or `by` is unknown.
        """
        if not isinstance(num_test, (int, np.integer)) or num_test < 0:
            raise CorpusError(f"num_test is {num_test!r}. Use a whole number, 0 or more.")
        by = by or self.split_by
        _check_choice("split", by, SPLITS)
        ids = self._ids_of_groups() if by == "group" else self.doc_ids
        is_test = np.isin(ids, self._draw(ids, num_test, seed))
        return self.select(~is_test), self.select(is_test)

    def _draw(self, ids: np.ndarray, num_test: int, seed: int) -> np.ndarray:
        """Draw from the `ids` (D,) of documents, spread over time, those of about `num_test`."""
        # Sorting by date and id makes the test set independent of the present reading order.
        ids, first, sizes = np.unique(
            ids[self._chronology()], return_index=True, return_counts=True
        )
        order = np.argsort(first)
        ids, sizes = ids[order], sizes[order]
        num_drawn = min(-(-num_test * len(ids) // max(self.num_documents, 1)), len(ids) // 2)
        edges = np.arange(num_drawn + 1) * len(ids) // max(num_drawn, 1)
        rng = np.random.default_rng(seed)
        pairs = np.stack([rng.integers(edges[:-1], edges[1:]) for _ in range(2)], axis=1)
        # Group sizes vary: of two candidates, take the one that brings the running total closer to
        # its target.
        drawn = []
        total = 0
        for number, pair in enumerate(pairs, start=1):
            off = np.abs(total + sizes[pair] - number * num_test / num_drawn)
            drawn.append(pair[off.argmin()])
            total += sizes[drawn[-1]]
        return ids[np.array(drawn, dtype=np.int64)]

    def batches(self, size: int, start: int = 0) -> Iterator[Batch]:
        """Yield mini-batches in reading order; the last one may be short.

        Parameters
        ----------
        size : int
            The number of documents S in a mini-batch, 1 or more.
        start : int
            The position of the first document.

        Yields
        ------
        Batch
            The next mini-batch.

        Raises
        ------
        CorpusError
            If `size` is less than 1.
        """
        if size < 1:
            raise CorpusError(f"The mini-batch size is {size}. Use 1 or more.")
        for first in range(start, self.num_documents, size):
            last = min(first + size, self.num_documents)
            ids, documents = self._ids(first, last), self._rows(first, last)
            yield Batch(doc_ids=ids, documents=documents, corpus_size=self.num_documents)

    def _ids(self, start: int, stop: int) -> np.ndarray:
        return self.doc_ids[start:stop]


def check_corpus(corpus: object) -> None:
    """Raise TypeError, with a remedy, if this is no corpus."""
    if not isinstance(corpus, Corpus):
        raise TypeError(
            f"corpus is a {type(corpus).__name__}: give a Corpus, such as that of load_corpus or"
            " CorpusVectorizer."
        )


def number_groups(names: Sequence[str]) -> dict[str, Any]:
    """Number groups (D,) in order of appearance: the arguments of `Corpus` for them."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    groups = np.array([numbers[name] for name in names], np.int64)
    return {"groups": groups, "group_titles": list(numbers), "split_by": choose_split(numbers)}


def choose_split(groups: Iterable[str]) -> str:
    """What is held out of a corpus with these groups.

    >>> choose_split(["Whig", NO_GROUP]), choose_split(map(str, range(20)))
    ('document', 'group')
    """
    return SPLITS[sum(group != NO_GROUP for group in groups) >= MIN_SPLIT_GROUPS]
