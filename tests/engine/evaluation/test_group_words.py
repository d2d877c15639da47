"""Words by group: against the formula by hand, groups drawn at random and planted words."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from stickbreaker.engine.corpora.documents import Documents
from stickbreaker.engine.evaluation.group_shares import Groups
from stickbreaker.engine.evaluation.group_words import (
    OTHERS,
    compare_words,
    topic_tokens,
    word_frame,
)

NUM_TEXTS, NUM_WORDS = 300, 100
TOPIC = np.arange(2, NUM_WORDS + 2) / np.arange(2, NUM_WORDS + 2).sum()


def draw_texts(rng, topics, bursty=False):
    """Tokens of each text, of 100 to 300 tokens; bursty: each repeats its own words."""
    if bursty:
        topics = np.array([rng.dirichlet(60 * topic) for topic in topics])
    return csr_array(rng.multinomial(rng.integers(100, 300, len(topics)), topics).astype(float))


def test_expected_tokens_of_all_topics_are_the_counts_and_of_one_bayes_rule():
    rng = np.random.default_rng(0)
    counts = csr_array(rng.poisson(1.0, (5, 8)))
    documents = Documents(
        starts=counts.indptr.astype(np.int64),
        words=counts.indices.astype(np.int32),
        counts=counts.data.astype(np.int32),
    )
    shares = rng.dirichlet(np.ones(3), 5)
    topics = rng.dirichlet(np.ones(8), 3).astype(np.float32)
    found = [topic_tokens(documents, shares, topics, k).toarray() for k in range(3)]
    np.testing.assert_allclose(sum(found), counts.toarray(), rtol=1e-6)
    by_rule = shares[:, [1]] * topics[1] / (shares @ topics) * counts.toarray()
    np.testing.assert_allclose(found[1], by_rule, rtol=1e-6)


def test_of_poisson_counts_z_is_that_of_the_paper():
    # Two equal texts in each group: words do not spread over texts, so c is 1.
    counts = np.array([[6.0, 2.0, 2.0], [6.0, 2.0, 2.0], [3.0, 5.0, 2.0], [3.0, 5.0, 2.0]])
    topic = np.array([0.5, 0.3, 0.2])
    found = compare_words(csr_array(counts), np.array([0, 0, 1, 1], bool), topic, 10.0)
    first, second = counts[:2].sum(0) + 10 * topic, counts[2:].sum(0) + 10 * topic
    delta = np.log(first / (30 - first)) - np.log(second / (30 - second))
    np.testing.assert_allclose(found.log_odds, delta)
    np.testing.assert_allclose(found.z, delta / np.sqrt(1 / first + 1 / second))


@pytest.mark.parametrize("bursty", [False, True])
def test_between_groups_drawn_at_random_z_exceeds_1_96_for_5_percent_of_words(bursty):
    rng = np.random.default_rng(1)
    rates = []
    for _ in range(40):
        tokens = draw_texts(rng, np.tile(TOPIC, (NUM_TEXTS, 1)), bursty)
        found = compare_words(tokens, rng.random(NUM_TEXTS) < 0.3, TOPIC)
        rates.append(np.mean(np.abs(found.z) > 1.96))
    # Words of one draw of groups are dependent: the error is that of the mean over draws.
    error = np.std(rates) / np.sqrt(len(rates))
    assert np.mean(rates) == pytest.approx(0.05, abs=0.01 + 3 * error)


def test_planted_words_come_first_and_last():
    rng = np.random.default_rng(2)
    topics = np.tile(TOPIC, (NUM_TEXTS, 1))
    of_text = rng.integers(0, 3, NUM_TEXTS)
    topics[np.ix_(of_text == 0, [20, 50])] *= 3
    topics[np.ix_(of_text == 1, [30])] *= 3
    tokens = draw_texts(rng, topics / topics.sum(1, keepdims=True), bursty=True)
    groups = Groups(of_text, ("Whigs", "Tories", "Others"), np.arange(NUM_TEXTS))
    words = [f"w{word}" for word in range(NUM_WORDS)]
    frame = word_frame(tokens, groups, ("Whigs", "Tories"), TOPIC, words)
    assert set(frame["word"][:2]) == {"w20", "w50"}
    assert frame["word"].iloc[-1] == "w30"
    assert (frame["z"].iloc[[0, 1]] > 3).all()
    assert frame["z"].iloc[-1] < -3
    frame = word_frame(tokens, groups, ("Tories", OTHERS), TOPIC, words).set_index("word")
    assert frame.index[0] == "w30"
    sums = [tokens[np.flatnonzero(of_text == 1)], tokens[np.flatnonzero(of_text != 1)]]
    np.testing.assert_allclose(frame["first"][words], sums[0].sum(0))
    np.testing.assert_allclose(frame["second"][words], sums[1].sum(0))


def test_a_word_that_one_text_repeats_is_within_chance():
    tokens = np.tile(1000 * TOPIC, (20, 1))
    tokens[3, 5] += 80
    found = compare_words(csr_array(tokens), np.arange(20) >= 10, TOPIC)
    assert 0 < found.z[5] < 1.96
    groups = Groups(np.arange(20) % 2, ("Whigs", "Tories"), np.arange(20))
    with pytest.raises(ValueError, match="no group 'Reds': choose one of Whigs, Tories"):
        word_frame(csr_array(tokens), groups, ("Reds", OTHERS), TOPIC, [""] * NUM_WORDS)
