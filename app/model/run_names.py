"""The names of the topics of one run: those that a person has given here, and those that have
returned to it.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from stickbreaker.app.model.progress import ReturnedNames

MAX_NAME = 60


class RunNames:
    """Names by topic id.

    An empty one shows the topic's label. Only the runner's thread changes them.
    """

    def __init__(self) -> None:
        self._by_id: dict[int, str] = {}
        self._given: dict[int, str] = {}
        self._num_sought = 0
        self.fault = ""

    def copy(self) -> Mapping[int, str]:
        """All names as they are now."""
        return MappingProxyType(dict(self._by_id))

    @property
    def own(self) -> dict[int, str]:
        """The names that a person has given in this run, or in one with the same settings."""
        return {
            topic_id: name
            for topic_id, name in self._by_id.items()
            if name and topic_id not in self._given
        }

    @property
    def returned(self) -> ReturnedNames:
        """The names that have returned to the topics of this run."""
        return ReturnedNames(
            given=MappingProxyType(dict(self._given)), num_sought=self._num_sought, fault=self.fault
        )

    def rename(self, topic_id: int, name: str) -> str:
        """Name a topic.

        An empty name restores its label. Return a name that need not be kept any more, or "".

        A name that has returned to the topic and is replaced may belong to another topic, so it
        stays kept.
        """
        before = self._by_id.get(topic_id, "")
        had_returned = self._given.pop(topic_id, None) is not None
        now = self._by_id[topic_id] = name.strip()[:MAX_NAME]
        is_kept = before in self._by_id.values() or (had_returned and now)
        return "" if is_kept else before

    def give(self, names: Mapping[int, str], num_sought: int) -> None:
        """Give kept names to topics. num_sought: kept for the corpus, not of this run."""
        self._by_id.update(names)
        self._given.update(names)
        self._num_sought = num_sought

    def undo(self) -> None:
        """Take back the names that have returned; they are kept for later runs."""
        for topic_id in self._given:
            self._by_id.pop(topic_id, None)
        self._given = {}
        self._num_sought = 0

    def share(self, shared: dict[int, str]) -> None:
        """Share all names, now and later, with the runs that hold the same dictionary."""
        shared.update(self._by_id)
        self._by_id = shared

    def part(self) -> None:
        """Share later names with no other run."""
        self._by_id = dict(self._by_id)

    def to_json(self) -> dict[str, Any]:
        """Copy everything for `restore`."""
        return {
            "names": list(self._by_id.items()),
            "returned": [list(self._given.items()), self._num_sought],
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Read what `to_json` gave; files of earlier versions have no names that returned."""
        self._by_id = dict(saved["names"])
        given, self._num_sought = saved.get("returned", ([], 0))
        # A kept run may have been given other names since.
        self._given = {
            topic_id: name for topic_id, name in given if self._by_id.get(topic_id) == name
        }
