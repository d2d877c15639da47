"""A look inside an algorithm at one moment: its stick, the slots of one document, and the next
noisy step of a topic.

These functions only read: states do not change. Configs are resolved (`engine.schedules.resolve`).
Letters and equations are those of Wang, Paisley & Blei (2011). The algorithm's record says what an
algorithm can show.
"""

from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from stickbreaker.engine.algorithm import NO_TOPIC, Algorithm, Breaking, NoisyStep, SlotTrace
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.executors import map_shards
from stickbreaker.engine.inference.states import OnlineState

__all__ = [
    "CONVERGED_SHARE",
    "MOST_ITERATIONS",
    "NO_TOPIC",
    "NUM_WORDS",
    "Breaking",
    "NoisyStep",
    "SlotTrace",
    "TopicStep",
    "break_stick",
    "preview_step",
    "step_topic",
    "trace_document",
]

MOST_ITERATIONS = 120
NUM_WORDS = 12
# Slots have converged where an iteration moves a smaller share of the document's tokens than this
# to other slots.
CONVERGED_SHARE = 0.001


def break_stick(algorithm: Algorithm, config: Any, state: Any) -> Breaking | None:
    """The corpus' stick as the topics break it; None if the algorithm has no stick."""
    return None if algorithm.stick is None else algorithm.stick(config, state)


def trace_document(
    algorithm: Algorithm, config: Any, state: Any, documents: Documents, most: int = MOST_ITERATIONS
) -> SlotTrace | None:
    """Coordinate ascent over the first document's slots, Eq. 15-18, until they converge.

    None without slots.

    At least the iterations that the run takes, and at most `most`. In a warm-up, documents have no
    slots yet: its state is treated as if the warm-up were finished.
    """
    if algorithm.trace is None:
        return None
    trace = algorithm.trace(config, state, documents, most)
    # Half, since tokens that move are missing in one slot and added in another.
    moved = abs(np.diff(trace.tokens, axis=0)).sum(1) / 2
    converged = np.flatnonzero(moved < CONVERGED_SHARE * trace.tokens[1:].sum(1))
    last = max(int(converged[0]) + 2, trace.num_taken) if len(converged) else most
    return trace._replace(
        slot_topics=trace.slot_topics[:last],
        tokens=trace.tokens[:last],
        shares=trace.shares[:last],
        bounds=trace.bounds[:last],
    )


def preview_step(algorithm: Algorithm, config: Any, state: Any, batch: Batch) -> NoisyStep | None:
    """The step of λ that the algorithm would take with this mini-batch.

    None if its steps have no noisy target.

    A system without slots, or a warm-up, counts the words of topics as its own `local` does.
    """
    if algorithm.preview is None:
        return None
    expect, local, _ = algorithm.parts()
    expectations = expect(config, state, batch)
    parts = map_shards(lambda part: local(config, expectations, part, None), batch.documents)
    return algorithm.preview(config, state, reduce(add, parts), batch)


class TopicStep(NamedTuple):
    """A noisy step of some words (N,) of one topic: λ before, the target λ̂, and λ after."""

    words: np.ndarray
    before: np.ndarray
    target: np.ndarray
    after: np.ndarray


def step_topic(
    state: OnlineState, noisy: NoisyStep, topic: int, number: int = NUM_WORDS
) -> TopicStep:
    """The words with the largest λ or λ̂ in a topic (its place), and their step λ ← λ + ρ (λ̂ - λ)
    (Eq. 25).

    It ignores redundant topics, which the step itself may remove afterwards.
    """
    eta = state.concentrations.word
    counts = state.topic_counts
    before = counts.rows(np.arange(counts.vocab_size), eta)[:, topic].astype(np.float64)
    target = np.full(counts.vocab_size, float(eta))
    target[noisy.words] += noisy.target[:, topic]
    words = np.argsort(-np.maximum(before, target), kind="stable")[:number]
    before = before[words]
    target = target[words]
    return TopicStep(
        words=words,
        before=before,
        target=target,
        after=before + noisy.learning_rate * (target - before),
    )
