"""Limits that keep one server usable for all. A variable of the environment sets another value than the default."""

import os
from dataclasses import dataclass

from stickbreaker.engine.runs.memory import machine_memory

GIGABYTE = 1_000_000_000


class LimitError(ValueError):
    """The variable of a limit is not a number; the message names the variable and what to write."""


@dataclass(frozen=True)
class Limit:
    """A limit. variable: sets another value. default: in units, as the variable. size: single things in a unit."""

    variable: str
    default: float
    unit: str = "gigabytes"
    size: int = GIGABYTE


# What one run may take: by default a quarter of the machine's memory.
RUN_MEMORY = Limit(variable="STICKBREAKER_RUN_MEMORY", default=machine_memory() / 4 / GIGABYTE)
# What the models of a user's kept runs may take on disk.
KEPT_MODELS = Limit(variable="STICKBREAKER_KEPT_MODELS", default=1.0)
# Pages that are open at the same time, of all users and of one who has logged in.
PAGES = Limit(variable="STICKBREAKER_PAGES", default=200, unit="pages", size=1)
PAGES_PER_USER = Limit(variable="STICKBREAKER_PAGES_PER_USER", default=20, unit="pages", size=1)
LIMITS = (RUN_MEMORY, KEPT_MODELS, PAGES, PAGES_PER_USER)


def find_limit(limit: Limit) -> int:
    """The bytes or pages of a limit. Raises LimitError if its variable is not a number of at least 0.

    >>> find_limit(KEPT_MODELS)
    1000000000
    """
    written = os.environ.get(limit.variable, "")
    try:
        units = float(written) if written else limit.default
        if not 0 <= units < float("inf"):
            raise ValueError
    except ValueError:
        advice = f"set it to a number of {limit.unit}, such as {limit.variable}={limit.default:.3g}, or remove it"
        raise LimitError(f"{limit.variable} is {written[:40]!r}: {advice}.") from None
    return int(units * limit.size)


def check_limits() -> None:
    """Raise LimitError if the variable of any limit is wrong."""
    for limit in LIMITS:
        find_limit(limit)
