"""CV-HDP and CV-LDA from the true assignments of a simulated corpus.

The requirement is that of `test_recovery.py` for the online systems: sweeps must keep the true
topics. From its own random start CV-HDP finds fewer topics.
"""

import numpy as np
import pytest

from stickbreaker.engine.algorithms import cv_hdp, cv_lda
from stickbreaker.engine.evaluation.held_out import count_topics
from tests.recovery.true_topics import VOCAB_SIZE, assert_true_topics, simulate

pytestmark = pytest.mark.extended

MAX_TOPICS, NUM_SWEEPS = 50, 6
# The corpora are drawn with η = 0.01 per word.
WORD_TOTAL = 0.01 * VOCAB_SIZE


def true_tokens(truth, batch, num_topics):
    """The tokens (nnz, K) of each entry that were drawn from each topic."""
    documents = batch.documents
    entries = documents.rows() * VOCAB_SIZE + documents.words
    drawn = np.arange(len(truth.words))[:, None] * VOCAB_SIZE + truth.words
    tokens = np.zeros((len(entries), num_topics))
    np.add.at(tokens, (np.searchsorted(entries, drawn), truth.assignments), 1.0)
    return tokens


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("num_topics", [10, 30])
@pytest.mark.parametrize("module", [cv_hdp, cv_lda], ids=["cv-hdp", "cv-lda"])
def test_sweeps_from_the_true_assignments_keep_nine_topics_in_ten(module, num_topics, seed):
    truth = simulate(num_topics, seed)
    batch = next(truth.corpus.batches(truth.corpus.num_documents))
    size = MAX_TOPICS if module is cv_hdp else num_topics
    config = module.ALGORITHM.config(max_topics=size, word_total=WORD_TOTAL)
    state = module.start_from(config, VOCAB_SIZE, batch, true_tokens(truth, batch, size))
    bounds = []
    for _ in range(NUM_SWEEPS):
        state, info = module.step(config, state, batch, None)
        bounds.append(info.bound)
    assert_true_topics(module.summarize(config, state).topics, truth)
    assert count_topics(state.expected_tokens) <= num_topics
    assert bounds[-1] > bounds[0]
