"""Files of fitted estimators: a checkpoint of the state, with everything that the estimator adds to
it.
"""

import json
from collections.abc import Mapping
from copy import copy
from dataclasses import asdict, replace
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd

from stickbreaker.engine.algorithm import TopicEdit
from stickbreaker.engine.corpora.word_choices import read_choices
from stickbreaker.engine.estimators.fitted import FittedModel
from stickbreaker.engine.evaluation.topic_frames import empty_history
from stickbreaker.engine.runs import checkpoint
from stickbreaker.engine.runs.before_edit import with_before
from stickbreaker.engine.runs.checkpoint import Checkpoint, CheckpointError
from stickbreaker.engine.runs.settings import RunSettings

# The names of the arrays in a file.
NUM_WORDS = "n_features_in_"
CORPUS_SIZE = "corpus_size_"
WORDS = "words_"
COLUMNS = "feature_names_in_"
TOPIC_NAMES = "topic_names_"
HISTORY = "history_."
DATE_FORM = "date_form_"
WORD_CHOICES = "word_choices_"
EDITS = "edits_"
# As given: a setting that was left to the corpus is left to it again at the next fit.
PARAMETERS = "parameters"


def save_model(
    path: str | PathLike[str],
    model: FittedModel,
    parameters: Mapping[str, Any],
    columns: np.ndarray | None,
) -> None:
    """Write a fitted estimator to one file, completely or not at all.

    parameters: those of the algorithm, as given; columns: the names (V,) of the columns of the data
    frame of the fit. Its last edit can be undone after loading if it has not learned since.
    """
    saved = _to_checkpoint(model, parameters, columns)
    if model._before:
        earlier = copy(model)
        vars(earlier).update(model._before[-1])
        saved = with_before(saved, _to_checkpoint(earlier, parameters, columns))
    checkpoint.save(path, saved)


def _to_checkpoint(
    model: FittedModel, parameters: Mapping[str, Any], columns: np.ndarray | None
) -> Checkpoint:
    notes = {NUM_WORDS: np.array(model.n_features_in_), CORPUS_SIZE: np.array(model.corpus_size_)}
    named = ((WORDS, model.words_), (COLUMNS, columns))
    notes |= {name: np.array(words, str) for name, words in named if words is not None}
    notes |= note_history(model.history_)
    notes[PARAMETERS] = np.array(json.dumps({**parameters, "unused_topics": model.unused_topics}))
    if model.word_choices_:
        notes[WORD_CHOICES] = np.array(json.dumps(asdict(model.word_choices_)))
    if model.date_form_:
        notes[DATE_FORM] = np.array(model.date_form_)
    if model.topic_names_:
        notes[TOPIC_NAMES] = np.array(json.dumps(list(model.topic_names_.items())))
    if model.edits_:
        notes[EDITS] = np.array(json.dumps([each._asdict() for each in model.edits_]))
    settings = RunSettings(passes=model.passes, seed=model.seed_, num_shards=model.num_shards)
    return Checkpoint(
        algorithm=model.algorithm.name,
        config=model.config_,
        settings=settings,
        state=model.state_,
        documents_seen=model.documents_seen_,
        seconds=0.0,
        notes=notes,
    )


def note_history(history: pd.DataFrame) -> dict[str, np.ndarray]:
    """The columns of a history as notes of a checkpoint; an empty one has no notes."""
    if history.empty:
        return {}
    notes = {HISTORY + name: column.to_numpy() for name, column in history.items()}
    return notes | {HISTORY + "word": history["word"].to_numpy(str)}


def read_history(notes: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """The history in the notes of a checkpoint; an empty one if they have none."""
    history = {
        name.removeprefix(HISTORY): column for name, column in notes.items() if HISTORY in name
    }
    # Earlier files call the weight share.
    return pd.DataFrame(history or empty_history()).rename(columns={"share": "weight"})


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
    words = tuple(map(str, saved.notes.get(WORDS, ())))
    return saved, words or None, saved.notes[CORPUS_SIZE].item()


def add_notes(model: Any, notes: Mapping[str, np.ndarray]) -> None:
    """Give an estimator, made from a checkpoint, everything else that its file holds."""
    if PARAMETERS in notes:
        model.set_params(**json.loads(str(notes[PARAMETERS])))
    model.n_features_in_ = notes[NUM_WORDS].item()
    if COLUMNS in notes:
        model.feature_names_in_ = notes[COLUMNS].astype(object)
    model.history_ = read_history(notes)
    if WORD_CHOICES in notes:
        model.word_choices_ = read_choices(json.loads(str(notes[WORD_CHOICES])))
    if DATE_FORM in notes:
        model.date_form_ = str(notes[DATE_FORM])
    if TOPIC_NAMES in notes:
        model.topic_names_ = dict(json.loads(str(notes[TOPIC_NAMES])))
    if EDITS in notes:
        model.edits_ = tuple(map(_read_edit, json.loads(str(notes[EDITS]))))


def _read_edit(written: dict[str, Any]) -> TopicEdit:
    return TopicEdit(**written | {name: tuple(written[name]) for name in ("topic_ids", "words")})
