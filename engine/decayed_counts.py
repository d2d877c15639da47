"""Expected counts of words in topics under exponential forgetting: the one type that holds λ."""

from threading import Lock

import numpy as np

from engine.kernels.counts import add_counts, scale_rows

# Below this the stored numbers would grow past what float32 holds well, so the scale is folded into them.
SMALLEST_SCALE = 1e-6


class DecayedCounts:
    """λ - η = scale · stored, word by word, so that forgetting multiplies one number instead of K · V.

    stored: (V, K) float32 or float64; scale: in (0, 1]; totals: (K,) float64, Σ_w of λ - η. It is a value: `blend`
    gives another one and leaves this as it is, at the price of the rows that changed and not of all V (see `_Rows`).
    """

    _fields = ("stored", "scale", "totals")

    def __init__(self, stored, scale, totals):
        self._rows, self._places = _Rows(stored), np.arange(len(stored))
        self.scale, self.totals = scale, totals

    def __reduce__(self):
        return DecayedCounts, (self.stored, self.scale, self.totals)

    @classmethod
    def _at(cls, rows, places, scale, totals):
        counts = object.__new__(cls)
        counts._rows, counts._places, counts.scale, counts.totals = rows, places, scale, totals
        return counts

    @property
    def vocab_size(self):
        """Words V."""
        return len(self._places)

    @property
    def precision(self):
        """The dtype of what is stored."""
        return self._rows.array.dtype

    @property
    def stored(self):
        """λ - η over the scale, all words (V, K)."""
        return self._rows.array.take(self._places, 0)

    def rows(self, words, offset=0.0, factors=None):
        """λ - η of some words (U,), as (U, K); first `offset` is added, then each topic taken `factors` (K,) times."""
        factors = np.ones(len(self.totals)) if factors is None else factors
        rows = np.empty((len(words), len(self.totals)), self.precision)
        scale_rows(self._rows.array, self._places[words], self.scale, offset, factors.astype(self.precision), rows)
        return rows

    def dense(self):
        """λ - η of all words, (V, K)."""
        return self.rows(np.arange(self.vocab_size))

    def merge(self, merging):
        """These counts with the topics merged (engine/duplicates.py)."""
        stored = np.ascontiguousarray(merging.add_up(self.stored.T).T)
        return DecayedCounts(stored, self.scale, merging.add_up(self.totals))

    def blend(self, rate, words, counts, factor, tokens):
        """(1 - ρ) of these counts plus ρ · factor of others; Eq. 22 and 25 of Wang 2011.

        words: distinct words (U,); counts: DocumentCounts, one after another, whose words are places in `words`;
        tokens: (K,), what those sum to.
        """
        scale = self.scale * (1.0 - rate)
        rows, places = self._rows, self._places
        if scale < SMALLEST_SCALE:
            rows, places, scale = _Rows(self.stored * self.precision.type(scale)), np.arange(self.vocab_size), 1.0
        old = places[words]
        first = rows.reserve(len(words))
        if first is None:
            rows = _Rows(rows.array.take(places, 0), max(self.vocab_size, 8 * len(words)))
            old, places = words, np.arange(self.vocab_size)
            first = rows.reserve(len(words))
        else:
            places = places.copy()
        changed = rows.array[first : first + len(words)]
        rows.array.take(old, 0, out=changed, mode="clip")
        for each in counts:
            add_counts(each, self.precision.type(rate * factor / scale), changed)
        places[words] = np.arange(first, first + len(words))
        return DecayedCounts._at(rows, places, scale, (1.0 - rate) * self.totals + rate * factor * tokens)


class _Rows:
    """Rows (., K) that are written once, behind those already there: whoever holds an older value still reads its own.

    Once the room is spent, a blend moves the rows still in use to a new array. Room for V rows makes that a cost of one
    row moved for each row changed.
    """

    def __init__(self, array, room=0):
        self.array, self.used, self._lock = array, len(array), Lock()
        if room:
            self.array = np.empty((len(array) + room, array.shape[1]), array.dtype)
            self.array[: len(array)] = array

    def reserve(self, number):
        """Index of the first of so many rows that nobody else writes; None where there is no room."""
        with self._lock:
            first = self.used
            if first + number > len(self.array):
                return None
            self.used += number
            return first


def decayed_counts(dense):
    """Counts that start as the given array (V, K)."""
    return DecayedCounts(dense, 1.0, dense.sum(0, dtype=np.float64))
