"""Limits that keep one server usable for all. A variable of the environment sets another value than the default."""

import os
from dataclasses import dataclass

from stickbreaker.engine.runs.memory import machine_memory

GIGABYTE = 1_000_000_000


class LimitError(ValueError):
    """The variable of a limit is not a number; the message names the variable and what to write."""


@dataclass(frozen=True)
class Limit:
    """A limit in bytes. variable: sets another value, in gigabytes. default: in gigabytes too."""

    variable: str
    default: float


# What one run may take: by default a quarter of the machine's memory.
RUN_MEMORY = Limit("STICKBREAKER_RUN_MEMORY", machine_memory() / 4 / GIGABYTE)
# What the models of a user's kept runs may take on disk.
KEPT_MODELS = Limit("STICKBREAKER_KEPT_MODELS", 1.0)
LIMITS = (RUN_MEMORY, KEPT_MODELS)


def find_limit(limit: Limit) -> int:
    """The bytes of a limit. Raises LimitError if its variable is not a number of at least 0.

    >>> find_limit(KEPT_MODELS)
    1000000000
    """
    written = os.environ.get(limit.variable, "")
    try:
        gigabytes = float(written) if written else limit.default
        if not 0 <= gigabytes < float("inf"):
            raise ValueError
    except ValueError:
        example = f"{limit.variable}={limit.default:.2g}"
        raise LimitError(
            f"{limit.variable} is {written[:40]!r}: set it to a number of gigabytes, such as {example}, or remove it."
        ) from None
    return int(gigabytes * GIGABYTE)


def check_limits() -> None:
    """Raise LimitError if the variable of any limit is wrong."""
    for limit in LIMITS:
        find_limit(limit)
