"""Files and folders that are written completely or not at all, even if the machine or its disk
fails meanwhile.
"""

import os
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedRandom
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from stickbreaker.engine.files.messages import explain_error

try:
    import fcntl
except ImportError:  # Windows, where a file that is open cannot be deleted.
    fcntl = None  # type: ignore[assignment]

PARTIAL = ".partial"
STALE_SECONDS = 86_400
# A process that has just ended its work may hold a name a little longer.
CLAIM_TRIES = 10
CLAIM_SECONDS = 0.1


class FileError(OSError, ValueError):
    """A file cannot be read or written; the message names the file and the remedy."""


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Give a new binary file.

    If the block ends without an error, it is on disk and replaces `path`.

    A new file has the user's usual permissions, unlike those of `tempfile`; one that is replaced
    keeps its own. First, leftovers of interrupted writes in the folder are removed. Raises
    FileError if the file cannot be written; `path` is then as before.
    """
    with _refusing(path):
        if not path.parent.is_dir():
            raise FileError(
                f"There is no folder {path.parent.absolute()}: create it, or choose another one."
            )
        if path.is_dir():
            raise FileError(f"{path} is a folder: give the name of a file in it.")
        remove_leftovers(path.parent)
        work, file = _claim_file(path.parent)
        try:
            with file:
                with suppress(FileNotFoundError, PermissionError):
                    os.chmod(work, stat.S_IMODE(path.stat().st_mode))
                yield file
                sync(file)
                if fcntl is None:
                    file.close()
                # The claim ends after the replacement, so that no other process takes the file for
                # a leftover.
                os.replace(work, path)
            sync_folder(path.parent)
        finally:
            with suppress(OSError):
                work.unlink(missing_ok=True)


def find_new_folder(path: str | os.PathLike[str]) -> Path:
    """The absolute path of a folder to make; FileError if it exists or cannot be made."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"The folder is {path!r:.80}: give the path of the folder to make.")
    if not os.fspath(path):
        raise FileError("The path of the folder is empty: give the folder to make.")
    if "://" in os.fspath(path):
        raise FileError(
            f"Cannot write to the address {path}: name a folder of this machine, and copy it from"
            " there."
        )
    folder = Path(path).expanduser().absolute()
    with _refusing(folder):
        if folder.exists():
            raise FileError(f"{folder} already exists: delete it, or choose another folder.")
    return folder


@contextmanager
def building(path: Path) -> Iterator[Path]:
    """Give a new folder.

    If the block ends without an error, it is on disk and becomes `path`, which must not exist.

    Write the files in it with `open_synced`. Raises FileError if the folder cannot be written;
    nothing is left then.
    """
    with _refusing(path), unfinished_folder(path.parent) as work:
        yield work
        sync_folder(work)
        os.rename(work, path)
        sync_folder(path.parent)


@contextmanager
def unfinished_folder(parent: Path) -> Iterator[Path]:
    """A new folder in `parent`, which is removed at the end, or by the next writer."""
    parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(parent)
    work, claim = _claim_folder(parent)
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
        if claim is not None:
            os.close(claim)


def move_files(work: Path, folder: Path, last: str) -> None:
    """Move all files of a finished folder into another one.

    The one called `last` is moved when the others are on disk.

    Raises OSError; some files may have been moved then.
    """
    for path in sorted(work.iterdir(), key=lambda path: path.name == last):
        if path.name == last:
            sync_folder(folder)
        os.replace(path, folder / path.name)
    sync_folder(folder)


@contextmanager
def open_synced(path: Path) -> Iterator[BinaryIO]:
    """Give a new binary file at `path`, which is on disk when the block ends."""
    with open_new(path) as file:
        yield file
        sync(file)


def open_new(path: Path) -> BufferedRandom:
    """Open a file that does not exist yet; all files of this module come from here."""
    return path.open("x+b")


def sync(file: BinaryIO) -> None:
    """Wait until the content of a file is on disk."""
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on disk, on systems that can."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_folder(path: Path) -> None:
    """Remove a folder, which other processes find whole or not at all."""
    with _refusing(path):
        gone = _partial(path.parent)
        os.rename(path, gone)
        shutil.rmtree(gone, ignore_errors=True)


