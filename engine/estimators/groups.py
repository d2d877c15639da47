"""The topics and the scores of a fitted model in groups of documents."""

from collections.abc import Sequence

import pandas as pd
from scipy.sparse import csr_array

from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.estimators.counts import Counts
from stickbreaker.engine.estimators.fitted import SPLIT_SEED
from stickbreaker.engine.estimators.tables import TopicTables
from stickbreaker.engine.evaluation.group_scores import score_documents, score_frame
from stickbreaker.engine.evaluation.group_shares import Groups, find_groups, group_frame
from stickbreaker.engine.evaluation.group_words import OTHERS, topic_tokens, word_frame
from stickbreaker.engine.evaluation.held_out import rank_topics


class GroupTables(TopicTables):
    """The topics and the scores of a fitted model in groups of documents."""

    def shares_by_group(self, X: Counts, groups: Sequence[object] | None = None) -> pd.DataFrame:
        """The shares of the topics in use in groups of documents, with 95 % intervals.

        The model does not change. `engine.evaluation.group_shares` states how intervals are
        computed, for documents drawn at random.

        Parameters
        ----------
        X : Corpus or array-like or sparse matrix of shape (D, V)
            The documents.
        groups : sequence of D str, optional
            The group of each document, such as its author or party. By default the groups of the
            corpus; those of State of the Union are presidents.

        Returns
        -------
        pandas.DataFrame
            Columns topic_id, label, group, share, low, high (parts of the tokens of the group),
            documents, whole (the share in all documents). The largest topic comes first.

        Raises
        ------
        ValueError
            If X has no groups, or their number is not D.
        """
        corpus, found = self._read_groups(X, groups)
        tokens = corpus.counts.sum(1)
        rows = tokens.nonzero()[0]
        summary = self._summary()
        used = rank_topics(summary.expected_tokens)
        shares = csr_array(self._infer(corpus)[rows][:, used])
        frame = group_frame(shares, tokens[rows], found.select(rows))
        topic_ids = summary.topic_ids[used][frame.pop("topic")]
        labels = self.topic_labels(None)
        frame.insert(0, "topic_id", topic_ids)
        frame.insert(
            1, "label", pd.Series([labels[each] for each in topic_ids.tolist()], dtype=str)
        )
        return frame

    def words_by_group(
        self,
        X: Counts,
        topic_id: int,
        first: str,
        second: str = OTHERS,
        groups: Sequence[object] | None = None,
    ) -> pd.DataFrame:
        """The words that a topic has more in one group of documents than in another.

        Log odds with an informative Dirichlet prior (Monroe, Colaresi & Quinn 2008), with standard
        errors for texts instead of words (`engine.evaluation.group_words`). The model does not
        change.

        Parameters
        ----------
        X : Corpus or array-like or sparse matrix of shape (D, V)
            The documents.
        topic_id : int
            The topic.
        first : str
            The name of a group.
        second : str
            The group to compare with, by default all others.
        groups : sequence of D str, optional
            As in `shares_by_group`.

        Returns
        -------
        pandas.DataFrame
            Columns word, z, log_odds (the difference; above 0: more in the first group), first,
            second (expected tokens of the word in the topic). Words that the first group has more
            come first. Above 1.96 or below -1.96, z is beyond 95 % of chance differences.

        Raises
        ------
        ValueError
            If X has no groups, or there is no such group or topic.
        """
        corpus, found = self._read_groups(X, groups)
        summary = self._summary()
        places = (summary.topic_ids == topic_id).nonzero()[0]
        if not len(places):
            raise ValueError(f"There is no topic {topic_id}: see topics_frame().")
        topic = summary.topics[places[0]]
        shares = self._infer(corpus)
        tokens = topic_tokens(corpus.documents(), shares, summary.topics, places[0])
        return word_frame(tokens, found, (first, second), topic, self._name_words(None))

    def score_by_group(self, X: Counts, groups: Sequence[object] | None = None) -> pd.DataFrame:
        """How well the model predicts held-out words of each group of documents.

        The protocol and the held-out words are those of `score`: the mean over groups, weighted by
        their tokens, is its result. The model does not change. `engine.evaluation.group_scores`
        states how errors are computed, for documents drawn at random.

        Parameters
        ----------
        X : Corpus or array-like or sparse matrix of shape (D, V)
            Documents that the model has not learned from.
        groups : sequence of D str, optional
            As in `shares_by_group`.

        Returns
        -------
        pandas.DataFrame
            Columns group, nats_per_word, standard_error, low, high (a 95 % interval), documents,
            tokens (held out). Errors and intervals are NaN for a group of one text.

        Raises
        ------
        ValueError
            If X has no groups, or their number is not D.
        """
        corpus, found = self._read_groups(X, groups)
        scores = score_documents(self.algorithm, self.config_, self.state_, corpus, SPLIT_SEED)
        return score_frame(scores, found)

    def _read_groups(self, X: Counts, names: Sequence[object] | None) -> tuple[Corpus, Groups]:
        """Documents and their groups."""
        corpus = self.to_corpus(X)
        found = find_groups(corpus, names)
        if found is None:
            raise ValueError(
                "The documents have no groups, or only one: give `groups`, one name per document."
            )
        return corpus, found
