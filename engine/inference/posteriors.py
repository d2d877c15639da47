"""Posteriors of concentrations and weights: gamma, beta and Dirichlet, with their expectations and
divergences.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import betaln, gammaln, psi

from stickbreaker.engine.algorithm import NO_TOPIC, Breaking
from stickbreaker.engine.inference.sticks import Sticks, break_stick


class Gamma(NamedTuple):
    """A gamma distribution by shape and rate.

    >>> Gamma(2.0, 4.0).mean()
    0.5
    """

    shape: float
    rate: float

    def mean(self) -> float:
        """E[x]."""
        return self.shape / self.rate

    def expected_log(self) -> float:
        """E[log x]."""
        return float(psi(self.shape) - np.log(self.rate))

    def geometric(self) -> float:
        """G[x] = exp E[log x]."""
        return float(np.exp(self.expected_log()))


def gamma_divergence(q: Gamma, p: Gamma) -> float:
    """KL[q || p] of two gammas, in nats.

    >>> gamma_divergence(Gamma(2.0, 3.0), Gamma(2.0, 3.0))
    0.0
    """
    shapes = (q.shape - p.shape) * psi(q.shape) - gammaln(q.shape) + gammaln(p.shape)
    return float(shapes + p.shape * np.log(q.rate / p.rate) + q.shape * (p.rate / q.rate - 1.0))


class StickPosterior(NamedTuple):
    """Beta posteriors of K sticks, in the order of the topics.

    The last stick leaves a rest for topics beyond K.

    on, after: (K,) parameters of each topic's stick; order: (K,) the topic at each place.
    """

    on: np.ndarray
    after: np.ndarray
    order: np.ndarray

    def expected_log_rests(self) -> np.ndarray:
        """E[log(1 - stick)] of each topic (K,)."""
        rests: np.ndarray = psi(self.after) - psi(self.on + self.after)
        return rests

    def expected_logs(self) -> np.ndarray:
        """E[log weight] of each topic (K,)."""
        # E[log stick] plus E[log(1 - stick)] of the sticks before it.
        rests = self.expected_log_rests()[self.order]
        logs: np.ndarray = (psi(self.on) - psi(self.on + self.after))[self.order]
        logs = logs + np.append(0.0, rests[:-1].cumsum())
        by_topic: np.ndarray = logs[self._places()]
        return by_topic

    def means(self) -> np.ndarray:
        """E[weight] of each topic (K,); they sum to less than one.

        >>> StickPosterior(np.array([1.0, 3.0]), np.array([1.0, 1.0]), np.array([1, 0])).means()
        array([0.125, 0.75 ])
        """
        on: np.ndarray = (self.on / (self.on + self.after))[self.order]
        weights: np.ndarray = on * np.append(1.0, (1.0 - on[:-1]).cumprod())
        by_topic: np.ndarray = weights[self._places()]
        return by_topic

    def breaking(self) -> Breaking:
        """The stick as the topics break it, and the rest (Kurihara & al. 2007 Eq. 8)."""
        num_topics = len(self.order)
        sticks = Sticks(
            on=self.on[self.order],
            after=self.after[self.order],
            order=np.append(self.order, num_topics),
        )
        return break_stick(sticks, np.append(np.arange(num_topics), NO_TOPIC))

    def _places(self) -> np.ndarray:
        return np.argsort(self.order)

    def divergence(self, concentration: Gamma) -> float:
        """KL[q || Beta(1, γ)] of all sticks, in nats; concentration: the gamma posterior of γ."""
        rests = self.expected_log_rests()
        logs = psi(self.on) - psi(self.on + self.after)
        # E[log q] of each stick, then E[log p] under Beta(1, γ): log γ + (γ - 1) log(1 - stick).
        own = (self.on - 1.0) * logs + (self.after - 1.0) * rests - betaln(self.on, self.after)
        prior = concentration.expected_log() + (concentration.mean() - 1.0) * rests
        return float((own - prior).sum())


def stick_posterior(tables: np.ndarray, concentration: float) -> StickPosterior:
    """Sticks from the tables (K,) of each topic, largest first (Teh, Kurihara & Welling 2007 Eq.
    8).

        stick_k ~ Beta(1 + s_k, E[γ] + Σ_{l>k} s_l)

    This order has the best bound of all: Π_k 1 / (E[γ] + Σ_{l≥k} s_l), up to factors that no order
    changes.
    """
    order = np.argsort(-tables, kind="stable")
    after = np.empty(len(tables))
    # E[γ] plus the tables of all later topics.
    after[order] = concentration + np.append(tables[order][:0:-1].cumsum()[::-1], 0.0)
    return StickPosterior(on=1.0 + tables, after=after, order=order)


def dirichlet_divergence(q: np.ndarray, p: np.ndarray) -> float:
    """KL[Dirichlet(q) || Dirichlet(p)] of parameters (V,), in nats."""
    logs = psi(q) - psi(q.sum())
    return float(
        gammaln(q.sum()) - gammaln(p.sum()) + (gammaln(p) - gammaln(q) + (q - p) * logs).sum()
    )
