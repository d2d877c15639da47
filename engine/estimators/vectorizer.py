"""A step for scikit-learn's pipelines that counts words and passes them on with their dates."""

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from stickbreaker.engine.corpora.corpus import Corpus, CorpusError, Vocabulary
from stickbreaker.engine.corpora.dates import explain_date, read_dates

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

    def fit_transform(
        self, raw_documents: Iterable[Any], y: object = None, dates: Sequence[object] | None = None
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

        Returns
        -------
        Corpus
            The counts with their words and dates.

        Raises
        ------
        CorpusError
            If a text is missing, a date cannot be read, or the numbers of texts and dates differ.
        """
        return self._to_corpus(super().fit_transform(self._check(raw_documents)), dates)

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
        return self._to_corpus(super().transform(self._check(raw_documents)), dates)

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

    def _check(self, texts: Iterable[Any]) -> Iterable[Any]:
        """The texts; raises CorpusError at the first that is missing."""
        if self.input != "content" or isinstance(texts, str):
            return texts
        return map(_refuse_missing, count(1), texts)

    def _to_corpus(self, counts: Any, dates: Sequence[object] | None) -> Corpus:
        """The counts (D, V) with their words, dates and numbers of documents."""
        num_documents = counts.shape[0]
        titles = [f"document {number}" for number in range(1, num_documents + 1)]
        days = np.full(num_documents, "NaT", "datetime64[D]") if dates is None else _read_all(dates)
        return Corpus(
            name="texts",
            counts=counts,
            vocabulary=Vocabulary(tuple(self.get_feature_names_out())),
            dates=days,
            titles=titles,
        )


def _refuse_missing(number: int, text: Any) -> Any:
    if not isinstance(text, str) and str(text) in MISSING:
        raise CorpusError(
            f"Document {number} is {text!r:.60}: give a text, or leave the document out."
        )
    return text


def _read_all(dates: Sequence[object]) -> np.ndarray:
    cells = [str(date) for date in dates]
    read = read_dates(cells)
    missing = np.flatnonzero(np.isnat(read))
    if len(missing):
        raise CorpusError(f"Document {missing[0] + 1}: {explain_date(cells[missing[0]])}.")
    return read
