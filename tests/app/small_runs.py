"""Runs that are over in a moment: an online HDP that keeps three topics, on 110 short documents
(100 to learn from).
"""

from dataclasses import replace
from functools import cache

import numpy as np

from stickbreaker import engine
from stickbreaker.app.model.record import Record
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.app.server.compiling import Compilation, Job
from stickbreaker.app.server.reader import Reader
from stickbreaker.engine import executors
from tests.patience import limit

HDP = engine.find_algorithm("hdp")
LDA = engine.find_algorithm("lda")
NAME = "small"
PARTIES = ("Whigs", "<b>Tories</b>", "Others")
SETTINGS = engine.RunSettings(num_test=10, num_evaluations=10, num_moments=2)


@cache
def small_corpus():
    """110 documents of 20 words, one a year from 1790 on."""
    counts = np.random.default_rng(0).poisson(1.0, (110, 20))
    words = engine.Vocabulary(tuple(f"word{i}" for i in range(20)))
    years = np.datetime64("1790", "Y") + np.arange(110)
    return engine.Corpus(NAME, counts, words, years, tuple(f"Document {i}" for i in range(110)))


def load_small(name, folder=None):
    """Open the small corpus, by any name."""
    return small_corpus()


def load_parties(name=NAME, folder=None):
    """Open the small corpus with three parties."""
    groups = np.arange(small_corpus().num_documents) % 3
    return replace(small_corpus(), groups=groups, group_titles=PARTIES)


def small_spec(**values):
    """A run of ten mini-batches."""
    return RunSpec(NAME, HDP, small_config(**values), SETTINGS)


def small_config(**values):
    return HDP.config(
        **{"max_topics": 3, "delay": 64.0, "batch_size": 10, "duplicates": "keep"} | values
    )


def open_spec(**values):
    """A run that leaves its delay and the size of its mini-batches to the corpus' size."""
    return RunSpec(
        NAME, HDP, HDP.config(**{"max_topics": 3, "duplicates": "keep"} | values), SETTINGS
    )


def begin(spec, corpus=None):
    """The record of a run that has opened its corpus, by default the small one."""
    corpus, record = corpus or small_corpus(), Record(spec, 1, lambda: 0.0)
    record.open(corpus, engine.prepare(spec.algorithm, spec.config, corpus, spec.settings))
    return record


def learn(corpus, spec):
    """The record of a finished run."""
    record = begin(spec, corpus)
    while not record.is_over:
        record.advance()
    return record


def read(record):
    """Read the corpus of a run with its model, to the end."""
    reader = Reader(record.model, lambda: None)
    reader.ask()
    reader.join()
    assert reader.job.status == "ready", reader.job.message
    return reader.job


def keep_small(kept, key="", corpus=None, **values):
    """Learn the small corpus, and keep the run with its model under this key or a new one."""
    record = learn(corpus or small_corpus(), small_spec(**values))
    return kept.keep(record.progress(1), record.model(), key=key, checkpoint=record.save())


class Page:
    """A page that only counts how often it was notified."""

    def __init__(self):
        self.num_notified = 0

    def notify(self):
        self.num_notified += 1


class Watched:
    """The online HDP, whose steps can be held up until `gate` is set or can fail at one of them.

    configs: the config of each step taken.
    """

    def __init__(self, fails_at=None, gate=None):
        self.fails_at, self.gate = fails_at, gate
        self.configs = []
        self.algorithm = replace(HDP, expect=None, local=None, blend=None, step=self._step)

    def spec(self, make=small_spec, **values):
        """The spec of a run that takes these steps."""
        return replace(make(**values), algorithm=self.algorithm)

    def _step(self, config, state, batch, rng):
        if self.gate is not None:
            self.gate.wait(limit(60))
        if state.step + 1 == self.fails_at:
            raise FloatingPointError("a topic has become infinite")
        self.configs.append(config)
        return executors.step(HDP, config, state, batch, rng)


class Compiled(Compilation):
    """Everything is compiled already."""

    def __init__(self):
        super().__init__(lambda algorithm, config, report: None)

    def ask(self, spec):
        return Job(is_done=True)
