"""Estimators made from checkpoints, and `load`."""

from dataclasses import asdict
from os import PathLike
from typing import Any

from stickbreaker.engine.estimators.classes import CLASSES
from stickbreaker.engine.estimators.files import add_notes, load_model
from stickbreaker.engine.estimators.model import TopicModel
from stickbreaker.engine.evaluation.topic_frames import empty_history
from stickbreaker.engine.runs.before_edit import take_before
from stickbreaker.engine.runs.checkpoint import Checkpoint


def load(path: str | PathLike[str]) -> TopicModel:
    """Read a model that `save` wrote.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    TopicModel
        The model, of the class that wrote it. Its `random_state` is the seed that it drew.

    Raises
    ------
    CheckpointError
        If the file is missing or damaged, or holds a run of the app instead of a model.
    """
    checkpoint, words, corpus_size = load_model(path)
    model = from_checkpoint(checkpoint, words, corpus_size)
    add_notes(model, checkpoint.notes)
    if (before := take_before(checkpoint)) is not None:
        earlier = from_checkpoint(before, words, corpus_size)
        add_notes(earlier, before.notes)
        model._before = (earlier._take_fitted(),)
    return model


def from_checkpoint(
    checkpoint: Checkpoint, words: tuple[str, ...] | None, corpus_size: int
) -> TopicModel:
    """The model of a run at `checkpoint`, with the V words and D, its number of documents."""
    settings = checkpoint.settings
    kind: Any = CLASSES[checkpoint.algorithm]
    model: TopicModel = kind(
        **asdict(checkpoint.config), passes=settings.passes, random_state=settings.seed
    )
    model.num_shards = settings.num_shards
    model.config_ = checkpoint.config
    model.state_ = checkpoint.state
    model.seed_ = settings.seed
    model.documents_seen_ = checkpoint.documents_seen
    model.corpus_size_ = corpus_size
    model.words_ = words
    model.topic_names_ = {}
    model.history_ = empty_history()
    if words is not None:
        model.n_features_in_ = len(words)
    return model
