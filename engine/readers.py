"""Corpora from files: the ones that come with the project, and a CSV file of one's own."""

import hashlib
import io
import json
import logging
import re
import warnings
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csc_array, csr_array

from engine.corpus import Corpus, CorpusError, Vocabulary

if TYPE_CHECKING:
    import pandas as pd

logger = logging.getLogger(__name__)

# The corpora that come with the project, and the file of each. `rfc-documents` has the groups of its file as documents.
FILES = {"state-of-the-union": "state-of-the-union", "rfc": "rfc", "rfc-documents": "rfc"}
REMEDY = "reinstall stickbreaker, or restore it with `git checkout -- data`"

# A distance between cells that one byte cannot hold.
LONG = 255
LINES = ("vocabulary", "group_titles", "date_unit", "split_by")

# Three letters or more; not the "don" of "don't", whose whole form is a stop word.
WORD = r"(?u)\b[^\W\d_]{3,}\b(?!['’]t\b)"


def load_corpus(
    name_or_path: str | PathLike,
    *,
    text: str | None = None,
    date: str | None = None,
    title: str | None = None,
    group: str | None = None,
) -> Corpus:
    """A corpus by its name (`list_corpora()`), or from a CSV file in UTF-8 whose first row names its columns.

    text: the column with the documents; needed unless it is called "text" or is the only one.
    date: the column with their dates: years, ISO dates, or what pandas reads as dates (3/4/1863 is the 4th of March).
        Without it the order of the rows is the chronology.
    title: the column with their titles; without it documents are called by their row.
    group: the column with the longer text that each is a part of; held-out documents are then whole groups.

    Rows without a word to count are left out, with a warning in the log. Raises CorpusError, which names the file,
    the row as a spreadsheet numbers it, and the remedy.
    """
    if not isinstance(name_or_path, PathLike) and name_or_path in list_corpora():
        if (text, date, title, group) != (None,) * 4:
            raise CorpusError(f"{name_or_path} comes with its text and dates: leave text, date, title and group out.")
        corpus = _read_own(FILES[name_or_path])
        return corpus if corpus.name == name_or_path else corpus.merge_groups(name_or_path)
    path = Path(name_or_path)
    if path.suffix.lower() == ".csv":
        return _read_csv(path, text, {"date": date, "title": title, "group": group})
    raise CorpusError(_explain_unknown(name_or_path))


def list_corpora() -> tuple[str, ...]:
    """Names of the corpora that come with the project.

    >>> list_corpora()
    ('state-of-the-union', 'rfc', 'rfc-documents')
    """
    return tuple(FILES)


def _explain_unknown(name_or_path: str | PathLike) -> str:
    known = list_corpora()
    near = get_close_matches(str(name_or_path), known, n=1)
    guess = f" Did you mean {near[0]!r}?" if near else ""
    return (
        f"There is no corpus {str(name_or_path)!r}.{guess} Known corpora: {', '.join(known)};"
        " a file of your own must be CSV, its name ending in .csv."
    )


def _data_folder():
    """A wheel carries the data inside the package; a checkout, or an editable install of one, beside it."""
    inside = resources.files("engine") / "data"
    return inside if (inside / "checksums.json").is_file() else Path(__file__).parents[1] / "data"


def _read_checksums() -> dict[str, str]:
    file = _data_folder() / "checksums.json"
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CorpusError(f"{file} cannot be read ({error}): {REMEDY}.") from error


def _read_own(name: str) -> Corpus:
    file = _data_folder() / f"{name}.npz"
    try:
        content = file.read_bytes()
    except OSError as error:
        raise CorpusError(f"{file} cannot be read ({error}): {REMEDY}.") from error
    if hashlib.sha256(content).hexdigest() != _read_checksums()[name]:
        raise CorpusError(f"{file} is damaged (its SHA-256 is not the one in checksums.json): {REMEDY}.")
    return _unpack(name, content)


def pack(corpus: Corpus) -> bytes:
    """A corpus of passages as the bytes of a compressed npz file; its groups are stretches, and dated as a whole.

    The cells that hold a word are numbered word by word, D to a word, and each is stored as its distance from the one
    before: one byte, 255 for those in `long_gaps`. Passages of one text stand together and share its words, so most
    distances are 1, which compresses better than the words of each passage do.
    """
    columns = csc_array(corpus.counts)
    cells = np.repeat(np.arange(corpus.vocab_size) * corpus.num_documents, np.diff(columns.indptr)) + columns.indices
    gaps = np.diff(cells, prepend=0)
    first = np.unique(corpus.groups, return_index=True)[1]
    arrays = {
        "gaps": np.minimum(gaps, LONG),
        "long_gaps": gaps[gaps >= LONG],
        "counts": columns.data,
        "group_sizes": np.bincount(corpus.groups),
        "group_dates": corpus.dates[first].astype(np.int64),
    }
    lines = {
        "vocabulary": corpus.vocabulary,
        "group_titles": corpus.group_titles,
        "date_unit": np.datetime_data(corpus.dates.dtype)[:1],
        "split_by": [corpus.split_by],
    }
    packed = {name: _smallest(array) for name, array in arrays.items()}
    packed |= {name: np.frombuffer("\n".join(rows).encode(), np.uint8) for name, rows in lines.items()}
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **packed)
    return buffer.getvalue()


