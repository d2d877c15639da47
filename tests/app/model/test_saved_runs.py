"""Runs on disk that can be continued: found by their secrets only, and the same bits as without an
interruption.
"""

import os
from dataclasses import replace

import numpy as np
import pytest

from stickbreaker import engine
from stickbreaker.app.model.limits import GIGABYTE, SAVED_RUNS
from stickbreaker.app.model.page_notes import read_spec, read_status
from stickbreaker.app.model.record import RESTORED_AT_START, Record
from stickbreaker.app.model.run_spec import LiveSettings, RunSpec
from stickbreaker.app.model.saved_runs import SavedRun, SavedRuns
from stickbreaker.app.model.shelf import MAX_SAVED, OLD_SECONDS
from stickbreaker.engine import find_algorithm
from stickbreaker.engine.runs.checkpoint import CheckpointError
from tests.app.small_runs import SETTINGS, begin, small_corpus, small_spec

SIZES = {"max_topics": 3, "batch_size": 10, "initial_topics": 3}


def spec_of(name):
    algorithm = find_algorithm(name)
    sizes = {
        size: value
        for size, value in SIZES.items()
        if size in algorithm.config.__dataclass_fields__
    }
    return RunSpec("small", algorithm, algorithm.config(**sizes), replace(SETTINGS, passes=3))


def finish(record):
    while not record.is_over:
        record.advance()
    return record.progress(1), record.model()


def assert_same(one, other):
    """Whether two shown values are equal, apart from seconds."""
    for name in ("steps", "heldout", "next_batch", "bounds"):
        for column in getattr(one, name).columns:
            if column != "seconds":
                np.testing.assert_array_equal(
                    getattr(one, name)[column], getattr(other, name)[column]
                )
    assert len(one.columns) == len(other.columns)
    for left, right in zip(one.columns, other.columns, strict=True):
        for name in ("topic_ids", "weights", "top_words"):
            np.testing.assert_array_equal(getattr(left, name), getattr(right, name))
        assert left.documents_seen == right.documents_seen
        assert left.date == right.date
        assert left.num_topics == right.num_topics
    assert [(mark.documents_seen, mark.text) for mark in one.marks] == [
        (m.documents_seen, m.text) for m in other.marks
    ]
    assert one.names == other.names
    assert one.labels == other.labels
    assert one.status == other.status
    assert one.chosen == other.chosen


@pytest.mark.parametrize("name", ["hdp", "gibbs-hdp", "cv-lda", "free-hdp"])
def test_a_restored_run_learns_and_shows_the_same_as_one_without_an_interruption(name, tmp_path):
    runs = []
    for is_interrupted in (False, True):
        record = begin(spec_of(name))
        for _ in range(2):
            record.advance()
        record.topic_names.rename(0, "mine")
        if is_interrupted:
            saved = SavedRuns(tmp_path)
            saved.write(SavedRun("key", "watch", None, record.save()))
            checkpoint = saved.find("key").checkpoint
            record = begin(read_spec(checkpoint))
            record.restore(checkpoint)
            assert "Restored where it stopped" in record.message
        runs.append(finish(record))
    (one, model), (other, restored) = runs
    assert_same(one, other)
    topics = [
        each.algorithm.summarize(each.config, each.state).topics for each in (model, restored)
    ]
    np.testing.assert_array_equal(*topics)
    first = [each.first_readings.look(each.corpus.doc_ids) for each in (model, restored)]
    assert (first[0] is None) == (first[1] is None)
    if first[0] is not None:
        np.testing.assert_array_equal(first[0].doc_shares.todense(), first[1].doc_shares.todense())


def test_a_setting_that_changes_after_the_restoration_acts_and_is_marked(tmp_path):
    record = begin(small_spec())
    record.advance()
    checkpoint = record.save()
    restored = begin(read_spec(checkpoint))
    restored.restore(checkpoint)
    restored.change(restored.spec.with_live(LiveSettings(forgetting_rate=0.9), 100))
    progress, _ = finish(restored)
    assert [mark.text for mark in progress.marks] == ["κ 0.6 → 0.9"]
    assert progress.config.forgetting_rate == 0.9


def test_a_finished_run_is_restored_as_finished():
    record = begin(small_spec())
    finish(record)
    checkpoint = record.save()
    restored = begin(read_spec(checkpoint))
    restored.restore(checkpoint)
    assert (restored.is_over, restored.progress(1).status) == (True, "finished")


def test_a_failed_run_is_restored_as_failed():
    record = begin(small_spec())
    record.advance()
    record.fail(FloatingPointError("a topic has become infinite"))
    checkpoint = record.save()
    restored = begin(read_spec(checkpoint))
    restored.restore(checkpoint)
    assert (restored.is_over, restored.progress(1).status) == (True, "failed")
    assert "a topic has become infinite" in restored.progress(1).message


def test_a_run_whose_corpus_has_changed_is_refused():
    record = begin(small_spec())
    record.advance()
    spec, other = small_spec(), small_corpus().select(np.arange(100))
    restored = begin(spec, other)
    with pytest.raises(
        engine.CorpusError, match="changed since this run was saved: restart the run"
    ):
        restored.restore(record.save())


def test_a_run_that_has_not_learned_is_not_saved():
    assert begin(small_spec()).save() is None


