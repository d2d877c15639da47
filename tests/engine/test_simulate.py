"""Simulated corpora have the moments of the HDP they are drawn from."""

import numpy as np

from stickbreaker.engine.simulate import break_document_sticks, break_sticks, simulate_hdp

DOC_CONCENTRATION, CORPUS_CONCENTRATION = 2.0, 3.0


def simulate(num_documents=4000, doc_length=2, num_topics=4, seed=0):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(6, 0.5), num_topics)
    return simulate_hdp(topics, num_documents, doc_length, DOC_CONCENTRATION, CORPUS_CONCENTRATION, rng)


def standard_errors(sample, expected):
    """How many standard errors the mean of independent rows is from what is expected."""
    return abs(sample.mean(0) - expected) / (sample.std(0) / np.sqrt(len(sample)))


def test_a_corpus_holds_exactly_the_words_that_were_drawn():
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


def test_a_token_has_a_topic_with_the_corpus_weight_of_that_topic():
    drawn = simulate()
    first = drawn.assignments[:, [0]] == np.arange(4)
    assert (standard_errors(first, drawn.weights) < 5).all()


def test_two_tokens_of_a_document_share_a_topic_as_often_as_one_stick_over_the_other_says():
    drawn = simulate()
    by_chance = (drawn.weights**2).sum()
    # They sit in one slot with probability 1 / (1 + α₀), else meet by chance.
    expected = by_chance + (1 - by_chance) / (1 + DOC_CONCENTRATION)
    same = drawn.assignments[:, [0]] == drawn.assignments[:, [1]]
    assert (standard_errors(same, expected) < 5).all()


def test_corpus_weights_are_broken_off_a_stick_whose_rest_is_the_last_topic():
    weights = np.array([simulate(1, 1, seed=seed).weights for seed in range(2000)])
    rest = CORPUS_CONCENTRATION / (1 + CORPUS_CONCENTRATION)
    expected = np.array([1 - rest, rest * (1 - rest), rest**2 * (1 - rest), rest**3])
    assert np.allclose(weights.sum(1), 1)
    assert (standard_errors(weights, expected) < 5).all()


def test_one_seed_gives_one_corpus():
    assert (simulate(seed=3).words == simulate(seed=3).words).all()
    assert (simulate(seed=3).words != simulate(seed=4).words).any()


def test_the_first_stick_takes_one_over_one_plus_gamma_on_average_and_all_sum_to_one():
    rng, gamma, num_draws = np.random.default_rng(0), 3.0, 4000
    weights = np.array([break_sticks(5, gamma, rng) for _ in range(num_draws)])
    expected = (gamma / (1 + gamma)) ** np.arange(4) / (1 + gamma)
    error = weights[:, :4].std(0) / np.sqrt(num_draws)
    assert (abs(weights[:, :4].mean(0) - expected) < 5 * error).all()
    np.testing.assert_allclose(weights.sum(1), 1.0)


def test_shares_of_a_document_have_the_corpus_weights_as_mean_and_the_variance_of_a_dirichlet_process():
    rng, alpha, num_draws = np.random.default_rng(1), 2.0, 4000
    weights = np.array([0.5, 0.3, 0.15, 0.05])
    shares = np.array([break_document_sticks(weights, 60, alpha, rng).doc_shares for _ in range(num_draws)])
    assert (abs(shares.mean(0) - weights) < 5 * shares.std(0) / np.sqrt(num_draws)).all()
    squares = (shares - weights) ** 2
    variance = weights * (1 - weights) / (1 + alpha)
    assert (abs(squares.mean(0) - variance) < 5 * squares.std(0) / np.sqrt(num_draws)).all()


def test_the_shares_of_a_document_are_sums_over_the_slots_that_hold_a_topic():
    sticks = break_document_sticks(np.array([0.6, 0.4]), 30, 5.0, np.random.default_rng(2))
    of_first = sum(share for share, topic in zip(sticks.slot_shares, sticks.slot_topics, strict=True) if topic == 0)
    np.testing.assert_allclose(sticks.doc_shares, [of_first, 1 - of_first])
