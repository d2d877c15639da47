"""Runs that can be continued after a crash or a restart: one checkpoint file for each address."""

import json
import logging
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np

from stickbreaker.app.model.limits import SAVED_RUNS
from stickbreaker.app.model.shelf import Shelf, hash_name
from stickbreaker.engine.files.verified_files import reading
from stickbreaker.engine.files.whole_files import Claim
from stickbreaker.engine.runs import checkpoint
from stickbreaker.engine.runs.checkpoint import CHECKPOINT, Checkpoint, CheckpointError

# A saved run is a checkpoint with the address and what its page shows.
SAVED_RUN = replace(CHECKPOINT, remedy="start the run again")

_log = logging.getLogger(__name__)


class Address(NamedTuple):
    """Of a run. key: for those who control it; watch: of the link to watch it; user: its owner.

    The owner is None without logins.
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
    """A run on disk, with the parts of its address."""

    key: str
    watch: str
    user: str | None
    checkpoint: Checkpoint

    @property
    def address(self) -> Address:
        return Address(key=self.key, watch=self.watch, user=self.user)


class SavedRuns:
    """The runs of one user that can be continued, as many as `Shelf.keep_newest` keeps.

    The name of a file has digests of the key and of the watch token, so that a list of the folder
    reveals neither.
    """

    def __init__(self, folder: str | PathLike[str]):
        self._shelf = Shelf(folder, SAVED_RUN, ".npz", "A run cannot be saved", SAVED_RUNS)

    def write(self, run: SavedRun) -> None:
        """Save a run in place of an earlier state; CheckpointError if it cannot be written."""
        self._shelf.make_folder()
        about = json.dumps(run.address._asdict())
        notes = {**run.checkpoint.notes, "address": np.array(about)}
        checkpoint.save(self._shelf.place(run.address.file_name), run.checkpoint.with_notes(notes))
        self._shelf.keep_newest()

    def locate(self, key: str | None = None, watch: str | None = None) -> Path | None:
        """The file of the run with this watch token or, without one, with this key; or None."""
        pattern = f"{hash_name(key or '')}-*" if watch is None else f"*-{hash_name(watch)}"
        return next(
            (each for each in self._shelf.list_newest() if each.match(f"{pattern}.npz")), None
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
        try:
            if (path := self.locate(key, watch)) is not None:
                return self.load(path)
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
