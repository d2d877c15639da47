"""The speed and the memory of one pass, compared with those of gensim and scikit-learn.

    python -m tests.benchmarks.speed [--corpora NAME ...] [--rounds 5] [--quick] [--json FILE]

Contestants alternate, five times in one run unless told otherwise, so that other work on the
machine affects all; a ratio is of two times measured one after the other, each the mean of as many
passes as take a second. Each works in one of two processes, one held to a single core and one with
two, which limits every library's threads alike; gensim and scikit-learn get one core, since neither
uses a second by itself. Nothing is evaluated while the clock runs. Held-out scores are computed
afterwards, `disjoint_words`: own inference for the two LDAs; the common fold-in for the HDP and
gensim, which infers with another model.

Rows: one pass against gensim's HDP, ours on one thread and on two; our online LDA against
scikit-learn's on the same mini-batches. A ratio says how many times faster we are. "MB" is the
memory that one pass adds at most to a process that has the corpus and the compiled code, without
mapped files; each is measured once, in a new process.
"""

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np
import pandas as pd

from stickbreaker.engine import CorpusError, RunSettings, find_algorithm, load_corpus
from stickbreaker.engine.inference.held_words import split_words
from stickbreaker.engine.runs.compile import compile_algorithm
from stickbreaker.engine.runs.prepared import split_corpus
from tests.benchmarks.contestants import GensimHDP, Ours, ScikitLearnLDA
from tests.benchmarks.heldout import score_both, to_markdown, write_json
from tests.benchmarks.machine import watch_memory

CORPORA = {"state-of-the-union": 20_000, "rfc": 20_000}
# gensim is given as many.
HDP_TOPICS, LDA_TOPICS = 150, 100
# The LDAs of both libraries learn alike.
SHARED_SETTINGS = {"forgetting_rate": 0.6, "delay": 64.0, "batch_size": 256}
LEAST_SECONDS, NUM_ROUNDS = 1.0, 5
SYSTEMS = ("hdp", "gensim", "lda", "scikit-learn")


class Data(NamedTuple):
    """A corpus by name, the maximum number of its documents, and the seed of their draw, the split
    and the order.
    """

    corpus: str
    num_documents: int
    seed: int


class Pass(NamedTuple):
    """Seconds of one pass from the start; held-out nats per word."""

    seconds: float
    own: float
    fold_in: float


# What the processes do.


@cache
def load(data):
    """Training documents, shuffled, and the held-out split."""
    corpus = load_corpus(data.corpus)
    if corpus.num_documents > data.num_documents:
        drawn = np.random.default_rng(data.seed).choice(
            corpus.num_documents, data.num_documents, replace=False
        )
        corpus = corpus.select(np.sort(drawn))
    train, test = split_corpus(corpus, RunSettings(order="shuffled", seed=data.seed))
    return train, split_words(test.documents(), test.doc_ids, data.seed)


def prepare():
    """Compile, or load, what the contestants of ours need."""
    for name in ("hdp", "lda"):
        algorithm = find_algorithm(name)
        compile_algorithm(algorithm, algorithm.config())


def time_passes(system, data):
    """The mean of passes from the start that take LEAST_SECONDS together."""
    train, held_out = load(data)
    seconds = []
    while sum(seconds) < LEAST_SECONDS:
        contestant, took = time_pass(system, train, data.seed)
        seconds.append(took)
    return Pass(sum(seconds) / len(seconds), *score_both(contestant, held_out))


def time_pass(system, train, seed):
    """A contestant that has learned, and the seconds it took."""
    contestant = GensimHDP(train, seed) if system == "gensim" else None
    began = time.perf_counter()
    contestant = contestant or enter(system, train, seed)
    if system == "gensim":
        contestant.learn_all()
    else:
        for batch in train.batches(contestant.batch_size):
            contestant.learn(batch)
    return contestant, time.perf_counter() - began


def enter(system, train, seed):
    """A contestant that learns batch by batch."""
    if system == "scikit-learn":
        return ScikitLearnLDA(LDA_TOPICS, train, seed, **SHARED_SETTINGS)
    if system == "lda":
        return Ours(system, train, seed, max_topics=LDA_TOPICS, **SHARED_SETTINGS)
    return Ours(system, train, seed, max_topics=HDP_TOPICS)


def measure_memory(system, data):
    """Megabytes that one pass adds at most to this process."""
    train, _ = load(data)
    prepare()
    with watch_memory() as memory:
        time_pass(system, train, data.seed)
    return memory["peak"] - memory["before"]


