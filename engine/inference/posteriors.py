"""Posteriors of concentrations and weights: gamma, beta and Dirichlet, their expectations and divergences."""

from typing import NamedTuple

import numpy as np
from scipy.special import betaln, gammaln, psi


class Gamma(NamedTuple):
    """A gamma distribution by shape and rate.

    >>> Gamma(2.0, 4.0).mean()
    0.5
    """

    shape: float
    rate: float

    def mean(self):
        """E[x]."""
        return self.shape / self.rate

    def expected_log(self):
        """E[log x]."""
        return float(psi(self.shape) - np.log(self.rate))

    def geometric(self):
        """G[x] = exp E[log x]."""
        return float(np.exp(self.expected_log()))


def gamma_divergence(q, p):
    """KL[q || p] of two gammas, in nats.

    >>> gamma_divergence(Gamma(2.0, 3.0), Gamma(2.0, 3.0))
    0.0
    """
    shapes = (q.shape - p.shape) * psi(q.shape) - gammaln(q.shape) + gammaln(p.shape)
    return float(shapes + p.shape * np.log(q.rate / p.rate) + q.shape * (p.rate / q.rate - 1.0))


class StickPosterior(NamedTuple):
    """Beta posteriors of K sticks, of which the last leaves room for what lies beyond them, in the topics' own order.

    on, after: (K,) parameters of each topic's stick; order: (K,) the topic at each place.
    """

    on: np.ndarray
    after: np.ndarray
    order: np.ndarray

    def expected_log_rests(self):
        """E[log(1 - stick)] of each topic (K,)."""
        return psi(self.after) - psi(self.on + self.after)

    def expected_logs(self):
        """E[log weight] of each topic (K,)."""
        rests = self.expected_log_rests()[self.order]
        logs = (psi(self.on) - psi(self.on + self.after))[self.order] + np.append(0.0, rests[:-1].cumsum())
        return logs[self._places()]

    def means(self):
        """E[weight] of each topic (K,); they sum to less than one.

        >>> StickPosterior(np.array([1.0, 3.0]), np.array([1.0, 1.0]), np.array([1, 0])).means()
        array([0.125, 0.75 ])
        """
        on = (self.on / (self.on + self.after))[self.order]
        return (on * np.append(1.0, (1.0 - on[:-1]).cumprod()))[self._places()]

    def _places(self):
        return np.argsort(self.order)

    def divergence(self, concentration):
        """KL[q || Beta(1, γ)] of all sticks, in nats, with γ in its own gamma posterior."""
        rests = self.expected_log_rests()
        logs = psi(self.on) - psi(self.on + self.after)
        own = (self.on - 1.0) * logs + (self.after - 1.0) * rests - betaln(self.on, self.after)
        prior = concentration.expected_log() + (concentration.mean() - 1.0) * rests
        return float((own - prior).sum())


def stick_posterior(tables, concentration):
    """Sticks from the tables (K,) of each topic, largest first (Teh, Kurihara & Welling 2007 Eq. 8).

        stick_k ~ Beta(1 + s_k, E[γ] + Σ_{l>k} s_l)

    Of all orders this one has the best bound, which is Π_k 1 / (E[γ] + Σ_{l≥k} s_l) but for what no order changes.
    """
    order = np.argsort(-tables, kind="stable")
    after = np.empty(len(tables))
    after[order] = concentration + np.append(tables[order][:0:-1].cumsum()[::-1], 0.0)
    return StickPosterior(1.0 + tables, after, order)


def dirichlet_divergence(q, p):
    """KL[Dirichlet(q) || Dirichlet(p)] of parameters (V,), in nats."""
    logs = psi(q) - psi(q.sum())
    return float(gammaln(q.sum()) - gammaln(p.sum()) + (gammaln(p) - gammaln(q) + (q - p) * logs).sum())
