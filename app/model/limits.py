"""Limits that keep one server usable for all. A variable of the environment sets another value than the default."""

import os
from dataclasses import dataclass

from stickbreaker.engine.corpora.corpus import CorpusError
from stickbreaker.engine.runs.memory import machine_memory

GIGABYTE, MEGABYTE = 1_000_000_000, 1_000_000


class LimitError(ValueError):
    """The variable of a limit is not a number; the message names the variable and what to write."""


@dataclass(frozen=True)
class Limit:
    """A limit. variable: sets another value. default: in units, as the variable. size: single things in a unit."""

    variable: str
    default: float
    unit: str = "gigabytes"
    size: int = GIGABYTE


class LimitReachedError(CorpusError):
    """Something is refused because of a limit; the message names the value, the limit and what to do."""

    def __init__(self, limit: Limit, message: str):
        super().__init__(message)
        self.limit = limit


# What one run may take: by default a quarter of the machine's memory.
RUN_MEMORY = Limit(variable="STICKBREAKER_RUN_MEMORY", default=machine_memory() / 4 / GIGABYTE)
# What the models of a user's kept runs may take on disk.
KEPT_MODELS = Limit(variable="STICKBREAKER_KEPT_MODELS", default=1.0)
ALL_KEPT_MODELS = Limit(variable="STICKBREAKER_ALL_KEPT_MODELS", default=20.0)
# Pages that are open at the same time, of all users and of one who has logged in.
PAGES = Limit(variable="STICKBREAKER_PAGES", default=200, unit="pages", size=1)
PAGES_PER_USER = Limit(variable="STICKBREAKER_PAGES_PER_USER", default=20, unit="pages", size=1)
# Runs in memory, of all users and of one who has logged in, and the sum of what they may take. The estimates are of
# learning runs; those that wait or are paused take much less.
RUNS = Limit(variable="STICKBREAKER_RUNS", default=200, unit="runs", size=1)
RUNS_PER_USER = Limit(variable="STICKBREAKER_RUNS_PER_USER", default=20, unit="runs", size=1)
RUNS_MEMORY = Limit(variable="STICKBREAKER_RUNS_MEMORY", default=machine_memory() / GIGABYTE)
# What saved runs, saved readings, corpora and uploads may take on disk. "All" is the sum over all users.
SAVED_RUNS = Limit(variable="STICKBREAKER_SAVED_RUNS", default=2.0)
ALL_SAVED_RUNS = Limit(variable="STICKBREAKER_ALL_SAVED_RUNS", default=40.0)
SAVED_READINGS = Limit(variable="STICKBREAKER_SAVED_READINGS", default=1.0)
ALL_SAVED_READINGS = Limit(variable="STICKBREAKER_ALL_SAVED_READINGS", default=20.0)
CORPORA = Limit(variable="STICKBREAKER_CORPORA", default=10.0)
ALL_CORPORA = Limit(variable="STICKBREAKER_ALL_CORPORA", default=100.0)
UPLOAD = Limit(variable="STICKBREAKER_UPLOAD", default=0.2)
UPLOADS_PER_USER = Limit(variable="STICKBREAKER_UPLOADS_PER_USER", default=1.0)
ALL_UPLOADS = Limit(variable="STICKBREAKER_ALL_UPLOADS", default=4.0)
# Processes that read and count text that users bring; each takes about 150 MB of memory.
TEXT_PROCESSES = Limit(variable="STICKBREAKER_TEXT_PROCESSES", default=8, unit="processes", size=1)
TEXT_PROCESSES_PER_USER = Limit(variable="STICKBREAKER_TEXT_PROCESSES_PER_USER", default=2, unit="processes", size=1)
# What one of them may take of memory.
TEXT_MEMORY = Limit(variable="STICKBREAKER_TEXT_MEMORY", default=max(3.0, machine_memory() / 8 / GIGABYTE))
# Corpora that are read with the models of runs at the same time.
READINGS = Limit(variable="STICKBREAKER_READINGS", default=4, unit="readings", size=1)
READINGS_PER_USER = Limit(variable="STICKBREAKER_READINGS_PER_USER", default=2, unit="readings", size=1)
LIMITS = (
    *(RUN_MEMORY, KEPT_MODELS, ALL_KEPT_MODELS, SAVED_RUNS, ALL_SAVED_RUNS),
    *(SAVED_READINGS, ALL_SAVED_READINGS, CORPORA, ALL_CORPORA, UPLOAD, UPLOADS_PER_USER, ALL_UPLOADS),
    *(PAGES, PAGES_PER_USER, RUNS, RUNS_PER_USER, RUNS_MEMORY),
    *(TEXT_PROCESSES, TEXT_PROCESSES_PER_USER, TEXT_MEMORY, READINGS, READINGS_PER_USER),
)


def find_limit(limit: Limit) -> int:
    """The value of a limit, in bytes or things. Raises LimitError if its variable is not a number of at least 0.

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


def find_fault(error: BaseException) -> str:
    """The variable of the limit that was reached, or the type of another error: neither contains a text."""
    return error.limit.variable if isinstance(error, LimitReachedError) else type(error).__name__


def write_bytes(number: float) -> str:
    """Write a number of bytes for a message.

    >>> write_bytes(250_000_000), write_bytes(4_000_000_000)
    ('250 MB', '4.0 GB')
    """
    return f"{number / GIGABYTE:,.1f} GB" if number >= GIGABYTE else f"{number / MEGABYTE:,.0f} MB"


def check_limits() -> None:
    """Raise LimitError if the variable of any limit is wrong."""
    for limit in LIMITS:
        find_limit(limit)
