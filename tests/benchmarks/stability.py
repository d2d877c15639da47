"""How stable topics are from run to run, and the consensus of ten runs.

    python -m tests.benchmarks.stability [--corpora NAME ...] [--pairs N ...] [--runs R]
                                         [--join FILE ...] [--json FILE]

A pair is two sets of R runs with different seeds and orders, and the consensus of each set
(`engine.consensus`). Stability is the share of the tokens whose topics come back: "by divergence"
by the rule of `engine.stability`, "by words" if five of the ten words are the same. Of runs it is
the mean of neighbouring ones, of a consensus that of both directions. `random` has 2,000 words that
are equally frequent, in 600 documents of 60: nothing is there to be found. `--join FILE` adds
rows of an earlier run to the table.
"""

import argparse
import json
from itertools import pairwise

import numpy as np
import pandas as pd

from stickbreaker import engine
from stickbreaker.engine.evaluation.held_out import rank_topics
from stickbreaker.engine.evaluation.topic_space import find_top_words
from stickbreaker.engine.simulate import simulate_hdp
from tests.benchmarks.coherence import has_partner
from tests.benchmarks.corpora import load
from tests.benchmarks.heldout import to_markdown, write_json

DEFAULT_SIZES = {"rfc": 20_000}
RANDOM = "random"


def find_corpus(name):
    """The corpus of a row."""
    if name != RANDOM:
        return load(name, DEFAULT_SIZES.get(name))
    words = np.full((1, 2_000), 1 / 2_000)
    return simulate_hdp(words, 600, 60, 1.0, 1.0, np.random.default_rng(1)).corpus


def compare(model, other):
    """Shares of the tokens of a model whose topics come back: by divergence, and by words."""
    frame = engine.stability([model, other])
    summaries = [each.algorithm.summarize(each.config_, each.state_) for each in (model, other)]
    top = [find_top_words(each.topics[rank_topics(each.expected_tokens)], 10) for each in summaries]
    weights = frame["weight"] / frame["weight"].sum()
    return float(weights @ frame["stability"]), float(weights @ has_partner(*top))


def join(models):
    """The consensus of models; None if they have no topic in common."""
    try:
        return engine.consensus(models)
    except ValueError:
        return None


def measure(name, pair, runs):
    """A row: two sets of runs, and the consensus of each."""
    corpus = find_corpus(name)
    first = 2 * runs * pair
    found = engine.stability_of(
        corpus, engine.OnlineHDP(random_state=first), seeds=range(first + 1, first + 2 * runs)
    )
    of_runs = np.mean([compare(*both) for both in pairwise(found.models)], 0)
    row = {"corpus": name, "pair": pair, "runs": runs}
    row |= {"run_stability": of_runs[0], "run_stability_words": of_runs[1]}
    row["topics"] = [model.n_topics_ for model in found.models]
    row["nats"] = list(found.scores)
    joined = [join(found.models[:runs]), join(found.models[runs:])]
    if None in joined:
        return row | {
            "consensus_topics": [0 if each is None else each.n_topics_ for each in joined]
        }
    stable = np.mean([compare(*joined), compare(*joined[::-1])], 0)
    best = found.models[int(np.argmax(found.scores))]
    return row | {
        "consensus_stability": stable[0],
        "consensus_stability_words": stable[1],
        "consensus_topics": [model.n_topics_ for model in joined],
        "consensus_nats": [model.score(found.test) for model in joined],
        "npmi": best.quality(corpus).weighted_npmi,
        "consensus_npmi": [model.quality(corpus).weighted_npmi for model in joined],
    }


def span(values, digits=0):
    """The smallest and the largest value as text.

    >>> span([3.14, 2.71], 1), span([1, 1])
    ('2.7 to 3.1', '1')
    """
    low, high = (f"{value:.{digits}f}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def tabulate(rows):
    """A row for the runs and a row for the consensus of each corpus: ranges over all pairs."""
    shown = []
    for corpus in dict.fromkeys(row["corpus"] for row in rows):
        own = [row for row in rows if row["corpus"] == corpus]
        for prefix, name in (("", "one run"), ("consensus_", f"consensus of {own[0]['runs']}")):
            stability = "consensus_stability" if prefix else "run_stability"
            shown.append(
                {
                    "corpus": corpus,
                    "pairs": len(own),
                    "model": name,
                    "topics": gather(own, f"{prefix}topics", 0),
                    "by divergence": gather(own, stability, 2),
                    "by words": gather(own, f"{stability}_words", 2),
                    "held-out": gather(own, f"{prefix}nats", 3),
                    "NPMI": gather(own, f"{prefix}npmi", 3),
                }
            )
    return pd.DataFrame(shown)


def gather(rows, name, digits):
    """The range of what some rows have under a name, "-" if they have nothing."""
    values = [value for row in rows if name in row for value in np.atleast_1d(row[name])]
    return span(values, digits) if values else "-"


def main():
    """Read the command line, measure, print, and write JSON where asked for, after each pair."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--corpora", nargs="*", default=["state-of-the-union", "rfc", RANDOM])
    parser.add_argument("--pairs", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--runs", type=int, default=10, help="runs of a consensus")
    parser.add_argument(
        "--join", nargs="+", default=[], help="JSON files whose rows join the table"
    )
    parser.add_argument("--json")
    arguments = parser.parse_args()
    rows = []
    for name in arguments.join:
        with open(name, encoding="utf-8") as file:
            rows += json.load(file)
    for name in arguments.corpora:
        for pair in arguments.pairs:
            rows.append(measure(name, pair, arguments.runs))
            write_json(arguments.json, rows)
    print(to_markdown(tabulate(rows)))


if __name__ == "__main__":
    main()
