"""Concentrations that corpora were drawn with are learned again, within standard errors of the likelihood's curvature.

Where all assignments are known the updates are maximum likelihood, so four standard errors are asked for. Inference
that has to find the assignments has errors of its own, which are reported in engine/DECISIONS.md; LDA told the topics
of long documents finds nearly all of them, and its α is held to the same.
"""

from functools import cache

import numpy as np
import pytest
from scipy.special import gammaln, psi

from stickbreaker.engine import executors
from stickbreaker.engine.algorithms import lda
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.inference.concentrations import (
    DocPosterior,
    learn_corpus_concentration,
    learn_from_tables,
    learn_word_concentration,
)
from stickbreaker.engine.inference.topic_counts import decayed_counts

D, K, V, N = 1000, 20, 1000, 300
DOC, CORPUS, WORD, ERRORS = 2.0, 20.0, 0.02, 4

pytestmark = pytest.mark.parametrize("seed", range(3))


@cache
def draw(seed):
    """Tokens of documents in topics (D, K), of words in topics (V, K), and a batch: an LDA's draw."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(V, WORD), K)
    doc_topics = rng.multinomial(N, rng.dirichlet(np.full(K, DOC / K), D))
    words = np.array([[rng.multinomial(n, topic) for n, topic in zip(row, topics, strict=True)] for row in doc_topics])
    rows, kinds = np.nonzero(words.sum(1))
    starts = np.append(0, np.bincount(rows, minlength=D).cumsum())
    counts = words.sum(1)[rows, kinds].astype(np.int32)
    return (
        doc_topics,
        words.sum(0).T.astype(float),
        Batch(np.arange(D), Documents(starts, kinds.astype(np.int32), counts), D),
    )


def log_polya(counts, concentration):
    """log probability of draws (J, M) of a symmetric Dirichlet-multinomial of that concentration in all."""
    part = concentration / counts.shape[1]
    own = (gammaln(part + counts) - gammaln(part)).sum()
    return own + (gammaln(concentration) - gammaln(concentration + counts.sum(1))).sum()


def standard_error(log_likelihood, at):
    """1 / sqrt of the curvature of a log likelihood, by a central difference."""
    width = 1e-3 * at
    curvature = (log_likelihood(at + width) + log_likelihood(at - width) - 2 * log_likelihood(at)) / width**2
    return 1 / np.sqrt(-curvature)


def test_known_topics_of_tokens_tell_how_far_documents_spread(seed):
    doc_topics, _, batch = draw(seed)
    posterior = DocPosterior(np.full(K, 1 / K), 1.0)
    for _ in range(50):
        alpha = posterior.mean
        tables = (alpha * (psi(alpha + doc_topics) - psi(alpha))).sum(0)
        posterior = learn_from_tables(posterior, np.full(K, tables.mean()), batch, 1.0)
    error = standard_error(lambda total: log_polya(doc_topics, total), DOC)
    assert posterior.total == pytest.approx(DOC, abs=ERRORS * error)


def test_known_topics_of_tokens_tell_how_many_words_a_topic_has(seed):
    word_topics, found = draw(seed)[1], 0.3
    for _ in range(30):
        found = learn_word_concentration(word_topics, found)
    error = standard_error(lambda word: log_polya(word_topics.T, word * V), WORD)
    assert found == pytest.approx(WORD, abs=ERRORS * error)


def test_known_tables_of_topics_tell_how_far_the_corpus_spreads(seed):
    rng = np.random.default_rng(seed)
    on = rng.beta(1.0, CORPUS, 2000)
    tables = rng.multinomial(20_000, on * np.append(1.0, np.cumprod(1 - on[:-1]))).astype(float)
    found = 1.0
    for _ in range(100):
        found = learn_corpus_concentration(tables, found)
    number, total = (tables > 0).sum(), tables.sum()
    error = standard_error(lambda value: number * np.log(value) + gammaln(value) - gammaln(value + total), CORPUS)
    assert found == pytest.approx(CORPUS, abs=ERRORS * error)


def test_lda_told_the_topics_learns_how_far_documents_spread(seed):
    doc_topics, word_topics, batch = draw(seed)
    config = lda.LDAConfig(
        max_topics=K, word_concentration=WORD, concentrations="learned", delay=0.0, batch_size=D, precision="float64"
    )
    state = lda.init(config, V, np.random.default_rng(0))
    state = state._replace(topic_counts=decayed_counts(word_topics))
    for _ in range(15):
        # As at the first step, whose rate is 1.
        state, _ = executors.step(lda.ALGORITHM, config, state._replace(step=0), batch)
    error = standard_error(lambda total: log_polya(doc_topics, total), DOC)
    assert state.concentrations.doc.total == pytest.approx(DOC, abs=ERRORS * error)
