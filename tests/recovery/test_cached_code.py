"""Code that was just compiled and code from the cache of numba give the same bits."""

import os
import subprocess
import sys

# `sweep_documents` calls `count_document`, of which numba stores a copy in the code of each caller.
PROGRAM = """
import hashlib
import numpy as np
from stickbreaker.engine.corpora.documents import Documents
from stickbreaker.engine.kernels.collapsed import SweepPriors, sweep_documents
rng = np.random.default_rng(1)
documents = Documents(np.array([0, 30, 60]), np.arange(60, dtype=np.int32) % 40, rng.integers(1, 9, 60, dtype=np.int32))
for precision in (np.float32, np.float64):
    shares, counts = rng.dirichlet(np.ones(19), 60).astype(precision), np.zeros((40, 2, 19), precision)
    weighed = documents.counts[:, None] * shares
    np.add.at(counts[:, 0], documents.words, weighed)
    np.add.at(counts[:, 1], documents.words, weighed * (1 - shares))
    priors = SweepPriors(np.full(19, 0.1, precision), np.full(40, 0.01, precision), 0.4)
    sweep_documents(documents, priors, counts, counts.sum(0, dtype=np.float64), shares)
    print(hashlib.sha256(shares).hexdigest())
print(sum(sweep_documents.stats.cache_hits.values()))
"""


def sweep(cache):
    """Run the program in a new process: its digests, and how many functions it read from this cache folder."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", PROGRAM]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    *bits, num_found = ran.stdout.split()
    return bits, int(num_found)


def test_a_collapsed_sweep_gives_the_same_bits_with_an_empty_and_with_a_filled_cache(tmp_path):
    bits, num_found = sweep(tmp_path)
    assert num_found == 0
    assert sweep(tmp_path) == (bits, 2)