def _smallest(array: np.ndarray) -> np.ndarray:
    ends = (array.min(initial=0), array.max(initial=0))
    return array.astype(np.result_type(*map(np.min_scalar_type, ends)))


def _unpack(name: str, content: bytes) -> Corpus:
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        arrays = dict(stored)
    lines = {key: arrays[key].tobytes().decode().split("\n") for key in LINES}
    sizes, titles = arrays["group_sizes"].astype(np.int64), lines["group_titles"]
    groups = np.repeat(np.arange(len(sizes)), sizes)
    return Corpus(
        name,
        _unpack_counts(arrays, len(groups), len(lines["vocabulary"])),
        Vocabulary(lines["vocabulary"]),
        arrays["group_dates"].astype(np.int64).astype(f"datetime64[{lines['date_unit'][0]}]")[groups],
        name_passages(titles, sizes),
        groups=groups,
        group_titles=titles,
        split_by=lines["split_by"][0],
    )


def _unpack_counts(arrays: dict[str, np.ndarray], num_documents: int, vocab_size: int) -> csr_array:
    cells = arrays["gaps"].astype(np.int64)
    cells[arrays["gaps"] == LONG] = arrays["long_gaps"]
    np.cumsum(cells, out=cells)
    column_starts = np.arange(vocab_size + 1) * num_documents
    starts = np.searchsorted(cells, column_starts)
    cells -= np.repeat(column_starts[:-1], np.diff(starts))
    entries = (arrays["counts"].astype(np.int32), cells.astype(np.int32), starts.astype(np.int32))
    return csr_array(csc_array(entries, shape=(num_documents, vocab_size)))


def name_passages(titles: Sequence[str], sizes: np.ndarray) -> list[str]:
    """The passages of each text by its title and their number in it.

    >>> name_passages(["1790 George Washington"], [2])
    ['1790 George Washington, passage 1', '1790 George Washington, passage 2']
    """
    texts = zip(titles, sizes, strict=True)
    return [f"{title}, passage {number}" for title, size in texts for number in range(1, size + 1)]


def _read_csv(path: Path, text: str | None, columns: dict[str, str | None]) -> Corpus:
    table = _read_table(path)
    texts = table[_find_text(path, table, text)]
    for column in columns.values():
        _check_column(path, table, column)
    rows = np.flatnonzero(texts.str.strip() != "")
    counts, words = _count_own(path, texts.iloc[rows])
    has_words = np.diff(counts.indptr) > 0
    _warn_of_skipped(path, len(table), rows[has_words])
    counts, rows = counts[has_words], rows[has_words]
    cells = {what: column and table[column].iloc[rows] for what, column in columns.items()}
    titles = [f"{path.stem}, row {row + 2}" for row in rows] if cells["title"] is None else cells["title"]
    dates = np.full(len(rows), "NaT", "datetime64[D]") if cells["date"] is None else _read_dates(path, cells["date"])
    grouping = {} if cells["group"] is None else _read_groups(path, cells["group"])
    return Corpus(path.stem, counts, Vocabulary(words), dates, titles, **grouping)


def _read_groups(path: Path, cells: "pd.Series") -> dict[str, object]:
    names = cells.str.strip()
    if (names == "").any():
        row = int(names.index[names == ""][0])
        raise CorpusError(f"{path}, row {row + 2}: no group is named: name one in every row, or leave `group` out.")
    groups, titles = names.factorize()
    return {"groups": groups, "group_titles": titles.tolist(), "split_by": "group"}


def _read_table(path: Path) -> "pd.DataFrame":
    """All cells as text; row i of the frame is row i + 2 of the spreadsheet, blank lines included."""
    # pandas and scikit-learn take a second to import, and the corpora that come with the project need neither.
    import pandas as pd

    layout = {"skip_blank_lines": False, "index_col": False, "encoding": "utf-8-sig"}
    try:
        with warnings.catch_warnings():
            # A comma too many in every row is only warned of, and would cost the end of each text.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(path, dtype=str, keep_default_na=False, **layout).fillna("")
    except FileNotFoundError as error:
        raise CorpusError(f"There is no file {path.absolute()}: check its folder and its name.") from error
    except pd.errors.EmptyDataError as error:
        raise CorpusError(f"{path} is empty: its first row must name the columns.") from error
    except UnicodeDecodeError as error:
        raise CorpusError(f"{path} is not in UTF-8: save it again as 'CSV UTF-8'.") from error
    except (pd.errors.ParserError, pd.errors.ParserWarning, OSError) as error:
        reason = str(error).strip()
        remedy = "put texts that hold commas in quotes, and close every quote"
        raise CorpusError(f"{path} cannot be read as CSV ({reason}): {remedy}.") from error


