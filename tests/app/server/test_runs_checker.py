"""Runs with other seeds, in the background of a run."""

from stickbreaker.app.model.other_runs import NUM_RUNS
from stickbreaker.app.server.cpu_queue import CpuQueue
from stickbreaker.app.server.runs_checker import RunsChecker
from tests.app.small_runs import Compiled, learn, small_corpus, small_spec


def test_the_runs_are_made_in_the_background_and_given_to_the_reading():
    record = learn(small_corpus(), small_spec())
    queue = CpuQueue(1)
    taken = []
    checker = RunsChecker(
        record.model, lambda: None, queue, Compiled(), lambda model, runs: taken.append(runs)
    )
    checker.start()
    checker.join()
    assert checker.job.status == "ready", checker.job.message
    assert [len(runs.scores) for runs in taken] == [NUM_RUNS]
    assert queue.preview() == 0


def test_cancelled_runs_give_nothing_to_the_reading(until):
    record = learn(small_corpus(), small_spec())
    taken = []
    checker = RunsChecker(
        record.model, lambda: None, CpuQueue(1), Compiled(), lambda *runs: taken.append(runs)
    )
    checker.start()
    until(lambda: checker.job.status == "working")
    checker.cancel()
    checker.join()
    assert (checker.job.status, taken) == ("cancelled", [])
