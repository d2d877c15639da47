"""Load any corpus: bundled or built ones by name, files and folders by path, or data frames."""

import logging
import os
from collections.abc import Callable
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any

from stickbreaker.engine.corpora.build import build_corpus
from stickbreaker.engine.corpora.bundled import BUILT_IN, load_built_in
from stickbreaker.engine.corpora.columns import Columns
from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.corpora.frames import KIND, open_frame
from stickbreaker.engine.corpora.kinds import READ
from stickbreaker.engine.corpora.known_words import HasWords, KnownWords, choose_words
from stickbreaker.engine.corpora.library import list_own, load_own
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.sources import (
    STORED,
    Source,
    find_source,
    name_source,
    refuse_hidden,
    refuse_remote,
)
from stickbreaker.engine.corpora.stored import name_unfinished, open_stored
from stickbreaker.engine.corpora.word_choices import WordChoices
from stickbreaker.engine.files.messages import cut
from stickbreaker.engine.progress_bars import Report, show_share

LONGEST_NAME = 255
LONGEST_SHOWN = 80
logger = logging.getLogger(__name__)


def load_corpus(  # noqa: PLR0913
    name_or_path: str | PathLike[str],
    *,
    text: str | None = None,
    date: str | None = None,
    title: str | None = None,
    group: str | None = None,
    day_first: bool | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    words: WordChoices | None = None,
    like: Corpus | HasWords | None = None,
    verbose: bool = False,
    callback: Callable[[float], object] | None = None,
) -> Corpus:
    """Load a corpus by name, or build one from a file or folder.

    Rows that cannot be used are skipped; a warning in the log lists the first of them.

    Parameters
    ----------
    name_or_path : str or path
        A name from `list_corpora()`; a file or folder of text or word counts; or the folder of a
        stored corpus (`engine.build`), which is opened without reading its documents.
    text : str, optional
        The column with the documents. By default, the column called "text", or the only one.
    date : str, optional
        The column with their dates: years, ISO dates, or another form, also inexact ones such as
        "c. 1850". A warning says how they are read where that is not certain. Without it, the
        chronological order is the order of the rows.
    title : str, optional
        The column with their titles. Without it, a document is named by its row.
    group : str, optional
        The column with the group of each document: an author, a party, or the longer text that it
        is a part of. Held-out documents are whole groups if there are at least 20. Documents with
        an empty cell are the group "(none)", of which single documents are held out.
    day_first : bool, optional
        Whether 3/4/1863 is 3 April. By default, the order that most dates need; 4 March if both
        fit.
    encoding : str, optional
        The encoding of the text, by a name that Python knows. By default, it is detected, with a
        warning if the text is not Unicode.
    sheet : str, optional
        The sheet of an Excel or OpenDocument file. By default, the visible one with most rows, with
        a warning that names the others.
    words : WordChoices, optional
        Which words are counted. By default, `WordChoices()`; a file of counts is used unchanged.
    like : Corpus or fitted model, optional
        Has the words that are counted, and their word choices; a warning says which share of the
        words is left out.
    verbose : bool
        Whether a progress bar is shown while a file or folder is read.
    callback : callable, optional
        Receives the share of the work that is done, from 0 to 1. It may raise an exception to
        cancel.

    Returns
    -------
    Corpus
        The corpus in the order of its file.

    Raises
    ------
    CorpusError
        If the corpus cannot be loaded; the message names the file, the row as in a spreadsheet, and
        the remedy.
    TypeError
        If `name_or_path` is not a str or a path, `words` is not `WordChoices`, or `like` is not a
        corpus or a fitted model.
    """
    if not isinstance(name_or_path, str | PathLike):
        raise TypeError(
            f"name_or_path is a {type(name_or_path).__name__}: give a name or a path. Read texts"
            " in memory with corpus_from."
        )
    chosen = choose_words(words, like)
    columns = Columns(
        text=text,
        date=date,
        title=title,
        group=group,
        day_first=day_first,
        encoding=encoding,
        sheet=sheet,
    )
    source = None
    if isinstance(name_or_path, PathLike) or name_or_path not in list_corpora():
        source = find_source(_find_path(name_or_path))
    if source is None or source.kind == STORED:
        if columns != Columns() or chosen is not None:
            raise CorpusError(
                f"{name_or_path} is already built. Omit text, date, title, group, words and like."
            )
        corpus = _load_named(str(name_or_path)) if source is None else open_stored(source.path)
        if callback is not None:
            callback(1.0)
        return corpus
    with show_share(verbose, callback) as report:
        return _build(source, columns, chosen, report)


