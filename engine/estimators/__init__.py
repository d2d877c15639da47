"""Every algorithm as a scikit-learn estimator: fit, partial_fit, transform, score, save and load.

There is one class for each entry of REGISTRY, named after it: "cv-hdp" is `CVHDP`. Its parameters
are the settings of the algorithm, then `passes`, `random_state` and `unused_topics`. Algorithms
that learn from mini-batches are called Online ("hdp" is `OnlineHDP`) and have `partial_fit`.
`python -m stickbreaker.engine.estimators.write_classes` writes the classes.
"""

from dataclasses import asdict
from os import PathLike
from typing import Any

from stickbreaker.engine.estimators.classes import (
    CLASSES,
    CVHDP,
    CVLDA,
    BatchDPMixture,
    BatchHDP,
    BatchLDA,
    GibbsHDP,
    GibbsLDA,
    OnlineDirectHDP,
    OnlineDPMixture,
    OnlineFreeDPMixture,
    OnlineFreeHDP,
    OnlineHDP,
    OnlineLDA,
    OnlineSVIHDP,
)
from stickbreaker.engine.estimators.editable import EditableTopicModel
from stickbreaker.engine.estimators.files import add_notes, load_model
from stickbreaker.engine.estimators.fitted import TopicEdit
from stickbreaker.engine.estimators.follower import Followed, Follower
from stickbreaker.engine.estimators.model import TopicModel
from stickbreaker.engine.estimators.online_model import OnlineTopicModel
from stickbreaker.engine.estimators.stable_topics import stability
from stickbreaker.engine.estimators.topic_scores import score_topics
from stickbreaker.engine.estimators.vectorizer import CorpusVectorizer
from stickbreaker.engine.evaluation.topic_frames import empty_history
from stickbreaker.engine.runs.checkpoint import Checkpoint

__all__ = [
    "CVHDP",
    "CVLDA",
    "BatchDPMixture",
    "BatchHDP",
    "BatchLDA",
    "CorpusVectorizer",
    "EditableTopicModel",
    "Followed",
    "Follower",
    "GibbsHDP",
    "GibbsLDA",
    "OnlineDPMixture",
    "OnlineDirectHDP",
    "OnlineFreeDPMixture",
    "OnlineFreeHDP",
    "OnlineHDP",
    "OnlineLDA",
    "OnlineSVIHDP",
    "OnlineTopicModel",
    "TopicEdit",
    "TopicModel",
    "load",
    "score_topics",
    "stability",
]


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
