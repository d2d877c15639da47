"""What D should be in a stream whose length is not known: held-out likelihood of later text, and
topics in use.

    python -m tests.benchmarks.streams [--corpus NAME] [--documents 60000] [--seeds 0 1 2] [--json
    FILE]

The first 95 % of the documents, in date order, arrive in mini-batches of 256 and are learned by
`partial_fit`; the rest is scored at the end (disjoint_words). NPMI is that in the first 95 %. D is
in turn: the true number ("known"), the number of documents so far ("seen", as in `partial_fit`
without `corpus_size`), and a fixed number, however many arrive ("population", the population
posterior of McInerney et al. 2015). "equal weights" is streaming variational Bayes (Broderick et
al. 2013): each document has the same weight, which is κ = 1 and τ₀ = 0 with a fixed D, except that
λ is then scaled by D over the number of documents. Documents of a larger corpus are drawn evenly
spaced.
"""

import argparse
import sys
import time
import warnings

import numpy as np
import pandas as pd

from stickbreaker import engine
from tests.benchmarks.heldout import to_markdown, write_json

SIZE = 256
TRAIN_SHARE = 0.95
KINDS = {"Online HDP": engine.OnlineHDP, "Online LDA, K = 100": engine.OnlineLDA}
POPULATIONS = (4_096, 16_384, 65_536)


def list_rules(corpus_size):
    """The rules for D by name: arguments of `partial_fit`, and settings."""
    rules = {"known": ({"corpus_size": corpus_size}, {}), "seen": ({}, {})}
    for number in POPULATIONS:
        rules[f"population {number:,}"] = ({"corpus_size": number, "is_population": True}, {})
    equal = {"forgetting_rate": 1.0, "delay": 0.0}
    rules["equal weights"] = ({"corpus_size": corpus_size, "is_population": True}, equal)
    return rules


def learn(kind, train, test, asked, settings, seed):
    """One row: the score of later documents, topics and their NPMI, processor seconds."""
    more = {"max_topics": 100} if kind is engine.OnlineLDA else {}
    model = kind(batch_size=SIZE, random_state=seed, **settings, **more)
    with warnings.catch_warnings():
        # A stream of unknown length is what is measured.
        warnings.simplefilter("ignore")
        began = time.process_time()
        for start in range(0, train.num_documents, SIZE):
            rows = np.arange(start, min(start + SIZE, train.num_documents))
            model.partial_fit(train.select(rows).counts, **asked)
        seconds = time.process_time() - began
    return {
        "score": model.score(test.counts),
        "topics": model.n_topics_,
        "npmi": model.quality(train.counts).npmi,
        "seconds": seconds,
    }


def measure(name, num_documents, seeds):
    """One row for each system, rule and seed."""
    corpus = engine.load_corpus(name).order("chronological")
    if corpus.num_documents > num_documents:
        corpus = corpus.select(np.arange(num_documents) * corpus.num_documents // num_documents)
    num_train = int(TRAIN_SHARE * corpus.num_documents)
    train, test = (
        corpus.select(rows) for rows in np.split(np.arange(corpus.num_documents), [num_train])
    )
    rows = []
    for title, kind in KINDS.items():
        for rule, (asked, settings) in list_rules(num_train).items():
            for seed in seeds:
                found = learn(kind, train, test, asked, settings, seed)
                rows.append({"system": title, "D": rule, "seed": seed, **found})
                print(rows[-1], file=sys.stderr, flush=True)
    return rows


def summarize(rows):
    """The mean score with its standard deviation over the seeds, and the means of the others."""
    groups = pd.DataFrame(rows).groupby(["system", "D"], sort=False)
    frame = (
        groups["score"]
        .agg(["mean", "std"])
        .round(3)
        .rename(columns={"mean": "nats per held-out word"})
    )
    others = groups[["topics", "npmi", "seconds"]].mean()
    return frame.assign(**others.round({"topics": 0, "npmi": 3, "seconds": 1})).reset_index()


def main():
    """Read the command line, measure, print, and write JSON where asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", default="rfc")
    parser.add_argument("--documents", type=int, default=60_000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--json")
    options = parser.parse_args()
    rows = measure(options.corpus, options.documents, options.seeds)
    print(to_markdown(summarize(rows).astype(object).fillna("-")))
    write_json(options.json, rows)


if __name__ == "__main__":
    main()
