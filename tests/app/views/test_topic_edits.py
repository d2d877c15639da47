"""The controls that edit topics, and their texts."""

from dataclasses import replace

import numpy as np
import pytest

from stickbreaker.app.frames.edit_texts import (
    describe_edits,
    edit_choices,
    offers_edits,
    split_words,
)
from stickbreaker.app.model.progress import EditLog, Progress
from stickbreaker.app.model.proposed_edits import ProposalJob
from stickbreaker.app.state import WATCHER, RunState
from stickbreaker.app.views.topic_edits import TopicEdits
from stickbreaker.engine.algorithm import Edit, EditKind, Proposal, TopicEdit
from tests.app.small_runs import LDA, begin, learn, small_corpus, small_spec


class Commands:
    """Notes what is asked of the run."""

    def __init__(self):
        self.asked = []

    def edit_topics(self, edit):
        self.asked.append(edit)

    def undo_edit(self):
        self.asked.append("undo")


@pytest.fixture(scope="module")
def progress():
    return learn(small_corpus(), small_spec()).progress(1)


@pytest.fixture
def commands():
    return Commands()


@pytest.fixture
def view(progress, commands):
    state = RunState()
    view = TopicEdits(state, commands)
    state.publish(progress)
    return view


def test_topics_that_are_selected_can_be_merged_and_one_can_be_changed(view, commands):
    assert sorted(view.topics.options.values()) == [0, 1, 2]
    assert all(button.disabled for button in view.buttons.values())
    view.state.topic = 1
    assert view.topics.value == [1]
    is_on = {kind: not button.disabled for kind, button in view.buttons.items()}
    assert is_on == {kind: kind is not EditKind.MERGE for kind in view.buttons}
    view.topics.value = [1, 2]
    is_on = {kind: not button.disabled for kind, button in view.buttons.items()}
    assert is_on == {kind: kind is EditKind.MERGE for kind in view.buttons}
    view.buttons[EditKind.MERGE].param.trigger("clicks")
    assert commands.asked == [TopicEdit("merge", (1, 2))]
    assert view.topics.value == []


def test_while_a_run_learns_the_topics_to_select_are_those_of_the_last_moment(view, progress):
    fewer = replace(progress.now, expected_tokens=np.array([9.0, 0, 0]))
    learning = replace(progress, status="running", now=fewer, version=2)
    view.state.publish(learning)
    assert list(view.topics.options.values()) == [0]
    view.state.publish(replace(learning, now=progress.now, version=3))
    assert list(view.topics.options.values()) == [0]
    view.state.publish(replace(learning, now=progress.now, names={0: "war"}, version=4))
    assert sorted(view.topics.options.values()) == [0, 1, 2]


def test_words_start_a_topic_with_a_name(view, commands, progress):
    view.add.param.trigger("clicks")
    assert commands.asked == []
    view.words.value = "Word3, word5"
    view.name_field.value = " Third "
    view.add.param.trigger("clicks")
    seed = TopicEdit("seed", (), ("word3", "word5"), "Third")
    assert commands.asked == [seed]
    view.state.publish(replace(progress, edits=EditLog(fault="No topic was added."), version=2))
    assert view.words.value == "Word3, word5"
    view.state.publish(replace(progress, edits=EditLog(done=(seed,)), version=3))
    assert view.words.value == view.name_field.value == ""


def test_an_edit_can_be_undone_where_the_run_before_it_is_known(view, commands, progress):
    assert view.undo.disabled
    edits = EditLog(done=(TopicEdit("remove", (2,), documents_seen=50),), can_undo=True)
    view.state.publish(replace(progress, edits=edits, version=2))
    assert "After 50 documents: removed" in view.text.object
    view.undo.param.trigger("clicks")
    assert commands.asked == ["undo"]


def test_a_watcher_reads_but_does_not_edit(view):
    view.state.topic = 1
    view.state.role = WATCHER
    assert all(button.disabled for button in (*view.buttons.values(), view.undo, view.add))


def test_the_controls_are_hidden_where_topics_cannot_be_edited(progress):
    assert offers_edits(progress)
    assert offers_edits(begin(small_spec()).progress(1))
    assert not offers_edits(Progress())
    assert not offers_edits(replace(progress, algorithm=LDA.name))
    assert not offers_edits(replace(progress, status="replayed"))
    assert not offers_edits(replace(progress, recorded_on="2026-11-28"))


def test_topics_with_equal_titles_are_told_apart(progress):
    titled = replace(progress, names={0: "war", 2: "war", 1: "peace"})
    assert edit_choices(titled) == {"peace": 1, "war (topic 0)": 0, "war (topic 2)": 2}
    assert edit_choices(replace(titled, now=None)) == {}


def test_the_texts_say_what_was_not_possible_and_what_is_not_supported():
    seed = TopicEdit("seed", (4,), ("canal",), "Panama")
    log = EditLog(done=(seed,) * 5, fault="There is no topic 9.", unsupported=(4,))
    texts = describe_edits(log, lambda topic_id: "Panama")
    assert texts[0] == "There is no topic 9."
    assert texts[1].startswith("The documents do not support “Panama”")
    assert "0.1 % of all tokens" in texts[1]
    assert texts[2:] == ["After 0 documents: seeded “Panama”."] * 3
    assert split_words("  ") == ()


def test_supported_edits_are_listed_with_their_evidence_and_applied_at_a_click(
    view, commands, progress
):
    merged = Proposal(Edit(EditKind.MERGE, (0, 2)), -0.0001, 0.0004)
    divided = Proposal(Edit(EditKind.SPLIT, (1,)), 0.0034, 0.0009)
    job = ProposalJob(
        "ready", 1.0, "", *progress.model_key, supported=(divided, merged), num_tried=8
    )
    learning = replace(progress, config=replace(progress.config, duplicates="merge"), version=2)
    view.state.publish(learning, proposals=replace(job, status="working", share=0.5))
    assert view.bar.visible
    assert view.suggest.disabled
    view.state.publish(proposals=job)
    assert not view.suggest.disabled
    assert [row["weight"] for row in view.proposals.rows] == [
        "+0.0034 ± 0.0009",
        "−0.0001 ± 0.0004",
    ]
    assert "8 merges and splits were tried" in view.proposals.note
    view.apply(1)
    assert commands.asked == [TopicEdit("merge", (0, 2))]
    # After another mini-batch or edit, the evidence is out of date.
    edits = EditLog(done=(TopicEdit("merge", (0, 2)),))
    view.state.publish(replace(learning, edits=edits, version=3))
    assert view.proposals.rows == []
    assert "has changed" in view.proposals.note
