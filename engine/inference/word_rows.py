"""Rows of numbers, one for each word: an immutable value of which a step writes only the rows that
change.
"""

from copy import copy
from threading import Lock
from typing import Any

import numpy as np

from stickbreaker.engine.kernels.counts import copy_rows
from stickbreaker.engine.parallel.threads import map_on_threads, split_rows

# Free rows of a new array, as a part of its words: more need more memory, fewer are used up after
# fewer steps.
FREE_PART = 0.5


class _Space:
    """How many rows of an array are in use; only the last value may take more."""

    def __init__(self, num_used: int) -> None:
        self._num_used = num_used
        self._lock = Lock()

    def claim(self, end: int, new_end: int) -> bool:
        """Take the rows from `end` to `new_end`, unless another value has taken them."""
        with self._lock:
            is_free = end == self._num_used
            if is_free:
                self._num_used = new_end
            return is_free


class WordRows:
    """Rows (W, K) of the words `held` (W,), ascending, out of V words.

    array: (P, K), first the rows of these words; the others are free. Changed rows are appended,
    and `places` (V,) says which row a word has, so that an older value still reads its own rows.
    Where no space is left, or where an older value is changed a second time, all rows are copied to
    a new array.
    """

    def __init__(self, array: np.ndarray, held: np.ndarray, vocab_size: int) -> None:
        self.array = array
        self.held = held
        self.places = np.zeros(vocab_size, np.int32)
        self.places[held] = np.arange(len(held))
        self._end = len(held)
        self._space = _Space(self._end)

    @property
    def precision(self) -> np.dtype[Any]:
        """The dtype of the numbers."""
        return self.array.dtype

    @property
    def vocab_size(self) -> int:
        """Number of words V."""
        return len(self.places)

    def read(self, words: np.ndarray) -> np.ndarray:
        """A copy of the rows of some words (U,), as (U, K)."""
        rows = np.empty((len(words), self.array.shape[1]), self.precision)
        self._copy(words, 1.0, rows)
        return rows

    def replaced(self, array: np.ndarray) -> "WordRows":
        """The same words with the first rows of another array (P, K)."""
        return WordRows(array, self.held, self.vocab_size)

    def moved(self, factor: float = 1.0, num_free: int = 0) -> "WordRows":
        """Factor times these rows, in a new array with at least this number of free rows."""
        num_free = max(num_free, int(FREE_PART * len(self.held)))
        array = np.empty((len(self.held) + num_free, self.array.shape[1]), self.precision)
        self._copy(self.held, factor, array)
        return self.replaced(array)

    def opened(self, words: np.ndarray) -> tuple["WordRows", np.ndarray]:
        """A value in which the rows of some words (U,) may be written, and their places."""
        number = len(words)
        end = self._end + number
        if end > len(self.array) or not self._space.claim(self._end, end):
            moved = self.moved(num_free=number)
            return moved, moved.places[words]
        self._copy(words, 1.0, self.array[self._end : end])
        new = np.arange(self._end, end, dtype=np.int32)
        successor = copy(self)
        successor.places = self.places.copy()
        successor.places[words] = new
        successor._end = end
        return successor, new

    def _copy(self, words: np.ndarray, factor: float, out_rows: np.ndarray) -> None:
        places = self.places[words]
        rounded = self.precision.type(factor)
        spans = split_rows(len(places), self.array.shape[1])
        map_on_threads(lambda span: copy_rows(self.array, places, span, rounded, out_rows), spans)
