import threading
from dataclasses import replace
from itertools import count

import pytest

from stickbreaker.app.frames.sweep_frames import sweep_frame, x_setting
from stickbreaker.app.model.kept_runs import KeptRuns
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.app.model.run_store import RunStore
from stickbreaker.app.model.saved_sweeps import SavedSweeps
from stickbreaker.app.model.sweep_plan import (
    KEPT,
    SweepError,
    describe_plan,
    describe_sweep,
    parse_values,
    plan_sweep,
)
from stickbreaker.app.server.cpu_queue import CpuQueue
from stickbreaker.app.server.runner import Runner
from stickbreaker.app.server.sweep import Sweep
from stickbreaker.engine.parallel.clusters import ClusterError
from tests.app.small_runs import HDP, LDA, NAME, SETTINGS, Compiled, Watched, load_small, small_spec

SIZES = {"batch_size": (5, 20), "forgetting_rate": (0.6, 0.8)}


class Keeping(RunStore):
    """Keeps the runs of a sweep."""

    def __init__(self, kept):
        self._kept = kept

    def keep(self, ending, sweep=""):
        self._kept.keep(
            ending.progress, ending.model, sweep=sweep, key=ending.key, checkpoint=ending.checkpoint
        )


@pytest.fixture
def begin(tmp_path):
    """Make sweeps on the small corpus, on one core by default; they end with the test."""
    sweeps = []

    def begin(cpu_queue=None, find_client=lambda: None):
        def make_runner(notify, store):
            queue = cpu_queue or CpuQueue(1)
            return Runner(
                load_small, queue, Compiled(), notify=notify, store=store, find_client=find_client
            )

        sweeps.append(Sweep(make_runner, Keeping(KeptRuns(tmp_path / "runs")), lambda: None))
        return sweeps[-1], KeptRuns(tmp_path / "runs")

    yield begin
    for sweep in sweeps:
        sweep.cancel()


def test_a_sweep_has_every_combination_once_and_keeps_other_settings():
    base = replace(small_spec(max_topics=7), settings=replace(SETTINGS, passes=2))
    plan = plan_sweep(base, [HDP, LDA], {**SIZES, "delay": ()})
    found = {(r.algorithm.name, r.config.batch_size, r.config.forgetting_rate) for r in plan}
    assert found == {
        (name, size, rate) for name in ("hdp", "lda") for size in (5, 20) for rate in (0.6, 0.8)
    }
    assert {r.config.max_topics for r in plan if r.algorithm is HDP} == {7}
    assert {r.settings.passes for r in plan} == {2}
    assert len(plan) == 8


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "at least two runs"),
        ({"batch_size": (5,)}, "at least two runs"),
        ({"batch_size": tuple(range(1, 42))}, "41 runs, but at most 40 are allowed"),
        ({"forgetting_rate": (0.6, 7.0)}, "κ is 7.0: give a number from 0.5 to 1"),
        ({"max_topics": (3, 0)}, "K is 0: give a whole number"),
    ],
)
def test_values_without_a_valid_sweep_are_refused_with_the_reason(values, said):
    with pytest.raises(SweepError, match=said):
        plan_sweep(small_spec(), [], values)


@pytest.mark.parametrize(
    ("text", "name"),
    [("0.5, fast", "delay"), ("1.5", "batch_size"), ("inf", "delay"), ("nan", "delay")],
)
def test_text_that_is_not_a_number_is_named(text, name):
    with pytest.raises(SweepError, match="is not valid: write"):
        parse_values(text, name)


def test_every_run_of_a_sweep_is_kept_and_its_final_score_drawn_over_s(begin, until):
    sweep, kept = begin()
    plan = plan_sweep(small_spec(), [], SIZES)
    sweep.start(plan)
    until(lambda: len(kept.listing().runs) == 4)
    until(lambda: sweep.state.status == "finished")
    assert sweep.state.share_done == 1
    runs = kept.listing().runs
    assert {run.sweep for run in runs} == {"sweep of 4 runs"}
    assert {(run.config["batch_size"], run.config["forgetting_rate"]) for run in runs} == {
        (size, rate) for size in (5, 20) for rate in (0.6, 0.8)
    }
    frame = sweep_frame(sweep.state.points, x_setting(sweep.state.points))
    assert sorted(zip(frame["line"], frame["x"], strict=True)) == [
        ("κ 0.6", 5),
        ("κ 0.6", 20),
        ("κ 0.8", 5),
        ("κ 0.8", 20),
    ]
    scores = {(run.config["batch_size"], run.heldout) for run in runs}
    assert set(zip(frame["x"], frame["y"], strict=True)) == scores
    assert "All 4 runs" in describe_sweep(sweep.state)


