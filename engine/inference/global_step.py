"""The step that stochastic algorithms share: what they hold moves towards what a mini-batch says of the corpus."""

from typing import NamedTuple

import numpy as np

from stickbreaker.engine.algorithm import Phase, StepInfo
from stickbreaker.engine.kernels.counts import DocumentCounts, FactoredCounts
from stickbreaker.engine.schedules import learning_rate

NO_STICKS = np.zeros(2)


class Statistics(NamedTuple):
    """Expected counts of shards: words in topics, document by document; tables and tokens of topics (K,). They add.

    words: (U,), the words of the whole batch, of which the counts hold places.
    phase, temperature: of the expectations that they were found under. Source: the sums of Eq. 19 and 21 of Wang 2011.
    doc_sticks: (2,), number of the document sticks that tokens reach, and Σ -E[log(1 - π')] of them (two-level alone).
    """

    words: np.ndarray
    counts: tuple[DocumentCounts | FactoredCounts, ...]
    tables: np.ndarray
    tokens: np.ndarray
    phase: Phase
    temperature: float
    doc_sticks: np.ndarray = NO_STICKS

    def __add__(self, other):
        tables, tokens = self.tables + other.tables, self.tokens + other.tokens
        doc_sticks = self.doc_sticks + other.doc_sticks
        return self._replace(counts=self.counts + other.counts, tables=tables, tokens=tokens, doc_sticks=doc_sticks)


def blend_topics(config, state, statistics, batch):
    """(State, StepInfo) after λ ← (1 - ρ) λ + ρ (η + D/S · counts), with the statistics of the whole batch.

    Of the state only what all such algorithms hold is replaced: topic_counts, expected_tokens, step, rate_spent,
    startup_share and phase. Source: Hoffman 2010 Alg. 2 with its Eq. 8, Wang 2011 Eq. 22 and 25.
    """
    step = state.step + 1
    rate = float(learning_rate(step, config.delay, config.forgetting_rate))
    scale = batch_scale(batch)
    counts = state.topic_counts.blend(rate, statistics.words, statistics.counts, scale, statistics.tokens)
    state = state._replace(
        topic_counts=counts,
        expected_tokens=(1.0 - rate) * state.expected_tokens + rate * scale * statistics.tokens,
        step=step,
        rate_spent=state.rate_spent + rate,
        startup_share=state.startup_share * (1.0 - rate),
        phase=statistics.phase,
        temperature=statistics.temperature,
    )
    return state, StepInfo(step, rate, statistics.phase, state.startup_share, statistics.temperature)


def blend_tables(tables, doc_tables, batch, rate):
    """Expected tables (K,) moved towards those of the whole corpus; Wang 2011 Eq. 26-27 under a fixed order."""
    return (1.0 - rate) * tables + rate * batch_scale(batch) * doc_tables


def batch_scale(batch):
    """D/S: documents of the corpus for each one of the batch, by the batch's true size."""
    return batch.corpus_size / (len(batch.documents.starts) - 1)
