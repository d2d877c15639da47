"""Where local steps run: on threads of this process, since the kernels release the GIL."""

from collections.abc import Callable
from functools import reduce
from itertools import pairwise
from math import isqrt
from operator import add
from typing import Any

import numpy as np

from stickbreaker.engine.algorithm import Algorithm, StepInfo
from stickbreaker.engine.corpora.corpus import Batch, Documents
from stickbreaker.engine.parallel import map_on_threads

MOST_SHARDS = 8


def shard(documents: Documents) -> list[Documents]:
    """Split documents into runs of about as many entries each: 2 of 64 documents, 4 of 256, 8 of 1,024 and more.

    A run costs something to hand out, and more runs than threads gain nothing. Their number follows the documents
    alone, so that sums are added in the same order, bit for bit, however many threads there are.
    """
    num_documents = len(documents.starts) - 1
    num_shards = max(1, min(MOST_SHARDS, isqrt(num_documents) // 4))
    targets = documents.starts[-1] * np.arange(1, num_shards) / num_shards
    bounds = np.unique([0, *np.searchsorted(documents.starts, targets), num_documents])
    return [documents.cut(first, last) for first, last in pairwise(bounds)]


def map_shards(function: Callable[[Documents], Any], documents: Documents) -> list[Any]:
    """Apply function to every shard on threads; results in the shards' order."""
    return map_on_threads(function, shard(documents))


def step(
    algorithm: Algorithm, config: Any, state: Any, batch: Batch, rng: np.random.Generator | None = None
) -> tuple[Any, StepInfo]:
    """Take one step of an algorithm: its own, or expect, local on shards, blend.

    Raises ValueError if an algorithm with its own step gets no generator.
    """
    if algorithm.step is not None:
        if rng is None:
            raise ValueError(f"Algorithm {algorithm.name!r} draws random numbers: give a generator.")
        return algorithm.step(config, state, batch, rng)
    expect, local, blend = algorithm.parts()
    expectations = expect(config, state, batch)
    parts = map_shards(lambda part: local(config, expectations, part, rng), batch.documents)
    return blend(config, state, reduce(add, parts), batch)
