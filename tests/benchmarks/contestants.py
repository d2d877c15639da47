"""Topic models behind one face: learn a batch, infer shares of documents, and say what they learned."""

import time

import numpy as np
from scipy.sparse import csr_array
from sklearn.decomposition import LatentDirichletAllocation

import engine
from engine.evaluation import count_topics
from engine.executors import map_shards
from engine.executors import step as take_step

WORD_CONCENTRATION = 0.01


class HDP:
    """The online HDP at its defaults, or with some settings changed."""

    def __init__(self, train, seed, **settings):
        self.algorithm = engine.find_algorithm("hdp")
        self.config = self.algorithm.config(**settings)
        self.size, self.batch_size, self.seconds = self.config.max_topics, self.config.batch_size, 0.0
        self.state = self.algorithm.init(self.config, train.vocab_size, np.random.default_rng([seed, 0]))

    def learn(self, batch):
        """One step."""
        began = time.perf_counter()
        self.state, _ = take_step(self.algorithm, self.config, self.state, batch)
        self.seconds += time.perf_counter() - began

    def infer(self, documents):
        """Doc shares (S, K) by the two-level local step."""
        infer = self.algorithm.infer
        return np.concatenate(map_shards(lambda part: infer(self.config, self.state, part), documents))

    def topics(self):
        """E[topics] (K, V)."""
        return self.algorithm.summarize(self.config, self.state).topics

    def prior(self):
        """α₀ E[β] (K,)."""
        return self.config.doc_concentration * self.algorithm.summarize(self.config, self.state).weights

    def num_topics(self):
        """The fewest that cover 99 % of the expected tokens."""
        return count_topics(self.state.expected_tokens)


class Unigram:
    """Word frequencies so far, smoothed by η."""

    size, batch_size = None, 256

    def __init__(self, train):
        self.counts, self.seconds = np.full((1, train.vocab_size), WORD_CONCENTRATION), 0.0

    def learn(self, batch):
        """Count the words."""
        np.add.at(self.counts[0], batch.documents.words, batch.documents.counts)

    def infer(self, documents):
        """One topic, of which every document is made."""
        return np.ones((len(documents.starts) - 1, 1))

    def topics(self):
        """Word probabilities (1, V)."""
        return self.counts / self.counts.sum()

    def prior(self):
        """One, for the one topic."""
        return np.ones(1)

    def num_topics(self):
        """One."""
        return 1


class ScikitLearnLDA:
    """scikit-learn's online LDA; its step count starts at 1, so its rate is (τ₀ + t)^-κ as ours is.

    `partial_fit` cuts what it is given into batches of its own `batch_size` (128 unless told), hence that setting.
    """

    batch_size = 256

    def __init__(self, size, train, seed):
        self.vocab_size, self.size, self.seconds = train.vocab_size, size, 0.0
        self.model = LatentDirichletAllocation(
            size,
            doc_topic_prior=1.0 / size,
            topic_word_prior=WORD_CONCENTRATION,
            learning_decay=0.6,
            learning_offset=64.0,
            batch_size=self.batch_size,
            total_samples=train.num_documents,
            max_doc_update_iter=100,
            mean_change_tol=1e-3,
            random_state=seed,
        )

    def _matrix(self, documents):
        shape = (len(documents.starts) - 1, self.vocab_size)
        return csr_array((documents.counts, documents.words, documents.starts), shape=shape)

    def learn(self, batch):
        """One step."""
        began = time.perf_counter()
        self.model.partial_fit(self._matrix(batch.documents))
        self.seconds += time.perf_counter() - began

    def infer(self, documents):
        """Doc shares (S, K)."""
        return self.model.transform(self._matrix(documents))

    def topics(self):
        """E[topics] (K, V)."""
        return self.model.components_ / self.model.components_.sum(1, keepdims=True)

    def prior(self):
        """1/K for each topic."""
        return np.full(self.size, 1.0 / self.size)

    def num_topics(self):
        """K: every topic is used."""
        return self.size
