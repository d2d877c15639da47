"""Files of fitted estimators: a checkpoint of the state, with everything that the estimator adds to
it.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from typing import Any, Protocol

import numpy as np
import pandas as pd

from stickbreaker.engine.algorithm import Algorithm
from stickbreaker.engine.runs import checkpoint
from stickbreaker.engine.runs.checkpoint import Checkpoint, CheckpointError
from stickbreaker.engine.runs.settings import RunSettings

# The names of the arrays in a file.
NUM_WORDS, CORPUS_SIZE, WORDS, COLUMNS = (
    "n_features_in_",
    "corpus_size_",
    "words_",
    "feature_names_in_",
)
TOPIC_NAMES, HISTORY, DATE_FORM = "topic_names_", "history_.", "date_form_"
# As given: a setting that was left to the corpus is left to it again at the next fit.
PARAMETERS = "parameters"


class FittedModel(Protocol):
    """What a file keeps of a fitted estimator, besides the parameters and the columns of a data
    frame.
    """

    algorithm: Algorithm
    passes: int | None
    num_shards: int | None
    unused_topics: str
    state_: Any
    config_: Any
    seed_: int
    documents_seen_: int
    corpus_size_: int
    n_features_in_: int
    words_: tuple[str, ...] | None
    history_: pd.DataFrame
    topic_names_: dict[int, str]
    date_form_: str


def save_model(
    path: str | PathLike[str],
    model: FittedModel,
    parameters: Mapping[str, Any],
    columns: np.ndarray | None,
) -> None:
    """Write a fitted estimator to one file, completely or not at all.

    parameters: those of the algorithm, as given; columns: the names (V,) of the columns of the data
    frame of the fit.
    """
    notes = {NUM_WORDS: np.array(model.n_features_in_), CORPUS_SIZE: np.array(model.corpus_size_)}
    named = ((WORDS, model.words_), (COLUMNS, columns))
    notes |= {name: np.array(words, str) for name, words in named if words is not None}
    notes |= note_history(model.history_)
    notes[PARAMETERS] = np.array(json.dumps({**parameters, "unused_topics": model.unused_topics}))
    if model.date_form_:
        notes[DATE_FORM] = np.array(model.date_form_)
    if model.topic_names_:
        notes[TOPIC_NAMES] = np.array(json.dumps(list(model.topic_names_.items())))
    settings = RunSettings(passes=model.passes, seed=model.seed_, num_shards=model.num_shards)
    name, seen = model.algorithm.name, model.documents_seen_
    checkpoint.save(
        path,
        Checkpoint(
            algorithm=name,
            config=model.config_,
            settings=settings,
            state=model.state_,
            documents_seen=seen,
            seconds=0.0,
            notes=notes,
        ),
    )


def note_history(history: pd.DataFrame) -> dict[str, np.ndarray]:
    """The columns of a history as notes of a checkpoint; an empty one has no notes."""
    if history.empty:
        return {}
    return {
        HISTORY + name: column.to_numpy(str if name == "word" else None)
        for name, column in history.items()
    }


def read_history(notes: Mapping[str, np.ndarray]) -> pd.DataFrame | None:
    """The history in the notes of a checkpoint; None if they have none."""
    history = {
        name.removeprefix(HISTORY): column for name, column in notes.items() if HISTORY in name
    }
    return pd.DataFrame(history) if history else None


# A model is a checkpoint with its words.
MODEL = replace(
    checkpoint.CHECKPOINT, remedy="give a file that was written by the method save of a model"
)


def load_model(path: str | PathLike[str]) -> tuple[Checkpoint, tuple[str, ...] | None, int]:
    """The checkpoint in a model's file, its V words if it knows them, and D, the documents of its
    corpus.

    Raises CheckpointError if the file is missing or damaged, or holds a run of the app instead of a
    model.
    """
    saved = checkpoint.load(path, MODEL)
    if not {NUM_WORDS, CORPUS_SIZE} <= saved.notes.keys():
        raise CheckpointError(
            f"{path} contains a run of the app, not a model: read it with"
            " engine.runs.checkpoint.load."
        )
    words, corpus_size = saved.notes.get(WORDS), saved.notes[CORPUS_SIZE].item()
    return saved, None if words is None else tuple(words.tolist()), corpus_size


def restore(model: Any, notes: Mapping[str, np.ndarray]) -> None:
    """Give an estimator, made from a checkpoint, everything else that its file holds."""
    if PARAMETERS in notes:
        model.set_params(**json.loads(str(notes[PARAMETERS])))
    model.n_features_in_ = notes[NUM_WORDS].item()
    if COLUMNS in notes:
        model.feature_names_in_ = notes[COLUMNS].astype(object)
    history = read_history(notes)
    if history is not None:
        model.history_ = history
    if DATE_FORM in notes:
        model.date_form_ = str(notes[DATE_FORM])
    if TOPIC_NAMES in notes:
        model.topic_names_ = dict(json.loads(str(notes[TOPIC_NAMES])))
