"""The memory that a run takes, estimated before it starts, and the largest K that fits into a
limit.
"""

import os
from bisect import bisect_right
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from stickbreaker.engine.algorithm import Algorithm
from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.runs.prepared import Prepared

# Arrays of V x K numbers at the peak: λ with the room for its next values, the weights of a
# mini-batch's words, raised weights in the warm-up, and a summary. tests/engine/runs/test_memory.py
# measures that runs take no more.
COPIES = 10
GROUPS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


class TooMuchMemoryError(ValueError):
    """A run needs more memory than it may take; the message names the largest K that fits."""


def estimate_memory(algorithm: Algorithm, config: Any, corpus: Corpus) -> int:
    """Bytes that a run over these training documents takes, without the corpus itself.

    config: with a value for each setting. An algorithm that keeps something for each document says
    how much.
    """
    own = 0
    if algorithm.memory is not None:
        own = algorithm.memory(config, corpus.documents())
    settings = vars(config)
    size: int = np.dtype(settings.get("precision", np.float64)).itemsize
    num_topics = int(settings.get("max_topics", 0))
    return own + COPIES * size * corpus.vocab_size * num_topics


def machine_memory() -> int:
    """Bytes of memory of the machine, or of its container if that has less."""
    found = []
    # Windows has no sysconf.
    with suppress(AttributeError):
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for group in GROUPS:
        with suppress(OSError, ValueError):
            found.append(int(group.read_text()))
    return min(found, default=8 * 2**30)


def check_memory(prepared: Prepared, allowed: int) -> None:
    """Raise TooMuchMemoryError if a run is estimated to take more than `allowed` bytes."""
    algorithm = prepared.algorithm
    config = prepared.config
    train = prepared.train
    needed = estimate_memory(algorithm, config, train)
    if needed <= allowed:
        return
    said = (
        f"This run needs about {needed / 1e9:.2g} GB of memory, but the limit is"
        f" {allowed / 1e9:.2g} GB"
    )
    if not algorithm.has_setting("max_topics"):
        raise TooMuchMemoryError(f"{said}: use a smaller corpus.")

    def needed_for(max_topics: int) -> int:
        return estimate_memory(algorithm, replace(config, max_topics=max_topics), train)

    fits = bisect_right(range(1, config.max_topics), allowed, key=needed_for)
    remedy = f"choose K of at most {fits:,}" if fits > 1 else "use a smaller corpus"
    raise TooMuchMemoryError(f"{said}: {remedy}.")
