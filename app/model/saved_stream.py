"""The model of a stream on disk, and how far the stream has been read, so that a restarted server continues."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from stickbreaker.engine import OnlineTopicModel
from stickbreaker.engine import load as load_model
from stickbreaker.engine.files.verified_files import Kind, read_header, write_parts
from stickbreaker.engine.files.whole_files import FileError, make_folder

STREAMS = "streams"
POSITIONS = Kind(name="position of a stream", format=1, remedy="delete it; the stream is then read from its start")


class SavedStream:
    """The model and the position of one stream, in two files of a folder.

    names: what tells the stream from others, such as its path. The positions are written first, that of the model on
    disk and that of the new one, so that a crash between the two files leaves a model with its position.
    """

    def __init__(self, folder: Path, *names: str):
        stem = sha256("\n".join(names).encode("utf-8", "surrogatepass")).hexdigest()[:32]
        self._model, self._positions = folder / f"{stem}.npz", folder / f"{stem}.position"
        self._before: dict[str, Mapping[str, Any]] = {}

    def save(self, model: OnlineTopicModel, position: Mapping[str, Any]) -> None:
        """Save a model, and the position after its last document. Raises FileError if they cannot be written."""
        make_folder(self._model.parent, "The model of the stream cannot be saved", FileError)
        present = {str(model.documents_seen_): position}
        write_parts(self._positions, POSITIONS, {"positions": self._before | present}, {})
        model.save(self._model)
        self._before = present

    def load(self) -> tuple[OnlineTopicModel, Mapping[str, Any]] | None:
        """The model and its position; None if none was saved. Raises ValueError if they cannot be read."""
        if not self._model.exists():
            return None
        model, header = load_model(self._model), read_header(self._positions, POSITIONS)
        positions = (header.about or {}).get("positions", {})
        seen = str(model.documents_seen_)
        if not isinstance(model, OnlineTopicModel) or seen not in positions:
            raise FileError(f"{self._positions} does not belong to {self._model}: delete both.")
        self._before = {seen: positions[seen]}
        return model, positions[seen]
