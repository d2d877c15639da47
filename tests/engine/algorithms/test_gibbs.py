"""The Gibbs samplers against their naive twin and enumeration, and their state from sweep to sweep.

The recovery tier tests the joint distribution of all conditionals, with those of the
concentrations.
"""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from stickbreaker.engine.algorithms import gibbs_hdp, gibbs_lda
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.inference import gibbs as sampled
from stickbreaker.engine.kernels.gibbs import TopicPool, draw_doc_tables, sample_tokens
from stickbreaker.engine.runs.checkpoint import flatten
from tests import enumeration, naive_free
from tests.enumeration import (
    franchise,
    log_assignments,
    log_words,
    probabilities,
    relabel,
    standard_error,
)
from tests.naive_gibbs import Sampler
from tests.small_documents import batch_of, documents_of, documents_of_words

ALGORITHMS = [pytest.param(each, id=each.ALGORITHM.name) for each in (gibbs_hdp, gibbs_lda)]
FIVE_TOKENS = batch_of(documents_of_words(enumeration.DOCUMENTS))


def draw_documents(rng, num_documents=6, vocab_size=7):
    """Small documents, some of them empty."""
    counts = rng.integers(0, 4, (num_documents, vocab_size))
    return documents_of(counts * (rng.random((num_documents, 1)) < 0.9))


