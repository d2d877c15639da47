"""Two hundred steps of a run on a cluster whose workers are killed at random give the bits of one
process.
"""

from dataclasses import replace

import numpy as np
import pytest

from stickbreaker import engine
from stickbreaker.engine.algorithms import find_algorithm
from stickbreaker.engine.runs.checkpoint import flatten
from tests.engine import dying_tasks
from tests.small_documents import draw_two_topic_counts

distributed = pytest.importorskip("distributed")
HDP = find_algorithm("hdp")
SETTINGS = engine.RunSettings(
    passes=100, num_evaluations=0, num_moments=0, score_next_batch=False, num_shards=2
)


def test_two_hundred_steps_while_workers_are_killed_at_random(tmp_path, monkeypatch):
    counts = draw_two_topic_counts(0, 120)
    words = engine.Vocabulary(tuple(f"word{number}" for number in range(counts.shape[1])))
    corpus = engine.Corpus(
        "two topics", counts, words, np.full(120, "NaT", "datetime64[D]"), [""] * 120
    )
    monkeypatch.setenv(dying_tasks.FOLDER, str(tmp_path))

    def learn(algorithm, client=None):
        updates = engine.run(
            engine.prepare(algorithm, HDP.config(batch_size=60), corpus, SETTINGS), client=client
        )
        return [
            [array.tobytes() for _, array in flatten("state", update.state)] for update in updates
        ]

    alone = learn(HDP)
    assert len(alone) == 200
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert learn(replace(HDP, local=dying_tasks.die_at_random), client) == alone
    assert len(list(tmp_path.iterdir())) >= 3
