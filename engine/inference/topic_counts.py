"""Expected counts of words in topics under exponential forgetting: the one type that holds λ."""

import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from stickbreaker.engine.kernels.counts import (
    DocumentCounts,
    FactoredCounts,
    TopicRows,
    add_blocks,
    add_products,
    copy_rows,
    group_by_word,
    join_blocks,
    join_factors,
    merge_rows,
    plain_rows,
    scale_rows,
    share_out_rows,
    sum_rows,
    weigh_rows,
)
from stickbreaker.engine.kernels.special import NOT_RAISED
from stickbreaker.engine.parallel.threads import map_on_threads, split_alike, split_evenly, split_rows

# Below this scale the stored numbers would exceed the range that float32 holds well, so the scale is folded into them.
SMALLEST_SCALE = 1e-12
# Free rows, as a multiple of the rows that change: a step has two values in use, and a caller may hold a third.
ROOM = 4
# Memory for rows of a mini-batch's words has this part more, since the next mini-batch may have more words.
SPARE = 16
# All rows are written again before this number of removed topics is applied to rows only where they are read.
MOST_REMOVALS = 200
# Adding one count of a document takes as long as writing this number of topics of a word's row.
TOPICS_PER_ENTRY = 10

ShardCounts = Sequence[DocumentCounts | FactoredCounts]


class Merging(NamedTuple):
    """The topic that receives each topic's counts: (K,) ids, its own unless the topic is a copy of a larger one."""

    targets: np.ndarray

    @property
    def is_empty(self) -> bool:
        """Whether every topic keeps its own counts."""
        return bool((self.targets == np.arange(len(self.targets))).all())

    def add_up(self, values: np.ndarray) -> np.ndarray:
        """Sum values (K, ...) under the ids that receive them; a merged id keeps 0.

        >>> Merging(np.array([0, 0, 2])).add_up(np.array([5.0, 1.0, 3.0]))
        array([6., 0., 3.])
        """
        summed = values.copy()
        for merged in np.flatnonzero(self.targets != np.arange(len(self.targets))):
            summed[self.targets[merged]] += values[merged]
            summed[merged] = 0
        return summed


class Removal(NamedTuple):
    """Topics (M,) to remove one after another, and the mixtures of other topics that receive their counts.

    parents, weights: (M, P) ids and weights of the mixtures; weights of a row sum to 1, and unused places have 0.
    """

    topics: np.ndarray
    parents: np.ndarray
    weights: np.ndarray

    @property
    def is_empty(self) -> bool:
        """Whether no topic is removed."""
        return len(self.topics) == 0

    def followed_by(self, other: "Removal") -> "Removal":
        """Both removals, the other one last."""
        last = other._asdict()
        return Removal(**{name: np.concatenate((own, last[name])) for name, own in self._asdict().items()})

    def share_out(self, values: np.ndarray) -> np.ndarray:
        """Share the values (K,) or (K, S) of removed topics out by the weights; a removed id keeps 0.

        >>> removal = Removal(np.array([2]), np.array([[0, 1]]), np.array([[0.75, 0.25]]))
        >>> removal.share_out(np.array([5.0, 1.0, 4.0]))
        array([8., 2., 0.])
        """
        shared = values.copy()
        for topic, parents, weights in zip(*self, strict=True):
            value = shared[topic].copy()
            shared[topic] = 0.0
            np.add.at(shared, parents, np.multiply.outer(weights, value))
        return shared

    def factors(self, totals: np.ndarray) -> np.ndarray:
        """Weights (M, P) over the parents' totals at their turn; totals: (K,) before the first topic is removed."""
        totals, factors = totals.copy(), np.zeros(self.weights.shape)
        for place, (topic, parents, weights) in enumerate(zip(*self, strict=True)):
            np.divide(weights, totals[parents], out=factors[place], where=weights > 0)
            np.add.at(totals, parents, weights * totals[topic])
            totals[topic] = 0.0
        return factors


NO_REMOVALS = Removal(topics=np.zeros(0, np.int64), parents=np.zeros((0, 1), np.int64), weights=np.zeros((0, 1)))


