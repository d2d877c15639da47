"""The sources of a build: files, the tables of folders, and copies of files from remote addresses,
such as s3://bucket/texts/, made by fsspec if it is installed.
"""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from stickbreaker.engine.corpora.kinds import FOLDER, READ
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.shards import is_stored
from stickbreaker.engine.corpora.sources import (
    Source,
    find_source,
    has_text,
    is_remote,
    list_files,
    name_source,
    pick_tables,
)
from stickbreaker.engine.files.whole_files import FileError, replacing

BLOCK_BYTES = 1 << 20
# The beginning of the names of folders with copies.
COPIES = "copies-"

PathOrAddress = str | PathLike[str]


def list_sources(given: PathOrAddress | Sequence[PathOrAddress], work: Path) -> list[Path]:
    """List the files and folders to read, in order; remote files are copied into `work` first."""
    found: list[Source] = []
    is_one = isinstance(given, str | PathLike) or not isinstance(given, Iterable)
    for each in cast(Iterable[PathOrAddress], [given] if is_one else given):
        if not isinstance(each, str | PathLike):
            raise TypeError(
                f"source is {given!r:.80}: give a file, a folder or an address, or a list of them."
            )
        # Path("") is the current folder.
        if not str(each):
            raise CorpusError("The path of a source is empty. Name a file or a folder.")
        # Copies of another address must not be taken for those of this one.
        copies = work / f"{COPIES}{sha256(str(each).encode()).hexdigest()[:16]}"
        if is_remote(str(each)):
            found += map(name_source, copy_remote(str(each), copies))
        else:
            found += _list_tables(Path(each))
    if not found:
        raise CorpusError("There is no source. Name a file or a folder.")
    for source in found:
        source.check_text()
    return [source.path for source in found]


def _list_tables(path: Path) -> list[Source]:
    """The tables of a folder by name, or of its subfolders if there are no texts.

    Otherwise the file or folder.
    """
    source = find_source(path, max_bytes=float("inf"), is_one=False)
    found = source.path.absolute()
    if source.kind != FOLDER:
        return [source._replace(path=found)]
    files = list_files(found)
    tables = pick_tables(file for file in files if not is_stored(file.parent))
    own = [file for file in tables if file.parent == found]
    # Programs that write tables in subfolders add files such as _SUCCESS.
    texts = filter(has_text, files)
    if not own and any(not is_stored(file.parent) for file in texts):
        tables = []
    return list(map(name_source, own or tables)) or [source._replace(path=found)]


def copy_remote(address: str, folder: Path) -> list[Path]:
    """Copy the file at an address, or all files of supported types below it.

    Return the copies by name.

    Complete copies are not made again. Raises CorpusError if fsspec, or its part for this kind of
    address, is not installed, or the address cannot be read.
    """
    try:
        import fsspec

        system, root = fsspec.core.url_to_fs(address)
        files = sorted(system.find(root)) if system.isdir(root) else [root]
        wanted = [file for file in files if name_source(Path(file)).kind]
        if not wanted:
            raise CorpusError(f"{address} has no files of a supported type: {READ}.")
        folder.mkdir(parents=True, exist_ok=True)
        copies: list[Path] = []
        for number, file in enumerate(wanted):
            path = folder / f"{number:05}-{PurePosixPath(file).name}"
            if not path.exists():
                with system.open(file, "rb") as source, replacing(path) as copy:
                    for content in _read(source, address):
                        copy.write(content)
            copies.append(path)
    except ImportError as error:
        remedy = "python -m pip install 'stickbreaker[remote]', and the package that fsspec names"
        raise CorpusError(
            f"Cannot read {address} ({error}). Install what is missing: {remedy}."
        ) from error
    except (CorpusError, FileError):
        raise
    except (OSError, ValueError) as error:
        raise _refuse(address, error) from error
    return copies


def _read(source: BinaryIO, address: str) -> Iterator[bytes]:
    """The content of a file in blocks.

    Raises CorpusError: an OSError would be taken for one of the local disk.
    """
    while True:
        try:
            content = source.read(BLOCK_BYTES)
        except OSError as error:
            raise _refuse(address, error) from error
        if not content:
            return
        yield content


def _refuse(address: str, error: Exception) -> CorpusError:
    return CorpusError(
        f"Cannot read {address} ({error}). Check the address and your rights to it, and build"
        " again: complete copies are not made again."
    )
