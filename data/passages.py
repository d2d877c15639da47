"""Texts cut into passages become a corpus, and a corpus the file that comes with the project."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from stickbreaker.engine.corpora.bundled import name_passages, pack
from stickbreaker.engine.corpora.corpus import Corpus, Vocabulary
from stickbreaker.engine.corpora.words import count_words

FOLDER = Path(__file__).parent


class Writing(NamedTuple):
    """A text by its title and the year or month ("1863", "1994-04") it appeared in, cut into passages."""

    title: str
    date: str
    passages: Sequence[str]


class Words(NamedTuple):
    """Words counted: those in at least `min_documents` passages and at most `max_share` of them; the most frequent."""

    min_documents: int
    max_share: float
    max_words: int | None = None


def build_corpus(name: str, writings: Iterable[Writing], words: Words, split_by: str) -> Corpus:
    """Count the words of all passages, each writing a group; passages that no counted word is left in are dropped."""
    titles, dates, passages, sizes = [], [], [], []
    for writing in writings:
        titles.append(writing.title)
        dates.append(writing.date)
        passages.extend(writing.passages)
        sizes.append(len(writing.passages))
    counts, vocabulary = count_words(passages, *words)
    has_words = np.diff(counts.indptr) > 0
    writings_left, groups = np.unique(np.repeat(np.arange(len(titles)), sizes)[has_words], return_inverse=True)
    titles = [titles[writing] for writing in writings_left]
    return Corpus(
        name,
        counts[has_words],
        Vocabulary(vocabulary),
        np.array(dates, "datetime64")[writings_left][groups],
        name_passages(titles, np.bincount(groups)),
        groups=groups,
        group_titles=titles,
        split_by=split_by,
    )


def write_corpus(corpus: Corpus):
    """Write the corpus file, and its checksum beside those of the others; print the figures of `data/README.md`."""
    content = pack(corpus)
    (FOLDER / f"{corpus.name}.npz").write_bytes(content)
    checksums_file = FOLDER / "checksums.json"
    checksums = json.loads(checksums_file.read_text(encoding="utf-8")) if checksums_file.exists() else {}
    checksums[corpus.name] = hashlib.sha256(content).hexdigest()
    checksums_file.write_text(json.dumps(checksums, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    print(f"{corpus!r}; {corpus.counts.nnz} entries; {len(corpus.group_titles)} groups")
    print(f"{corpus.name}.npz: {len(content)} bytes, SHA-256 {checksums[corpus.name]}")
