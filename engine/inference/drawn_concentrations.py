"""Concentrations of Dirichlet processes, drawn given how many tables their restaurants opened."""

from typing import NamedTuple

import numpy as np


class GammaPrior(NamedTuple):
    """Gamma prior of a concentration, of mean shape / rate."""

    shape: float
    rate: float


def draw_concentration(concentration, num_tables, sizes, prior, rng):
    """A concentration drawn anew from its conditional, given the tables that all restaurants opened.

    Restaurants of `sizes` customers (those without any do not tell) and one concentration a open m tables in all with
    probability ∝ a^m ∏ Γ(a) / Γ(a + n_j). With log η_j of η_j ~ Beta(a, n_j) beside them, a is again Gamma distributed,
    of shape + m and rate - Σ log η_j. Source: Teh 2007, Eq. 6; Escobar & West 1995; Teh et al. 2006, appendix A.
    """
    sizes = sizes[sizes > 0]
    log_eta = draw_log_beta(concentration, sizes, rng)
    return float(rng.gamma(prior.shape + num_tables) / (prior.rate - log_eta.sum()))


def draw_log_beta(on, after, rng):
    """log of Beta(on, after) draws for each of `after` (n,), finite where the draw itself would be too small a float.

    A Gamma(a) draw is one of Gamma(a + 1) times U^(1/a).
    """
    log_on = np.log(rng.gamma(on + 1.0, size=len(after))) - rng.exponential(size=len(after)) / on
    log_after = np.log(rng.gamma(after))
    return log_on - np.logaddexp(log_on, log_after)
