"""The checkpoint before an edit, as what the edit has changed of the one after it.

An edit changes few topics, so that a file with both is little larger than a file with one.
"""

import json
from dataclasses import replace
from typing import Any

import numpy as np

from stickbreaker.engine.runs.checkpoint import STATE, Checkpoint, restore, take_notes, to_parts

# Notes of a checkpoint: arrays before the edit, and which topics and names differ.
BEFORE = "before."
ABOUT = f"{BEFORE}about"
COUNTS = f"{STATE}.topic_counts.stored"


def with_before(after: Checkpoint, before: Checkpoint) -> Checkpoint:
    """The checkpoint after an edit with notes from which `take_before` restores the one before.

    If the run has learned since, or read with other settings, it has no such notes: they would be
    as large as the checkpoint.
    """
    after = without_before(after)
    if _find_place(before) != _find_place(after):
        return after
    earlier, later = to_parts(before), to_parts(after)
    changed = {
        name: part
        for name, part in earlier.items()
        if name not in later or not np.array_equal(part, later[name])
    }
    about: dict[str, Any] = {
        "removed": [name for name in later if name not in earlier],
        "topics": None,
    }
    if COUNTS in changed and COUNTS in later:
        counts = changed[COUNTS]
        own = later[COUNTS][:, : counts.shape[1]]
        topics = np.flatnonzero((counts != own).any(0))
        about |= {"topics": topics.tolist(), "num_topics": counts.shape[1]}
        changed[COUNTS] = counts[:, topics]
    notes = {BEFORE + name: part for name, part in changed.items()}
    notes[ABOUT] = np.array(json.dumps(about))
    return after.with_notes({**after.notes, **notes})


def take_before(after: Checkpoint) -> Checkpoint | None:
    """The checkpoint before the last edit; None if the notes do not have it."""
    if ABOUT not in after.notes:
        return None
    about = json.loads(str(after.notes[ABOUT]))
    later = to_parts(without_before(after))
    parts = {name: part for name, part in later.items() if name not in about["removed"]}
    for name, part in after.notes.items():
        if name.startswith(BEFORE) and name != ABOUT:
            parts[name.removeprefix(BEFORE)] = part
    if about["topics"] is not None:
        counts = later[COUNTS][:, : about["num_topics"]].copy()
        counts[:, about["topics"]] = parts[COUNTS]
        parts[COUNTS] = counts
    state = None if after.state is None else restore(STATE, after.state, parts)
    return replace(after, state=state, notes=take_notes(parts))


def without_before(checkpoint: Checkpoint) -> Checkpoint:
    """The checkpoint without what `with_before` has added."""
    notes = {name: note for name, note in checkpoint.notes.items() if not name.startswith(BEFORE)}
    return checkpoint.with_notes(notes)


def _find_place(checkpoint: Checkpoint) -> tuple[Any, ...]:
    """What an edit does not change."""
    return (
        checkpoint.config,
        checkpoint.settings,
        checkpoint.documents_seen,
        checkpoint.has_ended,
        checkpoint.state is None,
    )
