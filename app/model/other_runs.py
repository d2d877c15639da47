"""Runs of the same settings with other seeds and orders: which topics of a model come back."""

from collections.abc import Callable
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stickbreaker.app.model.reading import Model, to_estimator
from stickbreaker.engine import Update
from stickbreaker.engine.evaluation.found_again import (
    FoundAgain,
    RunTopics,
    find_again,
    take_topics,
)
from stickbreaker.engine.runs.settings import LARGEST_SEED

if TYPE_CHECKING:
    from distributed import Client

NUM_RUNS = 20


class OtherRuns(NamedTuple):
    """R other runs: which topics of a model come back in them, and their held-out scores (R,).

    numbers, nats: (N,), the documents set aside scored with fewer topics of the model itself, as in
    `score_numbers`; empty if none were set aside.
    """

    found: FoundAgain
    scores: np.ndarray
    numbers: np.ndarray
    nats: np.ndarray


class _CancelledError(Exception):
    """Ends a run."""


def learn_again(
    model: Model,
    report: Callable[[float], bool],
    client: "Client | None" = None,
    num_runs: int = NUM_RUNS,
) -> OtherRuns | None:
    """Make other runs, which read the training documents of a model, each in an order of its own.

    They make as many passes as the model's run. report(share): returns False to cancel;
    the result is then None. client: its workers make the runs.
    """
    # Importing scikit-learn takes a second.
    from stickbreaker.engine.estimators.stable_topics import fit_again

    assert model.test is not None
    estimator = to_estimator(model, model.settings)
    first = model.settings.seed + 1
    seeds = [(first + number) % (LARGEST_SEED + 1) for number in range(num_runs)]
    passes = model.settings.passes or model.algorithm.passes
    estimator.set_params(passes=passes)
    numbers = nats = np.zeros(0)
    # Other algorithms set no documents aside.
    with suppress(ValueError):
        numbers, nats = estimator.score_numbers().to_numpy().T
    total = passes * model.train.num_documents
    topics: list[RunTopics] = []
    scores: list[float] = []

    def go_on(part: float = 0.0) -> None:
        share = (len(scores) + part) / num_runs
        if not report(share):
            raise _CancelledError

    def follow(update: Update) -> None:
        go_on(update.stepped.documents_seen / total)

    fits: Any = fit_again(
        estimator, model.train, model.test, seeds, "shuffled", client=client, callback=follow
    )
    try:
        go_on()
        with closing(fits):
            for _, (fitted, score) in fits:
                topics.append(
                    take_topics(fitted.algorithm.summarize(fitted.config_, fitted.state_))
                )
                scores.append(score)
                go_on()
    except _CancelledError:
        return None
    own = take_topics(model.algorithm.summarize(model.config, model.state))
    found = find_again(own, topics)
    return OtherRuns(found=found, scores=np.array(scores), numbers=numbers, nats=nats)
