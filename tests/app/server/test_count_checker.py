"""A check of the number of topics, in the background of a run."""

from dataclasses import replace

import pytest

from stickbreaker.app.model.reading import Model
from stickbreaker.app.server.count_checker import CountChecker
from stickbreaker.app.server.cpu_queue import CpuQueue
from stickbreaker.engine import find_algorithm, prepare, run
from stickbreaker.engine.runs.count_check import CheckPlan, check_count
from tests.app.small_runs import HDP, SETTINGS, Compiled, small_config, small_corpus

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
        checkers.append(CountChecker(lambda: taken, notify, queue, Compiled(), plan))
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
