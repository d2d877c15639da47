"""A part of the commands that damage files, kill processes and simulate disk failures. Each command runs more."""

from tests.chaos import damage, disk, kill


def test_damaged_files_are_refused_with_a_sentence_or_load_the_same_content():
    frame = damage.count_outcomes(400, seed=1)
    assert frame[list(damage.OUTCOMES)].to_numpy().sum() == 400
    assert frame["refused"].sum() > 300
    assert (frame[list(damage.OUTCOMES[len(damage.GOOD) :])] == 0).all(axis=None)


def test_where_a_disk_fails_or_a_machine_stops_the_old_content_stays_whole():
    frame = disk.count_outcomes(20, seed=1)
    assert (frame["failed with a sentence"] + frame["succeeded"] > 10).all()
    assert (frame[list(disk.BAD)] == 0).all(axis=None)


def test_what_killed_processes_leave_is_whole_and_the_next_one_continues():
    frame = kill.count_outcomes(3, ("hdp", "gibbs-lda"))
    assert (frame["kills"] == 3).all()
    assert (frame.loc[frame["job"] == "run", "files read"] == 3).all()
    assert (frame[list(kill.BAD)] == 0).all(axis=None)
