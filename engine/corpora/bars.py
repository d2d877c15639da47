"""Bars: a simulated corpus whose documents are pictures of 5 x 5 pixels, and whose topics are the
rows and columns of the picture (Griffiths and Steyvers 2004, Fig. 1).

A word is a pixel, and its count is how dark the pixel is. In the paper each document has all ten
topics, θ ~ Dirichlet(1, ..., 1); here it has few, as most texts have.
"""

from collections.abc import Collection

import numpy as np
from scipy.sparse import csr_array

from stickbreaker.engine.corpora.corpus import Corpus, Vocabulary

NAME = "bars"
SIDE = 5
PIXELS = tuple(f"r{row}c{column}" for row in range(1, SIDE + 1) for column in range(1, SIDE + 1))
DOC_LENGTH = 100
# In total 1, the default of `doc_concentration`.
CONCENTRATION = 0.1


def bar_topics() -> np.ndarray:
    """The ten true topics (10, 25): the rows from the top, then the columns from the left.

    >>> bar_topics()[0].reshape(5, 5)[:2]
    array([[0.2, 0.2, 0.2, 0.2, 0.2],
           [0. , 0. , 0. , 0. , 0. ]])
    """
    side = np.eye(SIDE)
    line = np.full(SIDE, 1 / SIDE)
    return np.vstack([np.kron(side, line), np.kron(line, side)])


def find_true_topics(words: Collection[str]) -> np.ndarray:
    """The true topics (10, 25) of documents over these words; (0, 25) unless these are pixels."""
    topics = bar_topics()
    return topics if len(words) == len(PIXELS) and tuple(words) == PIXELS else topics[:0]


def simulate_bars(num_documents: int = 10_000, seed: int = 0) -> Corpus:
    """Draw pictures of 100 tokens, without dates: θ ~ Dirichlet(0.1, ..., 0.1), w ~ Σ_k θ_k φ_k."""
    rng = np.random.default_rng(seed)
    topics = bar_topics()
    shares = rng.dirichlet(np.full(len(topics), CONCENTRATION), num_documents)
    return Corpus(
        name=NAME,
        counts=csr_array(rng.multinomial(DOC_LENGTH, shares @ topics)),
        vocabulary=Vocabulary(PIXELS),
        dates=np.full(num_documents, "NaT", "datetime64[D]"),
        titles=[f"Picture {number}" for number in range(1, num_documents + 1)],
    )
