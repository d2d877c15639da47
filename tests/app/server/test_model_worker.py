"""Work on the model of a run in the background: count checks, proposed edits, other runs."""

from dataclasses import replace

import pytest

from stickbreaker.app.model.other_runs import NUM_RUNS
from stickbreaker.app.model.reading import Model
from stickbreaker.app.server.cpu_queue import CpuQueue
from stickbreaker.app.server.model_work import CountCheck, EditSearch, OtherSeeds
from stickbreaker.app.server.model_worker import ModelWorker
from stickbreaker.engine import find_algorithm, prepare, run
from stickbreaker.engine.runs.count_check import CheckPlan, check_count
from tests.app.small_runs import (
    HDP,
    LDA,
    SETTINGS,
    Compiled,
    RunSpec,
    begin,
    learn,
    small_config,
    small_corpus,
    small_spec,
)

PLAN = CheckPlan(passes=6)


@pytest.fixture(scope="module")
def model():
    """The model of a run after its first mini-batch."""
    prepared = prepare(HDP, small_config(), small_corpus(), SETTINGS)
    state = next(run(prepared)).state
    return Model(1, HDP, prepared.config, state, small_corpus(), prepared.train, 10)


@pytest.fixture
def queue():
    return CpuQueue(1)


@pytest.fixture
def make(model, queue):
    """Make checkers; they end with the test."""
    checkers = []

    def make(taken=model, notify=lambda: None, plan=PLAN):
        work = CountCheck(plan)
        checkers.append(ModelWorker(lambda: taken, notify, queue, Compiled(), work))
        return checkers[-1]

    yield make
    for checker in checkers:
        checker.close()
        checker.join()


def test_a_check_counts_what_the_engine_counts_on_the_training_documents_and_gives_its_core_back(
    make, model, queue
):
    seen = []
    checker = make(notify=lambda: seen.append(checker.job))
    checker.start()
    checker.join()
    expected = check_count(model.algorithm, model.config, model.state, model.train, PLAN)
    assert checker.job.status == "ready"
    assert checker.job.check.counts.tolist() == expected.counts.tolist()
    assert checker.job.check.num_documents == 100
    assert checker.job.run_id == 1
    assert checker.job.documents_seen == 10
    assert [job.status for job in (seen[0], seen[-1])] == ["waiting", "ready"]
    assert "working" in [job.status for job in seen]
    assert [job.share for job in seen] == sorted(job.share for job in seen)
    assert queue.preview() == 0


def test_a_check_waits_for_a_core_and_can_be_cancelled_there(make, queue, until):
    queue.take("a run")
    checker = make()
    checker.start()
    until(lambda: checker.job.message)
    assert "Waiting for a free processor core" in checker.job.message
    checker.cancel()
    checker.join()
    assert (checker.job.status, checker.job.message) == ("cancelled", "")
    queue.leave("a run")
    assert queue.preview() == 0


def test_a_cancelled_check_drops_its_result_and_a_new_one_can_begin(make, until):
    checker = make(plan=CheckPlan(passes=2000))
    checker.start()
    until(lambda: checker.job.status == "working")
    checker.cancel()
    assert checker.job.status == "cancelled"
    checker.start()
    assert checker.job.is_active
    checker.cancel()
    checker.join()
    assert (checker.job.status, checker.job.check) == ("cancelled", None)


def test_an_error_is_shown_and_the_next_check_works(make, model, queue, caplog):
    broken = replace(model, config=None)
    checker = make(broken)
    checker.start()
    checker.join()
    assert checker.job.status == "failed"
    assert checker.job.message.startswith(("AttributeError", "TypeError"))
    assert "has failed: check-count" in caplog.text
    assert queue.preview() == 0


def test_nothing_is_checked_without_a_model_or_for_a_mixture(make, model):
    for taken in (None, replace(model, algorithm=find_algorithm("dp-mixture"))):
        checker = make(taken)
        checker.start()
        assert checker.job.status == "none"


def search(model):
    proposer = ModelWorker(lambda: model, lambda: None, CpuQueue(1), Compiled(), EditSearch())
    proposer.start()
    proposer.join()
    return proposer.job


def begin_five(spec):
    record = begin(spec)
    for _ in range(5):
        record.advance()
    return record


def test_merges_and_splits_of_the_model_are_tried_and_those_supported_are_listed():
    record = begin_five(small_spec(duplicates="merge"))
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
        assert search(begin_five(spec).model()).status == "none"


@pytest.fixture
def seeds(queue):
    """Other runs in the background, and what they give to the reading."""
    taken = []
    record = learn(small_corpus(), small_spec())
    work = OtherSeeds(lambda model, runs: taken.append(runs))
    return ModelWorker(record.model, lambda: None, queue, Compiled(), work), taken


def test_other_runs_are_made_in_the_background_and_given_to_the_reading(seeds, queue):
    checker, taken = seeds
    checker.start()
    checker.join()
    assert checker.job.status == "ready", checker.job.message
    assert [len(runs.scores) for runs in taken] == [NUM_RUNS]
    assert queue.preview() == 0


def test_cancelled_runs_give_nothing_to_the_reading(seeds, until):
    checker, taken = seeds
    checker.start()
    until(lambda: checker.job.status == "working")
    checker.cancel()
    checker.join()
    assert (checker.job.status, taken) == ("cancelled", [])
