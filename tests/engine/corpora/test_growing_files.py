"""JSON-lines files to which another program appends."""

import json
import os
from itertools import islice
from pathlib import Path

import pytest

from stickbreaker.engine.corpora.dates import read_dates
from stickbreaker.engine.corpora.growing_files import GrowingFile, GrowingFolder, read_growing
from tests.engine.corpora.small_files import refuses


def test_a_line_is_read_once_and_only_when_it_is_complete(tmp_path):
    path = tmp_path / "stream.jsonl"
    path.write_text('{"date": 1863, "text": "war"}\n{"text": "na')
    file = GrowingFile(path)
    assert list(file.read_new()) == [(1863, "war")]
    with path.open("a") as stream:
        stream.write('vy"}\n')
    assert list(file.read_new()) == [(None, "navy")]
    assert list(file.read_new()) == []


def test_a_bad_line_is_skipped_with_a_warning_that_names_it(tmp_path):
    path = tmp_path / "stream.jsonl"
    path.write_text('{"text": "war"}\n[1]\n{"text": 2}\nnot JSON\n{"text": "navy"}\n')
    with pytest.warns(UserWarning, match="write one object per line") as warned:
        assert list(GrowingFile(path).read_new()) == [(None, "war"), (None, "navy")]
    named = [str(each.message).split(", is skipped")[0] for each in warned]
    assert named == [f"{path}, line {line}" for line in (2, 3, 4)]


@pytest.mark.parametrize("kind", [GrowingFile, GrowingFolder])
def test_of_many_bad_lines_the_first_ten_are_named_then_the_100th_and_the_1000th(tmp_path, kind):
    path = tmp_path / "stream.jsonl"
    path.write_text("[1]\n" * 2_500 + '{"text": "war"}\n')
    source = kind(path if kind is GrowingFile else tmp_path)
    with pytest.warns(UserWarning, match="is skipped") as warned:
        assert list(source.read_new()) == [(None, "war")]
    said = [str(each.message) for each in warned]
    lines = (*range(1, 11), 100, 1_000)
    assert [text.split(", is skipped")[0] for text in said] == [
        f"{path}, line {line}" for line in lines
    ]
    assert said[-1].endswith(
        "This is message 1,000 about this source; the next one shown is 10,000."
    )


def test_a_file_that_has_become_shorter_is_read_from_its_start(tmp_path):
    path = tmp_path / "stream.jsonl"
    path.write_text('{"text": "a long text"}\n')
    file = GrowingFile(path)
    assert len(list(file.read_new())) == 1
    path.write_text('{"text": "new"}\n')
    with pytest.warns(UserWarning, match="has become shorter"):
        assert list(file.read_new()) == [(None, "new")]


@pytest.mark.parametrize("is_saved", [False, True])
def test_a_file_that_has_been_replaced_is_read_from_its_start(tmp_path, is_saved):
    path = tmp_path / "stream.jsonl"
    path.write_text('{"text": "old"}\n')
    file = GrowingFile(path)
    assert len(list(file.read_new())) == 1
    if is_saved:
        position = json.loads(json.dumps(file.tell()))
        file = GrowingFile(path)
        file.seek(position)
    path.rename(tmp_path / "stream.jsonl.1")
    path.write_text('{"text": "first"}\n{"text": "second"}\n')
    with pytest.warns(
        UserWarning, match="stream.jsonl has been replaced: it is read from its start"
    ):
        assert [text for _, text in file.read_new()] == ["first", "second"]
    # An editor replaces the file too, but keeps what has been read.
    (tmp_path / "new").write_text(path.read_text() + '{"text": "third"}\n')
    (tmp_path / "new").replace(path)
    assert [text for _, text in file.read_new()] == ["third"]


def test_lines_that_arrive_while_the_reader_waits_are_read(tmp_path, monkeypatch):
    path = tmp_path / "stream.jsonl"
    path.write_text('{"text": "early"}\n')
    late = ['{"text": "late"}\n', '{"text": "last"}\n']

    def append(seconds):
        with path.open("a") as stream:
            stream.write(late.pop(0) if late else "")

    monkeypatch.setattr("time.sleep", append)
    assert [text for _, text in read_growing(GrowingFile(path), idle_seconds=2.0)] == [
        "early",
        "late",
        "last",
    ]


