"""The memory of a run is estimated before it starts, and the largest K that fits is named."""

import re
import tracemalloc
from collections import deque
from dataclasses import replace

import numpy as np
import pytest

from stickbreaker import engine
from stickbreaker.engine.algorithms import REGISTRY, find_algorithm
from stickbreaker.engine.runs.memory import (
    TooMuchMemoryError,
    check_memory,
    estimate_memory,
    machine_memory,
)
from stickbreaker.engine.simulate import simulate_hdp


@pytest.mark.parametrize("name", ["hdp", "direct-hdp", "lda", "batch-hdp", "batch-lda", "cv-lda"])
def test_the_estimate_is_at_least_the_memory_of_a_run_and_at_most_five_times_as_much(name):
    rng = np.random.default_rng(0)
    topics = rng.dirichlet([0.05] * 5000, 20)
    corpus = simulate_hdp(topics, 200, 50, 1.0, 5.0, rng).corpus
    algorithm = find_algorithm(name)
    prepared = engine.prepare(
        algorithm, algorithm.config(max_topics=200), corpus, engine.RunSettings(passes=1)
    )
    # The memory of compiling does not count.
    deque(engine.run(prepared), maxlen=0)
    tracemalloc.start()
    try:
        deque(engine.run(prepared), maxlen=0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= estimate_memory(algorithm, prepared.config, prepared.train) <= 5 * peak


@pytest.mark.parametrize("algorithm", REGISTRY, ids=lambda each: each.name)
def test_each_algorithm_has_an_estimate_below_the_memory_of_the_machine(algorithm, tiny_corpus):
    prepared = engine.prepare(algorithm, algorithm.config(), tiny_corpus)
    assert 0 <= estimate_memory(algorithm, prepared.config, prepared.train) < machine_memory()


def test_a_run_that_is_too_large_names_the_largest_k_that_fits(tiny_corpus):
    algorithm = find_algorithm("hdp")
    prepared = engine.prepare(algorithm, algorithm.config(max_topics=500), tiny_corpus)
    allowed = estimate_memory(algorithm, replace(prepared.config, max_topics=123), prepared.train)
    with pytest.raises(TooMuchMemoryError, match=re.escape("choose K of at most 123.")):
        check_memory(prepared, allowed)
    check_memory(prepared.with_config(replace(prepared.config, max_topics=123)), allowed)
    with pytest.raises(TooMuchMemoryError, match="use a smaller corpus"):
        check_memory(prepared, 0)
