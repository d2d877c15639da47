"""The speed of the engine, compared with other libraries and with the limits of the machine.

    python -m tests.benchmarks.speed [--json FILE] [--rounds 5] [--quick] [--race]

Contestants alternate, five times in one run unless told otherwise, so that other work on the machine affects
all; a ratio is of two times measured one after the other, each the mean of as many passes as take a second. Each works
in one of two processes, one held to a single core and one with two, which limits every library's threads alike; gensim
and scikit-learn get one core, since neither uses a second by itself. Nothing is evaluated while the clock runs.
Held-out scores are computed afterwards, `disjoint_words`: own inference for the two LDAs; the common fold-in for the
HDP and gensim, which infers with another model.

Rows: one pass against gensim's HDP, ours on one thread and on two; our online LDA against scikit-learn's on the same
mini-batches; the local step of a learned HDP against the floor of `tests/benchmarks/floor.py`; the global step
(`expect` and `blend`) at 100,000 words against 8,000, the same documents with their words renamed; our gain from the
second thread over that of arithmetic in registers. A ratio says how many times faster we are, against a floor how
many times slower.
"""

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache, reduce
from itertools import islice
from multiprocessing import get_context
from operator import add
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from stickbreaker.engine import Corpus, CorpusError, RunSettings, Vocabulary, find_algorithm, load_corpus
from stickbreaker.engine.executors import map_shards
from stickbreaker.engine.inference import two_level
from stickbreaker.engine.inference.held_words import split_words
from stickbreaker.engine.runs.compile import compile_algorithm
from stickbreaker.engine.runs.prepared import split_corpus
from tests.benchmarks import race
from tests.benchmarks.contestants import GensimHDP, Ours, ScikitLearnLDA
from tests.benchmarks.floor import Sizes, count_all, count_kept
from tests.benchmarks.heldout import score_both, to_markdown, write_json
from tests.benchmarks.machine import best_seconds, compute_seconds, copy_rate, gemm_rate

CORPORA = {"state-of-the-union": 20_000, "rfc": 20_000}
# gensim is given as many.
HDP_TOPICS, LDA_TOPICS = 150, 100
# The LDAs of both libraries learn alike.
SHARED_SETTINGS = {"forgetting_rate": 0.6, "delay": 64.0, "batch_size": 256}
FEW_WORDS, MANY_WORDS, SMALL_BATCH, NUM_SMALL_BATCHES = 8_000, 100_000, 16, 500
NUM_LOCAL_BATCHES = 8
LEAST_SECONDS = 1.0
NUM_ROUNDS, RACE_MINUTES = 5, 10
TARGETS = {"gensim 1": 60, "gensim 2": 110, "scikit-learn": 25, "floor": 1.5, "words": 1 / 1.5, "gain": 0.9}


class Data(NamedTuple):
    """A corpus by name, the maximum number of its documents, and the seed of their draw, the split and the order."""

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
        drawn = np.random.default_rng(data.seed).choice(corpus.num_documents, data.num_documents, replace=False)
        corpus = corpus.select(np.sort(drawn))
    train, test = split_corpus(corpus, RunSettings(order="shuffled", seed=data.seed))
    return train, split_words(test.documents(), test.doc_ids, data.seed)


def prepare():
    """Compile, or load, what the contestants of ours need."""
    for name in ("hdp", "lda"):
        algorithm = find_algorithm(name)
        compile_algorithm(algorithm, algorithm.config())


def time_passes(system, data):
    """The mean of passes of a contestant, each from the start, until they have taken LEAST_SECONDS together."""
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


def time_local(data):
    """Seconds of the local step of a learned HDP on some batches, and of the floor."""
    train, _ = load(data)
    ours = enter("hdp", train, data.seed)
    for batch in train.batches(ours.batch_size):
        ours.learn(batch)
    batches = list(islice(train.batches(ours.batch_size), NUM_LOCAL_BATCHES))
    tasks = [(ours.algorithm.expect(ours.config, ours.state, batch), batch) for batch in batches]
    seconds = best_seconds(lambda: [local_step(ours, *task) for task in tasks])
    flops_a_second, bytes_a_second = gemm_rate(), copy_rate()
    sizes = count_sizes(ours.config)
    work = reduce(add, (count_all(batch.documents, sizes) for batch in batches))
    kept = reduce(add, (count_kept(batch.documents, read, two_level.START_SWEEPS, sizes) for read, batch in tasks))
    return {
        "our_seconds": seconds,
        "their_seconds": work.seconds(flops_a_second, bytes_a_second),
        "kept_seconds": kept.seconds(flops_a_second, bytes_a_second),
        "documents": sum(len(batch.doc_ids) for batch in batches),
        "megaflop": work.flops / 1e6,
        "megabytes": work.bytes / 1e6,
        "gflops": flops_a_second / 1e9,
        "gigabytes": bytes_a_second / 1e9,
    }


