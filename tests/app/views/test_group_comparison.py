"""The view that compares two kept runs by group."""

from types import SimpleNamespace

import pytest

from stickbreaker.app.model.grouped_runs import GroupJob
from stickbreaker.app.model.kept_runs import KeptRuns
from stickbreaker.app.server.cpu_queue import CpuQueue
from stickbreaker.app.server.group_reader import GroupReader
from stickbreaker.app.state import WATCHER, RunState
from stickbreaker.app.views.group_comparison import GroupComparison
from tests.app.small_runs import Compiled, keep_small, load_parties


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    """The comparison of two kept runs."""
    kept = KeptRuns(tmp_path_factory.mktemp("kept"))
    for number in (3, 5):
        keep_small(kept, corpus=load_parties(), max_topics=number)
    right, left = kept.listing().runs
    reader = GroupReader(load_parties, lambda model: None, lambda: None, CpuQueue(1), Compiled())
    reader.start(kept, (left, right))
    reader.join()
    return reader.job


@pytest.fixture
def view(ready):
    pressed = []
    names = ("compare_groups", "cancel_groups")
    commands = SimpleNamespace(**{name: lambda name=name: pressed.append(name) for name in names})
    view = GroupComparison(RunState(pair=list(ready.keys)), commands)
    view.pressed = pressed
    return view


def find_result(view):
    """The part of the view with what was found."""
    return view.__panel__()[-1]


def test_the_button_starts_a_comparison_that_shows_its_progress_and_can_be_cancelled(view, ready):
    assert not view.start.disabled
    view.start.clicks += 1
    view.state.grouped = GroupJob("working", 0.4, keys=ready.keys)
    assert (view.bar.visible, view.cancel.visible, view.start.disabled) == (True, True, True)
    assert "both models: 40 %" in view.text.object
    view.cancel.clicks += 1
    assert view.pressed == ["compare_groups", "cancel_groups"]
    view.state.grouped = GroupJob("failed", message="<b>bad</b>", keys=ready.keys)
    assert "&lt;b&gt;bad" in view.text.object
    assert (view.bar.visible, view.cancel.visible, view.start.disabled) == (False, False, False)


def test_a_result_has_the_scores_and_a_figure_of_the_selected_topic(view, ready):
    assert not find_result(view).visible
    view.state.grouped = ready
    assert find_result(view).visible
    assert "Whigs" in view.scores.object
    drawn = view.figure[0]
    assert len(view.topic.options) == 3
    view.topic.value = list(view.topic.options.values())[1]
    assert view.figure[0] is not drawn
    assert view.topic.value.partner in view.partner.object


def test_a_result_of_another_pair_is_not_shown(view, ready):
    view.state.grouped = ready
    view.state.pair = [ready.keys[0], "another"]
    assert not find_result(view).visible
    assert not view.start.disabled
    view.state.pair = list(ready.keys)
    assert find_result(view).visible
    view.state.pair = []
    assert view.start.disabled


def test_a_watcher_sees_the_result_and_no_button(view, ready):
    view.state.role = WATCHER
    view.state.grouped = GroupJob("working", 0.4, keys=ready.keys)
    assert not view.__panel__()[0][0].visible
    assert not view.cancel.visible
    view.state.grouped = ready
    assert find_result(view).visible
