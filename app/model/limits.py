"""Limits that keep one server usable for all; variables of the environment set other values."""

import os
from dataclasses import dataclass

from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.runs.memory import machine_memory

GIGABYTE = 1_000_000_000
MEGABYTE = 1_000_000


class LimitError(ValueError):
    """The variable of a limit is not a number; the message names the variable and what to write."""


@dataclass(eq=False)
class Limit:
    """A limit. name: in the log. variable: sets another value than the default, if it has one.

    default: in units, as the variable; times the basis, if the limit has one. size: single things
    in a unit.
    """

    name: str
    default: float
    variable: str = ""
    basis: "Limit | None" = None
    unit: str = "gigabytes"
    size: int = GIGABYTE


class LimitReachedError(CorpusError):
    """Something is refused; the message names the value, the limit and what to do."""

    def __init__(self, limit: Limit, message: str):
        super().__init__(message)
        self.limit = limit


# Memory: of one run, of all runs, and of one process that reads the text of a user. The estimates
# are of learning runs; those that wait or are paused take much less.
RUN_MEMORY = Limit("run_memory", machine_memory() / 4 / GIGABYTE, "STICKBREAKER_RUN_MEMORY")
RUNS_MEMORY = Limit("runs_memory", machine_memory() / GIGABYTE, "STICKBREAKER_RUNS_MEMORY")
TEXT_MEMORY = Limit(
    "text_memory", max(3.0, machine_memory() / 8 / GIGABYTE), "STICKBREAKER_TEXT_MEMORY"
)
# Disk: of one user, and of all users together.
CORPORA = Limit("corpora", 10.0, "STICKBREAKER_CORPORA")
ALL_CORPORA = Limit("all_corpora", 10, basis=CORPORA)
KEPT_MODELS = Limit("kept_models", 1.0, "STICKBREAKER_KEPT_MODELS")
ALL_KEPT_MODELS = Limit("all_kept_models", 20, basis=KEPT_MODELS)
SAVED_RUNS = Limit("saved_runs", 2, basis=KEPT_MODELS)
ALL_SAVED_RUNS = Limit("all_saved_runs", 20, basis=SAVED_RUNS)
SAVED_READINGS = Limit("saved_readings", 1, basis=KEPT_MODELS)
ALL_SAVED_READINGS = Limit("all_saved_readings", 20, basis=SAVED_READINGS)
UPLOAD = Limit("upload", 0.2, "STICKBREAKER_UPLOAD")
UPLOADS_PER_USER = Limit("uploads_per_user", 5, basis=UPLOAD)
ALL_UPLOADS = Limit("all_uploads", 20, basis=UPLOAD)
# Things at the same time: of all users, and of one who has logged in.
PAGES = Limit("pages", 200, "STICKBREAKER_PAGES", unit="pages", size=1)
PAGES_PER_USER = Limit("pages_per_user", 20, "STICKBREAKER_PAGES_PER_USER", unit="pages", size=1)
RUNS = Limit("runs", 1, basis=PAGES, unit="runs", size=1)
RUNS_PER_USER = Limit("runs_per_user", 1, basis=PAGES_PER_USER, unit="runs", size=1)
TEXT_PROCESSES = Limit("text_processes", 8, unit="processes", size=1)
TEXT_PROCESSES_PER_USER = Limit("text_processes_per_user", 2, unit="processes", size=1)
READINGS = Limit("readings", 4, unit="readings", size=1)
READINGS_PER_USER = Limit("readings_per_user", 2, unit="readings", size=1)
LIMITS = tuple(each for each in globals().values() if isinstance(each, Limit))


def find_limit(limit: Limit) -> int:
    """The value of a limit, in bytes or things.

    Raises LimitError if its variable is not a number of at least 0.

    >>> find_limit(KEPT_MODELS)
    1000000000
    """
    if limit.basis is not None:
        return int(limit.default * find_limit(limit.basis))
    written = os.environ.get(limit.variable, "")
    try:
        units = float(written or limit.default)
        if not 0 <= units < float("inf"):
            raise ValueError
    except ValueError:
        advice = (
            f"set it to a number of {limit.unit}, such as {limit.variable}={limit.default:.3g}, or"
            " remove it"
        )
        raise LimitError(f"{limit.variable} is {written[:40]!r}: {advice}.") from None
    return int(units * limit.size)


def find_fault(error: BaseException) -> str:
    """The limit that was reached, or the type of another error: never a text."""
    return error.limit.name if isinstance(error, LimitReachedError) else type(error).__name__


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
