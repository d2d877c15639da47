"""Learning rates, and what a schedule can be foretold to do before it runs."""

from typing import NamedTuple

import numpy as np

WARM_UP_SHARE = 0.5
TOO_MUCH_LEFT = 0.1


def learning_rate(step, delay, forgetting_rate):
    """ρ_t = (τ₀ + t)^-κ for step t from 1 (scalar or array).

    Source: Wang 2011, below Eq. 28. With τ₀ = 0 the first step has rate 1 and replaces all that was there.

    >>> learning_rate(1, 0, 0.6), round(float(learning_rate(36, 64, 0.5)), 12)
    (1.0, 0.1)
    """
    return (delay + step) ** -float(forgetting_rate)


def startup_share(num_steps, delay, forgetting_rate):
    """Share ∏ (1 - ρ_t) of the start-up mass that is left after num_steps steps.

    >>> startup_share(0, 64, 0.6), startup_share(5, 0, 1.0)
    (1.0, 0.0)
    """
    return float(np.prod(1.0 - learning_rate(np.arange(1, num_steps + 1), delay, forgetting_rate)))


def num_batches(corpus_size, batch_size):
    """Mini-batches in one pass; the last may be short.

    >>> num_batches(10, 4)
    3
    """
    return -(-corpus_size // batch_size)


def is_warming_up(rate_spent, corpus_size, config):
    """Whether the sum of rates so far is still below half of the first pass's total under these settings."""
    steps = np.arange(1, num_batches(corpus_size, config.batch_size) + 1)
    total = learning_rate(steps, config.delay, config.forgetting_rate).sum()
    return bool(rate_spent < WARM_UP_SHARE * total)


class Forecast(NamedTuple):
    """What a run will do: its steps, the start-up mass left at the end, and whether it ends beyond the warm-up."""

    num_steps: int
    startup_share: float
    leaves_warm_up: bool

    @property
    def is_too_little(self):
        """Whether too few or too small steps are taken to learn."""
        return self.startup_share > TOO_MUCH_LEFT or not self.leaves_warm_up


def forecast(config, corpus_size, passes):
    """Forecast of a run over `corpus_size` documents under these learning settings, before it starts."""
    num_steps = passes * num_batches(corpus_size, config.batch_size)
    rates = learning_rate(np.arange(1, num_steps + 1), config.delay, config.forgetting_rate)
    return Forecast(
        num_steps,
        startup_share(num_steps, config.delay, config.forgetting_rate),
        not is_warming_up(rates[:-1].sum(), corpus_size, config) or config.start != "warm",
    )