def test_a_missing_file_is_named(tmp_path):
    with refuses(r"missing\.jsonl cannot be read"):
        list(GrowingFile(tmp_path / "missing.jsonl").read_new())
    with refuses("missing cannot be read"):
        list(GrowingFolder(tmp_path / "missing").read_new())


def test_a_folder_gives_lines_that_are_added_and_each_text_file_once(tmp_path):
    folder = GrowingFolder(tmp_path)
    assert list(folder.read_new()) == []
    (tmp_path / "b.txt").write_text("second")
    os.utime(tmp_path / "b.txt", (86_400, 86_400))
    (tmp_path / "a 1863-07-04.txt").write_text("third")
    (tmp_path / "lines.jsonl").write_text('{"text": "first"}\n{"text": "cut of')
    os.utime(tmp_path / "lines.jsonl", (1, 1))
    (tmp_path / ".hidden.txt").write_text("hidden")
    (tmp_path / "inside").mkdir()
    assert list(folder.read_new()) == [
        (None, "first"),
        ("1970-01-02", "second"),
        ("1863-07-04", "third"),
    ]
    with (tmp_path / "lines.jsonl").open("a") as lines:
        lines.write('f"}\n')
    assert list(folder.read_new()) == [(None, "cut off")]


def test_a_file_that_leaves_the_folder_is_forgotten_and_read_when_it_comes_again(tmp_path):
    folder, texts = GrowingFolder(tmp_path), []
    for text in ("war", "peace"):
        for name, content in (("1.txt", text), ("2.jsonl", f'{{"text": "{text}s"}}\n')):
            (tmp_path / name).write_text(content)
        texts.append({text for _, text in folder.read_new()})
        for name in ("1.txt", "2.jsonl"):
            (tmp_path / name).unlink()
        assert list(folder.read_new()) == []
    assert texts == [{"war", "wars"}, {"peace", "peaces"}]


def test_a_file_that_is_removed_while_the_folder_is_read_is_left_out(tmp_path):
    for place, name in enumerate(("1.txt", "2.txt", "3.txt")):
        (tmp_path / name).write_text(name)
        os.utime(tmp_path / name, (place, place))
    rows = GrowingFolder(tmp_path).read_new()
    assert next(rows)[1] == "1.txt"
    (tmp_path / "2.txt").unlink()
    assert [text for _, text in rows] == ["3.txt"]


def test_files_of_a_folder_that_are_no_texts_are_skipped_with_a_warning_that_says_why(tmp_path):
    (tmp_path / "table.csv").write_text("a,b")
    (tmp_path / "good.txt").write_text("war")
    with pytest.warns(UserWarning, match=r"table\.csv is skipped, because tables do not grow"):
        assert [text for _, text in GrowingFolder(tmp_path).read_new()] == ["war"]


def test_a_line_that_is_nested_too_deeply_is_skipped(tmp_path):
    path = tmp_path / "stream.jsonl"
    path.write_text("[" * 100_000 + '\n{"text": "war"}\n')
    told = []
    assert list(GrowingFile(path, report=told.append).read_new()) == [(None, "war")]
    assert told == [
        f'{path}, line 1, is skipped: write one object per line, like {{"text": "..."}}.'
    ]


def test_a_file_is_read_on_from_a_position_that_was_written_down(tmp_path):
    path = tmp_path / "stream.jsonl"
    path.write_text('{"text": "war"}\n{"text": "navy"}\nwrong\n')
    file, told = GrowingFile(path), []
    rows = file.read_new()
    assert next(rows) == (None, "war")
    again = GrowingFile(path, report=told.append)
    again.seek(json.loads(json.dumps(file.tell())))
    assert list(again.read_new()) == [(None, "navy")]
    assert "line 3" in told[0]


