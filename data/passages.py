"""Build a corpus from texts cut into passages.

Write it as a file of the project, or its texts for the user.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import numpy as np

from stickbreaker.engine.corpora.bundled import FILES, load_built_in, name_passages, pack
from stickbreaker.engine.corpora.corpus import Corpus, Vocabulary
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.shards import TEXTS_AT_ONCE
from stickbreaker.engine.corpora.texts import HEADER, TEXTS, find_bundled_folder
from stickbreaker.engine.corpora.words import count_words
from stickbreaker.engine.files.verified_files import seal_folder
from stickbreaker.engine.files.whole_files import open_synced

FOLDER = Path(__file__).parent


class Writing(NamedTuple):
    """A text cut into passages, with its title and its year or month ("1863", "1994-04")."""

    title: str
    date: str
    passages: Sequence[str]


class Words(NamedTuple):
    """Limits of the vocabulary: words in `min_documents` passages to `max_share` of them, at most
    `max_words`.
    """

    min_documents: int
    max_share: float
    max_words: int | None = None


class Cut(NamedTuple):
    """A corpus with one document per passage, and the text of each passage."""

    corpus: Corpus
    passages: Sequence[str]


def build_corpus(name: str, writings: Iterable[Writing], words: Words, split_by: str) -> Cut:
    """Count the words of all passages, with each text as a group.

    Passages without counted words are dropped.

    Parameters
    ----------
    name : str
        The name of the corpus.
    writings : iterable of Writing
        The texts.
    words : Words
        The limits of the vocabulary.
    split_by : str
        "document" or "group", as for `Corpus`.

    Returns
    -------
    Cut
        The corpus and the texts of its passages.

    Raises
    ------
    CorpusError
        If no words remain.
    """
    titles: list[str] = []
    dates: list[str] = []
    passages: list[str] = []
    sizes: list[int] = []
    for writing in writings:
        titles.append(writing.title)
        dates.append(writing.date)
        passages.extend(writing.passages)
        sizes.append(len(writing.passages))
    counts, vocabulary = count_words(passages, *words)
    has_words = np.diff(counts.indptr) > 0
    writings_left, groups = np.unique(
        np.repeat(np.arange(len(titles)), sizes)[has_words], return_inverse=True
    )
    titles = [titles[writing] for writing in writings_left]
    corpus = Corpus(
        name,
        counts[has_words],
        Vocabulary(tuple(vocabulary)),
        np.array(dates, "datetime64")[writings_left][groups],
        name_passages(titles, np.bincount(groups)),
        groups=groups,
        group_titles=titles,
        split_by=split_by,
    )
    return Cut(corpus, [passages[row] for row in np.flatnonzero(has_words)])


def write(cut: Cut, only_texts: bool) -> None:
    """Write the file of a corpus, or only its texts, for the user who runs the command.

    Parameters
    ----------
    cut : Cut
        The corpus and its texts.
    only_texts : bool
        Whether to store the texts among the user's corpora, where the page finds them, and to write
        no corpus.

    Raises
    ------
    CorpusError
        If the texts are not those of the project's corpus.
    """
    if not only_texts:
        write_corpus(cut.corpus)
        return
    known = load_built_in(cut.corpus.name)
    if known.titles != cut.corpus.titles or (known.counts != cut.corpus.counts).nnz:
        raise CorpusError(
            f"The source differs from data/{known.name}.npz: use the version named in"
            " data/README.md."
        )
    for file in write_bundled_texts(cut.corpus, cut.passages):
        print(f"wrote {file}")


def write_corpus(corpus: Corpus) -> None:
    """Write the file of a corpus and its checksum, and print the figures of `data/README.md`.

    Parameters
    ----------
    corpus : Corpus
        The corpus; its name is the name of the file.
    """
    content = pack(corpus)
    (FOLDER / f"{corpus.name}.npz").write_bytes(content)
    checksums_file = FOLDER / "checksums.json"
    checksums = (
        json.loads(checksums_file.read_text(encoding="utf-8")) if checksums_file.exists() else {}
    )
    checksums[corpus.name] = hashlib.sha256(content).hexdigest()
    checksums_file.write_text(
        json.dumps(checksums, indent=2, sort_keys=True) + "\n", encoding="utf-8"
    )
    print(f"{corpus!r}; {corpus.counts.nnz} entries; {len(corpus.group_titles)} groups")
    print(f"{corpus.name}.npz: {len(content)} bytes, SHA-256 {checksums[corpus.name]}")


def write_bundled_texts(corpus: Corpus, passages: Sequence[str]) -> list[Path]:
    """Store the texts of the passages of a bundled corpus.

    Return a file for each corpus that has them.
    """
    import pyarrow as pa
    from pyarrow import parquet

    files = []
    for name in (each for each, source in FILES.items() if source == corpus.name):
        ids = np.arange(len(passages)) if name == corpus.name else corpus.groups
        table = pa.table(
            {"document": np.asarray(ids, np.int64), "text": pa.array(passages, pa.large_string())}
        )
        place = find_bundled_folder(name)
        place.mkdir(parents=True, exist_ok=True)
        before = set(place.glob("*.parquet"))
        # A new name: the header names either the old file or the new one.
        file = place / f"{uuid4().hex}.parquet"
        with open_synced(file) as out:
            parquet.write_table(table, out, compression="zstd", row_group_size=TEXTS_AT_ONCE)
        seal_folder(place, HEADER, TEXTS, {}, [file.name])
        for old in before:
            old.unlink()
        files.append(file)
    return files
