"""Seconds that our HDP and tomotopy's need to reach the best held-out score of scikit-learn's online LDA.

    python -m tests.benchmarks.race [--corpus NAME] [--minutes 10] [--json FILE]

The line is the best score of LDA over its sizes after one pass, `disjoint_words`, by its own inference or the common
fold-in, the better of the two. Both HDPs use all cores and are scored by the common fold-in, with the clock stopped:
ours after every mini-batch of its first passes, tomotopy's Gibbs sampler after every ten sweeps until its minutes are
over. The best score of each is reported in any case.
"""

import argparse

import numpy as np
import pandas as pd

from stickbreaker.engine.evaluation.held_out import fold_in, score
from stickbreaker.engine.inference.held_words import split_words
from stickbreaker.engine.runs.compile import compile_algorithm
from tests.benchmarks.contestants import HDP, ScikitLearnLDA, TomotopyHDP
from tests.benchmarks.corpora import divide
from tests.benchmarks.heldout import SIZES, learn, score_both, to_markdown, write_json

NUM_PASSES, SWEEPS_AT_ONCE, LEAST_GAIN = 3, 10, 30


def score_fold_in(contestant, held_out):
    """Nats per held-out word by the common fold-in."""
    topics = contestant.topics()
    return score(held_out, fold_in(held_out.observed, topics.astype(np.float32), contestant.prior()), topics)


def find_line(train, held_out, seed):
    """The best score of scikit-learn's LDA, and its size."""
    scores = {}
    for size in SIZES:
        lda = ScikitLearnLDA(size, train, seed)
        learn(lda, train, seed)
        scores[size] = max(score_both(lda, held_out))
    best = max(scores, key=scores.get)
    return scores[best], best


def race(contestant, steps, held_out, line, limit):
    """Seconds of learning until the line is reached (None within the limit: never), the best score, seconds in all."""
    reached, best = None, -np.inf
    for step in steps:
        contestant.learn(step)
        nats = score_fold_in(contestant, held_out)
        best = max(best, nats)
        if reached is None and nats >= line:
            reached = contestant.seconds
        if contestant.seconds > limit:
            break
    return {"seconds_to_line": reached, "best_nats": best, "seconds": contestant.seconds}


def measure(corpus_name, minutes, seed=0):
    """One row a contestant."""
    train, test = divide(corpus_name, "shuffled", seed)
    held_out = split_words(test.documents(), test.doc_ids, seed)
    line, size = find_line(train, held_out, seed)
    ours, theirs = HDP(train, seed), TomotopyHDP(train, seed)
    compile_algorithm(ours.algorithm, ours.config)
    passes = (batch for _ in range(NUM_PASSES) for batch in train.batches(ours.batch_size))
    found = {
        "ours": race(ours, passes, held_out, line, minutes * 60),
        "tomotopy HDPModel": race(theirs, iter(lambda: SWEEPS_AT_ONCE, None), held_out, line, minutes * 60),
    }
    facts = {"corpus": corpus_name, "line": line, "line_is": f"scikit-learn LDA K={size}"}
    return [{**facts, "contestant": name, **row} for name, row in found.items()]


def summarize(rows, minutes):
    """The race as a row of the speed table: a lower limit of the ratio if tomotopy never arrives."""
    ours, theirs = (row["seconds_to_line"] for row in rows)
    ratio = (theirs or minutes * 60) / ours if ours else 0.0
    return {
        "contestant": "tomotopy HDPModel",
        "work": f"to the best scikit-learn LDA's held-out score, {rows[0]['corpus']}",
        "threads": 2,
        "target": LEAST_GAIN,
        "ratio_min": ratio,
        "ratio_median": ratio,
        "ratio_max": ratio,
        "is_at_least": theirs is None,
        "our_seconds": ours,
        "their_seconds": theirs,
        "our_nats": rows[0]["best_nats"],
        "their_nats": rows[1]["best_nats"],
    }


def main():
    """Read the command line, measure, print, and write JSON where asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default="state-of-the-union")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    rows = measure(arguments.corpus, arguments.minutes)
    frame = pd.DataFrame(rows).round(3)
    print(to_markdown(frame.astype(object).where(frame.notna(), "never")))
    write_json(arguments.json, rows)


if __name__ == "__main__":
    main()
