"""Expected counts of words in topics under exponential forgetting: the one type that holds λ."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from stickbreaker.engine.inference.word_rows import WordRows
from stickbreaker.engine.kernels.counts import (
    DocumentCounts,
    FactoredCounts,
    add_blocks,
    add_products,
    find_blocks,
    geometric_rows,
    group_by_word,
    join_factors,
    scale_rows,
    share_out_by_weights,
    share_out_rows,
    sum_rows,
)
from stickbreaker.engine.kernels.special import NOT_RAISED, SMALLEST_EXPONENT
from stickbreaker.engine.parallel.threads import (
    map_on_threads,
    split_alike,
    split_evenly,
    split_rows,
)

# Below this scale the stored numbers would exceed the range that float32 holds well, so the scale
# is folded into them.
SMALLEST_SCALE = 1e-12
# Adding one count of a document takes as long as writing this number of topics of a word's row.
TOPICS_PER_ENTRY = 10

ShardCounts = Sequence[DocumentCounts | FactoredCounts]


class Merging(NamedTuple):
    """The topic (K,) that receives each topic's counts: its own, or that of which it is a copy."""

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
    """Topics (M,) to remove one after another, and the mixtures of other topics that receive their
    counts.

    parents, weights: (M, P) ids and weights of the mixtures; weights of a row sum to 1, and unused
    places have 0.
    """

    topics: np.ndarray
    parents: np.ndarray
    weights: np.ndarray

    @property
    def is_empty(self) -> bool:
        """Whether no topic is removed."""
        return len(self.topics) == 0

    def share_out(self, values: np.ndarray) -> np.ndarray:
        """Share the values (K,) or (K, S) of removed topics out by the weights.

        A removed id keeps 0.

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
        """Weights (M, P) over the parents' totals at their turn; `totals` (K,) are those before."""
        totals = totals.copy()
        factors = np.zeros(self.weights.shape)
        for place, (topic, parents, weights) in enumerate(zip(*self, strict=True)):
            # The totals are those at the topic's turn: earlier removals have raised them.
            np.divide(weights, totals[parents], out=factors[place], where=weights > 0)
            np.add.at(totals, parents, weights * totals[topic])
            totals[topic] = 0.0
        return factors


