"""When a Dask cluster pays: the cost of a step without the work that is divided, its traffic, and
both together.

    python -m tests.benchmarks.cluster [--sizes 1024 4096 16384] [--words 100000] [--workers 2]
    [--json FILE]

The online HDP with 150 topics on the documents of `tests/benchmarks/zipf_texts.py`, about 60 tokens
each, in 16 shards for each mini-batch of S documents. A pass has twelve mini-batches; the step is
the first one after the warm-up. An idle machine is needed. For each S, medians of milliseconds:

* here: a step in this process, on the threads of this machine
* local step: its part that a cluster divides, likewise
* empty: a step on worker processes of this machine whose local step returns the statistics of an
  earlier call
* processes: a step on these worker processes

Megabytes are those of the pickled tasks and results. The columns with Gb/s are computed, not
measured, for machines like this one: empty + local step / machines + megabytes / bandwidth of the
driver. The empty step contains the traffic between processes of one machine, so they are rather too
high. A cluster pays from the smallest S of the table from which on its column stays below "here".
"""

import argparse
import json
import pickle
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from stickbreaker.engine import RunSettings, find_algorithm, store_corpus
from stickbreaker.engine.algorithm import Phase
from stickbreaker.engine.executors import map_shards
from stickbreaker.engine.executors import step as take_step
from stickbreaker.engine.runs.compile import compile_algorithm
from stickbreaker.engine.runs.prepared import prepare_training
from stickbreaker.engine.runs.remote_steps import LocalStep, RemoteSteps
from tests.benchmarks import zipf_texts
from tests.benchmarks.heldout import to_markdown

HDP = find_algorithm("hdp")
MAX_TOPICS, NUM_SHARDS = 150, 16
SIZES = (1_024, 4_096, 16_384)
# Mini-batches of a corpus, and calls that are timed.
NUM_BATCHES, NUM_STEPS = 12, 7
NUM_MACHINES = 8
GIGABITS = (10, 1)
_known = {}


def recall_local(config, expectations, documents, rng=None):
    """The local step of the HDP, computed once for these documents in this process."""
    key = documents.num_documents, documents.num_tokens, int(documents.words.sum())
    if key not in _known:
        _known[key] = HDP.local(config, expectations, documents, rng)
    return _known[key]


def time_step(take, number=NUM_STEPS):
    """The median milliseconds of some calls."""
    seconds = []
    for _ in range(number):
        began = time.perf_counter()
        take()
        seconds.append(time.perf_counter() - began)
    return 1000 * median(seconds)


def measure(client, corpus, size):
    """A row for this size: the first step after the warm-up is taken again and again."""
    corpus = corpus.select(np.arange(NUM_BATCHES * size))
    settings = RunSettings(score_next_batch=False, num_shards=NUM_SHARDS)
    prepared = prepare_training(
        HDP, HDP.config(batch_size=size, max_topics=MAX_TOPICS), corpus, settings
    )
    config, train = prepared.config, prepared.train
    state = HDP.init(config, train.vocab_size, np.random.default_rng([0, 0]))
    first = 0
    for batch in train.batches(size):
        state, info = take_step(HDP, config, state, batch, None, NUM_SHARDS)
        if info.phase is not Phase.WARM_UP:
            break
        first += size
    learned = HDP.learned(config, state, batch)
    positions = first + np.flatnonzero(np.isin(batch.doc_ids, learned.doc_ids))
    expectations = HDP.expect(config, state, learned)
    algorithms = (HDP, replace(HDP, local=recall_local))
    remote, empty = (RemoteSteps(client, replace(prepared, algorithm=each)) for each in algorithms)
    tasks, _ = remote.divide(expectations, learned, positions, NUM_SHARDS)
    results = [LocalStep(algorithm=HDP, config=config)(task) for task in tasks]

    def take(steps):
        return lambda: steps.step(config, state, batch, first, NUM_SHARDS)

    # The workers compile and compute their first statistics in steps that do not count.
    for steps in (remote, empty):
        time_step(take(steps), NUM_STEPS)
    return {
        "S": size,
        "phase": str(info.phase),
        "here": time_step(lambda: take_step(HDP, config, state, batch, None, NUM_SHARDS)),
        "local": time_step(
            lambda: map_shards(
                lambda part: HDP.local(config, expectations, part, None),
                batch.documents,
                NUM_SHARDS,
            )
        ),
        "empty": time_step(take(empty)),
        "processes": time_step(take(remote)),
        "megabytes": sum(len(pickle.dumps(each, 5)) for each in (*tasks, *results)) / 1e6,
    }


def compute(row, gigabits, num_machines=NUM_MACHINES):
    """Milliseconds of a step on machines like this one, whose driver has this bandwidth.

    >>> compute({"empty": 20.0, "local": 80.0, "megabytes": 12.5}, 1)
    130.0
    """
    return row["empty"] + row["local"] / num_machines + 8 * row["megabytes"] / gigabits


def find_break_even(rows, column):
    """The smallest S from which on a column stays below "here".

    None if it is not below at the largest S.

    >>> rows = [{"S": 1, "here": 2, "x": 1}, {"S": 4, "here": 2, "x": 3}, {"S": 9, "here": 9, "x":
    ...     3}]
    >>> find_break_even(rows, "x"), find_break_even(rows[:2], "x")
    (9, None)
    """
    found = None
    for row in sorted(rows, key=lambda row: row["S"], reverse=True):
        if row[column] >= row["here"]:
            break
        found = row["S"]
    return found


def tabulate(rows):
    """The table, and a line for each kind of cluster."""
    names = {f"{NUM_MACHINES} machines, {gigabits} Gb/s": gigabits for gigabits in GIGABITS}
    rows = [
        {**row, **{name: compute(row, gigabits) for name, gigabits in names.items()}}
        for row in rows
    ]
    lines = []
    for column in ("processes", *names):
        size = find_break_even(rows, column)
        largest = max(row["S"] for row in rows)
        lines.append(
            f"{column}: "
            + (f"pays from S = {size:,}" if size else f"does not pay up to S = {largest:,}")
        )
    return to_markdown(pd.DataFrame(rows).round(1)) + "\n\n" + "\n".join(lines)


def main():
    """Read the command line, measure, print, and write JSON where asked for."""
    from distributed import Client, LocalCluster

    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--words", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=2, help="processes, with a thread each")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    compile_algorithm(HDP, HDP.config(max_topics=MAX_TOPICS))
    with (
        TemporaryDirectory() as folder,
        LocalCluster(
            n_workers=arguments.workers, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        drawn = zipf_texts.draw_corpus(
            zipf_texts.learn_model(arguments.words), NUM_BATCHES * max(arguments.sizes)
        )
        corpus = store_corpus(drawn, Path(folder) / "corpus")
        rows = [measure(client, corpus, size) for size in arguments.sizes]
    print(tabulate(rows))
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