class DecayedCounts:
    """λ - η = scale · stored, word by word, so that forgetting multiplies one number instead of K · V.

    stored: (V, K) float32 or float64; scale: in (0, 1]; totals: (K,) float64, Σ_w of λ - η; is_seen: (V,) bool, words
    that any blend has added to; held: the words that have rows, all but in a part (`only`), where
    _elsewhere (K,) is what the others have of the totals. It is an immutable value: `blend` returns another value and
    leaves this one unchanged. The cost is that of the changed rows, not of all V (see `_Rows`). For the same reason,
    _removals are applied to most rows only where these are read or changed.
    """

    scale: float
    totals: np.ndarray
    is_seen: np.ndarray
    _rows: "_Rows"
    _places: np.ndarray
    _held: np.ndarray
    _elsewhere: np.ndarray
    _removals: Removal
    _factor: float
    _owner: "DecayedCounts | None"

    def __init__(self, stored: np.ndarray, scale: float, totals: np.ndarray, is_seen: np.ndarray | None = None) -> None:
        self._rows = _Rows(np.ascontiguousarray(stored), len(stored))
        self._places = self._held = np.arange(len(stored), dtype=np.int32)
        self._elsewhere = np.zeros(len(totals))
        self._removals = NO_REMOVALS
        self._factor, self._owner = 1.0, None
        self.scale = scale
        self.totals = totals
        self.is_seen = np.zeros(len(stored), bool) if is_seen is None else is_seen
        self._rows.newest = weakref.ref(self)

    def __reduce__(self) -> tuple[type["DecayedCounts"], tuple[np.ndarray, float, np.ndarray, np.ndarray]]:
        return DecayedCounts, (self.stored, self.scale, self.totals, self.is_seen)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays from which `from_arrays` restores this value."""
        return {"stored": self.stored, "scale": np.asarray(self.scale), "totals": self.totals, "is_seen": self.is_seen}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> "DecayedCounts":
        """Restore a value from its arrays.

        >>> counts = decayed_counts(np.array([[2.0], [1.0]]))
        >>> DecayedCounts.from_arrays(counts.to_arrays()).totals
        array([3.])
        """
        return cls(arrays["stored"], float(arrays["scale"]), arrays["totals"], arrays["is_seen"])

    def _with(self, **changes: Any) -> "DecayedCounts":
        """This value with some of its attributes changed."""
        counts = object.__new__(DecayedCounts)
        vars(counts).update({**vars(self), **changes})
        return counts

    @property
    def vocab_size(self) -> int:
        """Number of words V."""
        return len(self._places)

    @property
    def held(self) -> np.ndarray:
        """The words that have rows here, ascending."""
        return self._held

    @property
    def precision(self) -> np.dtype[Any]:
        """The dtype of the stored numbers."""
        return self._rows.array.dtype

    @property
    def stored(self) -> np.ndarray:
        """(λ - η) / scale of all words (V, K)."""
        return self._read(np.arange(self.vocab_size))

    @property
    def _source(self) -> TopicRows:
        """The rows, as kernels read them if there is no factor."""
        topics, parents, weights = self._removals
        weights = weights.astype(self.precision)
        rows, num_applied = self._rows.array, self._rows.num_applied
        return TopicRows(rows=rows, num_applied=num_applied, topics=topics, parents=parents, weights=weights)

    def _find(self, words: np.ndarray) -> tuple[TopicRows, np.ndarray]:
        """Rows, and the places (U,) of some words in them."""
        if self._owner is None:
            return self._source, self._places[words]
        return plain_rows(self._read(words)), np.arange(len(words), dtype=np.int32)

    def _read(self, words: np.ndarray) -> np.ndarray:
        """(λ - η) / scale of some words (U,), as (U, K)."""
        rows = np.empty((len(words), len(self.totals)), self.precision)
        self._copy(words, 1.0, rows)
        return rows

    def _copy(self, words: np.ndarray, factor: float, out_rows: np.ndarray) -> None:
        """Write factor times the numbers stored for some words (U,) to the first rows (U, K) of an array."""
        source, places, factor = self._source, self._places[words], self.precision.type(factor * self._factor)
        map_on_threads(
            lambda span: copy_rows(source, places, span, factor, out_rows), split_rows(len(places), len(self.totals))
        )

    def rows(self, words: np.ndarray, offset: float = 0.0, factors: np.ndarray | None = None) -> np.ndarray:
        """(λ - η + offset) · factors of some words (U,), as (U, K); factors: (K,), 1 unless given."""
        factors = np.ones(len(self.totals)) if factors is None else factors
        rows = np.empty((len(words), len(self.totals)), self.precision)
        self.scale_rows(words, offset, factors.astype(self.precision), NOT_RAISED, rows)
        return rows

    def room_for(self, words: np.ndarray) -> np.ndarray:
        """An uninitialised array (U, K) for rows of some words (U,)."""
        return self._rows.room_for(len(words))

    def scale_rows(
        self, words: np.ndarray, offset: float, factors: np.ndarray, power: float, out_rows: np.ndarray
    ) -> None:
        """Write ((λ - η + offset) · factors (K,))^power of some words (U,) into (U, K)."""
        scale_rows(*self._find(words), self.scale, offset, factors, power, out_rows)

    def weigh_rows(
        self,
        words: np.ndarray,
        offset: float,
        total_digammas: np.ndarray,
        smallest_exponent: Any,
        power: float,
        out_rows: np.ndarray,
    ) -> None:
        """Write exp(ψ(λ - η + offset) - total_digammas (K,))^power of some words (U,) into (U, K)."""
        rows, places = self._find(words)
        weigh_rows(rows, places, self.scale, offset, total_digammas, smallest_exponent, power, out_rows)

    def dense(self) -> np.ndarray:
        """λ - η of all words, (V, K)."""
        return self.rows(np.arange(self.vocab_size))

    def forget(self, words: np.ndarray, like: int) -> "DecayedCounts":
        """These counts with some words (U,) as if they had not occurred: with the row of another word, unseen so far.

        >>> counts = decayed_counts(np.array([[2.0], [1.0], [0.5]])).forget(np.array([0]), like=2)
        >>> counts.dense().ravel(), counts.totals
        (array([0.5, 1. , 0.5]), array([2.]))
        """
        row, read = self._read(np.array([like])), self._read(words)
        base, _, new = self._make_room(words)
        base._rows.array[new] = row
        base._rows.num_applied[new] = len(base._removals.topics)
        is_seen = self.is_seen.copy()
        is_seen[words] = False
        totals = self.totals + self.scale * (row - read).astype(np.float64).sum(0)
        return base._followed_by(words, new, totals=totals, is_seen=is_seen)

    def word_totals(self) -> np.ndarray:
        """Σ_k of λ - η of each word, (V,).

        >>> decayed_counts(np.array([[2.0, 1.0], [1.0, 0.5]])).word_totals()
        array([3. , 1.5])
        """
        totals = np.empty(self.vocab_size)
        source, places = self._find(np.arange(self.vocab_size))
        map_on_threads(lambda span: sum_rows(source, places, span, totals), split_alike(len(totals)))
        return self.scale * totals

    def only(self, words: np.ndarray) -> "DecayedCounts":
        """These counts with the rows of some words (U,), ascending, to read them and to remove or append topics.

        Totals remain those of all words; other words count as unseen, and their rows must not be read.
        """
        array, is_seen = self._read(words), np.zeros_like(self.is_seen)
        is_seen[words] = self.is_seen[words]
        elsewhere = np.maximum(self.totals - self.scale * array.sum(0, dtype=np.float64), 0.0)
        return self._moved(array, words, is_seen=is_seen, _elsewhere=elsewhere)

    def merge(self, merging: Merging) -> "DecayedCounts":
        """These counts with the topics merged (engine/inference/merging.py)."""
        if merging.is_empty:
            return self
        array = self._copied()
        copies = np.flatnonzero(merging.targets != np.arange(len(merging.targets)))
        targets = merging.targets[copies]
        spans = split_evenly(np.arange(len(self._held) + 1))
        map_on_threads(lambda span: merge_rows(span, copies, targets, array), spans)
        return self._moved(array, self._held, totals=merging.add_up(self.totals))

    def remove(self, removal: Removal, words: np.ndarray | None = None) -> "DecayedCounts":
        """These counts with topics removed: each word's tokens go to the topics that explain them.

        With `words` (U,) only their tokens do; those of other words are shared out by the weights of the mixtures,
        which takes no time until their rows are read.
        """
        if removal.is_empty:
            return self
        if words is None:
            array, elsewhere = self._copied(), removal.share_out(self._elsewhere)
            totals = self._share_out(removal, array[: len(self._held)]) + elsewhere
            return self._moved(array, self._held, totals=totals, _elsewhere=elsewhere)
        if len(self._removals.topics) > 0 and len(self._removals.topics) + len(removal.topics) > MOST_REMOVALS:
            return self._moved(self._copied(), self._held).remove(removal, words)
        rows = self._read(words)
        others = np.maximum(self.totals - self.scale * rows.sum(0, dtype=np.float64), 0.0)
        totals = self._share_out(removal, rows) + removal.share_out(others)
        base, _, new = self._make_room(words)
        removals = removal if base._removals is NO_REMOVALS else base._removals.followed_by(removal)
        base._rows.array[new] = rows
        base._rows.num_applied[new] = len(removals.topics)
        elsewhere = removal.share_out(self._elsewhere)
        return base._followed_by(words, new, totals=totals, _elsewhere=elsewhere, _removals=removals)

    def _share_out(self, removal: Removal, rows: np.ndarray) -> np.ndarray:
        """Share topics out in rows (U, K) of numbers stored, in place, and return the sums of λ - η in them (K,)."""
        factors = removal.factors(self.totals)

        def share_out(span: tuple[int, int]) -> np.ndarray:
            totals = np.zeros(len(self.totals))
            share_out_rows(span, removal.topics, removal.parents, factors, rows, totals)
            return totals

        totals: np.ndarray = self.scale * np.sum(map_on_threads(share_out, split_alike(len(rows))), 0)
        return totals

    def keep(self, topics: np.ndarray) -> "DecayedCounts":
        """The counts of some topics (n,), in this order, and of the words that have rows here.

        >>> decayed_counts(np.array([[2.0, 1.0, 4.0]])).keep(np.array([0, 2])).dense()
        array([[2., 4.]])
        """
        array = np.ascontiguousarray(self._read(self._held)[:, topics])
        return self._moved(array, self._held, totals=self.totals[topics], _elsewhere=self._elsewhere[topics])

    def less(self, amount: float) -> "DecayedCounts":
        """These counts, each less an amount, but never below 0.

        >>> decayed_counts(np.array([[2.0], [1.0], [0.5]])).less(0.75).dense().ravel()
        array([1.25, 0.25, 0.  ])
        """
        array = self._copied()
        held = array[: len(self._held)]
        held -= self.precision.type(amount / self.scale)
        np.maximum(held, 0.0, out=held)
        return self._moved(array, self._held, totals=self.scale * held.sum(0, dtype=np.float64))

    def append(self, words: np.ndarray, columns: np.ndarray) -> "DecayedCounts":
        """These counts followed by further topics, whose λ - η of some words held (U,) are the columns (U, C).

        >>> decayed_counts(np.ones((3, 1))).append(np.array([2]), np.array([[4.0]])).dense().T
        array([[1., 1., 1.],
               [0., 0., 4.]])
        """
        num_known, nothing = len(self.totals), np.zeros(columns.shape[1])
        array = np.zeros((len(self._held), num_known + columns.shape[1]), self.precision)
        array[:, :num_known] = self._read(self._held)
        array[np.searchsorted(self._held, words), num_known:] = columns / self.scale
        totals = np.append(self.totals, columns.sum(0, dtype=np.float64))
        return self._moved(array, self._held, totals=totals, _elsewhere=np.append(self._elsewhere, nothing))

    def times(self, factor: float) -> "DecayedCounts":
        """These counts, each times a factor, by which rows are multiplied where they are read or moved."""
        changes = {"totals": self.totals * factor, "_elsewhere": self._elsewhere * factor}
        # The rows stay with this value, which must not give them up before.
        return self._with(_factor=self._factor * factor, _owner=self, **changes)

    def _copied(self, num_rows: int = 0, factor: float = 1.0) -> np.ndarray:
        """Factor times the rows held, in the order of words, followed by space as before, or for `num_rows`."""
        shape = max(len(self._rows.array), len(self._held) + num_rows), len(self.totals)
        array = np.empty(shape, self.precision)
        self._copy(self._held, factor, array)
        return array

    def _moved(self, array: np.ndarray, held: np.ndarray, **changes: Any) -> "DecayedCounts":
        """These counts with some attributes changed, whose rows of the words held are the first of an array."""
        rows = _Rows(array, len(held))
        places = np.zeros(len(changes.get("is_seen", self.is_seen)), np.int32)
        places[held] = np.arange(len(held))
        moved = self._with(
            _rows=rows, _places=places, _held=held, _removals=NO_REMOVALS, _factor=1.0, _owner=None, **changes
        )
        rows.newest = weakref.ref(moved)
        return moved

    def _followed_by(self, words: np.ndarray, new: np.ndarray, **changes: Any) -> "DecayedCounts":
        """The successor of these counts, in which some words (U,) have their rows at other places."""
        places = self._places.copy()
        places[words] = new
        successor = self._with(_places=places, **changes)
        self._rows.newest = weakref.ref(successor)
        return successor

    def select(self, topics: np.ndarray, num_born: int = 0) -> "DecayedCounts":
        """These counts of some topics (places, in their new order), followed by `num_born` empty topics."""
        stored = np.zeros((self.vocab_size, len(topics) + num_born), self.precision)
        stored[:, : len(topics)] = self.stored[:, topics]
        return DecayedCounts(stored, self.scale, np.append(self.totals[topics], np.zeros(num_born)))

    def blend(
        self, rate: float, words: np.ndarray, counts: ShardCounts, factor: float, tokens: np.ndarray
    ) -> "DecayedCounts":
        """(1 - ρ) of these counts plus ρ · factor of others; Eq. 22 and 25 of Wang 2011.

        words: distinct words (U,); counts: shard after shard, all DocumentCounts or all FactoredCounts, whose words are
        places in `words`; tokens: (K,), their sums.
        """
        scale = self.scale * (1.0 - rate)
        decayed = {"totals": (1.0 - rate) * self.totals, "_elsewhere": (1.0 - rate) * self._elsewhere}
        if scale < SMALLEST_SCALE:
            folded = self._moved(self._copied(factor=scale), self._held, scale=1.0, **decayed)
            return folded._add(words, counts, rate * factor, tokens)
        return self._add(words, counts, rate * factor, tokens, self._with(scale=scale, **decayed))

    def _add(
        self,
        words: np.ndarray,
        counts: ShardCounts,
        factor: float,
        tokens: np.ndarray,
        kept: "DecayedCounts | None" = None,
    ) -> "DecayedCounts":
        """`kept` (these counts unless given) plus `factor` times the others; only the changed rows are written."""
        kept = kept or self
        base, old, new = self._make_room(words)
        _add_counts(counts, self.precision.type(factor / kept.scale), old, new, base._source)
        base._rows.num_applied[new] = len(base._removals.topics)
        is_seen = self.is_seen.copy()
        is_seen[words] = True
        totals = kept.totals + factor * tokens
        return base._followed_by(
            words, new, scale=kept.scale, totals=totals, is_seen=is_seen, _elsewhere=kept._elsewhere
        )

    def _make_room(self, words: np.ndarray) -> tuple["DecayedCounts", np.ndarray, np.ndarray]:
        """These counts, in other rows if too few are free, and old and new places (U,) of some words."""
        old = self._places[words]
        new = self._rows.claim(self, old) if self._owner is None else None
        if new is None:
            # No other value reads rows that have just been moved, so the changed ones can stay in place.
            moved = self._moved(self._copied(num_rows=ROOM * len(words)), self._held)
            old = new = moved._places[words]
            return moved, old, new
        return self, old, new


def gather(counts: ShardCounts, factor: float, shape: tuple[int, int], precision: np.dtype[Any]) -> np.ndarray:
    """Factor times the sums (U, K) of counts, as `DecayedCounts.blend` takes them."""
    rows, places = np.zeros(shape, precision), np.arange(shape[0], dtype=np.int32)
    _add_counts(counts, precision.type(factor), places, places, plain_rows(rows))
    return rows


def _add_counts(
    counts: ShardCounts,
    factor: Any,
    places: np.ndarray,
    new_places: np.ndarray,
    out_source: TopicRows,
) -> None:
    """Add factor times counts to the rows at some places, into new places; one thread handles all of a word."""
    blocks = [part for part in counts if isinstance(part, DocumentCounts)]
    if blocks:
        of_blocks = join_blocks(blocks)
        grouped = group_by_word(of_blocks, len(places))
        add = partial(add_blocks, of_blocks, grouped)
    else:
        of_factors = join_factors([part for part in counts if isinstance(part, FactoredCounts)])
        grouped = group_by_word(of_factors, len(places))
        add = partial(add_products, of_factors, grouped)
    spans = split_evenly(TOPICS_PER_ENTRY * grouped.starts + out_source.rows.shape[1] * np.arange(len(places) + 1))
    map_on_threads(lambda span: add(span, factor, places, new_places, out_source), spans)


class _Lease:
    """Lends memory to NumPy arrays, and adds it to `unused` when the last of them is gone."""

    def __init__(self, memory: np.ndarray, unused: list[np.ndarray]) -> None:
        self.__array_interface__ = memory.__array_interface__
        self._memory = memory
        self._unused = unused

    def __del__(self) -> None:
        self._unused.append(self._memory)


class _Rows:
    """Rows (P, K). A value claims a row and writes it once; the row is free again when no value reads it any more.

    Each value has at most one successor here: a value that is blended a second time starts rows of its own.
    """

    def __init__(self, array: np.ndarray, num_used: int) -> None:
        self.array = array
        self.num_applied = np.zeros(len(array), np.int16)
        self.newest: weakref.ref[DecayedCounts] | None = None
        self._free = np.arange(num_used, len(array), dtype=np.int32)
        self._superseded: deque[tuple[weakref.ref[DecayedCounts], np.ndarray]] = deque()
        self._unused: list[np.ndarray] = []
        self._lock = Lock()

    def room_for(self, number: int) -> np.ndarray:
        """An uninitialised array for some rows, in the memory of an earlier one that no array reads any more.

        New memory is set to zero by the system, page by page, which takes as long as computing the rows. Large arrays
        get it nevertheless, so that the rows do not keep more than a fraction of their own size.
        """
        if not 0 < ROOM * number <= len(self.array):
            return np.empty((number, self.array.shape[1]), self.array.dtype)
        try:
            memory = self._unused.pop()
        except IndexError:
            memory = np.empty(0, self.array.dtype)
        size = number * self.array.shape[1]
        if memory.size < size:
            memory = np.empty(size + size // SPARE, self.array.dtype)
        whole = np.asarray(_Lease(memory, self._unused))
        return whole[:size].reshape(number, -1)

    def claim(self, value: DecayedCounts, old: np.ndarray) -> np.ndarray | None:
        """Free places for the successor of `value`, which replace its rows `old`.

        None if too few are free, or if `value` already has a successor.
        """
        with self._lock:
            if self.newest is None or self.newest() is not value:
                return None
            while self._superseded and self._superseded[0][0]() is None:
                self._free = np.append(self._free, self._superseded.popleft()[1])
            if len(self._free) < len(old):
                return None
            cut = len(self._free) - len(old)
            claimed = self._free[cut:]
            self._free = self._free[:cut]
            self._superseded.append((self.newest, old))
            self.newest = None
            return claimed


def decayed_counts(dense: np.ndarray) -> DecayedCounts:
    """Counts that start as the given array (V, K)."""
    return DecayedCounts(dense, 1.0, dense.sum(0, dtype=np.float64))
