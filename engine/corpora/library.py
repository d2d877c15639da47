"""The corpora that a user has built: list, find, load and delete them.

Each is a folder of Parquet files, or a stored corpus, which need not fit in memory.
"""

import logging
import os
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

import numpy as np
from scipy.sparse import coo_array

from stickbreaker.engine.corpora.build import number_groups
from stickbreaker.engine.corpora.bundled import FILES
from stickbreaker.engine.corpora.corpus import Corpus, CorpusError, Vocabulary
from stickbreaker.engine.corpora.shards import MANIFEST, read_manifest
from stickbreaker.engine.corpora.stored import is_stored, open_stored
from stickbreaker.engine.files.user_folders import find_usual_folder, may_write, use_temporary_folder
from stickbreaker.engine.files.verified_files import FileHeader, Kind, read_seal, reading, verify_part
from stickbreaker.engine.files.whole_files import FileError, remove_folder

FOLDER_VARIABLE = "STICKBREAKER_DATA"
MAX_NAME = 80
ABOUT, COUNTS, VOCABULARY, DOCUMENTS = "corpus.json", "counts.parquet", "vocabulary.parquet", "documents.parquet"
OWN_CORPUS = Kind(name="corpus", format=2, remedy="delete it and build it again", error=CorpusError)

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class OwnCorpus:
    """The description of a corpus that a user has built.

    Attributes
    ----------
    name : str
        Its name.
    num_documents, vocab_size, num_tokens : int
        Its size.
    date_span : tuple of two str, or None
        The first and the last date; None for a stored corpus.
    date_unit : str
        The precision of the dates, as a NumPy unit.
    split_by : str
        "document" or "group".
    has_text : bool
        Whether the texts are stored.
    source : str
        The name of the file or folder that it was built from.
    num_bad : int
        The number of rows that were skipped.
    built_at : str
        The time of building, in ISO 8601.
    is_stored : bool
        Whether it is a stored corpus, which need not fit in memory.
    """

    name: str
    num_documents: int
    vocab_size: int
    num_tokens: int
    date_span: tuple[str, str] | None
    date_unit: str
    split_by: str
    has_text: bool
    source: str
    num_bad: int
    built_at: str
    is_stored: bool = False


def find_folder(folder: str | PathLike[str] | None = None) -> Path:
    """Return the folder of the built corpora.

    Parameters
    ----------
    folder : str or path, optional
        Returned if given.

    Returns
    -------
    Path
        By default, `corpora` in the folder named by the variable STICKBREAKER_DATA, or in the user's data folder.
        In a temporary folder, with a warning in the log, if the user's data folder cannot be written.
    """
    if folder is not None:
        return Path(folder)
    if named := os.environ.get(FOLDER_VARIABLE):
        return Path(named) / "corpora"
    import platformdirs

    usual = find_usual_folder(platformdirs.user_data_path)
    if usual is None or not may_write(usual):
        usual = use_temporary_folder("data", "Corpora and kept runs are stored", FOLDER_VARIABLE)
    return usual / "corpora"


def list_own(folder: str | PathLike[str] | None = None) -> tuple[OwnCorpus, ...]:
    """List the corpora that the user has built.

    Parameters
    ----------
    folder : str or path, optional
        The folder of the built corpora. By default, `corpora` in the folder of STICKBREAKER_DATA or the user's data.

    Returns
    -------
    tuple of OwnCorpus
        Sorted by name. Damaged corpora are skipped, with a warning in the log.
    """
    found = []
    try:
        places = sorted(place for place in find_folder(folder).iterdir() if place.is_dir())
    except OSError:
        return ()
    for place in places:
        if place.name.startswith("."):
            continue
        try:
            found.append(_read_about(place)[0])
        except CorpusError as error:
            logger.warning("%s", error)
    return tuple(sorted(found, key=lambda corpus: corpus.name.lower()))


class OwnFiles(NamedTuple):
    """The files of a corpus that a user has built: its description, its folder, and the header of the files."""

    about: OwnCorpus
    place: Path
    header: FileHeader

    def find(self, *parts: str) -> Path:
        """Verify these files and return the first one. Raises CorpusError if one is missing or damaged."""
        for part in parts:
            verify_part(self.place / part, self.header, OWN_CORPUS)
        return self.place / parts[0]


def find_own(name: str, folder: str | PathLike[str] | None = None) -> OwnFiles:
    """Find the files of a corpus that the user has built.

    Parameters
    ----------
    name : str
        The name of the corpus.
    folder : str or path, optional
        The folder of the built corpora. By default, `corpora` in the folder of STICKBREAKER_DATA or the user's data.

    Returns
    -------
    OwnFiles
        Its description, its folder, and the header of its files.

    Raises
    ------
    CorpusError
        If there is no such corpus, or its description is damaged.
    """
    place = _find_place(name, folder)
    about, header = _read_about(place)
    return OwnFiles(about=about, place=place, header=header)


