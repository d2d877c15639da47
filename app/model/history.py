"""What grows with a run or a stream, in a bounded number of rows or items."""

from collections import deque
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Generic, TypeVar

import numpy as np

from stickbreaker.app.model.first_readings import FirstReadings
from stickbreaker.app.model.progress import (
    BOUND_COLUMNS,
    HELDOUT_COLUMNS,
    NEXT_BATCH_COLUMNS,
    STEP_COLUMNS,
    Curve,
    freeze,
)
from stickbreaker.engine.algorithm import Phase
from stickbreaker.engine.runs.events import Update

MAX_POINTS = 4_000

Item = TypeVar("Item")


class History:
    """The rows of a curve; at `max_points` every second one is dropped. The newest is always kept.

    >>> history = History({"step": np.int64}, max_points=4)
    >>> for step in range(11):
    ...     history.append(step)
    >>> history.curve()["step"].tolist()
    [0, 4, 8, 10]
    """

    def __init__(self, dtypes: Mapping[str, Any], max_points: int = MAX_POINTS):
        self._columns = {name: np.zeros(max_points, dtype) for name, dtype in dtypes.items()}
        self._max_points = max_points
        self._stride = 1
        self._num_kept = 0
        self._num_seen = 0
        self._newest: tuple[Any, ...] = ()

    def append(self, *row: Any) -> None:
        """Add one row; its values are in the order of the columns."""
        self._newest = row
        if self._num_seen % self._stride == 0:
            if self._num_kept == self._max_points:
                self._thin()
            if self._num_seen % self._stride == 0:
                self._write(row)
        self._num_seen += 1

    def curve(self) -> Curve:
        """Copy the kept rows and the newest row into a read-only curve."""
        has_newest = self._num_seen == 0 or (self._num_seen - 1) % self._stride == 0
        columns = {}
        for value, (name, column) in zip(
            self._newest or self._columns, self._columns.items(), strict=True
        ):
            kept = column[: self._num_kept].copy()
            columns[name] = kept if has_newest else np.append(kept, np.array([value], column.dtype))
        freeze(columns.values())
        return Curve(MappingProxyType(columns))

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Copy everything, so that `restore` makes a history that continues in the same way."""
        arrays = {name: column[: self._num_kept].copy() for name, column in self._columns.items()}
        newest = zip(self._newest, self._columns.items(), strict=False)
        arrays |= {
            f"newest.{name}": np.array([value], column.dtype) for value, (name, column) in newest
        }
        return arrays | {"counts": np.array([self._stride, self._num_seen], np.int64)}

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take what `to_arrays` of another history gave; KeyError if an array is missing."""
        self._stride, self._num_seen = arrays["counts"].tolist()
        for name, column in self._columns.items():
            self._num_kept = len(arrays[name])
            column[: self._num_kept] = arrays[name]
        if self._num_seen:
            self._newest = tuple(arrays[f"newest.{name}"][0] for name in self._columns)

    def _write(self, row: tuple[Any, ...]) -> None:
        for value, column in zip(row, self._columns.values(), strict=True):
            column[self._num_kept] = value
        self._num_kept += 1

    def _thin(self) -> None:
        self._stride *= 2
        self._num_kept = (self._num_kept + 1) // 2
        for column in self._columns.values():
            column[: self._num_kept] = column[::2].copy()


class RunHistory:
    """The curves of one run, and the first readings of its documents."""

    def __init__(self) -> None:
        self.first = FirstReadings()
        self.steps = History(STEP_COLUMNS)
        self.heldout = History(HELDOUT_COLUMNS)
        self.next_batch = History(NEXT_BATCH_COLUMNS)
        self.bounds = History(BOUND_COLUMNS)

    def take(self, update: Update, seconds: float, corpus_size: int) -> None:
        """Add what happened in one mini-batch; seconds: spent learning before it."""
        if (score := update.next_batch) is not None:
            seen = score.documents_seen
            self.next_batch.append(seen, score.date, seconds, score.nats_per_word, score.num_tokens)
            # The model knows nothing before the first mini-batch, and no document is new after the
            # first pass.
            if score.inferred is not None and 0 < seen < corpus_size:
                self.first.take(score.inferred, seen)
        step = update.stepped
        info = step.info
        place = (step.documents_seen, step.date, step.seconds)
        learned = (info.learning_rate, step.num_topics, info.startup_share)
        self.steps.append(*place, *learned, int(info.phase != Phase.WARM_UP), step.batch_size)
        if info.bound is not None:
            self.bounds.append(info.step, info.bound)
        if (held_out := update.held_out) is not None:
            nats = held_out.nats_per_word
            self.heldout.append(held_out.documents_seen, held_out.date, step.seconds, nats)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Copy everything for `restore`."""
        return {
            f"{name}.{column}": array
            for name, part in vars(self).items()
            for column, array in part.to_arrays().items()
        }

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take what `to_arrays` gave, among other arrays; KeyError if one is missing."""
        for name, part in vars(self).items():
            begin = f"{name}."
            own = {each: array for each, array in arrays.items() if each.startswith(begin)}
            part.restore({each.removeprefix(begin): array for each, array in own.items()})


class Speed:
    """The documents a second over the last seconds."""

    def __init__(self, seconds: float):
        self._seconds = seconds
        self._times: deque[tuple[float, int]] = deque()

    def note(self, at: float, documents_seen: int) -> None:
        """Note how many documents have been read at a time in seconds."""
        self._times.append((at, documents_seen))
        while len(self._times) > 2 and at - self._times[0][0] > self._seconds:
            self._times.popleft()

    def clear(self) -> None:
        """Begin again."""
        self._times.clear()

    def measure(self) -> float:
        """The speed; 0 before the second time."""
        if len(self._times) < 2:
            return 0.0
        (start, first), (end, last) = self._times[0], self._times[-1]
        return (last - first) / max(1e-9, end - start)


class RecentItems(Generic[Item]):
    """Items of the last seconds, spread evenly over this time: at most `most` of them, and the
    newest one.

    At first all items are kept. When they are too many, every second one is dropped and the next
    ones are kept at twice the distance. As soon as they reach back `seconds`, a new item replaces
    the oldest one. Items that are rarer than `most` in this time reach back further.

    >>> items = RecentItems(most=4, seconds=12.0)
    >>> for second in range(8):
    ...     items.add(float(second), second)
    >>> items.find()
    [0, 2, 4, 6, 7]
    >>> for second in range(8, 30):
    ...     items.add(float(second), second)
    >>> items.find()
    [20, 23, 26, 29]
    """

    def __init__(self, most: int, seconds: float):
        self._most = most
        self._seconds = seconds
        self._distance = 0.0
        self._kept: list[tuple[float, Item]] = []
        self._newest: list[Item] = []

    def add(self, at: float, item: Item) -> None:
        """Add an item; at: its time in seconds, not before that of the item before."""
        self._newest = [item]
        if len(self._kept) == self._most and self._is_due(at):
            self._make_room()
        if self._is_due(at):
            self._kept.append((at, item))
            self._newest = []

    def find(self) -> list[Item]:
        """The items in order, the newest last."""
        return [item for _, item in self._kept] + self._newest

    def _is_due(self, at: float) -> bool:
        return not self._kept or at - self._kept[-1][0] >= self._distance

    def _make_room(self) -> None:
        longest = self._seconds / self._most
        span = self._kept[-1][0] - self._kept[0][0]
        if self._distance >= longest or span >= self._seconds:
            del self._kept[0]
            return
        self._kept = self._kept[::2]
        self._distance = min(longest, 2 * span / (self._most - 1))
