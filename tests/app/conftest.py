import time
from dataclasses import replace

import pytest

from stickbreaker.app.fixes.page import compare_all_values, load_fonts_once, lock_documents
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import Model
from stickbreaker.app.server.cpu_queue import CpuQueue
from stickbreaker.app.server.reader import Reader
from stickbreaker.app.server.runner import Runner
from stickbreaker.engine import RunSettings, find_algorithm, prepare, run
from stickbreaker.engine.corpora.corpus import Vocabulary
from tests.app.small_runs import Compiled, load_small
from tests.patience import limit

HOSTILE = "<img src=x onerror=alert(1)>"

# As a server does at its start.
load_fonts_once()
compare_all_values()
lock_documents()


def eventually(condition):
    """Wait until a condition holds; fail with it if it never does."""
    end = time.monotonic() + limit(60)
    while not condition():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.005)


@pytest.fixture
def until():
    return eventually


@pytest.fixture
def set_limit(monkeypatch):
    """Set a limit to a value, in its units, also if it has no variable."""

    def set_value(limit, value):
        for field, content in {"default": value, "variable": "", "basis": None}.items():
            monkeypatch.setattr(limit, field, content)

    return set_value


@pytest.fixture
def make_runner():
    """Make runners on the small corpus that learn as fast as possible and end with the test."""
    runners = []

    def make(
        cpu_queue=None, compilation=None, notify=lambda: None, load=load_small, store=None, **more
    ):
        queue, compilation = cpu_queue or CpuQueue(2), compilation or Compiled()
        runner = Runner(load, queue, compilation, notify, store=store, **more)
        runner.set_pace(0.0)
        runners.append(runner)
        return runner

    yield make
    for runner in runners:
        runner.close()
        runner.join(limit(30))


@pytest.fixture(scope="session")
def model(tiny_corpus):
    """A model of the tiny corpus, whose first word and first title are hostile."""
    words = (HOSTILE, *tiny_corpus.vocabulary.words[1:])
    titles = (HOSTILE, *tiny_corpus.titles[1:])
    corpus = replace(tiny_corpus, vocabulary=Vocabulary(words), titles=titles)
    algorithm = find_algorithm("hdp")
    config = algorithm.config(max_topics=12, batch_size=4, delay=1.0)
    stepped = [
        update.stepped for update in run(prepare(algorithm, config, corpus, RunSettings(passes=4)))
    ]
    return Model(
        1, algorithm, config, stepped[-1].state, corpus, corpus, stepped[-1].documents_seen
    )


@pytest.fixture(scope="session")
def job(model):
    """The reading of the corpus of `model`."""
    reader = Reader(lambda: model, lambda: None)
    reader.ask()
    reader.join()
    assert reader.job.status == "ready"
    return reader.job


@pytest.fixture
def progress(model):
    """The end of the run of `model`."""
    return Progress(run_id=1, status="finished", documents_seen=model.documents_seen)
