"""The model of a stream on disk, and how far the stream has been read."""

from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from stickbreaker.app.model.shelf import Shelf, hash_name
from stickbreaker.engine import OnlineTopicModel
from stickbreaker.engine import load as load_model
from stickbreaker.engine.files.verified_files import Kind
from stickbreaker.engine.files.whole_files import Claim, FileError

DAMAGED = ".damaged"
POSITIONS = Kind(
    name="position of a stream",
    format=1,
    remedy="delete it; the stream is then read from its start",
)


class SavedStream:
    """The model and the position of one stream, in two files of a folder.

    names: what tells the stream from others, such as its path. The positions are written first,
    that of the model on disk and that of the new one, so that a crash between the two files leaves
    a model with its position. Only one process saves a stream, from its first `save` to `close`.
    """

    def __init__(self, folder: Path, *names: str):
        self._shelf = Shelf(
            folder, POSITIONS, ".position", "The model of the stream cannot be saved"
        )
        self._name = hash_name("\n".join(names))
        self._model = folder / f"{self._name}.npz"
        self._before: dict[str, Mapping[str, Any]] = {}
        self._claim: Claim | None = None

    def save(self, model: OnlineTopicModel, position: Mapping[str, Any]) -> None:
        """Save a model and the position after its last document; FileError if it fails."""
        self._shelf.make_folder()
        self._take()
        present = {digest_model(model): position}
        self._shelf.write(self._name, {"stream": self._name, "positions": self._before | present})
        model.save(self._model)
        self._before = present

    def load(self) -> tuple[OnlineTopicModel, Mapping[str, Any]] | None:
        """The model and its position, if saved; FileError if they cannot be read."""
        if not self._model.exists():
            return None
        model = load_model(self._model)
        positions = self._read_positions()
        if not isinstance(model, OnlineTopicModel) or digest_model(model) not in positions:
            raise FileError(
                f"{self._shelf.place(self._name)} does not belong to {self._model}: delete both."
            )
        position = positions[digest_model(model)]
        self._before = {digest_model(model): position}
        return model, position

    def set_aside(self) -> None:
        """Rename a model that could not be read, so that the next one does not replace it."""
        with suppress(OSError):
            self._model.replace(self._model.with_suffix(DAMAGED))

    def close(self) -> None:
        """Let other processes save the stream."""
        if self._claim is not None:
            self._claim.close()

    def _take(self) -> None:
        """Claim the files for this process."""
        if self._claim is not None:
            return
        try:
            self._claim = self._shelf.claim(self._name)
        except OSError as error:
            raise FileError(
                f"Cannot write {self._shelf.folder} ({error.strerror}): make it writable."
            ) from error
        if self._claim is None:
            raise FileError(
                f"Another server saves the model of this stream in {self._shelf.folder}: stop it,"
                " or set STICKBREAKER_DATA."
            )
        # Another process may have saved since `load`: its model is on disk until `save` has
        # replaced it.
        with suppress(FileError):
            self._before = {**self._before, **self._read_positions()}

    def _read_positions(self) -> Mapping[str, Any]:
        """This stream's positions by the digests of their models; None if of another stream."""
        with self._shelf.reading(self._name, expected={}) as (about, _):
            found = {about["stream"]: about["positions"]}
            return dict(found.get(self._name, {}))


def digest_model(model: OnlineTopicModel) -> str:
    """What tells a model from that of another stream, and from itself after the next mini-batch."""
    components = np.ascontiguousarray(model.components_).data
    return f"{model.documents_seen_} {sha256(components).hexdigest()}"
