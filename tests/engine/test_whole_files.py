"""Files that are written completely or not at all."""

import pytest

from stickbreaker.engine.whole_files import replacing


def test_a_written_file_replaces_the_old_one(tmp_path):
    path, plain = tmp_path / "a.txt", tmp_path / "plain.txt"
    path.write_text("old")
    with replacing(path) as work:
        work.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    plain.touch()
    assert path.stat().st_mode == plain.stat().st_mode


def test_an_error_names_the_missing_folder_or_the_folder_in_the_way(tmp_path):
    with (
        pytest.raises(FileNotFoundError, match="There is no folder .*nowhere: create it"),
        replacing(tmp_path / "nowhere/a"),
    ):
        pass
    with pytest.raises(IsADirectoryError, match="is a folder: give the name of a file in it"), replacing(tmp_path):
        pass


def test_a_failed_write_leaves_the_old_file_unchanged(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail(work):
        work.write_text("half of it")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"), replacing(path) as work:
        fail(work)
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("a.txt", "old")]