# What the command does.


def start_process(cores):
    """A process held to these cores from its first import on, kernels compiled."""
    pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
    all_cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        pool.submit(prepare).result()
    finally:
        os.sched_setaffinity(0, all_cores)
    return pool


def measure_all_memory(data):
    """Megabytes of each system, each measured in a new process."""
    found = {}
    for system in SYSTEMS:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            found[system] = pool.submit(measure_memory, system, data).result()
    return found


def measure_round(single, double, data):
    """The rows of one round, each with its ratio."""
    one, gensim, two = (
        ask(single, "hdp", data),
        ask(single, "gensim", data),
        ask(double, "hdp", data),
    )
    lda, sklearn = ask(single, "lda", data), ask(single, "scikit-learn", data)
    return [
        against(("gensim HdpModel", 1), data, one, gensim, "fold_in"),
        against(("gensim HdpModel", 2), data, two, gensim, "fold_in"),
        against((f"scikit-learn LDA K={LDA_TOPICS}", 1), data, lda, sklearn, "own"),
    ]


def ask(pool, system, data):
    """One pass, measured in that process."""
    return pool.submit(time_passes, system, data).result()


def against(row, data, ours, theirs, predictive):
    """One pass of ours against one of theirs."""
    contestant, threads = row
    return {
        "contestant": contestant,
        "corpus": data.corpus,
        "threads": threads,
        "ratio": theirs.seconds / ours.seconds,
        "our_seconds": ours.seconds,
        "their_seconds": theirs.seconds,
        "predictive": predictive,
        "our_nats": getattr(ours, predictive),
        "their_nats": getattr(theirs, predictive),
    }


def summarize(rounds, memory):
    """A row a contestant, corpus and threads: least, median and greatest ratio, other means."""
    frame = pd.DataFrame(rounds)
    frame["ahead"] = frame["our_nats"] - frame["their_nats"]
    keys = ["contestant", "corpus", "threads"]
    groups = frame.groupby(keys, sort=False)
    table = groups["ratio"].agg(ratio_min="min", ratio_median="median", ratio_max="max")
    table = table.join(groups[["our_seconds", "their_seconds", "our_nats", "their_nats"]].mean())
    table = table.join(groups["ahead"].agg(ahead="mean", ahead_error="sem"))
    rows = table.join(groups["predictive"].first()).reset_index().to_dict("records")
    for row in rows:
        used = memory[row["corpus"]]
        ours, theirs = (
            ("hdp", "gensim") if row["predictive"] == "fold_in" else ("lda", "scikit-learn")
        )
        row |= {"our_mb": used[ours], "their_mb": used[theirs]}
    return rows


def tabulate(rows):
    """The rows as people read them."""
    thousandths = ["our_seconds", "their_seconds", "our_nats", "their_nats", "ahead", "ahead_error"]
    tenths = ["ratio_min", "ratio_median", "ratio_max", "our_mb", "their_mb"]
    return to_markdown(
        pd.DataFrame(rows).round(dict.fromkeys(thousandths, 3) | dict.fromkeys(tenths, 1))
    )


def list_data(names, quick):
    """The corpora there are; a line for each that is not."""
    found = []
    for name in names:
        try:
            load_corpus(name)
        except CorpusError as error:
            print(f"skipped: {error}")
            continue
        found.append(Data(name, 2_000 if quick else CORPORA[name], 0))
    return found


def main():
    """Read the command line, measure, print, and write JSON where asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--json")
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, default=list(CORPORA))
    parser.add_argument("--rounds", type=int, default=NUM_ROUNDS)
    parser.add_argument(
        "--quick", action="store_true", help="one round on 2,000 documents, to see that it runs"
    )
    arguments = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        parser.error("two cores are needed: gains from a second thread are measured")
    single, double = start_process(cores[:1]), start_process(cores)
    rounds, available = [], list_data(arguments.corpora, arguments.quick)
    for seed in range(1 if arguments.quick else arguments.rounds):
        for data in available:
            print(f"round {seed + 1}, {data.corpus}", file=sys.stderr)
            rounds += measure_round(single, double, data._replace(seed=seed))
    memory = {data.corpus: measure_all_memory(data) for data in available}
    rows = summarize(rounds, memory)
    print(tabulate(rows))
    write_json(arguments.json, rows)


if __name__ == "__main__":
    main()
