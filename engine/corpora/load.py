"""The one door to corpora: by name those that come with the project or were built, by path one's own files."""

import logging
import os
from difflib import get_close_matches
from os import PathLike
from pathlib import Path

from stickbreaker.engine.corpora.build import Columns, build_corpus
from stickbreaker.engine.corpora.bundled import FILES, load_built_in
from stickbreaker.engine.corpora.corpus import Corpus, CorpusError
from stickbreaker.engine.corpora.count_files import name_kind
from stickbreaker.engine.corpora.library import list_own, load_own
from stickbreaker.engine.corpora.sources import KINDS, find_source, is_known
from stickbreaker.engine.corpora.words import WordChoices

LONGEST_NAME = 255
LONGEST_SHOWN = 80
logger = logging.getLogger(__name__)


def load_corpus(
    name_or_path: str | PathLike[str],
    *,
    text: str | None = None,
    date: str | None = None,
    title: str | None = None,
    group: str | None = None,
    words: WordChoices | None = None,
) -> Corpus:
    """A corpus by its name (`list_corpora()`), or from a file or folder of one's own, of any kind of `KINDS`.

    text: the column with the documents; needed unless it is called "text" or is the only one.
    date: the column with their dates: years, ISO dates, or what pandas reads as dates (3/4/1863 is the 4th of March).
        Without it the order of the rows is the chronology.
    title: the column with their titles; without it documents are called by their row.
    group: the column with the longer text that each is a part of; held-out documents are then whole groups.
    words: which words are counted; without it `WordChoices()`, and words already counted stay as they are.

    Rows that cannot be used are left out, with a warning in the log that lists the first. Raises CorpusError, which
    names the file, the row as a spreadsheet numbers it, and the remedy.
    """
    columns = Columns(text, date, title, group)
    if not isinstance(name_or_path, PathLike) and name_or_path in list_corpora():
        if any(columns) or words is not None:
            raise CorpusError(f"{name_or_path} has its text and dates: leave text, date, title, group and words out.")
        return load_built_in(name_or_path) if name_or_path in FILES else load_own(name_or_path)
    path = Path(name_or_path).expanduser()
    # Unlike those of Path, these say no to an empty name and to one that is too long.
    is_there = os.path.exists(os.path.expanduser(name_or_path))
    if not is_there and not (is_known(path) and len(path.name) <= LONGEST_NAME):
        raise CorpusError(_explain_unknown(name_or_path))
    source = find_source(path)
    built = build_corpus(source, columns, words)
    for note in built.notes:
        logger.warning(note)
    if built.bad.count:
        listed = "; ".join(map(str, built.bad.listed[:5]))
        number = built.bad.count
        left = f"{number} of {number + built.corpus.num_documents} rows"
        if name_kind(source):
            left = "1 line" if number == 1 else f"{number} lines"
        logger.warning("%s: left %s out, first %s", path, left, listed)
    return built.corpus


def list_corpora(folder: str | PathLike[str] | None = None) -> tuple[str, ...]:
    """Names of the corpora that come with the project, then of those built here, or kept in `folder`.

    >>> list_corpora()[:3]
    ('state-of-the-union', 'rfc', 'rfc-documents')
    """
    return (*FILES, *(corpus.name for corpus in list_own(folder)))


def _explain_unknown(name_or_path: str | PathLike[str]) -> str:
    known, name = list_corpora(), str(name_or_path)
    name = name if len(name) <= LONGEST_SHOWN else name[: LONGEST_SHOWN - 1] + "…"
    near = get_close_matches(name, known, n=1)
    guess = f" Did you mean {near[0]!r}?" if near else ""
    return f"There is no corpus {name!r}.{guess} Known corpora: {', '.join(known)}; a file of your own must be {KINDS}."
