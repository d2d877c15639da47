"""Corpora on disk equal those in memory and give the same topics; errors name the damaged file."""

import os
import pickle
from dataclasses import replace

import numpy as np
import pytest

from stickbreaker.engine import (
    OnlineHDP,
    RunSettings,
    WordChoices,
    find_algorithm,
    load_corpus,
    prepare,
    preview,
    run,
)
from stickbreaker.engine.corpora import shards as files
from stickbreaker.engine.corpora.build_stored import BuildRequest, build_own
from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.corpora.stored import open_stored, store_corpus
from stickbreaker.engine.runs.checkpoint import Checkpoint, load, save
from tests.engine.corpora.small_files import assert_same_corpora, refuses

HDP = find_algorithm("hdp")


@pytest.fixture(scope="module")
def passages(state_of_the_union):
    """Six hundred passages in a random order, with their addresses as groups."""
    return state_of_the_union.select(
        np.random.default_rng(5).choice(state_of_the_union.num_documents, 600, False)
    )


@pytest.fixture(scope="module")
def stored(passages, tmp_path_factory):
    return store_corpus(
        passages, tmp_path_factory.mktemp("stored") / "passages", shard_documents=70
    )


@pytest.fixture
def small(tiny_corpus, tmp_path):
    """A folder with shards of five, five and two documents."""
    return store_corpus(tiny_corpus, tmp_path / "tiny", shard_documents=5).folder


def learn(corpus, **settings):
    settings = {"num_evaluations": 2, "num_test": 50, **settings}
    return [
        *run(
            prepare(HDP, HDP.config(max_topics=20, batch_size=64), corpus, RunSettings(**settings))
        )
    ]


def topic_words(updates):
    return updates[-1].state.topic_counts.dense()


def test_a_stored_corpus_equals_the_one_in_memory(passages, stored):
    assert_same_corpora(stored, passages)
    assert_same_corpora(stored.load(), passages)
    assert type(stored.load()) is Corpus
    assert (stored.name, repr(stored)) == (passages.name, repr(passages))


def test_documents_selected_ordered_and_split_equal_those_in_memory(passages, stored):
    rows = np.array([599, 3, -4, 3, 70, 69])
    assert_same_corpora(stored.select(rows), passages.select(rows))
    assert_same_corpora(stored.select(rows).select([4, 0]), passages.select(rows).select([4, 0]))
    assert_same_corpora(stored.order("chronological"), passages.order("chronological"))
    for by in ("document", "group"):
        for one, other in zip(stored.split(60, 3, by), passages.split(60, 3, by), strict=True):
            assert_same_corpora(one, other)


def test_a_stored_corpus_without_groups_equals_the_one_in_memory(tiny_corpus, small):
    assert_same_corpora(open_stored(small), tiny_corpus)
    assert_same_corpora(open_stored(small).select([7, 2]), tiny_corpus.select([7, 2]))


def test_mini_batches_equal_those_in_memory(passages, stored):
    for one, other in zip(stored.batches(128, 30), passages.batches(128, 30), strict=True):
        np.testing.assert_array_equal(one.doc_ids, other.doc_ids)
        for mine, theirs in zip(one.documents, other.documents, strict=True):
            np.testing.assert_array_equal(mine, theirs)
            assert (mine.dtype, mine.flags.writeable) == (theirs.dtype, theirs.flags.writeable)


def test_topics_have_the_same_bits_as_in_memory_in_chronological_order(passages, stored):
    ours, theirs = learn(stored), learn(passages)
    assert topic_words(ours).tobytes() == topic_words(theirs).tobytes()
    assert [each.held_out for each in ours] == [each.held_out for each in theirs]
    assert [each.stepped.date for each in ours] == [each.stepped.date for each in theirs]


def test_an_estimator_learns_the_same_from_a_stored_corpus(passages, stored):
    ours, theirs = (
        OnlineHDP(max_topics=20, random_state=0).fit(corpus) for corpus in (stored, passages)
    )
    assert ours.components_.tobytes() == theirs.components_.tobytes()
    assert ours.score(stored) == theirs.score(passages)
    np.testing.assert_array_equal(ours.transform(stored), theirs.transform(passages))