@dataclass(frozen=True, eq=False)
class DecayedCounts:
    """λ - η = scale · stored, word by word, so that forgetting multiplies one number instead of K ·
    V.

    It is an immutable value: `blend` and the other methods return another value.

    storage: the numbers stored, float32 or float64, of all words (V, K), or of some (`only`);
    scale: in (0, 1]; totals: (K,) float64, Σ_w of λ - η over all words; elsewhere: (K,), the part
    of them of words without rows.
    """

    storage: WordRows
    scale: float
    totals: np.ndarray
    elsewhere: np.ndarray

    def __reduce__(self) -> tuple[Callable[..., "DecayedCounts"], tuple[dict[str, np.ndarray]]]:
        return DecayedCounts.from_arrays, (self.to_arrays(),)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays from which `from_arrays` restores this value."""
        return {"stored": self.stored, "scale": np.asarray(self.scale), "totals": self.totals}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> "DecayedCounts":
        """Restore a value from its arrays.

        >>> counts = decayed_counts(np.array([[2.0], [1.0]]))
        >>> DecayedCounts.from_arrays(counts.to_arrays()).totals
        array([3.])
        """
        stored = np.ascontiguousarray(arrays["stored"])
        return cls(
            storage=WordRows(stored, np.arange(len(stored)), len(stored)),
            scale=float(arrays["scale"]),
            totals=arrays["totals"],
            elsewhere=np.zeros(stored.shape[1]),
        )

    @property
    def vocab_size(self) -> int:
        """Number of words V."""
        return self.storage.vocab_size

    @property
    def held(self) -> np.ndarray:
        """The words that have rows here, ascending."""
        return self.storage.held

    @property
    def precision(self) -> np.dtype[Any]:
        """The dtype of the stored numbers."""
        return self.storage.precision

    @property
    def stored(self) -> np.ndarray:
        """(λ - η) / scale of all words (V, K)."""
        return self.storage.read(np.arange(self.vocab_size))

    def rows(
        self,
        words: np.ndarray,
        offset: float = 0.0,
        factors: np.ndarray | None = None,
        power: float = NOT_RAISED,
    ) -> np.ndarray:
        """((λ - η + offset) · factors (K,))^power of some words (U,), as (U, K)."""
        factors = (np.ones(len(self.totals)) if factors is None else factors).astype(self.precision)
        return self._compute_rows(scale_rows, words, offset, factors, power)

    def geometric_rows(
        self,
        words: np.ndarray,
        offset: float,
        total_digammas: np.ndarray,
        power: float = NOT_RAISED,
    ) -> np.ndarray:
        """exp(ψ(λ - η + offset) - total_digammas (K,))^power of some words (U,), as (U, K)."""
        smallest = self.precision.type(SMALLEST_EXPONENT[self.precision])
        return self._compute_rows(
            geometric_rows, words, offset, total_digammas.astype(self.precision), smallest, power
        )

    def _compute_rows(
        self, kernel: Callable[..., None], words: np.ndarray, *arguments: Any
    ) -> np.ndarray:
        rows = np.empty((len(words), len(self.totals)), self.precision)
        places = self.storage.places[words]

        def compute(span: tuple[int, int]) -> None:
            own = slice(*span)
            kernel(self.storage.array, places[own], self.scale, *arguments, rows[own])

        map_on_threads(compute, split_rows(*rows.shape))
        return rows

    def dense(self) -> np.ndarray:
        """λ - η of all words, (V, K)."""
        return self.rows(np.arange(self.vocab_size))

    def word_totals(self) -> np.ndarray:
        """Σ_k of λ - η of each word, (V,).

        >>> decayed_counts(np.array([[2.0, 1.0], [1.0, 0.5]])).word_totals()
        array([3. , 1.5])
        """
        totals = np.empty(self.vocab_size)
        array = self.storage.array
        places = self.storage.places
        map_on_threads(lambda span: sum_rows(array, places, span, totals), split_alike(len(totals)))
        return self.scale * totals

    def blend(
        self, rate: float, words: np.ndarray, counts: ShardCounts, factor: float, tokens: np.ndarray
    ) -> "DecayedCounts":
        """(1 - ρ) of these counts plus ρ · factor of others; Eq. 22 and 25 of Wang 2011.

        words: distinct words (U,); counts: shard after shard, all DocumentCounts or all
        FactoredCounts, whose words are places in `words`; tokens: (K,), their sums.
        """
        storage = self.storage
        # (1 - ρ) multiplies the scale; what is added is divided by it.
        scale = self.scale * (1.0 - rate)
        if scale < SMALLEST_SCALE:
            storage = storage.moved(scale)
            scale = 1.0
        storage, places = storage.opened(words)
        add_counts(counts, self.precision.type(rate * factor / scale), places, storage.array)
        return DecayedCounts(
            storage=storage,
            scale=scale,
            totals=(1.0 - rate) * self.totals + rate * factor * tokens,
            elsewhere=(1.0 - rate) * self.elsewhere,
        )

    def times(self, factor: float) -> "DecayedCounts":
        """These counts, each times a factor."""
        totals = self.totals * factor
        elsewhere = self.elsewhere * factor
        return replace(self, storage=self.storage.moved(factor), totals=totals, elsewhere=elsewhere)

    def less(self, amount: float) -> "DecayedCounts":
        """These counts, each less an amount, but never below 0.

        >>> decayed_counts(np.array([[2.0], [1.0], [0.5]])).less(0.75).dense().ravel()
        array([1.25, 0.25, 0.  ])
        """
        array = self.storage.read(self.held)
        array -= self.precision.type(amount / self.scale)
        np.maximum(array, 0.0, out=array)
        totals = self.scale * array.sum(0, dtype=np.float64)
        return replace(self, storage=self.storage.replaced(array), totals=totals)

    def forget(self, words: np.ndarray, like: int) -> "DecayedCounts":
        """These counts with some words (U,) as if they had not occurred: with the row of another
        word.

        >>> counts = decayed_counts(np.array([[2.0], [1.0], [0.5]])).forget(np.array([0]), like=2)
        >>> counts.dense().ravel(), counts.totals
        (array([0.5, 1. , 0.5]), array([2.]))
        """
        row = self.storage.read(np.array([like]))
        totals = self.totals + self.scale * (row - self.storage.read(words)).astype(np.float64).sum(
            0
        )
        storage, places = self.storage.opened(words)
        storage.array[places] = row
        return replace(self, storage=storage, totals=totals)

    def only(self, words: np.ndarray) -> "DecayedCounts":
        """These counts with the rows of some words (U,), ascending, to read them and to remove or
        append topics.

        Totals remain those of all words; the rows of other words must not be read.
        """
        array = self.storage.read(words)
        return replace(
            self, storage=WordRows(array, words, self.vocab_size), elsewhere=self._others(array)
        )

    def _others(self, array: np.ndarray) -> np.ndarray:
        """The part of the totals (K,) that is not in some rows (U, K) of numbers stored."""
        return np.maximum(self.totals - self.scale * array.sum(0, dtype=np.float64), 0.0)

    def merge(self, merging: Merging) -> "DecayedCounts":
        """These counts with the topics merged (engine/inference/merging.py)."""
        if merging.is_empty:
            return self
        array = self.storage.read(self.held)
        copies = np.flatnonzero(merging.targets != np.arange(len(merging.targets)))
        targets = merging.targets[copies]
        for copy, target in zip(copies, targets, strict=True):
            array[:, target] += array[:, copy]
            array[:, copy] = 0
        return replace(
            self, storage=self.storage.replaced(array), totals=merging.add_up(self.totals)
        )

    def remove(self, removal: Removal, words: np.ndarray | None = None) -> "DecayedCounts":
        """These counts with topics removed: each word's tokens go to the topics that explain them.

        With `words` (U,) only their tokens do; those of other words are shared out by the weights
        of the mixtures.
        """
        if removal.is_empty:
            return self
        array = self.storage.read(self.held)
        elsewhere = removal.share_out(self.elsewhere)
        if words is None:
            totals = self._share_out(removal, array) + elsewhere
        else:
            rows = self.storage.read(words)
            # The tokens of other words follow the weights alone.
            others = removal.share_out(self._others(rows))
            totals = self._share_out(removal, rows) + others
            topics = removal.topics
            parents = removal.parents
            weights = removal.weights.astype(self.precision)
            map_on_threads(
                lambda span: share_out_by_weights(span, topics, parents, weights, array),
                split_rows(*array.shape),
            )
            array[np.searchsorted(self.held, words)] = rows
        return replace(
            self, storage=self.storage.replaced(array), totals=totals, elsewhere=elsewhere
        )

    def _share_out(self, removal: Removal, rows: np.ndarray) -> np.ndarray:
        """Share topics out in stored rows (U, K), in place; return the sums of λ - η (K,)."""
        # A parent's part of a word is its weight over its total, times its tokens of the word.
        factors = removal.factors(self.totals)

        def share_out(span: tuple[int, int]) -> np.ndarray:
            totals = np.zeros(len(self.totals))
            share_out_rows(span, removal.topics, removal.parents, factors, rows, totals)
            return totals

        totals: np.ndarray = self.scale * np.sum(
            map_on_threads(share_out, split_alike(len(rows))), 0
        )
        return totals

    def add(self, words: np.ndarray, topics: np.ndarray, tokens: np.ndarray) -> "DecayedCounts":
        """These counts with further tokens (M,) of words (M,) in topics (M,), perhaps negative.

        >>> counts = decayed_counts(np.array([[2.0, 1.0], [1.0, 0.5]]))
        >>> counts.add(np.array([1]), np.array([0]), np.array([4.0])).dense()
        array([[2. , 1. ],
               [5. , 0.5]])
        """
        distinct, which = np.unique(words, return_inverse=True)
        storage, places = self.storage.opened(distinct)
        added = (tokens / self.scale).astype(self.precision)
        np.add.at(storage.array, (places[which], topics), added)
        totals = self.totals + np.bincount(topics, tokens, len(self.totals))
        return replace(self, storage=storage, totals=totals)

    def keep(self, topics: np.ndarray) -> "DecayedCounts":
        """The counts of some topics (n,), in this order, and of the words that have rows here.

        >>> decayed_counts(np.array([[2.0, 1.0, 4.0]])).keep(np.array([0, 2])).dense()
        array([[2., 4.]])
        """
        array = np.ascontiguousarray(self.storage.read(self.held)[:, topics])
        storage = self.storage.replaced(array)
        return replace(
            self, storage=storage, totals=self.totals[topics], elsewhere=self.elsewhere[topics]
        )

    def append(self, words: np.ndarray, columns: np.ndarray) -> "DecayedCounts":
        """These counts followed by further topics, whose λ - η of some words held (U,) are the
        columns (U, C).

        >>> decayed_counts(np.ones((3, 1))).append(np.array([2]), np.array([[4.0]])).dense().T
        array([[1., 1., 1.],
               [0., 0., 4.]])
        """
        num_known = len(self.totals)
        num_new = columns.shape[1]
        array = np.zeros((len(self.held), num_known + num_new), self.precision)
        array[:, :num_known] = self.storage.read(self.held)
        array[np.searchsorted(self.held, words), num_known:] = columns / self.scale
        return replace(
            self,
            storage=self.storage.replaced(array),
            totals=np.append(self.totals, columns.sum(0, dtype=np.float64)),
            elsewhere=np.append(self.elsewhere, np.zeros(num_new)),
        )


def decayed_counts(dense: np.ndarray) -> DecayedCounts:
    """Counts that start as the given array (V, K)."""
    totals = dense.sum(0, dtype=np.float64)
    return DecayedCounts.from_arrays({"stored": dense, "scale": np.ones(()), "totals": totals})


def gather(
    counts: ShardCounts, factor: float, shape: tuple[int, int], precision: np.dtype[Any]
) -> np.ndarray:
    """Factor times the sums (U, K) of counts, as `DecayedCounts.blend` takes them."""
    rows = np.zeros(shape, precision)
    add_counts(counts, precision.type(factor), np.arange(shape[0], dtype=np.int32), rows)
    return rows


def add_counts(counts: ShardCounts, factor: Any, places: np.ndarray, out_rows: np.ndarray) -> None:
    """Add factor times the counts of words (U,) to their rows, which are at some places.

    One thread has all of a word.

    Shards add in their order, so a sum does not depend on the threads.
    """
    blocks = [part for part in counts if isinstance(part, DocumentCounts)]
    adders: list[Callable[..., None]]
    if blocks:
        grouped = [group_by_word(part, len(places)) for part in blocks]
        adders = [
            partial(add_blocks, part, own, find_blocks(part))
            for part, own in zip(blocks, grouped, strict=True)
        ]
    else:
        joined = join_factors([part for part in counts if isinstance(part, FactoredCounts)])
        grouped = [group_by_word(joined, len(places))]
        adders = [partial(add_products, joined, grouped[0])]

    def add(span: tuple[int, int]) -> None:
        for adder in adders:
            adder(span, factor, places, out_rows)

    num_entries = sum(each.starts for each in grouped)
    map_on_threads(
        add,
        split_evenly(
            TOPICS_PER_ENTRY * num_entries + out_rows.shape[1] * np.arange(len(places) + 1)
        ),
    )
