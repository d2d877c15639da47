"""The estimator of an algorithm in scikit-learn's terms: fit and save."""

import warnings
from collections.abc import Callable
from contextlib import closing
from dataclasses import fields, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from stickbreaker.engine.algorithm import TopicSummary
from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.estimators.counts import Counts
from stickbreaker.engine.estimators.files import note_history, read_history, save_model
from stickbreaker.engine.estimators.groups import GroupTables
from stickbreaker.engine.evaluation.topic_frames import checkpoint_frame, empty_history
from stickbreaker.engine.progress_bars import Move, show_progress
from stickbreaker.engine.runs.checkpoint import load as load_checkpoint
from stickbreaker.engine.runs.events import Update
from stickbreaker.engine.runs.prepared import prepare_training
from stickbreaker.engine.runs.run import Updates, run, run_with_notes
from stickbreaker.engine.runs.settings import LARGEST_SEED, RunSettings
from stickbreaker.engine.schedules import resolve_max_topics

if TYPE_CHECKING:
    from distributed import Client

# A fit that is not told how many passes to make reads the corpus at most this number of times.
MOST_PASSES = 10
# A larger corpus is read once: a pass has enough steps and takes long.
MOST_REREAD = 200_000
CONVERGED = "Read {} times: documents set aside are predicted no better"


class TopicModel(GroupTables):
    """What the estimators have in common.

    X is a `Corpus`, or whole-number counts (D, V), sparse or dense. A fitted model that knows its
    words also reads a list of D texts: it counts them as its corpus was counted, by `word_choices_`
    if it has them, and leaves out words that are not in `words_`.

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
    word_choices_ : WordChoices or None
        How the words of X were counted, if X is a Corpus that says so.
    history_ : pandas.DataFrame
        The ten most probable words of each topic at nine moments of `fit`, or of each of its passes
        if documents set aside decide on their number; columns topic_id, checkpoint, documents_seen,
        date (NaT without dates), weight, rank, word, probability. Empty for a model from the app.
    topic_names_ : dict of int to str
        The names that people have given to topics in the app, by id; empty for other models.
    """

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
            Receives an `Update` after each mini-batch. It may raise an exception to cancel, but not
            change the model.
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
        saved = None
        if checkpoint is not None and Path(checkpoint).exists():
            saved = load_checkpoint(checkpoint)
            if self.random_state is None:
                self.seed_ = saved.settings.seed
        settings = RunSettings(
            passes=self.passes, seed=self.seed_, score_next_batch=False, num_shards=self.num_shards
        )
        if self._may_end_early():
            settings = replace(
                settings, passes=MOST_PASSES, num_moments=MOST_PASSES * settings.num_moments
            )
        prepared = prepare_training(self.algorithm, self.config_, corpus, settings)
        updates = (
            run(prepared, client=client)
            if checkpoint is None
            else run_with_notes(prepared, checkpoint, self._note, client=client)
        )
        seen = 0
        if saved is not None:
            seen = saved.documents_seen
            self._advance(saved.state, seen)
            self.history_ = read_history(saved.notes)
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
        """Take the updates of a fit until it has converged or is interrupted."""
        try:
            while not (self._may_end_early() and seen and self.state_.has_converged):
                update = next(updates, None)
                if update is None:
                    return
                seen = update.stepped.documents_seen
                self._take(update)
                move(seen, f"Pass {self.n_iter_}")
                if callback is not None:
                    callback(update)
                    if self.state_ is not update.state:
                        raise RuntimeError(
                            "A callback of fit cannot change the model: edit topics after the fit,"
                            " or between calls of partial_fit."
                        )
            move(total, CONVERGED.format(self.n_iter_))
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
        self._advance(update.state, update.stepped.documents_seen)
        moment = update.moment
        before = self.history_["documents_seen"]
        # An update that is in the checkpoint has been taken already.
        if moment is not None and (before.empty or moment.documents_seen > before.iloc[-1]):
            self._remember(moment.documents_seen, moment.date, moment.summary)

    def _advance(self, state: Any, seen: int) -> None:
        """Become the model after `seen` documents, over all passes."""
        self.state_ = state
        self.documents_seen_ = min(seen, self.corpus_size_)
        self.n_iter_ = -(-seen // self.corpus_size_)

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
        self.documents_seen_ = 0
        self.topic_names_ = {}
        self.history_ = empty_history()
        for name in ("state_", "n_iter_", "feature_names_in_", "edits_", "_before"):
            self.__dict__.pop(name, None)
        corpus = self._read(X, is_new=True)
        size = max(1, corpus.num_documents)
        self.config_ = resolve_max_topics(
            self.config_, corpus.num_tokens * max(corpus_size or 0, size) // size
        )
        self.word_choices_ = corpus.word_choices
        if isinstance(X, Corpus):
            self.words_ = corpus.vocabulary.words
        else:
            self.words_ = tuple(vars(self).get("feature_names_in_", ())) or None
        return corpus

    def _parameters(self) -> dict[str, Any]:
        """The algorithm's parameters as given, without NumPy's scalars."""
        given = {each.name: getattr(self, each.name) for each in fields(self.algorithm.config)}
        return {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in given.items()
        }

    def _remember(self, documents_seen: int, date: Any, summary: TopicSummary) -> None:
        """Add a moment to the history; a stream of empty documents has no topic for one yet."""
        before = self.history_
        number = int(before["checkpoint"].to_numpy().max(initial=-1)) + 1
        frame = checkpoint_frame(number, documents_seen, date, summary, self.words_)
        if not frame.empty:
            self.history_ = pd.concat([before, frame], ignore_index=True)

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
