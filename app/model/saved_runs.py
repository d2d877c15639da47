"""Runs that can be continued after a crash or a restart of the server: one checkpoint file for each
address.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from stickbreaker.app.model.limits import SAVED_RUNS
from stickbreaker.app.model.progress import Mark, Moment
from stickbreaker.app.model.shelf import Shelf, hash_name
from stickbreaker.app.model.word_lists import WordLists
from stickbreaker.engine.files.verified_files import reading
from stickbreaker.engine.files.whole_files import Claim
from stickbreaker.engine.runs import checkpoint
from stickbreaker.engine.runs.checkpoint import CHECKPOINT, Checkpoint, CheckpointError

COLUMN_ARRAYS = ("topic_ids", "weights", "expected_tokens", "top_words")

# A saved run is a checkpoint with the address and what its page shows.
SAVED_RUN = replace(CHECKPOINT, remedy="start the run again")

_log = logging.getLogger(__name__)


class Address(NamedTuple):
    """Of a run. key: for those who control it; watch: of the link to watch it.

    User: its owner, None without logins.
    """

    key: str
    watch: str
    user: str | None

    @property
    def file_name(self) -> str:
        """The name of the run's file: neither the key nor the watch token is in it."""
        return f"{hash_name(self.key)}-{hash_name(self.watch)}"


@dataclass(frozen=True)
class SavedRun:
    """A run on disk. key: of its address; watch: of the link to watch it.

    User: its owner, None without logins.
    """

    key: str
    watch: str
    user: str | None
    checkpoint: Checkpoint

    @property
    def address(self) -> Address:
        return Address(key=self.key, watch=self.watch, user=self.user)


class SavedRuns:
    """The runs of one user that can be continued: the newest twenty, and those of the last day, at
    most two hundred.

    Of these, the oldest are removed if they take more than the limit `SAVED_RUNS`.
    The name of a file has digests of the key and of the watch token, so that a list of the folder
    reveals neither.
    """

    def __init__(self, folder: str | PathLike[str]):
        self._shelf = Shelf(folder, SAVED_RUN, ".npz", "A run cannot be saved", SAVED_RUNS)

    def write(self, run: SavedRun) -> None:
        """Save a run in place of an earlier state; CheckpointError if it cannot be written."""
        self._shelf.make_folder()
        about = json.dumps({"key": run.key, "watch": run.watch, "user": run.user})
        notes = {**run.checkpoint.notes, "address": np.array(about)}
        checkpoint.save(self._shelf.place(run.address.file_name), run.checkpoint.with_notes(notes))
        self._shelf.keep_newest()

    def locate(self, key: str | None = None, watch: str | None = None) -> Path | None:
        """The file of the run with this key or watch token, or None."""
        part, place = (hash_name(key), 0) if key is not None else (hash_name(watch or ""), -1)
        return next(
            (path for path in self._shelf.list_newest() if path.stem.split("-")[place] == part),
            None,
        )

    def load(self, path: Path) -> SavedRun:
        """Read a file; CheckpointError if it is damaged or has another run."""
        saved = checkpoint.load(path, SAVED_RUN)
        with reading(path, SAVED_RUN):
            run = SavedRun(**json.loads(str(saved.notes["address"])), checkpoint=saved)
            if path.stem != run.address.file_name:
                raise ValueError("the file was renamed")
            return run

    def find(self, key: str | None = None, watch: str | None = None) -> SavedRun | None:
        """Read the run with this key or watch token; None if it cannot be read."""
        path = self.locate(key, watch)
        try:
            return None if path is None else self.load(path)
        except CheckpointError as error:
            _log.warning("A saved run cannot be read and is left out: %s", error)
            return None

    def claim(self, name: str) -> Claim | None:
        """Claim a run by the name of its file, without suffix; None if another process has it.

        Nothing is claimed if the folder cannot be written.
        """
        try:
            return self._shelf.claim(name)
        except OSError as error:
            _log.warning("A run could not be claimed: %s", error)
            return Claim()


def write_date(date: Any) -> list[str] | None:
    """Write a date with its unit, as JSON holds it.

    >>> write_date(np.datetime64("1790")), str(read_date(["1790", "Y"]))
    (['1790', 'Y'], '1790')
    """
    return None if date is None else [str(date), np.datetime_data(date)[0]]


def read_date(written: Sequence[str] | None) -> Any:
    """Read what `write_date` wrote."""
    return None if written is None else np.datetime64(*written)


def write_marks(marks: Sequence[Mark]) -> list[Any]:
    """Write marks as JSON holds them."""
    return [[mark.documents_seen, mark.seconds, write_date(mark.date), mark.text] for mark in marks]


def read_marks(written: Sequence[Any]) -> list[Mark]:
    """Read what `write_marks` wrote."""
    return [
        Mark(documents_seen=seen, seconds=seconds, date=read_date(date), text=text)
        for seen, seconds, date, text in written
    ]


def write_columns(columns: Sequence[Moment]) -> tuple[list[Any], dict[str, np.ndarray]]:
    """The columns of the word lists: their numbers for JSON, and their arrays by name."""
    numbers = [[each.documents_seen, write_date(each.date), each.num_topics] for each in columns]
    arrays: dict[str, np.ndarray] = {}
    for place, each in enumerate(columns):
        arrays |= {f"column.{place}.{name}": getattr(each, name) for name in COLUMN_ARRAYS}
        if each.relevant_words is not None:
            arrays[f"column.{place}.relevant_words"] = each.relevant_words
        if each.lists is not None:
            arrays |= {
                f"column.{place}.lists.{name}": array
                for name, array in each.lists._asdict().items()
            }
    return numbers, arrays


def read_columns(numbers: Sequence[Any], arrays: Mapping[str, np.ndarray]) -> list[Moment]:
    """Read what `write_columns` wrote. Raises KeyError if an array is missing."""
    columns = []
    for place, (documents_seen, date, num_topics) in enumerate(numbers):
        own = {name: arrays[f"column.{place}.{name}"] for name in COLUMN_ARRAYS}
        # Files of earlier versions do not have it.
        relevant = arrays.get(f"column.{place}.relevant_words")
        if relevant is not None:
            own["relevant_words"] = relevant
        lists = None
        if f"column.{place}.lists.words" in arrays:
            lists = WordLists(
                **{name: arrays[f"column.{place}.lists.{name}"] for name in WordLists._fields}
            )
        for array in (*own.values(), *(lists or ())):
            array.setflags(write=False)
        columns.append(
            Moment(
                documents_seen=documents_seen,
                date=read_date(date),
                num_topics=num_topics,
                lists=lists,
                **own,
            )
        )
    return columns
