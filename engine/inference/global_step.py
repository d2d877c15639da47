"""The step that stochastic algorithms share: λ moves towards its estimate from a mini-batch."""

from typing import NamedTuple, TypeVar

import numpy as np

from stickbreaker.engine.algorithm import NoisyStep, Phase, StepInfo
from stickbreaker.engine.corpora.documents import Batch
from stickbreaker.engine.declarations import resolved
from stickbreaker.engine.inference.states import OnlineState, ScheduleConfig
from stickbreaker.engine.inference.topic_counts import gather
from stickbreaker.engine.kernels.counts import DocumentCounts, FactoredCounts
from stickbreaker.engine.schedules import learning_rate

AnyOnlineState = TypeVar("AnyOnlineState", bound=OnlineState)


class Statistics(NamedTuple):
    """Expected counts of shards: words in topics, document by document.

    Tables and tokens of topics (K,). They add.

    words: (U,), the words of the whole batch; the counts refer to places in it.
    phase, temperature: those of the expectations. Source: the sums of Eq. 19 and 21 of Wang 2011.
    """

    words: np.ndarray
    counts: tuple[DocumentCounts | FactoredCounts, ...]
    tables: np.ndarray
    tokens: np.ndarray
    phase: Phase
    temperature: float

    def __add__(self, other: "Statistics") -> "Statistics":  # type: ignore[override]  # a tuple's + would join them
        return self._replace(
            counts=self.counts + other.counts,
            tables=self.tables + other.tables,
            tokens=self.tokens + other.tokens,
        )


def blend_topics(
    rate: float, state: AnyOnlineState, statistics: Statistics, batch: Batch
) -> tuple[AnyOnlineState, StepInfo]:
    """(State, StepInfo) after λ ← (1 - ρ) λ + ρ (η + D/S · counts), with the statistics of the
    whole batch.

    It replaces topic_counts, expected_tokens, step, rate_spent, startup_share, phase and
    temperature of the state. Source: Hoffman 2010 Alg. 2 with its Eq. 8, Wang 2011 Eq. 22 and 25.
    """
    step = state.step + 1
    scale = batch_scale(batch)
    # λ, and below it the tokens without η and start-up mass, by the same ρ and D/S.
    counts = state.topic_counts.blend(
        rate, statistics.words, statistics.counts, scale, statistics.tokens
    )
    state = state._replace(
        topic_counts=counts,
        expected_tokens=(1.0 - rate) * state.expected_tokens + rate * scale * statistics.tokens,
        step=step,
        rate_spent=state.rate_spent + rate,
        startup_share=state.startup_share * (1.0 - rate),
        phase=statistics.phase,
        temperature=statistics.temperature,
    )
    return state, StepInfo(
        step=step,
        learning_rate=rate,
        phase=statistics.phase,
        startup_share=state.startup_share,
        temperature=statistics.temperature,
    )


def next_rate(config: ScheduleConfig, state: OnlineState) -> float:
    """ρ of the next step."""
    return float(learning_rate(state.step + 1, resolved(config.delay), config.forgetting_rate))


def preview_topics(
    config: ScheduleConfig, state: OnlineState, statistics: Statistics, batch: Batch
) -> NoisyStep:
    """The step of λ that `blend_topics` would take with the ρ of `next_rate`.

    λ̂_kw = η + D/S Σ_j Σ_t φ_jtk Σ_n ζ_jnt I[w_jn = w],  ∂λ = λ̂ - λ        (Wang 2011 Eq. 22,
    mini-batches of sec. 3.2)
    """
    scale = batch_scale(batch)
    shape = (len(statistics.words), len(statistics.tokens))
    return NoisyStep(
        step=state.step + 1,
        learning_rate=next_rate(config, state),
        scale=scale,
        words=statistics.words,
        target=gather(statistics.counts, scale, shape, state.topic_counts.precision),
    )


def blend_tables(
    tables: np.ndarray, doc_tables: np.ndarray, batch: Batch, rate: float
) -> np.ndarray:
    """Move expected tables (K,) towards the corpus: Wang 2011 Eq. 26-27, in a fixed order."""
    return (1.0 - rate) * tables + rate * batch_scale(batch) * doc_tables


def batch_scale(batch: Batch) -> float:
    """D/S: documents of the corpus per document of the batch, by the batch's true size."""
    return batch.corpus_size / batch.documents.num_documents
