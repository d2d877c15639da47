"""Seconds from starting Python to the first learned mini-batch, with all kernels to compile and with none.

    python -m tests.benchmarks.first_step [--corpus NAME] [--rounds 3] [--json FILE]

Each time is that of a new process: import, opening the corpus, the kernels, one step of the online HDP at its defaults.
The kernels' cache is a new, empty folder, so earlier compilations do not count.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

import pandas as pd

from tests.benchmarks.heldout import to_markdown, write_json

TARGETS = {"cold": 40.0, "warm": 3.0}
TASK = """
import sys
from stickbreaker import engine
from stickbreaker.engine.runs.compile import compile_algorithm
algorithm = engine.find_algorithm("hdp")
compile_algorithm(algorithm, algorithm.config())
corpus = engine.load_corpus(sys.argv[1])
next(engine.run(engine.prepare(algorithm, algorithm.config(), corpus)))
"""


def time_first_step(corpus, cache):
    """Seconds of one process whose kernels are kept in this folder."""
    began = time.perf_counter()
    command = [sys.executable, "-c", TASK, corpus]
    subprocess.run(command, check=True, env=os.environ | {"NUMBA_CACHE_DIR": cache})
    return time.perf_counter() - began


def measure(corpus, num_rounds):
    """One row for each start: its seconds over the rounds."""
    seconds = {"cold": [], "warm": []}
    for _ in range(num_rounds):
        with tempfile.TemporaryDirectory() as cache:
            for start, found in seconds.items():
                found.append(time_first_step(corpus, cache))
                print(f"{start}: {found[-1]:.1f} s", file=sys.stderr, flush=True)
    rows = []
    for start, found in seconds.items():
        low, *_, high = sorted(found * 2)
        median = float(pd.Series(found).median())
        spread = {"seconds_min": low, "seconds_median": median, "seconds_max": high}
        rows.append({"corpus": corpus, "start": start, **spread, "target": TARGETS[start]})
    return rows


def main():
    """Print the table, and write it as JSON if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--corpus", default="state-of-the-union")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", metavar="FILE")
    asked = parser.parse_args()
    rows = measure(asked.corpus, asked.rounds)
    print(to_markdown(pd.DataFrame(rows).round(2)))
    write_json(asked.json, rows)


if __name__ == "__main__":
    main()
