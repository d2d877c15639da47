"""The step that stochastic algorithms share: what they hold moves towards what a mini-batch says of the corpus."""

from typing import NamedTuple

import numpy as np

from engine.algorithm import StepInfo
from engine.schedules import learning_rate


class Statistics(NamedTuple):
    """Expected counts of a shard: words in topics (U, K), tables of topics (K,). They add.

    Source: the sums of Eq. 19 and 21 of Wang 2011.
    """

    topic_words: np.ndarray
    tables: np.ndarray

    def __add__(self, other):
        return Statistics(self.topic_words + other.topic_words, self.tables + other.tables)


def blend_topics(config, state, topic_words, batch, phase):
    """(State, StepInfo) after λ ← (1 - ρ) λ + ρ (η + D/S · topic_words), topic_words (U, K) of the whole batch.

    Of the state only what all such algorithms hold is replaced: topic_counts, expected_tokens, step, rate_spent,
    startup_share and phase. Source: Hoffman 2010 Alg. 2 with its Eq. 8, Wang 2011 Eq. 22 and 25.
    """
    step = state.step + 1
    rate = float(learning_rate(step, config.delay, config.forgetting_rate))
    targets = topic_words * topic_words.dtype.type(batch_scale(batch))
    state = state._replace(
        topic_counts=state.topic_counts.blend(rate, np.unique(batch.documents.words), targets),
        expected_tokens=(1.0 - rate) * state.expected_tokens + rate * targets.sum(0, dtype=np.float64),
        step=step,
        rate_spent=state.rate_spent + rate,
        startup_share=state.startup_share * (1.0 - rate),
        phase=phase,
    )
    return state, StepInfo(step, rate, phase, state.startup_share)


def blend_tables(tables, doc_tables, batch, rate):
    """Expected tables (K,) moved towards those of the whole corpus; Wang 2011 Eq. 26-27 under a fixed order."""
    return (1.0 - rate) * tables + rate * batch_scale(batch) * doc_tables


def batch_scale(batch):
    """D/S: documents of the corpus for each one of the batch, by the batch's true size."""
    return batch.corpus_size / (len(batch.documents.starts) - 1)
