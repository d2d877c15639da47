"""The warm-up: topics part while documents are kept on many of them, on fewer and fewer as the first pass goes on.

At temperature T a word's shares are ∝ (e_k B_ik)^(1/T): deterministic annealing (Rose 1998; Ueda & Nakano 1998). Where
topics are still alike, documents would settle on one or two of them by chance; at a high temperature they stay on all.
"""

import numpy as np

from engine.corpus import Documents
from engine.kernels.dirichlet import Sweeps
from engine.schedules import first_pass_rates
from engine.sweeps import fit_documents

PILOT_DOCUMENTS = 32
HIGHEST_TEMPERATURE = 4.0
NUM_HALVINGS = 5


def sweeps_at(temperature):
    """Sweeps of a warm-up document; whether they have settled does not matter to a controller that counts topics."""
    return Sweeps(10, 0.0, 0.0, temperature)


def cool(config, state, batch, expectations):
    """The expectations of the next step, at the temperature that its place in the first pass asks for.

    Documents shall hold at least K^(1-p) topics on the average, p being the rates spent over those of the first pass,
    and a document's number of topics the exponential of its shares' entropy. The temperature is the least, from 1 on,
    at which the batch's first documents do. At 1 the warm-up is over for good, and the expectations come back as given.
    """
    if state.phase != "warm-up":
        return expectations
    progress = min(1.0, state.rate_spent / first_pass_rates(config, batch.corpus_size))
    target = (1.0 - progress) * np.log(expectations.topics.shape[1])
    temperature = _least_temperature(_take_pilot(batch.documents), expectations, target)
    if temperature == 1.0:
        return expectations
    return temper(expectations, temperature)._replace(phase="warm-up", temperature=temperature)


def _take_pilot(documents):
    """The first few documents."""
    number = min(PILOT_DOCUMENTS, len(documents.starts) - 1)
    end = documents.starts[number]
    return Documents(documents.starts[: number + 1], documents.words[:end], documents.counts[:end])


def temper(expectations, temperature):
    """The expectations with topic weights B^(1/T)."""
    return expectations._replace(
        topics=np.exp(np.log(expectations.topics) / expectations.topics.dtype.type(temperature))
    )


def _least_temperature(pilot, expectations, target):
    """By halving 1/T, at which the mean entropy of the pilot's shares is at least the target."""
    words = np.unique(pilot.words)
    weights = expectations.topics[np.searchsorted(expectations.words, words)]
    expectations = expectations._replace(words=words, topics=weights)

    def is_spread(inverse):
        shares = fit_documents(pilot, temper(expectations, 1 / inverse), sweeps_at(1 / inverse), is_learning=False)[1]
        return -(shares * np.log(np.maximum(shares, 1e-12))).sum(1).mean() >= target

    if is_spread(1.0):
        return 1.0
    low, high = 1.0 / HIGHEST_TEMPERATURE, 1.0
    for _ in range(NUM_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_spread(middle) else (low, middle)
    return 1.0 / low
