"""Files on their way from a browser, a part at a time, into a folder that goes with the page."""

import base64
import binascii
import shutil
import tempfile
from pathlib import Path
from typing import BinaryIO

from stickbreaker.engine.corpora.corpus import CorpusError

MAX_UPLOAD_BYTES = 200_000_000
MAX_FILES = 2_000
MAX_NAME = 150
# Below what a websocket takes at once (20 MB), and short enough that nobody waits for it.
PART_BYTES = 393_216


class Upload:
    """Files of one choice. `begin` clears those before; `end` gives the folder, or the only file in it."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._file: BinaryIO | None = None
        self._num_bytes = self._num_files = 0

    def begin(self) -> None:
        """Make room for new files."""
        self.clear()
        self._folder = Path(tempfile.mkdtemp(prefix="stickbreaker-"))

    def open(self, name: str, size: int) -> None:
        """Begin a file. Raises CorpusError where it would be too large, or has no name."""
        self._close()
        name = Path(str(name).replace("\\", "/")).name
        if self._folder is None or not name.strip(". ") or not name.isprintable():
            raise CorpusError(f"{name[:MAX_NAME]!r} is no name for a file: rename it.")
        self._num_files += 1
        if self._num_files > MAX_FILES:
            raise CorpusError(f"These are more than {MAX_FILES:,} files: pack them into one zip.")
        self._check(int(size))
        place = Path(name)
        self._file = (self._folder / (place.stem[: MAX_NAME - len(place.suffix)] + place.suffix)).open("wb")

    def add(self, part: str) -> None:
        """Append a part, in base64. Raises CorpusError where it is none or one too many."""
        try:
            content = base64.b64decode(part, validate=True)
        except (binascii.Error, ValueError, TypeError) as error:
            raise CorpusError("A part of the file was damaged on its way: choose the file again.") from error
        if self._file is None:
            raise CorpusError("The file came apart on its way: choose it again.")
        self._check(len(content))
        self._num_bytes += len(content)
        self._file.write(content)

    def _check(self, more: int) -> None:
        if self._num_bytes + more > MAX_UPLOAD_BYTES:
            raise CorpusError(
                f"This is more than {MAX_UPLOAD_BYTES / 1e6:,.0f} MB, the most that can be dropped here: pack it into a"
                " zip, take a sample of it, or name a path on the server's machine."
            )

    def end(self) -> Path:
        """Where the files are: the only one, or their folder."""
        self._close()
        if self._folder is None or not self._num_files:
            raise CorpusError("No file has come: choose one.")
        files = list(self._folder.iterdir())
        return files[0] if len(files) == 1 and files[0].suffix.lower() not in ("", ".txt") else self._folder

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def clear(self) -> None:
        """Remove what has come."""
        self._close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._folder, self._num_bytes, self._num_files = None, 0, 0
