"""What topics hold before the first word is read, and when the soft start gives way."""

from typing import NamedTuple

import numpy as np

from engine.decayed_counts import DecayedCounts, decayed_counts

STARTUP_TOKENS = 100.0
HIGHEST_TEMPERATURE = 4.0


class Start(NamedTuple):
    """Gamma noise of λ - η.

    shape: of the noise; the larger, the more alike the topics.
    is_by_document: worth STARTUP_TOKENS a document of the corpus in all; otherwise one token a word and topic.
    has_warm_up: begins with unconverged Dirichlet sweeps (engine/DECISIONS.md).
    """

    shape: float
    is_by_document: bool
    has_warm_up: bool


STARTS = {
    "warm": Start(100.0, True, True),
    "wang": Start(1.0, True, False),
    "svi": Start(1.0, True, False),
    "hoffman": Start(100.0, False, False),
}


def startup_counts(config, vocab_size, rng):
    """λ - η before the first batch, for a corpus of one document.

    "hoffman" is λ - η ~ Gamma(100, 1/100), as in the code of Hoffman 2010, whose λ includes η: here η stands beside it.
    """
    start, precision = STARTS[config.start], np.dtype(config.precision)
    noise = rng.standard_gamma(start.shape, size=(vocab_size, config.max_topics), dtype=precision)
    scale = STARTUP_TOKENS / (start.shape * config.max_topics * vocab_size) if start.is_by_document else 1 / start.shape
    noise *= precision.type(scale)
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
