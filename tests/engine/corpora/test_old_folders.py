"""Folders of earlier versions become stored corpora when they are opened, and nothing is lost on
the way.
"""

import json
import os
from multiprocessing import get_context

import numpy as np
import pytest

from stickbreaker.engine.corpora import old_folders
from stickbreaker.engine.corpora.corpus import Corpus, Vocabulary
from stickbreaker.engine.corpora.export import export_own
from stickbreaker.engine.corpora.library import find_own, list_own, load_own
from stickbreaker.engine.corpora.old_folders import ABOUT, COUNTS, DOCUMENTS
from stickbreaker.engine.corpora.texts import find_texts
from stickbreaker.engine.files import whole_files
from tests.engine.corpora.old_folders import write_old
from tests.engine.corpora.small_files import assert_same_corpora, refuses

TEXTS = ["peace, and peace", "<b>war</b>", "peace ?"]
OLD_FILES = {ABOUT, COUNTS, DOCUMENTS}


@pytest.fixture
def corpus():
    return Corpus(
        name="my/notes",
        counts=[[2, 0], [0, 1], [1, 3]],
        vocabulary=Vocabulary(("peace", "war")),
        dates=np.array(["1812", "NaT", "1815"], "datetime64[Y]"),
        titles=("First", "", "Räte"),
        groups=[0, 1, 2],
        group_titles=("a", "b", "c"),
        split_by="group",
    )


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "corpora"


def check(folder, corpus, about):
    """The corpus is there as it was, with its description and its texts."""
    assert find_own("my/notes", folder).about == about
    assert list_own(folder) == (about,)
    assert_same_corpora(load_own("my/notes", folder), corpus)
    assert find_texts("my/notes", folder).read([2, 0, 1]) == [TEXTS[2], TEXTS[0], TEXTS[1]]


def test_an_old_folder_is_listed_as_it_is_and_converted_when_it_is_opened(corpus, folder):
    about, place = write_old(corpus, folder, TEXTS)
    assert list_own(folder) == (about,)
    assert {path.name for path in place.iterdir()} > OLD_FILES
    check(folder, corpus, about)
    assert not OLD_FILES & {path.name for path in place.iterdir()}
    check(folder, corpus, about)
    assert [path.name for path in folder.iterdir()] == [place.name]


def test_the_texts_of_an_old_folder_are_found_before_its_corpus_is_loaded(corpus, folder):
    about, _ = write_old(corpus, folder, TEXTS)
    assert find_texts("my/notes", folder).find("PEACE").tolist() == [0, 2]
    check(folder, corpus, about)


def test_an_old_folder_without_texts_dates_and_groups_is_converted(folder, tiny_corpus):
    plain = tiny_corpus.select(np.arange(3)).merge_groups("plain")
    _, place = write_old(plain, folder)
    assert_same_corpora(load_own("plain", folder), plain)
    assert find_texts("plain", folder) is None
    assert not OLD_FILES & {path.name for path in place.iterdir()}


def test_a_random_order_is_the_same_after_the_conversion(folder, monkeypatch):
    monkeypatch.setattr(old_folders, "SHARD_DOCUMENTS", 60)
    counts = np.random.default_rng(0).poisson(1.0, (200, 6)) + 1
    years = np.full(200, "NaT", "datetime64[D]")
    corpus = Corpus(
        "many", counts, Vocabulary(tuple("abcdef")), years, [str(row) for row in range(200)]
    )
    _, place = write_old(corpus, folder)
    shuffled = load_own("many", folder).order("shuffled", 3)
    assert len(list(place.glob("shard-*"))) == 4
    np.testing.assert_array_equal(shuffled.doc_ids, corpus.order("shuffled", 3).doc_ids)


def test_a_folder_of_the_first_versions_without_checksums_is_converted(corpus, folder):
    about, place = write_old(corpus, folder, TEXTS)
    (place / ABOUT).write_text(json.dumps(json.loads((place / ABOUT).read_text())["about"]))
    check(folder, corpus, about)


class Kill(BaseException):
    """The end of the process: it runs no handler of an error."""


@pytest.mark.parametrize("number", range(11))
def test_nothing_is_lost_if_a_conversion_is_killed_anywhere(corpus, folder, number, monkeypatch):
    about, place = write_old(corpus, folder, TEXTS)
    calls = []

    def count(call):
        def kill(*arguments, **keywords):
            calls.append(call)
            if len(calls) > number:
                raise Kill
            return call(*arguments, **keywords)

        return kill

    with monkeypatch.context() as killed:
        killed.setattr(whole_files.shutil, "rmtree", lambda *arguments, **keywords: None)
        killed.setattr(whole_files.os, "replace", count(os.replace))
        killed.setattr(old_folders, "remove_file", count(old_folders.remove_file))
        with pytest.raises(Kill):
            load_own("my/notes", folder)
    assert find_own("my/notes", folder).about == about
    check(folder, corpus, about)
    assert not OLD_FILES & {path.name for path in place.iterdir()}


def test_a_folder_that_cannot_be_written_stays_readable_as_it_is(
    corpus, folder, tmp_path, monkeypatch
):
    about, place = write_old(corpus, folder, TEXTS)
    before = {path: path.read_bytes() for path in place.iterdir()}

    def refuse(path):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(whole_files, "open_new", refuse)
    check(folder, corpus, about)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    monkeypatch.undo()
    assert export_own("my/notes", tmp_path / "out.parquet", folder).is_file()
    check(folder, corpus, about)


def test_several_processes_can_open_an_old_folder_at_the_same_time(corpus, folder):
    about, _ = write_old(corpus, folder, TEXTS)
    with get_context("spawn").Pool(3) as pool:
        found = pool.starmap(load_own, [("my/notes", folder)] * 6, chunksize=1)
    for each in found:
        assert_same_corpora(each, corpus)
    check(folder, corpus, about)


@pytest.mark.parametrize("part", [COUNTS, DOCUMENTS, "vocabulary.parquet"])
def test_a_damaged_old_folder_is_refused_and_stays_as_it_is(corpus, folder, part):
    _, place = write_old(corpus, folder, TEXTS)
    (place / part).write_bytes(b"PAR1")
    message = (
        rf"{part} is not a complete corpus \(its SHA-256 differs\): delete it and build it again"
    )
    with refuses(message):
        load_own("my/notes", folder)
    assert {path.name for path in place.iterdir()} >= OLD_FILES


def test_an_old_folder_that_was_renamed_has_its_new_name(corpus, folder):
    _, place = write_old(corpus, folder, TEXTS)
    place.rename(folder / "other")
    assert [own.name for own in list_own(folder)] == ["other"]
    assert load_own("other", folder).name == load_own("other", folder).name == "other"
