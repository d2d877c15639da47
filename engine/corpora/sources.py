"""Find out what a path contains (a table, a folder or archive of text files, or word counts) and
open it.
"""

import os
import re
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from stickbreaker.engine.corpora.corpus import CorpusError
from stickbreaker.engine.corpora.count_files import LDA_C, MATRIX, UCI, name_counts
from stickbreaker.engine.corpora.rows import TABLE_SUFFIXES, TOO_LARGE, Table
from stickbreaker.engine.corpora.shards import is_stored
from stickbreaker.engine.corpora.table_files import open_table
from stickbreaker.engine.corpora.text_files import open_archive, open_folder

KINDS = (
    "CSV (.csv), TSV (.tsv), JSON lines (.jsonl), Parquet (.parquet), a folder or a .zip of text"
    " files, UCI bag-of-words (docword.*.txt), LDA-C (.ldac) or Matrix Market (.mtx) with a list of"
    " words in the same folder"
)
STORED = "stored corpus"
FOLDER = "folder of text files"
ARCHIVE = "zip of text files"
COUNT_SUFFIXES = {".ldac": LDA_C, ".lda-c": LDA_C, ".mtx": MATRIX}
TEXT_SUFFIXES = {**TABLE_SUFFIXES, ".zip": ARCHIVE}
MAX_FILE_BYTES = 4_000_000_000
REMEDIES = (
    dict.fromkeys((".gz", ".bz2", ".xz", ".zst", ".7z", ".rar", ".tar", ".tgz"), "Unpack it first")
    | dict.fromkeys((".xls", ".xlsx", ".ods"), "Save the table as CSV")
    | dict.fromkeys((".txt", ".md"), "Put it into a folder with one document per file")
    | dict.fromkeys(
        (".doc", ".docx", ".odt", ".pdf", ".epub", ".html"), "Save the text as .txt, in a folder"
    )
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
    """Raise CorpusError if a path is in a folder that this user may not search: nothing is found
    there.
    """
    try:
        path.stat()
    except PermissionError as error:
        raise CorpusError(
            f"Cannot read {path} ({error.strerror}). Check the permissions of its folder."
        ) from error
    except (OSError, ValueError):
        return


class Source(NamedTuple):
    """What is read at a path.

    Attributes
    ----------
    kind : str
        `STORED`, `FOLDER`, `ARCHIVE`, or the format of a table or of a file of counts.
    path : Path
        The file or folder.
    """

    kind: str
    path: Path

    @property
    def is_counted(self) -> bool:
        """Whether it is a file of word counts."""
        return self.kind in (UCI, LDA_C, MATRIX)

    @property
    def name(self) -> str:
        """The name of a corpus from this file or folder: its name without extensions."""
        return name_counts(self.path, self.kind) if self.is_counted else self.path.stem

    def check_text(self) -> None:
        """Raise CorpusError if there is no text to count, because the words are counted already."""
        if self.kind == STORED:
            raise CorpusError(
                f"{self.path} is a stored corpus. Open it with load_corpus, without building it"
                " again."
            )
        if self.is_counted:
            raise CorpusError(
                f"{self.path} contains word counts. Load it with load_corpus, and call"
                " store_corpus."
            )

    def open(self) -> Table:
        """Open a table, a folder or an archive.

        Raise CorpusError if it cannot be opened, or has no text to count.
        """
        self.check_text()
        return {FOLDER: open_folder, ARCHIVE: open_archive}.get(self.kind, open_table)(self.path)


def find_source(path: str | PathLike[str], max_bytes: float | None = None) -> Source:
    """Find out what is read for a path: the file or folder, or the only table, archive or file of
    counts in a folder.

    max_bytes: the size of the largest file, by default `MAX_FILE_BYTES`. Raises CorpusError if the
    file is missing, unreadable, remote, too large or of an unsupported type.
    """
    if not os.fspath(path):
        raise CorpusError("The path is empty. Name a file or a folder.")
    refuse_remote(path)
    path = Path(path).expanduser()
    # The corpus takes its name from the path, and "." has none.
    path = path if path.name else path.resolve()
    refuse_hidden(path)
    if is_stored(path):
        return Source(kind=STORED, path=path)
    if os.path.isdir(path):
        return _look_into(path)
    source = name_source(path)
    if not os.path.isfile(path) and (source.kind or not path.suffix):
        raise CorpusError(f"File not found: {path.absolute()}. Check the folder and the name.")
    if not source.kind:
        remedy = REMEDIES.get(path.suffix.lower(), f"Use {KINDS}")
        raise CorpusError(f"Unsupported file type: {path}. {remedy}.")
    most = MAX_FILE_BYTES if max_bytes is None else max_bytes
    if path.stat().st_size > most:
        raise CorpusError(f"{path} is larger than {most / 1e9:g} GB. {TOO_LARGE}.")
    return source


def _look_into(folder: Path) -> Source:
    """The only file of counts in a folder, its only file if it is a table or an archive, or the
    folder.
    """
    try:
        files = [
            file
            for file in sorted(folder.iterdir())
            if file.is_file() and not file.name.startswith(".")
        ]
    except OSError as error:
        raise CorpusError(
            f"Cannot read {folder} ({error.strerror}). Check its permissions."
        ) from error
    sources = list(map(name_source, files))
    counted = [source for source in sources if source.is_counted]
    if len(counted) == 1:
        return counted[0]
    return sources[0] if len(sources) == 1 and sources[0].kind else Source(kind=FOLDER, path=folder)


def name_source(path: Path) -> Source:
    """The source that a file is by its name alone; its kind is "" if it is not supported.

    >>> [name_source(Path(name)).kind for name in ("docword.kos.txt.gz", "ap.ldac", "ap.mtx",
    ...     "ap.csv", "ap.zip", "ap")]
    ['UCI bag-of-words', 'LDA-C', 'Matrix Market', 'CSV', 'zip of text files', '']
    """
    plain = Path(path.name.lower().removesuffix(".gz"))
    if plain.name.startswith("docword"):
        return Source(kind=UCI, path=path)
    kind = COUNT_SUFFIXES.get(plain.suffix) or TEXT_SUFFIXES.get(path.suffix.lower(), "")
    return Source(kind=kind, path=path)
