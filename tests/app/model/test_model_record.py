"""The consensus of other runs as a run that can be kept, compared and opened."""

from dataclasses import replace

import numpy as np
import pytest

from stickbreaker import engine
from stickbreaker.app.frames.quality_frames import describe_again, describe_keeping
from stickbreaker.app.model.disk_space import READINGS, UserFiles
from stickbreaker.app.model.model_job import ModelJob
from stickbreaker.app.model.model_record import offers_consensus, record_consensus
from stickbreaker.app.model.other_runs import NO_TOPIC_SHARED, learn_again
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import begin_reading
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.app.model.saved_runs import Address
from stickbreaker.app.server.cpu_queue import CpuQueue
from stickbreaker.app.server.disk_store import CONSENSUS_NAME, DiskStore
from stickbreaker.app.server.event_log import EventLog, RunEvents
from stickbreaker.app.server.model_work import KeptConsensus
from stickbreaker.app.server.model_worker import ModelWorker
from stickbreaker.app.server.reader import Reader
from stickbreaker.app.server.saver import Saver
from stickbreaker.engine.estimators.consensus_model import Gathering, NoConsensusError
from tests.app.small_runs import HDP, SETTINGS, Compiled, begin, learn, small_corpus


@pytest.fixture(scope="module")
def own():
    """A run of pictures, which has finished."""
    bars = engine.load_corpus("bars").select(range(400))
    return learn(bars, RunSpec("bars", HDP, HDP.config(), SETTINGS))


@pytest.fixture(scope="module")
def learned(own):
    return learn_again(own.model(), lambda share: True, num_runs=3)


@pytest.fixture
def files(tmp_path):
    return UserFiles(tmp_path)


@pytest.fixture
def store(files):
    saver = Saver()
    address = Address("key", "watch", None)
    store = DiskStore(address, files, saver, RunEvents(EventLog(), "key"), None)
    yield store
    store.close()
    saver.close()


def test_the_consensus_is_kept_with_its_score_and_coherence_and_opens_in_full(
    own, learned, files, store
):
    record = record_consensus(own.model(), learned.consensus, engine.Recorder(own.prepared.train))
    consensus = KeptConsensus(lambda model: record.save(), store)
    keeper = ModelWorker(own.model, lambda: None, CpuQueue(1), Compiled(), consensus)
    keeper.start()
    keeper.join()
    assert keeper.job.status == "ready", keeper.job.message
    (run,) = files.kept.listing().runs
    assert (run.title, run.status) == (CONSENSUS_NAME, "finished")
    assert run.heldout == pytest.approx(learned.consensus.score(own.model().test), abs=1e-12)
    assert run.heldout > min(learned.runs.scores)
    assert run.num_topics == learned.consensus.n_topics_
    assert run.quality["weighted_npmi"] > 0.0
    saved = files.kept.load_checkpoint(run.key)
    opened = begin(RunSpec("bars", HDP, saved.config, saved.settings), own.corpus)
    opened.restore(saved)
    assert (opened.status, opened.documents_seen) == ("finished", own.documents_seen)
    model = opened.model()
    shares = model.algorithm.infer(model.config, model.state, own.corpus.documents())
    np.testing.assert_array_equal(shares, learned.consensus.transform(own.corpus))


def test_a_consensus_is_kept_once_also_after_a_restart_of_the_server(own, learned, files, store):
    model = own.model()
    saved = record_consensus(model, learned.consensus, engine.Recorder(model.train)).save()
    for _ in range(2):
        KeptConsensus(lambda model: saved, store).compute(model, lambda share: True)
    (run,) = files.kept.listing().runs
    files.kept.rename(run.key, "my own name")
    KeptConsensus(lambda model: saved, store).compute(model, lambda share: True)
    assert [each.title for each in files.kept.listing().runs] == ["my own name"]


def test_topics_of_a_consensus_get_the_names_that_the_corpus_has_kept(own, learned, files, store):
    ours = own.model()
    topic_id = int(own.progress(1).now.topic_ids[0])
    own.topic_names.rename(topic_id, "the largest")
    own.topic_names.keep(store, "bars", ours, {topic_id})
    record = record_consensus(ours, learned.consensus, engine.Recorder(ours.train))
    KeptConsensus(lambda model: record.save(), store).compute(ours, lambda share: True)
    assert list(files.kept.listing().runs[0].topic_names.values()) == ["the largest"]


@pytest.mark.parametrize(
    ("error", "why_not"),
    [
        (NoConsensusError("No topic is in half of the models."), NO_TOPIC_SHARED),
        (OSError("no room"), "Their consensus could not be made: no room."),
    ],
)
def test_runs_without_a_consensus_are_compared_and_the_page_says_why(
    own, monkeypatch, error, why_not
):
    def refuse(*arguments):
        raise error

    monkeypatch.setattr(Gathering, "join", refuse)
    learned = learn_again(own.model(), lambda share: True, num_runs=2)
    assert len(learned.runs.scores) == 2
    assert (learned.consensus, learned.why_not) == (None, why_not)


def test_models_of_a_sampler_have_no_consensus():
    gibbs = engine.find_algorithm("gibbs-lda")
    settings = replace(SETTINGS, passes=4)
    spec = RunSpec("small", gibbs, gibbs.config(max_topics=2), settings)
    learned = learn_again(learn(small_corpus(), spec).model(), lambda share: True, num_runs=1)
    assert (learned.consensus, learned.why_not) == (None, "")


def test_a_consensus_is_offered_until_it_is_kept_or_the_run_goes_on(own, learned):
    progress = own.progress(1)
    reading = begin_reading(own.model())
    shared = replace(reading, again=learned.runs._replace(consensus=own.save()))
    kept = ModelJob("ready", 1.0, "", *progress.model_key)
    assert offers_consensus(shared, ModelJob(), progress)
    assert not offers_consensus(None, ModelJob(), progress)
    assert not offers_consensus(replace(reading, again=learned.runs), ModelJob(), progress)
    assert not offers_consensus(shared, kept, progress)
    assert not offers_consensus(shared, ModelJob(), Progress(run_id=1, documents_seen=7))
    assert "Compare lists it" in describe_keeping(kept, shared, progress)
    assert "no room" in describe_keeping(
        replace(kept, status="failed", message="no room"), shared, progress
    )
    assert describe_keeping(kept, reading, progress) == ""


def test_after_a_restart_of_the_server_a_consensus_can_still_be_kept(own, learned, files, store):
    model = own.model()
    record = record_consensus(model, learned.consensus, engine.Recorder(model.train))
    before = Reader(own.model, lambda: None, store)
    before.ask()
    before.join()
    before.take_again(model, learned.runs._replace(consensus=record.save()))
    reader = Reader(own.model, lambda: None, store)
    reader.ask()
    reader.join()
    told = describe_again(ModelJob(), own.progress(1), reader.job.reading)
    assert f"Their consensus has {learned.consensus.n_topics_} topics, and scores" in told
    work = KeptConsensus(reader.find_consensus, store)
    assert work.can_start(model)
    work.compute(model, lambda share: True)
    (run,) = files.kept.listing().runs
    assert run.heldout == pytest.approx(learned.consensus.score(model.test), abs=1e-12)
    next((files.folder / READINGS).glob("*-consensus.npz")).unlink()
    assert files.readings.find_again(model).consensus is None
