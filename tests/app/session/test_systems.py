"""Every system of the registry on the page: it runs to its end, and every live view shows it."""

from functools import partial
from types import SimpleNamespace

import pytest

from stickbreaker.app.model.run_spec import RunSpec, describe_algorithm
from stickbreaker.app.server.cpu_queue import CpuQueue
from stickbreaker.app.server.runner import Runner
from stickbreaker.app.state import RunState
from stickbreaker.app.views.curves import Curves
from stickbreaker.app.views.header import Header
from stickbreaker.app.views.rate_sketch import RateSketch
from stickbreaker.app.views.topics_now import TopicsNow
from stickbreaker.app.views.word_table import WordTable
from stickbreaker.engine import REGISTRY, RunSettings
from tests.app.small_runs import Compiled


@pytest.fixture
def make_progress(tiny_corpus, until):
    runners = []

    def make(algorithm):
        runner = Runner(lambda name: tiny_corpus, CpuQueue(1), Compiled())
        runners.append(runner)
        runner.set_pace(0)
        passes = min(algorithm.passes, 6)
        runner.restart(
            RunSpec(
                "tiny", algorithm, algorithm.config(), RunSettings(passes=passes, num_moments=2)
            )
        )
        # The first run of a system may have kernels to compile.
        until(lambda: runner.progress.status in ("finished", "failed"))
        return runner.progress

    yield make
    for runner in runners:
        runner.close()


@pytest.mark.parametrize("algorithm", REGISTRY, ids=lambda each: each.name)
def test_it_runs_to_its_end_and_every_live_view_shows_it(algorithm, make_progress):
    progress = make_progress(algorithm)
    assert (progress.status, progress.message) == ("finished", "")
    assert progress.documents_seen == progress.documents_total > 0
    assert len(progress.heldout) > 0
    assert progress.columns
    state = RunState()
    table, now = WordTable(state), TopicsNow(state)
    for make in (Curves, RateSketch, partial(Header, commands=SimpleNamespace())):
        make(state)
    state.publish(progress)
    assert now.rows.rows
    assert table.cells.blocks


@pytest.mark.parametrize("algorithm", REGISTRY, ids=lambda each: each.name)
def test_the_menu_describes_it_in_a_sentence(algorithm):
    sentence = describe_algorithm(algorithm)
    assert sentence.endswith(".")
    assert len(sentence) <= 130
