"""CV-HDP with exact expectations on the five enumerated tokens: its bound after every single
update.
"""

import numpy as np

from stickbreaker.engine.algorithms import cv_hdp
from stickbreaker.engine.algorithms.cv_hdp import CVHDPConfig
from stickbreaker.engine.inference.collapsed import Measures
from tests import naive_collapsed as twin
from tests.enumeration import DOCUMENTS, VOCAB_SIZE

PRIORS = {
    "doc_shape": 2.0,
    "doc_rate": 3.0,
    "corpus_shape": 5.0,
    "corpus_rate": 6.0,
    "base_total": 2.4,
}
LEARNED = CVHDPConfig(
    max_topics=3,
    precision="float64",
    word_prior="learned",
    word_total=1.5,
    word_shape=3.0,
    word_rate=2.0,
    **PRIORS,
)
FIXED = CVHDPConfig(max_topics=3, precision="float64", word_total=1.5, **PRIORS)
# Each token has its own q: updates are coordinate ascent only if they change one token at a time.
TOKENS = [(np.array(words), np.ones(len(words), int)) for words in DOCUMENTS]
SIZES = np.array([len(words) for words in DOCUMENTS])


def bound_of(expect, config, state, q):
    """Eq. 18 with these expectations."""
    return twin.measure(expect, TOKENS, q, cv_hdp.find_priors(state))[3] - cv_hdp.divergence(
        config, state
    )


def ascend(config, seed, num_rounds):
    """The exact bound after every single update, and the bound as printed after every round."""
    rng = np.random.default_rng(seed)
    state = cv_hdp.init(config, VOCAB_SIZE, rng)
    q = [rng.dirichlet(np.ones(config.max_topics), size) for size in SIZES]
    state = learn(config, state, q)._replace(step=1)
    exact, printed = [bound_of(twin.exactly, config, state, q)], []
    for _ in range(num_rounds):
        for j, size in enumerate(SIZES):
            for i in range(size):
                q[j][i] = twin.update(twin.exactly, TOKENS, q, cv_hdp.find_priors(state), j, i)
                exact.append(bound_of(twin.exactly, config, state, q))
        state = learn(config, state, q)
        exact.append(bound_of(twin.exactly, config, state, q))
        printed.append(bound_of(twin.by_paper, config, state, q))
    return np.array(exact), np.array(printed)


def learn(config, state, q):
    """Eq. 8 from exact expectations."""
    measures = Measures(*twin.measure(twin.exactly, TOKENS, q, cv_hdp.find_priors(state)))
    return cv_hdp.update_posteriors(config, state, measures, SIZES)
