"""The newest fifty runs that have finished or were left, on disk: one file each.

A file has the columns of the curves and the topics' most probable words.
"""

import json
import logging
import secrets
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from os import PathLike
from pathlib import Path
from types import GenericAlias, MappingProxyType
from typing import Any, NamedTuple, get_origin, get_type_hints

import numpy as np

from stickbreaker.app.model.limits import KEPT_MODELS, find_limit
from stickbreaker.app.model.page_notes import read_page, with_page
from stickbreaker.app.model.progress import (
    HELDOUT_COLUMNS,
    NEXT_BATCH_COLUMNS,
    STEP_COLUMNS,
    Curve,
    Progress,
    freeze,
    has_no_topic,
)
from stickbreaker.app.model.reading import Model, Reading
from stickbreaker.app.model.run_names import MAX_NAME
from stickbreaker.app.model.shelf import Shelf, fit, measure
from stickbreaker.engine.evaluation.coherence import measure_quality, sum_up
from stickbreaker.engine.evaluation.held_out import rank_topics
from stickbreaker.engine.evaluation.topic_space import find_top_words
from stickbreaker.engine.files.verified_files import Kind, read_header, read_parts, reading
from stickbreaker.engine.files.whole_files import FileError
from stickbreaker.engine.runs.checkpoint import Checkpoint, load, save, with_new_names
from stickbreaker.engine.runs.settings import RunSettings

MAX_KEPT = 50
NUM_KEPT_WORDS = 50
# The format of kept runs before they had a header with SHA-256.
LAST_WITHOUT_HEADER = 1
# The model of a run: a checkpoint that the page can continue.
MODEL_SUFFIX = ".model"
PACKAGES = ("stickbreaker", "numpy", "numba")
CURVES = {"steps": STEP_COLUMNS, "heldout": HELDOUT_COLUMNS, "next_batch": NEXT_BATCH_COLUMNS}
TOPIC_ARRAYS = ("topic_ids", "weights", "words", "top_words", "top_shares")
# Files of earlier versions have no shares.
SHARES = "shares"

_log = logging.getLogger(__name__)


class KeptRunError(FileError):
    """A kept run cannot be read or written; the message names the run and the remedy."""


KEPT_RUN = Kind(name="kept run", format=2, remedy="delete the file", error=KeptRunError)


