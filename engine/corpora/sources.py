"""A path to what lies there: a table, a folder or archive of text files, or words already counted."""

import os
from os import PathLike
from pathlib import Path

from stickbreaker.engine.corpora.corpus import CorpusError
from stickbreaker.engine.corpora.count_files import name_counts, name_kind
from stickbreaker.engine.corpora.table_files import TABLE_SUFFIXES, Table, open_table
from stickbreaker.engine.corpora.text_files import open_archive, open_folder

KINDS = (
    "CSV (.csv), TSV (.tsv), JSON lines (.jsonl), Parquet (.parquet), a folder or a .zip of text files, UCI"
    " bag-of-words (docword.*.txt), LDA-C (.ldac) or Matrix Market (.mtx) with a list of words beside it"
)
MAX_FILE_BYTES = 4_000_000_000
REMEDIES = (
    dict.fromkeys((".gz", ".bz2", ".xz", ".zst", ".7z", ".rar", ".tar", ".tgz"), "unpack it first")
    | dict.fromkeys((".xls", ".xlsx", ".ods"), "save its table as CSV")
    | dict.fromkeys((".txt", ".md"), "put it into a folder, of which each file is a document")
    | dict.fromkeys((".doc", ".docx", ".odt", ".pdf", ".epub", ".html"), "save its text as .txt, in a folder")
    | {".json": "write one object a line, and name it .jsonl"}
)


def find_source(path: str | PathLike) -> Path:
    """The file that a path means: itself, or within a folder the only table or the counts. Raises CorpusError."""
    if not os.fspath(path):
        raise CorpusError("No path is given: name a file or a folder.")
    path = Path(path).expanduser()
    # A corpus is called by its path, and "." names nothing.
    path = path if path.name else path.resolve()
    if os.path.isdir(path):
        files = [file for file in sorted(path.iterdir()) if file.is_file() and not file.name.startswith(".")]
        counted = [file for file in files if name_kind(file)]
        is_alone = len(files) == 1 and files[0].suffix.lower() in (*TABLE_SUFFIXES, ".zip")
        return counted[0] if len(counted) == 1 else files[0] if is_alone else path
    if not is_known(path):
        remedy = REMEDIES.get(path.suffix.lower(), f"give {KINDS}")
        raise CorpusError(f"{path} is of no kind that is read here: {remedy}.")
    if not os.path.isfile(path):
        raise CorpusError(f"There is no file {path.absolute()}: check its folder and its name.")
    if path.stat().st_size > MAX_FILE_BYTES:
        raise CorpusError(f"{path} is larger than {MAX_FILE_BYTES / 1e9:g} GB: part it, or take a sample of it.")
    return path


def is_known(path: Path) -> bool:
    """Whether the end of its name says what a file is."""
    return path.suffix.lower() in (*TABLE_SUFFIXES, ".zip") or bool(name_kind(path))


def name_source(source: Path) -> str:
    """What a corpus from there is called."""
    return name_counts(source) if name_kind(source) else source.stem


def open_source(source: Path) -> Table:
    """A source of texts as a table."""
    if source.is_dir():
        return open_folder(source)
    return open_archive(source) if source.suffix.lower() == ".zip" else open_table(source)
