"""Uploads: files that a browser sends in parts, kept in a folder that is removed with the page."""

import base64
import binascii
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from stickbreaker.engine.corpora.corpus import CorpusError

MAX_UPLOAD_BYTES = 200_000_000
MAX_FILES = 2_000
MAX_NAME = 150
MAX_DEPTH = 8
# Below the limit of a websocket message (20 MB), and short enough that clicks are not delayed.
PART_BYTES = 393_216


class Upload:
    """The files of one upload. `begin` removes the earlier ones; `end` returns the folder, or the only file in it."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self._file: BinaryIO | None = None
        self._num_bytes = 0
        self._num_files = 0

    def begin(self) -> None:
        """Remove earlier files and make a folder for new ones."""
        self.clear()
        self.folder = Path(tempfile.mkdtemp(prefix="stickbreaker-"))

    def open(self, name: str, size: int, folders: Sequence[str] = ()) -> None:
        """Begin a file. Raises CorpusError if it would be too large or its name is not valid.

        folders: the names of the folders that it is in, the outermost first.
        """
        self._close()
        if self.folder is None or len(folders) > MAX_DEPTH:
            raise CorpusError("Upload failed: try again with fewer folders inside each other.")
        place = Path(_check_name(name))
        inside = self.folder.joinpath(*(_check_name(folder)[:MAX_NAME] for folder in folders))
        self._num_files += 1
        if self._num_files > MAX_FILES:
            raise CorpusError(f"There are more than {MAX_FILES:,} files: pack them into one zip.")
        self._check_size(int(size))
        inside.mkdir(parents=True, exist_ok=True)
        self._file = (inside / (place.stem[: MAX_NAME - len(place.suffix)] + place.suffix)).open("wb")

    def add(self, part: str) -> None:
        """Append a part, in base64. Raises CorpusError if it is damaged, or the upload becomes too large."""
        try:
            content = base64.b64decode(part, validate=True)
        except (binascii.Error, ValueError, TypeError) as error:
            raise CorpusError("Part of the file was damaged during the upload: try again.") from error
        if self._file is None:
            raise CorpusError("Upload failed: try again.")
        self._check_size(len(content))
        self._num_bytes += len(content)
        self._file.write(content)

    def _check_size(self, more: int) -> None:
        if self._num_bytes + more > MAX_UPLOAD_BYTES:
            raise CorpusError(
                f"The files are larger than {MAX_UPLOAD_BYTES / 1e6:,.0f} MB, the limit of an upload: pack them into a"
                " zip, take a sample, or give a path on the server's machine."
            )

    def end(self) -> Path:
        """Return where the files are: the only file, or the innermost folder that holds all of them."""
        self._close()
        if self.folder is None or not self._num_files:
            raise CorpusError("No file was received: choose one.")
        folder = self.folder
        found = list(folder.iterdir())
        while len(found) == 1 and found[0].is_dir():
            folder = found[0]
            found = list(folder.iterdir())
        return found[0] if len(found) == 1 and found[0].suffix.lower() not in ("", ".txt") else folder

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def clear(self) -> None:
        """Remove the files."""
        self._close()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.folder = None
        self._num_bytes = 0
        self._num_files = 0


def _check_name(path: str) -> str:
    """Return the last part of a path. Raises CorpusError if it cannot be the name of a file."""
    name = Path(str(path).replace("\\", "/")).name
    if not name.strip(". ") or not name.isprintable():
        raise CorpusError(f"{name[:MAX_NAME]!r} is not a valid file name: rename the file.")
    return name
