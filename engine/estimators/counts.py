"""Counts of words as estimators take them: a corpus, an array, a sparse matrix or a data frame."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias, TypeGuard

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse, sparray, spmatrix

from stickbreaker.engine.corpora.corpus import Corpus, Vocabulary
from stickbreaker.engine.corpora.corpus_arrays import LARGEST_COUNT

Counts: TypeAlias = Corpus | ArrayLike | sparray | spmatrix


def holds_texts(X: Any) -> TypeGuard[Sequence[str]]:
    """Whether X is a list of texts, or another sequence of them."""
    is_row = isinstance(X, list | tuple | pd.Series) or (isinstance(X, np.ndarray) and X.ndim == 1)
    return is_row and isinstance(next(iter(X), None), str)


def refuse_texts(X: Any) -> None:
    """Refuse texts with a remedy; scikit-learn would advise to reshape them."""
    if isinstance(X, str) or holds_texts(X):
        raise ValueError(
            "X holds texts: count their words with CorpusVectorizer first, or read them with"
            " load_corpus."
        )


def _check_counts(entries: np.ndarray) -> None:
    # float64, because a float16 cannot hold the largest count.
    is_odd = (entries != np.rint(entries)) | (entries > np.float64(LARGEST_COUNT))
    if is_odd.any():
        raise ValueError(
            f"X holds {entries[is_odd][0]}: counts are whole numbers up to {LARGEST_COUNT}; count"
            " words with CorpusVectorizer, and do not weight the counts (no TfidfTransformer)."
        )


def name_columns(X: Any) -> tuple[str, ...]:
    """The names of the columns of a data frame of any library, if it has any."""
    # Data frames of different libraries have only this attribute in common.
    return tuple(each for each in getattr(X, "columns", ()) if isinstance(each, str))


@lru_cache(2)
def _number_words(vocab_size: int) -> Vocabulary:
    """The numbers of the columns as words, kept because a stream needs them for each batch."""
    return Vocabulary(tuple(map(str, range(vocab_size))))


def as_corpus(counts: Any) -> Corpus:
    """Counts (D, V), sparse or dense, as a corpus without dates whose words are the numbers of the
    columns.

    Raises ValueError if a count is not a whole number or is too large.
    """
    _check_counts(counts.data if issparse(counts) else counts)
    num_documents, vocab_size = counts.shape
    dates = np.full(num_documents, "NaT", "datetime64[D]")
    words = _number_words(vocab_size)
    # Of whole numbers: SciPy has no sparse array of float16.
    return Corpus(
        name="X",
        counts=csr_array(counts, dtype=np.int64),
        vocabulary=words,
        dates=dates,
        titles=("",) * num_documents,
    )
