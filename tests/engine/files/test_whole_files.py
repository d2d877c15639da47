"""Files and folders that are written completely or not at all."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from stickbreaker.engine.files import whole_files
from stickbreaker.engine.files.whole_files import (
    FileError,
    building,
    claim,
    find_new_folder,
    open_synced,
    remove_leftovers,
    replacing,
)

# A process that ends while it writes a file and a folder.
DYING = """
import os, sys
from pathlib import Path
from stickbreaker.engine.files.whole_files import building, replacing
folder = Path(sys.argv[1])
with replacing(folder / "a.txt") as file, building(folder / "b") as work:
    file.write(b"half of it")
    (work / "part").write_text("half of it")
    os._exit(9)
"""


def fail(file):
    file.write(b"half of it")
    raise OSError("disk full")


def test_a_path_that_names_nothing_is_refused(tmp_path):
    for path, kind, message in (
        ("", FileError, "is empty: give the folder to make"),
        (None, TypeError, "The folder is None: give the path of the folder to make"),
        (tmp_path / "a\0b", FileError, "choose a name without a NUL character"),
    ):
        with pytest.raises(kind, match=message):
            find_new_folder(path)
    with (
        pytest.raises(FileError, match="choose a name without a NUL character"),
        replacing(tmp_path / "a\0b"),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_written_file_replaces_the_old_one(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with replacing(path) as file:
        file.write(b"new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"


def test_a_new_file_has_the_usual_permissions_and_a_replaced_one_keeps_its_own(tmp_path):
    new, plain, private = (tmp_path / name for name in ("new.txt", "plain.txt", "private.txt"))
    plain.touch()
    private.touch(0o600)
    for path in (new, private):
        with replacing(path) as file:
            file.write(b"new")
    assert new.stat().st_mode == plain.stat().st_mode
    assert private.stat().st_mode & 0o777 == 0o600


def test_an_error_names_the_missing_folder_or_the_folder_in_the_way(tmp_path):
    with (
        pytest.raises(FileError, match="There is no folder .*nowhere: create it"),
        replacing(tmp_path / "nowhere/a"),
    ):
        pass
    with (
        pytest.raises(FileError, match="is a folder: give the name of a file in it"),
        replacing(tmp_path),
    ):
        pass


def test_a_failed_write_leaves_the_old_file_unchanged(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    message = r"Cannot write .*a\.txt \(disk full\): check the free space"
    with pytest.raises(FileError, match=message), replacing(path) as file:
        fail(file)
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("a.txt", "old")]


def test_a_folder_is_written_completely_or_not_at_all(tmp_path):
    path = tmp_path / "a"
    message = r"Cannot write .*/a \(disk full\)"
    with (
        pytest.raises(FileError, match=message),
        building(path) as work,
        open_synced(work / "part") as file,
    ):
        fail(file)
    assert list(tmp_path.iterdir()) == []
    with building(path) as work, open_synced(work / "part") as file:
        file.write(b"new")
        assert not path.exists()
    assert [each.name for each in tmp_path.iterdir()] == ["a"]
    assert (path / "part").read_text() == "new"


def test_a_name_has_one_owner_until_it_is_closed_or_its_process_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(whole_files, "CLAIM_SECONDS", 0.0)
    held = claim(tmp_path, "name")
    remove_leftovers(tmp_path)
    assert claim(tmp_path, "name") is None
    claim(tmp_path, "other").close()
    held.close()
    held.close()
    assert not list(tmp_path.iterdir())
    # What a process that was killed has left can be claimed.
    (tmp_path / ".name.partial").touch()
    claim(tmp_path, "name").close()
    assert not list(tmp_path.iterdir())


@pytest.mark.chaos
def test_files_of_a_killed_process_are_removed_by_the_next_write_and_files_in_use_are_not(tmp_path):
    assert subprocess.run([sys.executable, "-c", DYING, str(tmp_path)], check=False).returncode == 9
    assert len(list(tmp_path.glob(".*.partial"))) == 2
    with (
        replacing(tmp_path / "a.txt") as first,
        replacing(tmp_path / "b.txt") as second,
        building(tmp_path / "c"),
    ):
        remove_leftovers(tmp_path)
        assert len(list(tmp_path.glob(".*.partial"))) == 3
        first.write(b"1")
        second.write(b"2")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.txt", "b.txt", "c"]


def test_on_systems_without_file_locks_leftovers_are_removed_after_a_day(tmp_path, monkeypatch):
    monkeypatch.setattr(whole_files, "fcntl", None)
    old, new, own = (tmp_path / name for name in (".old.partial", ".new.partial", "mine.partial"))
    for path in (old, new, own):
        path.touch()
    os.utime(old, (0, 0))
    os.utime(own, (0, 0))
    remove_leftovers(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([new, own])


def test_writers_of_one_folder_do_not_remove_each_others_unfinished_work(tmp_path):
    def build(writer):
        for number in range(40):
            with (
                building(tmp_path / f"{writer}-{number}") as work,
                open_synced(work / "file") as file,
            ):
                file.write(b"whole")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(build, range(4)))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        f"{w}-{n}" for w in range(4) for n in range(40)
    )