def count_sizes(config):
    """What the default local step is made of."""
    num_active = min(max(config.max_active_topics, config.max_slots), config.max_topics)
    num_iterations = two_level.MAX_ITERATIONS[config.start]
    return Sizes(config.max_topics, num_active, config.max_slots, two_level.START_SWEEPS.most, num_iterations)


def local_step(ours, expectations, batch):
    """The statistics of a batch, from its shards on threads."""
    algorithm, config = ours.algorithm, ours.config
    return reduce(add, map_shards(lambda part: algorithm.local(config, expectations, part, None), batch.documents))


def time_global(data, vocab_size):
    """Seconds of expect and blend over some small batches, in a vocabulary of that size."""
    train = rename_words(load(data)[0], vocab_size)
    ours = Ours("hdp", train, data.seed, max_topics=HDP_TOPICS, batch_size=SMALL_BATCH)
    seconds, batches = 0.0, islice(train.batches(SMALL_BATCH), NUM_SMALL_BATCHES)
    # The first step scales the start-up mass to the corpus, which happens once a run.
    ours.learn(next(batches))
    for batch in batches:
        began = time.perf_counter()
        expectations = ours.algorithm.expect(ours.config, ours.state, batch)
        seconds += time.perf_counter() - began
        statistics = local_step(ours, expectations, batch)
        began = time.perf_counter()
        ours.state, _ = ours.algorithm.blend(ours.config, ours.state, statistics, batch)
        seconds += time.perf_counter() - began
    return seconds


@cache
def rename_words(corpus, vocab_size):
    """The same documents, their words scattered over a larger vocabulary."""
    places = np.random.default_rng(0).permutation(vocab_size)[: corpus.vocab_size]
    counts = csr_array(
        (corpus.counts.data, places[corpus.counts.indices], corpus.counts.indptr), (corpus.num_documents, vocab_size)
    )
    words = Vocabulary([f"word{place}" for place in range(vocab_size)])
    return Corpus(corpus.name, counts, words, corpus.dates, corpus.titles, corpus.doc_ids)


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


def measure_round(single, double, data):
    """The rows of one round, each with its ratio."""
    one, gensim, two = ask(single, "hdp", data), ask(single, "gensim", data), ask(double, "hdp", data)
    lda, sklearn = ask(single, "lda", data), ask(single, "scikit-learn", data)
    return [
        against(("gensim HdpModel", 1, TARGETS["gensim 1"]), data, one, gensim, "fold_in"),
        against(("gensim HdpModel", 2, TARGETS["gensim 2"]), data, two, gensim, "fold_in"),
        against(("scikit-learn LDA K=100", 1, TARGETS["scikit-learn"]), data, lda, sklearn, "own"),
        *(against_floor(pool, threads, data) for threads, pool in ((1, single), (2, double))),
        against_words(single, data),
        against_gain(single, double, data, one.seconds / two.seconds),
    ]


def ask(pool, system, data):
    """One pass, measured in that process."""
    return pool.submit(time_passes, system, data).result()


def against(row, data, ours, theirs, predictive):
    """One pass of ours against one of theirs."""
    contestant, threads, target = row
    return {
        "contestant": contestant,
        "work": f"one pass, {data.corpus}",
        "threads": threads,
        "target": target,
        "ratio": theirs.seconds / ours.seconds,
        "our_seconds": ours.seconds,
        "their_seconds": theirs.seconds,
        "predictive": predictive,
        "our_nats": getattr(ours, predictive),
        "their_nats": getattr(theirs, predictive),
    }


def against_floor(pool, threads, data):
    """The local step against the arithmetic and memory floor."""
    found = pool.submit(time_local, data).result()
    return {
        "contestant": "floor: arithmetic and memory",
        "work": f"local step, {data.corpus}",
        "threads": threads,
        "target": TARGETS["floor"],
        "ratio": found["our_seconds"] / found["their_seconds"],
        **found,
    }


