"""Find out what a path contains (a table, a folder or archive of text files, or word counts) and open it."""

import os
import re
from os import PathLike
from pathlib import Path

from stickbreaker.engine.corpora.corpus import CorpusError
from stickbreaker.engine.corpora.count_files import name_counts, name_kind
from stickbreaker.engine.corpora.rows import Table
from stickbreaker.engine.corpora.stored import is_stored
from stickbreaker.engine.corpora.table_files import TABLE_SUFFIXES, open_table
from stickbreaker.engine.corpora.text_files import open_archive, open_folder

KINDS = (
    "CSV (.csv), TSV (.tsv), JSON lines (.jsonl), Parquet (.parquet), a folder or a .zip of text files, UCI"
    " bag-of-words (docword.*.txt), LDA-C (.ldac) or Matrix Market (.mtx) with a list of words in the same folder"
)
MAX_FILE_BYTES = 4_000_000_000
TOO_LARGE = "Build it on disk with engine.build, or take a sample"
REMEDIES = (
    dict.fromkeys((".gz", ".bz2", ".xz", ".zst", ".7z", ".rar", ".tar", ".tgz"), "Unpack it first")
    | dict.fromkeys((".xls", ".xlsx", ".ods"), "Save the table as CSV")
    | dict.fromkeys((".txt", ".md"), "Put it into a folder with one document per file")
    | dict.fromkeys((".doc", ".docx", ".odt", ".pdf", ".epub", ".html"), "Save the text as .txt, in a folder")
    | {".json": "Write one object per line into a .jsonl file"}
)


def is_remote(path: str) -> bool:
    """Return whether a path is a remote address.

    >>> is_remote("s3://bucket/texts.parquet"), is_remote("C:/texts.parquet")
    (True, False)
    """
    return bool(re.match(r"[a-z][a-z0-9+.]*://", path))


def refuse_remote(path: str | PathLike[str]) -> None:
    """Raise CorpusError if a path is a remote address, which only `build` reads."""
    if is_remote(os.fspath(path)):
        raise CorpusError(f"{path} is a remote address. Build a corpus from it with engine.build.")


def refuse_hidden(path: Path) -> None:
    """Raise CorpusError if a path is in a folder that this user may not search: nothing is found there."""
    try:
        path.stat()
    except PermissionError as error:
        raise CorpusError(f"Cannot read {path} ({error.strerror}). Check the permissions of its folder.") from error
    except (OSError, ValueError):
        return


def find_source(path: str | PathLike[str], max_bytes: float | None = None) -> Path:
    """Find the file or folder to read for a path.

    Parameters
    ----------
    path : str or path
        A file or a folder.
    max_bytes : float, optional
        The size of the largest file; by default, `MAX_FILE_BYTES`.

    Returns
    -------
    Path
        The path itself. For a folder that contains a single table or archive, or a single file of counts: that file.

    Raises
    ------
    CorpusError
        If the file is missing, unreadable, remote, too large or of an unsupported type, or the folder is a stored
        corpus.
    """
    if not os.fspath(path):
        raise CorpusError("The path is empty. Name a file or a folder.")
    refuse_remote(path)
    path = Path(path).expanduser()
    # The corpus takes its name from the path, and "." has none.
    path = path if path.name else path.resolve()
    refuse_hidden(path)
    if is_stored(path):
        raise CorpusError(f"{path} is a stored corpus. Open it with load_corpus, without building it again.")
    if os.path.isdir(path):
        try:
            files = [file for file in sorted(path.iterdir()) if file.is_file() and not file.name.startswith(".")]
        except OSError as error:
            raise CorpusError(f"Cannot read {path} ({error.strerror}). Check its permissions.") from error
        counted = [file for file in files if name_kind(file)]
        is_alone = len(files) == 1 and files[0].suffix.lower() in (*TABLE_SUFFIXES, ".zip")
        return counted[0] if len(counted) == 1 else files[0] if is_alone else path
    if not os.path.isfile(path) and (is_known(path) or not path.suffix):
        raise CorpusError(f"File not found: {path.absolute()}. Check the folder and the name.")
    if not is_known(path):
        remedy = REMEDIES.get(path.suffix.lower(), f"Use {KINDS}")
        raise CorpusError(f"Unsupported file type: {path}. {remedy}.")
    most = MAX_FILE_BYTES if max_bytes is None else max_bytes
    if path.stat().st_size > most:
        raise CorpusError(f"{path} is larger than {most / 1e9:g} GB. {TOO_LARGE}.")
    return path


def is_known(path: Path) -> bool:
    """Return whether the name of a file has a supported extension or form.

    Parameters
    ----------
    path : Path
        A file; only its name is used.

    Returns
    -------
    bool
        True for tables, zip archives and files of counts.
    """
    return path.suffix.lower() in (*TABLE_SUFFIXES, ".zip") or bool(name_kind(path))


def name_source(source: Path) -> str:
    """Derive the name of a corpus from its file or folder.

    Parameters
    ----------
    source : Path
        As returned by `find_source`.

    Returns
    -------
    str
        The name without extensions.
    """
    return name_counts(source) if name_kind(source) else source.stem


def open_source(source: Path) -> Table:
    """Open a table, a folder or an archive.

    Parameters
    ----------
    source : Path
        As returned by `find_source`, but not a file of counts.

    Returns
    -------
    Table
        Its columns, and a function that reads the rows.

    Raises
    ------
    CorpusError
        If it cannot be opened.
    """
    if source.is_dir():
        return open_folder(source)
    return open_archive(source) if source.suffix.lower() == ".zip" else open_table(source)
