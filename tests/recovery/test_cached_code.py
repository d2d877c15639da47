"""Code that was just compiled and code from the cache of numba give the same bits.

A kernel's code is also part of the code of each kernel that calls it. A process that has just
compiled a kernel and its callers must not run another copy than a process that reads only the
callers from the cache.
"""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.extended

# Each prints digests, and then the number of functions that a kernel has read from the cache.
SWEEP = """
import hashlib
import numpy as np
from stickbreaker.engine.corpora.documents import Documents
from stickbreaker.engine.kernels.collapsed import PassPriors, update_documents
rng = np.random.default_rng(1)
documents = Documents(np.array([0, 30, 60]), np.arange(60, dtype=np.int32) % 40, rng.integers(1, 9, 60, dtype=np.int32))
for precision in (np.float32, np.float64):
    shares, counts = rng.dirichlet(np.ones(19), 60).astype(precision), np.zeros((40, 2, 19), precision)
    weighed = documents.counts[:, None] * shares
    np.add.at(counts[:, 0], documents.words, weighed)
    np.add.at(counts[:, 1], documents.words, weighed * (1 - shares))
    priors = PassPriors(np.full(19, 0.1, precision), np.full(40, 0.01, precision), 0.4)
    update_documents(documents, priors, counts, counts.sum(0, dtype=np.float64), shares)
    print(hashlib.sha256(shares).hexdigest())
print(sum(update_documents.stats.cache_hits.values()))
"""
RUNS = """
from stickbreaker.engine import find_algorithm
from stickbreaker.engine.kernels.dirichlet import fit_dirichlet
from tests.benchmarks.digests import digest_run, make_config, simulate_corpus
corpus = simulate_corpus()
for name in ("hdp", "lda"):
    algorithm = find_algorithm(name)
    print(digest_run(algorithm, make_config(algorithm, {}), corpus)[1])
print(sum(fit_dirichlet.stats.cache_hits.values()))
"""

APART = RUNS.replace(
    "corpus = ",
    """
from numba.core import event
from stickbreaker.engine.runs.compile import compile_apart
class Listener(event.Listener):
    def on_start(self, event):
        raise AssertionError("This process compiles.")
    def on_end(self, event):
        pass
with event.install_listener("numba:compile", Listener()):
    for name in ("hdp", "lda"):
        compile_apart(find_algorithm(name), find_algorithm(name).config())
corpus = """,
)


def print_digests(program, cache):
    """Run a program in a new process: digests, and functions read from this cache."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    *bits, num_found = ran.stdout.split()
    return bits, int(num_found)


@pytest.fixture(scope="module")
def compile_here(tmp_path_factory):
    """Run a program that compiles, once; return its digests and the cache that it has filled."""
    done = {}

    def compile_here(program):
        if program not in done:
            folder = tmp_path_factory.mktemp("cache")
            bits, num_found = print_digests(program, folder)
            assert num_found == 0
            done[program] = bits, folder
        return done[program]

    return compile_here


@pytest.mark.parametrize("program", [SWEEP, RUNS], ids=["collapsed sweep", "runs"])
def test_the_bits_are_the_same_with_an_empty_and_with_a_filled_cache(program, compile_here):
    bits, folder = compile_here(program)
    again, num_found = print_digests(program, folder)
    assert num_found > 0
    assert again == bits


def test_the_bits_are_the_same_if_another_process_compiles(tmp_path, compile_here):
    bits, num_found = print_digests(APART, tmp_path)
    assert num_found > 0
    assert bits == compile_here(RUNS)[0]
