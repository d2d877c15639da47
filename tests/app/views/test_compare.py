"""The Compare page: which runs it lists and puts side by side, and which of their topics."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from stickbreaker.app.frames.compare_frames import choose_pair, keep_large
from stickbreaker.app.model.kept_runs import KeptContent, KeptRun, Listing
from stickbreaker.app.model.progress import HELDOUT_COLUMNS, NEXT_BATCH_COLUMNS, STEP_COLUMNS, Curve
from stickbreaker.app.model.sweep_plan import SweepState
from stickbreaker.app.state import RunState
from stickbreaker.app.views.compare import Compare, pair_html
from tests.app.browser_messages import send


def make_run(key, status="finished", corpus_name="two", **config):
    return KeptRun(
        key=key,
        kept_at="2026-11-24T02:00:00+00:00",
        name="",
        label=f"run {key}",
        corpus_name=corpus_name,
        corpus_size=100,
        algorithm="hdp",
        config=config,
        settings={"seed": 0},
        versions={},
        status=status,
        changes=[],
        documents_seen=100,
        documents_total=100,
        seconds=1.0,
        heldout=-7.5,
        num_topics=3,
        topic_names={},
    )


def make_content(weights=(0.7, 0.2995, 0.0005), shares=(np.nan,) * 3):
    curves = (
        Curve.build(columns) for columns in (STEP_COLUMNS, HELDOUT_COLUMNS, NEXT_BATCH_COLUMNS)
    )
    words, places = np.array(["war", "trade", "tax"]), np.arange(3, dtype=np.int32)[:, None]
    ones = np.ones((3, 1), np.float32)
    return KeptContent(
        *curves, np.arange(3), np.array(weights), words, places, ones, np.array(shares)
    )


class Kept:
    """Kept runs in memory."""

    def __init__(self, *runs):
        self.version, self._runs = 0, runs

    def listing(self):
        return Listing(self._runs)

    def load(self, key):
        return make_content()

    def keep(self, *runs):
        self.version, self._runs = self.version + 1, runs


def look(compare, kept, sweep=None):
    """Publish the present version of the kept runs."""
    compare.state.param.update(sweep=sweep or SweepState(), kept_version=kept.version)


@pytest.fixture
def open_compare():
    def open_compare(kept):
        names = ("notify", "open_kept")
        failing = dict.fromkeys(names, pytest.fail)
        commands = SimpleNamespace(kept=kept, may_open=True, list_space=lambda sizes: [], **failing)
        return Compare(RunState(), commands)

    return open_compare


def test_the_pair_is_the_newest_finished_run_and_one_that_differs_from_it():
    newest = make_run("9", kappa=0.6)
    same = make_run("8", kappa=0.6)
    other = make_run("7", kappa=0.9)
    assert choose_pair([newest, same, other]) == (other, newest)
    assert choose_pair([newest, same]) == (same, newest)
    assert choose_pair([newest]) is None
    left_early = replace(other, key="99", status="paused")
    assert choose_pair([left_early, newest, same, other]) == (other, newest)
    assert choose_pair([left_early, newest, same]) == (same, newest)
    assert choose_pair([left_early, newest]) == (left_early, newest)
    elsewhere = make_run("85", corpus_name="other", kappa=0.9)
    assert choose_pair([newest, elsewhere, other]) == (other, newest)


def test_the_page_opens_on_two_runs_that_differ_until_the_user_chooses(open_compare):
    runs = make_run("9", kappa=0.6), make_run("8", kappa=0.6), make_run("7", kappa=0.9)
    kept = Kept(*runs)
    compare = open_compare(kept)
    assert (compare.left_choice.value, compare.right_choice.value) == ("7", "9")
    assert "Kappa" in compare.pair.object
    newer = make_run("95", kappa=0.7)
    kept.keep(newer, *runs)
    look(compare, kept)
    assert (compare.left_choice.value, compare.right_choice.value) == ("9", "95")
    compare.left_choice.value = "7"
    kept.keep(make_run("99", kappa=0.5), newer, *runs)
    look(compare, kept)
    assert (compare.left_choice.value, compare.right_choice.value) == ("7", "95")


def test_the_page_says_which_run_of_the_pair_ended_early(open_compare):
    compare = open_compare(Kept(replace(make_run("9", "paused"), documents_seen=50), make_run("8")))
    assert (compare.left_choice.value, compare.right_choice.value) == ("9", "8")
    assert "<p>run 9 ended early, after 50 of 100 documents" in compare.pair.object
    assert "run 8 ended early" not in compare.pair.object


def test_new_runs_wait_for_a_press_while_a_sweep_runs_and_do_not_move_the_page(open_compare):
    runs = make_run("9", kappa=0.6), make_run("7", kappa=0.9)
    kept = Kept(*runs)
    compare = open_compare(kept)
    kept.keep(make_run("95", kappa=0.7), *runs)
    look(compare, kept, SweepState("running"))
    assert [row["key"] for row in compare.table.rows] == ["9", "7"]
    assert (compare.left_choice.value, compare.right_choice.value) == ("7", "9")
    assert compare.newer.visible
    compare.newer.clicks += 1
    assert [row["key"] for row in compare.table.rows] == ["95", "9", "7"]
    assert not compare.newer.visible
    kept = Kept()
    compare = open_compare(kept)
    kept.keep(*runs)
    look(compare, kept, SweepState("running"))
    assert [row["key"] for row in compare.table.rows] == ["9", "7"]


def test_runs_that_ended_early_are_listed_on_request_or_if_they_are_drawn(open_compare):
    compare = open_compare(Kept(make_run("9"), make_run("8", "paused"), make_run("7", "paused")))
    assert [row["key"] for row in compare.table.rows] == ["9"]
    assert (compare.early.label, compare.early.visible) == ("Show 2 runs that ended early", True)
    compare.early.value = True
    assert [row["key"] for row in compare.table.rows] == ["9", "8", "7"]
    send(compare.table, {"do": "tick", "key": "8", "value": True})
    compare.early.value = False
    assert [row["key"] for row in compare.table.rows] == ["9", "8"]
    only_early = open_compare(Kept(make_run("8", "paused")))
    assert (only_early.table.rows, only_early.table.empty) == ([], "All kept runs ended early.")


def test_topics_under_a_thousandth_are_left_out_of_both_sides(open_compare):
    compare = open_compare(Kept(make_run("9"), make_run("8", kappa=0.9)))
    assert "war" in compare.pair.object
    assert "tax" not in compare.pair.object
    assert "2 topics matched" in compare.pair.object


def test_percentages_are_shares_where_the_documents_were_read_and_weights_elsewhere():
    runs = [make_run("8"), make_run("9")]
    read = make_content(shares=(0.1, 0.4, 0.5))
    html = pair_html(runs, [read, make_content()])
    assert "40.0 %" in html
    assert "weight 40.0 %" not in html
    assert "weight 70.0 %" in html
    assert keep_large(read).topic_ids.tolist() == [2, 1, 0]
