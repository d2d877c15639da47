"""A step for scikit-learn's pipelines that counts words and passes them on with their dates."""

import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, count, islice
from typing import Any, cast

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from stickbreaker.engine.corpora import words
from stickbreaker.engine.corpora.corpus import Corpus, Vocabulary
from stickbreaker.engine.corpora.dates import DateReader, explain_date
from stickbreaker.engine.corpora.languages import SPACES
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.word_choices import WordChoices

logger = logging.getLogger(__name__)
# As `CountVectorizer` has it, with vowel signs as letters.
SPACED = re.compile(rf"[\w{words.MARKS}]{{2,}}")
# None and the missing values of NumPy and pandas, as text.
MISSING = ("None", "nan", "<NA>", "NaT")


class CorpusVectorizer(CountVectorizer):  # type: ignore[misc] # scikit-learn has no type hints
    """Count words as scikit-learn's `CountVectorizer` does, into a `Corpus` with its words.

    The parameters are those of `CountVectorizer`. In a pipeline, dates are passed as
    `corpusvectorizer__dates`.

    Examples
    --------
    >>> CorpusVectorizer().fit_transform(["war and peace", "peace"], dates=[1812, 1815])
    Corpus('texts', 2 documents, 3 words, 4 tokens, 1812 to 1815)
    """

    # What `transform` keeps of the dates of the fit.
    _dates: DateReader | None = None
    # Its tokenizer finds the words of texts without spaces.
    _choices: WordChoices | None = None

    def fit_transform(
        self,
        raw_documents: Iterable[Any],
        y: object = None,
        dates: Sequence[object] | None = None,
        day_first: bool | None = None,
    ) -> Corpus:
        """Learn the vocabulary of these texts, and count it.

        Parameters
        ----------
        raw_documents : iterable of D str
            The texts, or any other input of `CountVectorizer`.
        y : object
            Not used.
        dates : sequence of D dates, optional
            Years, ISO dates, or another form that `load_corpus` reads; also dates of Python, NumPy
            or pandas.
        day_first : bool, optional
            Whether 3/4/1863 is 3 April. By default, the order that most dates need, with a warning
            if both fit; `transform` keeps it.

        Returns
        -------
        Corpus
            The counts with their words and dates.

        Raises
        ------
        CorpusError
            If a text is missing, a date cannot be read, or the numbers of texts and dates differ.
        """
        texts = iter(self._check(raw_documents))
        self._choices = None
        if self.tokenizer is None and self.preprocessor is None and self.analyzer == "word":
            first = list(islice(texts, words.NUM_FIRST))
            known = [text for text in first if isinstance(text, str)]
            self._choices, notes = words.resolve_choices(WordChoices(), known)
            for note in notes:
                logger.warning(note)
            texts = map(self._space, chain(first, texts))
        counts = super().fit_transform(texts)
        self._dates = DateReader(day_first=day_first)
        return self._to_corpus(counts, dates)

    def transform(
        self, raw_documents: Iterable[Any], dates: Sequence[object] | None = None
    ) -> Corpus:
        """Count the words of the learned vocabulary in these texts.

        Parameters
        ----------
        raw_documents : iterable of D str
            As in `fit_transform`.
        dates : sequence of D dates, optional
            As in `fit_transform`.

        Returns
        -------
        Corpus
            The counts with their words and dates.

        Raises
        ------
        CorpusError
            As `fit_transform` does.
        """
        texts = self._check(raw_documents)
        if self._choices is not None:
            texts = map(self._space, texts)
        return self._to_corpus(super().transform(texts), dates)

    def build_tokenizer(self) -> Callable[[str], list[str]]:
        """Return the function that splits a text into tokens.

        Returns
        -------
        callable
            As that of `CountVectorizer`; in Thai, vowel signs are letters.
        """
        if self._choices is None or self._choices.tokenizer in (None, SPACES):
            return cast(Callable[[str], list[str]], super().build_tokenizer())
        return SPACED.findall

    def build_analyzer(self) -> Any:
        """Return the function that lists the words of a text.

        Returns
        -------
        callable
            As that of `CountVectorizer`; it also lists the phrases of a given vocabulary.
        """
        fewest, most = self.ngram_range
        longest = max((1 + str(word).count(" ") for word in self.vocabulary or ()), default=1)
        if self.analyzer != "word" or longest <= most:
            return super().build_analyzer()
        return CountVectorizer(
            **self.get_params() | {"ngram_range": (fewest, longest)}
        ).build_analyzer()

    def set_output(self, *, transform: str | None = None) -> "CorpusVectorizer":
        """Return this vectorizer unchanged, so that a pipeline can set the output of its steps.

        The output stays a Corpus, because the next step needs its words and dates.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, optional
            Not used.

        Returns
        -------
        CorpusVectorizer
            This vectorizer.
        """
        return self

    def _check(self, texts: Any) -> Iterable[Any]:
        """The texts; raises CorpusError for other data, and at the first text that is missing."""
        if self.input != "content":
            return cast(Iterable[Any], texts)
        if isinstance(texts, str | Mapping):
            kind = "one text" if isinstance(texts, str) else "a dict"
            raise CorpusError(f"X is {kind}: give a list of texts.")
        if len(shape := getattr(texts, "shape", ())) == 2:
            texts = _take_column(texts, shape)
        is_plain = not callable(self.analyzer) and self.preprocessor is None
        return map(_refuse_missing if is_plain else _keep, count(1), texts)

    def _space(self, text: Any) -> Any:
        """Put spaces between the words of a text that has none."""
        if self._choices is None or not isinstance(text, str):
            return text
        return words.space_text(text, words.find_tokenizer(text, self._choices))

    def _to_corpus(self, counts: Any, dates: Sequence[object] | None) -> Corpus:
        """The counts (D, V) with their words, dates and numbers of documents."""
        num_documents = counts.shape[0]
        titles = [f"document {number}" for number in range(1, num_documents + 1)]
        days = np.full(num_documents, "NaT", "datetime64[D]")
        if dates is not None:
            days = self._read_all([str(date) for date in dates])
        return Corpus(
            name="texts",
            counts=counts,
            vocabulary=Vocabulary(tuple(self.get_feature_names_out())),
            dates=days,
            titles=titles,
        )

    def _read_all(self, cells: list[str]) -> np.ndarray:
        read = (self._dates or DateReader()).read(cells)
        missing = np.flatnonzero(np.isnat(read))
        if len(missing):
            raise CorpusError(f"Document {missing[0] + 1}: {explain_date(cells[missing[0]])}.")
        return read


