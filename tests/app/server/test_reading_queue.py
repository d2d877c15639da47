"""Readings at the same time: as many as the limits allow, in the order of asking."""

import pytest

from stickbreaker.app.model.limits import READINGS, READINGS_PER_USER
from stickbreaker.app.server.reader import Reader
from stickbreaker.app.server.reading_queue import ReadingQueue, Turn
from tests.app.model.test_saved_runs import begin
from tests.app.small_runs import small_spec


@pytest.fixture(autouse=True)
def limits(set_limit):
    set_limit(READINGS, 3)
    set_limit(READINGS_PER_USER, 2)


def test_a_user_with_many_readings_waits_and_the_others_pass(set_limit):
    set_limit(READINGS, 4)
    queue = ReadingQueue()
    anna, ben = [queue.make_turn("anna") for _ in range(3)], queue.make_turn("ben")
    assert [turn.ask() for turn in anna[:2]] == ["", ""]
    assert anna[2].ask().startswith("Waiting for another of your readings to end (at most 2")
    assert ben.ask() == ""
    anna[0].leave()
    assert anna[2].ask() == ""


def test_users_with_a_reading_leave_one_place_free_for_those_without():
    queue = ReadingQueue()
    anna, ben = ([queue.make_turn(user) for _ in range(2)] for user in ("anna", "ben"))
    assert [anna[0].ask(), ben[0].ask()] == ["", ""]
    for turn in (anna[1], ben[1]):
        assert turn.ask().endswith("the last free place is kept for users without a reading.")
    assert queue.make_turn("cleo").ask() == ""


def test_a_user_without_a_reading_goes_before_those_who_have_waited_longer_and_have_one():
    queue = ReadingQueue()
    anna = [queue.make_turn("anna") for _ in range(2)]
    others = [queue.make_turn(user) for user in ("ben", "cleo")]
    dora = queue.make_turn("dora")
    assert [turn.ask() for turn in (anna[0], *others)] == ["", "", ""]
    assert anna[1].ask().startswith("Waiting for another reading")
    assert dora.ask().startswith("Waiting for another reading")
    others[0].leave()
    assert anna[1].ask() != ""
    assert dora.ask() == ""


def test_readings_without_logins_share_the_limit_of_the_server_in_the_order_of_asking():
    queue = ReadingQueue()
    turns = [queue.make_turn(None) for _ in range(5)]
    said = [turn.ask() for turn in turns]
    assert said[:3] == ["", "", ""]
    assert set(said[3:]) == {"Waiting for another reading to end (at most 3 at the same time)."}
    turns[1].leave()
    assert turns[4].ask() != ""
    assert turns[3].ask() == ""
    turns[3].leave()
    assert turns[4].ask() == ""


def test_a_limit_of_none_still_allows_one(set_limit):
    set_limit(READINGS, 0)
    set_limit(READINGS_PER_USER, 0)
    assert ReadingQueue().make_turn("anna").ask() == ""


@pytest.fixture
def model():
    record = begin(small_spec())
    record.advance()
    return record.model()


def test_a_reading_says_why_it_waits_and_begins_when_another_one_has_ended(model, until):
    queue = ReadingQueue()
    others = [queue.make_turn(None) for _ in range(3)]
    for other in others:
        other.ask()
    reader = Reader(lambda: model, lambda: None, turn=queue.make_turn(None))
    reader.ask()
    until(lambda: reader.job.message)
    assert (reader.job.status, reader.job.reading) == ("reading", None)
    others[0].leave()
    until(lambda: reader.job.status == "ready")
    reader.join()
    assert queue.make_turn(None).ask() == ""


def test_a_reading_that_waits_ends_when_its_run_is_freed(model):
    left = []
    reader = Reader(
        lambda: model,
        lambda: None,
        turn=Turn(ask=lambda: "Waiting", leave=lambda: left.append(True)),
    )
    reader.ask()
    reader.close()
    reader.join()
    assert left == [True]
