"""Which topics come back in other runs, and a model of the topics that runs have in common."""

import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.declarations import check_whole
from stickbreaker.engine.estimators.classes import OnlineHDP
from stickbreaker.engine.estimators.model import TopicModel
from stickbreaker.engine.evaluation.found_again import find_again, group_topics
from stickbreaker.engine.evaluation.held_out import rank_topics
from stickbreaker.engine.evaluation.topic_frames import empty_history
from stickbreaker.engine.inference.states import Concentrations, Decided, OnlineHDPState
from stickbreaker.engine.inference.topic_counts import decayed_counts
from stickbreaker.engine.parallel.clusters import connect
from stickbreaker.engine.progress_bars import show_progress
from stickbreaker.engine.runs.events import Update
from stickbreaker.engine.runs.prepared import split_corpus
from stickbreaker.engine.runs.settings import RunSettings
from stickbreaker.engine.versions import find_environment

if TYPE_CHECKING:
    from distributed import Client

ORDERS = ("shuffled", "chronological")


def stability(models: Sequence[TopicModel]) -> pd.DataFrame:
    """Which topics of the first model come back in the others.

    Topics of two models are matched one to one by the Jensen-Shannon divergence of their fifty most
    probable words. A topic comes back if the divergence from its partner is at most half of the
    largest possible one. Between models of unrelated corpora, none does, or one or two of
    the most frequent words.

    Parameters
    ----------
    models : sequence of TopicModel
        At least two fitted models of the same words, such as fits with another `random_state` or
        order of documents.

    Returns
    -------
    pandas.DataFrame
        A row for each topic in use of the first model, the largest first: topic_id, label, weight
        (of the expected tokens), stability (the share of the other models in which it comes back),
        found_in (their number), smallest_weight and largest_weight (in all models that have it),
        words (ten, as text), constant_words (those that are among the ten in nine tenths of the
        models that have the topic). The sum of weight times stability is the part of the tokens
        whose topics come back.

    Raises
    ------
    ValueError
        If there are fewer than two models, or they have different words.
    NotFittedError
        If a model is not fitted.
    """
    _check_number(models, "stability compares models")
    first = models[0]
    frame = first.topics_frame(others=models[1:], wide=True)
    found = find_again(*first._take_all(models[1:]))
    frame.insert(4, "found_in", found.num_found)
    frame.insert(5, "smallest_weight", found.share_ranges[:, 0])
    frame.insert(6, "largest_weight", found.share_ranges[:, 1])
    frame["constant_words"] = [
        ", ".join(np.array(words.split(", "))[constant])
        for words, constant in zip(frame["words"], found.is_constant, strict=True)
    ]
    return frame


@dataclass(frozen=True, eq=False)
class Stability:
    """Runs of one corpus with different seeds; see `stability_of`.

    Parameters
    ----------
    models : tuple of TopicModel
        The fitted models; the topics of the first one are looked for in the others.
    scores : tuple of float
        Their held-out scores, in nats per word.
    test : Corpus
        The held-out documents.
    """

    models: tuple[TopicModel, ...]
    scores: tuple[float, ...]
    test: Corpus

    def frame(self) -> pd.DataFrame:
        """Which topics come back.

        Returns
        -------
        pandas.DataFrame
            As from `stability`.
        """
        return stability(self.models)

    def runs(self) -> pd.DataFrame:
        """The number of topics and the held-out score of each run.

        Returns
        -------
        pandas.DataFrame
            A row for each run: seed, passes, num_topics, nats_per_word.
        """
        return pd.DataFrame(
            {
                "seed": [model.seed_ for model in self.models],
                "passes": [model.n_iter_ for model in self.models],
                "num_topics": [model.n_topics_ for model in self.models],
                "nats_per_word": self.scores,
            }
        )


