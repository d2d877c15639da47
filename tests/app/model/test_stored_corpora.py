"""A corpus that need not fit in memory is learned from in full.

A sample of its documents is read with the model.
"""

import numpy as np
import pytest

from stickbreaker.app.model import reading
from stickbreaker.app.views.reading_note import describe_reading
from stickbreaker.engine.corpora.stored import store_corpus
from tests.app.small_runs import learn, read, small_corpus, small_spec


@pytest.fixture
def stored(tmp_path):
    return store_corpus(small_corpus(), tmp_path / "stored", shard_documents=30)


def test_a_small_stored_corpus_is_learned_and_read_as_one_in_memory(stored):
    ours, other = learn(stored, small_spec()), learn(small_corpus(), small_spec())
    np.testing.assert_array_equal(
        ours.model().state.topic_counts.stored, other.model().state.topic_counts.stored
    )
    found, expected = read(ours).reading, read(other).reading
    assert (found.doc_shares != expected.doc_shares).nnz == 0
    assert (found.first.doc_shares != expected.first.doc_shares).nnz == 0
    np.testing.assert_array_equal(found.first.seen, expected.first.seen)


def test_of_a_large_stored_corpus_a_sample_is_read_and_the_page_says_so(stored, monkeypatch):
    monkeypatch.setattr(reading, "MOST_READ", 20)
    record = learn(stored, small_spec())
    job = read(record)
    ids = np.arange(20) * 110 // 20
    np.testing.assert_array_equal(job.reading.corpus.doc_ids, ids)
    whole = read(learn(small_corpus(), small_spec())).reading
    assert abs(job.reading.doc_shares - whole.doc_shares[ids]).max() < 1e-5
    np.testing.assert_array_equal(job.reading.first.seen, whole.first.seen[ids])
    said = describe_reading(job, record.progress(1))
    assert (
        said == "Topics of 20 of 110 documents, evenly spaced, inferred with the model after 100"
        " documents."
    )
