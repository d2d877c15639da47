"""Files that are verified when they are read: a header with a version, and the SHA-256 of it and of
every part.

A file is a zip of parts with a header. A folder is a header and one file for each part. Both are
written completely or not at all. Every fault is one error with one sentence, which names the file
and the remedy.
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from stickbreaker.engine.files.messages import explain_error
from stickbreaker.engine.files.whole_files import FileError, replacing

HEADER = "header.json"
ARRAY = ".npy"


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    name: in messages ("checkpoint"). format: the version of the format that is written; newer ones
    cannot be read. remedy: what a user can do if a file cannot be read. error: the exception that
    is raised then.
    """

    name: str
    format: int
    remedy: str
    error: type[ValueError] = FileError


@dataclass(frozen=True)
class FileHeader:
    """The description of a file, and the SHA-256 of each part.

    A file without a header has format 0 and no parts.
    """

    format: int = 0
    about: Mapping[str, Any] | None = None
    parts: Mapping[str, str] | None = None


def write_parts(
    path: Path, kind: Kind, about: Mapping[str, Any], parts: Mapping[str, Any], packs: bool = False
) -> None:
    """Write a description and parts, which are arrays or bytes, to one file.

    Raises the error of `kind`.

    numpy reads the arrays too. packs: whether they are compressed.
    """
    method = zipfile.ZIP_DEFLATED if packs else zipfile.ZIP_STORED
    try:
        with replacing(path) as file, zipfile.ZipFile(file, "w", method) as archive:
            digests = dict(_write_part(archive, name, part) for name, part in parts.items())
            archive.writestr(HEADER, _dump(kind, about, digests))
    except FileError as error:
        raise kind.error(str(error)) from error


def read_parts(path: Path, kind: Kind) -> tuple[FileHeader, dict[str, Any]]:
    """Read a file that `write_parts` wrote and verify it: its header, and its parts by name.

    Raises the error of `kind` if the file is missing, damaged, of another kind or newer than this
    version. Files of earlier versions have no header: their arrays are read, and the caller judges
    them.
    """
    with reading(path, kind), _open_archive(path) as archive:
        header = _find_header(archive, kind)
        return header, dict(
            _read_part(archive, name, header) for name in archive.namelist() if name != HEADER
        )


def read_header(path: Path, kind: Kind) -> FileHeader:
    """Read and verify the header of a file only. Raises as `read_parts` does."""
    with reading(path, kind), _open_archive(path) as archive:
        return _find_header(archive, kind)


def seal_folder(
    folder: Path, name: str, kind: Kind, about: Mapping[str, Any], parts: Sequence[str]
) -> None:
    """Write the header of the finished files `parts` of a folder to the file `name` in it."""
    digests = {part: _digest_file(folder / part) for part in parts}
    with replacing(folder / name) as file:
        file.write(_dump(kind, about, digests).encode())


def read_seal(path: Path, kind: Kind) -> FileHeader:
    """Read and verify the header of a folder; an unsealed JSON object has format 0."""
    with reading(path, kind):
        found = json.loads(path.read_text(encoding="utf-8"))
        if "sha256" not in found:
            return FileHeader(about=dict(found))
        return _check_header(found, kind)


def verify_part(path: Path, header: FileHeader, kind: Kind) -> None:
    """Compare a file of a folder with its header.

    A file that has not changed since is not read again.

    Raises the error of `kind` if they differ. Nothing is known of the files of earlier versions.
    """
    if header.parts is None:
        return
    with reading(path, kind):
        if not path.is_file():
            raise ValueError("the file is missing")
        found = path.stat()
        if (
            digest_once(path, (found.st_ino, found.st_size, found.st_mtime_ns))
            != header.parts[path.name]
        ):
            raise ValueError("its SHA-256 differs")


@contextmanager
def reading(path: Path, kind: Kind) -> Iterator[None]:
    """Turn every error of a block that reads `path` into the error of `kind`."""
    try:
        yield
    except kind.error:
        raise
    except FileNotFoundError:
        raise kind.error(f"There is no {kind.name} at {path}: check the path.") from None
    except IsADirectoryError:
        raise kind.error(
            f"{path.absolute()} is a folder: give the path of a {kind.name}."
        ) from None
    # Damaged files raise errors of all kinds, in zipfile, zlib, struct, json, numpy and pyarrow.
    except Exception as error:
        raise kind.error(
            f"{path} is not a complete {kind.name} ({explain_error(error)}): {kind.remedy}."
        ) from error


def _dump(kind: Kind, about: Mapping[str, Any], digests: Mapping[str, str]) -> str:
    header = {"kind": kind.name, "format": kind.format, "about": about, "parts": digests}
    # What JSON cannot tell apart, such as tuples and lists, must not change the digest.
    header = json.loads(json.dumps(header, default=_plain))
    return json.dumps({**header, "sha256": _digest_header(header)}, indent=1)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)


def _digest_header(header: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(header, sort_keys=True).encode()).hexdigest()


def _check_header(found: dict[str, Any], kind: Kind) -> FileHeader:
    if found.pop("sha256") != _digest_header(found):
        raise ValueError("the SHA-256 of its header differs")
    if found["kind"] != kind.name:
        raise ValueError(f"it is a {found['kind']}")
    if found["format"] > kind.format:
        raise ValueError(
            f"it is of format {found['format']}, which needs a newer version of Stickbreaker"
        )
    return FileHeader(format=found["format"], about=found["about"], parts=found["parts"])


@contextmanager
def _open_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    with path.open("rb") as file:
        if not zipfile.is_zipfile(file):
            raise ValueError(
                "it is not an .npz file" if path.suffix == ".npz" else "it is not a zip file"
            )
        with zipfile.ZipFile(file) as archive:
            yield archive


def _find_header(archive: zipfile.ZipFile, kind: Kind) -> FileHeader:
    names = archive.namelist()
    if HEADER not in names:
        return FileHeader()
    header = _check_header(json.loads(archive.read(HEADER)), kind)
    if sorted(names) != sorted([*(header.parts or ()), HEADER]):
        raise ValueError("parts of it are missing")
    return header


def _write_part(archive: zipfile.ZipFile, name: str, part: Any) -> tuple[str, str]:
    if not isinstance(part, bytes):
        name += ARRAY
    with archive.open(name, "w", force_zip64=True) as file:
        hashing = _Hashing(file)
        if isinstance(part, bytes):
            hashing.write(part)
        else:
            np.lib.format.write_array(hashing, np.asarray(part), allow_pickle=False)
    return name, hashing.digest.hexdigest()


def _read_part(archive: zipfile.ZipFile, name: str, header: FileHeader) -> tuple[str, Any]:
    content = archive.read(name)
    if header.parts is not None and hashlib.sha256(content).hexdigest() != header.parts[name]:
        raise ValueError(f"the SHA-256 of its part {name} differs")
    if not name.endswith(ARRAY):
        return name, content
    return name.removesuffix(ARRAY), np.lib.format.read_array(
        io.BytesIO(content), allow_pickle=False
    )


class _Hashing:
    """Passes writes on and hashes them."""

    def __init__(self, file: Any):
        self.digest = hashlib.sha256()
        self._file = file

    def write(self, content: Any) -> int:
        self.digest.update(content)
        return int(self._file.write(content))


def _digest_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@lru_cache(maxsize=256)
def digest_once(path: Path, stamp: tuple[int, int, int]) -> str:
    """The SHA-256 of a file, computed again only after the file has changed."""
    return _digest_file(path)
