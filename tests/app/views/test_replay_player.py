"""The player: it selects moments of a run that stands still."""

from dataclasses import replace

from stickbreaker.app.state import RunState
from stickbreaker.app.views.replay_player import WAITING, ReplayPlayer
from tests.app.browser_messages import send as send_message
from tests.app.views.test_views import progress


def make_player(run):
    state, settled, now = RunState(), [], [0.0]
    player = ReplayPlayer(state, lambda: settled.append(state.moment), lambda: now[0])
    player.state.publish(run)
    return player, state, settled, now


def send(player, what, value):
    send_message(player.bar, {"what": what, "value": value})


def test_a_run_that_learns_cannot_be_replayed_and_leaves_the_moment():
    player, state, _, _ = make_player(progress(5, status="finished"))
    send(player, "place", 2)
    assert (state.moment, player.bar.text) == (300, "1803 · 300")
    player.state.publish(progress(6, status="running"))
    assert (state.moment, player.bar.num_moments, player.bar.text) == (None, 0, WAITING)
    send(player, "toggle", 0)
    assert not player.bar.is_playing


def test_steps_and_the_slider_select_moments_and_the_last_one_is_the_run_itself():
    player, state, settled, _ = make_player(progress(5, status="paused"))
    moments = []
    for what, value in (
        ("step", -1),
        ("step", -1),
        ("place", 0),
        ("step", -1),
        ("place", 99),
        ("stop", 0),
    ):
        send(player, what, value)
        moments.append(state.moment)
    assert moments == [400, 300, 100, 100, None, None]
    assert settled == [400, 300, 100, None]


def test_a_replay_takes_its_seconds_from_the_first_step_to_the_last_and_then_stops():
    player, state, settled, now = make_player(progress(7, status="finished"))
    send(player, "length", 60)
    send(player, "toggle", 0)
    shown = []
    for seconds in (0, 9, 10, 25, 59, 60):
        now[0] = seconds
        player.tick()
        shown.append(state.moment)
    assert shown == [100, 100, 200, 300, 600, None]
    assert not player.bar.is_playing
    assert settled[-1] is None


def test_a_pause_stays_where_it_is_and_play_goes_on_from_there():
    player, state, _, now = make_player(progress(7, status="finished"))
    send(player, "place", 3)
    send(player, "toggle", 0)
    now[0] = 5.0
    player.tick()
    assert state.moment == 500
    send(player, "toggle", 0)
    now[0] = 100.0
    player.tick()
    assert (state.moment, player.bar.is_playing) == (500, False)


def test_wrong_messages_of_a_browser_change_nothing():
    player, state, _, _ = make_player(progress(5, status="finished"))
    for message in (
        None,
        "place",
        {"what": "place"},
        {"what": "place", "value": "1"},
        {"what": "length", "value": 0},
    ):
        send_message(player.bar, message)
    assert (state.moment, player.bar.length) == (None, 30)


def test_a_moment_beyond_the_run_is_its_last_step():
    player, state, _, _ = make_player(replace(progress(5), status="finished"))
    state.moment = 10_000
    assert player.bar.place == 4
