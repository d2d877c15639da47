"""Compressed files, and files in a zip archive, unpacked in memory while they are read."""

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import IO, Any, TypeVar, cast

from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.files.messages import explain_error


def _open_zstd(stream: IO[bytes]) -> IO[bytes]:
    import pyarrow as pa

    return cast(IO[bytes], pa.CompressedInputStream(stream, "zstd"))


MAX_UNPACKED = 2_000_000_000
# Text compresses 3 to 10 times; a zip bomb thousands of times.
MAX_RATIO = 200
RATIO_FROM = 10_000_000
# The compressions of single files, by suffix.
COMPRESSIONS: dict[str, Callable[[IO[bytes]], IO[bytes]]] = {
    ".gz": lambda stream: cast(IO[bytes], gzip.GzipFile(fileobj=stream)),
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
    ".zst": _open_zstd,
}
AnyPath = TypeVar("AnyPath", Path, PurePosixPath)
BROKEN = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, RuntimeError)


def check_unpacked(path: Path, unpacked: int, packed: int) -> None:
    """Raise CorpusError if an unpacked file is too large, or too large for its packed size.

    Sizes are in bytes.
    """
    if unpacked > MAX_UNPACKED:
        raise CorpusError(
            f"{path} unpacks to {unpacked / 1e9:,.1f} GB, more than {MAX_UNPACKED / 1e9:g} GB."
            " Split it."
        )
    check_ratio(path, unpacked, packed)


def check_ratio(path: Path, unpacked: int, packed: int) -> None:
    """Raise CorpusError if an unpacked file is too large for its packed size.

    Sizes are in bytes.
    """
    if unpacked > RATIO_FROM and unpacked > MAX_RATIO * packed:
        raise CorpusError(
            f"{path} unpacks to more than {MAX_RATIO} times its size, which is too much for text."
            " Create it again from text files only, or unpack it first."
        )


def plain_path(path: AnyPath) -> AnyPath:
    """Return a path without the suffix of a compression.

    >>> plain_path(Path("mine.csv.GZ")).name
    'mine.csv'
    """
    return path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path


def open_plain(path: Path, member: str = "") -> Path:
    """Return the file itself, or one with the parts of a `Path` that readers use, if it is
    compressed or a member of a zip archive.
    """
    if member or (path.suffix.lower() in COMPRESSIONS and not path.is_dir()):
        return cast(Path, PackedFile(path, member))
    return path


class PackedFile:
    """A compressed file, or a member of a zip archive; its text is that of a `Path`."""

    def __init__(self, path: Path, member: str = "") -> None:
        self._path = path
        self._member = member
        packed = PurePosixPath(member or path)
        self._unpack = COMPRESSIONS.get(packed.suffix.lower())
        plain = plain_path(packed)
        self.name, self.stem, self.suffix = plain.name, plain.stem, plain.suffix

    def __str__(self) -> str:
        return f"{self._path}/{self._member}".rstrip("/")

    def stat(self) -> SimpleNamespace:
        """Return the size of the file on the disk, or of the member as packed."""
        if not self._member:
            return SimpleNamespace(st_size=self._path.stat().st_size)
        with zipfile.ZipFile(self._path) as archive:
            return SimpleNamespace(st_size=archive.getinfo(self._member).compress_size)

    def open(self, mode: str = "r", **form: Any) -> IO[Any]:
        """Open the content, as `Path.open` does.

        `tell` of the binary stream says how much of the packed file has been read. Reading raises
        CorpusError if the file is damaged or unpacks to too much.
        """
        packed: IO[bytes] = self._path.open("rb")
        content = packed
        size = max(1, self.stat().st_size)
        try:
            if self._member:
                archive = zipfile.ZipFile(packed)
                check_unpacked(self._path, archive.getinfo(self._member).file_size, size)
                content = archive.open(self._member)
            if self._unpack is not None:
                content = self._unpack(content)
        except (*BROKEN, NotImplementedError, ValueError) as error:
            packed.close()
            if isinstance(error, CorpusError):
                raise
            raise self._refuse(error) from error
        unpacking = _Unpacking(self, content, packed, size)
        binary = io.BufferedReader(unpacking, 1 << 18)
        if "b" in mode:
            return binary
        return io.TextIOWrapper(binary, **form)

    def _refuse(self, error: Exception) -> CorpusError:
        return CorpusError(
            f"Cannot read {self} ({explain_error(error)}). Compress or copy it again."
        )


class WrittenFile:
    """A text in memory, as if it were in this file in UTF-8."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._content = text.encode("utf-8", "replace")
        self.name, self.stem, self.suffix = path.name, path.stem, path.suffix

    def __str__(self) -> str:
        return str(self._path)

    def stat(self) -> SimpleNamespace:
        """Return the size of the text."""
        return SimpleNamespace(st_size=len(self._content))

    def open(self, mode: str = "r", **form: Any) -> IO[Any]:
        """Open the text, as `Path.open` does."""
        stream = io.BytesIO(self._content)
        return stream if "b" in mode else io.TextIOWrapper(stream, **form)


class _Unpacking(io.RawIOBase):
    """The content of a packed file, with the limits of `check_unpacked`."""

    def __init__(self, file: PackedFile, content: IO[bytes], packed: IO[bytes], size: int) -> None:
        super().__init__()
        self._file, self._content, self._packed, self._size = file, content, packed, size
        self._num_unpacked = 0

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return 0 if self._packed.closed else min(self._packed.tell(), self._size)

    def readinto(self, buffer: Any) -> int:
        try:
            block = self._content.read(len(buffer))
        except BROKEN as error:
            raise self._file._refuse(error) from error
        buffer[: len(block)] = block
        self._num_unpacked += len(block)
        check_unpacked(cast(Path, self._file), self._num_unpacked, self._size)
        return len(block)

    def close(self) -> None:
        self._content.close()
        self._packed.close()
        super().close()
