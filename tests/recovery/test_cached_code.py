"""Code that was just compiled and code that is read from numba's cache give the same bits."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import hashlib
import numpy as np
from stickbreaker import engine
from stickbreaker.engine.kernels.collapsed import sweep_documents
counts = np.random.default_rng(0).poisson(0.3, (60, 200))
model = engine.CVLDA(max_topics=40, passes=3, random_state=0).fit(counts)
learned = np.ascontiguousarray(model.components_).tobytes()
print(hashlib.sha256(learned).hexdigest(), sum(sweep_documents.stats.cache_hits.values()))
"""


def fit_in_new_process(cache: Path) -> tuple[str, bool]:
    """Fit CV-LDA with compiled code in a folder: the digest of its topics, and whether the code was there already."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", PROGRAM]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=400, check=False)
    assert ran.returncode == 0, ran.stderr
    digest, num_found = ran.stdout.split()
    return digest, num_found == "1"


def test_cv_lda_learns_the_same_bits_from_new_and_from_cached_code(tmp_path):
    compiled, compiled_was_cached = fit_in_new_process(tmp_path)
    loaded, loaded_was_cached = fit_in_new_process(tmp_path)
    assert (compiled_was_cached, loaded_was_cached) == (False, True)
    assert loaded == compiled
