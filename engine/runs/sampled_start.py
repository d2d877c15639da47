"""A run that continues from the sampler of the HDP (Teh 2007 sec. 4, Fig. 3).

The driver makes the passes of the sampler before the first step of the run. They read the same
training documents.
"""

from typing import Any

import numpy as np

from stickbreaker.engine.algorithm import Algorithm
from stickbreaker.engine.algorithms import gibbs_hdp
from stickbreaker.engine.algorithms.gibbs_hdp import GibbsHDPConfig, GibbsHDPState
from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.corpora.documents import Batch

NUM_PASSES = 200


def asks_for_sampler(algorithm: Algorithm, config: Any) -> bool:
    """Whether the run begins with the sampler."""
    return algorithm.start_from is not None and config.start_from == "gibbs"


def start_from_sampler(algorithm: Algorithm, config: Any, train: Corpus, seed: int) -> Any:
    """The algorithm's state at the sampler's topics, from 100 topics or from K if that is fewer."""
    if algorithm.start_from is None:
        raise ValueError(
            f"Algorithm {algorithm.name!r} cannot start from the sampler: use 'cv-hdp' or 'cv-lda'."
        )
    batch = next(train.batches(train.num_documents))
    sampler = GibbsHDPConfig(initial_topics=min(GibbsHDPConfig().initial_topics, config.max_topics))
    state = gibbs_hdp.init(sampler, train.vocab_size, np.random.default_rng([seed, 0]))
    for number in range(NUM_PASSES):
        rng = np.random.default_rng([seed, number + 1])
        state, _ = gibbs_hdp.step(sampler, state, batch, rng)
    tokens = count_entries(batch, state, config.max_topics)
    return algorithm.start_from(config, train.vocab_size, batch, tokens)


def count_entries(batch: Batch, sampled: GibbsHDPState, max_topics: int) -> np.ndarray:
    """Tokens (nnz, K) of each entry in each topic, largest topic first.

    Tokens of topics beyond the K-th are spread evenly over the K topics.
    """
    counts = batch.documents.counts
    entries = np.repeat(np.arange(len(counts)), counts)
    order = np.argsort(-sampled.expected_tokens, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    topics = place[sampled.assignments.topics]
    is_kept = topics < max_topics
    flat = np.bincount(
        entries[is_kept] * max_topics + topics[is_kept], minlength=len(counts) * max_topics
    )
    rest = np.bincount(entries[~is_kept], minlength=len(counts)) / max_topics
    tokens: np.ndarray = flat.reshape(len(counts), max_topics) + rest[:, None]
    return tokens
