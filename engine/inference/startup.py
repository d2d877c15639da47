"""What topics hold before the first word is read, and when the soft start gives way."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from stickbreaker.engine.inference.topic_counts import DecayedCounts, decayed_counts

STARTUP_TOKENS = 100.0
HIGHEST_TEMPERATURE = 4.0
# Of uniform noise of standard deviation .1, on both sides of its mean.
SPREAD = 0.1 * np.sqrt(3.0)


def _draw_uniform(rng, size, precision):
    """Mean 1, standard deviation a tenth: topics that are all but alike."""
    noise = rng.random(size, precision)
    noise *= 2.0 * SPREAD
    noise += 1.0 - SPREAD
    return noise


def _draw_gamma(rng, size, precision):
    """Gamma(100, 1/100) as the cube of a normal (Wilson & Hilferty 1931), in a third of the time of exact draws."""
    roots = rng.standard_normal(size, precision)
    roots *= 1.0 / 30.0
    roots += 1.0 - 1.0 / 900.0
    return roots * roots * roots


def _draw_exponential(rng, size, precision):
    """Gamma(1, 1)."""
    return rng.standard_exponential(size, precision)


class Start(NamedTuple):
    """Noise of λ - η.

    draw: of mean 1, from (Generator, size, dtype).
    is_by_document: worth STARTUP_TOKENS a document of the corpus in all; otherwise one token a word and topic.
    has_warm_up: begins with unconverged Dirichlet sweeps (engine/DECISIONS.md).
    """

    draw: Callable[[np.random.Generator, tuple[int, int], np.dtype], np.ndarray]
    is_by_document: bool
    has_warm_up: bool


STARTS = {
    "warm": Start(_draw_uniform, True, True),
    "wang": Start(_draw_exponential, True, False),
    "svi": Start(_draw_exponential, True, False),
    "hoffman": Start(_draw_gamma, False, False),
}


def startup_counts(config, vocab_size, rng):
    """λ - η before the first batch, for a corpus of one document.

    "hoffman" is λ - η ~ Gamma(100, 1/100), as in the code of Hoffman 2010, whose λ includes η: here η stands beside it.
    """
    start, precision = STARTS[config.start], np.dtype(config.precision)
    noise = start.draw(rng, (vocab_size, config.max_topics), precision)
    if start.is_by_document:
        noise *= STARTUP_TOKENS / (config.max_topics * vocab_size)
    return decayed_counts(noise)


def scale_counts(counts, start, corpus_size):
    """Start-up counts of that start for a corpus of that many documents, known from the first batch on."""
    if not STARTS[start].is_by_document:
        return counts
    return DecayedCounts(counts.stored * counts.precision.type(corpus_size), 1.0, counts.totals * corpus_size)


def startup_noise(counts, start, corpus_size):
    """The mean of the start-up counts (V, K) that the first batch found, a word and topic."""
    if not STARTS[start].is_by_document:
        return 1.0
    return STARTUP_TOKENS * corpus_size / (counts.vocab_size * len(counts.totals))


def first_phase(start, later):
    """The phase a run begins in and its temperature; `later` is the algorithm's name for what follows a warm-up."""
    return ("warm-up", HIGHEST_TEMPERATURE) if STARTS[start].has_warm_up else (later, 1.0)
