"""How λ starts, and the warm-up in which topics become different from one another.

During the warm-up each document stays spread over many topics, and over fewer as the first pass
proceeds. At temperature T a word's shares are ∝ (e_k B_ik)^(1/T): deterministic annealing (Rose
1998; Ueda & Nakano 1998) of a bound (Katahira 2008; Mandt 2016), in which T weighs the entropy of
the words' topics alone. While topics are alike, a document would end on one or two of them by
chance; a high temperature keeps it on all of them.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from stickbreaker.engine.algorithm import Phase
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.declarations import resolved
from stickbreaker.engine.inference.dirichlet_step import LocalExpectations, fit_documents
from stickbreaker.engine.inference.states import (
    ScaledState,
    ScaledTablesState,
    ScheduleConfig,
    StartConfig,
    WarmUpState,
)
from stickbreaker.engine.inference.topic_counts import DecayedCounts, decayed_counts
from stickbreaker.engine.kernels.dirichlet import Iterations
from stickbreaker.engine.kernels.special import NOT_RAISED, raise_rows
from stickbreaker.engine.parallel.threads import count_cores, map_on_threads
from stickbreaker.engine.schedules import WARM_UP_SHARE, num_batches, sum_rates

PILOT_DOCUMENTS = 32
COOLING = 2.0 ** (-1 / 8)
HIGHEST_TEMPERATURE = 4.0
STARTUP_TOKENS = 100.0
# Half the width of uniform noise whose standard deviation is .1.
SPREAD = 0.1 * np.sqrt(3.0)
# These rows of a few hundred topics fit in a core's cache.
DRAWN_ROWS = 512
AnyExpectations = TypeVar("AnyExpectations", bound=LocalExpectations)
NewExpectations = TypeVar("NewExpectations", bound=LocalExpectations, covariant=True)
AnyStart = TypeVar("AnyStart", bound=ScaledState)
AnyTablesStart = TypeVar("AnyTablesStart", bound=ScaledTablesState)


class ExpectPower(Protocol[NewExpectations]):
    """Computes the expectations of words (U,), with weights B^power, by default B."""

    def __call__(self, words: np.ndarray, *, power: float = NOT_RAISED) -> NewExpectations: ...


def iterations_at(temperature: float) -> Iterations:
    """Iterations of a document in the warm-up: a fixed number."""
    return Iterations(most=10, tolerance=0.0, negligible=0.0, temperature=temperature)


def cool(
    config: ScheduleConfig,
    state: WarmUpState,
    batch: Batch,
    expect_words: ExpectPower[AnyExpectations],
    until_parted: bool = False,
) -> AnyExpectations:
    """The expectations of the next online step.

    A warm-up lasts until Σρ equals that of one pass. Its pilot is the first documents of the batch.
    """
    words = batch.documents.distinct_words()
    if state.phase != Phase.WARM_UP:
        return expect_words(words)
    num_steps = num_batches(batch.corpus_size, resolved(config.batch_size))
    total = sum_rates(num_steps, resolved(config.delay), config.forgetting_rate)
    progress = min(1.0, state.rate_spent / total)
    # The spread of shares is measured on the first documents only: it needs a few iterations.
    pilot = batch.documents.cut(0, min(PILOT_DOCUMENTS, batch.documents.num_documents))
    narrow = expect_words(pilot.distinct_words())

    def expect_power(power: float) -> AnyExpectations:
        return expect_words(words, power=power)

    return cool_to(progress, state.temperature, pilot, narrow, expect_power, until_parted)


def cool_to(
    progress: float,
    temperature: float,
    pilot: Documents,
    narrow: AnyExpectations,
    expect_power: Callable[[float], AnyExpectations],
    until_parted: bool = False,
) -> AnyExpectations:
    """The expectations at the temperature of this point of the warm-up.

    Temperature: that of the step before.

    narrow: the expectations of the pilot's words; expect_power: power -> those of all words, with
    weights B^power.

    Documents should hold at least K^(1-p) topics on average, where p is the progress from 0 to 1
    and a document's number of topics is the exponential of the entropy of its shares. The
    temperature falls by factors of 2^(-1/8) as long as the pilot documents do, and otherwise rises
    by one such factor; at 1 the warm-up ends. While topics are alike, documents hold all K topics
    at 1 too: with `until_parted` the warm-up continues at 1 until they hold √K topics, or until
    three quarters of it have passed.
    """
    most = np.log(narrow.topics.shape[1])
    # The target falls from log K to 0 as Σρ grows from 0 to that of one pass.
    temperature = _find_temperature(pilot, narrow, temperature, (1.0 - progress) * most)
    waits = until_parted and progress < WARM_UP_SHARE
    if temperature == 1.0 and not (waits and _measure_spread(pilot, narrow, 1.0) > most / 2):
        return expect_power(NOT_RAISED)
    return expect_power(1.0 / temperature)._replace(phase=Phase.WARM_UP, temperature=temperature)


def _measure_spread(pilot: Documents, expectations: LocalExpectations, temperature: float) -> float:
    """Mean entropy of the pilot's shares at a temperature, in nats."""
    raised = expectations.topics.copy()
    raise_rows(raised, 1.0 / temperature)
    shares = fit_documents(
        pilot, expectations._replace(topics=raised), iterations_at(temperature), False
    )[1]
    # The exponential of a document's entropy is its number of topics.
    entropies: np.ndarray = -(shares * np.log(np.maximum(shares, 1e-12))).sum(1)
    return float(entropies.mean())


