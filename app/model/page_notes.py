"""What the page notes in a saved position, next to the arrays: the spec of the run, its status,
names and kept run.
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from stickbreaker import engine
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.engine.runs.checkpoint import Position

# The note of a saved position with everything that is not an array.
PAGE = "page"


def read_spec(position: Position) -> RunSpec:
    """The spec of a saved run.

    Raises KeyError or ValueError if the position was not saved by a record.
    """
    about = _read(position)
    return RunSpec(
        corpus_name=about["corpus"][0],
        algorithm=engine.find_algorithm(position.algorithm),
        config=position.config,
        settings=position.settings,
        chosen=frozenset(about["chosen"]),
    )


def read_status(position: Position) -> str:
    """The status of a saved run."""
    return str(_read(position)["status"])


def read_kept_key(position: Position) -> str:
    """The key of the kept run that a saved run is or was.

    "" if there is none, and in files of earlier versions.
    """
    return str(_read(position).get("kept_key", ""))


def read_topics_key(position: Position) -> str:
    """The key of the topics of a saved run; "" in files of earlier versions."""
    return str(_read(position).get("topics_key", ""))


def with_names(position: Position, names: Mapping[int, str]) -> Position:
    """Give the topics of a saved run these names, by id."""
    return with_page(position, names=list(names.items()))


def with_page(position: Position, **values: Any) -> Position:
    """Change some of the notes of the page."""
    return position.with_notes(
        {**position.notes, PAGE: np.array(json.dumps(_read(position) | values))}
    )


def _read(position: Position) -> dict[str, Any]:
    return dict(json.loads(str(position.notes[PAGE])))
