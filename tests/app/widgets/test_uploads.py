"""Uploads that arrive in parts."""

import base64
import errno
import os

import pytest

from stickbreaker.app.model.limits import ALL_UPLOADS, UPLOAD, UPLOADS_PER_USER
from stickbreaker.app.widgets import uploads
from stickbreaker.app.widgets.file_transfer import FileTransfer
from stickbreaker.app.widgets.uploads import Upload, UploadSpace
from stickbreaker.engine.corpora.rows import CorpusError
from tests.app.browser_messages import answer_with, send


@pytest.fixture
def upload():
    upload = Upload()
    upload.begin()
    yield upload
    upload.clear()


def send_file(upload, name, content, size=5):
    upload.open(name, len(content))
    for start in range(0, len(content), size):
        upload.add(base64.b64encode(content[start : start + size]).decode())


def test_a_file_sent_in_parts_is_put_together(upload):
    send_file(upload, "mine.csv", b"text\npeace and trade\n")
    assert upload.end().read_bytes() == b"text\npeace and trade\n"
    assert upload.end().name == "mine.csv"


def test_several_files_are_kept_in_a_folder_and_the_next_upload_replaces_them(upload):
    send_file(upload, "docword.a.txt", b"1")
    send_file(upload, "vocab.a.txt", b"2")
    folder = upload.end()
    assert sorted(file.name for file in folder.iterdir()) == ["docword.a.txt", "vocab.a.txt"]
    upload.begin()
    send_file(upload, "one.txt", b"3")
    assert (folder.exists(), upload.end().is_dir()) == (False, True)
    last = upload.end()
    upload.clear()
    assert not last.exists()


@pytest.mark.parametrize("name", ["../../etc/cron.d/x.csv", "C:\\Windows\\x.csv", "/root/x.csv"])
def test_a_path_as_a_name_stays_inside_the_upload(upload, name):
    send_file(upload, name, b"peace")
    assert upload.end().name == "x.csv"
    assert upload.end().parent == upload.folder


@pytest.mark.parametrize("size", [1e400, float("nan"), -1, None, "1", 10**400])
def test_a_size_that_is_no_size_is_refused_with_a_sentence(size):
    refused = []
    mover = FileTransfer(lambda path: None, refused.append)
    send(mover, {"kind": "begin"})
    send(mover, {"kind": "open", "name": "mine.csv", "size": size, "folders": []})
    assert len(refused) == 1
    assert len(refused[0]) <= 300
    mover.upload.clear()


@pytest.mark.parametrize("name", ["", "..", "a/..", "a\nb", "\0"])
def test_an_invalid_name_is_refused(upload, name):
    with pytest.raises(CorpusError, match="not a valid file name: rename the file"):
        upload.open(name, 1)


def test_a_large_upload_is_refused_before_and_during_the_transfer(upload, monkeypatch):
    monkeypatch.setenv(UPLOAD.variable, "0.00000001")
    with pytest.raises(
        CorpusError, match="the limit of an upload is 0 MB .*: pack them into a zip, take a sample"
    ):
        upload.open("a.csv", 11)
    send_file(upload, "a.csv", b"123456")
    upload.open("b.csv", 1)
    with pytest.raises(CorpusError, match="the limit of an upload is"):
        upload.add(base64.b64encode(b"too long").decode())
    assert sum(file.stat().st_size for file in upload.end().iterdir()) <= 10
    monkeypatch.setattr(uploads, "MAX_FILES", 2)
    with pytest.raises(CorpusError, match="more than 2 files"):
        upload.open("c.csv", 0)


@pytest.mark.parametrize(
    ("limit", "users", "said"),
    [
        (
            UPLOADS_PER_USER,
            ("anna", "anna"),
            "the limit for each user is 2 MB .*: close another page",
        ),
        (
            ALL_UPLOADS,
            ("anna", "ben"),
            "this server allows 2 MB .*: try again when other users have closed",
        ),
        (ALL_UPLOADS, (None, None), "this server allows 2 MB"),
    ],
)
def test_the_uploads_of_a_user_and_of_all_are_limited_until_one_is_removed(
    limit, users, said, monkeypatch, set_limit
):
    monkeypatch.setattr(uploads, "SPACE", UploadSpace())
    set_limit(limit, 0.002)
    first, second = Upload(users[0]), Upload(users[1])
    for each in (first, second):
        each.begin()
    send_file(first, "a.csv", bytes(1_500_000), 1_500_000)
    with pytest.raises(CorpusError, match=said):
        second.open("b.csv", 600_000)
    first.clear()
    send_file(second, "b.csv", bytes(600_000), 600_000)
    second.clear()
    assert uploads.SPACE.used.total() == 0


def test_an_upload_for_which_the_disk_has_no_room_is_refused_with_a_sentence(monkeypatch):
    refused, answers = [], []
    transfer = FileTransfer(pytest.fail, refused.append)
    answer_with(transfer, answers.append)
    send(transfer, {"kind": "begin"})
    monkeypatch.setattr(transfer.upload, "open", fail_as_full)
    send(transfer, {"kind": "open", "name": "a.csv", "size": 1, "folders": []})
    assert refused == [
        "The server could not store the upload: No space left on device. Try again later, or take a"
        " sample."
    ]
    assert answers[-1] == {"kind": "answer", "is_taken": False}
    transfer.upload.clear()


def fail_as_full(name, size, folders):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_damaged_and_unexpected_parts_are_refused(upload):
    with pytest.raises(CorpusError, match="Upload failed: try again"):
        upload.add("AAAA")
    upload.open("a.csv", 3)
    for part in ("not base64!", None, "AAA"):
        with pytest.raises(CorpusError, match="damaged during the upload"):
            upload.add(part)
    empty = Upload()
    with pytest.raises(CorpusError, match="No file was received"):
        empty.end()


