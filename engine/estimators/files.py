"""Files of fitted estimators: a checkpoint of the state, with everything that the estimator adds to it."""

import json
from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd

from stickbreaker.engine.runs import checkpoint
from stickbreaker.engine.runs.checkpoint import CheckpointError, Position
from stickbreaker.engine.runs.settings import RunSettings

NUMBERS, NAMES, HISTORY = ("n_features_in_", "corpus_size_"), ("words_", "feature_names_in_"), "history_."
TOPIC_NAMES = "topic_names_"
# As given: a setting that was left to the corpus is left to it again at the next fit.
PARAMETERS = "parameters"


def save_model(path: str | PathLike[str], model: Any, parameters: Mapping[str, Any]) -> None:
    """Write a fitted estimator and its parameters to one file, completely or not at all."""
    notes = {name: np.array(getattr(model, name)) for name in NUMBERS}
    for name in NAMES:
        if getattr(model, name, None) is not None:
            notes[name] = np.array(getattr(model, name), str)
    for name, column in getattr(model, "history_", {}).items():
        notes[HISTORY + name] = column.to_numpy(str if name == "word" else None)
    notes[PARAMETERS] = np.array(json.dumps({**parameters, "unused_topics": model.unused_topics}))
    if getattr(model, TOPIC_NAMES, None):
        notes[TOPIC_NAMES] = np.array(json.dumps(list(getattr(model, TOPIC_NAMES).items())))
    settings = RunSettings(passes=model.passes, seed=model.seed_)
    name, seen = model.algorithm.name, model.documents_seen_
    checkpoint.save(path, Position(name, model.config_, settings, model.state_, seen, 0.0, notes=notes))


def load_model(path: str | PathLike[str]) -> tuple[Position, tuple[str, ...] | None, int]:
    """The position in a model's file, its V words if it knows them, and D, the documents of its corpus.

    Raises CheckpointError where the file is missing or damaged, or holds a run of the page instead of a model.
    """
    position = checkpoint.load(path)
    if not set(NUMBERS) <= position.notes.keys():
        raise CheckpointError(f"{path} holds a run of the page, not a model: read it with engine.runs.checkpoint.load.")
    words, corpus_size = position.notes.get("words_"), position.notes["corpus_size_"].item()
    return position, None if words is None else tuple(words.tolist()), corpus_size


def restore(model: Any, notes: Mapping[str, np.ndarray]) -> None:
    """Give an estimator, made from the position in a file, everything else that the file holds."""
    if PARAMETERS in notes:
        model.set_params(**json.loads(str(notes[PARAMETERS])))
    model.n_features_in_ = notes["n_features_in_"].item()
    if "feature_names_in_" in notes:
        model.feature_names_in_ = notes["feature_names_in_"].astype(object)
    history = {name.removeprefix(HISTORY): column for name, column in notes.items() if HISTORY in name}
    if history:
        model.history_ = pd.DataFrame(history)
    if TOPIC_NAMES in notes:
        model.topic_names_ = dict(json.loads(str(notes[TOPIC_NAMES])))
