"""Compiles the kernels of all algorithms into numba's cache, in two processes: python -m
tests.compiled

The worker processes of the tests, and the servers and notebooks that they start, then load them.
"""

import subprocess
import sys
from dataclasses import fields

from stickbreaker.engine.algorithms import REGISTRY
from stickbreaker.engine.runs.compile import compile_algorithm

PRECISIONS = ("float32", "float64")


def list_configs(precision):
    """Each algorithm with the first and the last of its choices."""
    for algorithm in REGISTRY:
        offered = {
            each.name: choices
            for each in fields(algorithm.config)
            if (choices := each.metadata.get("choices"))
        }
        if precision not in offered.get("precision", PRECISIONS[-1:]):
            continue
        for place in (0, -1):
            chosen = {name: choices[place] for name, choices in offered.items()}
            yield (
                algorithm,
                algorithm.config(
                    **(chosen | {name: precision for name in chosen if name == "precision"})
                ),
            )


def compile_precision(precision):
    """Compile what one of two processes compiles."""
    for algorithm, config in list_configs(precision):
        compile_algorithm(algorithm, config)


def compile_all():
    """Compile in one process for each precision, whose kernels are different."""
    commands = ([sys.executable, "-m", "tests.compiled", precision] for precision in PRECISIONS)
    processes = [subprocess.Popen(command) for command in commands]
    codes = [process.wait() for process in processes]
    if any(codes):
        raise RuntimeError(f"Compiling the kernels failed with the exit codes {codes}.")


if __name__ == "__main__":
    if sys.argv[1:]:
        compile_precision(sys.argv[1])
    else:
        compile_all()
