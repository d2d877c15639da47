"""What the estimators have in common: fit, transform, score and save, in scikit-learn's terms."""

import warnings
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import fields, replace
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state, estimator_html_repr
from sklearn.utils.validation import check_is_fitted, validate_data

from stickbreaker.engine.algorithm import Algorithm, TopicSummary
from stickbreaker.engine.corpora.corpus import Corpus, Vocabulary
from stickbreaker.engine.estimators.counts import Counts, as_corpus, name_columns, refuse_texts
from stickbreaker.engine.estimators.files import note_history, read_history, save_model
from stickbreaker.engine.evaluation.archives import write_arrays, write_sheets
from stickbreaker.engine.evaluation.coherence import (
    OverallQuality,
    TopicQuality,
    has_partner,
    measure_quality,
    sum_up,
)
from stickbreaker.engine.evaluation.held_out import (
    DOCUMENTS_AT_ONCE,
    PartScorer,
    count_topics,
    rank_topics,
    score_corpus,
)
from stickbreaker.engine.evaluation.intrusion import ReadDocuments, ask_topics, ask_words
from stickbreaker.engine.evaluation.labels import Labeller, label_topics
from stickbreaker.engine.evaluation.share_files import ShareReader, write_shares
from stickbreaker.engine.evaluation.topic_frames import (
    NUM_WORDS,
    checkpoint_frame,
    empty_history,
    name_words,
    quality_frame,
    topics_frame,
    topics_html,
)
from stickbreaker.engine.evaluation.topic_space import find_top_words
from stickbreaker.engine.parallel.clusters import Cluster, connect
from stickbreaker.engine.progress_bars import Move, show_progress
from stickbreaker.engine.runs.checkpoint import load as load_checkpoint
from stickbreaker.engine.runs.count_check import PASSES, CheckPlan, CountCheck, check_count
from stickbreaker.engine.runs.events import Update
from stickbreaker.engine.runs.prepared import prepare_training
from stickbreaker.engine.runs.run import Updates, run, run_with_notes
from stickbreaker.engine.runs.settings import LARGEST_SEED, RunSettings
from stickbreaker.engine.schedules import resolve_max_topics
from stickbreaker.engine.versions import find_environment

if TYPE_CHECKING:
    from distributed import Client

SPLIT_SEED = 0
# Imported by name when it is used: the engine does not depend on the app.
NOTEBOOK = "stickbreaker.app.notebook"
UNUSED_TOPICS = ("keep", "drop")
# A fit that is not told how many passes to make reads the corpus at most this number of times.
MOST_PASSES = 10
# A larger corpus is read once: a pass has enough steps and takes long.
MOST_REREAD = 200_000
SETTLED = "Read {} times: documents set aside are predicted no better"


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


