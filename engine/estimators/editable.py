"""Estimators whose topics a person can edit: the online HDPs."""

from collections.abc import Iterable
from typing import Self

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from stickbreaker.engine.algorithm import Edit, EditKind, TopicEdit
from stickbreaker.engine.corpora.corpus import Vocabulary
from stickbreaker.engine.corpora.documents import Batch
from stickbreaker.engine.estimators.counts import Counts
from stickbreaker.engine.estimators.online_model import OnlineTopicModel
from stickbreaker.engine.inference.edits import (
    MOST_UNDONE,
    PIN_WEIGHT,
    EditError,
    draw_documents,
    draw_learned,
    find_support,
    list_changed,
)


class EditableTopicModel(OnlineTopicModel):
    """What the estimators have in common whose topics a person can edit.

    The next `partial_fit` goes on from an edit. Topics keep their ids, and no id is used again.
    Documents set aside remove no topic that was split, pinned or seeded.

    Attributes
    ----------
    edits_ : tuple of TopicEdit
        The edits, in order; `save` writes them too.

    Examples
    --------
    >>> import pandas as pd
    >>> from stickbreaker.engine import OnlineHDP
    >>> texts = [[4, 3, 2, 0, 0, 0], [0, 0, 0, 4, 3, 2]] * 50
    >>> words = ["war", "navy", "army", "tariff", "cotton", "trade"]
    >>> model = OnlineHDP(random_state=0).fit(pd.DataFrame(texts, columns=words))
    >>> in_use = [int(each) for each in model.topics_frame(wide=True)["topic_id"]]
    >>> merged = model.merge(in_use)
    >>> model.n_topics_, model.edits_[0].kind
    (1, 'merge')
    >>> model.undo().n_topics_
    2
    """

    def merge(self, topic_ids: Iterable[int]) -> int:
        """Merge topics into the largest of them, which gets their words and their weight.

        Parameters
        ----------
        topic_ids : iterable of int
            At least two topics in use.

        Returns
        -------
        int
            The id of the topic that stays. The other topics are empty.

        Raises
        ------
        ValueError
            If a topic does not exist or is not in use, or there are fewer than two.
        """
        ids = tuple(map(_check_id, topic_ids))
        return self._edit(Edit(EditKind.MERGE, ids))[0]

    def remove(self, topic_id: int) -> None:
        """Remove a topic; the other topics take its words in the documents that come next.

        Parameters
        ----------
        topic_id : int
            A topic in use.

        Raises
        ------
        ValueError
            If the topic does not exist, is not in use, or is the only one.
        """
        self._edit(Edit(EditKind.REMOVE, (_check_id(topic_id),)))

    def pin(self, topic_id: int, weight: float = PIN_WEIGHT) -> None:
        """Keep the words of a topic as they are now.

        They become prior tokens, which count in each step like tokens of the documents: with the
        default, documents move the words of the topic at most an eleventh of the way.

        Parameters
        ----------
        topic_id : int
            A topic in use.
        weight : float
            The number of prior tokens of each word, as a multiple of the tokens that the topic has
            of it now. Words with less than half a token have none. 0 ends an earlier pin.

        Raises
        ------
        ValueError
            If the topic does not exist or is not in use, or the weight is not a number from 0 to
            1,000.
        """
        self._edit(Edit(EditKind.PIN, (_check_id(topic_id),), weight=_check_weight(weight)))

    def split(self, topic_id: int, X: Counts | None = None) -> int:
        """Split a topic in two, by the documents in which it occurs.

        The topic keeps the larger half of its words. The words of the documents are divided so that
        documents differ most, and then by what predicts them best.

        Parameters
        ----------
        topic_id : int
            A topic in use.
        X : Corpus or array-like or sparse matrix of shape (D, V), optional
            Documents with the topic that the model has read, of which at most 4,096 are used. By
            default, the documents that it has set aside.

        Returns
        -------
        int
            The id of the further topic, which has the other half.

        Raises
        ------
        ValueError
            If the topic does not exist or is not in use, if it occurs in fewer than two of the
            documents, or if these all use the same words.
        """
        return self._edit(Edit(EditKind.SPLIT, (_check_id(topic_id),)), X)[-1]

    def seed_topic(
        self, words: Iterable[str], name: str = "", X: Counts | None = None, weight: float = 1.0
    ) -> int:
        """Add a topic that starts from some words, which have prior tokens in it.

        It starts with the words of documents that it can explain better than the other topics.
        `support` says whether documents need it.

        Parameters
        ----------
        words : iterable of str
            Words of the vocabulary; those that it does not have as written are read in lower case.
        name : str
            The name of the topic.
        X : Corpus or array-like or sparse matrix of shape (D, V), optional
            Documents with the words that the model has read, of which at most 4,096 are used. By
            default, the documents that it has set aside.
        weight : float
            The number of prior tokens of each word, as a multiple of the tokens that the corpus has
            of it.

        Returns
        -------
        int
            The id of the topic.

        Raises
        ------
        ValueError
            If there is no word, a word is not in the vocabulary, or the weight is not a number from
            0 to 1,000.
        """
        check_is_fitted(self)
        if isinstance(words, str):
            raise ValueError(f"words is {words!r}: give a list of words, such as [{words!r}].")
        if self.words_ is None:
            raise ValueError("The model does not know its words: fit it to a Corpus.")
        vocabulary = Vocabulary(self.words_)
        given = (str(word).strip() for word in words)
        chosen = tuple(word if word in vocabulary else word.casefold() for word in given)
        try:
            columns = tuple(map(vocabulary.index, chosen))
        except KeyError as error:
            raise EditError(f"No topic was added: {error.args[0]}.") from error
        edit = Edit(EditKind.SEED, words=columns, weight=_check_weight(weight))
        new = self._edit(edit, X, chosen, name.strip())[0]
        if name.strip():
            self.topic_names_ = {**self.topic_names_, new: name.strip()}
        return new

    def support(self, topic_id: int) -> float:
        """Measure how far documents support a topic that was seeded.

        Parameters
        ----------
        topic_id : int
            A topic.

        Returns
        -------
        float
            The share of all tokens that the topic has without those of its seed's words and its
            prior. If it is below .001 after a pass over the documents, they do not support the
            topic, and `seed_topic` has added little more than its words.

        Raises
        ------
        ValueError
            If the topic does not exist.
        """
        check_is_fitted(self)
        if not 0 <= _check_id(topic_id) < len(self.state_.tables):
            raise EditError(f"There is no topic {topic_id}.")
        return find_support(self.state_, topic_id)

    def propose_edits(self, X: Counts) -> pd.DataFrame:
        """Try merges and splits, and measure how well documents set aside are predicted after each.

        The five closest pairs of topics are merged, and the ten topics with the most tokens in
        these documents are split. The model does not change.

        Parameters
        ----------
        X : Corpus or array-like or sparse matrix of shape (D, V)
            The documents of the fit in the same order, of which at most 4,096 are used. Those that
            the fit has set aside are left out.

        Returns
        -------
        pandas.DataFrame
            A row for each edit, the best first: kind, topic_ids (for `merge` or `split`), labels,
            gain (in nats per token of the documents set aside), error (its standard error) and
            is_supported (a split gains more than its error, or a merge loses less than that).

        Raises
        ------
        ValueError
            If the model has set no documents aside.
        """
        check_is_fitted(self)
        if not self.state_.set_aside.num_documents:
            raise EditError(
                "The model has set no documents aside: fit it to more documents, and with"
                " duplicates='merge'."
            )
        corpus = self._read(X)
        batch = draw_learned(corpus, corpus.num_documents)._replace(corpus_size=self.corpus_size_)
        assert self.algorithm.propose is not None
        tried = self.algorithm.propose(self.config_, self.state_, batch)
        labels = self.topic_labels()
        rows = [
            {
                "kind": str(each.edit.kind),
                "topic_ids": each.edit.topic_ids,
                "labels": tuple(labels.get(k, f"topic {k}") for k in each.edit.topic_ids),
                "gain": each.gain,
                "error": each.error,
                "is_supported": each.is_supported,
            }
            for _, each in tried
            if each is not None
        ]
        columns = ["kind", "topic_ids", "labels", "gain", "error", "is_supported"]
        frame = pd.DataFrame(rows, columns=columns)
        return frame.sort_values("gain", ascending=False, ignore_index=True)

    def undo(self) -> Self:
        """Take back the last edit: the model becomes what it was before.

        It also forgets the documents that it has learned from since; give them again. The last five
        edits can be undone as long as the model is in memory; after `load`, only the last one, and
        only if the model was saved before it learned on.

        Returns
        -------
        EditableTopicModel
            The model itself.

        Raises
        ------
        ValueError
            If there is no edit to take back.
        """
        if not self._before:
            if self.edits_:
                raise EditError(
                    "The model before its last edit is not known: load a file that was saved before"
                    " the edit, or fit again."
                )
            raise EditError("There is no edit to take back.")
        *earlier, before = self._before
        self.__dict__.update(before, _before=tuple(earlier))
        return self

    def _edit(
        self, edit: Edit, X: Counts | None = None, words: tuple[str, ...] = (), name: str = ""
    ) -> tuple[int, ...]:
        """Edit topics with documents X or those set aside, and return which topics changed."""
        check_is_fitted(self)
        assert self.algorithm.edit is not None
        documents = self.state_.set_aside
        if X is not None:
            documents = draw_documents(self._read(X)).documents()
        batch = Batch(
            doc_ids=np.arange(documents.num_documents),
            documents=documents,
            corpus_size=self.corpus_size_,
        )
        state = self.algorithm.edit(self.config_, self.state_, edit, batch)
        event = TopicEdit(
            kind=str(edit.kind),
            topic_ids=list_changed(edit, state),
            words=words,
            name=name,
            step=self.state_.step,
            documents_seen=self.documents_seen_,
        )
        self._before = (*self._before, self._take_fitted())[-MOST_UNDONE:]
        self.edits_ = (*self.edits_, event)
        self.state_ = state
        return event.topic_ids


def _check_id(topic_id: object) -> int:
    if isinstance(topic_id, bool) or not isinstance(topic_id, int | np.integer):
        raise EditError(f"{topic_id!r} is not the id of a topic: give a whole number.")
    return int(topic_id)


def _check_weight(weight: object) -> float:
    if isinstance(weight, int | float | np.number) and 0.0 <= float(weight) <= 1000.0:
        return float(weight)
    raise EditError(f"weight is {weight!r}: give a number from 0 to 1,000.")
