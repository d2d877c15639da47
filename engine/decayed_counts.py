"""Expected counts of words in topics under exponential forgetting: the one type that holds λ."""

from typing import NamedTuple

import numpy as np

# Below this the stored numbers would grow past what float32 holds well, so the scale is folded into them.
SMALLEST_SCALE = 1e-6


class DecayedCounts(NamedTuple):
    """λ - η = scale · stored, word by word, so that forgetting multiplies one number instead of K · V.

    stored: (V, K) float32 or float64; scale: in (0, 1]; totals: (K,) float64, Σ_w of λ - η.
    """

    stored: np.ndarray
    scale: float
    totals: np.ndarray

    def rows(self, words):
        """λ - η of some words (U,), as (U, K)."""
        return self.stored[words] * self.stored.dtype.type(self.scale)

    def dense(self):
        """λ - η of all words, (V, K)."""
        return self.stored * self.stored.dtype.type(self.scale)

    def blend(self, rate, words, targets):
        """(1 - ρ) of these counts plus ρ of targets (U, K) at distinct words (U,); Eq. 22 and 25 of Wang 2011."""
        scale = self.scale * (1.0 - rate)
        if scale < SMALLEST_SCALE:
            stored, scale = self.stored * self.stored.dtype.type(scale), 1.0
        else:
            stored = self.stored.copy()
        stored[words] += targets * (rate / scale)
        return DecayedCounts(stored, scale, (1.0 - rate) * self.totals + rate * targets.sum(0, dtype=np.float64))


def decayed_counts(dense):
    """Counts that start as the given array (V, K)."""
    return DecayedCounts(dense, 1.0, dense.sum(0, dtype=np.float64))
