"""Runs on Dask clusters of several processes, whose workers join, leave and end in the middle of a
step.
"""

import os
import signal
import threading
import time
from contextlib import contextmanager, nullcontext
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from stickbreaker import engine
from stickbreaker.engine.algorithms import find_algorithm
from stickbreaker.engine.corpora import build_on_workers, pieces
from stickbreaker.engine.corpora.shards import read_manifest
from stickbreaker.engine.corpora.stored import store_corpus
from stickbreaker.engine.evaluation import held_out, share_files
from stickbreaker.engine.kernels.two_level import fit_two_level
from stickbreaker.engine.parallel.clusters import ClusterError, TaskLostError, connect
from stickbreaker.engine.runs import study
from stickbreaker.engine.runs.cells import CellTask
from stickbreaker.engine.runs.checkpoint import flatten
from stickbreaker.engine.runs.study import Study
from stickbreaker.engine.versions import find_environment
from tests.engine import dying_tasks
from tests.engine.corpora.small_files import make_rows, write_table
from tests.patience import limit
from tests.small_documents import draw_two_topic_counts

pytestmark = pytest.mark.extended

dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")
HDP = find_algorithm("hdp")
SETTINGS = engine.RunSettings(
    num_evaluations=0, num_moments=0, score_next_batch=False, num_shards=4
)
CONFIG = HDP.config(batch_size=60)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder that workers find in their environment, to leave files when they end."""
    folder = tmp_path_factory.mktemp("deaths")
    os.environ[dying_tasks.FOLDER] = str(folder)
    yield folder
    del os.environ[dying_tasks.FOLDER]


@contextmanager
def one_worker():
    """A client of a cluster with one worker, a process of its own."""
    options = {
        "threads_per_worker": 1,
        "processes": True,
        "dashboard_address": ":0",
        "silence_logs": 50,
    }
    with (
        distributed.LocalCluster(n_workers=1, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client(folder):
    # A task is lost when its first worker ends, and not sent to three more by Dask.
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}), one_worker() as client:
        yield client


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    counts = draw_two_topic_counts(0, 300)
    words = engine.Vocabulary(tuple(f"word{number}" for number in range(counts.shape[1])))
    dates = np.full(len(counts), "NaT", "datetime64[D]")
    return store_corpus(
        engine.Corpus("two topics", counts, words, dates, [""] * len(counts)),
        tmp_path_factory.mktemp("a") / "corpus",
    )


def bits(corpus, client=None, algorithm=HDP, settings=SETTINGS):
    """The bytes of all arrays of all states of a run."""
    updates = engine.run(engine.prepare(algorithm, CONFIG, corpus, settings), client=client)
    return [array.tobytes() for update in updates for _, array in flatten("state", update.state)]


def count_compiled():
    """How many versions of the kernel of local steps this process has compiled or loaded."""
    return len(fit_two_level.signatures)


def test_a_worker_compiles_the_steps_before_its_first_task(corpus):
    prepared = engine.prepare(HDP, CONFIG, corpus, SETTINGS)
    with one_worker() as client:
        assert list(client.run(count_compiled).values()) == [0]
        updates = engine.run(prepared, client=client)
        assert list(client.run(count_compiled).values()) == [1]
        client.cluster.scale(2)
        client.wait_for_workers(2)
        assert list(client.run(count_compiled).values()) == [1, 1]
        next(updates)
        assert list(client.run(count_compiled).values()) == [1, 1]


def test_the_bits_are_the_same_with_0_1_2_and_4_workers_also_when_workers_end(
    corpus, client, folder
):
    alone = bits(corpus)
    assert bits(corpus, client) == alone
    client.cluster.scale(2)
    client.wait_for_workers(2)
    assert bits(corpus.load(), client) == alone
    dying = replace(HDP, local=dying_tasks.local)
    assert bits(corpus, client, dying) == alone
    assert {path.name for path in folder.iterdir()} == {"2", "4"}
    client.cluster.scale(4)
    client.wait_for_workers(4)
    assert bits(corpus, client) == alone


def test_the_bits_are_the_same_with_8_workers_of_which_each_takes_a_shard(corpus):
    settings = replace(SETTINGS, num_shards=8)
    with (
        distributed.LocalCluster(
            n_workers=8,
            threads_per_worker=1,
            processes=False,
            dashboard_address=":0",
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert bits(corpus, client, settings=settings) == bits(corpus, settings=settings)


def test_a_worker_that_is_ten_times_slower_changes_no_bit_with_work_stealing_on(
    corpus, client, folder
):
    assert client.run_on_scheduler(lambda dask_scheduler: "stealing" in dask_scheduler.extensions)
    assert len(client.scheduler_info()["workers"]) == 4
    assert bits(corpus, client, replace(HDP, local=dying_tasks.slow)) == bits(corpus)
    assert (folder / "slow").exists()


def test_a_run_continues_from_its_checkpoint_after_the_scheduler_was_restarted(corpus, tmp_path):
    prepared = engine.prepare(HDP, CONFIG, corpus, SETTINGS)
    settings = {"n_workers": 1, "processes": False, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        updates = engine.run(prepared, client=client, checkpoint=tmp_path / "run.npz", every=0.0)
        found = [next(updates), next(updates)]
        cluster.close()
        with pytest.raises(
            ClusterError, match="The scheduler has ended or cannot be reached. Start it again"
        ):
            next(updates)
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        found += engine.run(prepared, client=client, checkpoint=tmp_path / "run.npz")
    arrays = [array.tobytes() for update in found for _, array in flatten("state", update.state)]
    assert arrays == bits(corpus)


@pytest.fixture(scope="module")
def declared(tmp_path_factory):
    """A study of four short runs."""
    rng = np.random.default_rng(0)
    words = ["army", "cotton", "navy", "peace", "ship", "tariff", "treaty", "trade"]
    path = tmp_path_factory.mktemp("notes") / "notes.csv"
    path.write_text("text\n" + "\n".join(" ".join(rng.choice(words, 5)) for _ in range(40)))
    return Study(("hdp", "gibbs-lda"), (str(path),), seeds=(0, 1), fixed={"max_topics": 3})


def test_a_study_has_the_same_bits_on_a_cluster_also_when_a_worker_ends(
    declared, client, folder, tmp_path, monkeypatch
):
    monkeypatch.setattr(study, "measure_sent", dying_tasks.measure_after_death)
    told = []
    frames = [
        study.run_study(declared, tmp_path / name, client=each, report=told.append)
        for name, each in (("alone", None), ("cluster", client), ("cluster", client))
    ]
    alone, *others = (frame.drop(columns="seconds") for frame in frames)
    for frame in others:
        pd.testing.assert_frame_equal(frame, alone, check_exact=True)
    assert alone["error"].isna().all()
    assert (folder / "cell").exists()
    assert [each.num_done for each in told] == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 4]


def test_fits_with_other_seeds_have_the_same_bits_on_a_cluster(corpus, client):
    model = engine.OnlineHDP(passes=1)
    here, there = (
        engine.stability_of(corpus, model, seeds=2, client=each) for each in (None, client)
    )
    assert here.scores == there.scores
    pairs = zip(here.models, there.models, strict=True)
    assert all((one.components_ == other.components_).all() for one, other in pairs)


@pytest.fixture
def ctrl_c_interrupts():
    """SIGINT raises KeyboardInterrupt, also in tests started with `&`."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c_interrupts")
