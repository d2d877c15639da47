"""Topic models of several libraries with one interface: learn a batch, infer shares of documents,
return topics.
"""

import time
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array
from sklearn.decomposition import LatentDirichletAllocation

from stickbreaker import engine
from stickbreaker.engine.evaluation.held_out import count_topics, fold_in
from stickbreaker.engine.executors import map_shards
from stickbreaker.engine.executors import step as take_step
from stickbreaker.engine.schedules import resolve

WORD_CONCENTRATION = 0.01


class Ours:
    """An algorithm of the registry at its defaults, or with some settings changed.

    S and τ₀ as the corpus has them.
    """

    def __init__(self, name, train, seed, **settings):
        self.algorithm = engine.find_algorithm(name)
        self.config = resolve(
            self.algorithm.config(**settings), train.num_documents, train.num_tokens
        )
        self.size, self.batch_size, self.seconds = (
            self.config.max_topics,
            self.config.batch_size,
            0.0,
        )
        self.state = self.algorithm.init(
            self.config, train.vocab_size, np.random.default_rng([seed, 0])
        )

    def learn(self, batch):
        """One step."""
        began = time.perf_counter()
        self.state, _ = take_step(self.algorithm, self.config, self.state, batch)
        self.seconds += time.perf_counter() - began

    def infer(self, documents):
        """Doc shares (S, K) by the algorithm's own inference."""
        infer = self.algorithm.infer
        return np.concatenate(
            map_shards(lambda part: infer(self.config, self.state, part), documents)
        )

    def topics(self):
        """E[topics] (K, V)."""
        return self.algorithm.summarize(self.config, self.state).topics

    def prior(self):
        """α₀ E[β] (K,), or α of an LDA, whose weights are shares of the tokens."""
        doc = self.state.concentrations.doc
        if self.algorithm.name == "lda":
            return doc.mean
        return doc.total * self.algorithm.summarize(self.config, self.state).weights

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
        """The shares of the one topic: 1 for each document."""
        return np.ones((documents.num_documents, 1))

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

    `partial_fit` splits its input into batches of its own `batch_size` (128 by default), so
    `batch_size` is set.
    """

    def __init__(self, size, train, seed, *, forgetting_rate=0.6, delay=64.0, batch_size=256):
        self.vocab_size, self.size, self.seconds = train.vocab_size, size, 0.0
        self.batch_size = batch_size
        self.model = LatentDirichletAllocation(
            size,
            doc_topic_prior=1.0 / size,
            topic_word_prior=WORD_CONCENTRATION,
            learning_decay=forgetting_rate,
            learning_offset=delay,
            batch_size=batch_size,
            total_samples=train.num_documents,
            max_doc_update_iter=100,
            mean_change_tol=1e-3,
            random_state=seed,
        )

    def _matrix(self, documents):
        shape = (documents.num_documents, self.vocab_size)
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


def gensim_documents(train):
    """Documents as gensim takes them, and its dictionary of the words."""
    documents = train.documents()
    pairs = list(zip(documents.words.tolist(), documents.counts.tolist(), strict=True))
    return [pairs[start:end] for start, end in pairwise(documents.starts)], dict(
        enumerate(train.vocabulary)
    )


class GensimHDP:
    """gensim's online HDP with Wang's settings.

    Its T is our K, and its K our T. It learns a whole corpus at once.
    """

    doc_concentration = 1.0

    def __init__(self, train, seed):
        self.documents, self.words = gensim_documents(train)
        self.seed = seed

    def learn_all(self, passes=1):
        """Some passes, counted in chunks."""
        from gensim.models import HdpModel

        chunk = 256
        self.model = HdpModel(
            self.documents,
            self.words,
            max_chunks=passes * -(-len(self.documents) // chunk),
            chunksize=chunk,
            kappa=0.6,
            tau=64.0,
            K=15,
            T=150,
            alpha=self.doc_concentration,
            gamma=1.0,
            eta=WORD_CONCENTRATION,
            random_state=self.seed,
        )

    def infer(self, documents):
        """Doc shares (S, K) by the common fold-in, or through an LDA of its topics."""
        return fold_in(documents, self.topics(), self.prior())

    def topics(self):
        """E[topics] (K, V); its λ does not hold η."""
        topics = self.model.m_lambda + WORD_CONCENTRATION
        return topics / topics.sum(1, keepdims=True)

    def prior(self):
        """α₀ E[β] (K,) from its corpus sticks."""
        on, after = self.model.m_var_sticks
        on = np.append(on / (on + after), 1.0)
        return self.doc_concentration * on * np.append(1.0, np.cumprod(1.0 - on[:-1]))


class Tomotopy:
    """A Gibbs sampler of tomotopy, on all cores.

    It reads all documents in each pass, and has no mini-batches.
    """

    batch_size = None

    def __init__(self, model, train):
        self.vocab_size, self.seconds, self.model = train.vocab_size, 0.0, model
        documents = train.documents()
        words = np.repeat(documents.words, documents.counts).astype(str)
        ends = np.cumsum(documents.counts)[documents.starts[1:] - 1]
        for document in np.split(words, ends[:-1]):
            self.model.add_doc(document.tolist())

    def learn(self, num_passes):
        """Some passes over the corpus."""
        began = time.perf_counter()
        self.model.train(num_passes, workers=0)
        self.seconds += time.perf_counter() - began

    def _live(self):
        return list(range(self.model.k))

    def topics(self):
        """Topics (K, V); a word it never saw gets the least share of any."""
        found = np.array([self.model.get_topic_word_dist(k) for k in self._live()])
        topics = np.full((len(found), self.vocab_size), found.min())
        topics[:, [int(word) for word in self.model.used_vocabs]] = found
        return topics / topics.sum(1, keepdims=True)

    def tokens(self):
        """Tokens (K,) of each topic."""
        return np.array(self.model.get_count_by_topics(), float)[self._live()]

    def infer(self, documents):
        """Doc shares (S, K) by the common fold-in."""
        return fold_in(documents, self.topics().astype(np.float32), self.prior())

    def num_topics(self):
        """The fewest that cover 99 % of the tokens."""
        return count_topics(self.tokens())


class TomotopyHDP(Tomotopy):
    """tomotopy's HDP; it starts with 100 topics, which scores better than 2."""

    initial_topics = 100

    def __init__(self, train, seed):
        import tomotopy

        eta = WORD_CONCENTRATION
        model = tomotopy.HDPModel(
            initial_k=self.initial_topics, alpha=1.0, gamma=1.0, eta=eta, seed=seed
        )
        super().__init__(model, train)

    def _live(self):
        return [k for k in range(self.model.k) if self.model.is_live_topic(k)]

    def prior(self):
        """Its α₀, by the tokens of each topic."""
        tokens = self.tokens()
        return self.model.alpha * tokens / tokens.sum()


class TomotopyLDA(Tomotopy):
    """tomotopy's LDA, whose α of each topic and η it optimises every ten passes."""

    def __init__(self, train, seed, size=100):
        import tomotopy

        super().__init__(tomotopy.LDAModel(k=size, eta=WORD_CONCENTRATION, seed=seed), train)
        self.model.optim_interval = 10
        self.size = size

    def prior(self):
        """α of each topic, as it has learned it."""
        return np.asarray(self.model.alpha)


class GensimLDA:
    """gensim's online LDA with its own chunks, which learns α of each topic and η."""

    def __init__(self, train, seed, size=100):
        self.documents, self.words = gensim_documents(train)
        self.size, self.seed = size, seed

    def learn_all(self, passes, **settings):
        """Some passes."""
        from gensim.models import LdaModel

        self.model = LdaModel(
            self.documents,
            self.size,
            self.words,
            passes=passes,
            alpha="auto",
            eta="auto",
            eval_every=None,
            random_state=self.seed,
            **settings,
        )

    def topics(self):
        """E[topics] (K, V)."""
        return self.model.get_topics()