def corpus_from(  # noqa: PLR0913
    frame: Any,
    *,
    name: str = KIND,
    text: str | None = None,
    date: str | None = None,
    title: str | None = None,
    group: str | None = None,
    day_first: bool | None = None,
    words: WordChoices | None = None,
    like: Corpus | HasWords | None = None,
    verbose: bool = False,
    callback: Callable[[float], object] | None = None,
) -> Corpus:
    """Build a corpus from a data frame or a list in memory, as from a file of the same rows.

    Parameters
    ----------
    frame : data frame, data set, or list of dict or str
        A data frame of pandas or polars, one split of a data set of Hugging Face, or anything else
        with `to_pandas`; or a list with an object for each row. Each row is a document.
    name : str
        The name of the corpus.
    text, date, title, group : str, optional
        The columns, as for `load_corpus`.
    day_first : bool, optional
        Whether 3/4/1863 is 3 April, as for `load_corpus`.
    words : WordChoices, optional
        Which words are counted, as for `load_corpus`.
    like : Corpus or fitted model, optional
        Has the words that are counted, as for `load_corpus`.
    verbose : bool
        Whether a progress bar is shown.
    callback : callable, optional
        As for `load_corpus`.

    Returns
    -------
    Corpus
        The corpus in the order of the rows; `rows` has their positions from 0, so that
        `frame.iloc[corpus.rows]` are the rows of the documents.

    Raises
    ------
    CorpusError
        If the corpus cannot be built; the message names the row and the remedy.
    TypeError
        If `frame` is another object, `words` is not `WordChoices`, or `like` is not a corpus or a
        fitted model.

    Examples
    --------
    >>> letters = [{"body": "War and peace", "year": 1812}, {"body": "Peace", "year": 1815}]
    >>> corpus_from(letters, text="body", date="year")
    Corpus('data frame', 2 documents, 2 words, 3 tokens, 1812 to 1815)
    """
    chosen = choose_words(words, like)
    columns = Columns(text=text, date=date, title=title, group=group, day_first=day_first)
    source = Source(kind=KIND, path=Path(name), table=open_frame(frame, name, columns.names))
    with show_share(verbose, callback) as report:
        return _build(source, columns, chosen, report)


def _build(
    source: Source, columns: Columns, words: WordChoices | KnownWords | None, report: Report
) -> Corpus:
    """Build a corpus, and log the notes and the rows that were skipped."""
    built = build_corpus(source, columns, words, report)
    report(1.0, "Done")
    for note in built.notes:
        logger.warning(note)
    if built.bad.count:
        listed = "; ".join(map(str, built.bad.listed[:5]))
        number = built.bad.count
        left = f"{number} of {number + built.corpus.num_documents} rows"
        if source.is_counted:
            left = f"{number} line{'s' * (number > 1)}"
        logger.warning("%s: skipped %s. First: %s", source.path, left, listed)
    return built.corpus


def _load_named(name: str) -> Corpus:
    return load_built_in(name) if name in BUILT_IN else load_own(name)


def _find_path(name_or_path: str | PathLike[str]) -> Path:
    """The path of a file or folder; CorpusError if it is missing or not supported."""
    refuse_remote(name_or_path)
    path = Path(name_or_path).expanduser()
    refuse_hidden(path)
    if not os.path.exists(path) and os.path.isdir(name_unfinished(path.absolute())):
        raise CorpusError(
            f"The build of {path} is unfinished. Wait for it, or build again with the same"
            " arguments."
        )
    # Path("") is the current folder, and Path.exists fails for a name that is too long;
    # os.path.exists returns False.
    is_there = os.path.exists(os.path.expanduser(name_or_path))
    if not is_there and not (name_source(path).kind and len(path.name) <= LONGEST_NAME):
        raise CorpusError(_explain_unknown(name_or_path))
    return path


def list_corpora(folder: str | PathLike[str] | None = None) -> tuple[str, ...]:
    """List the names of all corpora.

    Parameters
    ----------
    folder : str or path, optional
        The folder of the built corpora. By default, `corpora` in the folder of STICKBREAKER_DATA or
        the user's data.

    Returns
    -------
    tuple of str
        The built-in corpora, then those of the user; one with the name of a built-in corpus is
        listed with " (own)" after it.

    Examples
    --------
    >>> list_corpora()[:4]
    ('state-of-the-union', 'rfc', 'rfc-documents', 'bars')
    """
    return (*BUILT_IN, *(corpus.name for corpus in list_own(folder)))


def _explain_unknown(name_or_path: str | PathLike[str]) -> str:
    known = list_corpora()
    name = cut(str(name_or_path), LONGEST_SHOWN)
    guesses = [f" Did you mean {near!r}?" for near in get_close_matches(name, known, n=1)]
    return (
        f"No corpus {name!r}.{''.join(guesses)} Use {', '.join(known)}, or a file of a supported"
        f" type: {READ}."
    )
