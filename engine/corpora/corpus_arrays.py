"""Checks the arrays of a new corpus, and copies them in their types."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from stickbreaker.engine.corpora.rows import CorpusError

LARGEST_COUNT = np.iinfo(np.int32).max


def check_dates(name: str, dates: Any) -> np.ndarray:
    """Return a copy as datetime64; name: of the corpus, for errors."""
    if np.size(dates) and np.asarray(dates).dtype.kind in "iufb":
        raise CorpusError(
            f"{name}: the dates are numbers. Give datetime64 values, or texts such as '1863-12-08'."
        )
    try:
        return np.array(dates, dtype="datetime64")
    except ValueError as error:
        raise CorpusError(
            f"{name}: cannot read the dates ({error}). Write 1863-12-08, or a year."
        ) from error


def check_numbers(name: str, what: str, given: Any) -> np.ndarray:
    """Return a copy as int64; raise CorpusError for other values than whole numbers."""
    try:
        with np.errstate(invalid="ignore"):
            numbers = np.array(given, np.int64)
        is_whole = np.array_equal(numbers, given)
    except (OverflowError, TypeError, ValueError):
        is_whole = False
    if not is_whole:
        raise CorpusError(
            f"{name}: {what} are not whole numbers. Give one whole number per document."
        )
    return numbers


def check_counts(name: str, given: Any) -> csr_array:
    """Return a canonical int32 copy of the counts (D, V). Raise CorpusError for counts that are not
    whole numbers.
    """
    counts = csr_array(given)
    try:
        counts.check_format(full_check=True)
    except ValueError as error:
        raise CorpusError(
            f"{name}: the counts are not a valid CSR matrix ({error}). Build it again."
        ) from error
    if not counts.has_canonical_format:
        # Sums of int32 counts may exceed int32; float64 holds them exactly.
        counts = counts.astype(np.float64, copy=True)
        counts.sum_duplicates()
    data = counts.data
    if data.dtype != np.int32 and data.size:
        is_odd = (data != np.rint(data)) | (data > LARGEST_COUNT)
        if is_odd.any():
            raise CorpusError(
                f"{name}: a count is {data[is_odd][0]}. Use whole numbers up to {LARGEST_COUNT}."
            )
    if data.size and data.min() < 0:
        raise CorpusError(f"{name}: a count is negative. Use whole numbers, 0 or more.")
    counts = counts.astype(np.int32, copy=True)
    counts.eliminate_zeros()
    return counts
