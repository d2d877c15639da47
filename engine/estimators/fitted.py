"""What a fitted model answers: its topics, those of documents, and how well it predicts words."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from stickbreaker.engine.algorithm import Algorithm, TopicEdit, TopicSummary
from stickbreaker.engine.corpora.corpus import Corpus, Vocabulary
from stickbreaker.engine.corpora.known_words import find_known
from stickbreaker.engine.corpora.word_choices import WordChoices
from stickbreaker.engine.estimators.counts import (
    Counts,
    as_corpus,
    holds_texts,
    name_columns,
    refuse_texts,
)
from stickbreaker.engine.evaluation import held_out
from stickbreaker.engine.evaluation.share_files import ShareReader, write_shares
from stickbreaker.engine.evaluation.topic_frames import name_words
from stickbreaker.engine.inference.evidence import score_numbers
from stickbreaker.engine.inference.states import OnlineHDPState
from stickbreaker.engine.parallel.clusters import Cluster, connect
from stickbreaker.engine.progress_bars import show_progress
from stickbreaker.engine.runs.count_check import PASSES, CheckPlan, CountCheck, check_count
from stickbreaker.engine.versions import find_environment

if TYPE_CHECKING:
    from distributed import Client

SPLIT_SEED = 0
UNUSED_TOPICS = ("keep", "drop")


if TYPE_CHECKING:
    # scikit-learn has no type hints, and an unknown base would hide misspelt parameters.
    class Estimator:
        """What users call of `BaseEstimator` and `TransformerMixin`."""

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def set_output(self, *, transform: str | None = None) -> Self: ...
        def fit_transform(self, X: Any, y: object = None, **fit_params: Any) -> Any: ...
        def __sklearn_tags__(self) -> Any: ...

else:

    class Estimator(TransformerMixin, BaseEstimator):
        """The base classes of scikit-learn."""


class FittedModel(Estimator):
    """What a fitted model answers; the attributes are described at `TopicModel`."""

    algorithm: Algorithm
    passes: int | None
    # Estimators whose steps can be divided have it as a parameter.
    num_shards: int | None = None
    random_state: int | np.random.RandomState | None
    unused_topics: str
    state_: Any
    config_: Any
    seed_: int
    documents_seen_: int
    n_iter_: int
    corpus_size_: int
    n_features_in_: int
    words_: tuple[str, ...] | None
    word_choices_: WordChoices | None = None
    history_: pd.DataFrame
    topic_names_: dict[int, str]
    # Of the dates of a stream.
    date_form_: str = ""
    # Of topics, by a person, and the models before them.
    edits_: tuple[TopicEdit, ...] = ()
    _before: tuple[dict[str, Any], ...] = ()

    def _take_fitted(self) -> dict[str, Any]:
        """All that the model has learned."""
        fitted = {name: value for name, value in vars(self).items() if name.endswith("_")}
        return fitted | {"edits_": self.edits_}

    def transform(self, X: Counts) -> np.ndarray:
        """Infer the topics of documents. The model does not change.

        Parameters
        ----------
        X : Corpus or array-like or sparse matrix of shape (D, V), or list of D str
            The documents, also as texts. A warning says if most of their words are not in the
            vocabulary, or all words of a text.

        Returns
        -------
        ndarray of shape (D, K)
            The share of each topic in each document; rows sum to 1. With `unused_topics="drop"` it
            has the columns of the topics in use only; the shares stay as they are, so rows may sum
            to less than 1.
        """
        return self._infer(X)[:, self._columns()]

    def transform_to(
        self,
        X: Counts,
        folder: str | PathLike[str],
        *,
        verbose: bool = False,
        client: "Client | None" = None,
    ) -> Path:
        """Infer the topics of documents and write them to Parquet files, part by part.

        The model does not change.

        Parameters
        ----------
        X : Corpus or array-like or sparse matrix of shape (D, V)
            The documents; a stored corpus is not loaded.
        folder : str or path
            The folder to make; it is made completely or not at all. Each file has 65,536 documents:
            a column doc_id, and the columns of `transform` in single precision under the names of
            `get_feature_names_out`.
        verbose : bool
            Whether a progress bar is shown.
        client : distributed.Client, optional
            The workers of this Dask cluster make one file each, with the same content; X is then a
            corpus on disk. They write into the folder if they have it. Otherwise this process
            writes what they return.

        Returns
        -------
        Path
            The folder. `pandas.read_parquet` reads it.

        Raises
        ------
        CorpusError
            If there is a client and X is in memory.
        ClusterError
            If Dask is not installed, or a worker cannot read the corpus, has other versions or a
            different processor.
        FileError
            If the folder exists already or cannot be written.
        """
        check_is_fitted(self)
        corpus = self._read(X)
        reader = self._reader(self._columns(), self.get_feature_names_out().tolist())
        with show_progress(verbose, corpus.num_documents, "documents") as move:
            return write_shares(
                folder,
                corpus,
                reader,
                lambda num_documents: move(num_documents, "Reading"),
                _connect(client),
            )

    def score(self, X: Counts, y: object = None, *, client: "Client | None" = None) -> float:
        """Score how well the model predicts held-out words.

        Higher is better. The model does not change.

        A tenth of each document's distinct words is predicted from the other words (protocol
        `disjoint_words`). The same row of X is always split in the same way, so models can be
        compared. Documents with fewer than two distinct words are left out.

        Parameters
        ----------
        X : Corpus or array-like or sparse matrix of shape (D, V)
            Documents that the model has not learned from.
        y : object
            Not used.
        client : distributed.Client, optional
            The workers of this Dask cluster score 65,536 documents each, with the same result, bit
            for bit; X is then a corpus on disk.

        Returns
        -------
        float
            Mean log likelihood of a held-out token, in nats.

        Raises
        ------
        ValueError
            If no document has two distinct words.
        CorpusError
            If there is a client and X is in memory.
        ClusterError
            If Dask is not installed, or a worker cannot read the corpus, has other versions or a
            different processor.
        """
        check_is_fitted(self)
        scorer = held_out.PartScorer(
            algorithm=self.algorithm, config=self.config_, state=self.state_, seed=SPLIT_SEED
        )
        nats = held_out.score_corpus(scorer, self._read(X), _connect(client))
        if np.isnan(nats):
            raise ValueError(
                "No document in X has two or more distinct words, so none can be held out: give"
                " longer documents."
            )
        return nats

    def check_count(
        self, X: Counts, passes: int = PASSES, seed: int = 0, *, verbose: bool = False
    ) -> CountCheck:
        """Check the number of topics in use with the Gibbs sampler of the HDP.

        The model does not change.

        The sampler starts from the topics of the model and may add and remove topics
        (`engine.runs.count_check`). It rarely merges or splits large topics, so a stable count
        supports the model's number but does not prove it.

        Parameters
        ----------
        X : Corpus or array-like or sparse matrix of shape (D, V)
            The training documents. If they have more than 2 million tokens, a random sample of them
            is used.
        passes : int
            The number of passes over the documents.
        seed : int
            The seed of all draws; the same seed gives the same counts, bit for bit.
        verbose : bool
            Whether a progress bar is shown.

        Returns
        -------
        CountCheck
            `counts` (passes + 1,), the topics in use at the start and after each pass; `interval`,
            the smallest and the largest count of the last half of the passes; `trend`, whether the
            count still rises or falls.

        Raises
        ------
        ValueError
            If the model is a mixture, which gives a document one topic, or if X holds no words.
        """
        check_is_fitted(self)
        with show_progress(verbose) as move:

            def report(share: float) -> bool:
                move(share, "Sampling")
                return True

            plan = CheckPlan(passes=passes, seed=seed)
            check = check_count(
                self.algorithm, self.config_, self.state_, self._read(X), plan, report
            )
        assert check is not None
        return check

    def score_numbers(self) -> pd.DataFrame:
        """Score the documents that were set aside with fewer and fewer topics.

        A path removes topics down to one, each time the smaller of the two closest, as when the
        online HDP decides on their number (`engine.inference.evidence`). The model does not change.

        Returns
        -------
        pandas.DataFrame
            Columns num_topics, ascending, up to all topics with tokens, and nats_per_word.

        Raises
        ------
        ValueError
            If the model set no documents aside.
        """
        check_is_fitted(self)
        numbers = scores = np.zeros(0)
        if isinstance(self.state_, OnlineHDPState):
            numbers, scores = score_numbers(self.algorithm.infer, self.config_, self.state_)
        if not len(numbers):
            raise ValueError(
                'The model set no documents aside: fit an OnlineHDP with duplicates="merge".'
            )
        return pd.DataFrame({"num_topics": numbers, "nats_per_word": scores})

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Names of the columns of `transform`: "topic" and the topic's id.

        Parameters
        ----------
        input_features : object
            Not used.

        Returns
        -------
        ndarray of shape (K,)
            The names; those of the topics in use with `unused_topics="drop"`.
        """
        return np.array([f"topic{topic_id}" for topic_id in self.topic_ids_], object)

    @property
    def components_(self) -> np.ndarray:
        """E[topics] (K, V), of the topics that `transform` has columns for; rows sum to 1."""
        return self._summary().topics[self._columns()]

    @property
    def topic_weights_(self) -> np.ndarray:
        """E[corpus weights] (K,) of the topics in `components_`; those of all topics sum to 1."""
        return self._summary().weights[self._columns()]

    @property
    def topic_ids_(self) -> np.ndarray:
        """Ids (K,) of the topics in `components_`; a topic never changes its id."""
        return self._summary().topic_ids[self._columns()]

    @property
    def n_topics_(self) -> int:
        """The number of topics in use: the fewest that together have 99 % of all expected tokens.

        A topic with less than one expected token is not in use, so a model of a few words can have
        none.
        """
        return held_out.count_topics(self._summary().expected_tokens)

    def to_corpus(self, X: Counts, words: Sequence[str] | None = None) -> Corpus:
        """Give documents the words of the model. A Corpus is returned as it is.

        Parameters
        ----------
        X : Corpus or array-like or sparse matrix of shape (D, V)
            The documents.
        words : sequence of str, optional
            As in `topics_frame`.

        Returns
        -------
        Corpus
            The documents; without words, these are x0, x1, ...
        """
        check_is_fitted(self)
        corpus = self._read(X)
        if isinstance(X, Corpus):
            return corpus
        vocabulary = Vocabulary(tuple(self._name_words(words)))
        return replace(corpus, vocabulary=vocabulary, word_choices=self.word_choices_)

    def _summary(self) -> TopicSummary:
        check_is_fitted(self)
        return self.algorithm.summarize(self.config_, self.state_)

    def _infer(self, X: Counts) -> np.ndarray:
        """The shares (D, K) of all topics in documents."""
        check_is_fitted(self)
        reader = self._reader(slice(None))
        batches = self._read(X).batches(held_out.DOCUMENTS_AT_ONCE)
        return np.concatenate([reader.infer(batch.documents) for batch in batches]).astype(float)

    def _reader(self, columns: np.ndarray | slice, names: Sequence[str] = ()) -> ShareReader:
        return ShareReader(
            algorithm=self.algorithm,
            config=self.config_,
            state=self.state_,
            columns=columns,
            names=names,
        )

    def _columns(self) -> np.ndarray | slice:
        """The topics that `transform` has columns for."""
        if self._keeps_unused():
            return slice(None)
        return np.sort(held_out.rank_topics(self.state_.expected_tokens))

    def _keeps_unused(self) -> bool:
        """Whether `transform` has columns for unused topics."""
        if self.unused_topics not in UNUSED_TOPICS:
            raise ValueError(
                f"unused_topics is {self.unused_topics!r}: choose one of"
                f" {', '.join(UNUSED_TOPICS)}."
            )
        return self.unused_topics == "keep"

    def _read(self, X: Counts, is_new: bool = False) -> Corpus:
        """X as a Corpus; unless the model is new, it must have the model's words."""
        if isinstance(X, Corpus):
            return self._read_corpus(X, is_new)
        if not is_new and self.words_ is not None and holds_texts(X):
            known = find_known(self)
            counts, warning = known.count_with_warning(X)
            if warning:
                warnings.warn(warning, stacklevel=4)
            corpus = as_corpus(counts)
            return replace(corpus, vocabulary=known.vocabulary, word_choices=known.choices)
        refuse_texts(X)
        columns = name_columns(X)
        # scikit-learn compares names of columns only after a fit to a frame; this model may know
        # words from a Corpus.
        if columns and not is_new and self._frame_columns() is None:
            self._check_words(columns, "X")
        return as_corpus(
            validate_data(self, X, reset=is_new, accept_sparse="csr", ensure_non_negative=True)
        )

    def _read_corpus(self, corpus: Corpus, is_new: bool) -> Corpus:
        if not corpus.num_documents:
            raise ValueError(f"The corpus {corpus.name!r} has no document: give at least one.")
        words = corpus.vocabulary.words
        if is_new:
            self.n_features_in_ = len(words)
        else:
            self._check_words(words, repr(corpus.name))
        return corpus

    def _frame_columns(self) -> np.ndarray | None:
        """The names of the columns (V,) of a data frame that was fitted, or None."""
        names: np.ndarray | None = vars(self).get("feature_names_in_")
        return names

    def _check_words(self, words: tuple[str, ...], name: str) -> None:
        if len(words) != self.n_features_in_ or self.words_ not in (None, words):
            raise ValueError(
                f"The {len(words)} words of {name} are not the {self.n_features_in_} that the model"
                " was fitted with, or they are in another order: count them with the same"
                " vocabulary, such as load_corpus(..., like=model)."
            )

    def _name_words(self, words: Sequence[str] | None) -> list[str]:
        return name_words(self.words_ or words, self.n_features_in_)

    def __sklearn_is_fitted__(self) -> bool:
        return "state_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.positive_only = True
        # There is no tag for counts: this is the only one that says that X holds whole numbers.
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _connect(client: "Client | None") -> Cluster | None:
    return None if client is None else connect(client, find_environment)
