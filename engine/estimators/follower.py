"""Learn from texts that keep arriving: mini-batches of equal size, and a vocabulary that grows."""

import heapq
import logging
import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from stickbreaker.engine.corpora.dates import DateReader
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.corpora.growing_files import (
    GrowingFile,
    GrowingFolder,
    explain_table,
    read_growing,
)
from stickbreaker.engine.corpora.known_words import match_columns
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.word_choices import WordChoices, check_choices
from stickbreaker.engine.corpora.words import (
    WordCounter,
    keep_words,
)
from stickbreaker.engine.declarations import check_whole_or_none
from stickbreaker.engine.estimators.online_model import OnlineTopicModel
from stickbreaker.engine.evaluation.held_out import PartScorer
from stickbreaker.engine.schedules import USUAL_SIZE, resolve, resolve_stream

logger = logging.getLogger(__name__)
# The name of a column that no word has yet. Words have no digits.
FREE = "unused {}"


@dataclass(frozen=True)
class Followed:
    """What a mini-batch of a stream did.

    Attributes
    ----------
    step : int
        The number of the mini-batch for the model, from 1.
    documents_seen : int
        The number of documents that the model has learned from.
    first_date, last_date : numpy.datetime64
        The range of the mini-batch's dates; NaT if it has none that can be read.
    num_words : int
        The number of words in the vocabulary.
    new_words : tuple of str
        The words that this mini-batch has added, in alphabetical order.
    dropped_words : tuple of str
        The words that have lost their columns to new ones, in alphabetical order.
    num_tokens : int
        The tokens of the mini-batch, without stop words and short words.
    tokens_left_out : int
        Those of them whose words are not in the vocabulary.
    nats_per_word : float
        How well the model predicted held-out words of the mini-batch before it learned from it
        (protocol `next_batch`): the mean log likelihood of a token, in nats. Words that were not in
        the vocabulary then are left out. NaN for the first mini-batch of a new model, and if no
        document has two distinct words.
    topic_shares : ndarray of shape (K,)
        The mean topic shares of the mini-batch's documents after the step, in the order of
        `topic_ids_`.
    """

    step: int
    documents_seen: int
    first_date: np.datetime64
    last_date: np.datetime64
    num_words: int
    new_words: tuple[str, ...]
    dropped_words: tuple[str, ...]
    num_tokens: int
    tokens_left_out: int
    nats_per_word: float
    topic_shares: np.ndarray


