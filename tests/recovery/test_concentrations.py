"""The concentrations of simulated corpora are estimated within standard errors from the curvature
of the likelihood.

With known assignments the updates are maximum likelihood, so the limit is four standard errors.
Inference that must find the assignments has further errors
(engine/decisions/learned-concentrations.md). LDA with the true topics assigns nearly all tokens of
long documents correctly, so its α has the same limit.
"""

from functools import cache

import numpy as np
import pytest
from scipy.special import psi

from stickbreaker.engine import executors
from stickbreaker.engine.algorithms import lda
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.inference.concentrations import (
    DocPosterior,
    learn_from_tables,
    learn_word_concentration,
)
from stickbreaker.engine.inference.topic_counts import decayed_counts
from tests.enumeration import log_dirichlet_multinomial

pytestmark = pytest.mark.extended

D, K, V, N = 1000, 20, 1000, 300
DOC, WORD, ERRORS = 2.0, 0.02, 4

pytestmark = pytest.mark.parametrize("seed", range(3))


@cache
def draw(seed):
    """A draw from LDA: tokens by document (D, K), by word (V, K), and a batch."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(V, WORD), K)
    doc_topics = rng.multinomial(N, rng.dirichlet(np.full(K, DOC / K), D))
    words = np.array(
        [
            [rng.multinomial(n, topic) for n, topic in zip(row, topics, strict=True)]
            for row in doc_topics
        ]
    )
    rows, kinds = np.nonzero(words.sum(1))
    starts = np.append(0, np.bincount(rows, minlength=D).cumsum())
    counts = words.sum(1)[rows, kinds].astype(np.int32)
    return (
        doc_topics,
        words.sum(0).T.astype(float),
        Batch(np.arange(D), Documents(starts, kinds.astype(np.int32), counts), D),
    )


def log_likelihood(counts, concentration):
    """log p of rows (J, M) under a symmetric Dirichlet-multinomial of this total."""
    return log_dirichlet_multinomial(
        counts, np.full(counts.shape[1], concentration / counts.shape[1])
    )


def standard_error(objective, at):
    """1 / sqrt of the curvature of a log likelihood, by a central difference."""
    width = 1e-3 * at
    curvature = (objective(at + width) + objective(at - width) - 2 * objective(at)) / width**2
    return 1 / np.sqrt(-curvature)


def test_the_document_concentration_is_estimated_from_known_topics_of_tokens(seed):
    doc_topics, _, batch = draw(seed)
    posterior = DocPosterior(np.full(K, 1 / K), 1.0)
    for _ in range(50):
        alpha = posterior.mean
        tables = (alpha * (psi(alpha + doc_topics) - psi(alpha))).sum(0)
        posterior = learn_from_tables(posterior, np.full(K, tables.mean()), batch, 1.0)
    error = standard_error(lambda total: log_likelihood(doc_topics, total), DOC)
    assert posterior.total == pytest.approx(DOC, abs=ERRORS * error)


def test_the_word_concentration_is_estimated_from_known_topics_of_tokens(seed):
    word_topics, found = draw(seed)[1], 0.3
    for _ in range(30):
        found = learn_word_concentration(word_topics, found)
    error = standard_error(lambda word: log_likelihood(word_topics.T, word * V), WORD)
    assert found == pytest.approx(WORD, abs=ERRORS * error)


def test_lda_with_the_true_topics_learns_the_document_concentration(seed):
    doc_topics, word_topics, batch = draw(seed)
    config = lda.LDAConfig(
        max_topics=K,
        word_concentration=WORD,
        concentrations="learned",
        delay=0.0,
        batch_size=D,
        precision="float64",
    )
    state = lda.init(config, V, np.random.default_rng(0))
    state = state._replace(topic_counts=decayed_counts(word_topics))
    for _ in range(15):
        # Step 0 makes each step the first, which has rate 1.
        state, _ = executors.step(lda.ALGORITHM, config, state._replace(step=0), batch)
    error = standard_error(lambda total: log_likelihood(doc_topics, total), DOC)
    assert state.concentrations.doc.total == pytest.approx(DOC, abs=ERRORS * error)
