"""The corpora of the reported tables.

Each has the same test documents for every seed, and no choice uses them.
"""

from dataclasses import replace
from functools import cache, lru_cache

import numpy as np

from stickbreaker.engine import RunSettings, load_corpus
from stickbreaker.engine.runs.prepared import split_corpus

# Draws the documents and the test set of every run.
TEST_SEED = 0


@cache
def load(name, documents=None, split=None):
    """The corpus, or this many of its documents. `split` replaces what a run holds out."""
    corpus = load_corpus(name)
    if split is not None:
        corpus = replace(corpus, split_by=split)
    if documents is None or documents >= corpus.num_documents:
        return corpus
    drawn = np.random.default_rng(TEST_SEED).choice(corpus.num_documents, documents, replace=False)
    return corpus.select(np.sort(drawn))


@lru_cache(maxsize=2)
def divide(name, order, seed, documents=None, split=None):
    """Training documents in the seed's order, and test documents, the same for all seeds."""
    corpus = load(name, documents, split)
    train, test = split_corpus(corpus, RunSettings(order="chronological", seed=TEST_SEED))
    return train.order(order, seed=seed), test
