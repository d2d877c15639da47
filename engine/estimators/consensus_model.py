"""A model of the topics that several models have in common."""

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from stickbreaker.engine.estimators.model import TopicModel
from stickbreaker.engine.estimators.stable_topics import check_number
from stickbreaker.engine.evaluation.found_again import group_topics
from stickbreaker.engine.evaluation.held_out import rank_topics
from stickbreaker.engine.evaluation.topic_frames import empty_history
from stickbreaker.engine.evaluation.topic_space import shorten_topics
from stickbreaker.engine.inference.states import Concentrations, Decided, OnlineHDPState
from stickbreaker.engine.inference.topic_counts import decayed_counts


class NoConsensusError(ValueError):
    """Models have no topic in common; the message says what to do."""


class Part(NamedTuple):
    """What `join_parts` holds of a model and its U topics in use, the largest first.

    rows: (U, V), the fifty most probable words of each; word_tokens: (U,), the sums of their
    counts; tables, expected_tokens: (U,).
    """

    rows: csr_array
    word_tokens: np.ndarray
    tables: np.ndarray
    expected_tokens: np.ndarray
    concentrations: Concentrations


def consensus(models: Sequence[TopicModel]) -> TopicModel:
    """The topics that at least half of several models have in common, as a model.

    Topics of all models form groups, at most one of each model, by the rule of `stability`. A topic
    of the consensus is the mean of the expected counts of its group over all models, so one that
    only half of the models have counts half; α₀ and η are medians. No document is read.

    Parameters
    ----------
    models : sequence of TopicModel
        At least two fitted online HDPs of one class and the same words, such as
        `stability_of(corpus).models`. Ten give stable topics.

    Returns
    -------
    TopicModel
        A fitted model with the settings of the first one. It can be saved and used like any other.

    Raises
    ------
    ValueError
        If there are fewer than two models, they differ in class or words, they are no online HDPs,
        or if no topic is in half of them.
    NotFittedError
        If a model is not fitted.

    Examples
    --------
    >>> from stickbreaker import engine
    >>> bars = engine.load_corpus("bars").select(range(200))
    >>> models = [engine.OnlineHDP(passes=1, random_state=seed).fit(bars) for seed in range(2)]
    >>> engine.consensus(models).transform(bars).sum(1).round(6).max()
    np.float64(1.0)
    """
    check_number(models, "consensus joins models")
    for model in models:
        check_is_fitted(model)
        if type(model) is not type(models[0]) or not has_consensus(model):
            raise ValueError("consensus joins online HDPs of one class: give models of OnlineHDP.")
        model._check_like(models[0])
    parts = [take_part(model)[0] for model in models]
    return join_parts(models[0], parts, (take_part(model)[1] for model in models))


def has_consensus(model: TopicModel) -> bool:
    """Whether models of this class can be joined."""
    return isinstance(model.state_, OnlineHDPState)


def take_part(model: TopicModel) -> tuple[Part, np.ndarray]:
    """The part of a model, and the expected counts (U, V) of its topics in use."""
    state = model.state_
    used = rank_topics(state.expected_tokens)
    counts: np.ndarray = state.topic_counts.keep(used).dense().T
    part = Part(
        rows=shorten_topics(counts),
        word_tokens=counts.sum(1),
        tables=state.tables[used],
        expected_tokens=state.expected_tokens[used],
        concentrations=state.concentrations,
    )
    return part, counts


def join_parts(
    first: TopicModel, parts: Sequence[Part], counts: Iterable[np.ndarray]
) -> TopicModel:
    """The consensus of models, with the settings of the first one.

    counts: of each part, (U, V); they are taken one after another, so that they need not fit in
    memory together. Raises NoConsensusError if no topic is in half of the models.
    """
    groups = group_topics([part.rows for part in parts], [part.word_tokens for part in parts])
    num_models = np.bincount(np.concatenate(groups))
    kept = np.flatnonzero(2 * num_models >= len(parts))
    if not len(kept):
        raise NoConsensusError(
            "No topic is in half of the models: fit more, or let each read more."
        )
    places = np.full(len(num_models), -1)
    places[kept] = np.arange(len(kept))

    def average(values: Iterable[np.ndarray], *shape: int) -> np.ndarray:
        sums = np.zeros((len(kept), *shape))
        for own, value in zip(groups, values, strict=True):
            is_kept = places[own] >= 0
            sums[places[own[is_kept]]] += value[is_kept]
        return sums / len(parts)

    state = first.state_
    known = state.topic_counts
    means = np.ascontiguousarray(average(counts, known.vocab_size).T, known.precision)
    joined = copy(first)
    joined.config_ = replace(first.config_, max_topics=len(kept))
    joined.state_ = state._replace(
        topic_counts=decayed_counts(means),
        tables=average(part.tables for part in parts),
        expected_tokens=average(part.expected_tokens for part in parts),
        concentrations=_take_medians([part.concentrations for part in parts]),
        decided=Decided(),
    )
    joined.topic_names_ = {}
    joined.edits_ = ()
    vars(joined).pop("_before", None)
    joined.history_ = empty_history()
    return joined


class Gathering:
    """Joins models that are given one after another; their counts wait in files of a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._parts: list[Part] = []
        self._fault: OSError | None = None

    def add(self, model: TopicModel) -> None:
        """Add a model that has a consensus."""
        part, counts = take_part(model)
        try:
            np.save(self._folder / f"{len(self._parts)}.npy", counts)
        except OSError as error:
            self._fault = error
        self._parts.append(part)

    def join(self, first: TopicModel) -> TopicModel:
        """The consensus, with the settings of a model.

        Raises NoConsensusError, and OSError if a file could not be written or read.
        """
        if self._fault is not None:
            raise self._fault
        files = (self._folder / f"{number}.npy" for number in range(len(self._parts)))
        return join_parts(first, self._parts, map(np.load, files))


def _take_medians(found: Sequence[Concentrations]) -> Concentrations:
    """The median α₀ and η; the rest as in the first."""
    first = found[0]
    total = np.median([each.doc.total for each in found])
    doc = first.doc._replace(shape=first.doc.shape * total / first.doc.total)
    return first._replace(doc=doc, word=float(np.median([each.word for each in found])))