class Follower:
    """Learns from a stream of texts, in mini-batches of exactly S documents.

    Documents wait until there are S of them, and the memory does not grow with the stream. S is the
    model's `batch_size`; unless set, it follows `corpus_size`, and is 256 without one.

    The model has `max_words` columns from the start. All of them start with the same mass, as if
    the words had been known and had not occurred yet. A new word takes the next column in the first
    mini-batch where the number of its documents is within the limits of `choices` for S documents;
    it keeps that column. When the columns are used up, the most frequent new words take the last
    ones, and tokens of further new words are left out and counted.

    With `drop_after`, a new word then takes the column of an old one that has not occurred in this
    many mini-batches; of several, that with the fewest documents, then the first in the alphabet.
    The topics lose what they had learned of the old word: its column is reset to that of a word
    that has not occurred yet. The last column is never used: it is the template of such a word.
    Topics keep their ids.

    Parameters
    ----------
    model : OnlineTopicModel
        The model that learns. It is new, or has learned from a stream before: its words then keep
        their columns.
    choices : WordChoices
        Which words are counted; `max_words` is the number of columns of a new model. By default,
        the choices of the model, or `WordChoices()`.
    corpus_size : int, optional
        D, as in `partial_fit`.
    is_population : bool
        Whether D stays `corpus_size` when more documents come, as in `partial_fit`.
    drop_after : int, optional
        The number of mini-batches without a word after which it may lose its column. By default, no
        word does. For a model that is loaded, the count starts at 0.
    day_first : bool, optional
        Whether the date 3/4/1863 is 3 April. By default, the order that the first mini-batch needs,
        with a warning if both fit; the model keeps it.

    Raises
    ------
    TypeError
        If the model cannot learn from a stream, or `choices` is not `WordChoices`.
    ValueError
        If the model has learned from counts without words, or `drop_after` is not a whole number of
        at least 1, or the model has no unused column for it.

    Examples
    --------
    >>> from stickbreaker.engine import OnlineLDA
    >>> model = OnlineLDA(max_topics=2, batch_size=2, random_state=0)
    >>> follower = Follower(model, WordChoices(max_words=5), corpus_size=1000)
    >>> texts = [(1863, "war and navy"), (1864, "trade, cotton trade"), (1865, "navy")]
    >>> [event.new_words for event in follower.follow(texts)], follower.num_waiting
    ([('cotton', 'navy', 'trade', 'war')], 1)
    """

    def __init__(
        self,
        model: OnlineTopicModel,
        choices: WordChoices | None = None,
        corpus_size: int | None = None,
        *,
        is_population: bool = False,
        drop_after: int | None = None,
        day_first: bool | None = None,
    ) -> None:
        if not isinstance(model, OnlineTopicModel):
            raise TypeError(
                f"model is {model!r}: give an estimator with partial_fit, such as OnlineHDP()."
            )
        corpus_size = check_whole_or_none("corpus_size", corpus_size, 1)
        drop_after = check_whole_or_none("drop_after", drop_after, 1)
        if is_population and corpus_size is None:
            raise ValueError(
                "is_population=True needs corpus_size: give the number of documents of the whole"
                " corpus."
            )
        self.model = model
        self.corpus_size = corpus_size
        self.is_population = is_population
        self.drop_after = drop_after
        self._dates = DateReader(model.date_form_, day_first)
        check_choices("choices", choices)
        self.choices = choices or model.word_choices_ or WordChoices()
        names: tuple[str, ...] | None = tuple(
            FREE.format(place) for place in range(self.choices.max_words)
        )
        if model.__sklearn_is_fitted__():
            names = model.words_
        if names is None:
            raise ValueError(
                "The model does not know its words: give a new model, or one that learned from a"
                " Corpus."
            )
        self._names = list(names)
        self._columns = {
            name: place for place, name in enumerate(names) if name != FREE.format(place)
        }
        self._free = [place for place, name in enumerate(names) if name == FREE.format(place)]
        self._example = -1
        if drop_after is not None:
            # One column stays free, as the template of a word that has not occurred yet.
            if len(self._free) < 2 and not self._columns:
                raise ValueError(
                    f"max_words is {self.choices.max_words}: drop_after needs at least 2 columns."
                )
            if not self._free:
                raise ValueError(
                    "The model has no unused column for drop_after: give a new model, or"
                    " drop_after=None."
                )
            self._example = self._free.pop()
        # By word: the last mini-batch of this follower with it, and the number of its documents.
        self._num_batches = 0
        self._last_batch: dict[str, int] = dict.fromkeys(self._columns, 0)
        self._num_documents: dict[str, int] = dict.fromkeys(self._columns, 0)
        self._waiting: list[tuple[object, str]] = []
        self._sources: dict[Path, GrowingFile | GrowingFolder] = {}
        config = model.algorithm.config(**model._parameters())
        resolved, _ = resolve_stream(config, 1, USUAL_SIZE)
        if corpus_size:
            resolved = resolve(config, corpus_size)
        self._size = int(resolved.batch_size)

    @property
    def batch_size(self) -> int:
        """S, the number of documents in a mini-batch."""
        return self._size

    @property
    def num_waiting(self) -> int:
        """The number of documents that wait for a full mini-batch.

        They are not part of a saved model.
        """
        return len(self._waiting)

    def follow(
        self,
        source: str | PathLike[str] | Iterable[tuple[object, str]],
        text_column: str = "text",
        date_column: str = "date",
        idle_seconds: float = 0.0,
    ) -> Iterator[Followed]:
        """Learn from the documents of a source, and yield an event after each mini-batch.

        Parameters
        ----------
        source : path or iterable of (date, str)
            A JSON-lines file or a folder to which texts are added, or dates with texts. A folder
            has JSON-lines files (.jsonl, .ndjson) and text files, each of which is one document
            (`GrowingFolder`). If you pass the same file or folder again, reading continues where it
            stopped.
        text_column, date_column : str
            The names of the text and of the date in a JSON-lines file.
        idle_seconds : float
            The reading of a file or folder ends when nothing has been added for this long;
            `math.inf` never ends.

        Yields
        ------
        Followed
            What the mini-batch did.

        Raises
        ------
        CorpusError
            If a file or folder cannot be read, a file is a table (CSV, TSV, Parquet), or an item of
            the source is not a date with a str.
        TypeError
            If the source is neither a path nor an iterable.
        """
        rows: Iterable[tuple[object, str]]
        if isinstance(source, str | PathLike):
            # Path("") is the current folder.
            if not os.fspath(source) or "\0" in os.fspath(source):
                raise CorpusError(
                    f"source is {os.fspath(source)!r}: give the path of a file or a folder."
                )
            path = Path(source).resolve()
            # Path.is_dir fails without permission.
            is_folder = os.path.isdir(path)
            if not is_folder and (reason := explain_table(path, text_column)):
                raise CorpusError(f"{path} cannot be followed, because {reason}.")
            growing = self._sources.setdefault(
                path, GrowingFolder(path) if is_folder else GrowingFile(path)
            )
            growing.text_column = text_column
            growing.date_column = date_column
            rows = read_growing(growing, idle_seconds)
        elif isinstance(source, Iterable):
            rows = source
        else:
            raise TypeError(
                f"source is {source!r:.80}: give the path of a file or a folder, or dates with"
                " texts."
            )
        for row in rows:
            if not (isinstance(row, tuple | list) and len(row) == 2 and isinstance(row[1], str)):
                raise CorpusError(
                    f"The stream has {row!r:.80}: give pairs of a date (or None) and a text, a str."
                )
            self._waiting.append((row[0], row[1]))
            if len(self._waiting) >= self._size:
                event = self._learn(self._waiting[: self._size])
                # Only now: documents of an interrupted step wait for the next one.
                del self._waiting[: self._size]
                yield event

    def _learn(self, rows: list[tuple[object, str]]) -> Followed:
        """Learn from a mini-batch."""
        counter = WordCounter(self.choices)
        counter.add(text for _, text in rows)
        counts, words = counter.everything()
        for note in counter.notes if not self._num_batches else ():
            logger.warning(note)
        self.choices = counter.choices
        nats_per_word = self._score(self._take_known(counts, words))
        self._num_batches += 1
        new_words, dropped_words = self._add_words(counts, words)
        batch = self._take_known(counts, words)
        self.model.partial_fit(
            batch, corpus_size=self.corpus_size, is_population=self.is_population
        )
        self.model.words_ = tuple(self._names)
        self.model.word_choices_ = self.choices
        dates = self._dates.read(["" if date is None else str(date) for date, _ in rows])
        self.model.date_form_ = self._dates.form
        return Followed(
            step=int(self.model.state_.step),
            documents_seen=self.model.documents_seen_,
            # These leave out NaT.
            first_date=np.fmin.reduce(dates),
            last_date=np.fmax.reduce(dates),
            num_words=len(self._columns),
            new_words=new_words,
            dropped_words=dropped_words,
            num_tokens=int(counts.data.sum()),
            tokens_left_out=int(counts.data.sum() - batch.data.sum()),
            nats_per_word=nats_per_word,
            topic_shares=self.model.transform(batch).mean(0),
        )

    def _take_known(self, counts: csr_array, words: list[str]) -> csr_array:
        """The counts of the words that have columns, by column."""
        columns = [self._columns.get(word, -1) for word in words]
        return match_columns(counts, columns, len(self._names))

    def _score(self, counts: csr_array) -> float:
        """Nats per held-out token of documents before they are learned; NaN if none is held out."""
        if not self.model.__sklearn_is_fitted__():
            return math.nan
        model = self.model
        documents = Documents(
            starts=counts.indptr.astype(np.int64),
            words=counts.indices.astype(np.int32),
            counts=counts.data.astype(np.int32),
        )
        doc_ids = model.documents_seen_ + np.arange(documents.num_documents)
        batch = Batch(doc_ids=doc_ids, documents=documents, corpus_size=model.corpus_size_)
        scorer = PartScorer(
            algorithm=model.algorithm, config=model.config_, state=model.state_, seed=model.seed_
        )
        nats, num_tokens = scorer.score(batch)
        return nats if num_tokens else math.nan

    def _add_words(
        self, counts: csr_array, words: list[str]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Give columns to new words within the limits; return them and the dropped words."""
        in_documents = np.bincount(counts.indices, minlength=len(words))
        for word, number in zip(words, in_documents.tolist(), strict=True):
            if word in self._columns:
                self._last_batch[word] = self._num_batches
                self._num_documents[word] += number
        new = np.array(
            [place for place, word in enumerate(words) if word not in self._columns], np.int64
        )
        totals = np.bincount(counts.indices, weights=counts.data, minlength=len(words))[new]
        fewest, share = self.choices.limits(counts.shape[0])
        limits = fewest, share * counts.shape[0]
        droppable = self._list_droppable(len(new) - len(self._free))
        kept = new[
            keep_words(in_documents[new], totals, len(self._free) + len(droppable), limits)
        ].tolist()
        dropped = droppable[: max(0, len(kept) - len(self._free))]
        self._drop(dropped)
        for place in kept:
            word = words[place]
            column = self._free.pop(0)
            self._columns[word] = column
            self._names[column] = word
            self._last_batch[word] = self._num_batches
            self._num_documents[word] = int(in_documents[place])
        return tuple(words[place] for place in kept), tuple(sorted(dropped))

    def _list_droppable(self, number: int) -> list[str]:
        """At most `number` words that may lose their columns, in the order in which they do."""
        if self.drop_after is None or number <= 0:
            return []
        oldest = self._num_batches - self.drop_after
        found = (word for word, last in self._last_batch.items() if last <= oldest)
        return heapq.nsmallest(number, found, key=lambda word: (self._num_documents[word], word))

    def _drop(self, words: list[str]) -> None:
        """Take the columns of some words back."""
        if not words:
            return
        columns = [self._columns.pop(word) for word in words]
        for word, column in zip(words, columns, strict=True):
            del self._last_batch[word], self._num_documents[word]
            self._names[column] = FREE.format(column)
        self.model._forget_words(np.array(columns), self._example)
        self._free = sorted((*self._free, *columns))
