"""Corpora that a user builds are stored, listed, loaded, read, deleted and exported."""

import json

import numpy as np
import pandas as pd
import pytest

from stickbreaker.engine.corpora import build_stored, piece_shards, rows, shards
from stickbreaker.engine.corpora.build import build_corpus
from stickbreaker.engine.corpora.build_stored import BuildRequest, build, build_own
from stickbreaker.engine.corpora.columns import Columns
from stickbreaker.engine.corpora.export import export_own
from stickbreaker.engine.corpora.library import (
    check_name,
    delete_own,
    find_folder,
    find_own,
    list_own,
    load_own,
    name_folder,
)
from stickbreaker.engine.corpora.load import list_corpora, load_corpus
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.sources import find_source
from stickbreaker.engine.corpora.stored import StoredCorpus, store_corpus
from stickbreaker.engine.corpora.texts import find_texts
from stickbreaker.engine.corpora.word_choices import WordChoices
from tests.engine.corpora.small_files import assert_same_corpora, refuses

TEXTS = [
    "Treaty of peace",
    "the",
    "Tariff on cotton",
    "Peace, <b>peace</b> at last",
    "\ud83d peace half a pair",
]
YEARS = ["1900", "1901", "1902-05", "soon", "1904"]
ALL = Columns("said", "when", "who", "of")
EVERYTHING = WordChoices(min_documents=1, max_share=1.0)


@pytest.fixture
def table(tmp_path):
    rows = zip(TEXTS, YEARS, [*"ABC", "<img src=x>", "E"], "BBABA", strict=True)
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(json.dumps(dict(zip(ALL.names, row, strict=True))) for row in rows))
    return path


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "corpora"


def make(table, folder, name="mine", **more):
    return build_own(BuildRequest(table, name, ALL, EVERYTHING, **more), folder=folder)


def test_a_loaded_corpus_equals_the_built_one(table, folder):
    about = make(table, folder)
    again = load_own("mine", folder)
    assert_same_corpora(again, build_corpus(find_source(table), ALL, EVERYTHING).corpus)
    assert about == find_own("mine", folder).about
    assert about.num_bad == 2
    assert about.date_span == ("1900-01-01", "1904-01-01")
    assert about.num_documents == 3
    assert about.vocab_size == again.vocab_size
    assert about.num_tokens == again.num_tokens


def test_a_corpus_of_several_shards_is_loaded_with_the_random_order_of_one_in_memory(
    table, folder, monkeypatch
):
    monkeypatch.setattr(build_stored, "SHARD_DOCUMENTS", 1)
    monkeypatch.setattr(rows, "CHUNK_ROWS", 1)
    make(table, folder)
    again = load_own("mine", folder)
    assert len(list((folder / "mine").glob("shard-*"))) > 1
    in_memory = build_corpus(find_source(table), ALL, EVERYTHING).corpus
    assert_same_corpora(again.order("shuffled", 5), in_memory.order("shuffled", 5))
    assert find_texts("mine", folder).read([2, 0]) == ["? peace half a pair", TEXTS[0]]
    monkeypatch.setattr(shards, "MAX_LOADED", 0)
    build_own(BuildRequest(table, "large", ALL, EVERYTHING), folder=folder)
    assert isinstance(load_own("large", folder), StoredCorpus)


def test_a_corpus_without_dates_and_groups_is_stored(table, folder):
    build_own(BuildRequest(table, "plain", Columns("said"), EVERYTHING), folder=folder)
    again = load_own("plain", folder)
    assert (again.num_documents, again.has_dates, again.split_by) == (4, False, "document")
    assert again.titles[1] == "mine, row 3"


def test_the_texts_of_the_documents_are_stored_in_order(table, folder, monkeypatch):
    monkeypatch.setattr(piece_shards, "TEXTS_AT_ONCE", 2)
    make(table, folder)
    assert load_own("mine", folder).titles == ("A", "C", "E")
    texts = find_texts("mine", folder)
    assert texts.read([2, 0, 1]) == ["? peace half a pair", TEXTS[0], TEXTS[2]]
    assert texts.find("TREATY of").tolist() == [0]
    assert texts.find("a").tolist() == [0, 1, 2]
    assert texts.find("?x").tolist() == []
    with refuses("no text of document 3"):
        texts.read([0, 3])