def stability_of(
    corpus: Corpus,
    model: TopicModel | None = None,
    seeds: int | Sequence[int] = 20,
    orders: str = "shuffled",
    *,
    client: "Client | None" = None,
    verbose: bool = False,
) -> Stability:
    """Learn from a corpus again with other seeds, to see which topics come back.

    A tenth of the documents, at most 1,000, is held out, the same in all runs.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    model : TopicModel, optional
        The settings of all runs. It is cloned, and its `random_state`, 0 unless it is a number, is
        the seed of the first run. The default is `OnlineHDP()`.
    seeds : int or sequence of int
        The number of other runs, or their seeds.
    orders : {"shuffled", "chronological"}
        Whether each run reads the documents in an order of its own, or all read them by date.
    client : distributed.Client, optional
        The workers of this Dask cluster make one run each.
    verbose : bool
        Whether a progress bar is shown.

    Returns
    -------
    Stability
        The fitted models and their held-out scores; `frame()` has a row for each topic of the first
        model, `runs()` one for each run.

    Raises
    ------
    ValueError
        If a value is outside its bounds, or if the corpus has no words.

    Examples
    --------
    >>> from stickbreaker import engine
    >>> bars = engine.load_corpus("bars")
    >>> found = engine.stability_of(bars.select(range(200)), engine.OnlineHDP(passes=1), seeds=2)
    >>> len(found.models), bool((found.frame()["found_in"] <= 2).all())
    (3, True)
    """
    if orders not in ORDERS:
        raise ValueError(f"orders is {orders!r}: choose one of {', '.join(ORDERS)}.")
    model = OnlineHDP() if model is None else model
    own = model.random_state if isinstance(model.random_state, int | np.integer) else 0
    if isinstance(seeds, int | np.integer):
        seeds = range(own + 1, own + 1 + check_whole("seeds", seeds, 1))
    train, test = split_corpus(corpus, RunSettings())
    all_seeds = [int(own), *seeds]
    found: dict[int, tuple[TopicModel, float]] = {}
    with show_progress(verbose, len(all_seeds), "runs") as move, warnings.catch_warnings():
        # Ctrl-C would end one run with a warning; here it ends all.
        warnings.filterwarnings("error", "Interrupted")
        with closing(fit_again(model, train, test, all_seeds, orders, client=client)) as fits:
            for place, fitted in fits:
                found[place] = fitted
                move(len(found), "Learning")
    models, scores = zip(*(found[place] for place in range(len(all_seeds))), strict=True)
    return Stability(models=models, scores=scores, test=test)


def fit_again(  # noqa: PLR0913  # what all runs share, and how they are made
    model: TopicModel,
    train: Corpus,
    test: Corpus,
    seeds: Sequence[int],
    orders: str,
    *,
    client: "Client | None" = None,
    callback: Callable[[Update], object] | None = None,
) -> Generator[tuple[int, tuple[TopicModel, float]], None, None]:
    """Yield the place of each seed, with the fitted model and its held-out score, as runs end.

    callback: as for `fit`, of runs in this process.
    """
    fit = partial(_fit, model, train, test, orders)
    if client is not None:
        yield from connect(client, find_environment).map_unordered(fit, seeds)
        return
    for place, seed in enumerate(seeds):
        yield place, fit(seed, callback)


def _fit(
    model: TopicModel,
    train: Corpus,
    test: Corpus,
    orders: str,
    seed: int,
    callback: Callable[[Update], object] | None = None,
) -> tuple[TopicModel, float]:
    fitted: Any = clone(model).set_params(random_state=seed)
    fitted.fit(train.order(orders, seed), callback=callback)
    return fitted, fitted.score(test)


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
    _check_number(models, "consensus joins models")
    for model in models:
        check_is_fitted(model)
        if type(model) is not type(models[0]) or not isinstance(model.state_, OnlineHDPState):
            raise ValueError("consensus joins online HDPs of one class: give models of OnlineHDP.")
        model._check_like(models[0])
    states = [model.state_ for model in models]
    used = [rank_topics(state.expected_tokens) for state in states]
    counts = [
        state.topic_counts.keep(topics).dense().T
        for state, topics in zip(states, used, strict=True)
    ]
    groups = np.concatenate(group_topics(counts))
    num_models = np.bincount(groups)
    kept = np.flatnonzero(2 * num_models >= len(models))
    if not len(kept):
        raise ValueError("No topic is in half of the models: fit more, or let each read more.")

    def add_up(values: Sequence[np.ndarray]) -> np.ndarray:
        sums = np.zeros((len(num_models), *values[0].shape[1:]))
        np.add.at(sums, groups, np.concatenate(values))
        return sums[kept] / len(models)

    first = models[0]
    means = np.ascontiguousarray(add_up(counts).T, first.state_.topic_counts.precision)
    tables = [state.tables[topics] for state, topics in zip(states, used, strict=True)]
    tokens = [state.expected_tokens[topics] for state, topics in zip(states, used, strict=True)]
    joined = copy(first)
    joined.config_ = replace(first.config_, max_topics=len(kept))
    joined.state_ = first.state_._replace(
        topic_counts=decayed_counts(means),
        tables=add_up(tables),
        expected_tokens=add_up(tokens),
        concentrations=_take_medians([state.concentrations for state in states]),
        decided=Decided(),
    )
    joined.topic_names_ = {}
    joined.edits_ = ()
    vars(joined).pop("_before", None)
    joined.history_ = empty_history()
    return joined


def _take_medians(found: Sequence[Concentrations]) -> Concentrations:
    """The median α₀ and η; the rest as in the first."""
    first = found[0]
    total = np.median([each.doc.total for each in found])
    doc = first.doc._replace(shape=first.doc.shape * total / first.doc.total)
    return first._replace(doc=doc, word=float(np.median([each.word for each in found])))


def _check_number(models: Sequence[TopicModel], what: str) -> None:
    if len(models) < 2:
        raise ValueError(f"{what}, but there are {len(models)}: give at least two.")
