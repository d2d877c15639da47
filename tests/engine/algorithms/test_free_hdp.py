"""The truncation-free HDP: its sampler by enumeration and Geweke's test, new topics, and their
removal.
"""

import numpy as np
import pytest
from scipy.special import logsumexp

from stickbreaker.engine.algorithms import free_hdp
from stickbreaker.engine.algorithms.free_hdp import FreeHDPConfig
from stickbreaker.engine.corpora.documents import Documents
from stickbreaker.engine.inference.truncation_free import (
    REMOVE_EVERY,
    double_columns,
    growing_rate,
)
from stickbreaker.engine.kernels.local_gibbs import draw_shares
from tests import naive_free
from tests.enumeration import DOCUMENTS, VOCAB_SIZE, franchise, probabilities, standard_error
from tests.small_documents import batch_of, documents_of_words
from tests.small_states import growing_state

CONFIG = FreeHDPConfig(
    doc_concentration=0.8,
    corpus_concentration=0.7,
    word_concentration=0.4,
    precision="float64",
    burn_in=2,
)
KNOWN = np.array([[3.0, 0.4, 1.0], [1.0, 2.0, 0.5]])
TABLES = np.array([1.5, 2.5])
NUM_ERRORS = 5


def make_state(counts=KNOWN, tables=TABLES):
    """A state that has topics with these counts (K, V)."""
    return growing_state(counts, tables, documents_seen=2)


NOTHING = make_state(np.zeros((0, VOCAB_SIZE)), np.zeros(0))


def sorted_sticks(state, config=CONFIG):
    """u, v by topic, whose tables must not rise: in the naive code topic k has stick k."""
    prior = free_hdp.prior_of(config, state)
    assert prior.order.tolist() == sorted(prior.order)
    return prior.on, prior.after


def open_chain(state, documents, config=CONFIG):
    """Tokens, topics and prior of a mini-batch, before its first sweep."""
    words = documents.distinct_words()
    return (
        free_hdp.as_tokens(documents.indexed(words)),
        free_hdp.open_topics(config, state, words),
        free_hdp.prior_of(config, state),
    )


def test_without_known_topics_the_enumerated_local_posterior_is_the_hdp_itself():
    states, _ = naive_free.local_posterior(
        DOCUMENTS, np.zeros((0, 3)), (np.zeros(0), np.zeros(0)), 0.8, 0.7, 0.4
    )
    evidence = logsumexp([log_joint for *_, log_joint in franchise(0.8, 0.7, 0.4)])
    assert logsumexp([log_joint for _, log_joint in states]) == pytest.approx(evidence, abs=1e-12)


@pytest.mark.parametrize(
    "state", [NOTHING, make_state(tables=TABLES[::-1])], ids=["no topic", "two topics"]
)
def test_the_frequencies_of_the_sampler_are_those_of_the_enumerated_posterior(state):
    num_known, rng = len(state.topic_ids), np.random.default_rng(4)
    lam = state.topic_counts.dense().T + 0.4
    exact, moments = naive_free.local_posterior(DOCUMENTS, lam, sorted_sticks(state), 0.8, 0.7, 0.4)
    shares = probabilities([log_p for _, log_p in exact])
    usual = {
        z: j for j, ((z, _), share) in enumerate(zip(exact, shares, strict=True)) if share > 1e-3
    }
    seen, values = np.zeros((20_000, len(exact)), bool), np.empty((20_000, 2 + num_known))
    tokens, topics, prior = open_chain(state, documents_of_words(DOCUMENTS))
    draw_shares(topics, prior, rng)
    for number in range(-100, len(seen)):
        topics = free_hdp.make_pass(tokens, topics, prior, rng)
        draw_shares(topics, prior, rng)
        if number >= 0:
            values[number] = topics.tables.sum(), *topics.shares[:num_known], topics.rest[0]
            place = usual.get(naive_free.name_new(tokens.topics, num_known))
            if place is not None:
                seen[number, place] = True
    places = list(usual.values())
    errors = standard_error(seen[:, places])
    assert (abs(seen[:, places].mean(0) - shares[places]) <= NUM_ERRORS * errors).all()
    assert abs(seen[:, places].any(1).mean() - shares[places].sum()) <= NUM_ERRORS * standard_error(
        seen.any(1)
    )
    assert (abs(values.mean(0) - moments) <= NUM_ERRORS * standard_error(values)).all()


def describe(z, x, tables, shares, rest, num_known):
    """Statistics for Geweke's test: of assignments, words, tables and shares."""
    z, x = np.asarray(z), np.asarray(x)
    num_born = len(np.unique(z[z >= num_known]))
    in_first = (z == 0).sum()
    together = (z[0] == z[-1], x[0] == x[-1])
    return [*together, in_first, in_first**2, num_born, num_born**2, tables, shares[0], rest, rest * num_born,
            shares[0] * in_first, (x == 0).sum(), ((x == 0) & (z == 0)).sum(), tables * num_born]  # fmt: skip