@pytest.mark.parametrize("is_growing", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_a_sweep_draws_the_topics_that_its_naive_twin_draws(seed, is_growing):
    rng = np.random.default_rng(seed)
    documents, vocab_size, size = draw_documents(rng), 7, 4
    doc_sizes = sampled.count_tokens(documents)
    topics = rng.integers(0, size, doc_sizes.sum(), dtype=np.int32)
    weights = rng.dirichlet(np.ones(size + is_growing))
    weights, unused = weights[:size], weights[size:].sum()
    rows = np.repeat(np.arange(len(doc_sizes)), doc_sizes)
    words = np.repeat(documents.words, documents.counts)
    twin = Sampler(zip(rows, words, topics, strict=True), vocab_size, weights, unused, is_growing)
    layout = sampled.arrange_tokens(documents, doc_sizes, topics, vocab_size, size)
    pool = TopicPool(
        np.arange(size), np.bincount(topics, minlength=size), weights, unused, size, is_growing
    )
    ours, theirs = np.random.default_rng(seed), np.random.default_rng(seed)
    for _ in range(3):
        pool = sample_tokens(ours, layout, pool, 3.0, 2.0, 0.5)
        twin.sweep(theirs, 3.0, 2.0, 0.5)
        by_word = np.lexsort((np.arange(len(rows)), rows, words))
        assert layout.topics.tolist() == [twin.tokens[i][2] for i in by_word]
        assert pool.topic_ids[layout.topics].tolist() == [
            twin.ids[twin.tokens[i][2]] for i in by_word
        ]
        np.testing.assert_allclose(pool.weights[: len(twin.weights)], twin.weights, rtol=1e-12)
        assert pool.unused_weight == pytest.approx(twin.unused, rel=1e-12)
        pool = begin_next_sweep(pool, twin)


def begin_next_sweep(pool, twin):
    """Places of topics without tokens are free only until the end of a sweep."""
    twin.free.clear()
    size = len(twin.weights)
    return pool._replace(
        topic_ids=pool.topic_ids[:size], tokens=pool.tokens[:size], weights=pool.weights[:size]
    )


@pytest.mark.parametrize("concentration", [0.05, 0.8, 20.0])
def test_table_counts_have_the_distribution_of_antoniak(concentration):
    for num_tokens in (1, 2, 6):
        documents = Documents(
            np.arange(4001), np.zeros(4000, np.int32), np.full(4000, num_tokens, np.int32)
        )
        doc_sizes = sampled.count_tokens(documents)
        layout = sampled.arrange_tokens(
            documents, doc_sizes, np.zeros(doc_sizes.sum(), np.int32), 1, 1
        )
        rng, draws = np.random.default_rng(0), np.zeros(num_tokens + 1)
        for row in range(4000):
            one = layout._replace(
                doc_starts=layout.doc_starts[row : row + 1], doc_sizes=layout.doc_sizes[:1]
            )
            tables = np.zeros(1, np.int64)
            draw_doc_tables(rng, one, np.array([concentration]), tables)
            draws[tables[0]] += 1
        exact = np.append(0.0, naive_free.table_odds(num_tokens, concentration))
        error = np.sqrt(exact * (1 - exact) / 4000)
        assert (abs(draws / 4000 - exact) <= 5 * error).all()


def sample_chain(module, config, batch, num_sweeps, read, num_discarded=100):
    """`read(state)` of each state after the discarded ones."""
    rng = np.random.default_rng(0)
    state, found = module.init(config, enumeration.VOCAB_SIZE, rng), []
    for sweep in range(num_sweeps + num_discarded):
        state, _ = module.step(config, state, batch, rng)
        if sweep >= num_discarded:
            found.append(read(state))
    return found


def assert_frequencies(found, exact, num_errors=5):
    """Frequencies are within this number of standard errors of the probabilities."""
    outcomes = sorted(exact)
    assert set(found) <= set(outcomes)
    places = {outcome: place for place, outcome in enumerate(outcomes)}
    hits = np.eye(len(outcomes))[[places[each] for each in found]]
    expected = np.array([exact[outcome] for outcome in outcomes])
    error = np.maximum(standard_error(hits), np.sqrt(expected * (1 - expected) / len(found)))
    distance = abs(hits.mean(0) - expected) / error
    assert distance.max() <= num_errors, (
        f"{outcomes[distance.argmax()]}: {distance.max():.1f} standard errors off"
    )


@pytest.mark.parametrize("initial_topics", [1, 4])
def test_topics_of_five_tokens_and_their_tables_have_the_enumerated_frequencies(initial_topics):
    config = gibbs_hdp.GibbsHDPConfig(
        initial_topics=initial_topics,
        concentrations="fixed",
        doc_concentration=0.9,
        corpus_concentration=1.3,
        word_concentration=0.4,
        burn_in=10**6,
    )
    states, exact = franchise(0.9, 1.3, 0.4), Counter()
    shares = probabilities([log_joint for *_, log_joint in states])
    for (served, num_tables, _), share in zip(states, shares, strict=True):
        exact[relabel(served), num_tables] += share
    found = sample_chain(
        gibbs_hdp,
        config,
        FIVE_TOKENS,
        12_000,
        lambda state: (relabel(state.assignments.topics), int(state.tables.sum())),
    )
    assert_frequencies(found, exact)


def test_topics_of_five_tokens_under_lda_have_the_enumerated_frequencies():
    config = gibbs_lda.GibbsLDAConfig(
        max_topics=2, doc_concentration=0.9, word_concentration=0.4, burn_in=10**6
    )
    logs = {}
    for served in np.ndindex((2,) * 5):
        log_shares = sum(log_assignments(own, np.full(2, 0.45)) for own in (served[:3], served[3:]))
        logs[served] = log_shares + log_words(served, 0.4)
    exact = dict(zip(logs, probabilities(list(logs.values())), strict=True))
    found = sample_chain(
        gibbs_lda,
        config,
        FIVE_TOKENS,
        12_000,
        lambda state: tuple(int(k) for k in state.assignments.topics),
    )
    assert_frequencies(found, exact)


def learn(module, config, batch, num_steps, vocab_size=7, seed=0):
    """The first state, and the state after each step."""
    states = [module.init(config, vocab_size, np.random.default_rng([seed, 0]))]
    for number in range(1, num_steps + 1):
        states.append(
            module.step(config, states[-1], batch, np.random.default_rng([seed, number]))[0]
        )
    return states


def test_topic_ids_ascend_and_are_never_used_for_another_topic():
    config = gibbs_hdp.GibbsHDPConfig(
        initial_topics=3, word_concentration=0.05, corpus_shape=300.0, corpus_rate=10.0
    )
    states = learn(gibbs_hdp, config, batch_of(draw_documents(np.random.default_rng(0))), 60)
    dead, num_births = set(), 0
    for before, after in pairwise(states[1:]):
        old, new = set(before.topic_ids.tolist()), set(after.topic_ids.tolist())
        assert after.topic_ids.tolist() == sorted(new)
        assert not new & dead
        assert all(before.next_id <= born < after.next_id for born in new - old)
        dead |= old - new
        num_births += len(new - old)
    assert num_births > 10
    assert len(dead) > 10


def test_counts_weights_and_tables_agree_with_the_topics_of_tokens():
    documents = draw_documents(np.random.default_rng(1))
    rows = np.repeat(np.arange(6), sampled.count_tokens(documents))
    words = np.repeat(documents.words, documents.counts)
    for state in learn(
        gibbs_hdp, gibbs_hdp.GibbsHDPConfig(initial_topics=5), batch_of(documents), 20
    )[1:]:
        topics, size = state.assignments.topics, len(state.topic_ids)
        counted = np.zeros((7, size), int)
        np.add.at(counted, (words, topics), 1)
        assert (state.assignments.topic_words == counted).all()
        assert (state.expected_tokens == counted.sum(0)).all()
        assert (state.expected_tokens > 0).all()
        in_documents = np.array([len(np.unique(rows[topics == k])) for k in range(size)])
        assert (state.tables >= in_documents).all()
        assert (state.tables <= state.expected_tokens).all()
        assert state.weights.sum() + state.unused_weight == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("module", ALGORITHMS)
def test_known_documents_keep_their_topics_next_to_new_ones_and_in_another_order(module):
    config, rng = module.ALGORITHM.config(), np.random.default_rng(2)
    documents = draw_documents(rng, num_documents=4)
    state = learn(module, config, batch_of(documents)._replace(doc_ids=np.arange(10, 14)), 2)[-1]
    others = draw_documents(rng, num_documents=2)
    sizes, other_sizes = sampled.count_tokens(documents), sampled.count_tokens(others)
    batch = Batch(np.array([3, 4, 10, 11, 12, 13]), others.followed_by(documents), 6)
    doc_sizes, topics = sampled.resolve_assignments(
        state.assignments, batch, len(state.expected_tokens), rng
    )
    assert doc_sizes.tolist() == [*other_sizes, *sizes]
    assert topics[other_sizes.sum() :].tolist() == state.assignments.topics.tolist()


@pytest.mark.parametrize("module", ALGORITHMS)
def test_topics_are_averaged_over_the_samples_after_the_burn_in(module):
    config = module.ALGORITHM.config(
        burn_in=4, sample_every=3, **{"initial_topics": 1} if module is gibbs_hdp else {}
    )
    states = learn(module, config, batch_of(draw_documents(np.random.default_rng(3))), 13)
    assert all(not len(state.averages.topics) for state in states[:7])
    present = np.isin(final_ids(module, states[-1]), final_ids(module, states[7]))
    own = [
        np.isin(final_ids(module, states[at]), final_ids(module, states[-1])[present])
        for at in (7, 10, 13)
    ]
    samples = []
    for at, is_own in zip((7, 10, 13), own, strict=True):
        counts = states[at].assignments.topic_words[:, is_own] + config.word_concentration
        samples.append(counts / counts.sum(0))
    assert states[-1].averages.num_samples[present].tolist() == [3] * present.sum()
    topics = module.summarize(config, states[-1]).topics[present]
    np.testing.assert_allclose(topics.T, np.mean(samples, 0), rtol=1e-5)


def final_ids(module, state):
    return module.summarize(module.ALGORITHM.config(), state).topic_ids


@pytest.mark.parametrize("module", ALGORITHMS)
def test_predictions_within_documents_follow_equation_17_and_sum_to_one_over_the_vocabulary(module):
    config = module.ALGORITHM.config(word_concentration=0.3)
    documents = draw_documents(np.random.default_rng(4))
    state = learn(module, config, batch_of(documents), 3)[-1]
    rows, words = np.repeat(np.arange(6), 7), np.tile(np.arange(7), 6)
    predicted = module.predict_words(config, state, rows, words)
    np.testing.assert_allclose(predicted.reshape(6, 7).sum(1), 1.0, rtol=1e-12)
    alpha, counts = state.doc_concentration, state.assignments.topic_words
    if module is gibbs_hdp:
        prior, unborn = alpha * state.weights, alpha * state.unused_weight
    else:
        prior, unborn = np.full(config.max_topics, alpha / config.max_topics), 0.0
    starts = np.append(0, state.assignments.doc_sizes.cumsum())
    for row, word, p in zip(rows, words, predicted, strict=True):
        own = state.assignments.topics[starts[row] : starts[row + 1]]
        shares = np.bincount(own, minlength=len(prior)) + prior
        topics = (counts[word] + 0.3) / (counts.sum(0) + 7 * 0.3)
        assert p == pytest.approx((shares @ topics + unborn / 7) / (alpha + len(own)), rel=1e-12)


@pytest.mark.parametrize("module", ALGORITHMS)
def test_a_state_is_at_most_as_large_as_estimated(module, state_of_the_union):
    batch = next(state_of_the_union.select(np.arange(500)).batches(500))
    config = module.ALGORITHM.config(burn_in=0, sample_every=1)
    state = learn(module, config, batch, 2, state_of_the_union.vocab_size)[-1]
    held = sum(np.asarray(value).nbytes for _, value in flatten("state", state))
    said = module.memory(config, batch.documents)
    assert held <= said <= 20 * held


def test_a_corpus_with_too_many_tokens_is_rejected():
    documents = Documents(
        np.array([0, 2]), np.array([0, 1], np.int32), np.full(2, 2**31 - 1, np.int32)
    )
    with pytest.raises(CorpusError, match="4294967294 tokens.*at most 2147483647"):
        gibbs_lda.step(
            gibbs_lda.GibbsLDAConfig(),
            gibbs_lda.init(gibbs_lda.GibbsLDAConfig(), 2, None),
            batch_of(documents),
            np.random.default_rng(0),
        )
