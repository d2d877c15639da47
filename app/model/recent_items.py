"""What has happened in the last hours of a stream, in a bounded number of items."""

from typing import Generic, TypeVar

Item = TypeVar("Item")


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