@dataclass(frozen=True)
class KeptRun:
    """A kept run as one row of a table.

    name: given by a person, or empty. label: names the spec. status: "finished", or "paused" where
    it was left. config, settings: the last ones of the run; changes: those made while it learned,
    as [documents seen, text]. heldout: the last score in nats per held-out word (disjoint_words,
    own). topic_names: by topic id, as text, those that a person has given; topic_labels: the other
    titles. quality: `OverallQuality` on the run's corpus, by name, with the model's weights of the
    topics; empty if there is no topic, or if an older version kept the run.
    """

    key: str
    kept_at: str
    name: str
    label: str
    corpus_name: str
    corpus_size: int
    algorithm: str
    config: dict[str, Any]
    settings: dict[str, Any]
    versions: dict[str, str]
    status: str
    changes: list[Any]
    documents_seen: int
    documents_total: int
    seconds: float
    heldout: float | None
    num_topics: int
    topic_names: dict[str, str]
    sweep: str = ""
    topic_labels: dict[str, str] = field(default_factory=dict)
    quality: dict[str, float] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The name of the run; without one, its label."""
        return self.name or self.label


# What `isinstance` takes: dict for dict[str, Any].
FIELD_TYPES = {
    name: get_origin(hint) if isinstance(hint, GenericAlias) else hint
    for name, hint in get_type_hints(KeptRun).items()
}


@dataclass(frozen=True, eq=False)
class KeptContent:
    """Curves of a kept run and its U topics in use, largest first.

    weights: (U,) shares of the expected tokens. words: those that any topic lists. top_words: (U,
    N) places in `words` and top_shares: (U, N) their probabilities, most probable first. shares:
    (U,) of all words, as read with the model; NaN where the documents have not been read.
    """

    steps: Curve
    heldout: Curve
    next_batch: Curve
    topic_ids: np.ndarray
    weights: np.ndarray
    words: np.ndarray
    top_words: np.ndarray
    top_shares: np.ndarray
    shares: np.ndarray

    @property
    def is_read(self) -> bool:
        """Whether the shares of all words are known."""
        return not np.isnan(self.shares).any()

    @property
    def sizes(self) -> np.ndarray:
        """The shares of the topics (U,); their weights where the documents have not been read."""
        return self.shares if self.is_read else self.weights


class Size(NamedTuple):
    """Bytes on disk of a kept run: of its curves and topics, and of its model; 0 if it has none."""

    results: int
    model: int


@dataclass(frozen=True)
class Listing:
    """The kept runs, newest first, a sentence for each bad file, and sizes by key."""

    runs: tuple[KeptRun, ...] = ()
    faults: tuple[str, ...] = ()
    sizes: Mapping[str, Size] = field(default_factory=dict, compare=False)


class KeptRuns:
    """The kept runs of a user, for any thread; `version` grows with each change."""

    def __init__(self, folder: str | PathLike[str]):
        self._shelf = Shelf(folder, KEPT_RUN, ".npz", "A run could not be kept")
        self._models = Shelf(folder, KEPT_RUN, MODEL_SUFFIX, "A run could not be kept")
        self._lock = threading.RLock()
        self._known: dict[str, tuple[int, KeptRun | str]] = {}
        self._refusals: tuple[str, ...] = ()
        self.version = 0

    def listing(self) -> Listing:
        """List the kept runs, newest first; a damaged file is skipped and named."""
        with self._lock:
            found = [self._look(path) for path in sorted(self._shelf.list_newest(), reverse=True)]
        runs = tuple(run for run in found if isinstance(run, KeptRun))
        faults = [fault for fault in reversed(found) if isinstance(fault, str)]
        return Listing(
            runs=runs,
            faults=(*self._refusals, *faults),
            sizes={run.key: self._measure(run.key) for run in runs},
        )

    def keep(
        self,
        progress: Progress,
        model: Model,
        sweep: str = "",
        key: str = "",
        checkpoint: Checkpoint | None = None,
    ) -> KeptRun | None:
        """Keep a run, under a new key if none is given, and drop the oldest of more than fifty,
        unnamed ones first.

        checkpoint: with it the run can be opened in full and continued. A run that was left before
        its first held-out score is not kept: there is nothing to compare. Raises KeptRunError if it
        cannot be written, which `listing` says too until one can.
        """
        if progress.status != "finished" and not len(progress.heldout):
            return None
        run = replace(describe_run(progress), sweep=sweep, quality=measure_topics(model))
        if key:
            before = self._look(self._shelf.place(key)) if self.has(key) else None
            # A run that was left and has continued since takes the place of what was kept then.
            run = replace(run, key=key, name=before.name if isinstance(before, KeptRun) else "")
        content = take_content(progress, model)
        with self._lock:
            self.version += 1
            try:
                # The model of an earlier state does not belong to these results.
                self._models.remove(run.key)
                self.write(run, content)
                if checkpoint is not None:
                    save(self._models.place(run.key), with_page(checkpoint, kept_key=run.key))
            except FileError as error:
                self._refusals = (str(error),)
                raise
            self._refusals = ()
            # The run is kept even if an older one cannot be removed.
            with suppress(FileError):
                for other in self._rank()[:-MAX_KEPT]:
                    self._remove(other.key)
            fit(self.list_models(), find_limit(KEPT_MODELS))
        return run

    def load_checkpoint(self, key: str) -> Checkpoint:
        """Read the model of a run, with everything that its page showed, and with the present names
        of its topics.

        Raises FileError if it cannot be read, was not kept, or is of another run.
        """
        path = self._models.place(key)
        if not path.exists():
            raise KeptRunError(
                "The model of this run is not on disk: run it again with the same settings."
            )
        run = self._find(key)
        checkpoint = load(path)
        if read_page(checkpoint)["kept_key"] != key:
            raise KeptRunError(
                f"{path} is the model of another run: delete it, or run again with the same"
                " settings."
            )
        names = [(int(topic_id), name) for topic_id, name in run.topic_names.items()]
        return with_page(checkpoint, names=names)

    def list_models(self) -> list[Path]:
        """The files of models in the order of removal: without a name first, the oldest first."""
        with self._lock:
            places = (self._models.place(run.key) for run in self._rank())
            return [place for place in places if place.exists()]

    def _rank(self) -> list[KeptRun]:
        """The runs that can be read, as they are removed."""
        found = [self._look(path) for path in self._shelf.list_newest()]
        runs = [run for run in found if isinstance(run, KeptRun)]
        return sorted(runs, key=lambda run: (bool(run.name), run.key))

    def _remove(self, key: str) -> None:
        """Remove the files of a run, the model first, so that none is left without its run."""
        self._models.remove(key)
        self._shelf.remove(key)

    def load(self, key: str) -> KeptContent:
        """Read the curves and topics of a run. Raises KeptRunError if they cannot be read."""
        with self._shelf.reading(key, expected={"key": key}, has_parts=True) as (_, arrays):
            return _restore(arrays)

    def rename(self, key: str, name: str) -> None:
        """Give a run a name; an empty one removes it. Raises KeptRunError if it cannot be read."""
        self._change(key, name=" ".join(name.split())[:MAX_NAME])

    def _change(self, key: str, shares: np.ndarray | None = None, **values: Any) -> None:
        with self._lock:
            content = self.load(key)
            if shares is not None:
                content = replace(content, shares=shares)
            self.write(replace(self._find(key), **values), content)
            self.version += 1

    def _find(self, key: str) -> KeptRun:
        run = self._look(self._shelf.place(key))
        if isinstance(run, str):
            raise KeptRunError(run)
        return run

    def take_reading(self, key: str, reading: Reading) -> None:
        """Give the topics of a run their shares of all words; a missing run is ignored.

        Its coherence keeps the model's weights of the topics, so that it can be compared with runs
        that were not read. Raises KeptRunError if it cannot be read or written.
        """
        if self.has(key):
            tokens = reading.summary.expected_tokens
            places = [reading.position(topic_id) for topic_id in self.load(key).topic_ids]
            self._change(key, tokens[np.array(places, int)] / max(tokens.sum(), 1e-300))

    def name_topics(self, key: str, names: Mapping[int, str]) -> None:
        """Give the topics of a run these names, by id, in place of earlier ones; a missing run is
        ignored. Raises KeptRunError if it cannot be read or written.
        """
        if self.has(key):
            self._change(key, topic_names=_name_by_text(names))

    def delete(self, key: str) -> None:
        """Remove a run; a missing one is ignored. Raises FileError if it cannot be removed."""
        with self._lock:
            self._remove(key)
            self.version += 1

    def has(self, key: str) -> bool:
        """Whether there is a run of this key."""
        return self._shelf.place(key).exists()

    def _measure(self, key: str) -> Size:
        return Size(results=measure(self._shelf.place(key)), model=measure(self._models.place(key)))

    def _look(self, path: Path) -> KeptRun | str:
        """What a file says of its run, or why not; from memory if it has not changed."""
        try:
            changed_at = path.stat().st_mtime_ns
        except OSError:
            return _read_about(path)
        if self._known.get(path.name, (None,))[0] != changed_at:
            self._known[path.name] = (changed_at, _read_about(path))
        return self._known[path.name][1]

    def write(self, run: KeptRun, content: KeptContent) -> None:
        """Write a run and its content; KeptRunError if there is no room or no right."""
        arrays = {
            f"{name}.{column}": getattr(content, name)[column]
            for name in CURVES
            for column in CURVES[name]
        }
        arrays |= {name: getattr(content, name) for name in (*TOPIC_ARRAYS, SHARES)}
        self._shelf.write(run.key, asdict(run), arrays, packs=True)


def make_key(now: datetime | None = None) -> str:
    """Draw a key for a run that is kept now; keys in order are runs in order."""
    return f"{now or datetime.now(UTC):%Y%m%dT%H%M%S%f}-{secrets.token_hex(4)}"


def describe_run(progress: Progress) -> KeptRun:
    """Describe a run as one row of the table."""
    now = datetime.now(UTC)
    heldout = progress.heldout["nats_per_word"]
    moment = None if has_no_topic(progress) else progress.now
    return KeptRun(
        key=make_key(now),
        kept_at=now.isoformat(timespec="seconds"),
        name="",
        label=progress.label,
        corpus_name=progress.corpus_name,
        corpus_size=int(progress.corpus_size),
        algorithm=progress.algorithm,
        config=asdict(progress.config) if progress.config else {},
        settings=asdict(progress.settings or RunSettings()),
        versions=dict(find_versions()),
        status=progress.status,
        changes=[[int(mark.documents_seen), mark.text] for mark in progress.marks],
        documents_seen=int(progress.documents_seen),
        documents_total=int(progress.documents_total),
        seconds=progress.seconds,
        heldout=float(heldout[-1]) if len(heldout) else None,
        num_topics=int(moment.num_topics) if moment is not None else 0,
        topic_names=_name_by_text(progress.names),
        topic_labels={str(topic_id): label for topic_id, label in progress.labels.items()},
    )


def measure_topics(model: Model) -> dict[str, float]:
    """Coherence, exclusivity and diversity of a model's topics; empty if none is in use."""
    summary = model.algorithm.summarize(model.config, model.state)
    used = rank_topics(summary.expected_tokens)
    if not len(used):
        return {}
    tokens = summary.expected_tokens[used]
    quality = measure_quality(
        summary.topic_ids[used], summary.topics[used], tokens, model.corpus.counts
    )
    return sum_up(quality)._asdict()


