"""Corpora built on disk: they equal those built in memory, and an interrupted build continues where
it stopped.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import fsspec
import numpy as np
import pytest

from stickbreaker.engine import WordChoices, build, load_corpus, preview
from stickbreaker.engine.corpora import build_sources, build_stored, pieces
from stickbreaker.engine.corpora.texts import find_texts
from tests.engine.corpora.small_files import (
    COLUMNS,
    assert_same_corpora,
    make_rows,
    refuses,
    write_table,
)

CHOICES = WordChoices(min_documents=2, max_share=0.6, max_words=60, own_stop_words="wordda")
ALL = WordChoices(min_documents=1, max_share=1.0)


@pytest.fixture(scope="module")
def rows():
    return make_rows()


@pytest.fixture
def table(rows, tmp_path):
    return write_table(rows, tmp_path / "said.csv")


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_a_corpus_built_on_disk_equals_the_one_built_in_memory(rows, tmp_path, suffix, caplog):
    path = write_table(rows, tmp_path / f"said{suffix}")
    built = build(path, to=tmp_path / "disk", words=CHOICES, shard_documents=400, **COLUMNS)
    assert_same_corpora(built, load_corpus(path, words=CHOICES, **COLUMNS))
    on_disk, in_memory = (message.partition("skipped ")[2] for message in caplog.messages)
    assert on_disk.split()[0] == in_memory.split()[0]
    assert on_disk.partition("First: ")[2] == in_memory.partition("First: ")[2]
    assert len(list(built.folder.glob("shard-*"))) == 3
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_parts_of_a_parquet_file_and_of_a_folder_give_the_corpus_of_the_whole(
    rows, tmp_path, monkeypatch, caplog
):
    folder = tmp_path / "tables"
    folder.mkdir()
    write_table(rows[:1_000], folder / "a.parquet")
    for name, part in (
        ("b.csv", rows[1_000:1_100]),
        ("c.csv", rows[1_100:1_200]),
        ("d.csv", rows[1_200:]),
    ):
        write_table(part, folder / name)
    whole = build(folder, to=tmp_path / "whole", words=CHOICES, **COLUMNS)
    size = (folder / "b.csv").stat().st_size
    monkeypatch.setattr(pieces, "PART_BYTES", 2 * size + 1_000)
    plan = pieces.BuildPlan(
        tuple(map(str, sorted(folder.iterdir()))), build_stored.Columns(), CHOICES, False, 1, 1
    )
    parts = pieces.PlanFiles(plan).parts()
    assert [(part.file, part.num_files, part.groups) for part in parts] == [
        *((0, 1, (group, group + 1)) for group in range(4)),
        (1, 2, None),
        (3, 1, None),
    ]
    built = build(folder, to=tmp_path / "parts", words=CHOICES, **COLUMNS)
    assert len(list(built.folder.glob("shard-*"))) == len(parts)
    assert_same_corpora(built, whole)
    assert caplog.messages[0].partition("skipped")[2] == caplog.messages[1].partition("skipped")[2]


def test_words_that_occur_equally_often_are_chosen_by_the_alphabet_for_any_pieces(
    table, tmp_path, monkeypatch
):
    monkeypatch.setattr(pieces, "TERMS_AT_ONCE", 7)
    for number, most in enumerate((3, 17, 40)):
        choices = WordChoices(min_documents=1, max_share=1.0, max_words=most)
        ours = build(
            table, to=tmp_path / str(number), text="said", words=choices, shard_documents=1
        )
        assert ours.vocabulary == load_corpus(table, text="said", words=choices).vocabulary


def test_a_smaller_limit_of_memory_gives_more_shards_and_the_same_corpus(table, tmp_path):
    one = build(table, to=tmp_path / "one", **COLUMNS)
    many = build(table, to=tmp_path / "many", max_memory=100_000, **COLUMNS)
    assert_same_corpora(many, one)
    assert (len(list(one.folder.glob("shard-*"))), len(list(many.folder.glob("shard-*")))) == (1, 3)


class Stop(BaseException):
    """An interruption, like Ctrl-C."""


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 0.86, 0.93, 1.0])
def test_an_interrupted_build_continues_where_it_stopped(table, tmp_path, share, monkeypatch):
    def stop(done):
        if done >= share:
            raise Stop

    settings = {"to": tmp_path / "disk", "shard_documents": 400, "keeps_text": True, **COLUMNS}
    with pytest.raises(Stop):
        build(table, callback=stop, **settings)
    assert not (tmp_path / "disk").exists()
    for folder in ("pieces", "corpus"):
        (tmp_path / ".disk.building" / folder / f".{share}.partial").touch()
    finished, written = set((tmp_path / ".disk.building").rglob("*-0*")), set()
    monkeypatch.setattr(
        os,
        "replace",
        lambda old, new, replace=os.replace: (written.add(Path(new)), replace(old, new)),
    )
    again = build(table, **settings)
    assert written
    assert not finished & written
    assert_same_corpora(again, build(table, **settings | {"to": tmp_path / "whole"}))
    again.check()
    assert [*tmp_path.glob(".*"), *again.folder.glob(".*")] == []


def test_an_interrupted_build_says_what_it_left_out_of_all_texts(tmp_path, caplog):
    def stop(done):
        if done >= 0.5:
            raise Stop

    letter = "From a@b.org Mon Jan  7 10:00:00 1901\nSubject: Peace\n\nPeace\n> War\n\n"
    path = tmp_path / "letters.mbox"
    path.write_text(600 * letter + 600 * letter.replace("> War", "and war"))
    load_corpus(path, words=ALL)
    said = [each for each in caplog.messages if "Left out" in each]
    assert "quoted lines (" in said[0]
    caplog.clear()
    settings = {"to": tmp_path / "disk", "shard_documents": 500, "words": ALL}
    with pytest.raises(Stop):
        build(path, callback=stop, **settings)
    assert list((tmp_path / ".disk.building").rglob("piece-*"))
    build(path, **settings)
    assert [each for each in caplog.messages if "Left out" in each] == said


KILLED = """
import os, signal, sys
from stickbreaker.engine import build
stop = lambda share: share > 0.6 and os.kill(os.getpid(), signal.SIGKILL)
build(sys.argv[1], to=sys.argv[2], text="said", date="when", shard_documents=400, callback=stop)
"""


@pytest.mark.chaos
def test_a_build_that_was_killed_continues_where_it_stopped(table, tmp_path):
    settings = {"text": "said", "date": "when", "shard_documents": 400}
    done = subprocess.run([sys.executable, "-c", KILLED, table, tmp_path / "disk"], check=False)
    assert done.returncode == -signal.SIGKILL
    reports = []
    built = build(table, to=tmp_path / "disk", callback=reports.append, **settings)
    assert reports[0] > 0.5
    assert_same_corpora(built, build(table, to=tmp_path / "whole", **settings))


def test_finished_work_is_kept_when_the_disk_is_full(table, tmp_path, monkeypatch):
    write_arrow = pieces.write_arrow

    def fill_up(path, *rest):
        if "00002" in path.name:
            raise OSError(28, "No space left on device")
        write_arrow(path, *rest)

    settings = {"to": tmp_path / "disk", "shard_documents": 400, **COLUMNS}
    with monkeypatch.context() as full:
        full.setattr(pieces, "write_arrow", fill_up)
        with refuses(r"stopped \(.*No space left.*\). Finished work is kept in"):
            build(table, **settings)
    assert len(list((tmp_path / ".disk.building" / "pieces").glob("piece-*.json"))) == 2
    assert_same_corpora(
        build(table, **settings), build(table, **settings | {"to": tmp_path / "whole"})
    )


def test_an_unfinished_build_with_other_arguments_or_files_is_not_continued(table, tmp_path):
    def stop(done):
        if done > 0.85:
            raise Stop

    with pytest.raises(Stop):
        build(table, to=tmp_path / "disk", text="said", callback=stop)
    with refuses("holds an unfinished build with other arguments or files"):
        build(table, to=tmp_path / "disk", text="said", max_memory=5)
    write_table(make_rows(100), table)
    with refuses("holds an unfinished build with other arguments or files"):
        build(table, to=tmp_path / "disk", text="said")


def test_arguments_can_be_corrected_after_an_error(table, tmp_path):
    with refuses("has no column 'says'"):
        build(table, to=tmp_path / "disk", text="says")
    assert list(tmp_path.glob(".*")) == []
    assert build(table, to=tmp_path / "disk", text="said").num_documents > 1_000


def test_a_path_that_cannot_be_written_is_reported_before_the_source_is_read(
    table, tmp_path, monkeypatch
):
    monkeypatch.setattr(build_stored, "list_sources", None)
    with refuses("Cannot write .* Check the permissions and the path"):
        build(table, to=table / "disk", text="said")
    (tmp_path / "disk").mkdir()
    with refuses("already exists"):
        build(table, to=tmp_path / "disk", text="said")


def test_tables_of_a_folder_are_read_in_the_order_of_their_names(rows, tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    for name, part in (("b.csv", rows[700:]), ("a.parquet", rows[:700])):
        write_table(part, folder / name)
    titled = {"text": "said", "date": "when", "words": CHOICES}
    built = build(folder, to=tmp_path / "disk", shard_documents=400, **titled)
    whole = load_corpus(write_table(rows, tmp_path / "all.csv"), **titled)
    assert (built.counts != whole.counts).nnz == 0
    np.testing.assert_array_equal(built.dates, whole.dates)
    assert (built.titles[0], built.titles[-1]) == ("a, row 1", "b, row 601")
    listed = build([folder / "b.csv", folder / "a.parquet"], to=tmp_path / "listed", **titled)
    assert listed.titles[0] == "b, row 2"


def test_a_folder_of_texts_is_built(tmp_path):
    folder = tmp_path / "letters"
    folder.mkdir()
    for year in range(1860, 1890):
        (folder / f"{year}.txt").write_text("peace and treaty " * (year % 3) + "trade")
    built = build(folder, to=tmp_path / "disk", date="date", words=ALL, shard_documents=4)
    assert_same_corpora(built, load_corpus(folder, date="date", words=ALL))


def test_dates_have_the_finest_precision_of_all_pieces(tmp_path):
    path = tmp_path / "a.csv"
    days = [f"2001-01-{day:02}" for day in range(1, 29)] * 40
    path.write_text(
        "text,date\n" + "\n".join(f"peace treaty,{day}" for day in [*days, "2002-03-04T05:06:07"])
    )
    built = build(
        path, to=tmp_path / "disk", date="date", text="text", words=ALL, shard_documents=500
    )
    assert_same_corpora(built, load_corpus(path, date="date", text="text", words=ALL))
    assert built.dates[-1] == np.datetime64("2002-03-04T05:06:07")


def test_texts_are_kept_with_the_corpus(table, tmp_path, rows):
    built = build(
        table, to=tmp_path / "disk", keeps_text=True, words=CHOICES, shard_documents=400, **COLUMNS
    )
    texts = find_texts(str(built.folder))
    chosen = [row for row, title in enumerate(built.titles) if title in ("T4", "T50", "T1000")][
        ::-1
    ]
    assert texts.read(built.doc_ids[chosen]) == [rows["said"][row] for row in (1000, 50, 4)]
    assert find_texts(str(build(table, to=tmp_path / "bare", text="said").folder)) is None


def test_remote_files_are_copied_by_fsspec(table, tmp_path):
    system = fsspec.filesystem("memory")
    system.pipe_file("/bucket/said.csv", table.read_bytes())
    system.pipe_file("/bucket/_SUCCESS", b"")
    for address in ("memory://bucket/said.csv", "memory://bucket"):
        built = build(address, to=tmp_path / address[-3:], words=CHOICES, **COLUMNS)
        assert (built.counts != load_corpus(table, words=CHOICES, **COLUMNS).counts).nnz == 0
    system.pipe_file("/other/said.csv", b"said\nPeace\n")
    both = build(
        ["memory://other", "memory://bucket"], to=tmp_path / "both", text="said", words=ALL
    )
    assert (
        both.num_documents
        == 1 + build(table, to=tmp_path / "one", text="said", words=ALL).num_documents
    )
    with refuses(r"Cannot read nowhere://a.csv \(Protocol not known: nowhere"):
        build("nowhere://a.csv", to=tmp_path / "disk")
    with refuses("has no files of a supported type"):
        build("memory://bucket/_SUCCESS", to=tmp_path / "other")


def test_complete_copies_are_kept_if_the_connection_fails(tmp_path, monkeypatch):
    system = fsspec.filesystem("memory")
    for name in "abc":
        system.pipe_file(f"/failing/{name}.csv", b"text\npeace\nwar\n")
    opened = type(system).open

    def fail(self, path, *rest):
        if path.endswith("b.csv"):
            raise OSError("connection lost")
        return opened(self, path, *rest)

    with monkeypatch.context() as failing:
        failing.setattr(type(system), "open", fail)
        with refuses(r"Cannot read memory://failing \(connection lost\).*complete copies"):
            build("memory://failing", to=tmp_path / "disk", words=ALL)
    (copy,) = tmp_path.glob(".disk.building/copies-*/*")
    written = copy.stat().st_mtime_ns
    with refuses("has no column 'said'"):
        build("memory://failing", to=tmp_path / "disk", text="said", words=ALL)
    assert copy.stat().st_mtime_ns == written
    assert build("memory://failing", to=tmp_path / "disk", words=ALL).num_documents == 6
    assert list(tmp_path.glob(".*")) == []


def test_a_full_disk_is_named_while_remote_files_are_copied(tmp_path, monkeypatch):
    fsspec.filesystem("memory").pipe_file("/full/a.csv", b"text\npeace\n")

    def fill_up(file):
        if Path(file.name).parent.name.startswith("copies-"):
            raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr("stickbreaker.engine.files.whole_files.sync", fill_up)
        with refuses(r"The build of .*disk stopped \(.*No space left.*free space"):
            build("memory://full", to=tmp_path / "disk", words=ALL)
    assert list(tmp_path.iterdir()) == []


def test_two_processes_never_build_the_same_corpus(table, tmp_path):
    def build_again(done):
        build(table, to=tmp_path / "disk", text="said")

    with refuses("Another process is building .*disk. Wait until it ends"):
        build(table, to=tmp_path / "disk", text="said", callback=build_again)
    assert build(table, to=tmp_path / "disk", text="said").num_documents > 1_000
    assert list(tmp_path.glob(".*")) == []


def test_a_build_in_a_folder_of_its_sources_continues(tmp_path):
    (tmp_path / "one.txt").write_text("peace")
    (tmp_path / "two.txt").write_text("war")

    def stop(done):
        if done > 0.85:
            raise Stop

    with pytest.raises(Stop):
        build(tmp_path, to=tmp_path / "disk", words=ALL, callback=stop)
    assert build(tmp_path, to=tmp_path / "disk", words=ALL).num_documents == 2


def test_an_unfinished_build_is_named_when_it_is_loaded(table, tmp_path):
    def look(done):
        with refuses("The build of .*disk is unfinished. Wait for it, or build again"):
            load_corpus(tmp_path / "disk")

    build(table, to=tmp_path / "disk", text="said", callback=look)


@pytest.mark.parametrize("read", [load_corpus, preview])
def test_only_a_build_reads_an_address(read):
    with refuses("s3://bucket/said.csv is a remote address. Build a corpus from it"):
        read("s3://bucket/said.csv")


def test_a_source_folder_without_permission_is_named(tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied")

    (tmp_path / "texts").mkdir()
    monkeypatch.setattr(Path, "iterdir", refuse)
    with refuses(r"Cannot read .*texts \(Permission denied\). Check its permissions"):
        load_corpus(tmp_path / "texts")


@pytest.fixture
def hidden(tmp_path, monkeypatch):
    """A folder in which this user finds nothing."""
    stat = os.stat

    def refuse(path, **options):
        if str(path).startswith(f"{tmp_path / 'hidden'}{os.sep}"):
            raise PermissionError(13, "Permission denied")
        return stat(path, **options)

    monkeypatch.setattr(os, "stat", refuse)
    return tmp_path / "hidden"


@pytest.mark.parametrize("name", ["corpus", "said.csv"])
def test_a_path_in_a_folder_without_permission_is_named(hidden, tmp_path, name):
    for read in (load_corpus, preview, lambda path: build(path, to=tmp_path / "disk")):
        with refuses(rf"Cannot read .*{name} \(Permission denied\). Check the permissions of"):
            read(hidden / name)


def test_documents_of_a_stored_corpus_without_permission_are_named(table, hidden):
    rows = build(table, to=hidden.with_name("disk"), text="said").refer(0, 3)
    hidden.with_name("disk").rename(hidden)
    with refuses(rf"{hidden}.* cannot be read \(Permission denied\)"):
        rows._replace(folder=hidden).read()


def test_tables_in_subfolders_do_not_take_the_place_of_texts(table, tmp_path):
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "one.txt").write_text("peace")
    build(table, to=texts / "disk", text="said")
    (texts / "more").mkdir()
    (texts / "more" / "list.csv").write_text("text\nwar\n")
    assert build(texts, to=tmp_path / "built", words=ALL).vocabulary.words == ("peace",)


def test_tables_in_subfolders_are_read(rows, tmp_path):
    for year, part in (("year=1900", rows[:50]), ("year=1901", rows[50:100])):
        (tmp_path / "tables" / year).mkdir(parents=True)
        write_table(part, tmp_path / "tables" / year / "part.parquet")
    (tmp_path / "tables" / "_SUCCESS").touch()
    (tmp_path / "tables" / ".hidden").mkdir()
    write_table(rows, tmp_path / "tables" / ".hidden" / "part.parquet")
    built = build(tmp_path / "tables", to=tmp_path / "disk", words=ALL, **COLUMNS)
    whole = build(
        write_table(rows[:100], tmp_path / "a.parquet"), to=tmp_path / "whole", words=ALL, **COLUMNS
    )
    assert (built.counts != whole.counts).nnz == 0


def test_a_folder_without_permission_is_named_at_once(table, tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "exists", refuse)
    with refuses(r"Cannot write .*disk \(Permission denied\)"):
        build(table, to=tmp_path / "disk", text="said")


@pytest.mark.parametrize("to", ["s3://bucket/disk", "memory://disk"])
def test_a_corpus_is_not_written_to_an_address(table, tmp_path, monkeypatch, to):
    monkeypatch.chdir(tmp_path)
    with refuses("Cannot write to the address .*: name a folder of this machine"):
        build(table, to=to, text="said")
    assert list(tmp_path.iterdir()) == [table]


def test_a_source_without_usable_rows_or_words_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,date\npeace,soon\n,1900\n")
    with refuses("has no usable rows. First problem: .*row 2"):
        build(path, to=tmp_path / "disk", date="date")
    with refuses("No words remain in 1 rows"):
        build(path, to=tmp_path / "words", text="text", words=WordChoices(own_stop_words="peace"))
    (tmp_path / "docword.a.txt").write_text("1\n1\n1\n1 1 1\n")
    with refuses("contains word counts. Load it with load_corpus, and call store_corpus"):
        build(tmp_path / "docword.a.txt", to=tmp_path / "counts")


def test_copies_of_another_address_are_in_another_folder(tmp_path, monkeypatch):
    folders = []
    monkeypatch.setattr(
        build_sources,
        "copy_remote",
        lambda address, folder: folders.append(folder) or [tmp_path / "a"],
    )
    for address in ("memory://a/texts.csv", "memory://b/texts.csv", "memory://a/texts.csv"):
        build_sources.list_sources(address, tmp_path)
    assert folders[0] == folders[2] != folders[1]


def test_the_description_of_a_folder_changes_with_its_files(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "one.txt").write_text("peace")
    before = pieces.describe_source(tmp_path)
    assert pieces.describe_source(tmp_path) == before
    (tmp_path / "sub" / "two.txt").write_text("war")
    assert pieces.describe_source(tmp_path) != before