def draw_words(z, lam, rng, vocab_size=VOCAB_SIZE):
    """Words given topics, the topics integrated out."""
    held, words = {}, []
    for k in z:
        own = held.setdefault(k, lam[k].copy() if k < len(lam) else np.full(vocab_size, 0.4))
        words.append(int(np.searchsorted(own.cumsum(), rng.random() * own.sum(), side="right")))
        own[words[-1]] += 1
    return words


def draw_jointly(sizes, lam, sticks, b, a, rng):
    """Topics, tables, shares and words forward from the model."""
    on = rng.beta(*sticks)
    shares = list(on * np.append(1.0, np.cumprod(1 - on)[:-1]))
    rest, z, tables, num_known = float(np.prod(1 - on)), [], 0, len(on)
    for size in sizes:
        n = [0] * len(shares)
        for _ in range(size):
            odds = np.append(np.array(n) + b * np.array(shares), b * rest)
            k = int(np.searchsorted(odds.cumsum(), rng.random() * odds.sum(), side="right"))
            if k == len(shares):
                share = rng.beta(1.0, a)
                shares, n, rest = [*shares, share * rest], [*n, 0], (1 - share) * rest
            n[k] += 1
            z.append(k)
        tables += sum(
            naive_free.draw_tables(m, b * share, rng) for m, share in zip(n, shares, strict=True)
        )
    return describe(z, draw_words(z, lam, rng), tables, shares, rest, num_known)


def test_sampling_topics_and_words_in_turn_keeps_the_joint_distribution_of_the_model():
    sizes, state = (5, 4), make_state(tables=TABLES[::-1])
    lam, sticks, b, a = KNOWN + 0.4, sorted_sticks(state), 0.8, 0.7
    rng = np.random.default_rng(11)
    forward = np.array([draw_jointly(sizes, lam, sticks, b, a, rng) for _ in range(4000)], float)
    tokens, topics, prior = open_chain(state, documents_of_words([[0, 0, 1, 2, 2], [0, 1, 1, 2]]))
    draw_shares(topics, prior, rng)
    chain = np.empty((12_000, forward.shape[1]))
    for number in range(-100, len(chain)):
        topics = free_hdp.make_pass(tokens, topics, prior, rng)
        draw_shares(topics, prior, rng)
        tokens.words[:] = draw_words(tokens.topics.tolist(), lam, rng)
        topics.words[:] = 0.4
        topics.words[:, :2] = lam.T
        np.add.at(topics.words, (tokens.words, tokens.topics), 1)
        if number >= 0:
            drawn = topics.tables.sum(), topics.shares, topics.rest[0]
            chain[number] = describe(tokens.topics, tokens.words, *drawn, len(lam))
    errors = np.hypot(standard_error(chain), forward.std(0) / np.sqrt(len(forward)))
    assert (abs(chain.mean(0) - forward.mean(0)) <= NUM_ERRORS * errors).all()


def test_a_sweep_equals_its_naive_twin_draw_by_draw():
    rng, lists = np.random.default_rng(0), [[0, 0, 1, 2, 2, 1], [2, 1], [0] * 9]
    state = make_state()
    tokens, topics, prior = open_chain(state, documents_of_words(lists))
    lists = [
        tokens.words[first:last].tolist()
        for first, last in zip(tokens.starts, tokens.starts[1:], strict=False)
    ]
    lam = np.full((len(topics.totals), VOCAB_SIZE), 0.4)
    lam[:2] += KNOWN
    draw_shares(topics, prior, rng)
    model = {
        "shares": topics.shares.copy(),
        "rest": topics.rest[0],
        "b": 0.8,
        "a": 0.7,
        "num_known": 2,
    }
    z = [[-1] * len(words) for words in lists]
    for number in range(20):
        topics.tables[:] = 0
        rng = np.random.default_rng(number)
        twin = np.random.default_rng(number)
        free_hdp.sample_documents(tokens, topics, prior, 0, free_hdp.LOG_STIRLING, rng)
        tables = naive_free.sample_documents(lists, z, lam, model, twin)
        assert tokens.topics.tolist() == [k for own in z for k in own]
        assert topics.tables.tolist() == tables.tolist()
        np.testing.assert_allclose(topics.shares, model["shares"], rtol=1e-9)


def test_a_sweep_that_runs_out_of_columns_continues_where_it_stopped(monkeypatch):
    config = FreeHDPConfig(doc_concentration=1e5, corpus_concentration=1e5, word_concentration=0.4)
    ends = []
    for room in (1, 150):
        monkeypatch.setattr(free_hdp, "FIRST_ROOM", room)
        tokens, topics, prior = open_chain(
            NOTHING, documents_of_words([[0, 1, 2] * 15] * 2), config
        )
        rng = np.random.default_rng(0)
        draw_shares(topics, prior, rng)
        for _ in range(3):
            topics = free_hdp.make_pass(tokens, topics, prior, rng)
            draw_shares(topics, prior, rng)
        ends.append(tokens.topics)
    assert ends[0].max() > 2 * free_hdp.BLOCK
    np.testing.assert_array_equal(*ends)


