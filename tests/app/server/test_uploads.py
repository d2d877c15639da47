"""Files that come part by part."""

import base64

import pytest

from stickbreaker.app.widgets import uploads
from stickbreaker.app.widgets.file_transfer import FileTransfer
from stickbreaker.app.widgets.uploads import Upload
from stickbreaker.engine.corpora.corpus import CorpusError


@pytest.fixture
def upload():
    upload = Upload()
    upload.begin()
    yield upload
    upload.clear()


def send(upload, name, content, size=5):
    upload.open(name, len(content))
    for start in range(0, len(content), size):
        upload.add(base64.b64encode(content[start : start + size]).decode())


def test_a_file_that_comes_in_parts_is_whole(upload):
    send(upload, "mine.csv", b"text\npeace and trade\n")
    assert upload.end().read_bytes() == b"text\npeace and trade\n"
    assert upload.end().name == "mine.csv"


def test_several_files_are_a_folder_and_new_ones_take_their_place(upload):
    send(upload, "docword.a.txt", b"1")
    send(upload, "vocab.a.txt", b"2")
    folder = upload.end()
    assert sorted(file.name for file in folder.iterdir()) == ["docword.a.txt", "vocab.a.txt"]
    upload.begin()
    send(upload, "one.txt", b"3")
    assert (folder.exists(), upload.end().is_dir()) == (False, True)
    last = upload.end()
    upload.clear()
    assert not last.exists()


@pytest.mark.parametrize("name", ["../../etc/cron.d/x.csv", "C:\\Windows\\x.csv", "/root/x.csv"])
def test_a_name_with_folders_stays_in_the_upload(upload, name):
    send(upload, name, b"peace")
    assert upload.end().name == "x.csv"
    assert upload.end().parent == upload._folder


@pytest.mark.parametrize("name", ["", "..", "a/..", "a\nb", "\0"])
def test_a_name_that_is_none_is_refused(upload, name):
    with pytest.raises(CorpusError, match="no name for a file: rename it"):
        upload.open(name, 1)


def test_what_is_too_large_is_refused_before_and_while_it_comes(upload, monkeypatch):
    monkeypatch.setattr(uploads, "MAX_UPLOAD_BYTES", 10)
    with pytest.raises(CorpusError, match=r"more than 0 MB, the most that can be dropped here: pack it"):
        upload.open("a.csv", 11)
    send(upload, "a.csv", b"123456")
    upload.open("b.csv", 1)
    with pytest.raises(CorpusError, match="the most that can be dropped"):
        upload.add(base64.b64encode(b"a liar").decode())
    assert sum(file.stat().st_size for file in upload.end().iterdir()) <= 10
    monkeypatch.setattr(uploads, "MAX_FILES", 2)
    with pytest.raises(CorpusError, match="more than 2 files"):
        upload.open("c.csv", 0)


def test_damaged_and_stray_parts_are_refused(upload):
    with pytest.raises(CorpusError, match="came apart"):
        upload.add("AAAA")
    upload.open("a.csv", 3)
    for part in ("not base64!", None, "AAA"):
        with pytest.raises(CorpusError, match="damaged on its way"):
            upload.add(part)
    empty = Upload()
    with pytest.raises(CorpusError, match="No file has come"):
        empty.end()


def test_where_no_file_is_asked_for_none_is_taken():
    mover = FileTransfer(lambda path: pytest.fail("taken"), pytest.fail, takes_files=False)
    for message in ({"kind": "begin"}, {"kind": "open", "name": "x.csv", "size": 1}, {"kind": "end"}):
        mover._handle_msg(message)
    assert mover.upload._folder is None
