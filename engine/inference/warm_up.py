"""The warm-up: topics part while documents are kept on many of them, on fewer and fewer as the first pass goes on.

At temperature T a word's shares are ∝ (e_k B_ik)^(1/T): deterministic annealing (Rose 1998; Ueda & Nakano 1998). Where
topics are still alike, documents would resolve on one or two of them by chance; at a high temperature they stay on all.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from stickbreaker.engine.algorithm import Phase
from stickbreaker.engine.inference.dirichlet import fit_documents
from stickbreaker.engine.inference.topic_counts import DecayedCounts, decayed_counts
from stickbreaker.engine.kernels.dirichlet import Sweeps
from stickbreaker.engine.kernels.special import raise_rows
from stickbreaker.engine.parallel import count_cores, map_on_threads, split_rows
from stickbreaker.engine.schedules import WARM_UP_SHARE, first_pass_rates

PILOT_DOCUMENTS = 32
COOLING = 2.0 ** (-1 / 8)


def sweeps_at(temperature):
    """Sweeps of a warm-up document; whether they have settled does not matter to a controller that counts topics."""
    return Sweeps(10, 0.0, 0.0, temperature)


def cool(config, state, batch, expectations, until_parted=False):
    """The expectations of the next online step: a warm-up takes a pass of rates, and its pilot is the batch's first."""
    if state.phase != Phase.WARM_UP:
        return expectations
    progress = min(1.0, state.rate_spent / first_pass_rates(config, batch.corpus_size))
    pilot = batch.documents.cut(0, min(PILOT_DOCUMENTS, batch.documents.num_documents))
    return cool_to(progress, state.temperature, pilot, expectations, until_parted)


def cool_to(progress, temperature, pilot, expectations, until_parted=False):
    """The expectations at the temperature that a place in the warm-up asks for, from that of the step before.

    Documents shall hold at least K^(1-p) topics on the average, p being the progress from 0 to 1, and a document's
    number of topics the exponential of its shares' entropy. The temperature falls, by factors of 2^(-1/8), as long as
    the pilot's documents do, and rises by one where they don't; at 1 the warm-up is over for good. Documents hold all K
    topics at 1 as well while these are alike: `until_parted` lets it last, at 1, until they hold √K or three quarters
    of it are spent.
    """
    most = np.log(expectations.topics.shape[1])
    narrowed = _narrow(expectations, pilot)
    temperature = _find_temperature(pilot, narrowed, temperature, (1.0 - progress) * most)
    waits = until_parted and progress < WARM_UP_SHARE
    if temperature == 1.0 and not (waits and _measure_spread(pilot, narrowed, 1.0) > most / 2):
        return expectations
    return temper(expectations, temperature)._replace(phase=Phase.WARM_UP, temperature=temperature)


def temper(expectations, temperature):
    """The expectations with topic weights B^(1/T)."""
    topics, power = expectations.topics, 1.0 / temperature
    raised = np.empty_like(topics)
    spans = split_rows(*topics.shape)
    map_on_threads(lambda span: raise_rows(topics[slice(*span)], power, raised[slice(*span)]), spans)
    return expectations._replace(topics=raised)


def _narrow(expectations, documents):
    """The expectations for the words of these documents alone."""
    words = documents.distinct_words()
    return expectations._replace(words=words, topics=expectations.topics[np.searchsorted(expectations.words, words)])


def _measure_spread(pilot, expectations, temperature):
    """Mean entropy of the pilot's shares at a temperature, in nats."""
    raised = np.empty_like(expectations.topics)
    raise_rows(expectations.topics, 1.0 / temperature, raised)
    shares = fit_documents(pilot, expectations._replace(topics=raised), sweeps_at(temperature), False)[1]
    return -(shares * np.log(np.maximum(shares, 1e-12))).sum(1).mean()


def _find_temperature(pilot, expectations, temperature, target):
    """Down from the given one while the pilot is spread as widely as the target at least, or a step up.

    Where the last step down, taken once more, would fall below the target, it is not needed. Most steps need two
    spreads, so that two cores measure one each at a time.
    """
    ladder, spreads = _steps_down(temperature), []

    def spread_at(place):
        while len(spreads) <= place:
            some = ladder[len(spreads) : len(spreads) + min(2, count_cores())]
            spreads.extend(map_on_threads(lambda each: _measure_spread(pilot, expectations, each), some))
        return spreads[place]

    if spread_at(0) < target:
        return min(temperature / COOLING, HIGHEST_TEMPERATURE)
    place, fall = 0, 0.0
    while place + 1 < len(ladder) and spread_at(place) - fall >= target and spread_at(place + 1) >= target:
        place, fall = place + 1, spread_at(place) - spread_at(place + 1)
    return ladder[place]


def _steps_down(temperature):
    """A temperature and all below it, by factors of COOLING, down to 1."""
    ladder = [temperature]
    while ladder[-1] > 1.0:
        ladder.append(max(1.0, ladder[-1] * COOLING))
    return ladder


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
    return (Phase.WARM_UP, HIGHEST_TEMPERATURE) if STARTS[start].has_warm_up else (later, 1.0)
