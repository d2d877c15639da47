"""The loss of held-out likelihood if a document considers only its best M topics.

python -m tests.benchmarks.active_topics [--seeds 3] [--json FILE]
"""

import argparse

import pandas as pd

from stickbreaker.engine.inference.held_words import split_words
from tests.benchmarks.contestants import HDP
from tests.benchmarks.corpora import divide
from tests.benchmarks.heldout import learn, score_both, to_markdown, write_json

CORPUS = "state-of-the-union"
SIZES = (150, 64, 32, 16)


def measure(seed):
    """One row for each M: the score of a model with this M, in shuffled order, and the seconds of learning."""
    train, test = divide(CORPUS, "shuffled", seed)
    split = split_words(test.documents(), test.doc_ids, seed)
    rows = []
    for size in SIZES:
        contestant = HDP(train, seed, max_active_topics=size)
        learn(contestant, train, seed)
        own, _ = score_both(contestant, split)
        rows.append({"M": size, "seed": seed, "nats_per_word": own, "seconds": contestant.seconds})
    return rows


def main():
    """Read the command line, measure, print, and write JSON where asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    rows = [row for seed in range(arguments.seeds) for row in measure(seed)]
    frame = pd.DataFrame(rows).set_index(["M", "seed"])
    scores = frame["nats_per_word"].unstack("seed")
    cost = scores.loc[SIZES[0]] - scores
    table = pd.DataFrame({"nats a word": scores.mean(axis=1).round(4), "spread": scores.std(axis=1).round(4)})
    table["cost against all 150"], table["its standard error"] = cost.mean(axis=1).round(4), cost.sem(axis=1).round(4)
    table["seconds"] = frame["seconds"].groupby("M").mean().round(2)
    print(to_markdown(table.loc[list(SIZES)].reset_index()))
    write_json(arguments.json, rows)


if __name__ == "__main__":
    main()
