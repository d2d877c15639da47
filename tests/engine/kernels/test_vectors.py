"""Operations on sixteen numbers at a time against NumPy."""

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from stickbreaker.engine.kernels.vectors import (
    WIDTH,
    add_product,
    larger,
    largest,
    load,
    prefetch,
    splat,
    store,
    store_sums,
)

PRECISIONS = [np.float32, np.float64]


@njit
def combine(one, other, number, out):
    """Write the results of all operations to rows of out; return the largest."""
    prefetch(one, 0)
    first, second = load(one, 0), load(other, 0)
    store(out, 0, first + second)
    store(out, WIDTH, first - second)
    store(out, 2 * WIDTH, first * second)
    store(out, 3 * WIDTH, first / second)
    store(out, 4 * WIDTH, add_product(first, splat(number), second))
    store(out, 5 * WIDTH, larger(first, second))
    return largest(first)


@njit
def sum_rows(rows, out):
    """Write the sums of the last four rows, which are not aligned, to places 1 to 4."""
    store_sums(out, 1, load(rows, 20), load(rows, 40), load(rows, 60), load(rows, 80))


@pytest.mark.parametrize("precision", PRECISIONS)
def test_each_operation_equals_numpy(precision):
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(2, WIDTH)).astype(precision)
    number, out = precision(0.7), np.empty((6, WIDTH), precision)
    assert combine(one, other, number, out) == one.max()
    expected = [
        one + other,
        one - other,
        one * other,
        one / other,
        one + number * other,
        np.maximum(one, other),
    ]
    np.testing.assert_allclose(
        out, expected, rtol=10 * np.finfo(precision).eps, atol=np.finfo(precision).eps
    )


@pytest.mark.parametrize("precision", PRECISIONS)
def test_four_sums_are_written_to_four_places_and_nowhere_else(precision):
    rows = np.random.default_rng(1).random((5, 20)).astype(precision)
    out = np.full(6, -1.0, precision)
    sum_rows(rows, out)
    np.testing.assert_allclose(out[1:5], rows[1:, :WIDTH].sum(1), rtol=20 * np.finfo(precision).eps)
    assert out[[0, 5]].tolist() == [-1.0, -1.0]


def test_the_compiler_refuses_an_array_in_fortran_order():
    with pytest.raises(TypingError):
        sum_rows(np.ones((20, 5)).T, np.empty(6))
