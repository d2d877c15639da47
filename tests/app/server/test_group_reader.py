"""Two kept runs read by group of documents, in the background of a run."""

import re
from dataclasses import replace

import numpy as np
import pytest

from stickbreaker.app.frames.group_comparison import (
    describe_held_out,
    matched_choices,
    matched_frame,
    score_html,
    score_table,
)
from stickbreaker.app.model.kept_runs import KeptRuns
from stickbreaker.app.server.cpu_queue import CpuQueue
from stickbreaker.app.server.group_reader import GroupReader
from stickbreaker.engine.evaluation.group_scores import DocScores
from tests.app.small_runs import PARTIES, Compiled, keep_small, load_parties, load_small


@pytest.fixture
def kept(tmp_path):
    return KeptRuns(tmp_path)


@pytest.fixture
def pair(kept):
    """Two kept runs, with another number of topics."""
    for number in (3, 5):
        keep_small(kept, corpus=load_parties(), max_topics=number)
    right, left = kept.listing().runs
    return left, right


def make_reader(load=load_parties, find_shares=lambda model: None, notify=lambda: None):
    return GroupReader(load, find_shares, notify, CpuQueue(1), Compiled())


@pytest.fixture
def runs(kept, pair):
    """What is found of both runs."""
    reader = make_reader()
    reader.start(kept, pair)
    reader.join()
    assert reader.job.status == "ready", reader.job.message
    assert reader.job.keys == tuple(run.key for run in pair)
    return reader.job.runs


def test_scores_of_groups_add_up_to_the_held_out_score_of_the_run(runs, pair):
    table = score_table(*runs)
    assert table["group"][0] == "All documents"
    assert set(table["group"][1:]) == set(PARTIES)
    rest = table[1:]
    for run, side in zip(pair, ("left", "right"), strict=True):
        assert table[side][0] == pytest.approx(run.heldout)
        assert np.average(rest[side], weights=rest["tokens"]) == pytest.approx(run.heldout)
    np.testing.assert_allclose(table["difference"], table["right"] - table["left"])
    assert table["documents"].tolist()[0] == rest["documents"].sum() == 10


def test_only_runs_with_the_same_held_out_words_have_a_difference(runs):
    left, right = runs
    other = right._replace(run=replace(right.run, settings={"seed": 1}))
    table = score_table(left, other)
    assert "difference" not in table
    assert "No differences" in describe_held_out(left, other)
    assert "Right − left" not in score_html(table)
    assert "&lt;b&gt;Tories" in score_html(table)


def test_a_difference_is_bold_only_beyond_its_interval(runs):
    left, right = runs
    nats, tokens = left.scores
    better = right._replace(scores=DocScores(nats + 5 * tokens, tokens))
    # A group with one held-out document has no interval.
    assert score_html(score_table(left, better)).count("<b>+5.000 ±") == 3
    same = right._replace(scores=left.scores)
    assert "<b>" not in score_html(score_table(left, same)).replace("&lt;b&gt;", "")


def test_shares_of_matched_topics_are_those_of_the_documents_of_each_group(runs):
    left, right = runs
    choices = matched_choices(left, right)
    assert len(choices) == len(set(left.shares["topic_id"]))
    matched = next(iter(choices.values()))
    frame = matched_frame(left, right, matched)
    assert len(frame) == 2 * len(PARTIES)
    for side, run, topic_id in (("left", left, matched.left), ("right", right, matched.right)):
        own = run.shares[run.shares["topic_id"] == topic_id].set_index("group")["share"]
        shown = frame[frame["side"] == side].set_index("group")["share"]
        assert shown.to_dict() == own.to_dict()


def test_known_shares_and_runs_are_not_read_again(kept, pair, monkeypatch):
    asked = []
    reader = make_reader(find_shares=asked.append)
    reader.start(kept, pair)
    reader.join()
    assert [model.algorithm.name for model in asked] == ["hdp", "hdp"]
    reader.start(kept, pair[::-1])
    reader.join()
    assert reader.job.keys == (pair[1].key, pair[0].key)
    assert [each.run.key for each in reader.job.runs] == [pair[1].key, pair[0].key]
    assert len(asked) == 2


def test_a_comparison_can_be_cancelled(kept, pair):
    seen = []

    def note():
        seen.append(reader.job.status)
        if reader.job.status == "working" and "cancelled" not in seen:
            reader.cancel()

    reader = make_reader(notify=note)
    reader.start(kept, pair)
    reader.join()
    assert (reader.job.status, reader.job.runs) == ("cancelled", ())


@pytest.mark.parametrize(
    ("load", "message"),
    [
        (load_small, "“.*” has no groups: choose a group column"),
        (lambda name: load_parties().select(np.arange(50)), "has changed since"),
    ],
)
def test_a_corpus_without_groups_or_with_other_documents_is_named(kept, pair, load, message):
    reader = make_reader(load)
    reader.start(kept, pair)
    reader.join()
    assert reader.job.status == "failed"
    assert re.search(message, reader.job.message)


def test_a_run_without_its_model_is_named(kept, pair):
    for model in kept.list_models():
        model.unlink()
    reader = make_reader()
    reader.start(kept, pair)
    reader.join()
    assert f"“{pair[0].title}”: The model of this run is not on disk" in reader.job.message