def test_a_corpus_without_texts_stores_no_text(table, folder):
    about = make(table, folder, keeps_text=False)
    assert not about.has_text
    assert load_own("mine", folder).num_documents == 3
    assert find_texts("mine", folder) is None
    assert not any(
        b"half a pair" in file.read_bytes() for file in folder.rglob("*") if file.is_file()
    )
    frames = [pd.read_parquet(file) for file in folder.rglob("*.parquet")]
    assert all("text" not in frame for frame in frames)


def test_a_file_of_counts_is_stored_without_texts(tmp_path, folder):
    (tmp_path / "vocab.txt").write_text("cotton\npeace\n")
    (tmp_path / "a.ldac").write_text("2 0:1 1:3\n1 1:2\n")
    about = build_own(BuildRequest(tmp_path / "a.ldac", "a"), folder=folder)
    assert (about.has_text, about.num_tokens) == (False, 6)
    assert load_own("a", folder).counts.toarray().tolist() == [[1, 3], [0, 2]]
    assert list(
        pd.read_parquet(export_own("a", tmp_path / "a.parquet", folder))["counts"].map(sum)
    ) == [4, 2]


def test_built_corpora_are_listed_with_the_bundled_ones_until_they_are_deleted(table, own_corpora):
    assert find_folder() == own_corpora / "corpora"
    build_own(BuildRequest(table, "Räte & <b>mine</b>", ALL, EVERYTHING))
    try:
        assert list_corpora()[4:] == ("Räte & <b>mine</b>",)
        assert load_corpus("Räte & <b>mine</b>").titles == ("A", "C", "E")
    finally:
        delete_own("Räte & <b>mine</b>")
    assert len(list_corpora()) == 4
    assert list((own_corpora / "corpora").iterdir()) == []
    with refuses("No corpus 'state-of-the-union' has been built"):
        delete_own("state-of-the-union")


def test_a_stored_corpus_in_the_folder_is_listed_opened_and_deleted_like_the_others(table, folder):
    make(table, folder)
    store_corpus(load_own("mine", folder), folder / name_folder("large/one"))
    about = find_own("large/one", folder).about
    assert [each.name for each in list_own(folder)] == ["large/one", "mine"]
    assert (about.num_documents, about.num_tokens) == (3, load_own("mine", folder).num_tokens)
    corpus = load_own("large/one", folder)
    assert isinstance(corpus, StoredCorpus)
    assert corpus.name == "large/one"
    np.testing.assert_array_equal(
        corpus.counts.toarray(), load_own("mine", folder).counts.toarray()
    )
    assert find_texts("large/one", folder) is None
    with refuses("already exists"):
        check_name("large/one", folder)
    assert len(pd.read_parquet(export_own("large/one", folder.parent / "out.parquet", folder))) == 3
    delete_own("large/one", folder)
    assert [each.name for each in list_own(folder)] == ["mine"]


def test_the_texts_of_a_stored_corpus_in_the_folder_are_found(table, folder):
    build(table, to=folder / "large", text="said", date="when", words=EVERYTHING, keeps_text=True)
    assert find_own("large", folder).about.has_text
    (first, *_) = load_own("large", folder).doc_ids
    assert find_texts("large", folder).read([first]) == [TEXTS[0]]


def test_a_damaged_stored_corpus_is_left_out_with_a_warning(table, folder, caplog):
    make(table, folder)
    store_corpus(load_own("mine", folder), folder / "large")
    next((folder / "large").glob("*.arrow")).unlink()
    assert [each.name for each in list_own(folder)] == ["mine"]
    assert "large" in caplog.text


@pytest.mark.parametrize("name", ["", " . ", "..", "-", "x" * 81, "a\nb", ".hidden a", "平" * 40])
def test_invalid_names_are_refused(folder, name):
    with refuses("Invalid corpus name"):
        check_name(name, folder)


def test_the_error_for_an_invalid_name_says_what_to_change(folder):
    with refuses("start with a letter"):
        check_name("../../x", folder)
    with refuses("fewer non-Latin letters"):
        check_name("平" * 40, folder)