def remove_file(path: Path) -> None:
    """Remove a file; a missing one is ignored. Raises FileError if that is not allowed."""
    try:
        path.unlink()
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise FileError(
            f"Cannot remove {path} ({explain_error(error)}): check the permissions of its folder."
        ) from error


def make_folder(folder: Path, failure: str, error: type[ValueError]) -> None:
    """Make a folder and its parents. failure: for a message, as "A run cannot be saved"."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        remedy = "free some space there, or make the folder writable"
        raise error(f"{failure} in {folder} ({explain_error(fault)}): {remedy}.") from fault


def remove_leftovers(folder: Path) -> None:
    """Remove the unfinished files and folders of writers that no longer run."""
    try:
        places = [Path(entry.path) for entry in os.scandir(folder) if entry.name.endswith(PARTIAL)]
    except OSError:
        return
    for place in places:
        with suppress(OSError):
            if place.name.startswith("."):
                _remove_abandoned(place)


class Claim:
    """A name in a folder that one process has until `close`, or until it ends.

    `remove_leftovers` then removes it.
    """

    def __init__(self, path: Path | None = None, file: BinaryIO | None = None) -> None:
        self._path = path
        self._file = file

    def close(self) -> None:
        """Let other processes have the name."""
        if self._path is None or self._file is None:
            return
        # Removed under the lock, so that no other process has taken it yet.
        with suppress(OSError):
            self._path.unlink()
        self._file.close()
        self._path = self._file = None


def claim(folder: Path, name: str) -> Claim | None:
    """Claim a name in a folder for this process.

    None if another one has it. Without locks, several can.

    Raises OSError if the folder cannot be written.
    """
    path = folder / f".{name}{PARTIAL}"
    for _ in range(CLAIM_TRIES):
        file = path.open("ab")
        try:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Another process may have removed the file before it was locked.
            if path.exists() and os.path.samestat(path.stat(), os.fstat(file.fileno())):
                return Claim(path, file)
        except BlockingIOError:
            time.sleep(CLAIM_SECONDS)
        except OSError:
            return Claim(path, file)
        file.close()
    return None


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Turn the system's errors into one that names the file and the remedy."""
    if "\0" in str(path):
        raise FileError(f"Cannot write {str(path)!r}: choose a name without a NUL character.")
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        advice = "check the free space and the permissions, or choose another folder"
        raise FileError(f"Cannot write {path} ({explain_error(error)}): {advice}.") from error


def _partial(folder: Path) -> Path:
    return folder / f".{uuid4().hex}{PARTIAL}"


def _claim_file(folder: Path) -> tuple[Path, BufferedRandom]:
    """Open a new file under a lock, which the system releases when this process ends."""
    while True:
        work = _partial(folder)
        file = open_new(work)
        if fcntl is not None:
            with suppress(OSError):  # Some network file systems have no locks.
                fcntl.flock(file, fcntl.LOCK_EX)
        # Another process may have removed the file before it was locked.
        if work.exists():
            return work, file
        file.close()


def _claim_folder(folder: Path) -> tuple[Path, int | None]:
    """Make a new folder under a lock, where the system can."""
    while True:
        work = _partial(folder)
        work.mkdir()
        if fcntl is None:
            return work, None
        with suppress(FileNotFoundError):
            descriptor = os.open(work, os.O_RDONLY)
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            # Another process may have removed the folder before it was locked.
            if work.exists():
                return work, descriptor
            os.close(descriptor)


def _remove_abandoned(place: Path) -> None:
    """Remove a partial file that no process locks; without locks, one that is a day old."""
    is_abandoned = time.time() - place.stat().st_mtime > STALE_SECONDS
    descriptor = None if fcntl is None else os.open(place, os.O_RDONLY)
    try:
        if descriptor is not None:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                is_abandoned = True
            except BlockingIOError:
                is_abandoned = False
            except OSError:
                pass  # Some network file systems have no locks.
        # The lock is held during the removal, so that a writer that waits for it finds the file
        # removed.
        if is_abandoned and place.is_dir():
            shutil.rmtree(place)
        elif is_abandoned:
            place.unlink()
    finally:
        if descriptor is not None:
            os.close(descriptor)
