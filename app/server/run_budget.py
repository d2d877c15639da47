"""Which runs without a page make room for a new one, and the message if there is no room."""

from collections.abc import Sequence
from typing import NamedTuple

from stickbreaker.app.model.limits import (
    RUNS,
    RUNS_MEMORY,
    RUNS_PER_USER,
    LimitReachedError,
    find_limit,
    write_bytes,
)
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.server.claims import GUEST
from stickbreaker.engine import Corpus, find_algorithm
from stickbreaker.engine.runs.memory import estimate_memory

MANY = (
    "This server has {} runs in memory, which is its maximum (STICKBREAKER_PAGES): try again later."
)
MANY_OF_USER = (
    "You have {} runs in memory, which is the maximum for each user (STICKBREAKER_PAGES_PER_USER):"
    " close a page, or cancel a sweep."
)
MUCH = (
    "The runs on this server need about {} of memory, but the limit for all of them is {}"
    " (STICKBREAKER_RUNS_MEMORY): close a page, or try again later."
)


class HeldRun(NamedTuple):
    """A run in memory. left_at: when its last page closed; None while it or its sweep is in use."""

    key: str
    user: str | None
    size: int
    left_at: float | None


class Measured(NamedTuple):
    """The estimated bytes of memory of a run without its corpus; 0 until that is open."""

    run_id: int | tuple[str, str] = 0
    size: int = 0


def measure(progress: Progress, corpus: Corpus | None, before: Measured) -> Measured:
    """Estimate the memory of a run, once for each start; before: what was found the last time."""
    if not progress.corpus_size or corpus is None:
        return Measured()
    if before.run_id == progress.run_id:
        return before
    size = estimate_memory(find_algorithm(progress.algorithm), progress.config, corpus)
    return Measured(run_id=progress.run_id, size=size)


def choose_freed(held: Sequence[HeldRun], user: str | None) -> list[str]:
    """Choose the runs that are removed before one more of this user, those left first.

    The user's own runs make room for the user, those of all users for the whole server. Raises
    LimitReachedError if there are not enough of them.
    """
    left = list(held)
    freed = []
    while reached := _find_reached(left, user):
        is_own = reached.limit == RUNS_PER_USER
        abandoned = [
            run for run in left if run.left_at is not None and (run.user == user or not is_own)
        ]
        if not abandoned:
            raise reached
        oldest = min(abandoned, key=lambda run: run.left_at or 0.0)
        left.remove(oldest)
        freed.append(oldest.key)
    return freed


def _find_reached(held: Sequence[HeldRun], user: str | None) -> LimitReachedError | None:
    """The limit that one more run of this user would exceed."""
    number = sum(run.user == user for run in held)
    # Visitors who have not logged in are one user.
    if user not in (None, GUEST) and number >= find_limit(RUNS_PER_USER):
        return LimitReachedError(RUNS_PER_USER, MANY_OF_USER.format(number))
    if len(held) >= find_limit(RUNS):
        return LimitReachedError(RUNS, MANY.format(len(held)))
    size = sum(run.size for run in held)
    most = find_limit(RUNS_MEMORY)
    if held and size >= most:
        return LimitReachedError(RUNS_MEMORY, MUCH.format(write_bytes(size), write_bytes(most)))
    return None
