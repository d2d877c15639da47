"""Zip files of arrays for other programs; those of sheets are tested in test_intrusion.py."""

import json
import zipfile

import numpy as np
import pytest
from scipy.sparse import csr_array

from stickbreaker.engine.algorithm import TopicSummary
from stickbreaker.engine.evaluation.archives import write_arrays
from stickbreaker.engine.evaluation.intrusion import ReadDocuments


@pytest.mark.parametrize("make", [csr_array, np.asarray])
def test_arrays_are_read_from_the_zip_bit_for_bit(tmp_path, make):
    rng = np.random.default_rng(2)
    shares = rng.dirichlet(np.ones(4), 5000).astype(np.float32)
    topics = rng.dirichlet(np.ones(9), 4).astype(np.float32)
    summary = TopicSummary(np.arange(4), topics, np.full(4, 0.25), np.arange(4.0))
    read = ReadDocuments(["title"] * 5000, np.arange(5000), csr_array((5000, 9)), make(shares))
    words = ["é", "ß", *"abcdefg"]
    write_arrays(tmp_path / "arrays.zip", summary, words, {0: "ü"}, read)
    with np.load(tmp_path / "arrays.zip") as arrays:
        np.testing.assert_array_equal(arrays["theta"], shares)
        np.testing.assert_array_equal(arrays["topics"], topics)
    with zipfile.ZipFile(tmp_path / "arrays.zip") as archive:
        about = json.loads(archive.read("vocabulary.json"))
    assert about["words"] == words
    assert about["labels"] == ["ü", "topic 1", "topic 2", "topic 3"]
    assert about["titles"] == read.titles
