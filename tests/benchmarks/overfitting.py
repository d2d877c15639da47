"""Batch LDA on words of documents that it has read and that it has not, by the number of topics and η.

    python -m tests.benchmarks.overfitting [--documents 2000] [--seeds 3] [--json FILE]

gap: of unread documents' tokens (`tokens_90_10`) above read documents' tokens (`within_documents`), in nats a word;
both are held out, so a gap shows topics that fit the words they were made of and no others.
"""

import argparse

import pandas as pd

from tests.benchmarks import systems
from tests.benchmarks.heldout import to_markdown, write_json

NUM_TOPICS, WORD_CONCENTRATIONS = (20, 100), (0.01, 0.1, 0.5)
PROTOCOLS = ["tokens_90_10", "within_documents"]


def measure(corpus, documents, num_topics, word_concentration, seed):
    """The row of one setting and seed."""
    name = f"batch-lda, {num_topics} topics, η = {word_concentration}"
    systems.SYSTEMS[name] = ("batch-lda", {"max_topics": num_topics, "word_concentration": word_concentration})
    rows = systems.measure_both(name, corpus, documents, "shuffled", seed)
    own = {row["protocol"]: row for row in rows if row["predictive"] == "own"}
    scores = {protocol: own[protocol]["nats_per_word"] for protocol in PROTOCOLS}
    gap = scores["tokens_90_10"] - scores["within_documents"]
    setting = {"K": num_topics, "η": word_concentration, "seed": seed}
    return {**setting, **scores, "gap": gap, "topics": own["tokens_90_10"]["topics"]}


def tabulate(rows):
    """Mean ± standard deviation over seeds, a line a setting."""
    found = pd.DataFrame(rows).groupby(["K", "η"], sort=False)
    means, spreads = found[[*PROTOCOLS, "gap"]].mean(), found[[*PROTOCOLS, "gap"]].std()
    cells = means.map("{:.3f}".format) + " ± " + spreads.map("{:.3f}".format)
    return cells.join(found["topics"].mean().round(1)).reset_index()


def main(arguments=None):
    """Read the command line, measure, print, and write JSON where asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default="state-of-the-union")
    parser.add_argument("--documents", type=int, default=2000, help="maximum number of documents, drawn at random")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args(arguments)
    settings = [(size, word) for size in NUM_TOPICS for word in WORD_CONCENTRATIONS]
    rows = [
        measure(arguments.corpus, arguments.documents, *setting, seed)
        for setting in settings
        for seed in range(arguments.seeds)
    ]
    print(to_markdown(tabulate(rows)))
    write_json(arguments.json, rows)


if __name__ == "__main__":
    main()
