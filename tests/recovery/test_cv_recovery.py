"""CV-HDP and CV-LDA told the truth of a simulated corpus, and on their own.

What is asked of a run that begins at the true assignments is what `test_recovery.py` asks of the online systems: sweeps
must not walk away from it. From its own random start CV-HDP finds fewer topics, as `tests.benchmarks.collapsed` counts.
"""

import numpy as np
import pytest

from stickbreaker.engine.algorithms import cv_hdp, cv_lda
from stickbreaker.engine.evaluation.held_out import count_topics
from tests.recovery.test_recovery import FOUND_SHARE, LARGEST_RATIO, VOCAB_SIZE, measure_ratios, simulate

MAX_TOPICS, NUM_SWEEPS = 50, 6
# η = 0.01 a word, as the corpora were drawn.
WORD_TOTAL = 0.01 * VOCAB_SIZE


def true_tokens(truth, batch, num_topics):
    """Tokens (nnz, K) of each entry drawn from each topic."""
    documents = batch.documents
    rows = np.repeat(np.arange(len(batch.doc_ids)), np.diff(documents.starts))
    entries = rows * VOCAB_SIZE + documents.words
    drawn = np.arange(len(truth.words))[:, None] * VOCAB_SIZE + truth.words
    tokens = np.zeros((len(entries), num_topics))
    np.add.at(tokens, (np.searchsorted(entries, drawn), truth.assignments), 1.0)
    return tokens


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("num_topics", [10, 30])
@pytest.mark.parametrize("module", [cv_hdp, cv_lda], ids=["cv-hdp", "cv-lda"])
def test_sweeps_that_begin_at_the_truth_keep_nine_true_topics_in_ten(module, num_topics, seed):
    truth = simulate(num_topics, seed)
    batch = next(truth.corpus.batches(truth.corpus.num_documents))
    size = MAX_TOPICS if module is cv_hdp else num_topics
    config = module.ALGORITHM.config(max_topics=size, word_total=WORD_TOTAL)
    state = module.start_from(config, VOCAB_SIZE, batch, true_tokens(truth, batch, size))
    bounds = []
    for _ in range(NUM_SWEEPS):
        state, info = module.step(config, state, batch, None)
        bounds.append(info.bound)
    ratios = measure_ratios(module.summarize(config, state).topics, truth)
    found = (ratios <= LARGEST_RATIO).sum()
    assert found >= FOUND_SHARE * len(ratios), f"{found} of {len(ratios)}: {np.sort(ratios).round(2).tolist()}"
    assert count_topics(state.expected_tokens) <= num_topics
    assert bounds[-1] > bounds[0]
