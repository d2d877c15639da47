"""Edits of the topics of a run: it learns on from them, is saved with them, and can go back."""

import json

import numpy as np
import pytest

from stickbreaker import engine
from stickbreaker.app.model import run_edits
from stickbreaker.app.model.page_notes import read_page
from stickbreaker.app.model.record import Record
from stickbreaker.app.model.replay import rewind
from stickbreaker.app.model.run_edits import describe_edit
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.engine.algorithm import TopicEdit
from stickbreaker.engine.runs import checkpoint
from tests.app.small_runs import LDA, SETTINGS, begin, small_corpus, small_spec

MERGE = TopicEdit("merge", (0, 2))
SEED = TopicEdit("seed", (), words=("word3", "word5"), name="Third")


def learn(record, documents_seen):
    while record.documents_seen < documents_seen:
        record.advance()
    return record


def edit(record, asked):
    state = record.find_edited(asked)
    assert state is not None, record.edits.fault
    record.take_edit(asked, state)
    return record


def reopen(record):
    """The record as another server opens it."""
    again = Record(record.spec, 2, lambda: 0.0)
    again.open(small_corpus(), record.prepared)
    again.restore(record.save() or record.save_start())
    return again


def arrays(record):
    return engine.runs.checkpoint.flatten("state", record.model().state)


def bits(record):
    return {name: array.tobytes() for name, array in arrays(record)}


def test_an_edit_has_a_mark_a_column_and_a_score_and_the_run_learns_on_from_it():
    record = edit(learn(begin(small_spec()), 50), MERGE)
    progress = record.progress(1)
    (event,) = progress.edits.done
    assert (event.kind, event.step, event.documents_seen) == ("merge", 5, 50)
    gone = event.topic_ids[1]
    assert progress.now.expected_tokens[gone] == 0
    assert [mark.documents_seen for mark in progress.marks] == [50]
    assert progress.marks[0].text.startswith("merged “")
    # The column of the word lists at this moment has the topics after the edit.
    assert [column.documents_seen for column in progress.columns] == [50]
    assert progress.columns[-1].expected_tokens[gone] == 0
    seen = progress.heldout["documents_seen"]
    assert seen[-2:].tolist() == [50, 50]
    assert progress.heldout["nats_per_word"][-2] != progress.heldout["nats_per_word"][-1]
    learn(record, 100)
    assert record.is_over
    assert [mark.documents_seen for mark in record.progress(2).marks] == [50]


def test_the_engine_continues_with_the_edited_state():
    record = edit(learn(begin(small_spec()), 50), MERGE)
    state = record.model().state
    saved = record.save()
    (update,) = (next(engine.run(record.prepared, resume=saved.with_notes({}))) for _ in range(1))
    record.advance()
    expected = engine.runs.checkpoint.flatten("state", update.stepped.state)
    assert bits(record) == {name: array.tobytes() for name, array in expected}
    assert state.step == 5


def test_a_topic_can_be_seeded_before_the_first_mini_batch():
    record = edit(begin(small_spec()), SEED)
    assert record.model() is None
    assert record.progress(1).names[3] == "Third"
    again = reopen(record)
    for each in (record, again):
        learn(each, 100)
        topics = each.model().algorithm.summarize(each.spec.config, each.model().state).topics
        assert set(np.argsort(-topics[3])[:2]) == {3, 5}
    assert bits(record) == bits(again)


@pytest.mark.parametrize(("bound", "reported"), [(1.0, (3,)), (0.0, ())])
def test_a_seed_that_the_documents_do_not_support_is_reported_after_a_pass(
    bound, reported, monkeypatch
):
    monkeypatch.setattr(run_edits, "SUPPORTED_SHARE", bound)
    record = learn(edit(begin(small_spec()), SEED), 90)
    assert record.progress(1).edits.unsupported == ()
    learn(record, 100)
    assert record.progress(2).edits.unsupported == reported
    assert reopen(record).progress(3).edits.unsupported == reported


def test_a_saved_run_has_its_edits_and_continues_from_them():
    record = learn(edit(learn(begin(small_spec()), 30), SEED), 60)
    again = reopen(record)
    assert again.progress(1).edits.done == record.progress(1).edits.done
    assert again.progress(1).marks == record.progress(1).marks
    assert bits(learn(again, 100)) == bits(learn(record, 100))
    page = read_page(record.save())
    json.dumps(page["edits"])


def test_a_run_that_was_saved_without_edits_opens():
    record = learn(begin(small_spec()), 30)
    record.edits.restore({})
    assert record.progress(1).edits.done == ()