def test_the_folders_of_an_upload_are_kept_and_files_of_the_same_name_do_not_collide(upload):
    for folders, content in ((["speeches", "1900"], "YQ=="), (["speeches", "1901"], "Yg==")):
        upload.open("x.txt", 1, folders)
        upload.add(content)
    folder = upload.end()
    assert folder.name == "speeches"
    assert {str(file.relative_to(folder)): file.read_text() for file in folder.rglob("*.txt")} == {
        "1900/x.txt": "a",
        "1901/x.txt": "b",
    }


def test_a_folder_with_one_table_gives_the_table(upload):
    upload.open("mine.csv", 1, ["a", "b"])
    assert upload.end() == upload.folder / "a" / "b" / "mine.csv"


@pytest.mark.parametrize(
    "folders",
    [
        *([each] for each in ("..", "../..", "a/..", ".", "", "a\nb")),
        ["a", ".."],
        [None, "."],
        ["a"] * 9,
        None,
        3,
    ],
)
def test_invalid_folders_are_refused_and_nothing_is_written(folders):
    refused = []
    transfer = FileTransfer(pytest.fail, refused.append)
    send(transfer, {"kind": "begin"})
    send(transfer, {"kind": "open", "name": "x.csv", "size": 1, "folders": folders})
    assert len(refused) == 1
    assert list(transfer.upload.folder.rglob("*")) == []
    transfer.upload.clear()


def test_a_folder_name_cannot_lead_out_of_the_upload(upload):
    upload.open("x.csv", 1, ["../../etc", "/root", "C:\\Windows"])
    assert upload.end() == upload.folder / "etc" / "root" / "Windows" / "x.csv"


def test_a_cancelled_upload_leaves_no_file():
    refused, answers = [], []
    transfer = FileTransfer(pytest.fail, refused.append)
    answer_with(transfer, answers.append)
    send(transfer, {"kind": "begin"})
    send(transfer, {"kind": "open", "name": "x.csv", "size": 4, "folders": []})
    send(transfer, {"kind": "part", "content": "cGVh"})
    folder = transfer.upload.folder
    assert [file.name for file in folder.iterdir()] == ["x.csv"]
    send(transfer, {"kind": "cancel"})
    assert not folder.exists()
    assert refused == ["Upload cancelled."]
    assert [answer["is_taken"] for answer in answers] == [True] * 4


def test_a_component_that_takes_no_files_ignores_uploads():
    transfer = FileTransfer(lambda path: pytest.fail("taken"), pytest.fail, takes_files=False)
    for message in (
        {"kind": "begin"},
        {"kind": "open", "name": "x.csv", "size": 1, "folders": []},
        {"kind": "end"},
    ):
        send(transfer, message)
    assert transfer.upload.folder is None


@pytest.fixture
def outgoing(tmp_path):
    """A component that sends files, the messages to its browser, and what it says about faults."""
    refused, sent = [], []
    transfer = FileTransfer(pytest.fail, refused.append, takes_files=False, part_bytes=4)
    answer_with(transfer, sent.append)
    yield transfer, sent, refused
    transfer.close()


def make_file(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    return path


def received(sent):
    """The content of each file that a browser saves, by name."""
    files, parts = {}, b""
    for message in sent:
        if message["kind"] == "part":
            parts += base64.b64decode(message["content"])
        else:
            if message["kind"] == "save":
                files[message["name"]] = parts
            parts = b""
    return files


def test_a_second_file_waits_until_the_first_one_has_been_sent(outgoing, tmp_path):
    transfer, sent, refused = outgoing
    for name, content in (("one.csv", b"123456"), ("two.csv", b"abcdef")):
        transfer.send_file(make_file(tmp_path, name, content), name)
    while transfer.outgoing is not None:
        send(transfer, {"kind": "next"})
    assert received(sent) == {"one.csv": b"123456", "two.csv": b"abcdef"}
    assert (refused, list(tmp_path.iterdir())) == ([], [])


def test_a_download_that_the_browser_cannot_save_is_reported_as_one_and_the_next_one_is_sent(
    outgoing, tmp_path
):
    transfer, _, refused = outgoing
    for name in ("one.csv", "two.csv"):
        transfer.send_file(make_file(tmp_path, name, name.encode()), name)
    send(transfer, {"kind": "unsaved", "text": "Invalid array length"})
    assert refused == [
        "one.csv could not be downloaded: the browser could not save it (Invalid array length). Try"
        " again."
    ]
    assert transfer.outgoing.name == "two.csv"
    transfer.close()
    assert list(tmp_path.iterdir()) == []
    send(transfer, {"kind": "unsaved", "text": "late"})
    assert len(refused) == 1


def test_a_file_that_cannot_be_read_while_it_is_sent_is_reported_as_a_failed_download(
    outgoing, tmp_path
):
    transfer, sent, refused = outgoing
    transfer.send_file(tmp_path / "gone.csv", "gone.csv")
    assert refused == ["gone.csv could not be downloaded: No such file or directory. Try again."]
    transfer.send_file(make_file(tmp_path, "one.csv", b"123456"), "one.csv")
    transfer.outgoing.file.close()
    transfer.outgoing = transfer.outgoing._replace(file=BrokenFile())
    send(transfer, {"kind": "next"})
    assert refused[1] == "one.csv could not be downloaded: Input/output error. Try again."
    assert (received(sent), sent[-1]["kind"], transfer.outgoing) == ({}, "drop", None)


class BrokenFile:
    def read(self, size):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def close(self):
        pass
