"""States of HDPs during a run, for several test files."""

import numpy as np

from stickbreaker.engine.algorithm import Phase
from stickbreaker.engine.inference.concentrations import first_concentrations
from stickbreaker.engine.inference.states import OnlineHDPState
from stickbreaker.engine.inference.topic_counts import decayed_counts
from stickbreaker.engine.inference.truncation_free import GrowingState


def distinct_state(config, vocab_size, phase=Phase.TWO_LEVEL):
    """A state of an HDP after five steps, whose topics all differ."""
    rng = np.random.default_rng(3)
    counts = rng.gamma(0.4, 4.0, (vocab_size, config.max_topics)).astype(config.precision)
    tables = rng.gamma(2.0, 5.0, config.max_topics)
    spent = 0.0 if phase == Phase.WARM_UP else 1e9
    return OnlineHDPState(
        topic_counts=decayed_counts(counts),
        tables=tables,
        expected_tokens=tables * 3,
        step=5,
        rate_spent=spent,
        startup_share=0.3,
        phase=phase,
        temperature=1.5,
        decided_at=spent,
        documents_read=0,
        concentrations=first_concentrations(
            config.doc_concentration, config.word_concentration, config.corpus_concentration
        ),
    )


def growing_state(counts, tables, documents_seen):
    """A state of a truncation-free algorithm after a step, whose topics have counts (K, V)."""
    num_topics = len(counts)
    return GrowingState(
        topic_counts=decayed_counts(np.ascontiguousarray(counts.T)),
        tables=np.array(tables),
        expected_tokens=counts.sum(1),
        topic_ids=np.arange(num_topics),
        next_id=num_topics,
        documents_seen=documents_seen,
        step=1,
    )
