"""What the page notes in a checkpoint, next to the arrays: the spec of the run, its status,
names and kept run.
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from stickbreaker import engine
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.engine.runs.checkpoint import Checkpoint

# The note of a checkpoint with everything that is not an array.
PAGE = "page"


def read_spec(checkpoint: Checkpoint) -> RunSpec:
    """The spec of a saved run; KeyError or ValueError if it is not one."""
    about = _read(checkpoint)
    return RunSpec(
        corpus_name=about["corpus"][0],
        algorithm=engine.find_algorithm(checkpoint.algorithm),
        config=checkpoint.config,
        settings=checkpoint.settings,
        chosen=frozenset(about["chosen"]),
    )


def read_status(checkpoint: Checkpoint) -> str:
    """The status of a saved run."""
    return str(_read(checkpoint)["status"])


def read_kept_key(checkpoint: Checkpoint) -> str:
    """The key of the kept run that a saved run is or was, or ""."""
    return str(_read(checkpoint).get("kept_key", ""))


def read_topics_key(checkpoint: Checkpoint) -> str:
    """The key of the topics of a saved run; "" in files of earlier versions."""
    return str(_read(checkpoint).get("topics_key", ""))


def with_names(checkpoint: Checkpoint, names: Mapping[int, str]) -> Checkpoint:
    """Give the topics of a saved run these names, by id."""
    return with_page(checkpoint, names=list(names.items()))


def with_page(checkpoint: Checkpoint, **values: Any) -> Checkpoint:
    """Change some of the notes of the page."""
    return checkpoint.with_notes(
        {**checkpoint.notes, PAGE: np.array(json.dumps(_read(checkpoint) | values))}
    )


def _read(checkpoint: Checkpoint) -> dict[str, Any]:
    return dict(json.loads(str(checkpoint.notes[PAGE])))
