"""A part of the command that kills processes, with all algorithms."""

from stickbreaker.engine.algorithms import REGISTRY
from tests.chaos import kill

KILLS = 3


def test_what_killed_processes_leave_is_whole_and_the_next_one_continues():
    names = tuple(each.name for each in REGISTRY)
    frame = kill.count_outcomes(KILLS, names)
    assert frame["algorithm"].tolist() == [*names, "", "", ""]
    assert (frame["kills"] == KILLS).all()
    assert (frame.loc[frame["job"] == "run", "files read"] == KILLS).all()
    assert (frame[list(kill.BAD)] == 0).all(axis=None)
