"""Runs on Dask clusters of several processes, whose workers join, leave and end in the middle of a step."""

import os
import time
from dataclasses import replace

import numpy as np
import pytest

from stickbreaker import engine
from stickbreaker.engine.algorithms import find_algorithm
from stickbreaker.engine.corpora.stored import store_corpus
from stickbreaker.engine.runs.checkpoint import flatten
from tests.engine import dying_tasks
from tests.small_documents import draw_two_topic_counts

distributed = pytest.importorskip("distributed")
HDP = find_algorithm("hdp")
SETTINGS = engine.RunSettings(num_evaluations=0, num_snapshots=0, score_next_batch=False, num_shards=4)
CONFIG = HDP.config(batch_size=60)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder that workers find in their environment: each worker that ends leaves a file there."""
    folder = tmp_path_factory.mktemp("deaths")
    os.environ[dying_tasks.FOLDER] = str(folder)
    yield folder
    del os.environ[dying_tasks.FOLDER]


@pytest.fixture(scope="module")
def client(folder):
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    counts = draw_two_topic_counts(0, 300)
    words = engine.Vocabulary(tuple(f"word{number}" for number in range(counts.shape[1])))
    dates = np.full(len(counts), "NaT", "datetime64[D]")
    return store_corpus(
        engine.Corpus("two topics", counts, words, dates, [""] * len(counts)), tmp_path_factory.mktemp("a") / "corpus"
    )


def bits(corpus, client=None, algorithm=HDP):
    """The bytes of all arrays of all states of a run."""
    updates = engine.run(engine.prepare(algorithm, CONFIG, corpus, SETTINGS), client=client)
    return [array.tobytes() for update in updates for _, array in flatten("state", update.state)]


def test_the_bits_are_the_same_with_0_1_2_and_4_workers_also_when_workers_end(corpus, client, folder):
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