def test_the_run_before_an_edit_is_restored_bit_for_bit():
    record = learn(begin(small_spec()), 50)
    before = bits(record)
    edit(record, MERGE)
    edit(record, TopicEdit("pin", (record.progress(1).edits.done[0].topic_ids[0],)))
    assert len(record.edits.before) == 2
    again = Record(record.spec, 2, lambda: 0.0)
    again.open(small_corpus(), record.prepared)
    again.restore(record.edits.before[0])
    assert bits(again) == before
    assert again.progress(1).edits.done == ()
    assert bits(learn(again, 100)) == bits(learn(begin(small_spec()), 100))


@pytest.mark.parametrize(("seen", "asked"), [(50, MERGE), (100, SEED), (0, SEED)])
def test_the_last_edit_can_be_undone_after_the_run_was_read_from_disk(tmp_path, seen, asked):
    record = learn(begin(small_spec()), seen)
    before = record.save() or record.save_start()
    edit(record, asked)
    checkpoint.save(tmp_path / "run.npz", record.save() or record.save_start())
    again = Record(record.spec, 2, lambda: 0.0)
    again.open(small_corpus(), record.prepared)
    again.restore(checkpoint.load(tmp_path / "run.npz"))
    assert again.progress(1).edits.can_undo
    (found,) = again.edits.before
    earlier, later = checkpoint.to_parts(before), checkpoint.to_parts(found)
    assert earlier.keys() == later.keys()
    assert all(part.tobytes() == later[name].tobytes() for name, part in earlier.items())


def test_a_run_that_has_learned_since_its_edit_cannot_be_undone_after_it_was_read_from_disk():
    record = edit(learn(begin(small_spec()), 50), MERGE)
    assert not reopen(learn(record, 60)).progress(1).edits.can_undo
    record = edit(learn(begin(small_spec()), 100), MERGE)
    extended = Record(record.spec, 2, lambda: 0.0)
    extended.open(small_corpus(), record.prepared)
    extended.restore(record.extend())
    assert not extended.progress(1).edits.can_undo


def test_a_finished_run_can_be_edited_and_is_kept_again():
    record = learn(begin(small_spec()), 100)
    record.is_kept = True
    record.kept_key = "first"
    edit(record, MERGE)
    assert not record.is_kept
    assert record.kept_key == ""
    assert record.status == "finished"
    assert len(record.progress(1).columns) == 2


def test_an_impossible_edit_leaves_the_run_and_says_why():
    record = learn(begin(small_spec()), 50)
    before = bits(record)
    for asked, text in (
        (TopicEdit("merge", (1,)), "two different"),
        (TopicEdit("remove", (9,)), "no topic 9"),
        (TopicEdit("seed", (), words=("canal",)), "does not contain the word 'canal'"),
    ):
        assert record.find_edited(asked) is None
        assert text in record.progress(1).edits.fault
    assert bits(record) == before
    assert record.find_edited(MERGE) is not None
    assert record.progress(1).edits.fault == ""


def test_other_algorithms_and_closed_corpora_say_that_topics_cannot_be_edited():
    spec = RunSpec("small", LDA, LDA.config(max_topics=3, batch_size=10), SETTINGS)
    record = learn(begin(spec), 20)
    assert record.find_edited(MERGE) is None
    assert "cannot be edited" in record.progress(1).edits.fault
    closed = Record(small_spec(), 1, lambda: 0.0)
    assert closed.find_edited(SEED) is None
    assert "not open" in closed.progress(1).edits.fault


def test_a_replay_has_the_edits_up_to_its_moment():
    record = learn(edit(learn(begin(small_spec()), 50), MERGE), 100)
    progress = record.progress(1)
    assert rewind(progress, 40).edits.done == ()
    later = rewind(progress, 60)
    assert later.edits.done == progress.edits.done
    assert later.now.expected_tokens[progress.edits.done[0].topic_ids[1]] == 0


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (TopicEdit("remove", (5,)), "removed “t5”"),
        (TopicEdit("split", (4, 9)), "split “t4”"),
        (TopicEdit("merge", (1, 2, 3, 4)), "merged “t1”, “t2”, “t3” and 1 more"),
        (TopicEdit("pin", (2,)), "kept the words of “t2”"),
        (TopicEdit("seed", (8,), ("canal", "panama")), "seeded “canal, panama”"),
        (TopicEdit("seed", (8,), ("canal",), "Panama"), "seeded “Panama”"),
    ],
)
def test_an_edit_in_words(asked, text):
    assert describe_edit(asked, lambda topic_id: f"t{topic_id}") == text