def test_ctrl_c_also_cancels_the_cells_that_run(declared, client, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(study, "measure_sent", dying_tasks.measure_until_cancelled)

    def interrupt():
        wait_until((folder / "began").exists)
        # As a terminal does: a signal of another thread does not end what the main thread waits
        # for.
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        study.run_study(declared, tmp_path, client=client, report=lambda progress: None)
    wait_until((folder / "cancelled").exists)
    assert list(tmp_path.iterdir()) == []


def test_a_task_that_ends_every_worker_is_named_and_the_others_are_done(client):
    cluster = connect(client, find_environment)
    found = dict(cluster.map_unordered(dying_tasks.die, range(4)))
    assert isinstance(found.pop(0), TaskLostError)
    assert found == {1: 1, 2: 2, 3: 3}


def test_a_worker_with_another_corpus_is_named(declared, client, tmp_path, monkeypatch):
    for added, message in (
        ("", "has another corpus .*notes.csv"),
        (".csv", "cannot read a corpus .*notes.csv.csv"),
    ):

        def send_other(cell, key, added=added):
            return CellTask(cell=replace(cell, corpus=cell.corpus + added), key="other")

        monkeypatch.setattr(study, "send_cell", send_other)
        with pytest.raises(
            ClusterError, match=rf"^Worker tcp://\S+ {message}.* All machines need the same corpus"
        ):
            study.run_study(declared, tmp_path, client=client, report=lambda progress: None)
    assert list(tmp_path.iterdir()) == []


def wait_until(is_done):
    """Wait until something is done."""
    end = time.monotonic() + limit(60)
    while not is_done():
        assert time.monotonic() < end, "it is never done"
        time.sleep(0.01)


@pytest.fixture
def small_parts(monkeypatch):
    """Forty documents in a part, ten of which are read at once; loading a corpus is an error."""
    monkeypatch.setattr(share_files, "DOCUMENTS_AT_ONCE", 10)
    monkeypatch.setattr(share_files, "FILE_DOCUMENTS", 40)
    monkeypatch.setattr(held_out, "DOCUMENTS_AT_ONCE", 40)
    monkeypatch.setattr("stickbreaker.engine.corpora.stored.MAX_LOADED", 0)


@pytest.fixture(scope="module")
def model(corpus):
    return engine.OnlineHDP(max_topics=5, random_state=0).fit(corpus)


@pytest.mark.usefixtures("small_parts")
def test_readings_are_the_same_bits_whoever_writes_them(
    corpus, model, client, tmp_path, monkeypatch
):
    assert model.score(corpus, client=client) == model.score(corpus)
    shuffled = corpus.order("shuffled", seed=1)
    folders = [
        model.transform_to(shuffled, tmp_path / name, client=each)
        for name, each in (("here", None), ("there", client))
    ]
    # As on a worker without the folder: this process writes.
    monkeypatch.setattr(share_files, "FileWriter", dying_tasks.ReturningWriter)
    folders.append(model.transform_to(shuffled, tmp_path / "driver", client=client))
    contents = [{path.name: path.read_bytes() for path in folder.iterdir()} for folder in folders]
    assert len(contents[0]) == 8
    assert contents[0] == contents[1] == contents[2]


@pytest.mark.usefixtures("small_parts")
def test_readings_need_a_corpus_that_all_workers_can_read(corpus, model, client, tmp_path):
    moved = store_corpus(corpus, tmp_path / "corpus")
    assert moved.refer(0, 1).read().num_documents == 1
    (tmp_path / "corpus").rename(tmp_path / "moved")
    for read in (
        model.score,
        lambda corpus, client: model.transform_to(corpus, tmp_path / "shares", client=client),
    ):
        with pytest.raises(
            ClusterError, match=rf"^Worker tcp://\S+ cannot read the corpus.* {tmp_path / 'corpus'}"
        ):
            read(moved, client=client)
    assert [path.name for path in tmp_path.iterdir()] == ["moved"]


def test_readings_of_a_corpus_in_memory_refuse_a_client(corpus, model, client):
    with pytest.raises(
        engine.CorpusError, match="'two topics' is in memory.*write it with store_corpus"
    ):
        model.score(corpus.load(), client=client)


TEXTS = {
    "text": "said",
    "date": "when",
    "title": "who",
    "group": "of",
    "keeps_text": True,
    "shard_documents": 200,
}


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """A folder with a Parquet file, which is divided into parts, and two CSV files."""
    monkeypatch.setattr(pieces, "PART_BYTES", 20_000)
    folder = tmp_path / "tables"
    folder.mkdir()
    for number, name in enumerate(("a.csv", "b.parquet", "c.csv")):
        write_table(make_rows(650, number), folder / name)
    return folder


def contents(folder):
    """The bytes of all files of a folder by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_corpus_is_built_byte_for_byte_as_without_a_cluster_also_when_a_worker_ends(
    tables, client, folder, tmp_path, monkeypatch
):
    alone = engine.build(tables, to=tmp_path / "alone" / "corpus", **TEXTS)
    monkeypatch.setattr(build_on_workers, "PartCounter", dying_tasks.DyingCounter)
    shares = []
    built = engine.build(
        tables, to=tmp_path / "shared" / "corpus", client=client, callback=shares.append, **TEXTS
    )
    assert (folder / "part").exists()
    assert len(read_manifest(built.folder).shards) > 4
    assert contents(built.folder) == contents(alone.folder)
    assert shares == sorted(shares)
    assert [path.name for path in (tmp_path / "shared").iterdir()] == ["corpus"]
    # As on workers without the folder: this process writes.
    monkeypatch.setattr(build_on_workers, "marking", nullcontext)
    driven = engine.build(tables, to=tmp_path / "driver" / "corpus", client=client, **TEXTS)
    assert contents(driven.folder) == contents(alone.folder)


def test_a_build_on_a_cluster_says_what_is_left_out(client, tmp_path, caplog):
    letter = "From a@b.org Mon Jan  7 10:00:00 1901\nSubject: Peace\n\nPeace\n> War\n\n"
    (tmp_path / "letters.mbox").write_text(2 * letter)
    engine.build(tmp_path / "letters.mbox", to=tmp_path / "corpus", client=client)
    assert "Left out: quoted lines (50.0%)." in caplog.messages


@pytest.mark.parametrize("share", [0.2, 0.9])
def test_an_interrupted_build_on_a_cluster_continues_with_or_without_one(
    tables, client, tmp_path, share
):
    def stop(done):
        if done > share:
            raise StoppedError

    alone = engine.build(tables, to=tmp_path / "alone" / "corpus", **TEXTS)
    for name, first, second in (("one", client, None), ("other", None, client)):
        with pytest.raises(StoppedError):
            engine.build(
                tables, to=tmp_path / name / "corpus", client=first, callback=stop, **TEXTS
            )
        assert list((tmp_path / name / ".corpus.building" / "pieces").glob("part-*"))
        built = engine.build(tables, to=tmp_path / name / "corpus", client=second, **TEXTS)
        assert contents(built.folder) == contents(alone.folder)


class StoppedError(Exception):
    """Ends a build of these tests."""


def test_a_worker_without_the_sources_is_named(tables, client, tmp_path, monkeypatch):
    paths = {path: path.stat().st_size for path in sorted(tables.iterdir())}
    first = next(iter(paths))
    monkeypatch.setattr(build_on_workers, "count_bytes", lambda path: paths[path] + 1)
    with pytest.raises(
        ClusterError, match=rf"^Worker tcp://\S+ has another {tables}/\S+. All machines need"
    ):
        engine.build(tables, to=tmp_path / "corpus", client=client, **TEXTS)
    monkeypatch.setattr(
        build_on_workers, "count_bytes", lambda path: first.unlink(missing_ok=True) or paths[path]
    )
    with pytest.raises(
        ClusterError, match=rf"^Worker tcp://\S+ cannot read {first}. All machines need the sources"
    ):
        engine.build(tables, to=tmp_path / "corpus", client=client, **TEXTS)


def test_nothing_of_a_step_stays_on_the_cluster(corpus, client):
    for _ in engine.run(engine.prepare(HDP, CONFIG, corpus, SETTINGS), client=client):
        pass
    # A released result is forgotten a moment later.
    for _ in range(100):
        remaining = client.run_on_scheduler(lambda dask_scheduler: [*dask_scheduler.tasks])
        if not remaining:
            break
        time.sleep(0.1)
    assert remaining == []
