"""The least that the two-level local step must compute and move, against what this machine computes and moves.

For a document of n distinct words, with K topics, of which M stay active after the start, T slots, `sweeps`
Dirichlet sweeps and `iterations` joint iterations of Eq. 15-18, in floating-point operations (a multiplication and
an addition are two):

    sweeps      4 n K each: Σ_l e_l B_il for every word, and Σ_i c_i B_ik / that for every topic
    iterations  4 n T M each: Σ_k φ_tk B_ik (Eq. 18) and Σ_i c_i ζ_it log B_ik (Eq. 17)
    statistics  2 n T M: c_i Σ_t ζ_it φ_tk (Eq. 21)

and in bytes of float32:

    read        4 n K weights B of its words, 8 n word ids and counts
    statistics  8 n M, a cell read and written

Exponentials, logarithms, digammas, divisions and everything of size K or T M alone count nothing, and nothing is
moved twice: no program comes below the sum of flops at the rate of a matrix product and bytes at the rate of a copy.
"""

from typing import NamedTuple


class Work(NamedTuple):
    """Floating-point operations and bytes."""

    flops: float
    bytes: float

    def seconds(self, flops_a_second, bytes_a_second):
        """Seconds at these rates, one after the other."""
        return self.flops / flops_a_second + self.bytes / bytes_a_second


class Sizes(NamedTuple):
    """K, M, T, sweeps and joint iterations of a local step."""

    num_topics: int
    num_active: int
    num_slots: int
    num_sweeps: float
    num_iterations: float


def count_work(documents, sizes):
    """Work of the local step on documents, as this module's docstring counts it.

    >>> import numpy as np
    >>> from engine import Documents
    >>> documents = Documents(np.array([0, 2]), np.array([0, 1]), np.array([1, 1]))
    >>> count_work(documents, Sizes(num_topics=10, num_active=3, num_slots=2, num_sweeps=1, num_iterations=1))
    Work(flops=152.0, bytes=144.0)
    """
    n = float(len(documents.words))
    cells = n * sizes.num_slots * sizes.num_active
    flops = 4 * n * sizes.num_topics * sizes.num_sweeps + 4 * cells * sizes.num_iterations + 2 * cells
    return Work(flops, 4 * n * sizes.num_topics + 8 * n + 8 * n * sizes.num_active)
