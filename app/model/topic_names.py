"""The names of topics of a corpus, on disk, and the topics of a later run that they fit.

A file for each corpus has every name with the most probable words of its topic. Words are compared
by spelling, so that names fit a corpus that was built again too.
"""

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from os import PathLike

import numpy as np
from scipy.sparse import csr_array

from stickbreaker.app.model.reading import Model
from stickbreaker.app.model.shelf import Shelf, hash_name
from stickbreaker.engine.evaluation.held_out import rank_topics
from stickbreaker.engine.evaluation.topic_space import (
    NUM_MATCHED_WORDS,
    find_partners,
    find_top_words,
)
from stickbreaker.engine.files.verified_files import Kind
from stickbreaker.engine.files.whole_files import FileError

MAX_NAMES = 500
FULL = f"{MAX_NAMES} names are kept for this corpus. Remove some names before you add others."


class TopicNameError(FileError):
    """Names cannot be read or written; the message says why and what to do."""


TOPIC_NAMES = Kind(
    name="file of topic names", format=1, remedy="delete the file", error=TopicNameError
)


@dataclass(frozen=True)
class NamedTopic:
    """A name, and the fifty most probable words of its topic with their probabilities."""

    name: str
    words: Mapping[str, float]


class TopicNames:
    """The names of one user; safe from any thread. folder: where the files are."""

    def __init__(self, folder: str | PathLike[str]):
        self._shelf = Shelf(folder, TOPIC_NAMES, ".zip", "Names cannot be kept")
        self._lock = threading.Lock()

    def read(self, corpus_name: str) -> tuple[NamedTopic, ...]:
        """Read the names kept for a corpus, oldest first; TopicNameError if it fails."""
        # The name of a corpus may have characters that no file name may have.
        name = hash_name(corpus_name)
        if not self._shelf.has(name):
            return ()
        with self._shelf.reading(name, expected={"corpus": corpus_name}) as (about, _):
            return tuple(
                NamedTopic(name=str(each["name"]), words=_check_words(each["words"]))
                for each in about["topics"]
            )

    def change(
        self, corpus_name: str, kept: Sequence[NamedTopic], forgotten: Collection[str] = ()
    ) -> None:
        """Keep names, in place of earlier ones of the same spelling, and forget others.

        Raises TopicNameError if the file cannot be read or written, or if there would be too many
        names; the earlier names stay then, and of the new ones those that fit are kept.
        """
        with self._lock:
            before = self.read(corpus_name)
            found = {topic.name: topic for topic in before if topic.name not in forgotten}
            found |= {topic.name: topic for topic in kept}
            topics = list(found.values())[:MAX_NAMES]
            if tuple(topics) != before:
                about = {"corpus": corpus_name, "topics": [asdict(topic) for topic in topics]}
                self._shelf.write(hash_name(corpus_name), about, packs=True)
        if len(found) > MAX_NAMES:
            raise TopicNameError(FULL)

    def remove(self, corpus_name: str) -> None:
        """Forget all names of a corpus, if any. Raises FileError if the file cannot be removed."""
        with self._lock:
            self._shelf.remove(hash_name(corpus_name))

    def count(self, corpus_name: str) -> int:
        """The number of names kept for a corpus; 0 if they cannot be read."""
        try:
            return len(self.read(corpus_name))
        except TopicNameError:
            return 0


def _check_words(words: Mapping[str, float]) -> dict[str, float]:
    found = {str(word): float(share) for word, share in words.items()}
    if not all(0.0 <= share <= 1.0 for share in found.values()):
        raise ValueError("a probability is not between 0 and 1")
    return found


def describe_topics(model: Model, names: Mapping[int, str]) -> tuple[NamedTopic, ...]:
    """Describe the topics that have these names, by id, without unknown ids."""
    summary = model.algorithm.summarize(model.config, model.state)
    places = {int(topic_id): place for place, topic_id in enumerate(summary.topic_ids)}
    named = {places[key]: name for key, name in names.items() if key in places and name}
    words = _take_words(model, summary.topics, list(named))
    return tuple(map(NamedTopic, named.values(), words))


def match_names(
    kept: Sequence[NamedTopic], model: Model, taken: Collection[int] = ()
) -> dict[int, str]:
    """Give kept names to the most similar topics of a model: the names by topic id.

    Each name goes to one topic in use that is not among those `taken`, so that the sum of the
    Jensen-Shannon divergences is smallest. Each topic is the distribution of its fifty most
    probable words. A name whose divergence would be above half of the largest possible one stays
    without a topic.
    """
    summary = model.algorithm.summarize(model.config, model.state)
    ids = summary.topic_ids.tolist()
    used = [place for place in rank_topics(summary.expected_tokens) if ids[place] not in taken]
    if not used or not kept:
        return {}
    ours = _take_words(model, summary.topics, used)
    theirs = [topic.words for topic in kept]
    listed = sorted({word for words in (*ours, *theirs) for word in words})
    places = {word: place for place, word in enumerate(listed)}
    partners = find_partners(_share_words(theirs, places), _share_words(ours, places))
    return {
        ids[used[topic]]: name.name
        for name, topic in zip(kept, partners.tolist(), strict=True)
        if topic >= 0
    }


def _take_words(model: Model, topics: np.ndarray, places: Sequence[int]) -> list[dict[str, float]]:
    """The most probable words of some topics (K, V), with their probabilities."""
    if not places:
        return []
    chosen = np.asarray(topics)[list(places)]
    vocabulary = model.corpus.vocabulary
    return [
        {vocabulary[int(word)]: float(topic[word]) for word in best}
        for topic, best in zip(chosen, find_top_words(chosen, NUM_MATCHED_WORDS), strict=True)
    ]


def _share_words(topics: Sequence[Mapping[str, float]], places: Mapping[str, int]) -> csr_array:
    """Topics as distributions (K, W) over the words of `places`."""
    rows = np.repeat(np.arange(len(topics)), [len(words) for words in topics])
    columns = np.array([places[word] for words in topics for word in words], np.int64)
    shares = np.array([share for words in topics for share in words.values()], np.float64)
    totals = np.bincount(rows, shares, minlength=len(topics))
    return csr_array(
        (shares / np.maximum(totals[rows], 1e-300), (rows, columns)),
        shape=(len(topics), len(places)),
    )
