"""The least that the two-level local step must compute and move, against what this machine computes and moves.

For a document of n distinct words, in floating-point operations (a multiplication and an addition are two):

    sweeps      4 n K_s in sweep s, of the K_s topics that then take part: Σ_l e_l B_il for every word, and
                Σ_i c_i B_ik / that for every topic; negligible topics drop out, so K_1 = K_2 = K and then fewer
    iterations  4 n T A each: Σ_k φ_tk B_ik (Eq. 18) and Σ_i c_i ζ_it log B_ik (Eq. 17) for T slots and the A <= M
                topics left; the first needs no mixture, its slots hold one topic each
    statistics  2 n T A: c_i Σ_t ζ_it φ_tk (Eq. 21)

and in bytes, of float32 where nothing else is said:

    read        4 n K weights B of its words, 8 n word ids and counts
    statistics  4 n A written

K_s and A are those of the documents themselves, found by sweeps in plain numpy. Exponentials, logarithms, digammas,
divisions, choosing topics and everything of size K or T A alone count nothing, nothing is moved twice and nothing is
computed for padding: no program of this kind comes below the sum of flops at the rate of a matrix product and bytes at
the rate of a copy.
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
    """T, M and joint iterations of a local step."""

    num_slots: int
    max_active: int
    num_iterations: int


def count_work(num_words, taking_part, num_left, sizes):
    """Work of one document, as this module's docstring counts it.

    taking_part: topics in each of its sweeps, all K first; num_left: topics left after them.

    >>> count_work(2, [10, 10, 5], 4, Sizes(num_slots=2, max_active=3, num_iterations=1))
    Work(flops=248, bytes=120)
    """
    num_active = min(max(num_left, sizes.num_slots), sizes.max_active)
    joint = 2 * num_words * sizes.num_slots * num_active * (2 * sizes.num_iterations - 1 + 1)
    flops = 4 * num_words * sum(taking_part) + joint
    return Work(flops, 4 * num_words * taking_part[0] + 8 * num_words + 4 * num_words * num_active)


def count_batch(documents, expectations, sweeps, sizes):
    """Work of the local step on a batch under these expectations."""
    places = documents.indexed(expectations.words)
    work = Work(0, 0)
    for start, end in pairwise(places.starts):
        weights = expectations.topics[places.words[start:end]].astype(float)
        traced = trace_sweeps(weights, places.counts[start:end], expectations.prior, sweeps)
        work += count_work(end - start, *traced, sizes)
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