def test_documents_are_shuffled_within_windows_of_shards(stored):
    places = np.arange(600)
    ids = dict(zip(stored.doc_ids.tolist(), places.tolist(), strict=True))
    read = [ids[doc_id] for doc_id in stored.order("shuffled", 1, window=2).doc_ids.tolist()]
    assert sorted(read) == places.tolist()
    # Nine shards of 70, the last of 40: the first window has two of them.
    first = {place // 70 for place in read[:110]}
    assert len(first) == 2
    assert np.abs(np.diff(read[:110])).max() > 1
    assert read == [
        ids[doc_id] for doc_id in stored.order("shuffled", 1, window=2).doc_ids.tolist()
    ]
    assert read != [
        ids[doc_id] for doc_id in stored.order("shuffled", 2, window=2).doc_ids.tolist()
    ]


def test_a_shuffled_order_does_not_depend_on_the_current_order(stored):
    again = stored.order("chronological").order("shuffled", 1, window=3)
    np.testing.assert_array_equal(again.doc_ids, stored.order("shuffled", 1, window=3).doc_ids)


def test_a_shuffled_run_resumes_from_a_checkpoint_that_holds_its_window(stored, tmp_path):
    settings = RunSettings(order="shuffled", shuffle_window=2, num_test=50, num_evaluations=0)
    prepared = prepare(HDP, HDP.config(max_topics=20, batch_size=64), stored, settings)
    updates = list(run(prepared))
    half = updates[3].stepped
    save(
        tmp_path / "run.npz",
        Checkpoint("hdp", prepared.config, settings, half.state, half.documents_seen, 0.0),
    )
    checkpoint = load(tmp_path / "run.npz")
    assert checkpoint.settings.shuffle_window == 2
    again = list(
        run(prepare(HDP, checkpoint.config, stored, checkpoint.settings), resume=checkpoint)
    )
    assert topic_words(again).tobytes() == topic_words(updates).tobytes()


def test_a_folder_is_loaded_by_its_path_without_reading_documents(small, monkeypatch):
    monkeypatch.setattr(files, "map_arrow", None)
    corpus = load_corpus(str(small))
    assert (corpus.num_documents, corpus.vocab_size, corpus.num_tokens) == (12, 6, 84)
    with refuses("is already built. Omit text"):
        load_corpus(small, text="said")


def test_a_stored_corpus_passes_between_processes(stored):
    part = stored.select(np.arange(100, 300))
    assert_same_corpora(pickle.loads(pickle.dumps(part)), part)


def test_more_documents_than_fit_in_memory_are_not_loaded(stored, monkeypatch):
    monkeypatch.setattr("stickbreaker.engine.corpora.stored.MAX_LOADED", 1_000)
    assert stored.select([1, 2, 3]).counts.shape[0] == 3
    with refuses("600 documents do not fit in memory. Read them in mini-batches"):
        stored.documents()


def test_a_missing_or_truncated_shard_is_named(small):
    shard = small / "shard-00001.arrow"
    content = shard.read_bytes()
    shard.write_bytes(content[:-20])
    with refuses(r"shard-00001.arrow has .* bytes instead of .*: copy it again"):
        open_stored(small)
    shard.unlink()
    with refuses(r"shard-00001.arrow is missing or cannot be read \(No such file"):
        open_stored(small)


def test_changed_content_is_found_by_its_checksum(small):
    shard = small / "shard-00002.arrow"
    content = bytearray(shard.read_bytes())
    content[len(content) // 2] ^= 1
    shard.write_bytes(content)
    with refuses(r"shard-00002.arrow is not a complete .* \(its SHA-256 differs\): copy"):
        open_stored(small).check()


def test_a_shard_that_disappears_after_opening_is_named(small):
    corpus = open_stored(small)
    (small / "shard-00000.arrow").unlink()
    with refuses(r"shard-00000.arrow is missing"):
        corpus.documents()


def test_a_shard_that_is_truncated_after_it_was_read_is_named(small):
    corpus, shard = open_stored(small), small / "shard-00001.arrow"
    before, whole = corpus.documents(), shard.read_bytes()
    os.truncate(shard, 100)
    for read in (corpus.documents, lambda: open_stored(small), lambda: corpus.titles[6]):
        with refuses(r"shard-00001.arrow has 100 bytes instead of .*: copy it again"):
            read()
    shard.write_bytes(whole)
    for one, other in zip(corpus.documents(), before, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_shard_that_is_replaced_before_it_is_read_is_named(small):
    corpus = open_stored(small)
    (small / "shard-00000.arrow").write_bytes((small / "shard-00002.arrow").read_bytes())
    with refuses(r"shard-00000.arrow has .* bytes instead of .*: copy it again"):
        corpus.documents()


def test_a_manifest_that_is_damaged_or_of_a_newer_version_is_refused(small, monkeypatch):
    with monkeypatch.context() as newer:
        newer.setattr(files, "STORED_CORPUS", replace(files.STORED_CORPUS, format=0))
        with refuses("of format 2, which needs a newer version of Stickbreaker"):
            open_stored(small)
    path = small / files.MANIFEST
    path.write_text(path.read_text().replace("84", "85"))
    with refuses(r"manifest.json is not a complete stored corpus \(the SHA-256 of its header"):
        open_stored(small)
    path.write_text("{}")
    with refuses("manifest.json is not a complete stored corpus .*: copy it again"):
        open_stored(small)


def test_a_corpus_is_stored_completely_or_not_at_all(tiny_corpus, tmp_path, monkeypatch):
    def fill_up(path, shard):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("stickbreaker.engine.corpora.stored.write_shard", fill_up)
    with refuses("No space left on device"):
        store_corpus(tiny_corpus, tmp_path / "tiny")
    assert list(tmp_path.iterdir()) == []


def test_an_existing_folder_is_never_replaced(tiny_corpus, small):
    with refuses("already exists: delete it, or choose another folder"):
        store_corpus(tiny_corpus, small)
    with refuses("Cannot write"):
        store_corpus(tiny_corpus, small / files.MANIFEST / "below")


def test_titles_that_no_file_can_hold_are_replaced(tiny_corpus, tmp_path):
    titles = [None, 1863, "\ud800", *tiny_corpus.titles[3:]]
    stored = store_corpus(
        replace(tiny_corpus, titles=titles), tmp_path / "titles", shard_documents=5.0
    )
    assert list(stored.titles) == ["", "1863", "?", *tiny_corpus.titles[3:]]


@pytest.mark.parametrize(
    ("corpus", "size", "error", "message"),
    [
        ("rfc", 5, TypeError, "corpus is a str: give a Corpus"),
        (None, 0, ValueError, "shard_documents is 0: give a whole number of at least 1"),
        (None, "5", ValueError, "shard_documents is '5'"),
    ],
)
def test_what_cannot_be_stored_is_named(tiny_corpus, corpus, size, error, message, tmp_path):
    with pytest.raises(error, match=message):
        store_corpus(corpus or tiny_corpus, tmp_path / "new", shard_documents=size)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_corpus_is_stored(tiny_corpus, tmp_path):
    empty = tiny_corpus.select([])
    assert_same_corpora(store_corpus(empty, tmp_path / "none"), empty)


def test_a_stored_corpus_is_previewed_by_a_sample_of_its_documents(small, monkeypatch):
    monkeypatch.setattr("stickbreaker.engine.corpora.preview.MAX_SAMPLE", 3)
    seen = preview(small)
    assert seen.kind == "stored corpus"
    assert seen.num_rows == 12
    assert seen.date_span == ("1790", "1795")
    assert seen.is_sample
    assert seen.first[1].title == "Document 5"
    assert seen.first[1].text.startswith("tariff ×3, cotton ×2")
    effect = seen.measure(WordChoices(min_documents=1, max_share=1.0, own_stop_words="peace"))
    assert (effect.num_documents, effect.of_documents, effect.num_terms) == (3, 12, 5)


def test_a_stored_corpus_is_not_built_again(small, tmp_path):
    with refuses("is a stored corpus. Open it with load_corpus"):
        build_own(BuildRequest(small, "again"), folder=tmp_path / "library")


def test_a_missing_manifest_is_named(tiny_corpus, tmp_path):
    store_corpus(tiny_corpus, tmp_path / "tiny")
    (tmp_path / "tiny" / files.MANIFEST).unlink()
    with refuses(r"manifest\.json is missing: copy it again"):
        load_corpus(tmp_path / "tiny")


def test_a_damaged_shard_of_the_right_size_is_named(tiny_corpus, tmp_path):
    stored = store_corpus(tiny_corpus, tmp_path / "tiny")
    path = tmp_path / "tiny" / files.name_shard(0)
    whole = path.read_bytes()
    for array in stored.documents()[:2]:
        content = array.tobytes()
        path.write_bytes(whole.replace(content, content[:8] + b"\xff" * (len(content) - 8)))
        with refuses(r"shard-00000\.arrow is (damaged|not a complete).*: copy it again"):
            load_corpus(tmp_path / "tiny").documents()
    # The description of the batch is behind that of the columns.
    place = whole.index(b"\xff\xff\xff\xff", 20) + 8
    path.write_bytes(whole[:place] + b"\xff" * 60 + whole[place + 60 :])
    with refuses(r"shard-00000\.arrow is not a complete stored corpus .*: copy it again"):
        load_corpus(tmp_path / "tiny").documents()
