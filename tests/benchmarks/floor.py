"""The least that the two-level local step must compute and move, and the rates of this machine.

For a document of n distinct words, in floating-point operations (a multiplication and an addition are two):

    sweeps      4 n K each: Σ_l e_l B_il for every word, and Σ_i c_i B_ik / that for every topic
    iterations  4 n T M each: Σ_k φ_tk B_ik (Eq. 18) and Σ_i c_i ζ_it log B_ik (Eq. 17) for T slots and M topics; the
                first needs no mixture, its slots hold one topic each
    statistics  2 n T M: c_i Σ_t ζ_it φ_tk (Eq. 21)

and in bytes, of float32 unless stated otherwise:

    read        4 n K weights B of its words, 8 n word ids and counts
    statistics  4 n M written

Exponentials, logarithms, digammas, divisions, the choice of topics and everything of size K or T M alone count as 0.
Nothing is moved twice or computed for padding. So no program that does all this is faster than the flops at the rate of
a matrix product plus the bytes at the rate of a copy.

A program may do less: topics without tokens drop out of a document's later sweeps, and fewer than M may be left for
its slots. `count_kept` counts what then remains, a stricter floor, from sweeps in plain numpy.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import psi


class Work(NamedTuple):
    """Floating-point operations and bytes."""

    flops: float
    bytes: float

    def __add__(self, other):
        return Work(self.flops + other.flops, self.bytes + other.bytes)

    def seconds(self, flops_a_second, bytes_a_second):
        """Seconds at these rates, one after the other."""
        return self.flops / flops_a_second + self.bytes / bytes_a_second


class Sizes(NamedTuple):
    """K, M, T, sweeps and joint iterations of a local step."""

    num_topics: int
    max_active: int
    num_slots: int
    num_sweeps: int
    num_iterations: int


def count_work(num_words, taking_part, num_active, sizes):
    """Work on some words, from the topics in each sweep and those left for the slots.

    >>> sizes = Sizes(num_topics=10, max_active=3, num_slots=2, num_sweeps=3, num_iterations=1)
    >>> count_work(2, [10, 10, 5], 3, sizes)
    Work(flops=248, bytes=120)
    """
    # Mixtures from the second iteration on, Eq. 17 in all of them, Eq. 21 once.
    num_products = (sizes.num_iterations - 1) + sizes.num_iterations + 1
    joint = 2 * num_words * sizes.num_slots * num_active * num_products
    flops = 4 * num_words * sum(taking_part) + joint
    return Work(flops, 4 * num_words * sizes.num_topics + 8 * num_words + 4 * num_words * num_active)


def count_all(documents, sizes):
    """Work of the local step on documents, with all K topics in every sweep and M left."""
    return count_work(len(documents.words), [sizes.num_topics] * sizes.num_sweeps, sizes.max_active, sizes)


def count_kept(documents, expectations, sweeps, sizes):
    """Work of the local step on documents, with only the topics that these sweeps keep, but enough for the slots."""
    places = documents.indexed(expectations.words)
    work = Work(0, 0)
    for start, end in pairwise(places.starts.tolist()):
        weights = expectations.topics[places.words[start:end]].astype(float)
        taking_part, num_left = trace_sweeps(weights, places.counts[start:end], expectations.prior, sweeps)
        num_active = min(max(num_left, sizes.num_slots), sizes.max_active)
        work += count_work(end - start, taking_part, num_active, sizes)
    return work


def trace_sweeps(weights, counts, prior, sweeps):
    """Numbers of topics in each sweep over a document's weights B (n, K), and after the last."""
    e, is_left, taking_part = np.ones(len(prior)), np.ones(len(prior), bool), []
    for number in range(sweeps.most):
        taking_part.append(int(is_left.sum()))
        tokens = e * (weights.T @ (counts / (weights @ e)))
        if number > 0:
            is_left &= tokens >= sweeps.negligible
        logs = psi(prior + tokens)
        e = np.where(is_left, np.exp(logs - logs.max()), 0.0)
    return taking_part, int(is_left.sum())
