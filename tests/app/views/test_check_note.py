"""The button that checks the number of topics, and the line with the result."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from stickbreaker.app.model.checked_count import CountJob
from stickbreaker.app.model.model_job import ModelJob
from stickbreaker.app.model.other_runs import OtherRuns
from stickbreaker.app.model.progress import Moment, Progress
from stickbreaker.app.model.reading import begin_reading
from stickbreaker.app.model.replay import REPLAYED
from stickbreaker.app.state import WATCHER, RunState
from stickbreaker.app.views.check_note import AGAIN, KEEP, CheckNote
from tests.app.small_runs import learn, small_corpus, small_spec

DAY = np.datetime64("1800")
NOW = Moment(200, DAY, np.arange(1), np.ones(1), np.array([5.0]), np.zeros((1, 10), np.int32), 1)


def progress(**fields):
    return Progress(
        **{"algorithm": "hdp", "status": "running", "documents_seen": 200, "now": NOW} | fields
    )


@pytest.fixture
def note():
    pressed = []
    names = ("check_count", "cancel_check")
    commands = SimpleNamespace(**{name: lambda name=name: pressed.append(name) for name in names})
    note = CheckNote(RunState(), commands)
    note.pressed = pressed
    return note


def test_the_button_waits_for_the_first_topics_and_starts_a_check(note):
    assert note.start.disabled
    note.state.publish(progress(), check=CountJob())
    assert not note.start.disabled
    assert not note.__panel__().visible
    note.start.clicks += 1
    assert note.pressed == ["check_count"]


def test_a_check_at_work_shows_its_progress_and_can_be_cancelled(note):
    note.state.publish(progress(), check=CountJob("working", 0.4))
    assert (note.bar.visible, note.start.disabled, note.cancel.visible) == (True, True, True)
    assert 'value="40"' in note.bar.object
    note.cancel.clicks += 1
    assert note.pressed == ["cancel_check"]
    note.state.publish(progress(), check=CountJob("failed", message="<b>bad</b>"))
    assert "&lt;b&gt;bad" in note.text.object
    assert (note.bar.visible, note.start.disabled, note.cancel.visible) == (False, False, False)


def test_a_watcher_sees_the_check_and_no_button(note):
    note.state.publish(progress(), check=CountJob("working", 0.4))
    note.state.role = WATCHER
    assert note.__panel__().visible
    assert not note.button.visible
    assert not note.cancel.visible
    note.state.publish(progress(), check=CountJob("working", 0.6))
    assert 'value="60"' in note.bar.object
    assert (note.button.visible, note.cancel.visible) == (False, False)


@pytest.mark.parametrize(
    ("shown", "is_offered"),
    [
        ({}, True),
        ({"algorithm": "lda"}, True),
        ({"algorithm": "dp-mixture"}, False),
        ({"status": REPLAYED}, False),
    ],
)
def test_the_check_is_offered_for_the_present_model_of_every_algorithm_but_mixtures(
    note, shown, is_offered
):
    note.state.publish(progress(**shown), check=CountJob("ready"))
    assert note.button.visible is is_offered


def test_runs_with_other_seeds_are_offered_once_a_run_has_finished():
    pressed = []
    names = ("learn_again", "cancel_again")
    commands = SimpleNamespace(**{name: lambda name=name: pressed.append(name) for name in names})
    note = CheckNote(RunState(), commands, AGAIN)
    note.state.publish(progress())
    assert not note.button.visible
    note.state.publish(progress(status="finished"))
    assert note.button.visible
    note.start.clicks += 1
    note.state.publish(progress(status="finished"), again=ModelJob("working", 0.11))
    assert "Run 3 of 20" in note.text.object
    assert note.start.disabled
    note.cancel.clicks += 1
    assert pressed == ["learn_again", "cancel_again"]
    note.state.publish(progress(status="finished"), again=ModelJob("cancelled"))
    assert "The runs were cancelled." in note.text.object


def test_the_consensus_of_other_runs_can_be_kept_once():
    pressed = []
    commands = SimpleNamespace(keep_consensus=lambda: pressed.append("keep"))
    note = CheckNote(RunState(), commands, KEEP)
    record = learn(small_corpus(), small_spec())
    model = record.model()
    finished = progress(status="finished", run_id=model.run_id, documents_seen=model.documents_seen)
    note.state.publish(finished)
    assert not note.button.visible
    again = OtherRuns(*[None] * 4, consensus=record.save())
    note.state.publish(finished, reading=replace(begin_reading(model), again=again))
    assert note.button.visible
    note.start.clicks += 1
    assert pressed == ["keep"]
    kept = ModelJob("ready", 1.0, "", *finished.model_key)
    note.state.publish(finished, keeping=kept)
    assert not note.button.visible
    assert "Compare lists it" in note.text.object
