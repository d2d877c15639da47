"""Topics that a corpus was drawn from are found again, as many as there are.

The corpora are draws from the two-level HDP itself, with the α₀ and η that the algorithms assume by default, so that
what is measured is inference and not the choice of a prior; γ is half the number of topics, which leaves the last of
them some percent of the corpus. Fits are at the defaults but for the passes: twenty of ten mini-batches each take the
rate to a third of one in a pass, so that all documents count alike within a percent, and leave of what the first five
passes said, when topics were still parting, about a thousandth.

A topic is measured by its total variation from the true one, in units of that of the topic re-estimated from the true
assignments of all tokens. 1 is what nobody does better than. 1.5 is allowed: not knowing the assignments has a price,
which the second test shows by beginning at the truth, where 1.1 to 1.4 is usual. So what the first test fails to find
was missed by the start and the search, not by the steps. A topic that was split, merged with another or half learnt
has 2 and more. One topic in ten may miss, since a stick can break off so little that a hundred tokens tell of it.
"""

from functools import cache

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from engine.algorithms import REGISTRY, find_algorithm
from engine.checkpoint import Position
from engine.decayed_counts import decayed_counts
from engine.evaluation import count_topics
from engine.run import run
from engine.settings import RunSettings
from engine.simulate import simulate_hdp

NUM_DOCUMENTS, DOC_LENGTH, VOCAB_SIZE, PASSES = 2500, 100, 2000, 20
LARGEST_RATIO, FOUND_SHARE = 1.5, 0.9
HDPS = [algorithm.name for algorithm in REGISTRY if hasattr(algorithm.config(), "corpus_concentration")]

pytestmark = [
    pytest.mark.parametrize("name", HDPS),
    pytest.mark.parametrize("num_topics", [10, 30]),
    pytest.mark.parametrize("seed", range(3)),
]


@cache
def simulate(num_topics, seed):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(VOCAB_SIZE, 0.01), num_topics)
    return simulate_hdp(topics, NUM_DOCUMENTS, DOC_LENGTH, 1.0, num_topics / 2, rng)


def prepare(name, max_topics, seed):
    """The algorithm, its defaults at that truncation, and settings of a run on all but one document."""
    algorithm = find_algorithm(name)
    settings = RunSettings(
        passes=PASSES, seed=seed, num_test=1, num_evaluations=0, num_snapshots=0, score_next_batch=False
    )
    return algorithm, algorithm.config(max_topics=max_topics), settings


@cache
def fit(name, max_topics, num_topics, seed):
    """The summary at the end of a run over the simulated corpus."""
    algorithm, config, settings = prepare(name, max_topics, seed)
    *_, finished = run(algorithm, config, simulate(num_topics, seed).corpus, settings)
    return algorithm.summarize(config, finished.state)


def fit_from_truth(name, max_topics, num_topics, seed):
    """The same, but that the state is told the truth after the first pass, which a warm-up does not outlast."""
    algorithm, config, settings = prepare(name, max_topics, seed)
    truth = simulate(num_topics, seed)
    events = run(algorithm, config, truth.corpus, settings)
    first = next(event for event in events if event.documents_seen == NUM_DOCUMENTS - settings.num_test)
    told = Position(name, config, settings, put_truth(first.state, truth), first.documents_seen, first.seconds)
    *_, finished = run(algorithm, config, truth.corpus, settings, resume=told)
    return algorithm.summarize(config, finished.state)


def put_truth(state, truth):
    """The state with the truth in its first topics, a table for each document that has the topic, and empty others."""
    num_topics, counts = len(state.tables), truth.topic_words()
    topic_counts = np.zeros((VOCAB_SIZE, num_topics), state.topic_counts.precision)
    topic_counts[:, : len(counts)] = counts.T
    documents = [(truth.assignments == k).any(1).sum() for k in range(len(counts))]
    tables, tokens = (np.pad(each, (0, num_topics - len(counts))).astype(float) for each in (documents, counts.sum(1)))
    return state._replace(topic_counts=decayed_counts(topic_counts), tables=tables, expected_tokens=tokens)


def total_variation(these, those):
    """Between every two rows: (K, V) and (L, V) give (K, L)."""
    return np.array([0.5 * abs(row - those).sum(1) for row in these])


def measure_ratios(found, truth, word_concentration=0.01):
    """Total variation of each topic's match, over that of the topic re-estimated from the true assignments (K,)."""
    counts = truth.topic_words() + word_concentration
    known = counts / counts.sum(1, keepdims=True)
    distances = total_variation(truth.topics, found.astype(float))
    true, matched = linear_sum_assignment(distances)
    return distances[true, matched] / np.diag(total_variation(truth.topics, known))


def check_found(topics, truth):
    ratios = measure_ratios(topics, truth)
    found = (ratios <= LARGEST_RATIO).sum()
    assert found >= FOUND_SHARE * len(ratios), f"{found} of {len(ratios)}: {np.sort(ratios).round(2).tolist()}"


@pytest.mark.parametrize("max_topics", [150, 300])
def test_nine_true_topics_in_ten_are_found_nearly_as_well_as_if_every_assignment_were_known(
    name, max_topics, num_topics, seed
):
    check_found(fit(name, max_topics, num_topics, seed).topics, simulate(num_topics, seed))


def test_a_run_that_is_told_the_truth_after_its_first_pass_keeps_nine_true_topics_in_ten(name, num_topics, seed):
    check_found(fit_from_truth(name, 150, num_topics, seed).topics, simulate(num_topics, seed))


def test_the_number_of_topics_follows_the_truncation_by_less_than_a_tenth(name, num_topics, seed):
    few, many = (count_topics(fit(name, size, num_topics, seed).expected_tokens) for size in (150, 300))
    assert abs(few - many) <= 0.1 * max(few, many), f"{few} topics with K=150, {many} with K=300"
