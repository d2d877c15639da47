"""Expected counts of words in topics under exponential forgetting: the one type that holds λ."""

import weakref
from collections import deque
from functools import partial
from threading import Lock

import numpy as np

from stickbreaker.engine.kernels.counts import (
    FactoredCounts,
    add_blocks,
    add_products,
    block_starts,
    group_by_word,
    join_counts,
    merge_rows,
    scale_rows,
    weigh_rows,
)
from stickbreaker.engine.parallel import map_on_threads, split_evenly

# Below this the stored numbers would grow past what float32 holds well, so the scale is folded into them.
SMALLEST_SCALE = 1e-12
# Free rows, as a multiple of those that change: two values are alive at a step, and someone may hold another.
ROOM = 4


class DecayedCounts:
    """λ - η = scale · stored, word by word, so that forgetting multiplies one number instead of K · V.

    stored: (V, K) float32 or float64; scale: in (0, 1]; totals: (K,) float64, Σ_w of λ - η; is_seen: (V,) bool, words
    that any blend has added to. It is a value: `blend` gives another one and leaves this as it is, at the price of the
    rows that changed and not of all V (see `_Rows`).
    """

    _fields = ("stored", "scale", "totals", "is_seen")

    def __init__(self, stored, scale, totals, is_seen=None):
        self._rows = _Rows(np.ascontiguousarray(stored), len(stored))
        self._places = np.arange(len(stored), dtype=np.int32)
        self.scale, self.totals = scale, totals
        self.is_seen = np.zeros(len(stored), bool) if is_seen is None else is_seen
        self._rows.newest = weakref.ref(self)

    def __reduce__(self):
        return DecayedCounts, (self.stored, self.scale, self.totals, self.is_seen)

    def _with(self, **changes):
        """This value with some of its attributes changed."""
        counts = object.__new__(DecayedCounts)
        vars(counts).update({**vars(self), **changes})
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

    def weigh(self, words, offset, total_digammas, smallest_exponent, out_rows):
        """exp(ψ(λ - η + offset) - total_digammas (K,)) of some words (U,) into (U, K); see `weigh_rows`."""
        weigh_rows(
            self._rows.array, self._places[words], self.scale, offset, total_digammas, smallest_exponent, out_rows
        )

    def dense(self):
        """λ - η of all words, (V, K)."""
        return self.rows(np.arange(self.vocab_size))

    def seen(self):
        """λ - η of the words seen so far, (U, K)."""
        return self.rows(np.flatnonzero(self.is_seen))

    def merge(self, merging):
        """These counts with the topics merged (engine/duplicates.py)."""
        if merging.is_empty:
            return self
        # With room for the next blend, which would otherwise move all rows again.
        array = np.empty_like(self._rows.array)
        copies = np.flatnonzero(merging.targets != np.arange(len(merging.targets)))
        spans = split_evenly(np.arange(self.vocab_size + 1))
        sources, targets = self._rows.array, merging.targets[copies]
        map_on_threads(lambda span: merge_rows(sources, self._places, span, copies, targets, array), spans)
        rows, places = _Rows(array, self.vocab_size), np.arange(self.vocab_size, dtype=np.int32)
        merged = self._with(_rows=rows, _places=places, totals=merging.add_up(self.totals))
        rows.newest = weakref.ref(merged)
        return merged

    def select(self, topics, num_born=0):
        """These counts of some topics (places, in their new order), and then of `num_born` more that have none."""
        stored = np.zeros((self.vocab_size, len(topics) + num_born), self.precision)
        stored[:, : len(topics)] = self.stored[:, topics]
        return DecayedCounts(stored, self.scale, np.append(self.totals[topics], np.zeros(num_born)))

    def blend(self, rate, words, counts, factor, tokens):
        """(1 - ρ) of these counts plus ρ · factor of others; Eq. 22 and 25 of Wang 2011.

        words: distinct words (U,); counts: shard after shard, all DocumentCounts or all FactoredCounts, whose words are
        places in `words`; tokens: (K,), what those sum to.
        """
        scale = self.scale * (1.0 - rate)
        if scale < SMALLEST_SCALE:
            stored = self.stored * self.precision.type(scale)
            folded = DecayedCounts(stored, 1.0, (1.0 - rate) * self.totals, self.is_seen)
            return folded._add(words, counts, rate * factor, tokens)
        kept = self._with(scale=scale, totals=(1.0 - rate) * self.totals)
        return self._add(words, counts, rate * factor, tokens, kept)

    def _add(self, words, counts, factor, tokens, kept=None):
        """`kept` (these counts unless given) with the changed rows of these, and factor times others added to them."""
        kept = kept or self
        rows, places = self._rows, self._places
        new = rows.claim(self, places[words])
        if new is None:
            # Nobody else reads rows that are moved, so those that change can stay where they are.
            array = np.empty((self.vocab_size + ROOM * len(words), len(self.totals)), self.precision)
            np.take(rows.array, places, 0, out=array[: self.vocab_size], mode="clip")
            rows = _Rows(array, self.vocab_size)
            places = np.arange(self.vocab_size, dtype=np.int32)
            new = places[words]
        _add_counts(join_counts(counts), self.precision.type(factor / kept.scale), places[words], new, rows.array)
        places, is_seen = places.copy(), self.is_seen.copy()
        places[words], is_seen[words] = new, True
        added = kept._with(_rows=rows, _places=places, totals=kept.totals + factor * tokens, is_seen=is_seen)
        rows.newest = weakref.ref(added)
        return added


def _add_counts(counts, factor, places, new_places, out_rows):
    """Rows at some places, plus factor times counts, into new places; on threads, each word wholly on one of them."""
    grouped = group_by_word(counts, len(places))
    if isinstance(counts, FactoredCounts):
        add = partial(add_products, counts, grouped)
    else:
        add = partial(add_blocks, counts, block_starts(counts), grouped)
    spans = split_evenly(grouped.starts)
    map_on_threads(lambda span: add(span, factor, places, new_places, out_rows), spans)


class _Rows:
    """Rows (P, K), each written once for the value that claims it, and free again when no value is left that reads it.

    Values follow one another in a line; one that is blended a second time starts rows of its own.
    """

    def __init__(self, array, num_used):
        self.array, self._free = array, np.arange(num_used, len(array), dtype=np.int32)
        self.newest, self._superseded, self._lock = None, deque(), Lock()

    def claim(self, value, old):
        """Free places for the value after `value`, in place of its rows `old`; None if none are left, or it had one."""
        with self._lock:
            if self.newest is None or self.newest() is not value:
                return None
            while self._superseded and self._superseded[0][0]() is None:
                self._free = np.append(self._free, self._superseded.popleft()[1])
            if len(self._free) < len(old):
                return None
            cut = len(self._free) - len(old)
            self._free, claimed = self._free[:cut], self._free[cut:]
            self._superseded.append((self.newest, old))
            self.newest = None
            return claimed


def decayed_counts(dense):
    """Counts that start as the given array (V, K)."""
    return DecayedCounts(dense, 1.0, dense.sum(0, dtype=np.float64))
