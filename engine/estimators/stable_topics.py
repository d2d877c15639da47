"""Which topics come back in other runs."""

import warnings
from collections.abc import Callable, Generator, Iterable, Sequence, Sized
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from stickbreaker.engine.corpora.corpus import Corpus, check_corpus
from stickbreaker.engine.declarations import check_whole
from stickbreaker.engine.estimators.classes import OnlineHDP
from stickbreaker.engine.estimators.model import TopicModel
from stickbreaker.engine.evaluation.found_again import find_again
from stickbreaker.engine.parallel.clusters import connect
from stickbreaker.engine.progress_bars import show_progress
from stickbreaker.engine.runs.events import Update
from stickbreaker.engine.runs.prepared import split_corpus
from stickbreaker.engine.runs.settings import LARGEST_SEED, RunSettings
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
    check_number(models, "stability compares models")
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
        The number of other runs, or their seeds, all different.
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
    TypeError
        If this is no corpus.
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
    check_corpus(corpus)
    if orders not in ORDERS:
        raise ValueError(f"orders is {orders!r}: choose one of {', '.join(ORDERS)}.")
    model = OnlineHDP() if model is None else model
    own = int(model.random_state) if isinstance(model.random_state, int | np.integer) else 0
    if not isinstance(seeds, Iterable):
        places = range(1, 1 + check_whole("seeds", seeds, 1))
        seeds = [(own + place) % (LARGEST_SEED + 1) for place in places]
    all_seeds = [own, *(check_whole("seeds", seed, 0) for seed in seeds)]
    if len(set(all_seeds)) < max(2, len(all_seeds)):
        raise ValueError(f"seeds is {seeds!r}: give different numbers, and not {own} of `model`.")
    train, test = split_corpus(corpus, RunSettings())
    if not test.num_documents:
        raise ValueError("One document cannot be learned from and held out: give a larger corpus.")
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


def check_number(models: Sequence[TopicModel], what: str) -> None:
    """Raise ValueError if this is no list of two models or more; what: begins the message."""
    if not isinstance(models, Sized):
        raise ValueError(f"{what}, but this is one {type(models).__name__}: give a list of models.")
    if len(models) < 2:
        raise ValueError(f"{what}, but there are {len(models)}: give at least two.")