def test_a_folder_is_read_on_from_a_position_that_was_written_down(tmp_path):
    for place, name in enumerate(("1.txt", "2.jsonl", "3.csv", "4.txt")):
        (tmp_path / name).write_text(
            '{"text": "first"}\n{"text": "second"}\n' if ".jsonl" in name else name
        )
        os.utime(tmp_path / name, (place, place))
    folder, told = GrowingFolder(tmp_path), []
    rows = folder.read_new()
    assert [text for _, text in islice(rows, 2)] == ["1.txt", "first"]
    again = GrowingFolder(tmp_path, report=told.append)
    again.seek(json.loads(json.dumps(folder.tell())))
    assert [text for _, text in again.read_new()] == ["second", "4.txt"]
    assert len(told) == 1
    with pytest.raises(KeyError):
        again.seek(GrowingFile(tmp_path / "2.jsonl").tell())


def test_a_line_that_is_too_long_is_skipped_and_takes_little_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("stickbreaker.engine.corpora.growing_files.LONGEST_LINE", 100)
    path, told = tmp_path / "stream.jsonl", []
    path.write_text('{"text": "war"}\n' + "x" * 250)
    file = GrowingFile(path, report=told.append)
    assert list(file.read_new()) == [(None, "war")]
    assert told == [f"{path}, line 2, is skipped: it has more than 100 bytes."]
    again = GrowingFile(path, report=told.append)
    again.seek(json.loads(json.dumps(file.tell())))
    with path.open("a") as stream:
        stream.write("x" * 150 + '\n{"text": "navy"}\nwrong\n')
    for reader in (file, again):
        assert list(reader.read_new()) == [(None, "navy")]
    assert len(told) == 3
    assert "line 4, is skipped: write" in told[1]


def test_what_has_not_grown_is_not_read_again(tmp_path, monkeypatch):
    path = tmp_path / "stream.jsonl"
    path.write_text('{"text": "war"}\n{"text": "na')
    file = GrowingFile(path)
    assert len(list(file.read_new())) == 1
    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.open", lambda *arguments: pytest.fail("it is opened"))
        assert list(file.read_new()) == []
    with path.open("a") as stream:
        stream.write('vy"}\n')
    assert list(file.read_new()) == [(None, "navy")]


def test_a_file_that_cannot_be_read_does_not_hold_up_the_others_and_is_read_later(
    tmp_path, monkeypatch
):
    for place, name in enumerate(("1.jsonl", "2.jsonl", "3.txt", "4.txt")):
        (tmp_path / name).write_text(f'{{"text": "{name}"}}\n' if "json" in name else name)
        os.utime(tmp_path / name, (place, place))
    told, opened = [], Path.open

    def refuse(path, *arguments, **options):
        if path.name in ("1.jsonl", "3.txt"):
            raise PermissionError(13, "Permission denied")
        return opened(path, *arguments, **options)

    folder = GrowingFolder(tmp_path, report=told.append)
    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.open", refuse)
        assert [text for _, text in folder.read_new()] == ["2.jsonl", "4.txt"]
        assert list(folder.read_new()) == []
    assert (
        told[0]
        == f"{tmp_path / '1.jsonl'} is left out until it can be read (Permission denied): check its"
        " permissions."
    )
    assert len(told) == 2
    assert [text for _, text in folder.read_new()] == ["1.jsonl"]


def test_a_folder_whose_files_may_not_be_looked_at_is_named(tmp_path, monkeypatch):
    (tmp_path / "1.txt").write_text("war")

    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.is_file", refuse)
    with refuses(r"cannot be read .*Permission denied"):
        list(GrowingFolder(tmp_path).read_new())


def test_a_lone_surrogate_in_a_date_does_not_stop_a_stream(tmp_path):
    path = tmp_path / "stream.jsonl"
    path.write_text(
        '{"text": "war \\ud800", "date": "\\ud800"}\n{"text": "navy", "date": "1863"}\n'
    )
    dates = read_dates([str(date) for date, _ in GrowingFile(path).read_new()])
    assert dates.astype(str).tolist() == ["NaT", "1863"]


def test_each_text_of_a_tei_corpus_in_a_folder_is_read(tmp_path):
    texts = "".join(f"<TEI><text><p>{text}</p></text></TEI>" for text in ("peace", "war"))
    (tmp_path / "letters 1863.xml").write_text(f"<teiCorpus>{texts}</teiCorpus>")
    folder = GrowingFolder(tmp_path)
    assert [*read_growing(folder), *read_growing(folder)] == [("1863", "peace"), ("1863", "war")]
