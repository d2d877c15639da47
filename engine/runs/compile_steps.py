"""Compiles the kernels of an algorithm's steps: it takes all steps of a small run."""

from dataclasses import fields, replace
from typing import Any

import numpy as np

from stickbreaker.engine.algorithm import Algorithm, Reads
from stickbreaker.engine.corpora.corpus import Corpus, Vocabulary
from stickbreaker.engine.executors import step
from stickbreaker.engine.runs.prepared import Prepared, prepare
from stickbreaker.engine.runs.settings import RunSettings

NUM_DOCUMENTS = 48
NUM_WORDS = 6
BATCH_SIZE = 4


def list_choices(config: Any) -> dict[str, Any]:
    """The settings that pick one of several names.

    Only they decide which code is compiled, and for which types.

    >>> from stickbreaker.engine import find_algorithm
    >>> list_choices(find_algorithm("hdp").config(precision="float64"))["precision"]
    'float64'
    """
    return {
        each.name: getattr(config, each.name)
        for each in fields(config)
        if each.metadata.get("choices")
    }


def prepare_small_run(algorithm: Algorithm, config: Any) -> Prepared:
    """A run over a few words with the same compiled code, through every phase."""
    config = type(config)(**list_choices(config))
    if algorithm.reads is Reads.BATCHES:
        config = replace(config, batch_size=BATCH_SIZE)
    counts = np.random.default_rng(0).integers(1, 4, (NUM_DOCUMENTS, NUM_WORDS))
    vocabulary = Vocabulary(tuple(f"word{i}" for i in range(NUM_WORDS)))
    dates = np.full(NUM_DOCUMENTS, "NaT", "datetime64[Y]")
    corpus = Corpus(
        name="for the compiler",
        counts=counts,
        vocabulary=vocabulary,
        dates=dates,
        titles=[""] * NUM_DOCUMENTS,
    )
    # A second pass is past any warm-up.
    return prepare(algorithm, config, corpus, RunSettings(passes=max(2, algorithm.passes)))


def compile_steps(algorithm: Algorithm, config: Any) -> None:
    """Compile the kernels of the steps of an algorithm that has no step of its own."""
    run = prepare_small_run(algorithm, config)
    state = algorithm.init(run.config, run.train.vocab_size, np.random.default_rng(0))
    size = algorithm.step_size(run.config, run.corpus_size)
    for _ in range(run.passes):
        for batch in run.train.batches(size):
            state, _ = step(algorithm, run.config, state, batch)
