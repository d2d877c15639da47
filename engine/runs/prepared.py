"""A run that is ready to start: its training and test documents, and its settings, each with a
value.

The app, notebooks and scripts all hand the same `Prepared` to `run`, so that all of them learn the
same.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stickbreaker.engine.algorithm import Algorithm
from stickbreaker.engine.corpora.corpus import Corpus, check_corpus
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.runs.settings import RunSettings
from stickbreaker.engine.schedules import resolve

MOST_HELD_OUT = 0.1


@dataclass(frozen=True, eq=False)
class Prepared:
    """A run before its first mini-batch; make one with `prepare` or `prepare_training`.

    Parameters
    ----------
    algorithm : Algorithm
        The record of the algorithm.
    config : object
        Its settings, each with a value.
    settings : RunSettings
        How the run reads and scores.
    train : Corpus
        The documents to learn from, in reading order.
    test : Corpus or None
        The held-out documents; None if nothing is held out.
    """

    algorithm: Algorithm
    config: Any
    settings: RunSettings
    train: Corpus
    test: Corpus | None

    @property
    def corpus_size(self) -> int:
        """D, the number of documents to learn from."""
        return self.train.num_documents

    @property
    def num_held_out(self) -> int:
        """The number of documents set aside."""
        return 0 if self.test is None else self.test.num_documents

    @property
    def passes(self) -> int:
        """The number of passes: of the settings if given, or the default of the algorithm."""
        return self.settings.passes or self.algorithm.passes

    @property
    def documents_total(self) -> int:
        """The number of documents to read in all passes."""
        return self.passes * self.corpus_size

    @property
    def evaluation_points(self) -> np.ndarray:
        """Documents seen at which held-out words are scored."""
        return due_points(self.documents_total, self.settings.num_evaluations * self.passes)

    @property
    def moment_points(self) -> np.ndarray:
        """Documents seen at which the topics are recorded."""
        return due_points(self.documents_total, self.settings.num_moments)

    def with_config(self, config: Any) -> "Prepared":
        """Give the run other settings; nothing is split again.

        Parameters
        ----------
        config : object
            The settings; open ones follow the corpus.

        Returns
        -------
        Prepared
            The run with these settings.
        """
        _check_config(self.algorithm, config)
        return replace(self, config=resolve(config, self.corpus_size, self.train.num_tokens))

    def plan_moments(self, config: Any, documents_seen: int = 0) -> tuple[int, ...]:
        """List the documents seen at each moment that is still to come.

        Parameters
        ----------
        config : object
            The settings, each with a value.
        documents_seen : int
            The number of documents read so far.

        Returns
        -------
        tuple of int
            Ends of mini-batches.
        """
        batch_size = self.algorithm.step_size(config, self.corpus_size)
        return plan_ends(self.moment_points, self.corpus_size, batch_size, documents_seen)


def prepare(
    algorithm: Algorithm, config: Any, corpus: Corpus, settings: RunSettings | None = None
) -> Prepared:
    """Split a corpus and give each open setting its value.

    Settings without a value (K, S and τ₀ by default) get one from the exact number of training
    documents and of their tokens.

    Parameters
    ----------
    algorithm : Algorithm
        A record of `REGISTRY`.
    config : object
        Settings of this algorithm.
    corpus : Corpus
        All documents.
    settings : RunSettings, optional
        How the run reads and scores. The default is `RunSettings()`.

    Returns
    -------
    Prepared
        The run, for `run`.

    Raises
    ------
    TypeError
        If the config is of another algorithm, or this is no corpus.
    CorpusError
        If the corpus has no words.
    """
    _check_config(algorithm, config)
    _check_words(corpus)
    settings = settings or RunSettings()
    train, test = split_corpus(corpus, settings)
    return Prepared(
        algorithm=algorithm,
        config=resolve(config, train.num_documents, train.num_tokens),
        settings=settings,
        train=train,
        test=test,
    )


def prepare_training(
    algorithm: Algorithm, config: Any, corpus: Corpus, settings: RunSettings
) -> Prepared:
    """Prepare a run that holds nothing out and reads the documents in their current order.

    `order`, `num_test` and `num_evaluations` of the settings are not used.
    """
    _check_config(algorithm, config)
    _check_words(corpus)
    config = resolve(config, corpus.num_documents, corpus.num_tokens)
    return Prepared(
        algorithm=algorithm,
        config=config,
        settings=replace(settings, num_evaluations=0),
        train=corpus,
        test=None,
    )


def _check_config(algorithm: Algorithm, config: Any) -> None:
    if not isinstance(config, algorithm.config):
        raise TypeError(
            f"The settings are of {type(config).__name__}: {algorithm.name} needs"
            f" {algorithm.config.__name__}."
        )


def _check_words(corpus: Corpus) -> None:
    check_corpus(corpus)
    if not corpus.vocab_size:
        raise CorpusError(
            f"{corpus.name} has no words, so there is nothing to learn. Give it a vocabulary."
        )


def split_corpus(corpus: Corpus, settings: RunSettings) -> tuple[Corpus, Corpus]:
    """Training documents in reading order, and test documents, for these settings."""
    num_test = max(1, min(settings.num_test, int(MOST_HELD_OUT * corpus.num_documents)))
    train, test = corpus.split(num_test, settings.seed)
    return train.order(settings.order, settings.seed, settings.shuffle_window), test


def due_points(total: int, number: int) -> np.ndarray:
    """Documents seen at which something is due, evenly spread and the last at the end.

    >>> due_points(100, 4)
    array([ 25,  50,  75, 100])
    """
    return np.ceil(total * np.arange(1, number + 1) / max(number, 1)).astype(np.int64)


def plan_ends(
    points: np.ndarray, corpus_size: int, batch_size: int, documents_seen: int = 0
) -> tuple[int, ...]:
    """Ends of the coming mini-batches in which something is due.

    >>> plan_ends(due_points(1000, 4), 1000, 100)
    (300, 500, 800, 1000)
    >>> plan_ends(due_points(1000, 4), 1000, 500)
    (500, 1000)
    >>> plan_ends(due_points(1000, 4), 1000, 100, 550)
    (750, 1000)
    """
    ends = set()
    for point in points[points > documents_seen].tolist():
        pass_start = (point - 1) // corpus_size * corpus_size
        start = max(pass_start, documents_seen)
        num_batches = -(-(point - start) // batch_size)
        ends.add(min(pass_start + corpus_size, start + num_batches * batch_size))
    return tuple(sorted(ends))
