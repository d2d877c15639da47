"""Limits that keep one server usable for all. A variable of the environment sets another value than the default."""

import os
from dataclasses import dataclass

GIGABYTE = 1_000_000_000


@dataclass(frozen=True)
class Limit:
    """A limit. variable: sets another value. default: suits 24 GB of memory and two cores. unit: of the variable."""

    variable: str
    default: float
    unit: int = 1


KEPT_MODELS = Limit("STICKBREAKER_KEPT_MODELS", 1, GIGABYTE)


def find_limit(limit: Limit) -> int:
    """The value of a limit, in single units. Raises ValueError where its variable is not a number.

    >>> find_limit(KEPT_MODELS)
    1000000000
    """
    written = os.environ.get(limit.variable, "")
    try:
        value = float(written) if written else limit.default
        if not 0 <= value < float("inf"):
            raise ValueError
    except ValueError:
        raise ValueError(f"{limit.variable} is {written[:40]!r}: give a number, such as {limit.default:g}.") from None
    return int(value * limit.unit)
