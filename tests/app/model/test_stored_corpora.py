"""A corpus that need not fit in memory is learned from in full; a sample of its documents is read with the model."""

import numpy as np
import pytest

from stickbreaker import engine
from stickbreaker.app.model import reading
from stickbreaker.app.model.reading import Reader
from stickbreaker.app.model.record import Record
from stickbreaker.app.views.reading_note import describe_reading
from stickbreaker.engine.corpora.stored import store_corpus
from tests.app.small_runs import SETTINGS, small_corpus, small_spec


@pytest.fixture
def stored(tmp_path):
    return store_corpus(small_corpus(), tmp_path / "stored", shard_documents=30)


def learn(corpus):
    record = Record(small_spec(), 1, lambda: 0.0)
    record.open(corpus, engine.prepare(record.spec.algorithm, record.spec.config, corpus, SETTINGS))
    while not record.is_over:
        record.advance()
    return record


def read(record):
    reader = Reader(record.model, lambda: None)
    reader.ask()
    reader.join(30)
    assert reader.job.status == "ready", reader.job.message
    return reader.job


def test_a_small_stored_corpus_is_learned_and_read_as_one_in_memory(stored):
    ours, other = learn(stored), learn(small_corpus())
    np.testing.assert_array_equal(ours.model().state.topic_counts.stored, other.model().state.topic_counts.stored)
    found, expected = read(ours).reading, read(other).reading
    assert (found.doc_shares != expected.doc_shares).nnz == 0
    assert (found.first.doc_shares != expected.first.doc_shares).nnz == 0
    np.testing.assert_array_equal(found.first.seen, expected.first.seen)


def test_of_a_large_stored_corpus_a_sample_is_read_and_the_page_says_so(stored, monkeypatch):
    monkeypatch.setattr(reading, "MOST_READ", 20)
    record = learn(stored)
    job = read(record)
    ids = np.arange(20) * 110 // 20
    np.testing.assert_array_equal(job.reading.corpus.doc_ids, ids)
    whole = read(learn(small_corpus())).reading
    assert abs(job.reading.doc_shares - whole.doc_shares[ids]).max() < 1e-5
    np.testing.assert_array_equal(job.reading.first.seen, whole.first.seen[ids])
    said = describe_reading(job, record.progress(1))
    assert said == "20 of 110 documents, evenly spaced, read with the model after 100 documents."
