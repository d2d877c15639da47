"""The noise that topics start with: its distribution, and what it is worth in all."""

import numpy as np
import pytest
from scipy.stats import expon, gamma, kstest, uniform

from stickbreaker.engine import find_algorithm
from stickbreaker.engine.inference.warm_up import STARTUP_TOKENS, startup_counts

NUM_WORDS, NUM_TOPICS = 400, 250


def draw(name, start, precision, seed=0):
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
def test_noise_has_the_documented_distribution(name, start, distribution, precision):
    noise = draw(name, start, precision).dense()
    assert noise.dtype == precision
    mean = 1.0 if start == "hoffman" else STARTUP_TOKENS / (NUM_WORDS * NUM_TOPICS)
    assert kstest(noise.ravel() / mean, distribution.cdf).pvalue > 0.01
    if start != "hoffman":
        assert noise.sum(dtype=float) == pytest.approx(STARTUP_TOKENS, rel=0.01)


def test_words_and_topics_are_drawn_independently_and_by_the_seed():
    noise = draw("hdp", "warm", "float64").dense()
    assert len(np.unique(noise)) == noise.size
    np.testing.assert_array_equal(noise, draw("hdp", "warm", "float64").dense())
    assert (noise != draw("hdp", "warm", "float64", seed=1).dense()).all()
