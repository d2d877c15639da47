"""Runs of the same settings with other seeds and orders: which topics of a model come back, and the
consensus of these runs.
"""

from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
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
from stickbreaker.engine.runs.checkpoint import Checkpoint
from stickbreaker.engine.runs.settings import LARGEST_SEED

if TYPE_CHECKING:
    from distributed import Client

    from stickbreaker.engine import TopicModel
    from stickbreaker.engine.estimators.consensus_model import Gathering

NUM_RUNS = 20
NO_TOPIC_SHARED = "They have no consensus: no topic is in half of them."


class OtherRuns(NamedTuple):
    """R other runs: which topics of a model come back in them, and their held-out scores (R,).

    numbers, nats: (N,), the documents set aside scored with fewer topics of the model itself, as in
    `score_numbers`; empty if none were set aside. consensus: of the runs, as a run that has
    finished; None if they have none.
    """

    found: FoundAgain
    scores: np.ndarray
    numbers: np.ndarray
    nats: np.ndarray
    consensus: Checkpoint | None = None


class Learned(NamedTuple):
    """Other runs, and their consensus; None if they have none, and why not."""

    runs: OtherRuns
    consensus: "TopicModel | None"
    why_not: str


class _CancelledError(Exception):
    """Ends a run."""


def learn_again(
    model: Model,
    report: Callable[[float], bool],
    client: "Client | None" = None,
    num_runs: int = NUM_RUNS,
) -> Learned | None:
    """Make other runs, which read the training documents of a model, each in an order of its own.

    They make as many passes as the model's run. report(share): returns False to cancel;
    the result is then None. client: its workers make the runs.
    """
    # Importing scikit-learn takes a second.
    from stickbreaker.engine.estimators.consensus_model import Gathering, has_consensus
    from stickbreaker.engine.estimators.stable_topics import fit_again

    assert model.test is not None
    estimator = to_estimator(model, model.settings)
    first = model.settings.seed + 1
    seeds = [(first + number) % (LARGEST_SEED + 1) for number in range(num_runs)]
    passes = model.settings.passes or model.algorithm.passes
    estimator.set_params(passes=passes)
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
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder, suppress(_CancelledError):
        gathering = Gathering(Path(folder)) if has_consensus(estimator) else None
        go_on()
        with closing(fits):
            for _, (fitted, score) in fits:
                summary = fitted.algorithm.summarize(fitted.config_, fitted.state_)
                topics.append(take_topics(summary))
                if gathering is not None:
                    gathering.add(fitted)
                scores.append(score)
                go_on()
        found = _compare(model, estimator, topics, scores)
        return Learned(found, *_join(estimator, gathering))
    return None


def _compare(
    model: Model, estimator: "TopicModel", topics: list[RunTopics], scores: list[float]
) -> OtherRuns:
    numbers = nats = np.zeros(0)
    # Other algorithms set no documents aside.
    with suppress(ValueError):
        numbers, nats = estimator.score_numbers().to_numpy().T
    own = take_topics(model.algorithm.summarize(model.config, model.state))
    found = find_again(own, topics)
    return OtherRuns(found=found, scores=np.array(scores), numbers=numbers, nats=nats)


def _join(
    estimator: "TopicModel", gathering: "Gathering | None"
) -> tuple["TopicModel | None", str]:
    """The consensus; without one, None and why not."""
    from stickbreaker.engine.estimators.consensus_model import NoConsensusError

    if gathering is None:
        return None, ""
    try:
        return gathering.join(estimator), ""
    except NoConsensusError:
        return None, NO_TOPIC_SHARED
    except OSError as error:
        return None, f"Their consensus could not be made: {error}."
