"""Readings on disk: the topic shares of all documents, and what other runs say of the model; both
found again by their model and corpus.
"""

import logging
from contextlib import suppress
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from stickbreaker.app.model.limits import SAVED_READINGS
from stickbreaker.app.model.other_runs import OtherRuns
from stickbreaker.app.model.shelf import Shelf
from stickbreaker.engine.evaluation.found_again import FoundAgain
from stickbreaker.engine.files.verified_files import Kind
from stickbreaker.engine.files.whole_files import FileError
from stickbreaker.engine.runs import checkpoint
from stickbreaker.engine.runs.checkpoint import (
    Checkpoint,
    CheckpointError,
    fingerprint,
    flatten,
)

if TYPE_CHECKING:
    from stickbreaker.app.model.reading import Model

PARTS = ("data", "indices", "indptr")
READING = Kind(name="reading", format=1, remedy="delete it; the corpus is read again")
OTHER_RUNS = Kind(name="file of other runs", format=1, remedy="delete it; make the runs again")

_log = logging.getLogger(__name__)


class SavedReadings:
    """The readings of one user, the newest ones up to the limit `SAVED_READINGS`.

    A file has the digest of its model and corpus as its name, so that every run with this model
    finds it.
    """

    def __init__(self, folder: str | PathLike[str]):
        failure = "A reading cannot be saved"
        self._shelf = Shelf(folder, READING, ".npz", failure, SAVED_READINGS)
        self._of_runs = Shelf(folder, OTHER_RUNS, ".runs", failure)

    def write(self, model: "Model", doc_shares: csr_array) -> None:
        """Save shares (D, K); after a fault, which is logged, the corpus is read again."""
        name = digest_model(model)
        about = {"model": name, "shape": list(doc_shares.shape)}
        try:
            self._shelf.write(name, about, {part: getattr(doc_shares, part) for part in PARTS})
        except FileError as error:
            _log.warning("A reading could not be saved: %s", error)
        self._shelf.keep_newest()

    def find(self, model: "Model") -> csr_array | None:
        """Read the shares (D, K) of this model; None if there are none, or they cannot be read."""
        name = digest_model(model)
        if not self._shelf.has(name):
            return None
        try:
            expected = {"model": name}
            with self._shelf.reading(name, expected, has_parts=True) as (about, parts):
                with suppress(OSError):
                    self._shelf.place(name).touch()
                return csr_array(tuple(parts[each] for each in PARTS), shape=tuple(about["shape"]))
        except FileError as error:
            _log.warning("A saved reading cannot be read and is left out: %s", error)
            return None

    def write_again(self, model: "Model", again: OtherRuns) -> None:
        """Save what other runs say of a model; a fault is logged."""
        name = digest_model(model)
        try:
            parts = again._asdict() | again.found._asdict()
            del parts["found"], parts["consensus"]
            self._of_runs.write(name, {"model": name}, parts, packs=True)
            if again.consensus is not None:
                checkpoint.save(self._place_consensus(name), again.consensus)
                self._shelf.keep_newest()
        except FileError as error:
            _log.warning("Other runs could not be saved: %s", error)
        self._of_runs.keep_newest()

    def find_again(self, model: "Model") -> OtherRuns | None:
        """Read what other runs say of this model; None if there are none that can be read."""
        name = digest_model(model)
        if not self._of_runs.has(name):
            return None
        try:
            with self._of_runs.reading(name, {"model": name}, has_parts=True) as (_, parts):
                found = FoundAgain(**{name: parts.pop(name) for name in FoundAgain._fields})
                return OtherRuns(found=found, **parts, consensus=self._find_consensus(name))
        except FileError as error:
            _log.warning("Saved other runs cannot be read and are left out: %s", error)
            return None

    def _place_consensus(self, name: str) -> Path:
        """The file of a consensus, which takes space like a reading."""
        return self._shelf.place(f"{name}-consensus")

    def _find_consensus(self, name: str) -> Checkpoint | None:
        """The consensus of other runs of a model; None if it was removed or cannot be read."""
        with suppress(CheckpointError):
            return checkpoint.load(self._place_consensus(name))
        return None


def digest_model(model: "Model") -> str:
    """A digest of all that a reading depends on: equal ones give equal shares."""
    digest = sha256(f"{model.algorithm.name} {model.config} {fingerprint(model.corpus)}".encode())
    for name, array in flatten("state", model.state):
        digest.update(
            f"{name} {array.dtype.str} {array.shape}".encode()
            + np.ascontiguousarray(array).tobytes()
        )
    return digest.hexdigest()
