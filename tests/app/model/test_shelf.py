"""Files of one kind in a folder, under everything that a user has on disk."""

import os

import numpy as np
import pytest

from stickbreaker.app.model.limits import KEPT_MODELS
from stickbreaker.app.model.shelf import MAX_SAVED, OLD_SECONDS, Shelf
from stickbreaker.engine.files.verified_files import Kind
from stickbreaker.engine.files.whole_files import FileError

NOTE = Kind(name="note", format=1, remedy="delete it")


@pytest.fixture
def shelf(tmp_path):
    return Shelf(tmp_path / "notes", NOTE, ".note", "A note cannot be saved", KEPT_MODELS)


def write(shelf, name, age=0, size=0):
    shelf.write(name, {"name": name}, {"zeros": np.zeros(size, np.uint8)})
    written = shelf.place(name).stat().st_mtime - age
    os.utime(shelf.place(name), (written, written))


def list_names(shelf):
    return [path.stem for path in shelf.list_newest()]


def test_a_file_is_read_as_it_was_written_and_a_renamed_one_is_refused(shelf):
    write(shelf, "one", size=3)
    with shelf.reading("one", expected={"name": "one"}, has_parts=True) as (about, parts):
        assert (about, parts["zeros"].tolist()) == ({"name": "one"}, [0, 0, 0])
    shelf.place("one").rename(shelf.place("two"))
    assert (shelf.has("one"), shelf.has("two")) == (False, True)
    with (
        pytest.raises(
            FileError, match=r"two\.note is not a complete note \(the file was renamed\): delete it"
        ),
        shelf.reading("two", expected={"name": "two"}),
    ):
        pass
    shelf.remove("two")
    shelf.remove("two")
    assert list_names(shelf) == []


@pytest.mark.parametrize("name", ["../one", "/one", ".one", "a/b"])
def test_no_name_leads_out_of_the_folder(shelf, name):
    with pytest.raises(FileError, match="There is no note"):
        shelf.write(name, {})


def test_the_newest_files_stay_and_those_of_the_last_day(shelf):
    for number in range(MAX_SAVED + 3):
        write(shelf, f"{number:02}", age=OLD_SECONDS + 100 - number if number < 2 else 50 - number)
    shelf.keep_newest()
    assert list_names(shelf) == [f"{number:02}" for number in range(MAX_SAVED + 2, 1, -1)]


def test_the_oldest_files_are_removed_until_the_others_fit_the_limit(shelf, set_limit):
    for number in range(4):
        write(shelf, str(number), age=10 - number, size=1_000)
    set_limit(KEPT_MODELS, 2.5 * shelf.place("0").stat().st_size / 1e9)
    shelf.keep_newest()
    assert list_names(shelf) == ["3", "2"]
    set_limit(KEPT_MODELS, 0.0)
    shelf.keep_newest()
    assert list_names(shelf) == ["3"]


def test_a_name_is_claimed_once_until_it_is_free_again(shelf):
    first = shelf.claim("one")
    assert shelf.claim("one") is None
    first.close()
    again = shelf.claim("one")
    assert again is not None
    again.close()