def _find_temperature(
    pilot: Documents, expectations: LocalExpectations, temperature: float, target: float
) -> float:
    """The lowest temperature from the given one down at which the spread of the pilot reaches the
    target.

    If the given one is too low already, it rises by one step. The search also stops where another
    step as large as the last would miss the target. Most calls need two spreads, so two cores
    measure one each.
    """
    ladder = _steps_down(temperature)
    spreads: list[float] = []

    def spread_at(place: int) -> float:
        while len(spreads) <= place:
            some = ladder[len(spreads) : len(spreads) + min(2, count_cores())]
            spreads.extend(
                map_on_threads(lambda each: _measure_spread(pilot, expectations, each), some)
            )
        return spreads[place]

    if spread_at(0) < target:
        return min(temperature / COOLING, HIGHEST_TEMPERATURE)
    place = 0
    fall = 0.0
    while (
        place + 1 < len(ladder)
        and spread_at(place) - fall >= target
        and spread_at(place + 1) >= target
    ):
        fall = spread_at(place) - spread_at(place + 1)
        place += 1
    return ladder[place]


def _steps_down(temperature: float) -> list[float]:
    """A temperature and the lower ones, by factors of COOLING, down to 1."""
    ladder = [temperature]
    while ladder[-1] > 1.0:
        ladder.append(max(1.0, ladder[-1] * COOLING))
    return ladder


def _draw_uniform(
    rng: np.random.Generator, size: tuple[int, int], precision: np.dtype[Any]
) -> np.ndarray:
    """Uniform noise of mean 1 and standard deviation .1: topics that are nearly alike."""
    noise = np.empty(size, precision)
    for first in range(0, len(noise), DRAWN_ROWS):
        rows = noise[first : first + DRAWN_ROWS]
        rng.random(rows.shape, precision, rows)
        rows *= 2.0 * SPREAD
        rows += 1.0 - SPREAD
    return noise


def _draw_gamma(
    rng: np.random.Generator, size: tuple[int, int], precision: np.dtype[Any]
) -> np.ndarray:
    """Gamma(100, 1/100), three times as fast: the cube of a normal (Wilson & Hilferty 1931)."""
    roots: np.ndarray = rng.standard_normal(size, precision)
    roots *= 1.0 / 30.0
    roots += 1.0 - 1.0 / 900.0
    cubes: np.ndarray = roots * roots * roots
    return cubes


def _draw_exponential(
    rng: np.random.Generator, size: tuple[int, int], precision: np.dtype[Any]
) -> np.ndarray:
    """Gamma(1, 1)."""
    noise: np.ndarray = rng.standard_exponential(size, precision)
    return noise


class Start(NamedTuple):
    """The noise with which λ - η starts.

    draw: noise of mean 1, from (Generator, size, dtype).
    is_by_document: the noise adds up to STARTUP_TOKENS per document of the corpus; otherwise to one
    per word and topic.
    has_warm_up: whether the run begins with Dirichlet iterations that do not converge.
    """

    draw: Callable[[np.random.Generator, tuple[int, int], np.dtype[Any]], np.ndarray]
    is_by_document: bool
    has_warm_up: bool


STARTS = {
    "warm": Start(draw=_draw_uniform, is_by_document=True, has_warm_up=True),
    "wang": Start(draw=_draw_exponential, is_by_document=True, has_warm_up=False),
    "wang-code": Start(draw=_draw_exponential, is_by_document=True, has_warm_up=False),
    "svi": Start(draw=_draw_exponential, is_by_document=True, has_warm_up=False),
    "hoffman": Start(draw=_draw_gamma, is_by_document=False, has_warm_up=False),
}


def startup_counts(config: StartConfig, vocab_size: int, rng: np.random.Generator) -> DecayedCounts:
    """λ - η before the first batch, for a corpus of one document.

    "hoffman" is λ - η ~ Gamma(100, 1/100). In the code of Hoffman 2010 the same noise is λ, which
    includes η.
    """
    start = STARTS[config.start]
    num_topics = resolved(config.max_topics)
    # Mean 1, scaled so that all words and topics together have STARTUP_TOKENS tokens of a document.
    noise = start.draw(rng, (vocab_size, num_topics), np.dtype(config.precision))
    if start.is_by_document:
        noise *= STARTUP_TOKENS / (num_topics * vocab_size)
    return decayed_counts(noise)


def scale_counts(counts: DecayedCounts, start: str, corpus_size: int) -> DecayedCounts:
    """Scale start-up counts to the size of the corpus, which the first batch gives."""
    if not STARTS[start].is_by_document:
        return counts
    return counts.times(corpus_size)


def scale_topics(config: StartConfig, state: AnyStart, corpus_size: int) -> AnyStart:
    """The state with λ for the size of the corpus, which differs before the first step."""
    if state.step > 0:
        return state
    return state._replace(topic_counts=scale_counts(state.topic_counts, config.start, corpus_size))


def scale_start(config: StartConfig, state: AnyTablesStart, corpus_size: int) -> AnyTablesStart:
    """The same as `scale_topics` for a state whose tables are rescaled too."""
    if state.step > 0:
        return state
    return scale_topics(config, state, corpus_size)._replace(tables=state.tables * corpus_size)


def startup_noise(counts: DecayedCounts, start: str, corpus_size: int) -> float:
    """Mean start-up count per word and topic, at the first batch."""
    if not STARTS[start].is_by_document:
        return 1.0
    return STARTUP_TOKENS * corpus_size / (counts.vocab_size * len(counts.totals))


def first_phase(start: str, later: Phase) -> tuple[Phase, float]:
    """The first phase of a run, and its temperature; later: the phase that follows a warm-up."""
    return (Phase.WARM_UP, HIGHEST_TEMPERATURE) if STARTS[start].has_warm_up else (later, 1.0)
