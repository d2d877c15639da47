"""Held-out likelihood of the online HDP, a unigram model and scikit-learn's online LDA, on the same splits and batches.

python -m tests.benchmarks.heldout --corpus state-of-the-union --seeds 3 [--json FILE] [--jobs N]
"""

import argparse
import json
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from engine import RunSettings, load_corpus
from engine.evaluation import fold_in, perplexity_bound, score, split_tokens, split_words
from engine.run import split_corpus
from tests.benchmarks.contestants import HDP, ScikitLearnLDA, Unigram

SIZES = (25, 50, 100, 200)
ORDERS = ("shuffled", "chronological")
CONTESTANTS = [("hdp", None), ("unigram", None), *(("sklearn-lda", size) for size in SIZES)]


def enter(system, size, train, seed):
    """The contestant, before its first batch; the HDP at its defaults."""
    if system == "sklearn-lda":
        return ScikitLearnLDA(size, train, seed)
    return HDP(train, seed) if system == "hdp" else Unigram(train)


def learn(contestant, train, seed, next_batch=False):
    """One pass; where asked for, nats per token of each batch held out before it is learned from, but the first."""
    totals = np.zeros(3)
    for number, batch in enumerate(train.batches(contestant.batch_size)):
        if next_batch and number > 0:
            split = split_words(batch.documents, batch.doc_ids, seed)
            own, folded = score_both(contestant, split)
            totals += split.num_tokens * np.array([own, folded, 1.0])
        contestant.learn(batch)
    return totals[:2] / totals[2] if next_batch else None


def score_both(contestant, split):
    """Nats per held-out token by the system's own inference and by the common fold-in."""
    topics = contestant.topics()
    own = score(split, contestant.infer(split.observed), topics)
    return own, score(split, fold_in(split.observed, topics, contestant.prior()), topics)


def measure(corpus_name, order, system, size, seed):
    """Rows of one contestant, order and seed: every protocol but importance sampling."""
    settings = RunSettings(order=order, seed=seed)
    train, test = split_corpus(load_corpus(corpus_name), settings)
    contestant = enter(system, size, train, seed)
    scores = {"next_batch": learn(contestant, train, seed, next_batch=True)}
    documents = test.documents()
    scores["disjoint_words"] = score_both(contestant, split_words(documents, test.doc_ids, seed))
    scores["tokens_90_10"] = score_both(contestant, split_tokens(documents, test.doc_ids, seed))
    bound = perplexity_bound(documents, contestant.topics(), contestant.prior())
    scores["perplexity_bound"] = (None, bound)
    scores["within_documents"] = measure_within(train, system, size, seed)
    facts = {"corpus": corpus_name, "order": order, "system": system, "setting": contestant.size, "seed": seed}
    last = {"topics": contestant.num_topics(), "seconds": contestant.seconds}
    return [
        {**facts, "protocol": protocol, "predictive": predictive, "nats_per_word": float(nats), **last}
        for protocol, both in scores.items()
        for predictive, nats in zip(("own", "fold_in"), both, strict=True)
        if nats is not None
    ]


def measure_within(train, system, size, seed):
    """Learn from nine tenths of each training document's tokens and predict the last tenth."""
    split = split_tokens(train.documents(), train.doc_ids, seed)
    kept = replace(train, counts=to_matrix(split.observed, train.vocab_size))
    contestant = enter(system, size, kept, seed)
    learn(contestant, kept, seed)
    return score_both(contestant, split)


def to_matrix(documents, vocab_size):
    """Documents as a sparse matrix (S, V)."""
    shape = (len(documents.starts) - 1, vocab_size)
    return csr_array((documents.counts, documents.words, documents.starts), shape=shape)


def name(row):
    """A contestant as the table names it."""
    return f"{row['system']} K={row['setting']:.0f}" if row["system"] == "sklearn-lda" else row["system"]


def tabulate(rows):
    """Mean ± spread (standard deviation over seeds) by order and contestant, a column for each protocol."""
    frame = pd.DataFrame(rows)
    frame["contestant"] = frame.apply(name, axis=1)
    frame["column"] = frame["protocol"] + " " + frame["predictive"]
    places = ["order", "contestant"]
    found = frame.groupby([*places, "column"], sort=False)["nats_per_word"].agg(["mean", "std"])
    cells = found.apply(lambda cell: f"{cell['mean']:.3f} ± {cell['std']:.3f}", axis=1).unstack("column", sort=False)
    once = frame.drop_duplicates([*places, "seed"]).groupby(places, sort=False)[["topics", "seconds"]].mean().round(1)
    return cells.join(once).reset_index()


def compare(rows):
    """Mean over seeds of HDP minus each LDA under disjoint_words, with its standard error."""
    frame = pd.DataFrame(rows).query("protocol == 'disjoint_words'")
    keys = ["order", "predictive", "seed"]
    ours = frame[frame["system"] == "hdp"].set_index(keys)["nats_per_word"].sort_index()
    lines = []
    for (order, predictive, size), theirs in frame[frame["system"] == "sklearn-lda"].groupby(
        ["order", "predictive", "setting"], sort=False
    ):
        gains = ours.loc[order, predictive] - theirs.set_index("seed")["nats_per_word"]
        error = gains.std() / np.sqrt(len(gains))
        row = {"order": order, "predictive": predictive, "LDA": f"K={size:.0f}", "HDP ahead by": f"{gains.mean():.3f}"}
        lines.append({**row, "standard error": f"{error:.3f}", "seeds": len(gains)})
    return pd.DataFrame(lines)


def to_markdown(frame):
    """A data frame as a Markdown table."""
    lines = [list(frame.columns), ["---"] * frame.shape[1], *frame.astype(str).to_numpy().tolist()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main():
    """Read the command line, measure, print, and write JSON where asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default="state-of-the-union")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json")
    parser.add_argument("--jobs", type=int, default=1, help="processes; more than one makes the seconds unfit to quote")
    arguments = parser.parse_args()
    tasks = [
        (arguments.corpus, order, *contestant, seed)
        for order, contestant, seed in product(ORDERS, CONTESTANTS, range(arguments.seeds))
    ]
    with ProcessPoolExecutor(arguments.jobs) as pool:
        rows = [row for part in pool.map(measure, *zip(*tasks, strict=True)) for row in part]
    print(to_markdown(tabulate(rows)), to_markdown(compare(rows)), sep="\n\n")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
