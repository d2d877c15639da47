"""Corpora built from files, and the rows that were skipped, for tests of all formats."""

import json
import zipfile

import numpy as np
import pandas as pd
import pytest

from stickbreaker.engine.corpora.build import build_corpus
from stickbreaker.engine.corpora.columns import Columns
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.sources import find_source

TEXTS = ["Treaty of peace", "The treaty and the tariff", "Tariff on cotton", "Peace, peace at last"]
PLAIN = Columns()
COLUMNS = {"text": "said", "date": "when", "title": "who", "group": "of"}


def pack(path, **members):
    """Write a zip archive; the keywords are the names of its members."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def build(path, columns=PLAIN, words=None):
    """The corpus in a file or folder, with the rows that are skipped."""
    return build_corpus(find_source(path), columns, words)


def reasons(built):
    """Where and why each listed row was skipped."""
    return [str(row) for row in built.bad.listed]


def assert_same_corpora(one, other):
    """All contents of two corpora are equal; their names can differ."""
    assert (one.counts != other.counts).nnz == 0
    for what in ("dates", "doc_ids", "groups", "rows"):
        np.testing.assert_array_equal(getattr(one, what), getattr(other, what))
        assert getattr(one, what).dtype == getattr(other, what).dtype
    for what in ("titles", "group_titles"):
        assert list(getattr(one, what)) == list(getattr(other, what))
    for what in (
        "vocabulary",
        "num_documents",
        "vocab_size",
        "num_tokens",
        "has_dates",
        "split_by",
        "word_choices",
    ):
        assert getattr(one, what) == getattr(other, what)


def make_rows(number=1_300, seed=0):
    """Rows with a Zipf vocabulary, some of them without text, date or counted words."""
    rng = np.random.default_rng(seed)
    rows = []
    for row in range(number):
        words = [
            f"word{'abcdefghij'[n % 10]}{'abcdefghij'[n // 10 % 10]}" for n in rng.zipf(1.4, 12)
        ]
        text = {7: "", 11: "the of 12"}.get(row % 50, " ".join(words))
        when = "soon" if row % 97 == 5 else f"19{row % 80 + 10}-0{row % 9 + 1}-11"
        rows.append(
            dict(
                zip(
                    COLUMNS.values(),
                    (text, when, f"T{row}" if row % 3 else "", f"G{row // 40}"),
                    strict=True,
                )
            )
        )
    return pd.DataFrame(rows)


def write_table(rows, path):
    """Write rows in the format of the extension."""
    if path.suffix == ".parquet":
        rows.to_parquet(path, row_group_size=300)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows.to_dict("records")))
    else:
        rows.to_csv(path, index=False)
    return path


def refuses(message):
    """Expect a CorpusError whose message matches."""
    return pytest.raises(CorpusError, match=message)
