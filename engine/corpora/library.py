"""The corpora that a user has built: list, find, load and delete them. Each is a stored corpus."""

import logging
import os
from dataclasses import dataclass, fields, replace
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

from stickbreaker.engine.corpora.bundled import BUILT_IN, load_built_in
from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.corpora.known_words import KnownWords, find_known
from stickbreaker.engine.corpora.old_folders import OLD_CORPUS, OldFolder, convert, is_old, open_old
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.shards import MANIFEST, read_manifest
from stickbreaker.engine.corpora.stored import open_stored
from stickbreaker.engine.files.user_folders import (
    find_usual_folder,
    may_write,
    use_temporary_folder,
)
from stickbreaker.engine.files.verified_files import reading
from stickbreaker.engine.files.whole_files import FileError, remove_folder

FOLDER_VARIABLE = "STICKBREAKER_DATA"
MAX_NAME = 80
# Distinguishes the user's corpus from the built-in one with the same name.
OWN = " (own)"

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class OwnCorpus:
    """The description of a corpus that a user has built.

    date_span: None if a document has no date, or an earlier version has stored the corpus.
    date_unit: the precision of the dates. split_by: "document" or "group". source: the name of the
    file or folder. num_bad: the number of rows that were skipped. built_at: in ISO 8601.
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


def find_folder(folder: str | PathLike[str] | None = None) -> Path:
    """Return the folder of the built corpora, by default `corpora` in the folder of the user's
    data.

    That is the folder named by STICKBREAKER_DATA, or the account's; or a temporary one, with a
    warning in the log, if the account's cannot be written.
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
    """List the corpora of the user, by name; a warning in the log names damaged ones."""
    found = []
    try:
        places = sorted(place for place in find_folder(folder).iterdir() if place.is_dir())
    except OSError:
        return ()
    for place in places:
        if place.name.startswith("."):
            continue
        try:
            found.append(_describe(place))
        except CorpusError as error:
            logger.warning("%s", error)
    return tuple(sorted(found, key=lambda corpus: corpus.name.lower()))


class OwnFiles(NamedTuple):
    """A corpus that a user has built: its description and its folder."""

    about: OwnCorpus
    place: Path


def find_own(name: str, folder: str | PathLike[str] | None = None) -> OwnFiles:
    """Find a corpus that the user has built, without reading it.

    Raises CorpusError if there is none of this name, or its description is damaged.
    """
    place = _find_place(name, folder)
    return OwnFiles(about=_describe(place), place=place)


def _describe(place: Path) -> OwnCorpus:
    """Describe the corpus in a folder, under its name, or another if that is built in."""
    if is_old(place):
        return _describe_old(open_old(place))
    manifest = read_manifest(place)
    built_at = (
        manifest.built_at or datetime.fromtimestamp((place / MANIFEST).stat().st_mtime).isoformat()
    )
    return OwnCorpus(
        name=_name_own(place),
        num_documents=manifest.num_documents,
        vocab_size=manifest.vocab_size,
        num_tokens=manifest.num_tokens,
        date_span=manifest.date_span,
        date_unit=manifest.date_unit,
        split_by=manifest.split_by,
        has_text=manifest.has_texts,
        source=Path(manifest.source).name,
        num_bad=manifest.num_skipped,
        built_at=built_at,
    )


def _name_own(place: Path) -> str:
    """The name of the corpus in a folder."""
    name = unquote(place.name)
    return name + OWN * (name in BUILT_IN)


def _describe_old(old: OldFolder) -> OwnCorpus:
    with reading(old.place, OLD_CORPUS):
        about = {each.name: old.about[each.name] for each in fields(OwnCorpus)}
        about["name"] = _name_own(old.place)
        about["date_span"] = tuple(about["date_span"] or ()) or None
        return OwnCorpus(**about)


def find_converted(name: str, folder: str | PathLike[str] | None = None) -> Path | OldFolder:
    """Return the folder of a stored corpus, converted from the earlier format if possible."""
    place = _find_place(name, folder)
    return place if convert(place) else open_old(place)


def _find_place(name: str, folder: str | PathLike[str] | None) -> Path:
    """The folder of a corpus. Raises CorpusError if there is none."""
    plain = name.removesuffix(OWN)
    place = find_folder(folder) / name_folder(plain if plain in BUILT_IN else name)
    if not name or name.startswith(".") or not place.is_dir():
        raise CorpusError(f"No corpus {name!r} has been built. Build it, or choose another one.")
    return place


def check_name(name: str, folder: str | PathLike[str] | None = None) -> str:
    """Return the stripped name of a new corpus; CorpusError if it is not valid, or taken."""
    name = name.strip()
    if not any(map(str.isalnum, name)) or len(name) > MAX_NAME or not name.isprintable():
        raise CorpusError(
            f"Invalid corpus name {name[:MAX_NAME]!r}: use 1 to {MAX_NAME} characters, with a"
            " letter or digit."
        )
    if name.startswith("."):
        raise CorpusError(f"Invalid corpus name {name!r}: start with a letter or digit.")
    if len(name_folder(name)) > 200:
        raise CorpusError(f"Invalid corpus name {name!r}: use fewer non-Latin letters.")
    taken = {corpus.name.lower() for corpus in list_own(folder)}
    taken |= {built_in + end for built_in in BUILT_IN for end in ("", OWN)}
    if name.lower() in taken or (find_folder(folder) / name_folder(name)).exists():
        raise CorpusError(
            f"A corpus {name!r} already exists. Choose another name, or delete that corpus."
        )
    return name


def name_folder(name: str) -> str:
    """Name the folder of a corpus."""
    return quote(name, safe=" ")


def load_own(name: str, folder: str | PathLike[str] | None = None) -> Corpus:
    """Load a corpus that the user has built, in the order of its file.

    One that need not fit in memory is opened without reading its documents. Raises CorpusError if
    there is no such corpus, or it is damaged.
    """
    found = find_converted(name, folder)
    if isinstance(found, OldFolder):
        return replace(found.load(), name=name)
    corpus = open_stored(found, name)
    if not corpus.is_loaded:
        return corpus
    corpus.check()
    return corpus.load()


def find_words_of(name: str, folder: str | PathLike[str] | None = None) -> KnownWords:
    """Return the words of a corpus of the user, or a built-in one; errors of `load_own`."""
    if name in BUILT_IN:
        return find_known(load_built_in(name))
    found = find_converted(name, folder)
    return find_known(found.load() if isinstance(found, OldFolder) else open_stored(found, name))


def delete_own(name: str, folder: str | PathLike[str] | None = None) -> None:
    """Delete a corpus that the user has built.

    Parameters
    ----------
    name : str
        The name of the corpus.
    folder : str or path, optional
        The folder of the built corpora. By default, `corpora` in the folder of STICKBREAKER_DATA or
        the user's data.

    Raises
    ------
    CorpusError
        If there is no such corpus.
    """
    try:
        remove_folder(_find_place(name, folder))
    except FileError as error:
        raise CorpusError(str(error)) from error
