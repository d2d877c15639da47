"""A run as it was earlier: everything that a page shows, cut off after one of its steps. Pure."""

from collections.abc import Iterator
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from stickbreaker.app.model.progress import Curve, Progress
from stickbreaker.engine.algorithm import Phase

REPLAYED = "replayed"
STILL = ("paused", "finished", "failed")


def can_replay(progress: Progress) -> bool:
    """Whether a run does not learn and has at least two steps to choose from."""
    is_still = progress.status in STILL or bool(progress.recorded_on)
    return is_still and len(progress.steps) > 1


def list_moments(progress: Progress) -> np.ndarray:
    """Documents read after each recorded step of a run, in order."""
    return progress.steps["documents_seen"]


def find_moment(progress: Progress, documents_seen: int | None) -> int:
    """The place of the last step with at most this many documents; None: the last step."""
    moments = list_moments(progress)
    if documents_seen is None:
        return len(moments) - 1
    return max(0, int(np.searchsorted(moments, documents_seen, side="right")) - 1)


def rewind(progress: Progress, documents_seen: int | None) -> Progress:
    """Show a run as it was after a step; unchanged for the last step, None, and while it learns.

    Curves end at the step. The topics are those of the last column of the word lists until then,
    because only columns record them. Names and labels are those of the whole run, so that a topic
    is easy to follow.
    """
    if documents_seen is None or not can_replay(progress):
        return progress
    place = find_moment(progress, documents_seen)
    steps = progress.steps
    seen = int(steps["documents_seen"][place])
    if place == len(steps) - 1:
        return progress
    reached = tuple(point for point in progress.columns if point.documents_seen <= seen)
    later = tuple(point.documents_seen for point in progress.columns[len(reached) :])
    return replace(
        progress,
        status=REPLAYED,
        message="",
        documents_seen=seen,
        date=date_at(progress, place),
        documents_per_second=0.0,
        phase=Phase.WARM_UP if steps["phase"][place] == 0 else progress.phase,
        startup_share=float(steps["startup_share"][place]),
        steps=_cut(steps, seen),
        heldout=_cut(progress.heldout, seen),
        # A batch is scored before it is learned, so the score of the step to come is not known yet.
        next_batch=_cut(progress.next_batch, seen - 1),
        marks=tuple(mark for mark in progress.marks if mark.documents_seen <= seen),
        edits=progress.edits.until(seen),
        columns=reached,
        now=next(reversed(reached), None),
        planned_columns=later,
    )


def date_at(progress: Progress, place: int) -> Any:
    """The date of the newest document after a step; None without dates."""
    if progress.date is None:
        return None
    return progress.steps["date"].astype(np.asarray(progress.date).dtype)[place]


def film(progress: Progress, num_frames: int) -> Iterator[Progress]:
    """The run at this many moments, evenly spaced; the last one is the run itself."""
    moments = list_moments(progress)
    for place in np.linspace(0, len(moments) - 1, num_frames).round().astype(int):
        yield rewind(progress, int(moments[place]))


def _cut(curve: Curve, documents_seen: int) -> Curve:
    """The points of a curve up to this many documents."""
    end = int(np.searchsorted(curve["documents_seen"], documents_seen, side="right"))
    return Curve(MappingProxyType({name: column[:end] for name, column in curve.columns.items()}))
