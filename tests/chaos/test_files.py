"""A part of the commands that damage files and simulate disk failures. Each command runs more."""

import pytest

from tests.chaos import damage, disk, small_disk


def test_damaged_files_are_refused_with_a_sentence_or_load_the_same_content():
    frame = damage.count_outcomes(1_500, seed=1)
    assert frame[list(damage.OUTCOMES)].to_numpy().sum() == 1_500
    assert frame["refused"].sum() > 1_200
    assert (frame[list(damage.OUTCOMES[len(damage.GOOD) :])] == 0).all(axis=None)


def test_where_a_disk_fails_or_a_machine_stops_the_old_content_stays_whole():
    frame = disk.count_outcomes(20, seed=1, tries_all=False)
    assert (frame["failed with a sentence"] + frame["succeeded"] > 5).all()
    assert (frame[list(disk.BAD)] == 0).all(axis=None)


def test_a_real_disk_that_is_full_or_read_only_loses_nothing():
    if obstacle := small_disk.find_obstacle():
        pytest.skip(obstacle)
    frame = small_disk.count_outcomes()
    assert (frame["failed with a sentence"] + frame["succeeded"] >= len(small_disk.STATES)).all()
    assert frame["failed with a sentence"].sum() > len(frame)
    assert (frame[list(disk.BAD)] == 0).all(axis=None)