def make_batch(lists, corpus_size):
    return batch_of(documents_of_words(lists), corpus_size)


def test_the_rate_is_one_over_the_number_of_mini_batches_so_far_and_at_least_that_of_a_pass():
    state, rates = free_hdp.init(CONFIG, 3, None), []
    for number in range(5):
        state, info = free_hdp.step(
            CONFIG, state, make_batch([[0, 1], [2]], 6), np.random.default_rng(number)
        )
        rates.append(info.learning_rate)
    assert rates == [1.0, 1 / 2, 1 / 3, 1 / 3, 1 / 3]
    assert growing_rate(10, 10, 5) == 1.0


def test_counts_move_towards_d_over_s_times_those_of_the_mini_batch():
    state = free_hdp.init(CONFIG, 3, None)
    first, _ = free_hdp.step(
        CONFIG, state, make_batch([[0, 1, 1], [2]], 100), np.random.default_rng(0)
    )
    assert first.expected_tokens.sum() == pytest.approx(4 * 50)
    assert first.topic_counts.dense().sum(1) == pytest.approx([50, 100, 50])
    second, _ = free_hdp.step(
        CONFIG, first, make_batch([[0, 0], [0]], 100), np.random.default_rng(1)
    )
    assert second.topic_counts.dense().sum(1) == pytest.approx([25 + 75, 50, 25])
    assert second.topic_counts.totals == pytest.approx(second.expected_tokens)
    assert second.tables.sum() >= 50


def test_documents_of_a_mini_batch_share_new_topics_which_keep_their_ids():
    rng, state = np.random.default_rng(0), free_hdp.init(FreeHDPConfig(), 30, None)
    lists = [list(range(10 * (j % 3), 10 * (j % 3) + 10)) * 3 for j in range(24)]
    for number in range(4):
        before = state
        state, _ = free_hdp.step(FreeHDPConfig(burn_in=20), before, make_batch(lists, 240), rng)
        assert state.topic_ids[: len(before.topic_ids)].tolist() == before.topic_ids.tolist()
        if number == 0:
            # With one topic for each document there would be 24.
            assert 3 <= (state.expected_tokens > 0.01 * state.expected_tokens.sum()).sum() <= 6
    assert len(np.unique(state.topic_ids)) == len(state.topic_ids)


def test_topics_below_one_token_are_removed_every_twenty_thousand_documents():
    counts = np.array([[50.0, 0.0, 3.0], [0.2, 0.1, 0.0], [0.0, 30.0, 9.0]])
    state = make_state(counts, np.array([5.0, 0.1, 4.0]))._replace(documents_seen=REMOVE_EVERY - 1)
    after, _ = free_hdp.step(CONFIG, state, make_batch([[0]], 1_000_000), np.random.default_rng(0))
    assert after.topic_ids[:2].tolist() == [0, 2]
    assert after.next_id >= 3
    np.testing.assert_array_equal(
        free_hdp.ALGORITHM.word_topics(CONFIG, after, np.array([1]))[0], after.topic_ids
    )
    np.testing.assert_allclose(
        after.topic_counts.dense()[1:, :2], counts[[0, 2]][:, 1:].T, rtol=1e-3
    )
    kept, _ = free_hdp.step(
        CONFIG, state._replace(documents_seen=5), make_batch([[0]], 6), np.random.default_rng(0)
    )
    assert kept.topic_ids[:3].tolist() == [0, 1, 2]


def test_a_word_with_more_tokens_than_parts_keeps_all_its_tokens():
    documents = Documents(
        np.array([0, 1, 3]), np.array([0, 0, 2], np.int32), np.array([5, 2**31 - 1, 1001], np.int32)
    )
    tokens = free_hdp.as_tokens(documents)
    assert tokens.starts.tolist() == [0, 5, 2005]
    sums = [
        tokens.sizes[first:last].sum()
        for first, last in zip([0, 5, 1005], [5, 1005, 2005], strict=True)
    ]
    assert sums == [5, 2**31 - 1, 1001]
    assert np.ptp(tokens.sizes[5:1005]) <= 1


def test_room_for_new_topics_is_columns_of_the_prior_and_keeps_all_else():
    state = make_state(np.array([[50.0, 0.0, 3.0]]), np.array([5.0]))
    prior = free_hdp.prior_of(CONFIG, state)
    topics = free_hdp.open_topics(CONFIG, state, np.array([0, 2]))
    num_columns = len(topics.totals)
    wider = double_columns(topics, prior)
    for old, new in zip(topics, wider, strict=True):
        np.testing.assert_array_equal(new[..., :num_columns], old)
    assert (wider.words[:, num_columns:] == CONFIG.word_concentration).all()
    assert (wider.totals[num_columns:] == 3 * CONFIG.word_concentration).all()
    assert not np.array([wider.tokens, wider.tables, wider.shares, wider.is_counted])[
        :, num_columns:
    ].any()
    assert (len(wider.totals), wider.rest.tolist()) == (2 * num_columns, [1.0])
