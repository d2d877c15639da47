"""The built-in corpora: reads the compressed files and checks the checksums, or simulates."""

import hashlib
import io
import json
from collections.abc import Iterable, Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array

from stickbreaker.engine.corpora import bars
from stickbreaker.engine.corpora.corpus import Corpus, Vocabulary
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.word_choices import WordChoices

# The file of each bundled corpus. The documents of `rfc-documents` are the groups of its file.
FILES = {"state-of-the-union": "state-of-the-union", "rfc": "rfc", "rfc-documents": "rfc"}
# The names of all built-in corpora; the last one is simulated.
BUILT_IN = (*FILES, bars.NAME)
REMEDY = "reinstall stickbreaker, or restore it with `git checkout -- data`"

# How their words were counted, apart from rare and common ones.
CHOICES = WordChoices(min_letters=3, keeps_digits=False)
# Gaps from this one on are stored in `long_gaps`.
LONG = 255
LINES = ("vocabulary", "group_titles", "date_unit", "split_by")


def load_built_in(name: str) -> Corpus:
    """Load one of `BUILT_IN`.

    Raise CorpusError if its file is missing or damaged.
    """
    if name == bars.NAME:
        return bars.simulate_bars()
    corpus = _read_file(FILES[name])
    return corpus if corpus.name == name else corpus.merge_groups(name)


def find_data_folder() -> Traversable:
    """Return the data folder: inside the package in a wheel, next to it in a checkout."""
    inside = resources.files("stickbreaker.engine") / "data"
    return (
        inside
        if (inside / "checksums.json").is_file()
        else Path(__file__).resolve().parents[2] / "data"
    )


def _read_checksums() -> dict[str, str]:
    file = find_data_folder() / "checksums.json"
    try:
        checksums: dict[str, str] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CorpusError(f"Cannot read {file} ({error}): {REMEDY}.") from error
    return checksums


def _read_file(name: str) -> Corpus:
    file = find_data_folder() / f"{name}.npz"
    try:
        content = file.read_bytes()
    except OSError as error:
        raise CorpusError(f"Cannot read {file} ({error}): {REMEDY}.") from error
    if hashlib.sha256(content).hexdigest() != _read_checksums()[name]:
        raise CorpusError(f"{file} is damaged (its SHA-256 differs from checksums.json): {REMEDY}.")
    return unpack(name, content)


def pack(corpus: Corpus) -> bytes:
    """Compress a corpus of passages into the bytes of an npz file.

    Those of a group are consecutive, with one date.

    The non-zero cells of the counts are numbered column by column. Each is stored as the gap to the
    previous one, in one byte; 255 marks a gap that is in `long_gaps`. Neighbouring passages share
    words, so most gaps are 1, which compresses better than lists of words.
    """
    columns = csc_array(corpus.counts)
    # Row r of column v has the number v D + r.
    cells = (
        np.repeat(np.arange(corpus.vocab_size) * corpus.num_documents, np.diff(columns.indptr))
        + columns.indices
    )
    gaps = np.diff(cells, prepend=0)
    first = np.unique(corpus.groups, return_index=True)[1]
    arrays = {
        "gaps": np.minimum(gaps, LONG),
        "long_gaps": gaps[gaps >= LONG],
        "counts": columns.data,
        "group_sizes": np.bincount(corpus.groups),
        "group_dates": corpus.dates[first].astype(np.int64),
    }
    lines: dict[str, Iterable[str]] = {
        "vocabulary": corpus.vocabulary,
        "group_titles": corpus.group_titles,
        "date_unit": np.datetime_data(corpus.dates.dtype)[:1],
        "split_by": [corpus.split_by],
    }
    packed: dict[str, Any] = {name: _smallest(array) for name, array in arrays.items()}
    packed |= {
        name: np.frombuffer("\n".join(rows).encode(), np.uint8) for name, rows in lines.items()
    }
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **packed)
    return buffer.getvalue()


def _smallest(array: np.ndarray) -> np.ndarray:
    ends = (array.min(initial=0), array.max(initial=0))
    return array.astype(np.result_type(*map(np.min_scalar_type, ends)))


def unpack(name: str, content: bytes) -> Corpus:
    """The corpus that a file of `pack` holds."""
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        arrays = dict(stored)
    lines = {key: arrays[key].tobytes().decode().split("\n") for key in LINES}
    sizes = arrays["group_sizes"].astype(np.int64)
    titles = lines["group_titles"]
    groups = np.repeat(np.arange(len(sizes)), sizes)
    return Corpus(
        name=name,
        counts=_unpack_counts(arrays, len(groups), len(lines["vocabulary"])),
        vocabulary=Vocabulary(lines["vocabulary"]),
        dates=arrays["group_dates"]
        .astype(np.int64)
        .astype(f"datetime64[{lines['date_unit'][0]}]")[groups],
        titles=name_passages(titles, sizes),
        groups=groups,
        group_titles=titles,
        split_by=lines["split_by"][0],
        word_choices=CHOICES,
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
    """Name each passage by the title of its text and its number in it.

    sizes: the number of passages of each text.

    >>> name_passages(["1790 George Washington"], [2])
    ['1790 George Washington, passage 1', '1790 George Washington, passage 2']
    """
    texts = zip(titles, sizes, strict=True)
    return [f"{title}, passage {number}" for title, size in texts for number in range(1, size + 1)]
