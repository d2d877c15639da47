"""Uploads: files that a browser sends in parts, kept in a folder that is removed with the page."""

import base64
import binascii
import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from stickbreaker.app.model import limits
from stickbreaker.engine.corpora.rows import CorpusError

MAX_FILES = 2_000
MAX_NAME = 150
MAX_DEPTH = 8
# The largest whole number of a browser.
MAX_SIZE = 2**53
# Below the limit of a websocket message (20 MB), and short enough that clicks are not delayed.
PART_BYTES = 393_216


LARGE = (
    "The files take at least {}, but the limit of an upload is {} (STICKBREAKER_UPLOAD): pack them"
    " into a zip, take a sample, or give a path on the server's machine."
)
MUCH_OF_USER = (
    "Your uploads would take {}, but the limit for each user is {} (5 times STICKBREAKER_UPLOAD): "
    "close another page with an upload."
)
MUCH = (
    "The uploads of all users would take {}, but this server allows {} (20 times"
    " STICKBREAKER_UPLOAD): try again when other users have closed their pages."
)


class UploadSpace:
    """The bytes of the uploads that the server holds, by user; None without logins."""

    def __init__(self) -> None:
        self.used: Counter[str | None] = Counter()

    def check(self, user: str | None, own: int, more: int) -> None:
        """Raise LimitReachedError if more bytes for an upload of `own` bytes are too many."""
        _check(own + more, limits.UPLOAD, LARGE)
        if user is not None:
            _check(self.used[user] + more, limits.UPLOADS_PER_USER, MUCH_OF_USER)
        _check(self.used.total() + more, limits.ALL_UPLOADS, MUCH)


def _check(needed: int, limit: limits.Limit, message: str) -> None:
    if needed > (allowed := limits.find_limit(limit)):
        raise limits.LimitReachedError(
            limit, message.format(limits.write_bytes(needed), limits.write_bytes(allowed))
        )


SPACE = UploadSpace()


class Upload:
    """The files of one upload. `begin` removes the earlier ones.

    `end` returns the folder, or the only file in it.

    user: whose upload it is; None without logins.
    """

    def __init__(self, user: str | None = None) -> None:
        self._user = user
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
            raise CorpusError("Upload failed: try again with fewer nested folders.")
        if not isinstance(size, int) or not 0 <= size <= MAX_SIZE:
            raise CorpusError(
                "Upload failed because the size of the file is not known: choose it again."
            )
        place = Path(_check_name(name))
        inside = self.folder.joinpath(*(_check_name(folder)[:MAX_NAME] for folder in folders))
        self._num_files += 1
        if self._num_files > MAX_FILES:
            raise CorpusError(f"There are more than {MAX_FILES:,} files: pack them into one zip.")
        SPACE.check(self._user, self._num_bytes, size)
        inside.mkdir(parents=True, exist_ok=True)
        self._file = (inside / (place.stem[: MAX_NAME - len(place.suffix)] + place.suffix)).open(
            "wb"
        )

    def add(self, part: str) -> None:
        """Append a part, in base64; CorpusError if it is damaged or too large."""
        try:
            content = base64.b64decode(part, validate=True)
        except (binascii.Error, ValueError, TypeError) as error:
            raise CorpusError(
                "Part of the file was damaged during the upload: try again."
            ) from error
        if self._file is None:
            raise CorpusError("Upload failed: try again.")
        SPACE.check(self._user, self._num_bytes, len(content))
        self._num_bytes += len(content)
        SPACE.used[self._user] += len(content)
        self._file.write(content)

    def end(self) -> Path:
        """Where the files are: the only one, or the innermost folder of all."""
        self._close()
        if self.folder is None or not self._num_files:
            raise CorpusError("No file was received: choose one.")
        folder = self.folder
        found = list(folder.iterdir())
        while len(found) == 1 and found[0].is_dir():
            folder = found[0]
            found = list(folder.iterdir())
        return (
            found[0] if len(found) == 1 and found[0].suffix.lower() not in ("", ".txt") else folder
        )

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def clear(self) -> None:
        """Remove the files."""
        # Closing writes what is left of a part, for which a full disk has no room.
        with suppress(OSError):
            self._close()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.folder = None
        SPACE.used[self._user] -= self._num_bytes
        self._num_bytes = 0
        self._num_files = 0


def _check_name(path: str) -> str:
    """Return the last part of a path. Raises CorpusError if it cannot be the name of a file."""
    name = Path(str(path).replace("\\", "/")).name
    if not name.strip(". ") or not name.isprintable():
        raise CorpusError(f"{name[:MAX_NAME]!r} is not a valid file name: rename the file.")
    return name
