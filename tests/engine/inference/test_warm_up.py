"""The noise of a start, and the temperature of a warm-up, which is as high as the spread of
documents needs.
"""

import numpy as np
import pytest
from scipy.stats import expon, gamma, kstest, uniform

from stickbreaker.engine.algorithms import find_algorithm
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.inference.dirichlet_step import DocumentExpectations, fit_documents
from stickbreaker.engine.inference.warm_up import (
    COOLING,
    HIGHEST_TEMPERATURE,
    PILOT_DOCUMENTS,
    STARTUP_TOKENS,
    cool,
    iterations_at,
    startup_counts,
)
from stickbreaker.engine.kernels.special import NOT_RAISED

NUM_WORDS, NUM_TOPICS = 400, 250


def draw_start(name, start, precision, seed=0):
    config = find_algorithm(name).config(max_topics=NUM_TOPICS, start=start, precision=precision)
    return startup_counts(config, NUM_WORDS, np.random.default_rng(seed))


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize(
    ("name", "start", "distribution"),
    [
        ("hdp", "warm", uniform(1.0 - 0.03**0.5, 2.0 * 0.03**0.5)),
        ("hdp", "wang", expon()),
        ("svi-hdp", "svi", expon()),
        ("lda", "hoffman", gamma(100.0, scale=0.01)),
        ("lda", "warm", uniform(1.0 - 0.03**0.5, 2.0 * 0.03**0.5)),
    ],
)
def test_the_noise_of_a_start_has_the_documented_distribution(name, start, distribution, precision):
    noise = draw_start(name, start, precision).dense()
    assert noise.dtype == precision
    mean = 1.0 if start == "hoffman" else STARTUP_TOKENS / (NUM_WORDS * NUM_TOPICS)
    assert kstest(noise.ravel() / mean, distribution.cdf).pvalue > 0.01
    if start != "hoffman":
        assert noise.sum(dtype=float) == pytest.approx(STARTUP_TOKENS, rel=0.01)


def test_the_noise_differs_for_each_word_topic_and_seed():
    noise = draw_start("hdp", "warm", "float64").dense()
    assert len(np.unique(noise)) == noise.size
    np.testing.assert_array_equal(noise, draw_start("hdp", "warm", "float64").dense())
    assert (noise != draw_start("hdp", "warm", "float64", seed=1).dense()).all()


def draw_expectations(sharpness, num_topics=20, vocab_size=60):
    """Topics that differ more for a larger sharpness."""
    rng = np.random.default_rng(1)
    topics = (
        np.ascontiguousarray(rng.dirichlet(np.full(vocab_size, 1 / sharpness), num_topics).T) + 1e-6
    )
    return DocumentExpectations(
        np.arange(vocab_size), topics, np.full(num_topics, 1 / num_topics), 3, "later"
    )


def draw_batch(num_documents=50, vocab_size=60):
    rng = np.random.default_rng(2)
    words = np.concatenate(
        [np.sort(rng.choice(vocab_size, 12, replace=False)) for _ in range(num_documents)]
    )
    starts = np.arange(num_documents + 1) * 12
    documents = Documents(
        starts, words.astype(np.int32), rng.integers(1, 4, len(words)).astype(np.int32)
    )
    return Batch(np.arange(num_documents), documents, 1000)


def state_after(progress):
    """A config, and a state after this share of the sum of rates of the first pass."""
    algorithm = find_algorithm("hdp")
    config = algorithm.config(max_topics=20, batch_size=50, delay=1.0)
    total = sum((1 + step) ** -0.6 for step in range(1, 21))
    state = algorithm.init(config, 60, np.random.default_rng(0))
    return config, state._replace(rate_spent=progress * total)


def choose(expectations):
    """Expectations of some words, with weights to a power, as an algorithm has them."""

    def expect_words(words, power=NOT_RAISED):
        topics = expectations.topics[words]
        return expectations._replace(
            words=words, topics=topics if power == NOT_RAISED else topics**power
        )

    return expect_words


