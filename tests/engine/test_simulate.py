"""Simulated corpora have the moments of the HDP from which they are drawn."""

import numpy as np

from stickbreaker.engine.simulate import break_document_sticks, break_sticks, simulate_hdp

DOC_CONCENTRATION, CORPUS_CONCENTRATION = 2.0, 3.0


def simulate(num_documents=4000, doc_length=2, num_topics=4, seed=0):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(6, 0.5), num_topics)
    return simulate_hdp(
        topics, num_documents, doc_length, DOC_CONCENTRATION, CORPUS_CONCENTRATION, rng
    )


def standard_errors(sample, expected):
    """The distance of the mean of independent rows from its expectation, in standard errors."""
    return abs(sample.mean(0) - expected) / (sample.std(0) / np.sqrt(len(sample)))


def test_a_corpus_contains_exactly_the_drawn_words():
    drawn = simulate(num_documents=20, doc_length=30)
    for j, words in enumerate(drawn.words):
        assert (drawn.corpus.counts[[j]].toarray()[0] == np.bincount(words, minlength=6)).all()
    assert (drawn.topic_words().sum(0) == drawn.corpus.counts.sum(0)).all()
    assert (drawn.topic_words().sum(1) == np.bincount(drawn.assignments.ravel(), minlength=4)).all()


def test_words_follow_their_topics_within_five_standard_errors():
    drawn = simulate(num_documents=2000, doc_length=20)
    for topic, counts in zip(drawn.topics, drawn.topic_words(), strict=True):
        error = np.sqrt(topic * (1 - topic) / counts.sum())
        assert (abs(counts / counts.sum() - topic) <= 5 * error + 1e-12).all()


def test_the_probability_of_a_tokens_topic_is_its_corpus_weight():
    drawn = simulate()
    first = drawn.assignments[:, [0]] == np.arange(4)
    assert (standard_errors(first, drawn.weights) < 5).all()


def test_two_tokens_of_a_document_share_a_topic_with_the_probability_of_the_hdp():
    drawn = simulate()
    by_chance = (drawn.weights**2).sum()
    # They are in one slot with probability 1 / (1 + α₀), and otherwise share a topic by chance.
    expected = by_chance + (1 - by_chance) / (1 + DOC_CONCENTRATION)
    same = drawn.assignments[:, [0]] == drawn.assignments[:, [1]]
    assert (standard_errors(same, expected) < 5).all()


def test_corpus_weights_follow_stick_breaking_and_the_last_topic_takes_the_rest():
    weights = np.array([simulate(1, 1, seed=seed).weights for seed in range(2000)])
    rest = CORPUS_CONCENTRATION / (1 + CORPUS_CONCENTRATION)
    expected = np.array([1 - rest, rest * (1 - rest), rest**2 * (1 - rest), rest**3])
    assert np.allclose(weights.sum(1), 1)
    assert (standard_errors(weights, expected) < 5).all()


def test_one_seed_gives_one_corpus():
    assert (simulate(seed=3).words == simulate(seed=3).words).all()
    assert (simulate(seed=3).words != simulate(seed=4).words).any()


def test_stick_weights_have_their_expected_values_and_sum_to_one():
    rng, gamma, num_draws = np.random.default_rng(0), 3.0, 4000
    weights = np.array([break_sticks(5, gamma, rng) for _ in range(num_draws)])
    expected = (gamma / (1 + gamma)) ** np.arange(4) / (1 + gamma)
    error = weights[:, :4].std(0) / np.sqrt(num_draws)
    assert (abs(weights[:, :4].mean(0) - expected) < 5 * error).all()
    np.testing.assert_allclose(weights.sum(1), 1.0)


def test_doc_shares_have_the_mean_and_variance_of_a_dirichlet_process():
    rng, alpha, num_draws = np.random.default_rng(1), 2.0, 4000
    weights = np.array([0.5, 0.3, 0.15, 0.05])
    shares = np.array(
        [break_document_sticks(weights, 60, alpha, rng).doc_shares for _ in range(num_draws)]
    )
    assert (abs(shares.mean(0) - weights) < 5 * shares.std(0) / np.sqrt(num_draws)).all()
    squares = (shares - weights) ** 2
    variance = weights * (1 - weights) / (1 + alpha)
    assert (abs(squares.mean(0) - variance) < 5 * squares.std(0) / np.sqrt(num_draws)).all()


def test_doc_shares_are_sums_over_the_slots_of_a_topic():
    sticks = break_document_sticks(np.array([0.6, 0.4]), 30, 5.0, np.random.default_rng(2))
    of_first = sum(
        share
        for share, topic in zip(sticks.slot_shares, sticks.slot_topics, strict=True)
        if topic == 0
    )
    np.testing.assert_allclose(sticks.doc_shares, [of_first, 1 - of_first])