def against_words(pool, data):
    """The global step in a large vocabulary against a small one."""
    few, many = (pool.submit(time_global, data, size).result() for size in (FEW_WORDS, MANY_WORDS))
    return {
        "contestant": f"itself at V = {FEW_WORDS:,}",
        "work": f"global step at V = {MANY_WORDS:,}, S = {SMALL_BATCH}, {data.corpus}",
        "threads": 1,
        "target": TARGETS["words"],
        "ratio": few / many,
        "our_seconds": many,
        "their_seconds": few,
    }


def against_gain(single, double, data, gain):
    """Our gain from the second thread against that of arithmetic in registers."""
    one, two = (pool.submit(compute_seconds).result() for pool in (single, double))
    return {
        "contestant": "arithmetic in registers, gain from the second thread",
        "work": f"gain from the second thread, one pass at S = 256, {data.corpus}",
        "threads": 2,
        "target": TARGETS["gain"],
        "ratio": gain / (one / two),
        "our_gain": gain,
        "their_gain": one / two,
    }


def summarize(rounds):
    """One row a contestant, work and number of threads: least, median and greatest ratio, means of the rest."""
    frame = pd.DataFrame(rounds)
    keys = ["contestant", "work", "threads", "target"]
    groups = frame.groupby(keys, sort=False)
    table = groups["ratio"].agg(ratio_min="min", ratio_median="median", ratio_max="max")
    others = [name for name in frame.columns if name not in (*keys, "ratio", "predictive")]
    table = table.join(groups[others].mean()).join(groups["predictive"].first()).reset_index()
    return [{name: value for name, value in row.items() if pd.notna(value)} for row in table.to_dict("records")]


def tabulate(rows):
    """The rows as people read them."""
    frame = pd.DataFrame(rows)
    names = ["contestant", "work", "threads", "ratio_min", "ratio_median", "ratio_max", "target"]
    table = frame[names].round(2)
    table["our seconds"], table["their seconds"] = frame["our_seconds"].round(3), frame["their_seconds"].round(3)
    table["held out, ours"], table["theirs"] = frame["our_nats"].round(3), frame["their_nats"].round(3)
    return to_markdown(table.astype(object).where(table.notna(), ""))


def describe_machine(rows):
    """The rates that the floors were measured with, and the stricter floors."""
    floors = pd.DataFrame(rows).dropna(subset="gflops")
    kept = [
        f"{row.work}, threads {row.threads}: {1e6 * row.our_seconds / row.documents:.1f} µs a document, "
        f"{row.our_seconds / row.kept_seconds:.1f} times the floor of the topics kept"
        for row in floors.itertuples()
    ]
    rates = floors.groupby("threads")[["gflops", "gigabytes"]].mean()
    return (
        "\n".join(kept)
        + "\n\n"
        + "\n".join(
            f"{threads} thread{'s' * (threads > 1)}: {rate.gflops:.0f} Gflop/s float32 matrix product, "
            f"{rate.gigabytes:.1f} GB/s copied"
            for threads, rate in rates.iterrows()
        )
    )


def list_data(quick):
    """The corpora there are; a line for each that is not."""
    found = []
    for name, size in CORPORA.items():
        try:
            load_corpus(name)
        except CorpusError as error:
            print(f"skipped: {error}")
            continue
        found.append(Data(name, 2_000 if quick else size, 0))
    return found


def main():
    """Read the command line, measure, print, and write JSON where asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json")
    parser.add_argument("--rounds", type=int, default=NUM_ROUNDS)
    parser.add_argument("--quick", action="store_true", help="one round on 2,000 documents, to see that it runs")
    parser.add_argument("--race", action="store_true", help="also the race to LDA's score (tests/benchmarks/race.py)")
    arguments = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        parser.error("two cores are needed: gains from a second thread are measured")
    single, double = start_process(cores[:1]), start_process(cores)
    rounds, available = [], list_data(arguments.quick)
    for seed in range(1 if arguments.quick else arguments.rounds):
        for data in available:
            print(f"round {seed + 1}, {data.corpus}", file=sys.stderr)
            rounds += measure_round(single, double, data._replace(seed=seed))
    rows = summarize(rounds)
    if arguments.race:
        minutes = 0.5 if arguments.quick else RACE_MINUTES
        rows.append(race.summarize(race.measure("state-of-the-union", minutes), minutes))
    print(tabulate(rows), describe_machine(rows), sep="\n\n")
    write_json(arguments.json, rows)


if __name__ == "__main__":
    main()
