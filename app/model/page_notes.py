"""What the page notes in a checkpoint: the spec of the run, its status, names and kept run, and the
marks and columns as JSON and arrays.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stickbreaker import engine
from stickbreaker.app.model.progress import Mark, Moment, freeze
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.app.model.word_lists import WordLists
from stickbreaker.engine.runs.checkpoint import Checkpoint

# The note of a checkpoint with everything that is not an array.
PAGE = "page"
COLUMN_ARRAYS = ("topic_ids", "weights", "expected_tokens", "top_words", "relevant_words")


def read_spec(checkpoint: Checkpoint) -> RunSpec:
    """The spec of a saved run; KeyError or ValueError if it is not one."""
    about = read_page(checkpoint)
    return RunSpec(
        corpus_name=about["corpus"][0],
        algorithm=engine.find_algorithm(checkpoint.algorithm),
        config=checkpoint.config,
        settings=checkpoint.settings,
        chosen=frozenset(about["chosen"]),
    )


def read_status(checkpoint: Checkpoint) -> str:
    """The status of a saved run."""
    return str(read_page(checkpoint)["status"])


def with_page(checkpoint: Checkpoint, **values: Any) -> Checkpoint:
    """Change some of the notes of the page."""
    page = write_page(read_page(checkpoint) | values)
    return checkpoint.with_notes({**checkpoint.notes, **page})


def write_page(about: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The note with everything that is not an array."""
    return {PAGE: np.array(json.dumps(about))}


def read_page(checkpoint: Checkpoint) -> dict[str, Any]:
    """Read what `write_page` wrote."""
    return dict(json.loads(str(checkpoint.notes[PAGE])))


def write_date(date: Any) -> list[str] | None:
    """Write a date with its unit, as JSON holds it.

    >>> write_date(np.datetime64("1790")), str(read_date(["1790", "Y"]))
    (['1790', 'Y'], '1790')
    """
    return None if date is None else [str(date), np.datetime_data(date)[0]]


def read_date(written: Sequence[str] | None) -> Any:
    """Read what `write_date` wrote."""
    return None if written is None else np.datetime64(*written)


def write_marks(marks: Sequence[Mark]) -> list[Any]:
    """Write marks as JSON holds them."""
    return [[mark.documents_seen, mark.seconds, write_date(mark.date), mark.text] for mark in marks]


def read_marks(written: Sequence[Any]) -> list[Mark]:
    """Read what `write_marks` wrote."""
    return [Mark(seen, seconds, read_date(date), text) for seen, seconds, date, text in written]


def write_columns(columns: Sequence[Moment]) -> tuple[list[Any], dict[str, np.ndarray]]:
    """The columns of the word lists: their numbers for JSON, and their arrays by name."""
    numbers = [[each.documents_seen, write_date(each.date), each.num_topics] for each in columns]
    arrays: dict[str, np.ndarray] = {}
    for place, each in enumerate(columns):
        arrays |= {f"column.{place}.{name}": getattr(each, name) for name in COLUMN_ARRAYS}
        arrays |= {
            f"column.{place}.lists.{name}": array for name, array in each.lists._asdict().items()
        }
    return numbers, arrays


def read_columns(numbers: Sequence[Any], arrays: Mapping[str, np.ndarray]) -> list[Moment]:
    """Read what `write_columns` wrote. Raises KeyError if an array is missing."""
    columns = []
    for place, (documents_seen, date, num_topics) in enumerate(numbers):
        own: dict[str, Any] = {name: arrays[f"column.{place}.{name}"] for name in COLUMN_ARRAYS}
        lists = WordLists(*(arrays[f"column.{place}.lists.{name}"] for name in WordLists._fields))
        freeze((*own.values(), *lists))
        about = {"documents_seen": documents_seen, "num_topics": num_topics, "lists": lists}
        columns.append(Moment(**about, date=read_date(date), **own))
    return columns
