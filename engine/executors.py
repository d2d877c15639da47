"""Runs an algorithm's local steps on threads of this process, since the kernels release the GIL."""

from collections.abc import Callable
from functools import reduce
from itertools import pairwise
from math import isqrt
from operator import add
from typing import Any, TypeVar

import numpy as np

from stickbreaker.engine.algorithm import Algorithm, StepInfo
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.parallel.threads import map_on_threads

Result = TypeVar("Result")
MOST_SHARDS = 8


def shard_spans(documents: Documents, num_shards: int | None = None) -> list[tuple[int, int]]:
    """Spans (first, last) of documents with similar numbers of entries.

    At most `num_shards` of them.

    By default there are 2 for 64 documents, 4 for 256, and 8 for 1,024 or more: each shard has a
    cost, and more shards than threads bring no gain. The spans depend only on the documents and on
    `num_shards`, so that sums are added in the same order, bit for bit, for any number of threads
    and workers.
    """
    num_documents = documents.num_documents
    number = num_shards or max(1, min(MOST_SHARDS, isqrt(num_documents) // 4))
    targets = documents.starts[-1] * np.arange(1, number) / number
    bounds = np.unique([0, *np.searchsorted(documents.starts, targets), num_documents])
    return list(pairwise(bounds.tolist()))


def shard(documents: Documents, num_shards: int | None = None) -> list[Documents]:
    """Split documents into the shards of `shard_spans`."""
    return [documents.cut(first, last) for first, last in shard_spans(documents, num_shards)]


def map_shards(
    function: Callable[[Documents], Result], documents: Documents, num_shards: int | None = None
) -> list[Result]:
    """Apply a function to every shard on threads; the results are in the order of the shards."""
    return map_on_threads(function, shard(documents, num_shards))


def step(
    algorithm: Algorithm,
    config: Any,
    state: Any,
    batch: Batch,
    rng: np.random.Generator | None = None,
    num_shards: int | None = None,
) -> tuple[Any, StepInfo]:
    """Take one step of an algorithm: its own, or expect, local on shards (`shard_spans`), blend.

    Raises ValueError if an algorithm with its own step gets no generator.
    """
    if algorithm.step is not None:
        if rng is None:
            raise ValueError(
                f"Algorithm {algorithm.name!r} draws random numbers: give a generator."
            )
        return algorithm.step(config, state, batch, rng)
    expect, local, blend = algorithm.parts()
    batch = algorithm.learned(config, state, batch)

    def sum_up() -> Any:
        expectations = expect(config, state, batch)
        return reduce(
            add,
            map_shards(
                lambda part: local(config, expectations, part, rng), batch.documents, num_shards
            ),
        )

    # No name here refers to the expectations and the statistics, so that their memory can be freed
    # in `blend`.
    return blend(config, state, sum_up(), batch)
