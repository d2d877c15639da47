"""The word counts of documents, and mini-batches of them, as algorithms read them."""

import weakref
from typing import NamedTuple

import numpy as np


class _Positions:
    """The position of each word id in an array; shards of a mini-batch share the last one."""

    def __init__(self) -> None:
        self._last: tuple[weakref.ref[np.ndarray], np.ndarray] | None = None

    def of(self, words: np.ndarray) -> np.ndarray:
        """Positions (V',) of the word ids (U,); those of other ids mean nothing."""
        last = self._last
        if last is not None and last[0]() is words:
            return last[1]
        positions = np.empty(words[-1] + 1 if len(words) else 0, np.int32)
        positions[words] = np.arange(len(words), dtype=np.int32)
        self._last = weakref.ref(words), positions
        return positions


_last_positions = _Positions()


class Documents(NamedTuple):
    """The word counts of S documents, stored one document after another.

    Attributes
    ----------
    starts : (S + 1,) int64
        The entries of document d are `starts[d]` to `starts[d + 1] - 1`.
    words : (nnz,) int32
        Word ids, ascending within a document.
    counts : (nnz,) int32
        How often the word occurs in the document.
    """

    starts: np.ndarray
    words: np.ndarray
    counts: np.ndarray

    @property
    def num_documents(self) -> int:
        """The number of documents S."""
        return len(self.starts) - 1

    @property
    def num_tokens(self) -> int:
        """The sum of all counts."""
        return int(self.counts.sum(dtype=np.int64))

    def sizes(self) -> np.ndarray:
        """Count the tokens of each document.

        Returns
        -------
        (S,) int64
            The sums of the counts.

        Examples
        --------
        >>> starts, words, counts = np.array([0, 2, 2, 3]), np.array([0, 4, 1]), np.array([2, 1, 5])
        >>> Documents(starts, words, counts).sizes().tolist()
        [3, 0, 5]
        """
        ends = np.append(0, self.counts.cumsum(dtype=np.int64))
        return np.diff(ends[self.starts])

    def num_entries(self) -> np.ndarray:
        """Count the entries of each document, which are its distinct words.

        Returns
        -------
        (S,) int64
            The numbers of entries.
        """
        return np.diff(self.starts)

    def rows(self) -> np.ndarray:
        """Return the document of each entry.

        Returns
        -------
        (nnz,) int64
            Positions of documents, 0 to S - 1.

        Examples
        --------
        >>> starts, words, counts = np.array([0, 2, 2, 3]), np.array([0, 4, 1]), np.array([2, 1, 5])
        >>> Documents(starts, words, counts).rows().tolist()
        [0, 0, 2]
        """
        return np.repeat(np.arange(self.num_documents), self.num_entries())

    def indexed(self, words: np.ndarray) -> "Documents":
        """Replace each word id by its position in `words`.

        Parameters
        ----------
        words : (U,) int
            Word ids, ascending; must contain every word of the documents. Do not change the array
            afterwards.

        Returns
        -------
        Documents
            New, writable arrays: a kernel is compiled separately for each mix of read-only and
            writable arrays.
        """
        return Documents(
            starts=np.array(self.starts, np.int64),
            words=_last_positions.of(words).take(self.words),
            counts=np.array(self.counts, np.int32),
        )

    def cut(self, first: int, last: int) -> "Documents":
        """Return a range of the documents.

        Parameters
        ----------
        first, last : int
            Documents `first` to `last - 1` are returned; 0 <= first <= last <= S.

        Returns
        -------
        Documents
            The documents; `words` and `counts` are views.
        """
        start = self.starts[first]
        end = self.starts[last]
        return Documents(
            starts=self.starts[first : last + 1] - start,
            words=self.words[start:end],
            counts=self.counts[start:end],
        )

    def select(self, places: np.ndarray) -> "Documents":
        """Return some of the documents.

        Parameters
        ----------
        places : (n,) int
            Positions of the documents, in the order wanted.

        Returns
        -------
        Documents
            The documents, in this order.

        Examples
        --------
        >>> starts, words, counts = np.array([0, 2, 3]), np.array([0, 4, 1]), np.array([2, 1, 5])
        >>> Documents(starts, words, counts).select(np.array([1, 0])).words
        array([1, 0, 4])
        """
        sizes = self.num_entries()[places]
        starts = np.append(0, sizes.cumsum())
        entries = np.arange(starts[-1]) + np.repeat(self.starts[places] - starts[:-1], sizes)
        return Documents(starts=starts, words=self.words[entries], counts=self.counts[entries])

    def without(self, words: np.ndarray) -> "Documents":
        """Return the documents without some words.

        Parameters
        ----------
        words : (U,) int
            Word ids.

        Returns
        -------
        Documents
            As many documents, some of which may have become empty.

        Examples
        --------
        >>> starts, words, counts = np.array([0, 2, 3]), np.array([0, 4, 1]), np.array([2, 1, 5])
        >>> Documents(starts, words, counts).without(np.array([4])).starts
        array([0, 1, 2])
        """
        kept = ~np.isin(self.words, words)
        starts = np.append(0, np.cumsum(kept))[self.starts]
        return Documents(starts=starts, words=self.words[kept], counts=self.counts[kept])

    def followed_by(self, other: "Documents") -> "Documents":
        """Append further documents.

        Parameters
        ----------
        other : Documents
            The documents to append.

        Returns
        -------
        Documents
            These documents, then the others.
        """
        return Documents(
            starts=np.append(self.starts, self.starts[-1] + other.starts[1:] - other.starts[0]),
            words=np.append(self.words, other.words),
            counts=np.append(self.counts, other.counts),
        )

    def distinct_words(self) -> np.ndarray:
        """Return the ids of the words that occur.

        Returns
        -------
        (U,) int64
            Word ids, ascending.
        """
        occurs = np.zeros(self.words.max(initial=-1) + 1, bool)
        # Indexing by intp is three times as fast as by int32.
        occurs[self.words.astype(np.intp)] = True
        return np.flatnonzero(occurs)


NO_DOCUMENTS = Documents(
    starts=np.zeros(1, np.int64), words=np.zeros(0, np.int32), counts=np.zeros(0, np.int32)
)


class Batch(NamedTuple):
    """A mini-batch of S documents.

    Attributes
    ----------
    doc_ids : (S,) int64
        The ids of the documents.
    documents : Documents
        Their word counts.
    corpus_size : int
        The number of documents D in the whole corpus.
    is_stream : bool
        Whether no document comes twice: a stream has no passes, and D is the number so far or an
        assumed one.
    set_aside : Documents
        Documents that the step does not learn from; they are not among the S.
    """

    doc_ids: np.ndarray
    documents: Documents
    corpus_size: int
    is_stream: bool = False
    set_aside: Documents = NO_DOCUMENTS

    @property
    def num_read(self) -> int:
        """The number of documents with those set aside."""
        return self.documents.num_documents + self.set_aside.num_documents
