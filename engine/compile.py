"""Compiles every kernel once, or loads it from numba's cache, and says how far it is."""

import numpy as np

from engine.corpus import Documents
from engine.kernels.dirichlet import fit_dirichlet
from engine.kernels.special import exp_expected_log
from engine.kernels.two_level import Limits, fit_two_level


def compile_kernels(report=lambda done, total, name: None):
    """Run every kernel on one word, so that the first mini-batch does not wait for a compiler.

    report(done, total, name) is called before each kernel and once at the end. Raises what the compiler raises.
    """
    topics = np.ones((1, 2), np.float32)
    prior, tables, shares = np.ones(2, np.float32), np.zeros(2), np.zeros((1, 2), np.float32)
    document = Documents(np.array([0, 1]), np.zeros(1, np.int32), np.ones(1, np.int32)).indexed(np.zeros(1))
    limits = Limits(1, 2, 1, 1, 0.0, 1.0, False, False)
    calls = {
        "document sweeps": lambda: fit_dirichlet(document, topics, prior, 1, topics.copy(), tables, shares),
        "two-level documents": lambda: fit_two_level(
            document, topics, prior, -prior, limits, topics.copy(), tables, shares
        ),
        "expected log topics": lambda: exp_expected_log(topics, np.zeros(2), -41.0, topics.copy()),
    }
    for done, (name, call) in enumerate(calls.items()):
        report(done, len(calls), name)
        call()
    report(len(calls), len(calls), "ready")
