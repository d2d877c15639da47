"""Learning rates, settings that follow the corpus' size, and what a schedule will do before it
runs.
"""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

# After this share of the first pass, measured by Σρ, documents hold so few topics that a warm-up
# usually ends.
WARM_UP_SHARE = 0.75
USUAL_SIZE = 256
FEWEST_BATCHES = 16
MOST_BATCHES = 64
LONGEST_DELAY = 64
FEWEST_TOPICS = 150
MOST_TOPICS = 300
TOKENS_OF_A_TOPIC = 5000
# How much the model before a later pass weighs in it, in passes, where later passes average.
EARLIER_WEIGHT = 0.25
# A run that leaves a larger share of the start-up mass has learned too little.
TOO_MUCH_LEFT = 0.1


class Scheduled(Protocol):
    """What the schedules read of an `Algorithm`."""

    def has_setting(self, name: str) -> bool:
        """Whether its config has a field of that name."""

    @property
    def has_learning_rate(self) -> bool:
        """Whether its steps follow ρ_t = (τ₀ + t)^-κ."""

    def step_size(self, config: Any, corpus_size: int) -> int:
        """Documents that a step reads."""


def learning_rate(step: Any, delay: float, forgetting_rate: float) -> Any:
    """ρ_t = (τ₀ + t)^-κ for step t from 1 (scalar or array).

    Source: Wang 2011, below Eq. 28. With τ₀ = 0 the first step has rate 1 and replaces all that was
    there.

    >>> learning_rate(1, 0, 0.6), round(float(learning_rate(36, 64, 0.5)), 12)
    (1.0, 0.1)
    """
    return (delay + step) ** -float(forgetting_rate)


def pass_rate(documents_read: Any, num_documents: int, corpus_size: int) -> Any:
    """ρ of a step in a later pass that averages: the documents of a pass have equal weight when it
    ends.

    After n documents of the pass, each of them has the weight D/(D/4 + n), and the model from
    before the pass counts as much as D/4 documents.
    documents_read: before the step (scalar or array). Source: stepwise EM (Cappé & Moulines 2009),
    whose ρ = 1/t makes an average.

    >>> float(pass_rate(1000, 100, 1000)), float(pass_rate(1900, 100, 1000))
    (0.2857142857142857, 0.08)
    """
    return num_documents / (
        EARLIER_WEIGHT * corpus_size + documents_read % corpus_size + num_documents
    )


def is_average(config: Any) -> bool:
    """Whether the documents of a later pass weigh the same, under the config of an online HDP."""
    return bool(config.later_passes == "average" and config.start == "warm")


def averages_passes(algorithm: Scheduled, config: Any) -> bool:
    """Whether later passes of the algorithm average over their documents under this config."""
    return algorithm.has_setting("later_passes") and is_average(config)


def planned_rates(
    algorithm: Scheduled, config: Any, corpus_size: int, steps: np.ndarray
) -> np.ndarray:
    """ρ of some steps (numbers from 1), over D documents."""
    rates: np.ndarray = learning_rate(steps, config.delay, config.forgetting_rate)
    if not averages_passes(algorithm, config):
        return rates
    size = min(config.batch_size, corpus_size)
    per_pass = num_batches(corpus_size, size)
    read = (steps - 1) % per_pass * size
    return np.where(
        steps > per_pass, pass_rate(read, np.minimum(size, corpus_size - read), corpus_size), rates
    )


def startup_share(num_steps: int, delay: float, forgetting_rate: float) -> float:
    """Share ∏ (1 - ρ_t) of the start-up mass that is left after num_steps steps.

    >>> startup_share(0, 64, 0.6), startup_share(5, 0, 1.0)
    (1.0, 0.0)
    """
    return float(np.prod(1.0 - learning_rate(np.arange(1, num_steps + 1), delay, forgetting_rate)))


