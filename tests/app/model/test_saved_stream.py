"""The model of a stream on disk, with the position in the stream that belongs to it."""

import json
from contextlib import closing

import pytest

from stickbreaker.app.model.saved_stream import SavedStream
from stickbreaker.engine.files.whole_files import FileError
from tests.app.small_streams import BATCH_SIZE, make_follower, write_texts

pytestmark = pytest.mark.filterwarnings("ignore:partial_fit does not know how many documents")


@pytest.fixture
def follower():
    """A follower that has learned from one mini-batch."""
    follower = make_follower()
    list(follower.follow(write_texts(BATCH_SIZE)))
    return follower


def save(folder, follower, offset):
    """Save a model as a new process does."""
    with closing(SavedStream(folder, "news")) as saved:
        saved.load()
        saved.save(follower.model, {"offset": offset})


def save_twice(folder, follower):
    """Save a model at two positions."""
    save(folder, follower, 10)
    list(follower.follow(write_texts(BATCH_SIZE, 4)))
    save(folder, follower, 20)


def test_the_newest_model_is_found_with_its_position(tmp_path, follower):
    save_twice(tmp_path / "streams", follower)
    model, position = SavedStream(tmp_path / "streams", "news").load()
    assert (model.documents_seen_, dict(position)) == (8, {"offset": 20})
    assert model.words_ == follower.model.words_
    assert SavedStream(tmp_path / "streams", "other news").load() is None
    assert len(list((tmp_path / "streams").iterdir())) == 2


def test_a_crash_between_the_two_files_leaves_the_model_before_with_its_position(
    tmp_path, follower
):
    save_twice(tmp_path, follower)
    (model,) = tmp_path.glob("*.npz")
    older = make_follower()
    list(older.follow(write_texts(BATCH_SIZE)))
    older.model.save(model)
    found, position = SavedStream(tmp_path, "news").load()
    assert (found.documents_seen_, dict(position)) == (4, {"offset": 10})


def test_a_model_without_its_position_is_refused(tmp_path, follower):
    save(tmp_path, follower, 10)
    list(follower.follow(write_texts(BATCH_SIZE, 4)))
    (model,) = tmp_path.glob("*.npz")
    follower.model.save(model)
    with pytest.raises(FileError, match="does not belong to .*: delete both"):
        SavedStream(tmp_path, "news").load()


@pytest.mark.parametrize("suffixes", [("npz",), ("position",), ("npz", "position")])
def test_files_that_were_exchanged_with_those_of_another_stream_are_refused(
    tmp_path, follower, suffixes
):
    save(tmp_path, follower, 10)
    other = make_follower()
    list(other.follow(write_texts(BATCH_SIZE, 40)))
    with closing(SavedStream(tmp_path, "other news")) as saved:
        saved.save(other.model, {"offset": 10})
    for suffix in suffixes:
        one, two = tmp_path.glob(f"*.{suffix}")
        one.rename(tmp_path / "third")
        two.rename(one)
        (tmp_path / "third").rename(two)
    for name in ("news", "other news"):
        with pytest.raises(FileError, match="does not belong to"):
            SavedStream(tmp_path, name).load()


@pytest.mark.parametrize("suffix", ["npz", "position"])
def test_a_damaged_file_is_refused(tmp_path, follower, suffix):
    save(tmp_path, follower, 10)
    (path,) = tmp_path.glob(f"*.{suffix}")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match="is not a complete"):
        SavedStream(tmp_path, "news").load()


def test_a_folder_that_cannot_be_made_is_named(tmp_path, follower):
    (tmp_path / "streams").write_text(json.dumps("a file"))
    with pytest.raises(FileError, match="The model of the stream cannot be saved in"):
        SavedStream(tmp_path / "streams", "news").save(follower.model, {})
