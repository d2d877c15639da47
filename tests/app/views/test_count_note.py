"""The button that checks the number of topics, and the line with the result."""

import numpy as np
import pytest

from stickbreaker.app.model.checked_count import CountJob
from stickbreaker.app.model.progress import Moment, Progress
from stickbreaker.app.model.replay import REPLAYED
from stickbreaker.app.views.count_note import CountNote

DAY = np.datetime64("1800")
NOW = Moment(200, DAY, np.arange(1), np.ones(1), np.array([5.0]), np.zeros((1, 10), np.int32), 1)


def progress(**fields):
    return Progress(**{"algorithm": "hdp", "status": "running", "documents_seen": 200, "now": NOW} | fields)


@pytest.fixture
def note():
    pressed = []
    note = CountNote(lambda: pressed.append("start"), lambda: pressed.append("cancel"))
    note.pressed = pressed
    return note


def test_the_button_waits_for_the_first_topics_and_starts_a_check(note):
    assert note.start.disabled
    note.read(CountJob(), progress())
    assert not note.start.disabled
    assert not note.__panel__().visible
    note.start.clicks += 1
    assert note.pressed == ["start"]


def test_a_check_at_work_shows_its_progress_and_can_be_cancelled(note):
    note.read(CountJob("checking", 0.4), progress())
    assert (note.bar.visible, note.start.disabled, note.cancel.visible) == (True, True, True)
    assert 'value="40"' in note.bar.object
    note.cancel.clicks += 1
    assert note.pressed == ["cancel"]
    note.read(CountJob("failed", message="<b>bad</b>"), progress())
    assert "&lt;b&gt;bad" in note.text.object
    assert (note.bar.visible, note.start.disabled, note.cancel.visible) == (False, False, False)


def test_a_watcher_sees_the_check_and_no_button(note):
    note.read(CountJob("checking", 0.4), progress())
    note.let_act(False)
    assert (note.__panel__().visible, note.button.visible, note.cancel.visible) == (True, False, False)
    note.read(CountJob("checking", 0.6), progress())
    assert 'value="60"' in note.bar.object
    assert (note.button.visible, note.cancel.visible) == (False, False)


@pytest.mark.parametrize(
    ("shown", "is_offered"), [({}, True), ({"algorithm": "lda"}, True), ({"algorithm": "dp-mixture"}, False),
                              ({"status": REPLAYED}, False)]
)
def test_the_check_is_offered_for_the_present_model_of_every_algorithm_but_mixtures(note, shown, is_offered):
    note.read(CountJob("ready"), progress(**shown))
    assert note.button.visible is is_offered