def resolve(config: Any, corpus_size: int, num_tokens: int = 0) -> Any:
    """Give each setting that a config leaves to the corpus' size its value.

    S is 256. It is larger if a pass would have more than 64 mini-batches, and smaller if it would
    have fewer than 16. τ₀ is half of the number of mini-batches in a pass, at most 64. One pass
    then forgets the start, in steps that are not too small. K is one topic per 5,000 tokens, from
    150 to 300. These rules were chosen on validation documents (engine/decisions).

    Parameters
    ----------
    config : object
        Settings of an algorithm.
    corpus_size : int
        The number of documents D.
    num_tokens : int
        The number of their tokens.

    Returns
    -------
    object
        The config with a value for each setting.

    Examples
    --------
    >>> from stickbreaker.engine import find_algorithm
    >>> config = resolve(find_algorithm("hdp").config(), 9384)
    >>> config.batch_size, config.delay, config.max_topics
    (256, 18.0, 150)
    """
    config = resolve_max_topics(config, num_tokens)
    if "batch_size" in open_settings(config):
        size = min(
            max(USUAL_SIZE, -(-corpus_size // MOST_BATCHES)), -(-corpus_size // FEWEST_BATCHES)
        )
        config = replace(config, batch_size=max(1, size))
    if "delay" in open_settings(config):
        config = replace(
            config,
            delay=float(min(LONGEST_DELAY, num_batches(corpus_size, config.batch_size) // 2)),
        )
    return config


def resolve_max_topics(config: Any, num_tokens: int) -> Any:
    """The config with a K for a corpus with this number of tokens, where it leaves K open.

    >>> from stickbreaker.engine import find_algorithm
    >>> resolve_max_topics(find_algorithm("hdp").config(), 1_000_000).max_topics
    200
    """
    if "max_topics" not in open_settings(config):
        return config
    return replace(
        config, max_topics=min(max(FEWEST_TOPICS, num_tokens // TOKENS_OF_A_TOPIC), MOST_TOPICS)
    )


def open_settings(config: Any) -> frozenset[str]:
    """Names of the settings without a value, which are left to the corpus' size.

    >>> from stickbreaker.engine import find_algorithm
    >>> sorted(open_settings(find_algorithm("hdp").config(delay=1.0)))
    ['batch_size', 'max_topics']
    """
    return frozenset(each.name for each in fields(config) if getattr(config, each.name) is None)


def live_settings(config: Any) -> tuple[str, ...]:
    """Names of the settings of a config, or of its class, that act from the next mini-batch."""
    return tuple(each.name for each in fields(config) if each.metadata.get("live"))


def apply_live(config: Any, values: Mapping[str, Any], corpus_size: int) -> Any:
    """Change settings that act from the next mini-batch.

    Parameters
    ----------
    config : object
        The current settings, each with a value.
    values : mapping of str to object
        The new values by name; None leaves a setting to the corpus' size.
    corpus_size : int
        The number of documents D.

    Returns
    -------
    object
        The config with a value for each setting.

    Raises
    ------
    ValueError
        If a setting does not act live, or a value is outside its bounds.

    Examples
    --------
    >>> from stickbreaker.engine import find_algorithm
    >>> config = resolve(find_algorithm("hdp").config(), 9384)
    >>> apply_live(config, {"delay": None, "batch_size": 512}, 9384).delay
    9.0
    """
    live = live_settings(config)
    refused = [name for name in values if name not in live]
    if refused:
        can = ", ".join(live) or "none of this algorithm"
        raise ValueError(f"{refused[0]} cannot change during a run. Settings that can: {can}.")
    return resolve(replace(config, **values), corpus_size)


def resolve_stream(config: Any, documents_seen: int, num_new: int) -> tuple[Any, int]:
    """(config, D) for the last `num_new` of `documents_seen` documents of a stream whose end is not
    known.

    D is the number of documents seen, and at least 4,096, the smallest corpus that has enough
    mini-batches of the usual size: with a smaller D each step would look like the end of a first
    pass, and the first steps would be as large as steps can be. S is at most the number of new
    documents.

    >>> from stickbreaker.engine import find_algorithm
    >>> config, corpus_size = resolve_stream(find_algorithm("hdp").config(), 500, 100)
    >>> config.batch_size, config.delay, corpus_size
    (100, 20.0, 4096)
    """
    corpus_size = max(documents_seen, FEWEST_BATCHES * USUAL_SIZE)
    batch_size = min(resolve(config, corpus_size).batch_size, num_new)
    return resolve(replace(config, batch_size=batch_size), corpus_size), corpus_size


def num_batches(corpus_size: int, batch_size: int) -> int:
    """Mini-batches in one pass; the last may be short.

    >>> num_batches(10, 4)
    3
    """
    return -(-corpus_size // batch_size)


def sum_rates(num_steps: int, delay: float, forgetting_rate: float) -> float:
    """Σ ρ_t over the first steps.

    >>> sum_rates(2, 0.0, 1.0)
    1.5
    """
    return float(learning_rate(np.arange(1, num_steps + 1), delay, forgetting_rate).sum())


class Forecast(NamedTuple):
    """What a run will do: its steps, the start-up mass left, and whether the warm-up ends."""

    num_steps: int
    startup_share: float
    leaves_warm_up: bool

    @property
    def is_too_little(self) -> bool:
        """Whether too few or too small steps are taken to learn."""
        return self.startup_share > TOO_MUCH_LEFT or not self.leaves_warm_up


def forecast(algorithm: Scheduled, config: Any, corpus_size: int, passes: int) -> Forecast:
    """Forecast of a run over `corpus_size` documents under these learning settings, before it
    starts.

    An algorithm without a learning rate keeps nothing of its start.
    """
    config = resolve(config, corpus_size)
    num_steps = passes * num_batches(corpus_size, algorithm.step_size(config, corpus_size))
    if not algorithm.has_learning_rate:
        return Forecast(num_steps=num_steps, startup_share=0.0, leaves_warm_up=True)
    rates = planned_rates(algorithm, config, corpus_size, np.arange(1, num_steps + 1))
    num_first = num_batches(corpus_size, config.batch_size)
    first_pass = sum_rates(num_first, config.delay, config.forgetting_rate)
    return Forecast(
        num_steps=num_steps,
        startup_share=float(np.prod(1.0 - rates)),
        leaves_warm_up=config.start != "warm" or rates[:-1].sum() >= WARM_UP_SHARE * first_pass,
    )
