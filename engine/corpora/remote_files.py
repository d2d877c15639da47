"""Copies of files from remote addresses, such as s3://bucket/texts/, made by fsspec if it is
installed.
"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from stickbreaker.engine.corpora.corpus import CorpusError
from stickbreaker.engine.corpora.sources import KINDS, name_source
from stickbreaker.engine.files.whole_files import FileError, replacing

BLOCK_BYTES = 1 << 20


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
            raise CorpusError(f"{address} has no files of a supported type: {KINDS}.")
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
