"""The work of the processes that `tests.chaos.kill` kills: one job, repeated, in a separate folder.

The first process has imported everything and forks one for each line of its input: job, algorithm
and folder.
"""

import logging
import os
import sys
from dataclasses import fields
from itertools import count
from pathlib import Path
from uuid import uuid4

import numpy as np

from stickbreaker import engine
from stickbreaker.app.model.saved_stream import SavedStream
from stickbreaker.engine.algorithm import Algorithm, Reads
from stickbreaker.engine.corpora.build_stored import BuildRequest, build_own
from stickbreaker.engine.corpora.library import delete_own
from stickbreaker.engine.runs import checkpoint
from stickbreaker.engine.runs.checkpoint import Checkpoint
from stickbreaker.engine.runs.prepared import Prepared
from stickbreaker.engine.runs.study import Study, run_study
from tests.app.small_streams import BATCH_SIZE, make_model, write_texts
from tests.chaos.stored import make_notes, write_notes

CHECKPOINT = "run.npz"


def prepare_run(name: str) -> Prepared:
    """A run of a few mini-batches on forty notes."""
    algorithm = engine.find_algorithm(name)
    settings = engine.RunSettings(num_evaluations=0, score_next_batch=False, passes=3)
    return engine.prepare(algorithm, small_config(algorithm), make_notes(), settings)


def small_config(algorithm: Algorithm):
    """Settings with few topics and small mini-batches."""
    own = {each.name for each in fields(algorithm.config)}
    small = {"max_topics": 3, "batch_size": 4 if algorithm.reads is Reads.BATCHES else None}
    return algorithm.config(
        **{name: value for name, value in small.items() if name in own and value is not None}
    )


def save_runs(folder: Path, name: str) -> None:
    """Learn from the checkpoint on, save after each mini-batch, and begin again."""
    prepared, path = prepare_run(name), folder / CHECKPOINT
    while True:
        resume = checkpoint.load(path) if path.exists() else None
        if resume is not None and resume.documents_seen >= prepared.documents_total:
            resume = None
        for update in engine.run(prepared, resume=resume):
            seen, config = update.stepped.documents_seen, prepared.config
            checkpoint.save(
                path, Checkpoint(name, config, prepared.settings, update.state, seen, 0.0)
            )


def build_corpora(folder: Path, name: str) -> None:
    """Build corpora of 400 notes, and delete every second one."""
    source = write_notes(folder.parent, 1, 400)
    for number in count():
        corpus = f"corpus {uuid4().hex}"
        build_own(BuildRequest(source, corpus), folder=folder)
        if number % 2:
            delete_own(corpus, folder)


def make_study(folder: Path) -> Study:
    """A study of forty cells."""
    rates = tuple(np.linspace(0.55, 1.0, 20).round(3).tolist())
    return Study(
        ("hdp",),
        (str(write_notes(folder.parent)),),
        {"forgetting_rate": rates},
        (0, 1),
        {"max_topics": 3},
    )


def study_cells(folder: Path, name: str) -> None:
    """Run a study with two processes."""
    run_study(make_study(folder), folder, num_processes=2, report=lambda progress: None)


def make_stream(model: engine.OnlineHDP | None = None) -> engine.Follower:
    """What learns from a stream, new or with the model that was saved."""
    return engine.Follower(
        model or make_model(), engine.WordChoices(max_words=18), corpus_size=100_000
    )


def learn_batch(follower: engine.Follower, seen: int) -> int:
    """Learn from the next mini-batch; return how many documents have been seen."""
    list(follower.follow(write_texts(BATCH_SIZE, seen)))
    return seen + BATCH_SIZE


def follow_stream(folder: Path, name: str) -> None:
    """Follow a stream without an end, and save after each mini-batch."""
    saved = SavedStream(folder, "news")
    model, position = saved.load() or (None, {"seen": 0})
    follower, seen = make_stream(model), position["seen"]
    while True:
        seen = learn_batch(follower, seen)
        saved.save(follower.model, {"seen": seen})


JOBS = {"run": save_runs, "build": build_corpora, "study": study_cells, "stream": follow_stream}

if __name__ == "__main__":
    logging.disable(logging.WARNING)
    for line in sys.stdin:
        asked, algorithm, inside = line.rstrip("\n").split("\t")
        number = os.fork()
        if not number:
            # A session of its own, so that the processes of a study are killed too.
            os.setsid()
            JOBS[asked](Path(inside), algorithm)
            os._exit(0)
        print(number, flush=True)
        os.waitpid(number, 0)