def test_a_name_can_be_used_only_once(table, folder):
    make(table, folder, "Mine")
    for taken in ("mine", "Mine", "rfc", "RFC (own)"):
        with refuses("already exists. Choose another name"):
            make(table, folder, taken)
    assert check_name(" /etc/passwd ", folder) == "/etc/passwd"


def test_a_corpus_with_the_name_of_a_built_in_one_is_listed_opened_and_deleted(table, own_corpora):
    """Another folder, or a name that an earlier version allowed."""
    make(table, None)
    folder = own_corpora / "corpora"
    (folder / "mine").rename(folder / "bars")
    assert [corpus.name for corpus in list_own()] == ["bars (own)"]
    assert {"bars", "bars (own)"} < set(list_corpora())
    assert load_corpus("bars").num_documents == 10_000
    assert (load_corpus("bars (own)").name, load_own("bars (own)").num_documents) == (
        "bars (own)",
        3,
    )
    assert find_texts("bars (own)").read([0]) == [TEXTS[0]]
    delete_own("bars (own)")
    assert list(folder.iterdir()) == []


def test_a_name_with_slashes_stays_in_the_folder_of_the_corpora(table, folder, tmp_path):
    before = set(tmp_path.iterdir())
    make(table, folder, "a/../../b")
    assert set(tmp_path.iterdir()) == before | {folder}
    assert load_own("a/../../b", folder).num_documents == 3


def test_a_cancelled_or_failed_build_leaves_nothing(table, folder):
    def cancel(share, said):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_own(BuildRequest(table, "mine", ALL), cancel, folder)
    with pytest.raises(CorpusError):
        build_own(BuildRequest(table.with_name("none.csv"), "mine", ALL), folder=folder)
    assert list(folder.iterdir()) == []


def test_the_files_of_an_interrupted_build_are_removed_by_the_next_one(table, folder):
    (folder / ".0.partial").mkdir(parents=True)
    make(table, folder)
    assert [each.name for each in folder.iterdir()] == ["mine"]


def test_the_error_for_an_unreadable_or_unwritable_folder_names_it(table, folder, caplog):
    make(table, folder)
    shard, manifest = folder / "mine" / "shard-00000.arrow", folder / "mine" / "manifest.json"
    content = shard.read_bytes()
    shard.write_bytes(content.replace(b"pair", b"pear").replace(b"A", b"B"))
    message = r"shard-00000\.arrow is not a complete stored corpus \(its SHA-256 differs\)"
    with refuses(message):
        load_own("mine", folder)
    manifest.write_text("{}")
    assert list_own(folder) == ()
    assert "manifest.json is not a complete stored corpus" in caplog.text
    delete_own("mine", folder)
    assert list(folder.iterdir()) == []
    with refuses(r"Cannot write .*mine\.jsonl.* check the free space"):
        make(table, table)


def test_a_corpus_has_the_name_of_its_folder(table, folder):
    make(table, folder)
    (folder / "mine").rename(folder / "other%2Fone")
    assert load_own("other/one", folder).name == "other/one"
    for name in ("", ".", ".."):
        with refuses("has been built"):
            delete_own(name, folder)


def test_an_exported_corpus_is_one_parquet_file_that_can_be_read_again(
    table, folder, tmp_path, monkeypatch
):
    monkeypatch.setattr(piece_shards, "TEXTS_AT_ONCE", 2)
    make(table, folder)
    corpus = load_own("mine", folder)
    frame = pd.read_parquet(export_own("mine", tmp_path / "out.parquet", folder))
    assert list(frame.columns) == ["title", "date", "group", "text", "words", "counts"]
    assert tuple(frame["title"]) == corpus.titles
    for row, (words, counts) in enumerate(zip(frame["words"], frame["counts"], strict=True)):
        shown = np.zeros(corpus.vocab_size, int)
        shown[[corpus.vocabulary.index(word) for word in words]] = counts
        assert (shown == corpus.counts.toarray()[row]).all()
    again = load_corpus(
        tmp_path / "out.parquet", date="date", title="title", group="group", words=EVERYTHING
    )
    assert (again.counts.toarray() == corpus.counts.toarray()).all()
    assert (again.dates == corpus.dates).all()