def _take_column(table: Any, shape: tuple[int, ...]) -> Any:
    """The only column of a data frame or array."""
    names = list(map(str, getattr(table, "columns", ())))
    if shape[1] == 1:
        return table[table.columns[0]] if names else np.asarray(table).ravel()
    if names:
        listed = ", ".join(names[:5]) + ("" if len(names) <= 5 else " and others")
        raise CorpusError(
            f"X is a data frame with the columns {listed}: give the one with the texts, such as"
            ' df["text"].'
        )
    raise CorpusError(
        f"X has {shape[0]:,} rows and {shape[1]:,} columns: give one text for each document. Counts"
        " of words go to the model itself, without CorpusVectorizer."
    )


def _keep(number: int, text: Any) -> Any:
    return text


def _refuse_missing(number: int, text: Any) -> Any:
    if isinstance(text, str | bytes):
        return text
    remedy = "give a text, or leave the document out"
    if isinstance(text, list | tuple | np.ndarray):
        remedy = "join its words with spaces, or use CorpusVectorizer(analyzer=list)"
    elif isinstance(text, dict):
        remedy = "give its text; counts of words go to the model itself"
    elif str(text) not in MISSING:
        remedy = "give a text, a str"
    raise CorpusError(f"Document {number} is {text!r:.60}: {remedy}.")
