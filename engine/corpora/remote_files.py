"""Copies of files from remote addresses, such as s3://bucket/texts/, made by fsspec if it is installed."""

import re
import shutil
from pathlib import Path, PurePosixPath

from stickbreaker.engine.corpora.corpus import CorpusError
from stickbreaker.engine.corpora.sources import KINDS, is_known
from stickbreaker.engine.files.whole_files import replacing


def is_remote(path: str) -> bool:
    """Return whether a path is a remote address.

    >>> is_remote("s3://bucket/texts.parquet"), is_remote("C:/texts.parquet")
    (True, False)
    """
    return bool(re.match(r"[a-z][a-z0-9+.]*://", path))


def copy_remote(address: str, folder: Path) -> list[Path]:
    """Copy the file at an address, or all files of supported types below it.

    Parameters
    ----------
    address : str
        The address of a file or folder, as fsspec reads it.
    folder : Path
        Where the copies are made; complete copies are not made again.

    Returns
    -------
    list of Path
        The copies, in the order of the names of the files.

    Raises
    ------
    CorpusError
        If fsspec or its part for this kind of address is not installed, or the address cannot be read.
    """
    try:
        import fsspec

        system, root = fsspec.core.url_to_fs(address)
        files = sorted(system.find(root)) if system.isdir(root) else [root]
        wanted = [file for file in files if is_known(Path(file))]
        if not wanted:
            raise CorpusError(f"{address} has no files of a supported type: {KINDS}.")
        folder.mkdir(parents=True, exist_ok=True)
        copies = []
        for number, file in enumerate(wanted):
            copies.append(folder / f"{number:05}-{PurePosixPath(file).name}")
            if not copies[-1].exists():
                with system.open(file, "rb") as source, replacing(copies[-1]) as copy:
                    shutil.copyfileobj(source, copy)
    except ImportError as error:
        remedy = "python -m pip install 'stickbreaker[remote]', and the package that fsspec names"
        raise CorpusError(f"Cannot read {address} ({error}). Install what is missing: {remedy}.") from error
    except (OSError, ValueError) as error:
        if isinstance(error, CorpusError):
            raise
        raise CorpusError(f"Cannot read {address} ({error}). Check the address and your rights to it.") from error
    return copies
