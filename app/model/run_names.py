"""The names of the topics of one run: those given here, and kept ones that have returned to it."""

import logging
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

from stickbreaker.app.model.progress import ReturnedNames
from stickbreaker.app.model.reading import Model
from stickbreaker.app.model.run_store import RunStore
from stickbreaker.app.model.topic_names import describe_topics, match_names
from stickbreaker.engine.files.whole_files import FileError

MAX_NAME = 60

_log = logging.getLogger(__name__)


class RunNames:
    """Names by topic id; an empty one shows the label. Only the runner's thread changes them."""

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
        own = self._by_id.keys() - self._given.keys()
        return {
            topic_id: name for topic_id, name in self._by_id.items() if name and topic_id in own
        }

    @property
    def returned(self) -> ReturnedNames:
        """The names that have returned to the topics of this run."""
        return ReturnedNames(
            given=MappingProxyType(dict(self._given)), num_sought=self._num_sought, fault=self.fault
        )

    def rename(self, topic_id: int, name: str) -> str:
        """Name a topic; an empty name restores its label.

        Return a name that need not be kept any more, or "". A name that has returned to the topic
        and is replaced may belong to another topic, so it stays kept.
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

    def keep(
        self,
        store: RunStore,
        corpus_name: str,
        model: Model,
        topic_ids: Collection[int],
        forgotten: Collection[str] = (),
    ) -> None:
        """Keep the names of these topics for later runs, with their present words."""
        named = {topic_id: name for topic_id, name in self.own.items() if topic_id in topic_ids}
        try:
            store.keep_names(corpus_name, describe_topics(model, named), forgotten)
            self.fault = ""
        except FileError as error:
            self._note("kept", error)

    def take_kept(self, store: RunStore, corpus_name: str, model: Model) -> None:
        """Keep the own names, and give the other topics the names that the corpus has kept."""
        own = self.own
        if own:
            self.keep(store, corpus_name, model, own)
        try:
            kept = store.find_names(corpus_name)
        except FileError as error:
            self._note("read", error)
            kept = ()
        sought = [topic for topic in kept if topic.name not in own.values()]
        free = [topic for topic in sought if topic.name not in self._given.values()]
        taken = [topic_id for topic_id, name in self._by_id.items() if name]
        self.give(match_names(free, model, taken), len(sought))

    def _note(self, what: str, error: FileError) -> None:
        _log.warning("Names of topics could not be %s: %s", what, error)
        self.fault = str(error)

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
        """Read what `to_json` gave."""
        self._by_id = dict(saved["names"])
        given, self._num_sought = saved["returned"]
        # A kept run may have been given other names since.
        self._given = {
            topic_id: name for topic_id, name in given if self._by_id.get(topic_id) == name
        }
