"""Corpora built from files, and the rows that were skipped, for tests of all formats."""

import zipfile

import numpy as np

from stickbreaker.engine.corpora.build import Columns, build_corpus
from stickbreaker.engine.corpora.sources import find_source

TEXTS = ["Treaty of peace", "The treaty and the tariff", "Tariff on cotton", "Peace, peace at last"]
PLAIN = Columns()


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
    for what in ("dates", "doc_ids", "groups"):
        np.testing.assert_array_equal(getattr(one, what), getattr(other, what))
        assert getattr(one, what).dtype == getattr(other, what).dtype
    for what in ("titles", "group_titles"):
        assert list(getattr(one, what)) == list(getattr(other, what))
    for what in ("vocabulary", "num_documents", "vocab_size", "num_tokens", "has_dates", "split_by"):
        assert getattr(one, what) == getattr(other, what)
