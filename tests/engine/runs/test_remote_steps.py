"""Steps whose local steps run elsewhere, with pickled calls in place of a cluster: the results are
the same bits.
"""

import asyncio
import pickle
from dataclasses import replace

import numpy as np
import pytest

from stickbreaker import engine
from stickbreaker.engine import RunSettings
from stickbreaker.engine.algorithms import REGISTRY, find_algorithm
from stickbreaker.engine.corpora.stored import store_corpus
from stickbreaker.engine.executors import shard_spans
from stickbreaker.engine.kernels.counts import FactoredCounts
from stickbreaker.engine.parallel.clusters import ClusterError
from stickbreaker.engine.runs import remote_steps
from stickbreaker.engine.runs.checkpoint import flatten
from stickbreaker.engine.runs.worker_compiler import WorkerCompiler
from tests.engine.algorithms.test_contract import run_worked_example
from tests.small_documents import documents_of, draw_two_topic_counts

DIVIDED = [algorithm for algorithm in REGISTRY if algorithm.step is None]
OWN_STEP = [algorithm for algorithm in REGISTRY if algorithm.step is not None]


class PickledCalls:
    """In place of a cluster: every task, its function and its result are pickled.

    `sent` has the tasks.
    """

    def __init__(self):
        self.sent, self.plugins = [], []

    def map(self, function, payloads, shared=None):
        """The results of the tasks, which are run last to first."""
        function, self.sent = pickle.loads(pickle.dumps(function)), self.sent + list(payloads)
        found = [
            pickle.dumps(function(pickle.loads(pickle.dumps(payload))))
            for payload in reversed(payloads)
        ]
        return [pickle.loads(each) for each in reversed(found)]

    def add_plugin(self, plugin):
        """Note that the only worker has the plugin, which takes the steps of a small run."""
        self.plugins.append(pickle.loads(pickle.dumps(plugin)).name)

    def run_everywhere(self, function, *arguments):
        """The result of the only worker."""
        return {"worker": function(*pickle.loads(pickle.dumps(arguments)))}


@pytest.mark.parametrize("algorithm", DIVIDED, ids=lambda algorithm: algorithm.name)
def test_a_worker_compiles_the_steps_of_every_algorithm(algorithm, caplog):
    steps = []
    counted = replace(
        algorithm, blend=lambda *given: steps.append(given) or algorithm.blend(*given)
    )
    asyncio.run(WorkerCompiler(counted, algorithm.config()).setup(None))
    assert caplog.text == ""
    assert len(steps) >= 2


@pytest.fixture
def cluster(monkeypatch):
    calls = PickledCalls()
    monkeypatch.setattr(remote_steps, "connect", lambda client, find_environment: calls)
    return calls


@pytest.fixture(scope="module")
def corpus():
    counts = draw_two_topic_counts(0, 120)
    words = engine.Vocabulary(tuple(f"word{number}" for number in range(counts.shape[1])))
    return engine.Corpus(
        "two topics", counts, words, np.full(120, "NaT", "datetime64[D]"), [""] * len(counts)
    )


def states(algorithm, corpus, client=None, config=None, **settings):
    """The bytes of all arrays of the states of a run."""
    settings = RunSettings(num_evaluations=0, num_moments=0, score_next_batch=False, **settings)
    config = config or algorithm.config()
    updates = engine.run(engine.prepare(algorithm, config, corpus, settings), client=client)
    return [[array.tobytes() for _, array in flatten("state", update.state)] for update in updates]


@pytest.mark.parametrize("num_shards", [None, 5])
@pytest.mark.parametrize("algorithm", [*DIVIDED, run_worked_example()], ids=lambda each: each.name)
def test_steps_elsewhere_give_the_same_bits(algorithm, num_shards, corpus, cluster):
    settings = {"passes": 3, "num_shards": num_shards}
    assert states(algorithm, corpus, "client", **settings) == states(algorithm, corpus, **settings)
    assert cluster.sent


@pytest.mark.parametrize("concentrations", ["learned", "asymmetric"])
def test_learned_concentrations_are_the_same_bits(concentrations, corpus, cluster):
    lda = find_algorithm("lda")
    config = lda.config(concentrations=concentrations)
    assert states(lda, corpus, "client", config) == states(lda, corpus, None, config)
    if concentrations == "learned":
        hdp = find_algorithm("hdp")
        config = hdp.config(concentrations=concentrations)
        assert states(hdp, corpus, "client", config, passes=3) == states(
            hdp, corpus, None, config, passes=3
        )


