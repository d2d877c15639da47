"""JSON-lines files to which another program appends."""

import pytest

from stickbreaker.engine.corpora.corpus import CorpusError
from stickbreaker.engine.corpora.growing_files import GrowingFile


def test_a_line_is_read_once_and_only_when_it_is_complete(tmp_path):
    path = tmp_path / "stream.jsonl"
    path.write_text('{"date": 1863, "text": "war"}\n{"text": "na')
    file = GrowingFile(path)
    assert list(file.read()) == [(1863, "war")]
    with path.open("a") as stream:
        stream.write('vy"}\n')
    assert list(file.read()) == [(None, "navy")]
    assert list(file.read()) == []


def test_a_bad_line_is_skipped_with_a_warning_that_names_it(tmp_path):
    path = tmp_path / "stream.jsonl"
    path.write_text('{"text": "war"}\n[1]\n{"text": 2}\nnot JSON\n{"text": "navy"}\n')
    with pytest.warns(UserWarning, match="write one object per line") as warned:
        assert list(GrowingFile(path).read()) == [(None, "war"), (None, "navy")]
    named = [str(each.message).split(", is skipped")[0] for each in warned]
    assert named == [f"{path}, line {line}" for line in (2, 3, 4)]


def test_a_file_that_has_become_shorter_is_read_from_its_start(tmp_path):
    path = tmp_path / "stream.jsonl"
    path.write_text('{"text": "a long text"}\n')
    file = GrowingFile(path)
    assert len(list(file.read())) == 1
    path.write_text('{"text": "new"}\n')
    with pytest.warns(UserWarning, match="has become shorter"):
        assert list(file.read()) == [(None, "new")]


def test_lines_that_arrive_while_the_reader_waits_are_read(tmp_path, monkeypatch):
    path = tmp_path / "stream.jsonl"
    path.write_text('{"text": "early"}\n')
    late = ['{"text": "late"}\n', '{"text": "last"}\n']

    def append(seconds):
        with path.open("a") as stream:
            stream.write(late.pop(0) if late else "")

    monkeypatch.setattr("time.sleep", append)
    assert [text for _, text in GrowingFile(path).read(idle_seconds=2.0)] == ["early", "late", "last"]


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(CorpusError, match=r"missing\.jsonl cannot be read"):
        list(GrowingFile(tmp_path / "missing.jsonl").read())