def test_a_run_that_has_not_learned_is_restored_with_its_settings_and_begins(tmp_path):
    spec = replace(small_spec(batch_size=20), chosen=frozenset({"batch_size"}))
    saved = SavedRuns(tmp_path)
    saved.write(SavedRun("key", "watch", None, Record(spec, 1, lambda: 0.0).save_start()))
    checkpoint = saved.find("key").checkpoint
    assert (read_spec(checkpoint), read_status(checkpoint)) == (spec, "ready")
    restored = begin(read_spec(checkpoint))
    restored.restore(checkpoint)
    progress = restored.progress(1)
    assert progress.status == "ready"
    assert progress.message == RESTORED_AT_START
    assert progress.documents_seen == 0
    (one, model), (other, fresh) = finish(restored), finish(begin(spec))
    assert_same(one, other)
    topics = [each.algorithm.summarize(each.config, each.state).topics for each in (model, fresh)]
    np.testing.assert_array_equal(*topics)


@pytest.fixture
def checkpoint():
    record = begin(small_spec())
    record.advance()
    return record.save()


def test_a_run_is_found_by_its_key_or_its_watch_token_and_file_names_reveal_neither(
    tmp_path, checkpoint
):
    saved = SavedRuns(tmp_path / "runs")
    assert saved.find("key") is None
    saved.write(SavedRun("key", "token", "anna", checkpoint))
    for found in (saved.find("key"), saved.find(watch="token")):
        assert (found.key, found.watch, found.user) == ("key", "token", "anna")
        assert found.checkpoint.documents_seen == checkpoint.documents_seen
    assert saved.find("token") is None
    assert saved.find(watch="key") is None
    (path,) = (tmp_path / "runs").iterdir()
    assert not {"key", "token"} & set(path.stem.split("-"))


def test_a_damaged_file_is_left_out(tmp_path, checkpoint):
    saved = SavedRuns(tmp_path)
    saved.write(SavedRun("key", "token", None, checkpoint))
    (path,) = tmp_path.iterdir()
    saved.write(SavedRun("other", "another", None, checkpoint))
    path.write_bytes(path.read_bytes()[:-100])
    assert saved.find("key") is None
    assert saved.find("other") is not None


def test_the_newest_twenty_runs_and_those_of_the_last_day_stay(tmp_path, checkpoint):
    saved = SavedRuns(tmp_path)
    for number in range(MAX_SAVED + 1):
        saved.write(SavedRun(f"key {number}", f"token {number}", None, checkpoint))
    assert len(list(tmp_path.iterdir())) == MAX_SAVED + 1
    for path in tmp_path.iterdir():
        os.utime(path, (0, path.stat().st_mtime - 2 * OLD_SECONDS))
    saved.write(SavedRun("the newest", "another", None, checkpoint))
    is_there = {
        key: saved.find(key) is not None for key in ("key 0", "key 1", "key 2", "the newest")
    }
    assert is_there == {"key 0": False, "key 1": False, "key 2": True, "the newest": True}


def test_the_oldest_runs_are_removed_if_all_take_too_much_space_but_never_the_newest(
    tmp_path, checkpoint, set_limit
):
    saved = SavedRuns(tmp_path)
    saved.write(SavedRun("key 0", "token 0", None, checkpoint))
    (path,) = tmp_path.iterdir()
    set_limit(SAVED_RUNS, 2.5 * path.stat().st_size / GIGABYTE)
    for number in (1, 2):
        saved.write(SavedRun(f"key {number}", f"token {number}", None, checkpoint))
    assert [saved.find(f"key {number}") is not None for number in range(3)] == [False, True, True]
    set_limit(SAVED_RUNS, 0)
    saved.write(SavedRun("key 3", "token 3", None, checkpoint))
    assert [saved.find(f"key {number}") is not None for number in range(4)] == [
        False,
        False,
        False,
        True,
    ]


def test_a_folder_that_cannot_be_written_is_reported(tmp_path, checkpoint):
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="free some space there, or make the folder writable"):
        SavedRuns(tmp_path / "file" / "runs").write(SavedRun("key", "token", None, checkpoint))


@pytest.mark.parametrize("name", ["hdp", "gibbs-hdp", "batch-lda", "dp-mixture"])
def test_another_pass_over_the_corpus_learns_the_same_as_a_run_that_was_planned_with_it(name):
    planned = begin(replace(spec_of(name), settings=replace(SETTINGS, passes=2)))
    model = finish(planned)[1]
    record = begin(replace(spec_of(name), settings=replace(SETTINGS, passes=1)))
    assert record.extend() is None
    finish(record)
    record.topic_names.rename(0, "mine")
    checkpoint = record.extend()
    continued = begin(read_spec(checkpoint))
    continued.restore(checkpoint)
    assert (continued.is_over, continued.is_kept, continued.kept_key) == (False, False, "")
    progress, other = finish(continued)
    assert (progress.documents_seen, progress.names) == (200, {0: "mine"})
    states = [each.algorithm.summarize(each.config, each.state) for each in (model, other)]
    np.testing.assert_array_equal(states[0].topics, states[1].topics)
    np.testing.assert_array_equal(states[0].expected_tokens, states[1].expected_tokens)
