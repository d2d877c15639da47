"""Tables of a Chinese restaurant: unsigned Stirling numbers of the first kind, and draws of the
number occupied.
"""

import math

import numpy as np

from stickbreaker.engine.kernels.compiled import njit
from stickbreaker.engine.kernels.special import digamma

# Stirling numbers are stored up to this number of customers; further ones are seated one by one.
MOST_COUNTED = 40
# Further customers open so few tables that their number is Poisson, to α²/10,000 in total
# variation.
MOST_SEATED = 10_000


@njit(nogil=True, cache=True, error_model="numpy")
def log_stirling(most: int) -> np.ndarray:
    """log S(n, m) of the unsigned Stirling numbers of the first kind, for n and m up to `most`.

    -inf where S is 0.

    S(n + 1, m) = S(n, m - 1) + n S(n, m), S(0, 0) = 1. Source: Antoniak 1974; Wang & Blei 2012 S.2
    Eq. 2.
    """
    logs = np.full((most + 1, most + 1), -np.inf)
    logs[0, 0] = 0.0
    for n in range(most):
        for m in range(1, n + 2):
            stays = logs[n, m] + (math.log(n) if n > 0 else 0.0)
            opens = logs[n, m - 1]
            # log(e^stays + e^opens).
            larger = max(stays, opens)
            logs[n + 1, m] = larger + math.log(math.exp(stays - larger) + math.exp(opens - larger))
    return logs


@njit(nogil=True, cache=True, error_model="numpy")
def draw_tables(
    num_customers: int, concentration: float, logs: np.ndarray, rng: np.random.Generator
) -> int:
    """Draw the number of tables that n customers occupy at concentration α: p(s) = Γ(α) / Γ(α + n)
    S(n, s) α^s.

    logs: log S(n, m). Customers beyond its size are seated one by one, at a new table with
    probability α / (α + i); beyond MOST_SEATED the number of their tables is Poisson. Source: Wang
    & Blei 2012 S.2 Eq. 3.
    """
    if num_customers == 0:
        return 0
    n = min(num_customers, logs.shape[0] - 1)
    # Weights are divided by the first, S(n, 1) α; they sum to Γ(α + n) / (Γ(α + 1) Γ(n)).
    total = 1.0
    for i in range(1, n):
        total *= 1.0 + concentration / i
    left = rng.random() * total - 1.0
    s = 1
    while left > 0.0 and s < n:
        s += 1
        left -= math.exp(logs[n, s] - logs[n, 1] + (s - 1) * math.log(concentration))
    for i in range(n, min(num_customers, MOST_SEATED)):
        s += rng.random() * (concentration + i) < concentration
    if num_customers > MOST_SEATED:
        more = digamma(concentration + num_customers) - digamma(concentration + MOST_SEATED)
        s += min(rng.poisson(concentration * more), num_customers - MOST_SEATED)
    return s