def test_a_sweep_waits_for_a_core_and_gives_it_back(begin, until):
    cpu_queue = CpuQueue(1)
    cpu_queue.take("another run")
    sweep, kept = begin(cpu_queue=cpu_queue)
    sweep.start(plan_sweep(small_spec(), [], SIZES))
    until(lambda: "Waiting for a free processor core" in describe_sweep(sweep.state))
    assert kept.listing().runs == ()
    cpu_queue.leave("another run")
    until(lambda: sweep.state.status == "finished")
    until(lambda: cpu_queue.preview() == 0)


def test_a_cancelled_sweep_stops_and_keeps_only_finished_runs(begin, until):
    gate, cpu_queue = threading.Event(), CpuQueue(1)
    sweep, kept = begin(cpu_queue)
    sweep.start(plan_sweep(Watched(gate=gate).spec(), [], SIZES))
    until(lambda: cpu_queue.preview() == 1)
    sweep.cancel()
    gate.set()
    until(lambda: cpu_queue.preview() == 0)
    assert (sweep.state.status, sweep.state.points, kept.listing().runs) == ("cancelled", (), ())
    assert describe_sweep(sweep.state).startswith("Cancelled after 0 of 4 runs")


def test_a_failed_run_is_named_and_the_others_continue(begin, until):
    sweep, kept = begin()
    sweep.start(plan_sweep(Watched(fails_at=6).spec(), [], SIZES))
    until(lambda: sweep.state.status == "finished")
    assert [point.status for point in sweep.state.points] == [
        "failed",
        "failed",
        "finished",
        "finished",
    ]
    assert "a topic has become infinite" in describe_sweep(sweep.state)
    until(lambda: len(kept.listing().runs) == 2)
    assert sweep_frame(sweep.state.points, "batch_size")["x"].tolist() == [20, 20]


def test_a_sweep_whose_cluster_is_away_stops_and_continues_with_the_run_that_it_lost(
    begin, until, tmp_path
):
    num_steps, is_back = count(1), threading.Event()

    def find_client():
        # The first run has 20 steps.
        if next(num_steps) > 25 and not is_back.is_set():
            raise ClusterError("No scheduler answers: start it.")

    sweep, kept = begin(find_client=find_client)
    sweep.start(plan_sweep(small_spec(), [], SIZES))
    until(lambda: sweep.state.status != "running")
    said = f"The sweep of 4 runs stopped after 1. No scheduler answers: start it. {KEPT} Continue?"
    saved = SavedSweeps(tmp_path)
    saved.write("key", sweep.state)
    for state in (sweep.state, saved.find("key")):
        assert (state.status, describe_sweep(state)) == ("stopped", said)
    is_back.set()
    sweep.resume()
    until(lambda: sweep.state.status == "finished")
    assert [point.status for point in sweep.state.points] == ["finished"] * 4
    until(lambda: len(kept.listing().runs) == 4)


def test_systems_without_their_own_values_use_their_defaults(begin, until):
    sweep, _ = begin()
    base = RunSpec(NAME, LDA, LDA.config(max_topics=3, delay=1.0, batch_size=10), SETTINGS)
    sweep.start(plan_sweep(base, [HDP, LDA], {}))
    until(lambda: sweep.state.status == "finished")
    hdp, lda = (point.config for point in sweep.state.points)
    assert (hdp, lda) == (HDP.config(max_topics=150, delay=7.0, batch_size=7), base.config)
    assert sweep_frame(sweep.state.points, "batch_size")["line"].tolist() == [
        "Online HDP, τ₀ 7, K 150",
        "Online LDA, τ₀ 1, K 3",
    ]


def test_a_plan_says_what_is_the_same_in_all_its_runs():
    said = describe_plan(plan_sweep(small_spec(), (), {"forgetting_rate": (0.6, 0.9)}))
    assert said.startswith("2 runs. The same in all: Online HDP, τ₀ 64, S 10, K 3")
    assert "κ" not in said