def count_held_topics(batch, expectations, temperature):
    """The mean number of topics of a document, by the entropy of its shares."""
    tempered = expectations._replace(topics=expectations.topics ** (1 / temperature))
    shares = fit_documents(
        batch.documents, tempered, iterations_at(temperature), is_learning=False
    )[1][:PILOT_DOCUMENTS]
    return np.exp(-(shares * np.log(np.maximum(shares, 1e-12))).sum(1).mean())


@pytest.mark.parametrize("progress", [0.1, 0.2, 0.3])
def test_the_temperature_is_the_least_that_keeps_documents_on_enough_topics(progress):
    batch, expectations = draw_batch(), draw_expectations(sharpness=5.0)
    cooled = cool(*state_after(progress), batch, choose(expectations))
    wanted = 20 ** (1 - progress)
    assert 1 < cooled.temperature <= HIGHEST_TEMPERATURE
    assert cooled.phase == "warm-up"
    np.testing.assert_allclose(cooled.topics, expectations.topics ** (1 / cooled.temperature))
    assert count_held_topics(batch, expectations, cooled.temperature) >= wanted
    assert count_held_topics(batch, expectations, cooled.temperature * COOLING) < wanted


def test_temperatures_fall_during_the_first_pass_and_end_at_one():
    batch, expectations = draw_batch(), draw_expectations(sharpness=5.0)
    cooled = [
        cool(*state_after(progress), batch, choose(expectations))
        for progress in (0.0, 0.3, 0.6, 0.9, 1.0, 2.0)
    ]
    temperatures = [each.temperature for each in cooled]
    assert temperatures == sorted(temperatures, reverse=True)
    assert temperatures[0] == HIGHEST_TEMPERATURE
    assert cooled[-1].phase == "later"
    np.testing.assert_array_equal(cooled[-1].topics, expectations.topics)


def test_the_temperature_rises_if_documents_hold_too_few_topics():
    batch, expectations = draw_batch(), draw_expectations(sharpness=5.0)
    config, state = state_after(0.1)
    cooled = cool(config, state._replace(temperature=1.2), batch, choose(expectations))
    assert cooled.temperature == pytest.approx(1.2 / COOLING)


def test_a_finished_warm_up_never_returns():
    batch, expectations = draw_batch(), draw_expectations(sharpness=5.0)
    config, state = state_after(0.1)
    cooled = cool(config, state._replace(phase="two-level"), batch, choose(expectations))
    assert cooled.phase == "later"
    np.testing.assert_array_equal(cooled.topics, expectations.topics)


def test_long_documents_that_stay_spread_need_no_warm_up():
    batch, expectations = draw_batch(), draw_expectations(sharpness=0.001)
    assert cool(*state_after(0.2), batch, choose(expectations)).temperature == 1.0


def test_the_warm_up_continues_while_all_topics_are_alike_but_not_beyond_its_share():
    batch, alike = draw_batch(), draw_expectations(sharpness=0.001)
    early, late = (
        cool(*state_after(progress), batch, choose(alike), until_parted=True)
        for progress in (0.2, 0.76)
    )
    assert count_held_topics(batch, alike, 1.0) > 20**0.5
    assert (early.phase, early.temperature, late.phase) == ("warm-up", 1.0, "later")


def test_the_warm_up_ends_when_topics_differ():
    # Each topic has three words of its own, and each document the words of three topics.
    blocks = np.repeat(np.eye(20), 3, axis=0) / 3 + 1e-6
    alike = draw_expectations(sharpness=1.0)
    starts, first = np.arange(19) * 9, np.arange(18) * 3
    words = (first[:, None] + np.arange(9)).ravel().astype(np.int32)
    batch = Batch(np.arange(18), Documents(starts, words, np.full(len(words), 5, np.int32)), 1000)
    parted = alike._replace(topics=blocks)
    assert count_held_topics(batch, parted, 1.0) <= 20**0.5
    cooled = cool(*state_after(0.7), batch, choose(parted), until_parted=True)
    assert cooled.phase == "later"
    np.testing.assert_array_equal(cooled.topics, parted.topics)