class TopicModel(Estimator):
    """What the estimators have in common.

    X is a `Corpus`, or whole-number counts (D, V), sparse or dense.

    Attributes
    ----------
    state_ : object
        The state of the algorithm.
    config_ : object
        The settings of the algorithm.
    seed_ : int
        The seed, drawn from `random_state`.
    documents_seen_ : int
        The number of documents learned from.
    n_iter_ : int
        The number of passes that `fit` has made, the last one perhaps in part.
    corpus_size_ : int
        D, the number of documents of the whole corpus.
    n_features_in_ : int
        V, the number of words.
    words_ : tuple of str or None
        The words, if X has them: a Corpus, such as `CorpusVectorizer` returns in a pipeline, or a
        data frame.
    history_ : pandas.DataFrame
        The ten most probable words of each topic at nine moments of `fit`, or of each of its passes
        if documents set aside decide on their number; columns topic_id, checkpoint, documents_seen,
        date (NaT without dates), share, rank, word, probability. Empty for a model from the app.
    topic_names_ : dict of int to str
        The names that people have given to topics in the app, by id; empty for other models.
    """

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
    history_: pd.DataFrame
    topic_names_: dict[int, str]
    # Of the dates of a stream.
    date_form_: str = ""

    def fit(
        self,
        X: Counts,
        y: object = None,
        *,
        verbose: bool = False,
        callback: Callable[[Update], object] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        client: "Client | None" = None,
    ) -> Self:
        """Learn from these documents alone, in their order; everything learned before is forgotten.

        Ctrl-C ends the fit early: with a warning, the model keeps what it has learned until then.
        With `checkpoint`, a later `fit` with the same parameters and documents resumes an
        interrupted one from its file, bit for bit.

        Parameters
        ----------
        X : Corpus or array-like or sparse matrix of shape (D, V)
            The documents, as a corpus or as counts of words.
        y : object
            Not used.
        verbose : bool
            Whether a progress bar is shown.
        callback : callable, optional
            Receives an `Update` after each mini-batch. It may raise an exception to cancel.
        checkpoint : str or path, optional
            A file (.npz) that is written every 30 seconds, at the end, and when the fit is
            interrupted. If it exists, the fit continues from it, and `history_` is complete.
        client : distributed.Client, optional
            The workers of this Dask cluster compute the local steps. The model is the same, bit for
            bit; the parameter `num_shards` sets the number of tasks of a mini-batch.

        Returns
        -------
        TopicModel
            The model itself.

        Raises
        ------
        ValueError
            If X is not a table of counts, if all counts are 0, if a parameter is outside its
            bounds, if the checkpoint is damaged or of another fit, or if the algorithm cannot learn
            on a cluster.
        ClusterError
            If Dask is not installed, or a worker cannot read the corpus, has other versions or a
            different processor.
        """
        corpus = self._start(X)
        if not corpus.num_tokens:
            raise ValueError(
                "X holds no words, since all counts are 0: give documents with at least one counted"
                " word."
            )
        if corpus.num_documents == 1:
            warnings.warn(
                "X has one document, but a topic model needs many: split it into passages.",
                stacklevel=2,
            )
        self.corpus_size_ = corpus.num_documents
        saved = (
            load_checkpoint(checkpoint)
            if checkpoint is not None and Path(checkpoint).exists()
            else None
        )
        if saved is not None and self.random_state is None:
            self.seed_ = saved.settings.seed
        settings = RunSettings(
            passes=self.passes, seed=self.seed_, score_next_batch=False, num_shards=self.num_shards
        )
        if self._may_end_early():
            settings = replace(
                settings, passes=MOST_PASSES, num_snapshots=MOST_PASSES * settings.num_snapshots
            )
        prepared = prepare_training(self.algorithm, self.config_, corpus, settings)
        updates = (
            run(prepared, client=client)
            if checkpoint is None
            else run_with_notes(prepared, checkpoint, self._note, client)
        )
        seen = 0
        if saved is not None:
            seen = saved.documents_seen
            self.state_, self.documents_seen_ = saved.state, min(seen, self.corpus_size_)
            self.n_iter_ = -(-seen // self.corpus_size_)
            # Files of earlier versions have no history.
            self.history_ = (
                self.history_ if (before := read_history(saved.notes)) is None else before
            )
        with (
            show_progress(verbose, prepared.documents_total, "documents") as move,
            closing(updates),
        ):
            self._learn(updates, seen, prepared.documents_total, move, callback)
        return self

    def _learn(
        self,
        updates: Updates,
        seen: int,
        total: int,
        move: Move,
        callback: Callable[[Update], object] | None,
    ) -> None:
        """Take the updates of a fit until it settles or is interrupted."""
        try:
            while not (self._may_end_early() and seen and self.state_.has_settled):
                update = next(updates, None)
                if update is None:
                    return
                seen = update.stepped.documents_seen
                self._take(update)
                move(seen, f"Pass {self.n_iter_}")
                if callback is not None:
                    callback(update)
            move(total, SETTLED.format(self.n_iter_))
        except KeyboardInterrupt:
            if not seen:
                raise
            warnings.warn(
                f"Interrupted: the model has read {seen:,} of {total:,} documents.", stacklevel=3
            )

    def _may_end_early(self) -> bool:
        """Whether documents that are set aside decide how often `fit` reads the corpus."""
        sets_aside = self.algorithm.set_aside is not None and self.config_.duplicates == "merge"
        return self.passes is None and sets_aside and self.corpus_size_ <= MOST_REREAD

    def _take(self, update: Update) -> None:
        """Take the state of `fit` after a mini-batch, and its checkpoint if there is one."""
        self.state_ = update.state
        self.documents_seen_ = min(update.stepped.documents_seen, self.corpus_size_)
        self.n_iter_ = -(-update.stepped.documents_seen // self.corpus_size_)
        moment, before = update.moment, self.history_["documents_seen"]
        # An update that is in the checkpoint has been taken already.
        if moment is not None and (before.empty or moment.documents_seen > before.iloc[-1]):
            self._remember(moment.documents_seen, moment.date, moment.summary)

    def _note(self, update: Update) -> dict[str, np.ndarray]:
        """Take an update, and return what its checkpoint is to hold."""
        self._take(update)
        return note_history(self.history_)

    def _start(self, X: Counts, corpus_size: int | None = None) -> Corpus:
        """Become a new model, which knows the words of X and has read no document.

        Return X as a Corpus.

        K, if it is left to the corpus, follows the tokens of X, or of `corpus_size` documents like
        those of X.
        """
        self.config_ = self.algorithm.config(**self._parameters())
        self._keeps_unused()
        self.seed_ = _draw_seed(self.random_state)
        self.documents_seen_, self.topic_names_ = 0, {}
        self.history_ = empty_history()
        for name in ("state_", "n_iter_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        corpus = self._read(X, is_new=True)
        names = self._frame_columns()
        size = max(1, corpus.num_documents)
        self.config_ = resolve_max_topics(
            self.config_, corpus.num_tokens * max(corpus_size or 0, size) // size
        )
        self.words_ = (
            corpus.vocabulary.words
            if isinstance(X, Corpus)
            else names
            if names is None
            else tuple(names)
        )
        return corpus

    def _parameters(self) -> dict[str, Any]:
        """The algorithm's parameters as given, without NumPy's scalars."""
        given = {each.name: getattr(self, each.name) for each in fields(self.algorithm.config)}
        return {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in given.items()
        }

    def _read(self, X: Counts, is_new: bool = False) -> Corpus:
        """X as a Corpus; unless the model is new, it must have the model's words."""
        if isinstance(X, Corpus):
            return self._read_corpus(X, is_new)
        refuse_texts(X)
        columns = name_columns(X)
        # scikit-learn compares names of columns only after a fit to a frame; this model may know
        # words from a Corpus.
        if columns and not is_new and self._frame_columns() is None:
            self._check_words(columns, "X")
        return as_corpus(
            validate_data(self, X, reset=is_new, accept_sparse="csr", ensure_non_negative=True)
        )

    def _frame_columns(self) -> np.ndarray | None:
        """The names of the columns (V,) of a data frame that was fitted, or None."""
        names: np.ndarray | None = vars(self).get("feature_names_in_")
        return names

    def _read_corpus(self, corpus: Corpus, is_new: bool) -> Corpus:
        if not corpus.num_documents:
            raise ValueError(f"The corpus {corpus.name!r} has no document: give at least one.")
        words = corpus.vocabulary.words
        if is_new:
            self.n_features_in_ = len(words)
        else:
            self._check_words(words, repr(corpus.name))
        return corpus

    def _check_words(self, words: tuple[str, ...], name: str) -> None:
        if len(words) != self.n_features_in_ or self.words_ not in (None, words):
            raise ValueError(
                f"The {len(words)} words of {name} are not the {self.n_features_in_} that the model"
                " was fitted with, or they are in another order: count them with the same"
                " vocabulary."
            )

    def _remember(self, documents_seen: int, date: Any, summary: TopicSummary) -> None:
        """Add a moment to the history; a stream of empty documents has no topic for one yet."""
        before = self.history_
        number = 0 if before.empty else before["checkpoint"].max() + 1
        frame = checkpoint_frame(number, documents_seen, date, summary, self.words_)
        if not frame.empty:
            self.history_ = frame if before.empty else pd.concat([before, frame], ignore_index=True)

    def transform(self, X: Counts) -> np.ndarray:
        """Infer the topics of documents. The model does not change.

        Parameters
        ----------
        X : Corpus or array-like or sparse matrix of shape (D, V)
            The documents.

        Returns
        -------
        ndarray of shape (D, K)
            The share of each topic in each document; rows sum to 1. With `unused_topics="drop"` it
            has the columns of the topics in use only; the shares stay as they are, so rows may sum
            to less than 1.
        """
        return self._infer(X)[:, self._columns()]

    def _infer(self, X: Counts) -> np.ndarray:
        """The shares (D, K) of all topics in documents."""
        check_is_fitted(self)
        reader = self._reader(slice(None))
        batches = self._read(X).batches(DOCUMENTS_AT_ONCE)
        return np.concatenate([reader.infer(batch.documents) for batch in batches]).astype(float)

    def _reader(self, columns: np.ndarray | slice, names: Sequence[str] = ()) -> ShareReader:
        return ShareReader(
            algorithm=self.algorithm,
            config=self.config_,
            state=self.state_,
            columns=columns,
            names=names,
        )

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
        corpus, cluster = self._read(X), _connect(client)
        reader = self._reader(self._columns(), self.get_feature_names_out().tolist())
        with show_progress(verbose, corpus.num_documents, "documents") as move:
            return write_shares(
                folder,
                corpus,
                reader,
                lambda num_documents: move(num_documents, "Reading"),
                cluster,
            )

    def _keeps_unused(self) -> bool:
        """Whether `transform` has columns for unused topics."""
        if self.unused_topics not in UNUSED_TOPICS:
            raise ValueError(
                f"unused_topics is {self.unused_topics!r}: choose one of"
                f" {', '.join(UNUSED_TOPICS)}."
            )
        return self.unused_topics == "keep"

    def _columns(self) -> np.ndarray | slice:
        """The topics that `transform` has columns for."""
        return (
            slice(None)
            if self._keeps_unused()
            else np.sort(rank_topics(self.state_.expected_tokens))
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
        scorer = PartScorer(
            algorithm=self.algorithm, config=self.config_, state=self.state_, seed=SPLIT_SEED
        )
        nats = score_corpus(scorer, self._read(X), _connect(client))
        if np.isnan(nats):
            raise ValueError(
                "No document in X has two or more distinct words, so none can be held out: give"
                " longer documents."
            )
        return nats

    def _summary(self) -> TopicSummary:
        check_is_fitted(self)
        return self.algorithm.summarize(self.config_, self.state_)

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
        return count_topics(self._summary().expected_tokens)

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

    def topics_frame(
        self,
        num_words: int = NUM_WORDS,
        words: Sequence[str] | None = None,
        label_with: Labeller | None = None,
        others: Sequence["TopicModel"] = (),
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
            Columns topic_id, label, share (of the expected tokens, which favour recent text), rank,
            word, probability; if `wide`, words (the most probable first) instead of the last three.
            With `others` also stability: the share of these models in which the topic comes back
            (see `stability`).

        Raises
        ------
        ValueError
            If `words` are not the V words, or another model has other words.
        """
        frame = topics_frame(
            self._summary(), words if self.words_ is None else self.words_, num_words
        )
        labels = self.topic_labels(words, label_with)
        frame.insert(
            1, "label", pd.Series([labels[topic_id] for topic_id in frame["topic_id"]], dtype=str)
        )
        if others:
            come_back = np.mean(
                [has_partner(self._top_words(), other._top_words_for(self)) for other in others], 0
            )
            frame.insert(
                3,
                "stability",
                frame["topic_id"].map(dict(zip(labels, come_back.tolist(), strict=True))),
            )
        if not wide:
            return frame
        columns = [name for name in frame if name not in ("rank", "word", "probability")]
        return frame.groupby(columns, sort=False)["word"].agg(", ".join).reset_index(name="words")

    def _top_words(self) -> np.ndarray:
        """The ten most probable words (U, 10) of each topic in use, the largest topic first."""
        summary = self._summary()
        return find_top_words(summary.topics[rank_topics(summary.expected_tokens)], NUM_WORDS)

    def _top_words_for(self, model: "TopicModel") -> np.ndarray:
        """The same, for a comparison with a model of the same words."""
        if (self.n_features_in_, self.words_) != (model.n_features_in_, model.words_):
            raise ValueError(
                "The models have different words: fit all of them to counts of the same vocabulary."
            )
        return self._top_words()

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
            Columns topic_id, label, share (as in `topics_frame`), npmi, exclusivity, words (the ten
            most probable).
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
        summary, documents = self._summary(), self._read(X)
        labels = self.topic_labels(words)
        about = {
            "words": [str(word) for word in self._name_words(words)],
            "topic_ids": summary.topic_ids.tolist(),
            "labels": [
                labels.get(topic_id, f"topic {topic_id}") for topic_id in summary.topic_ids.tolist()
            ],
            "expected_tokens": summary.expected_tokens.tolist(),
            "doc_ids": documents.doc_ids.tolist(),
            "titles": [str(title) for title in documents.titles],
        }
        write_arrays(path, self._infer(X), summary.topics, about)

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
        summary, documents, named = self._summary(), self._read(X), self._name_words(words)
        titles = [str(title) or f"document {place}" for place, title in enumerate(documents.titles)]
        read = ReadDocuments(
            titles=titles,
            doc_ids=documents.doc_ids,
            counts=documents.counts,
            shares=csr_array(self._infer(X)),
        )
        sheets = {
            "word-intrusion": ask_words(summary, named, self.topic_labels(words), seed),
            "topic-intrusion": ask_topics(summary, named, read, seed),
        }
        write_sheets(path, sheets)

    def show(self, X: Counts, words: Sequence[str] | None = None) -> Any:
        """Show the topics in a notebook: a map, bars and, for dated documents, topics over time.

        The model does not change. `stickbreaker.app.notebook` also has each plot by itself:
        `plot_map`, `plot_bars` and `plot_time`.

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
        return replace(corpus, vocabulary=Vocabulary(tuple(self._name_words(words))))

    def _name_words(self, words: Sequence[str] | None) -> list[str]:
        return name_words(words if self.words_ is None else self.words_, self.n_features_in_)

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

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to one file of plain arrays (.npz, no pickle); `load` reads it.

        The file is written completely or not at all.

        Parameters
        ----------
        path : str or path
            The file to write.
        """
        check_is_fitted(self)
        save_model(path, self, self._parameters(), self._frame_columns())

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


def _draw_seed(random_state: Any) -> int:
    """The seed: an int itself, so that `engine.run` learns the same, or one that is drawn."""
    if isinstance(random_state, int | np.integer):
        if not 0 <= random_state <= LARGEST_SEED:
            raise ValueError(
                f"random_state is {random_state}: give a whole number from 0 to {LARGEST_SEED}, or"
                " None."
            )
        return int(random_state)
    try:
        generator = check_random_state(random_state)
    except ValueError as error:
        raise ValueError(
            f"random_state is {random_state!r:.80}: give a whole number, None, or a"
            " numpy.random.RandomState."
        ) from error
    return int(generator.randint(np.iinfo(np.int32).max))
