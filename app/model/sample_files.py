"""Samples of State of the Union as CSV files, for trying the dialog for a user's own text."""

import csv
from pathlib import Path

import numpy as np

from stickbreaker.engine.corpora.load import load_corpus

SIZES = (100, 1_000, 10_000)
CORPUS = "state-of-the-union"


def name_sample(number: int) -> str:
    """The file name of a sample.

    >>> name_sample(1_000)
    'sample of 1,000 passages.csv'
    """
    return f"sample of {number:,} passages.csv"


def write_sample(folder: Path, number: int) -> Path:
    """Write a random sample of passages with the columns title, year and text; always the same.

    The corpus has word counts only, so a text is the counted words of its passage in a random
    order.
    """
    corpus = load_corpus(CORPUS)
    rng = np.random.default_rng(0)
    rows = np.sort(rng.choice(corpus.num_documents, number, replace=False))
    words = np.array(corpus.vocabulary.words)
    path = folder / name_sample(number)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("title", "year", "text"))
        for row in rows.tolist():
            entries = slice(corpus.counts.indptr[row], corpus.counts.indptr[row + 1])
            tokens = np.repeat(corpus.counts.indices[entries], corpus.counts.data[entries])
            text = " ".join(words[rng.permutation(tokens)])
            writer.writerow((corpus.titles[row], str(corpus.dates[row]), text))
    return path
