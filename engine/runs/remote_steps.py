"""Steps of a run whose local steps are computed by the workers of a Dask cluster
(`engine.parallel.clusters`).

λ stays in this process. A worker receives the expectations for the words of one shard of the
mini-batch, and either the places of its documents in a stored corpus, which the worker maps, or the
documents of a corpus in memory. The shards are those of `executors.shard_spans`, and their
statistics are added in their order, so that the number of workers, and which of them computes what,
never changes a result.
"""

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from stickbreaker.engine.algorithm import Algorithm, StepInfo
from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.corpora.on_workers import check_corpus, read_rows
from stickbreaker.engine.corpora.stored import StoredCorpus, StoredRows
from stickbreaker.engine.executors import shard_spans
from stickbreaker.engine.parallel.clusters import connect
from stickbreaker.engine.runs.prepared import Prepared
from stickbreaker.engine.versions import find_environment


class ShardTask(NamedTuple):
    """What a worker needs for one shard: expectations for its words, and its documents or their
    places on disk.

    learned: (n,) places of the documents that it learns from, among these.
    """

    expectations: Any
    documents: Documents | StoredRows
    learned: np.ndarray


@dataclass(frozen=True)
class LocalStep:
    """The local step that a worker computes, and its config."""

    algorithm: Algorithm
    config: Any

    def __call__(self, task: ShardTask) -> Any:
        """The statistics of a shard, as they are sent back."""
        _, local, _ = self.algorithm.parts()
        documents = read_documents(task.documents).select(task.learned)
        statistics = local(self.config, fit_for_kernels(task.expectations), documents, None)
        return self.algorithm.transfer.trim(statistics)


class RemoteSteps:
    """Takes the steps of a run on a Dask cluster, whose workers compile what the steps need.

    Raises ValueError if the algorithm has a step of its own, and ClusterError if a worker cannot
    read the corpus, or has other versions or another processor than this process.
    """

    def __init__(self, client: Any, prepared: Prepared) -> None:
        algorithm = prepared.algorithm
        train = prepared.train
        if algorithm.step is not None:
            raise ValueError(
                f"{algorithm.title} cannot learn on a cluster, because its steps cannot be divided"
                " into shards: leave out client."
            )
        self._cluster = connect(client, find_environment)
        check_corpus(self._cluster, train)
        self._algorithm = algorithm
        self._train = train
        # Dask is imported only by those who have a client.
        from stickbreaker.engine.runs.worker_compiler import WorkerCompiler

        self._cluster.add_plugin(WorkerCompiler(algorithm, prepared.config))

    def step(
        self, config: Any, state: Any, batch: Batch, first: int, num_shards: int | None
    ) -> tuple[Any, StepInfo]:
        """Take one step; first: the place in the corpus of the batch's first document."""
        expect, _, blend = self._algorithm.parts()
        all_ids = batch.doc_ids
        batch = self._algorithm.learned(config, state, batch)
        positions = first + np.flatnonzero(np.isin(all_ids, batch.doc_ids))
        expectations = expect(config, state, batch)
        tasks, places = self.divide(expectations, batch, positions, num_shards)
        parts = self._cluster.map(LocalStep(algorithm=self._algorithm, config=config), tasks)
        widened = [
            self._algorithm.transfer.widen(fit_for_kernels(part), expectations, own)
            for part, own in zip(parts, places, strict=True)
        ]
        return blend(config, state, reduce(add, widened), batch)

    def divide(
        self, expectations: Any, batch: Batch, positions: np.ndarray, num_shards: int | None
    ) -> tuple[list[ShardTask], list[np.ndarray]]:
        """The task of each shard, and the places (u,) of its words among those of the batch.

        positions: (S,) of the batch's documents in the corpus, ascending.
        """
        words = batch.documents.distinct_words()
        tasks = []
        places = []
        for start, stop in shard_spans(batch.documents, num_shards):
            documents = batch.documents.cut(start, stop)
            own = np.searchsorted(words, documents.distinct_words())
            narrowed = self._algorithm.transfer.narrow(expectations, own)
            place, learned = refer_to(self._train, positions[start:stop], documents)
            tasks.append(ShardTask(expectations=narrowed, documents=place, learned=learned))
            places.append(own)
        return tasks, places


def refer_to(
    corpus: Corpus, positions: np.ndarray, documents: Documents
) -> tuple[Documents | StoredRows, np.ndarray]:
    """What another process needs to read documents at some positions of a corpus, and their places
    (n,) in that.

    It is a span of places on disk, or the documents themselves.
    """
    if isinstance(corpus, StoredCorpus):
        return corpus.refer(int(positions[0]), int(positions[-1]) + 1), positions - positions[0]
    return documents, np.arange(len(positions))


def read_documents(given: Documents | StoredRows) -> Documents:
    """The documents, on a worker; ClusterError names the worker if it cannot read them."""
    return given if isinstance(given, Documents) else read_rows(given)


def fit_for_kernels(value: Any) -> Any:
    """Nested named tuples with writable, aligned arrays, as kernels are compiled for."""
    if isinstance(value, np.ndarray):
        return np.require(value, requirements=("A", "W"))
    if isinstance(value, tuple):
        parts = map(fit_for_kernels, value)
        return tuple(parts) if type(value) is tuple else type(value)(*parts)
    return value
