"""Zip files of arrays for other programs; those of sheets are tested in test_intrusion.py."""

import json
import zipfile

import numpy as np
import pytest
from scipy.sparse import csr_array

from stickbreaker.engine.evaluation.archives import write_arrays


@pytest.mark.parametrize("make", [csr_array, np.asarray])
def test_arrays_are_read_from_the_zip_bit_for_bit(tmp_path, make):
    rng = np.random.default_rng(2)
    shares = rng.dirichlet(np.ones(4), 5000).astype(np.float32)
    topics = rng.dirichlet(np.ones(9), 4).astype(np.float32)
    write_arrays(tmp_path / "arrays.zip", make(shares), topics, {"words": ["é", "ß"]})
    with np.load(tmp_path / "arrays.zip") as arrays:
        np.testing.assert_array_equal(arrays["theta"], shares)
        np.testing.assert_array_equal(arrays["topics"], topics)
    with zipfile.ZipFile(tmp_path / "arrays.zip") as archive:
        assert json.loads(archive.read("vocabulary.json")) == {"words": ["é", "ß"]}