def _read_about(place: Path) -> tuple[OwnCorpus, FileHeader]:
    """Read the description of the corpus in a folder, and the header of its files; a stored corpus has its own."""
    if is_stored(place):
        return _describe_stored(place), FileHeader()
    header = read_seal(place / ABOUT, OWN_CORPUS)
    with reading(place / ABOUT, OWN_CORPUS):
        about = dict(header.about or {})
        span = about["date_span"]
        own = OwnCorpus(**about | {"date_span": tuple(span) if span else None})
        if name_folder(own.name) != place.name:
            raise ValueError(f"it belongs to the corpus {own.name!r}")
    return own, header


def _describe_stored(place: Path) -> OwnCorpus:
    """Describe a stored corpus by its manifest, under the name of its folder."""
    manifest, built = read_manifest(place), np.datetime64(int((place / MANIFEST).stat().st_mtime), "s")
    return OwnCorpus(
        name=unquote(place.name),
        num_documents=manifest.num_documents,
        vocab_size=manifest.vocab_size,
        num_tokens=manifest.num_tokens,
        date_span=None,
        date_unit=manifest.date_unit,
        split_by=manifest.split_by,
        has_text=manifest.has_texts,
        source=Path(manifest.source).name,
        num_bad=manifest.num_skipped,
        built_at=str(built),
        is_stored=True,
    )


def _find_place(name: str, folder: str | PathLike[str] | None) -> Path:
    """The folder of a corpus. Raises CorpusError if there is none."""
    place = find_folder(folder) / name_folder(name)
    if not name or name.startswith(".") or not place.is_dir():
        raise CorpusError(f"No corpus {name!r} has been built. Build it, or choose another one.")
    return place


def check_name(name: str, folder: str | PathLike[str] | None = None) -> str:
    """Check the name of a new corpus.

    Parameters
    ----------
    name : str
        The name.
    folder : str or path, optional
        The folder of the built corpora. By default, `corpora` in the folder of STICKBREAKER_DATA or the user's data.

    Returns
    -------
    str
        The name without leading and trailing spaces.

    Raises
    ------
    CorpusError
        If the name is not valid or already in use.
    """
    name = name.strip()
    if not any(map(str.isalnum, name)) or len(name) > MAX_NAME or not name.isprintable():
        raise CorpusError(
            f"Invalid corpus name {name[:MAX_NAME]!r}: use 1 to {MAX_NAME} characters, with a letter or digit."
        )
    if name.startswith("."):
        raise CorpusError(f"Invalid corpus name {name!r}: start with a letter or digit.")
    if len(name_folder(name)) > 200:
        raise CorpusError(f"Invalid corpus name {name!r}: use fewer non-Latin letters.")
    taken = {corpus.name.lower() for corpus in list_own(folder)} | set(FILES)
    if name.lower() in taken or (find_folder(folder) / name_folder(name)).exists():
        raise CorpusError(f"A corpus {name!r} already exists. Choose another name, or delete that corpus.")
    return name


def name_folder(name: str) -> str:
    """Name the folder of a corpus."""
    return quote(name, safe=" ")


def load_own(name: str, folder: str | PathLike[str] | None = None) -> Corpus:
    """Load a corpus that the user has built.

    Parameters
    ----------
    name : str
        The name of the corpus.
    folder : str or path, optional
        The folder of the built corpora. By default, `corpora` in the folder of STICKBREAKER_DATA or the user's data.

    Returns
    -------
    Corpus
        The corpus in the order of its file. A stored one is opened without reading its documents.

    Raises
    ------
    CorpusError
        If there is no such corpus, or it is damaged.
    """
    from pyarrow import parquet

    files = find_own(name, folder)
    about, place = files.about, files.place
    if about.is_stored:
        return open_stored(place, name)
    files.find(VOCABULARY, COUNTS, DOCUMENTS)
    with reading(place, OWN_CORPUS):
        words = parquet.read_table(place / VOCABULARY)["word"].to_pylist()
        counts = parquet.read_table(place / COUNTS)
        documents = parquet.read_table(place / DOCUMENTS, columns=["title", "date", "group"])
        rows, columns, data = (counts[column].to_numpy() for column in ("document", "word", "count"))
        dates = [date or "NaT" for date in documents["date"].to_pylist()]
        grouping = number_groups(documents["group"].to_pylist()) if about.split_by == "group" else {}
        return Corpus(
            name=name,
            counts=coo_array((data, (rows, columns)), shape=(about.num_documents, len(words))).tocsr(),
            vocabulary=Vocabulary(words),
            dates=np.array(dates, f"datetime64[{about.date_unit}]"),
            titles=documents["title"].to_pylist(),
            **grouping,
        )


def delete_own(name: str, folder: str | PathLike[str] | None = None) -> None:
    """Delete a corpus that the user has built.

    Parameters
    ----------
    name : str
        The name of the corpus.
    folder : str or path, optional
        The folder of the built corpora. By default, `corpora` in the folder of STICKBREAKER_DATA or the user's data.

    Raises
    ------
    CorpusError
        If there is no such corpus.
    """
    try:
        remove_folder(_find_place(name, folder))
    except FileError as error:
        raise CorpusError(str(error)) from error