def test_a_stored_corpus_is_sent_as_places_and_is_read_from_its_files(corpus, cluster, tmp_path):
    hdp, settings = find_algorithm("hdp"), {"order": "shuffled", "passes": 2}
    stored = store_corpus(corpus, tmp_path / "corpus", shard_documents=50)
    assert states(hdp, stored, "client", **settings) == states(hdp, stored, **settings)
    assert all(task.documents.folder == tmp_path / "corpus" for task in cluster.sent)


def test_a_shard_gets_only_its_words_and_returns_only_what_is_used(corpus, cluster):
    hdp = find_algorithm("hdp")
    states(hdp, corpus, "client", num_shards=30)
    task = cluster.sent[-1]
    words = task.documents.distinct_words()
    assert task.expectations.words.tolist() == words.tolist()
    assert len(task.expectations.topics) == len(words) < corpus.vocab_size
    local = remote_steps.LocalStep(algorithm=hdp, config=engine.resolve(hdp.config(), 110))
    (swept,), (fitted,) = local(cluster.sent[0]).counts, local(task).counts
    assert isinstance(swept, FactoredCounts)
    assert len(swept.topics) == 0
    used = np.diff(fitted.starts) * np.diff(fitted.topic_starts)
    assert (len(fitted.tokens), len(fitted.topic_ids)) == (used.sum(), fitted.topic_starts[-1])


@pytest.mark.parametrize("algorithm", OWN_STEP, ids=lambda each: each.name)
def test_algorithms_with_their_own_step_refuse_a_client(algorithm, corpus, cluster):
    prepared = engine.prepare(algorithm, algorithm.config(), corpus)
    with pytest.raises(
        ValueError, match=f"^{algorithm.title} cannot learn on a cluster.*leave out client"
    ):
        engine.run(prepared, client="client")


def test_a_worker_that_cannot_read_the_corpus_is_named_with_the_path(corpus, cluster, tmp_path):
    stored = store_corpus(corpus, tmp_path / "corpus")
    prepared = engine.prepare(find_algorithm("hdp"), find_algorithm("hdp").config(), stored)
    rows = stored.refer(0, 3)
    other = store_corpus(corpus.order("shuffled"), tmp_path / "other")
    with pytest.raises(engine.CorpusError, match="holds another corpus"):
        rows._replace(folder=other.folder).read()
    (tmp_path / "corpus").rename(tmp_path / "moved")
    rows._replace(folder=tmp_path / "moved").read()
    with pytest.raises(
        ClusterError, match=f"^Worker worker cannot read the corpus.* {tmp_path / 'corpus'}"
    ):
        engine.run(prepared, client="client")


def test_the_number_of_shards_is_part_of_a_run_and_of_its_checkpoint(corpus, tmp_path):
    algorithm = find_algorithm("lda")
    settings = RunSettings(num_shards=3, num_evaluations=0)
    prepared = engine.prepare(algorithm, algorithm.config(), corpus, settings)
    updates = engine.run(prepared, checkpoint=tmp_path / "run.npz")
    next(updates)
    updates.close()
    other = engine.prepare(algorithm, algorithm.config(), corpus, RunSettings(num_evaluations=0))
    with pytest.raises(ValueError, match="written with another"):
        engine.run(other, checkpoint=tmp_path / "run.npz")
    assert len([*engine.run(prepared, checkpoint=tmp_path / "run.npz")]) > 1


def test_there_may_be_more_shards_than_eight_but_not_more_than_documents():
    documents = documents_of(draw_two_topic_counts(1, 60))
    assert len(shard_spans(documents)) == 1
    spans = shard_spans(documents, 30)
    assert 20 < len(spans) <= 30
    assert [first for first, _ in spans[1:]] == [last for _, last in spans[:-1]]
    assert len(shard_spans(documents, 1000)) <= 60


@pytest.mark.parametrize("kind", [engine.OnlineHDP, engine.OnlineLDA])
def test_estimators_fit_with_a_client_and_keep_the_number_of_shards(
    kind, corpus, cluster, tmp_path
):
    model, plain = (kind(num_shards=5, random_state=0) for _ in range(2))
    model.fit(corpus, client="client")
    assert len(cluster.sent) > 2 * len(list(corpus.batches(model.config_.batch_size or 8)))
    assert plain.fit(corpus).components_.tobytes() == model.components_.tobytes()
    model.save(tmp_path / "model.npz")
    assert engine.load(tmp_path / "model.npz").num_shards == 5


def test_an_estimator_without_shards_refuses_a_client(corpus, cluster):
    with pytest.raises(ValueError, match="leave out client"):
        engine.GibbsLDA().fit(corpus, client="client")
