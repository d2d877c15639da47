"""The error of the approximations of CV-HDP, how often its bound falls, and the topics it finds from its own start.

python -m tests.benchmarks.collapsed [errors] [falls] [recovery] [--seeds 3] [--sweeps 100] [--json FILE]

errors: Eq. 12 and 18 against counts enumerated, on five tokens and on documents of State of the Union.
falls: sweeps of State of the Union after which the bound is lower; seconds per sweep, also for CV-LDA with equal K.
recovery: topics of simulated corpora within 1.5 times the error of known assignments, and their number, by truncation.
"""

import argparse
import time

import numpy as np
import pandas as pd

from stickbreaker.engine import RunSettings, find_algorithm, load_corpus, prepare, run
from stickbreaker.engine.algorithms import cv_hdp
from stickbreaker.engine.evaluation.held_out import count_topics
from tests import naive
from tests import naive_collapsed as twin
from tests.benchmarks.heldout import to_markdown, write_json
from tests.collapsed_ascent import FIXED, LEARNED, ascend
from tests.recovery.true_topics import LARGEST_RATIO, VOCAB_SIZE, measure_ratios, simulate

CORPUS = "state-of-the-union"
NUM_TOPICS, NUM_DOCUMENTS = 150, 100
QUIET = {"num_evaluations": 0, "num_snapshots": 0, "score_next_batch": False}


def measure_errors(seeds, sweeps):
    """Rows of an expectation, exact and as printed."""
    rows = []
    for name, config in {"fixed": FIXED, "learned": LEARNED}.items():
        for seed in range(seeds):
            exact, printed = ascend(config, seed, 12)
            rows.append({"what": f"Eq. 18, five tokens, β and τ {name}", "exact": exact[-1], "printed": printed[-1]})
    batch = next(load_corpus(CORPUS).order("shuffled").batches(NUM_DOCUMENTS))
    documents = naive.split_rows(batch.documents)
    state = cv_hdp.init(cv_hdp.CVHDPConfig(), load_corpus(CORPUS).vocab_size, None)
    for number in range(1, 11):
        before = state
        state, _ = cv_hdp.step(cv_hdp.CVHDPConfig(), state, batch, np.random.default_rng(0))
        if number in (1, 3, 10):
            shares = np.split(state.assignments.shares.astype(float), batch.documents.starts[1:-1])
            exact, printed = (sum_tables(each, documents, shares, before) for each in (twin.exactly, twin.by_paper))
            rows.append(
                {"what": f"tables of {NUM_DOCUMENTS} documents, sweep {number}", "exact": exact, "printed": printed}
            )
    table = pd.DataFrame(rows).groupby("what", sort=False).mean()
    table["error"] = table["printed"] - table["exact"]
    return table.round(4)


def sum_tables(expect, documents, shares, state):
    """Σ_dk E[s_dk]."""
    a = cv_hdp.find_priors(state).doc
    cells = ((c, q[:, k], k) for (_, c), q in zip(documents, shares, strict=True) for k in range(len(a)))
    return sum(twin.expected_tables(expect, a[k], c, own) for c, own, k in cells)


def measure_falls(seeds, sweeps):
    """Rows of a run on State of the Union, both systems with the same number of topics."""
    rows = []
    for name in ("cv-hdp", "cv-lda"):
        algorithm = find_algorithm(name)
        for seed in range(seeds):
            settings = RunSettings(order="shuffled", passes=sweeps, seed=seed, **QUIET)
            config = algorithm.config(max_topics=NUM_TOPICS)
            updates = run(prepare(algorithm, config, load_corpus(CORPUS), settings))
            # Updates hold states, each as large as the memory of all documents: only figures are kept.
            stepped = (update.stepped for update in updates)
            steps = [(each.info.bound, each.seconds, each.num_topics) for each in stepped]
            bounds, seconds, topics = (np.array(column, float) for column in zip(*steps, strict=True))
            bounds = bounds[np.isfinite(bounds)]
            rows.append(
                {
                    "system": name,
                    "sweeps": len(steps),
                    "falls": int((np.diff(bounds) < 0).sum()),
                    "largest fall": max(0.0, float(-np.diff(bounds).min())),
                    "bound": round(float(bounds[-1]), 4),
                    "topics": int(topics[-1]),
                    "seconds a sweep": round(np.median(np.diff(seconds)), 2),
                }
            )
    return pd.DataFrame(rows).set_index("system")


def measure_recovery(seeds, sweeps):
    """Rows of a fit to a simulated corpus."""
    rows = []
    for num_topics, seed, size in ((n, s, k) for n in (10, 30) for s in range(seeds) for k in (100, 300)):
        truth, began = simulate(num_topics, seed), time.perf_counter()
        config = cv_hdp.CVHDPConfig(max_topics=size, word_total=0.01 * VOCAB_SIZE)
        settings = RunSettings(passes=sweeps, seed=seed, num_test=1, **QUIET)
        *_, finished = run(prepare(cv_hdp.ALGORITHM, config, truth.corpus, settings))
        ratios = measure_ratios(cv_hdp.summarize(config, finished.state).topics, truth)
        found, topics = int((ratios <= LARGEST_RATIO).sum()), count_topics(finished.state.expected_tokens)
        row = {"true topics": num_topics, "seed": seed, "K": size, "found": found, "topics": topics}
        rows.append(row | {"bound": round(finished.state.bound, 3), "seconds": round(time.perf_counter() - began)})
        print(rows[-1], flush=True)
    return pd.DataFrame(rows).set_index("true topics")


PARTS = {"errors": measure_errors, "falls": measure_falls, "recovery": measure_recovery}


def main():
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sweeps", type=int, default=100)
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    rows = {}
    for part in arguments.parts:
        table = PARTS[part](arguments.seeds, arguments.sweeps).reset_index()
        rows[part] = table.to_dict("records")
        print(f"### {part}\n\n{to_markdown(table)}\n")
    write_json(arguments.json, rows)


if __name__ == "__main__":
    main()
