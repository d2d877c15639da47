"""The topics of a fitted model as tables, and as files for people and other programs."""

from collections.abc import Sequence
from importlib import import_module
from os import PathLike
from typing import Any

import pandas as pd
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from stickbreaker.engine.estimators.counts import Counts
from stickbreaker.engine.estimators.fitted import FittedModel
from stickbreaker.engine.evaluation.archives import write_arrays, write_sheets
from stickbreaker.engine.evaluation.coherence import (
    OverallQuality,
    TopicQuality,
    measure_quality,
    sum_up,
)
from stickbreaker.engine.evaluation.found_again import RunTopics, find_again, take_topics
from stickbreaker.engine.evaluation.held_out import rank_topics
from stickbreaker.engine.evaluation.intrusion import ReadDocuments
from stickbreaker.engine.evaluation.labels import Labeller, label_topics
from stickbreaker.engine.evaluation.topic_frames import (
    NUM_WORDS,
    quality_frame,
    topics_frame,
    topics_html,
)

# Imported by name when it is used: the engine does not depend on the app.
NOTEBOOK = "stickbreaker.app.notebook"


class TopicTables(FittedModel):
    """The topics of a fitted model as tables, and as files for people and other programs."""

    def topics_frame(
        self,
        num_words: int = NUM_WORDS,
        words: Sequence[str] | None = None,
        label_with: Labeller | None = None,
        others: Sequence["TopicTables"] = (),
        wide: bool = False,
    ) -> pd.DataFrame:
        """The topics in use as a table, largest first.

        Parameters
        ----------
        num_words : int
            The number of words for each topic.
        words : sequence of str, optional
            The V words, for a model that does not know them: `vectorizer.get_feature_names_out()`.
        label_with : callable, optional
            As in `topic_labels`.
        others : sequence of TopicModel
            Other models of the same words, such as fits with another `random_state`.
        wide : bool
            Whether each topic has one row, with its words in one text, instead of a row for each
            word.

        Returns
        -------
        pandas.DataFrame
            Columns topic_id, label, weight (the part of the expected tokens, which favours recent
            text), rank, word, probability; if `wide`, words (the most probable first) instead of
            the last three. With `others` also stability: the share of these models in which the
            topic comes back (see `stability`).

        Raises
        ------
        ValueError
            If `words` are not the V words, or another model has other words.
        """
        frame = topics_frame(self._summary(), self._name_words(words), num_words)
        labels = self.topic_labels(words, label_with)
        frame.insert(
            1, "label", pd.Series([labels[topic_id] for topic_id in frame["topic_id"]], dtype=str)
        )
        if others:
            found = find_again(*self._take_all(others))
            come_back = dict(zip(labels, found.num_found / len(others), strict=True))
            frame.insert(3, "stability", frame["topic_id"].map(come_back))
        if not wide:
            return frame
        columns = [name for name in frame if name not in ("rank", "word", "probability")]
        return frame.groupby(columns, sort=False)["word"].agg(", ".join).reset_index(name="words")

    def topic_labels(
        self, words: Sequence[str] | None = None, label_with: Labeller | None = None
    ) -> dict[int, str]:
        """A label of each topic in use: two or three words that tell it from the other topics.

        A name that a person has given in the app takes precedence. `engine.evaluation.labels`
        states the rule.

        Parameters
        ----------
        words : sequence of str, optional
            As in `topics_frame`.
        label_with : callable, optional
            Replaces the rule: it gets the ten most probable words of a topic as a list, and returns
            the label. A language model can write labels in this way.

        Returns
        -------
        dict of int to str
            Labels by topic id, the largest topic first.
        """
        summary = self._summary()
        labels = label_topics(summary, self._name_words(words), label_with=label_with)
        return {
            topic_id: self.topic_names_.get(topic_id) or label for topic_id, label in labels.items()
        }

    def coherence(
        self, X: Counts, words: Sequence[str] | None = None, label_with: Labeller | None = None
    ) -> pd.DataFrame:
        """Coherence (NPMI) and exclusivity of each topic in use, largest first.

        The model does not change.

        `engine.evaluation.coherence` states the definitions.

        Parameters
        ----------
        X : Corpus or array-like or sparse matrix of shape (D, V)
            Reference documents, in which words occur together; the training documents are the usual
            choice.
        words : sequence of str, optional
            As in `topics_frame`.
        label_with : callable, optional
            As in `topics_frame`.

        Returns
        -------
        pandas.DataFrame
            Columns topic_id, label, weight (as in `topics_frame`), npmi, exclusivity, words (the
            ten most probable).
        """
        return quality_frame(
            self._measure(X), self._name_words(words), self.topic_labels(words, label_with)
        )

    def quality(self, X: Counts) -> OverallQuality:
        """Coherence and diversity of all topics in use: means over the topics of `coherence`.

        Parameters
        ----------
        X : Corpus or array-like or sparse matrix of shape (D, V)
            Reference documents, as in `coherence`.

        Returns
        -------
        OverallQuality
            Mean NPMI by topics and by tokens, share of topics with NPMI below zero, mean
            exclusivity, diversity.
        """
        return sum_up(self._measure(X))

    def save_arrays(
        self, path: str | PathLike[str], X: Counts, words: Sequence[str] | None = None
    ) -> None:
        """Write θ of documents and the topics for other programs, to a zip file.

        The model does not change.

        It holds theta.npy (D, K) with all topics, topics.npy (K, V), and vocabulary.json with the
        words, the ids and labels of the topics, and the titles of the documents.

        Parameters
        ----------
        path : str or path
            The file to write.
        X : Corpus or array-like or sparse matrix of shape (D, V)
            The documents.
        words : sequence of str, optional
            As in `topics_frame`.
        """
        named, labels = self._name_words(words), self.topic_labels(words)
        write_arrays(path, self._summary(), named, labels, self._read_documents(X))

    def save_sheets(
        self,
        path: str | PathLike[str],
        X: Counts,
        words: Sequence[str] | None = None,
        seed: int = 0,
    ) -> None:
        """Write tests of word and topic intrusion, with their keys, to a zip file of CSV files.

        People look for the word that does not belong to a topic, or the topic that does not belong
        to a document (`engine.evaluation.intrusion`). The model does not change.

        Parameters
        ----------
        path : str or path
            The file to write.
        X : Corpus or array-like or sparse matrix of shape (D, V)
            The documents of the topic-intrusion sheet.
        words : sequence of str, optional
            As in `topics_frame`.
        seed : int
            The seed of all draws.
        """
        named, labels = self._name_words(words), self.topic_labels(words)
        write_sheets(path, self._summary(), named, labels, self._read_documents(X), seed)

    def _read_documents(self, X: Counts) -> ReadDocuments:
        documents = self._read(X)
        return ReadDocuments(
            titles=documents.titles,
            doc_ids=documents.doc_ids,
            counts=documents.counts,
            shares=self._infer(X),
        )

    def show(self, X: Counts, words: Sequence[str] | None = None) -> Any:
        """Show the topics in a notebook: a map, bars and, for dated documents, topics over time.

        The model does not change. `stickbreaker.app.notebook` also has each plot by itself:
        `plot_map`, `plot_bars` and `plot_time`; `plot_groups` shows a topic in groups of documents.

        Parameters
        ----------
        X : Corpus or array-like or sparse matrix of shape (D, V)
            The documents to read with the model; a Corpus has dates.
        words : sequence of str, optional
            As in `topics_frame`.

        Returns
        -------
        panel.FlexBox
            The plots.

        Raises
        ------
        ImportError
            If the package of the app, `stickbreaker.app`, cannot be imported.
        """
        check_is_fitted(self)
        try:
            notebook = import_module(NOTEBOOK)
        except ImportError as error:
            raise ImportError(
                f"show needs {NOTEBOOK} ({error}): install stickbreaker[notebooks]."
            ) from error
        return notebook.show_model(self, X, words)

    def _take_all(self, others: Sequence["TopicTables"]) -> tuple[RunTopics, list[RunTopics]]:
        """The topics of this model and of others with the same words, for `find_again`."""
        for other in others:
            other._check_like(self)
        return take_topics(self._summary()), [take_topics(other._summary()) for other in others]

    def _check_like(self, model: "TopicTables") -> None:
        """Refuse a comparison with a model of other words, or one that is not fitted."""
        check_is_fitted(self)
        if (self.n_features_in_, self.words_) != (model.n_features_in_, model.words_):
            raise ValueError(
                "The models have different words: fit all of them to counts of the same vocabulary."
            )

    def _measure(self, X: Counts) -> TopicQuality:
        summary = self._summary()
        used = rank_topics(summary.expected_tokens)
        tokens = summary.expected_tokens[used]
        return measure_quality(
            summary.topic_ids[used], summary.topics[used], tokens, self._read(X).counts
        )

    def _repr_html_(self) -> str:
        """scikit-learn's diagram of the parameters and, once fitted, the ten largest topics."""
        diagram = str(estimator_html_repr(self))
        if not self.__sklearn_is_fitted__():
            return diagram
        caption = (
            f"{type(self).__name__}: {self.n_topics_} topics from {self.corpus_size_:,} documents."
            " The largest:"
        )
        return diagram + topics_html(self.topics_frame(), caption)

    def _repr_mimebundle_(self, **kwargs: object) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}
