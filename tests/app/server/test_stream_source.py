"""The file or folder that a server follows, as the variables at its start name it."""

import os
import subprocess
import sys

import pytest

from stickbreaker.app.__main__ import list_variables, read_options
from stickbreaker.app.server.stream_source import DATE, PATH, TEXT, find_source
from stickbreaker.engine import CorpusError
from tests.patience import limit


@pytest.fixture
def find(monkeypatch):
    """Find the source of these variables."""

    def find(path, **variables):
        for name, value in ({PATH: str(path), TEXT: "", DATE: ""} | variables).items():
            monkeypatch.setenv(name, value)
        find_source.cache_clear()
        return find_source()

    yield find
    find_source.cache_clear()


def test_without_a_path_nothing_is_followed(find):
    assert find("") is None


def test_a_file_is_followed_with_the_names_of_its_text_and_date(find, tmp_path):
    path = tmp_path / "news.jsonl"
    path.write_text('{"body": "war", "day": "1863"}\nwrong\n{"body": "nav')
    told = []
    source = find(path, **{TEXT: "body", DATE: "day"})
    assert source.name == "news.jsonl"
    assert list(source.open(told.append).read_new()) == [("1863", "war")]
    assert source.shorten(told[0]).startswith("news.jsonl, line 2, is skipped: write")


def test_a_folder_and_an_empty_file_are_followed(find, tmp_path):
    assert find(tmp_path).name == f"{tmp_path.name}/"
    (tmp_path / "empty.jsonl").touch()
    assert find(tmp_path / "empty.jsonl").path == tmp_path / "empty.jsonl"


def test_a_path_is_followed_from_where_the_server_starts(find, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "news.jsonl").touch()
    assert find("news.jsonl").path == tmp_path / "news.jsonl"


def test_a_path_that_does_not_exist_is_refused(find, tmp_path):
    with pytest.raises(
        CorpusError,
        match=rf"{PATH} is '.*news.jsonl', and there is no such file or folder: correct",
    ):
        find(tmp_path / "news.jsonl")


def test_a_file_without_a_text_in_its_first_lines_is_refused(find, tmp_path):
    path = tmp_path / "news.csv"
    path.write_text("date,text\n1863,war\n")
    with pytest.raises(
        CorpusError, match=r'news.csv has no text in its first 2 lines: write .*{"text": "\.\.\."'
    ):
        find(path)
    path.write_text('{"text": "war"}\n' * 1000)
    with pytest.raises(
        CorpusError, match=r"no text in its first 10 lines: .* name the text .*--follow-text"
    ):
        find(path, **{TEXT: "body"})


def test_a_file_without_lines_is_refused(find, tmp_path, monkeypatch):
    monkeypatch.setattr("stickbreaker.app.server.stream_source.LONGEST_LINE", 100)
    (tmp_path / "news.json").write_text("[" + '{"text": "war"}, ' * 100)
    with pytest.raises(
        CorpusError,
        match=r"news.json has a line of more than 100 bytes: write one line per document",
    ):
        find(tmp_path / "news.json")


def test_a_pipe_is_refused(find, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CorpusError, match="pipe is neither a file nor a folder: give"):
        find(tmp_path / "pipe")


def test_a_file_that_may_not_be_read_is_refused(find, tmp_path, monkeypatch):
    path = tmp_path / "news.jsonl"
    path.touch()

    def refuse(*arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(
        CorpusError, match=r"news.jsonl cannot be read \(Permission denied\): allow this account"
    ):
        find(path)


def test_the_command_names_the_stream_in_the_environment():
    options = read_options(["--follow", "news.jsonl", "--follow-text", "body"])
    assert list_variables(options) == {PATH: "news.jsonl", TEXT: "body"}
    assert list_variables(read_options([])) == {}


def test_a_server_with_a_wrong_path_is_not_started(tmp_path):
    environment = os.environ | {PATH: str(tmp_path / "gone.jsonl")}
    command = [sys.executable, "-c", "import stickbreaker.app.app_hooks"]
    ended = subprocess.run(
        command, capture_output=True, text=True, timeout=limit(100), check=False, env=environment
    )
    assert ended.returncode == 1
    assert (
        f"Not started. {PATH} is '{tmp_path / 'gone.jsonl'}', and there is no such file"
        in ended.stderr
    )
    assert "Traceback" not in ended.stderr
