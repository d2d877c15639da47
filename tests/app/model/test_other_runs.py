"""Runs with other seeds: which topics of a model come back, for its reading and on disk."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from stickbreaker.app.export.tables import topics_table
from stickbreaker.app.frames.count_evidence import CURVE, NO_SAMPLER, list_evidence, number_frame
from stickbreaker.app.frames.progress_frames import write_score
from stickbreaker.app.frames.quality_frames import describe_again, quality_rows
from stickbreaker.app.model.checked_count import CountJob
from stickbreaker.app.model.model_job import ModelJob
from stickbreaker.app.model.other_runs import OtherRuns, learn_again
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import ReadingJob
from stickbreaker.app.model.run_store import RunStore
from stickbreaker.app.model.saved_readings import SavedReadings
from stickbreaker.app.server.reader import Reader
from stickbreaker.app.state import RunState
from stickbreaker.app.views.check_note import AGAIN, KEEP, CheckNote
from stickbreaker.app.views.count_evidence import CountEvidence
from stickbreaker.engine import OnlineHDP
from stickbreaker.engine.evaluation.found_again import FoundAgain, take_topics
from tests.app.small_runs import learn, small_corpus, small_spec


@pytest.fixture(scope="module")
def small_model():
    """The model of a run that has finished."""
    return learn(small_corpus(), small_spec()).model()


@pytest.fixture(scope="module")
def runs(small_model):
    return learn_again(small_model, lambda share: True, num_runs=3).runs


def same(one, other):
    pairs = zip((*one.found, *one[1:4]), (*other.found, *other[1:4]), strict=True)
    return all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in pairs)


class Store(RunStore):
    """Keeps what other runs say in memory."""

    def __init__(self):
        self.again = None

    def keep_again(self, model, again):
        self.again = again

    def find_again(self, model):
        return self.again


def test_other_runs_are_fits_of_the_training_documents_in_other_orders(small_model, runs):
    fitted = OnlineHDP(
        max_topics=3, delay=64.0, batch_size=10, duplicates="keep", passes=1, random_state=2
    ).fit(small_model.train.order("shuffled", 2))
    summary = fitted.algorithm.summarize(fitted.config_, fitted.state_)
    assert runs.scores[1] == fitted.score(small_model.test)
    assert runs.found.num_topics[1] == len(take_topics(summary).shares)
    assert runs.found.run_shares.shape == (3, len(runs.found.topic_ids))


def test_progress_grows_and_a_run_can_be_cancelled(small_model):
    told = []

    def report(share):
        told.append(share)
        return share < 0.5

    assert learn_again(small_model, report, num_runs=4) is None
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0.0, 0.5)


@pytest.mark.parametrize("is_read_first", [True, False])
def test_a_reading_has_what_other_runs_say_of_its_model_and_keeps_it(
    small_model, runs, is_read_first
):
    store = Store()
    reader = Reader(lambda: small_model, lambda: None, store)
    steps = [lambda: reader.take_again(small_model, runs), reader.ask]
    for step in steps[::-1] if is_read_first else steps:
        step()
        reader.join()
    assert reader.job.reading.again is runs
    assert store.again is runs
    other = Reader(lambda: small_model, lambda: None, store)
    other.ask()
    other.join()
    assert other.job.reading.again is runs


def test_other_runs_are_found_on_disk_by_their_model(small_model, runs, tmp_path):
    saved = SavedReadings(tmp_path)
    assert saved.find_again(small_model) is None
    saved.write_again(small_model, runs)
    assert same(saved.find_again(small_model), runs)
    assert (
        saved.find_again(replace(small_model, config=replace(small_model.config, max_slots=7)))
        is None
    )
    next(tmp_path.glob("*.runs")).write_bytes(b"damaged")
    assert saved.find_again(small_model) is None


@pytest.fixture
def reading(job):
    """The reading of the tiny corpus, whose first topic came back in one of two runs."""
    reading = job.reading
    quality = reading.quality
    number = len(quality.topic_ids)
    word_runs = np.zeros(quality.top_words.shape, int)
    word_runs[0, :4] = 1
    run_shares = np.full((2, number), np.nan)
    run_shares[1, 0] = 0.75
    found = FoundAgain(
        topic_ids=quality.topic_ids,
        shares=quality.shares,
        run_shares=run_shares,
        top_words=quality.top_words,
        word_runs=word_runs,
        num_topics=np.array([4, 6]),
    )
    return replace(
        reading,
        again=OtherRuns(
            found=found,
            scores=np.array([-3.25, -3.5]),
            numbers=np.array([1.0, 3.0]),
            nats=np.array([-4.0, -3.0]),
        ),
    )


def test_rows_say_in_how_many_runs_a_topic_came_back_and_mark_its_words(reading, job):
    rows = quality_rows(reading, str)
    assert rows[0]["cells"][-1] == "1 of 2 runs"
    assert [row["values"][-1] for row in rows] == [1] + [0] * (len(rows) - 1)
    assert rows[0]["marks"] == ["constant"] * 4 + ["changing"] * 2
    without = quality_rows(job.reading, str)[0]
    assert (without["cells"][-1], without["values"][-1], set(without["marks"])) == ("", None, {""})


def test_exports_have_the_columns_of_other_runs_only_if_there_are_some(reading, job, progress):
    table = topics_table(reading, progress).set_index(["topic_id", "rank"])
    first = table.loc[reading.quality.topic_ids[0]]
    assert first["found_in"].eq(1).all()
    assert first["other_runs"].eq(2).all()
    assert first["largest_share"].eq(0.75).all()
    assert first["is_constant"].tolist() == [True] * 4 + [False] * 2
    before = topics_table(job.reading, progress)
    pd.testing.assert_frame_equal(before, topics_table(reading, progress)[before.columns])


def test_the_sentence_says_what_is_done_and_what_the_runs_have_found(reading):
    progress = Progress(run_id=1)
    found = describe_again(ModelJob("ready", run_id=1), progress, reading)
    share = 100 * reading.again.found.shares[0]
    assert found == (
        f"1 of {len(reading.used)} topics came back in at least half of 2 other runs:"
        f" {share:.1f} % of the tokens. These runs have 4 to 6 topics in use, and score −3.500 to"
        " −3.250 nats per held-out word."
    )
    record = learn(small_corpus(), small_spec())
    (score,) = record.progress(1).heldout["nats_per_word"][-1:]
    joined = replace(reading, again=reading.again._replace(consensus=record.save()))
    assert describe_again(ModelJob(), progress, joined) == (
        f"{found} Their consensus has 3 topics, and scores {write_score(score)}."
    )
    why_not = ModelJob("ready", message="They have none.", run_id=1)
    assert describe_again(why_not, progress, reading) == f"{found} They have none."
    working = ModelJob("working", 0.11, run_id=1)
    assert describe_again(working, progress, reading) == "Run 3 of 20"
    assert "no room" in describe_again(
        ModelJob("failed", message="no room", run_id=1), progress, None
    )
    assert describe_again(ModelJob(), progress, None) == ""


def test_what_speaks_for_the_number_of_topics_is_listed_and_drawn(reading):
    algorithm = reading.model.algorithm
    steps = {"num_topics": np.array([9, 7])}
    fields = {"algorithm": algorithm.name, "config": algorithm.config(), "steps": steps}
    progress = Progress(run_id=1, status="finished", **fields)
    first, prior, sampler, curve = list_evidence(progress, CountJob(), reading.again)
    assert first.startswith("This run has 7 topics in use")
    assert prior.endswith("γ = 1 favours no number.")
    assert (sampler, curve) == (NO_SAMPLER, CURVE)
    fewer = algorithm.config(corpus_concentration=0.5)
    assert (
        "favours fewer topics"
        in list_evidence(Progress(run_id=1, **fields | {"config": fewer}), CountJob(), None)[1]
    )
    assert list_evidence(Progress(), CountJob(), None) == []
    assert number_frame(reading.again)["x"].tolist() == [1.0, 3.0]
    view = CountEvidence(RunState(), *(CheckNote(RunState(), None, each) for each in (AGAIN, KEEP)))
    assert not view.__panel__().visible
    view.state.publish(progress, job=ReadingJob("ready", 1.0, reading))
    assert view.__panel__().visible
    assert "7 topics in use" in view.text.object
    assert len(view.figure) == 1