def take_content(progress: Progress, model: Model) -> KeptContent:
    """Take the curves of a run, and the fifty most probable words of each topic in use."""
    summary = model.algorithm.summarize(model.config, model.state)
    tokens = np.asarray(summary.expected_tokens, np.float64)
    used = rank_topics(tokens)
    topics = np.asarray(summary.topics)[used]
    best = find_top_words(topics, NUM_KEPT_WORDS)
    listed, places = np.unique(best, return_inverse=True)
    return KeptContent(
        steps=progress.steps,
        heldout=progress.heldout,
        next_batch=progress.next_batch,
        topic_ids=np.asarray(summary.topic_ids)[used],
        weights=tokens[used] / max(tokens.sum(), 1e-300),
        words=np.array([model.corpus.vocabulary[int(word)] for word in listed], dtype=np.str_),
        top_words=places.reshape(best.shape).astype(np.int32),
        top_shares=np.take_along_axis(topics, best, 1).astype(np.float32),
        shares=np.full(len(used), np.nan),
    )


@cache
def find_versions() -> Mapping[str, str]:
    """Versions of the packages that decide a result."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return MappingProxyType(found)


def _name_by_text(names: Mapping[int, str]) -> dict[str, str]:
    """The names that are not empty, with ids as text, as in JSON."""
    return {str(topic_id): name for topic_id, name in names.items() if name}


def _read_about(path: Path) -> KeptRun | str:
    try:
        header = read_header(path, KEPT_RUN)
        with reading(path, KEPT_RUN):
            # Files of the first format have it in an array.
            about = dict(header.about or json.loads(str(read_parts(path, KEPT_RUN)[1]["about"])))
            if not header.format and about.pop("format") != LAST_WITHOUT_HEADER:
                raise ValueError("another format")
            if header.about and about["key"] != path.stem:
                raise ValueError("the file was renamed")
            named = {name: with_new_names(about[name]) for name in ("config", "settings")}
            run = KeptRun(**about | named | {"key": path.stem})
            if not all(isinstance(getattr(run, name), kind) for name, kind in FIELD_TYPES.items()):
                raise ValueError("a field of another type")
    except KeptRunError as error:
        _log.warning("%s", error)
        return (
            f"The kept run {path.name} cannot be read and is not listed: delete the file in"
            f" {path.parent}."
        )
    return run


def _restore(file: Mapping[str, Any]) -> KeptContent:
    curves = {}
    for name, dtypes in CURVES.items():
        columns = {
            column: file[f"{name}.{column}"].astype(dtype, copy=False)
            for column, dtype in dtypes.items()
        }
        if len({column.shape for column in columns.values()}) != 1:
            raise ValueError(f"columns of {name} differ in length")
        freeze(columns.values())
        curves[name] = Curve(MappingProxyType(columns))
    arrays = {name: file[name] for name in TOPIC_ARRAYS}
    arrays[SHARES] = file.get(SHARES, np.full(len(arrays["topic_ids"]), np.nan))
    content = KeptContent(**curves, **arrays)  # type: ignore[arg-type]  # the keys decide the types
    top_words = content.top_words
    lengths = {array.shape for array in (content.topic_ids, content.weights, content.shares)}
    if lengths != {top_words.shape[:1]} or content.top_shares.shape != top_words.shape:
        raise ValueError("topics and their words differ in number")
    if not np.isin(top_words, np.arange(len(content.words))).all():
        raise ValueError("a word is missing")
    return content
