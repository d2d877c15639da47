"""Estimators that learn from a stream: partial_fit, for the algorithms that read mini-batches."""

import warnings
from dataclasses import replace
from typing import Self

import numpy as np

from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.declarations import check_whole_or_none
from stickbreaker.engine.estimators.counts import Counts
from stickbreaker.engine.estimators.model import TopicModel
from stickbreaker.engine.executors import step as take_step
from stickbreaker.engine.inference.states import OnlineHDPState
from stickbreaker.engine.schedules import open_settings, resolve, resolve_max_topics, resolve_stream

# Of a stream of counts: a checkpoint is added when the documents seen have grown by this share.
CHECKPOINT_GROWTH = 0.25
LENGTH_UNKNOWN = (
    "partial_fit does not know how many documents will arrive, and may find too few topics: pass"
    " corpus_size, their number or a guess."
)


class OnlineTopicModel(TopicModel):
    """What the estimators of algorithms that learn from mini-batches have in common."""

    def partial_fit(
        self,
        X: Counts,
        y: object = None,
        corpus_size: int | None = None,
        is_population: bool = False,
    ) -> Self:
        """Update the model with further documents, each read once, in mini-batches.

        A new model is initialised first. Documents may be empty.

        If you give the same documents again, they count as further documents. A Corpus adds a
        checkpoint to `history_`; counts add one when the number of documents seen has grown by a
        quarter since the last checkpoint.

        Parameters
        ----------
        X : Corpus or array-like or sparse matrix of shape (D, V)
            The further documents.
        y : object
            Not used.
        corpus_size : int, optional
            The total number of documents, if it is known; mini-batches then have the same size as
            in `fit`. By default, it is the number of documents seen so far, including these, and at
            least 4,096. Unless set, S and τ₀ follow it (`engine.schedules.resolve_stream`), and K
            follows the number of tokens so far. A new model warns once if `corpus_size` is missing,
            since it then tends to find too few topics.
        is_population : bool
            Whether D stays `corpus_size` after more documents have come: the population posterior
            (McInerney et al. 2015). Otherwise D then grows with the number of documents seen.

        Returns
        -------
        OnlineTopicModel
            The model itself.

        Raises
        ------
        ValueError
            If X is not a table of counts, or a parameter is outside its bounds.
        """
        corpus_size = check_whole_or_none("corpus_size", corpus_size, 1)
        if is_population and corpus_size is None:
            raise ValueError(
                "is_population=True needs corpus_size: give the number of documents to assume for"
                " the whole corpus."
            )
        if self.__sklearn_is_fitted__():
            corpus = self._read(X)
        else:
            corpus = self._start(X, corpus_size)
            if corpus_size is None:
                warnings.warn(LENGTH_UNKNOWN, stacklevel=2)
            rng = np.random.default_rng([self.seed_, 0])
            self.state_ = self.algorithm.init(self.config_, self.n_features_in_, rng)
        last_checkpoint = self._last_checkpoint()
        self.documents_seen_ += corpus.num_documents
        self._take_steps(corpus, corpus_size, is_population)
        if (
            isinstance(X, Corpus)
            or self.documents_seen_ >= (1 + CHECKPOINT_GROWTH) * last_checkpoint
        ):
            self._remember(self.documents_seen_, corpus.dates.max(), self._summary())
        return self

    def _last_checkpoint(self) -> int:
        """Documents seen at the last checkpoint, 0 before the first.

        Checkpoints of later passes of `fit` are left out: there, `history_` counts documents more
        than once.
        """
        seen = self.history_["documents_seen"].to_numpy()
        return int(seen[seen <= self.documents_seen_].max(initial=0))

    def _forget_words(self, columns: np.ndarray, like: int) -> None:
        """Let some words (U,) be like a word that has not occurred yet."""
        state = self.state_._replace(topic_counts=self.state_.topic_counts.forget(columns, like))
        if isinstance(state, OnlineHDPState):
            is_left = ~np.isin(state.decided.words, columns)
            state = state._replace(
                set_aside=state.set_aside.without(columns), decided=state.decided.select(is_left)
            )
        self.state_ = state
        # A model before an edit has other words in these columns.
        self._before = ()

    def _raise_limit(self, corpus: Corpus) -> None:
        """Let K, if it is left to the corpus, follow the tokens of a stream."""
        opened = self.algorithm.config(**self._parameters())
        if "max_topics" in open_settings(opened):
            num_tokens = corpus.num_tokens * self.documents_seen_ // max(1, corpus.num_documents)
            limit = resolve_max_topics(opened, num_tokens).max_topics
            self.config_ = replace(self.config_, max_topics=max(self.config_.max_topics, limit))

    def _take_steps(self, corpus: Corpus, corpus_size: int | None, is_population: bool) -> None:
        """Learn from some documents of a larger corpus, as `engine.run` would from all."""
        is_stream = is_population
        if corpus_size is None or (corpus_size < self.documents_seen_ and not is_population):
            is_stream = True
            self._raise_limit(corpus)
            config, self.corpus_size_ = resolve_stream(
                self.config_, self.documents_seen_, corpus.num_documents
            )
        else:
            config = resolve(self.config_, corpus_size)
            self.corpus_size_ = corpus_size
            if is_population and self.algorithm.has_setting("later_passes"):
                # The documents beyond D are new ones, not those of a second pass.
                config = replace(config, later_passes="forget")
        num_left = corpus.num_documents
        try:
            for batch in corpus.batches(config.batch_size):
                batch = batch._replace(corpus_size=self.corpus_size_, is_stream=is_stream)
                rng = np.random.default_rng([self.seed_, self.state_.step + 1])
                self.state_, _ = take_step(
                    self.algorithm, config, self.state_, batch, rng, self.num_shards
                )
                num_left -= len(batch.doc_ids)
        finally:
            # After an interrupt, documents that were not learned from do not count.
            self.documents_seen_ -= num_left
