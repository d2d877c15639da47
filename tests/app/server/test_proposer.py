"""Merges and splits that documents set aside support, in the background of a run."""

import pytest

from stickbreaker.app.model.proposed_edits import ProposalJob
from stickbreaker.app.server.cpu_queue import CpuQueue
from stickbreaker.app.server.proposer import Proposer
from tests.app.small_runs import LDA, SETTINGS, Compiled, RunSpec, begin, small_spec


def search(model):
    proposer = Proposer(lambda: model, lambda: None, CpuQueue(1), Compiled(), ProposalJob())
    proposer.start()
    proposer.join()
    return proposer.job


def learn(spec):
    record = begin(spec)
    for _ in range(5):
        record.advance()
    return record


@pytest.fixture(scope="module")
def record():
    return learn(small_spec(duplicates="merge"))


def test_merges_and_splits_of_the_model_are_tried_and_those_supported_are_listed(record):
    job = search(record.model())
    assert job.status == "ready", job.message
    assert job.num_tried >= 3
    assert all(each.is_supported for each in job.supported)
    gains = [each.gain for each in job.supported]
    assert gains == sorted(gains, reverse=True)
    assert job.model_key == record.progress(1).model_key


def test_a_model_without_documents_set_aside_or_topics_to_edit_is_not_searched():
    lda = RunSpec("small", LDA, LDA.config(max_topics=3, batch_size=10), SETTINGS)
    for spec in (small_spec(), lda):
        assert search(learn(spec).model()).status == "none"
