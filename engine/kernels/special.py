"""Digamma, exponential and logarithm as compiled code, and exp(E[log topic]) of a Dirichlet.

`fast_exp`, `fast_log` and `exp_digamma` are exact to rounding in float64. In float32 they are
polynomials without branches, so that the compiler vectorises loops over them. Their relative error
is below 1e-6 (absolute for a log).
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types

from stickbreaker.engine.kernels.compiled import njit, overload

SMALLEST_EXPONENT = {np.dtype(np.float32): -41.0, np.dtype(np.float64): -600.0}
SMALLEST_NORMAL = np.finfo(np.float32).tiny
LARGEST = np.float32(1e7)
# The power of numbers that stay as they are; a power of 1 rounds them.
NOT_RAISED = 0.0
# Reassociation lets the compiler vectorise sums; infinities and NaN keep their meaning.
FAST = {"reassoc", "contract", "arcp", "nsz"}
# The compiler vectorises a maximum only if it may assume that no number is NaN, which holds for
# finite arguments.
FINITE = FAST | {"nnan"}


@njit(nogil=True, cache=True, error_model="numpy")
def digamma(x: float) -> float:
    """ψ(x) for x > 0, to 1e-12 of max(1, |ψ|): six steps of the recurrence below 6, then the
    asymptotic series.

    Source: Abramowitz & Stegun 6.3.5 and 6.3.18.
    """
    shift = 0.0
    while x < 6.0:
        shift -= 1.0 / x
        x += 1.0
    inverse = 1.0 / x
    square = inverse * inverse
    series = square * (
        1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square * (1 / 132))))
    )
    # The next two terms of the series, 1e-11 at x = 6.
    series -= square**6 * (691 / 32760 - square / 12)
    return shift + math.log(x) - 0.5 * inverse - series


@njit(cache=True, fastmath=FAST)
def _exp_single(x: np.float32) -> np.float32:
    """e^x by x = n log 2 + r and a polynomial in r (Cephes' expf); e^-87 below -87."""
    x = min(max(x, np.float32(-87.0)), np.float32(87.0))
    # `np.floor` stays in float32; `math.floor` is an integer of 64 bits, which few processors
    # convert as a vector.
    n: np.float32 = np.floor(x * np.float32(1.44269504) + np.float32(0.5))
    r = x - n * np.float32(0.693359375) + n * np.float32(2.12194440e-4)
    p = np.float32(1.9875691500e-4) * r + np.float32(1.3981999507e-3)
    p = p * r + np.float32(8.3334519073e-3)
    p = p * r + np.float32(4.1665795894e-2)
    p = p * r + np.float32(1.6666665459e-1)
    p = p * r + np.float32(5.0000001201e-1)
    p = p * r * r + r + np.float32(1.0)
    return p * np.int32((np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32)


@njit(cache=True, fastmath=FAST)
def _log_single(x: np.float32) -> np.float32:
    """log x of a normal x by x = 2^n (1 + f), 0.7 < 1 + f < 1.42 (coefficients: Cephes' logf)."""
    bits = np.int32(np.float32(x).view(np.int32) - np.int32(0x3F3504F3))
    n = np.float32(bits >> np.int32(23))
    f = np.int32((bits & np.int32(0x7FFFFF)) + np.int32(0x3F3504F3)).view(np.float32) - np.float32(
        1.0
    )
    p = np.float32(7.0376836292e-2) * f - np.float32(1.1514610310e-1)
    p = p * f + np.float32(1.1676998740e-1)
    p = p * f - np.float32(1.2420140846e-1)
    p = p * f + np.float32(1.4249322787e-1)
    p = p * f - np.float32(1.6668057665e-1)
    p = p * f + np.float32(2.0000714765e-1)
    p = p * f - np.float32(2.4999993993e-1)
    p = p * f + np.float32(3.3333331174e-1)
    square = f * f
    return f - np.float32(0.5) * square + p * f * square + n * np.float32(0.69314718)


def fast_exp(x: float | np.float32) -> float:
    """e^x; for float32 between e^-87 and e^87."""
    return math.exp(x)


def fast_log(x: float | np.float32) -> float:
    """log x for x > 0, not denormal."""
    return math.log(x)


@overload(fast_exp, jit_options={"fastmath": FAST})
def _overload_exp(x: types.Type) -> Callable[..., Any]:
    return (lambda x: _exp_single(x)) if x == types.float32 else (lambda x: math.exp(x))


@overload(fast_log, jit_options={"fastmath": FAST})
def _overload_log(x: types.Type) -> Callable[..., Any]:
    return (lambda x: _log_single(x)) if x == types.float32 else (lambda x: math.log(x))


@njit(cache=True, fastmath=FAST, error_model="numpy")
def _add_reciprocals(x: np.float32) -> tuple[np.float32, np.float32]:
    """1/x + 1/(x + 1) + 1/(x + 2) + 1/(x + 3) as a fraction."""
    product = x * (x + np.float32(3.0))
    return (x + x + np.float32(3.0)) * (product + product + np.float32(2.0)), product * (
        product + np.float32(2.0)
    )


@njit(cache=True, fastmath=FAST, error_model="numpy")
def _split_digamma(x: np.float32) -> tuple[np.float32, np.float32]:
    """(b, r): ψ(x) = log b - r, by four steps of the recurrence and e^ψ(y + 1/2) = y + 1/(24 y) -
    37/(5760 y³) + ...

    A single division serves all terms; the relative error of b is below 1e-7. Above x = 1e7 the
    correction is that of 1e7, because products of larger x overflow.
    """
    low = min(x, LARGEST)
    over, under = _add_reciprocals(low)
    y = low + np.float32(3.5)
    both = np.float32(1.0) / (under * y)
    inverse = under * both
    square = inverse * inverse
    series = np.float32(1 / 24) - square * (
        np.float32(37 / 5760) - square * np.float32(10313 / 2903040)
    )
    return x + np.float32(3.5) + inverse * series, over * y * both


@njit(cache=True, fastmath=FINITE, error_model="numpy")
def _exp_digamma_single(g: np.ndarray, number: int, power: float, out_e: np.ndarray) -> None:
    highest = g[0]
    zero = np.float32(0.0)
    for k in range(number):
        highest = max(highest, g[k])
    over, under = _add_reciprocals(min(highest, LARGEST))
    lowest = over / under
    exponent = np.float32(power)
    # A share below e^-41 may become a denormal float32, on which arithmetic is slow, so it is set
    # to zero.
    if exponent < 1.0:
        for k in range(number):
            base, reciprocals = _split_digamma(g[k])
            shift = lowest - reciprocals
            out_e[k] = (
                _exp_single(exponent * (_log_single(base) + shift))
                if shift > np.float32(-41.0)
                else zero
            )
    else:
        for k in range(number):
            base, reciprocals = _split_digamma(g[k])
            shift = lowest - reciprocals
            out_e[k] = base * _exp_single(shift) if shift > np.float32(-41.0) else zero


@njit(cache=True, error_model="numpy")
def _exp_digamma_double(g: np.ndarray, number: int, power: float, out_e: np.ndarray) -> None:
    highest = digamma(g[:number].max())
    for k in range(number):
        out_e[k] = math.exp(power * (digamma(g[k]) - highest))


def exp_digamma(g: np.ndarray, number: int, power: float, out_e: np.ndarray) -> None:
    """Write exp(power ψ(g)) of `number` elements, scaled so that the largest is normal."""
    _exp_digamma_double(g, number, power, out_e)


@overload(exp_digamma)
def _overload_exp_digamma(
    g: types.Array, number: types.Type, power: types.Type, out_e: types.Array
) -> Callable[..., Any]:
    if g.dtype == types.float32:
        return lambda g, number, power, out_e: _exp_digamma_single(g, number, power, out_e)
    return lambda g, number, power, out_e: _exp_digamma_double(g, number, power, out_e)


@njit(cache=True, fastmath=FAST, error_model="numpy")
def _digamma_single(x: np.float32) -> np.float32:
    """ψ(x) for x > 0 to 1e-6: four steps of the recurrence, then the asymptotic series."""
    over, under = _add_reciprocals(min(x, np.float32(1e9)))
    inverse = np.float32(1.0) / (x + np.float32(4.0))
    square = inverse * inverse
    series = square * (
        np.float32(1 / 12) - square * (np.float32(1 / 120) - square * np.float32(1 / 252))
    )
    return _log_single(x + np.float32(4.0)) - np.float32(0.5) * inverse - series - over / under


def fast_digamma(x: float) -> float:
    """ψ(x) for x > 0 in the precision of x."""
    return digamma(x)


@overload(fast_digamma, jit_options={"fastmath": FAST})
def _overload_digamma(x: types.Type) -> Callable[..., Any]:
    return (lambda x: _digamma_single(x)) if x == types.float32 else (lambda x: digamma(x))


def exp_digamma_minus(x: float, subtrahend: float) -> float:
    """e^(ψ(x) - subtrahend) for x > 0; in float32 limited to x e^-87 and x e^87, approximately."""
    return math.exp(digamma(x) - subtrahend)


@njit(cache=True, fastmath=FAST, error_model="numpy")
def _exp_digamma_minus_single(x: np.float32, subtrahend: np.float32) -> np.float32:
    base, reciprocals = _split_digamma(x)
    return base * _exp_single(-reciprocals - subtrahend)


@overload(exp_digamma_minus, jit_options={"fastmath": FAST})
def _overload_exp_digamma_minus(x: types.Type, subtrahend: types.Type) -> Callable[..., Any]:
    if x == types.float32:
        return lambda x, subtrahend: _exp_digamma_minus_single(x, subtrahend)
    return lambda x, subtrahend: math.exp(digamma(x) - subtrahend)


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def raise_rows(out_rows: np.ndarray, power: float) -> None:
    """Raise each of the positive numbers (U, K), in C order, to a power, in place."""
    # As one flat row, because the remainder after whole vectors of each row would take as long as
    # the vectors.
    flat = out_rows.reshape(-1)
    power = out_rows.dtype.type(power)
    for place in range(flat.shape[0]):
        flat[place] = fast_exp(power * fast_log(flat[place]))


@njit(nogil=True, cache=True, error_model="numpy")
def log_gamma_derivatives(x: float) -> tuple[float, float, float, float]:
    """(log Γ, ψ, ψ', ψ'')(x) for x > 0, to 1e-12 of max(1, |value|), by one recurrence to 10 and
    its series.

    Source: Abramowitz & Stegun 6.1.41, 6.3.18, 6.4.12 and 6.4.13.
    """
    product = 1.0
    first = 0.0
    second = 0.0
    third = 0.0
    while x < 10.0:
        inverse = 1.0 / x
        product *= x
        first -= inverse
        second += inverse * inverse
        third -= 2.0 * inverse * inverse * inverse
        x += 1.0
    r = 1.0 / x
    s = r * r
    log_x = math.log(x)
    gamma = r * (
        1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s * (1 / 1188 - s * 691 / 360360))))
    )
    gamma += (x - 0.5) * log_x - x + 0.91893853320467274 - math.log(product)
    first += log_x - 0.5 * r
    first -= s * (
        1 / 12 - s * (1 / 120 - s * (1 / 252 - s * (1 / 240 - s * (1 / 132 - s * 691 / 32760))))
    )
    second += (
        r
        + 0.5 * s
        + r
        * s
        * (1 / 6 - s * (1 / 30 - s * (1 / 42 - s * (1 / 30 - s * (5 / 66 - s * 691 / 2730)))))
    )
    third -= (
        s
        + r * s
        + s * s * (1 / 2 - s * (1 / 6 - s * (1 / 6 - s * (3 / 10 - s * (5 / 6 - s * 691 / 210)))))
    )
    return gamma, first, second, third