def _find_text(path: Path, table: "pd.DataFrame", text: str | None) -> str:
    if len(table.columns) == 1 and re.search("[;\t]", table.columns[0]):
        raise CorpusError(f"{path} does not part its columns by commas: save it again as CSV with commas.")
    if text is None and len(table.columns) == 1:
        return table.columns[0]
    if text is None and "text" not in table.columns:
        raise CorpusError(f'{path}: say which column holds the text, text="..."; there are {_names(table)}.')
    _check_column(path, table, text)
    return text or "text"


def _check_column(path: Path, table: "pd.DataFrame", column: str | None):
    if column is not None and column not in table.columns:
        raise CorpusError(f"{path} has no column {column!r}: choose one of {_names(table)}.")


def _names(table: "pd.DataFrame") -> str:
    return ", ".join(repr(column) for column in table.columns)


def _warn_of_skipped(path: Path, num_rows: int, kept: np.ndarray):
    if len(kept) < num_rows:
        first = np.setdiff1d(np.arange(num_rows), kept)[0] + 2
        logger.warning(
            "%s: left %d of %d rows out that hold no word to count, row %d first.",
            path,
            num_rows - len(kept),
            num_rows,
            first,
        )


def _read_dates(path: Path, cells: "pd.Series") -> np.ndarray:
    """Dates as coarse as they are written: whole years as years, days as days, times to the second."""
    import pandas as pd

    cells = cells.str.strip()
    if cells.str.fullmatch(r"\d{4}(\.0)?").all():
        return cells.str[:4].to_numpy(dtype=str).astype("datetime64[Y]")
    if cells.str.fullmatch(r"\d{4}-\d\d").all():
        return pd.to_datetime(cells, format="%Y-%m").to_numpy().astype("datetime64[M]")
    times = pd.to_datetime(cells, format="ISO8601", errors="coerce", utc=True)
    if times.isna().any():
        times = _guess_dates(cells)
    if times.isna().any():
        row = int(cells.index[times.isna()][0])
        raise CorpusError(
            f"{path}, row {row + 2}: {cells.loc[row]!r} is not a date: write every date as a year (1863), an ISO date"
            " (1863-12-08), or in one other form throughout; or leave `date` out to take the rows in their order."
        )
    seconds = times.dt.tz_localize(None).to_numpy().astype("datetime64[s]")
    days = seconds.astype("datetime64[D]")
    return days if (days == seconds).all() else seconds


def _guess_dates(cells: "pd.Series") -> "pd.Series":
    """One form for all cells, the one pandas sees in the first; cells of another form become NaT."""
    import pandas as pd
    from pandas.tseries.api import guess_datetime_format

    form = guess_datetime_format(cells.iloc[0])
    if form is None:
        return pd.Series(pd.NaT, index=cells.index)
    return pd.to_datetime(cells, format=form, errors="coerce", utc=True)


def _count_own(path: Path, texts: "pd.Series") -> tuple[csr_array, list[str]]:
    """Rare and common words go, as for the corpora that come with the project, but a small corpus keeps more."""
    num_documents = len(texts)
    min_documents = min(10, 1 + num_documents // 250)
    max_share = 0.2 if num_documents >= 1000 else 0.5 if num_documents >= 20 else 1.0
    try:
        return count_words(texts, min_documents, max_share)
    except ValueError as error:
        raise CorpusError(
            f"{path} has no words left to count in {num_documents} rows with text: a word must have three letters, be"
            f" no English stop word and stand in {min_documents} or more and at most {max_share:.0%} of the rows."
        ) from error


def count_words(
    texts: Sequence[str], min_documents: int, max_share: float, max_words: int | None = None
) -> tuple[csr_array, list[str]]:
    """Count the words of three letters or more in each text: (D, V) counts, and the V words in order.

    English stop words are left out, and words in fewer than `min_documents` texts or in more than `max_share` of them;
    of the rest the `max_words` most frequent stay. Raises ValueError when no word is left.

    >>> counts, words = count_words(["Peace, and more peace!", "Don't fear: 2 treaties of peace"], 1, 1.0)
    >>> words, counts.toarray().tolist()
    (['fear', 'peace', 'treaties'], [[0, 2, 0], [1, 1, 1]])
    """
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(
        token_pattern=WORD,
        stop_words="english",
        min_df=min_documents,
        max_df=max_share,
        max_features=max_words,
        dtype=np.int32,
    )
    counts = csr_array(vectorizer.fit_transform(texts))
    return counts, vectorizer.get_feature_names_out().tolist()
