"""Corpora on disk at growing sizes: building, learning in one pass, and the cost of a document.

    python -m tests.benchmarks.scale build --documents 100000 [--folder DIR] [--json FILE]
    python -m tests.benchmarks.scale learn --documents 100000 [--minutes 4] [--batch-size 1562
    --max-topics 300] python -m tests.benchmarks.scale compare --documents 100000 1000000 python -m
    tests.benchmarks.scale words [--documents 10000000 --batch-size 156250] python -m
    tests.benchmarks.scale models [--documents 1000000 --words 100000 --batch-size 62500]

The documents are those of `tests/benchmarks/zipf_texts.py`: about 60 tokens each, 100,000 words.
`build` simulates their texts and builds a corpus on disk from them; `learn` reads it once with the
HDP. Both stop when the minutes are over, and the next call continues there; "from" and "to" are
documents. `compare` takes the same steps from the first 100,000 documents in memory, the same on
disk, and the other corpora on disk, in turn. `words` takes two passes over each of several corpora
on disk, of 8,000 to 1,000,000 words and the same number of tokens, each pass in a process of its
own and the corpora in turn. Its rows are the whole passes with their start, and the steps of the
warm-up, later ones, and those that also search for redundant topics, without the first three steps.
By default a run of ten million documents has mini-batches of 156,250; their words repeat more than
those of smaller ones. Unless the options give other numbers, the HDP has mini-batches of 4,096
documents and at most 150 topics everywhere but in `models`, which learns from the documents of
large vocabularies with the default settings, for three seeds: what is learned, as means and
deviations. "Distance" is the mean total variation of the true topics from the learned topics that
are matched with them, one to one.

Every part runs in a separate process. "Peak" is the most memory that it held without mapped files
(RssAnon, read 50 times a second). Seconds of the processor leave out the time in which other
programs have the cores; they count both threads.
"""

import argparse
import json
import resource
import shutil
import time
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from stickbreaker.engine import (
    Checkpoint,
    RunSettings,
    WordChoices,
    build,
    find_algorithm,
    load_corpus,
    prepare,
    run,
)
from stickbreaker.engine.algorithm import Phase
from stickbreaker.engine.corpora.stored import store_corpus
from stickbreaker.engine.evaluation.coherence import measure_quality, sum_up
from stickbreaker.engine.evaluation.held_out import rank_topics
from stickbreaker.engine.executors import step
from stickbreaker.engine.files.whole_files import replacing
from stickbreaker.engine.runs import checkpoint
from stickbreaker.engine.runs.compile import compile_algorithm
from stickbreaker.engine.runs.prepared import prepare_training
from tests.benchmarks import zipf_texts
from tests.benchmarks.heldout import to_markdown
from tests.benchmarks.machine import best_seconds, watch_memory

HDP = find_algorithm("hdp")
CONFIG = HDP.config(batch_size=4096, max_topics=150)
SETTINGS = RunSettings(num_evaluations=1, num_moments=1, score_next_batch=False)
EVERY_WORD = WordChoices(min_documents=1, max_share=1.0, max_words=100_000)
IN_MEMORY, VOCAB_SIZE = 100_000, 100_000
VOCAB_SIZES = (8_000, 100_000, 1_000_000)
NUM_WARM, NUM_STEPS, ROUNDS = 3, 12, 2
KINDS = ("of the warm-up", "later", "with a search")
PASS, FIRST = "whole pass", "first"


class Clock(NamedTuple):
    """Seconds that have passed, and those of the processor in this process."""

    seconds: float
    processor: float

    @classmethod
    def now(cls):
        """The present readings."""
        used = resource.getrusage(resource.RUSAGE_SELF)
        return cls(time.perf_counter(), used.ru_utime + used.ru_stime)

    def since(self):
        """What has passed from this reading to now."""
        now = Clock.now()
        return Clock(now.seconds - self.seconds, now.processor - self.processor)


def in_process(function, *arguments):
    """Call a function in a process of its own; return its row and peak memory."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_watched, function, *arguments).result()


def _watched(function, *arguments):
    with watch_memory() as memory:
        rows = function(*arguments)
    peak = memory["peak"] / 1000
    return [{**row, "peak_gb": peak} for row in (rows if isinstance(rows, list) else [rows])]


def write_texts(path, num_documents):
    """Simulate texts."""
    with replacing(path) as file:
        zipf_texts.write_texts(file, zipf_texts.learn_model(VOCAB_SIZE), num_documents)
    return {"documents": num_documents}


class Stop(Exception):
    """The minutes are over."""


def build_corpus(path, folder, num_documents, minutes):
    """Build a corpus on disk until the minutes are over, from where the last call stopped."""
    began, shares = Clock.now(), []

    def note(share):
        shares.append(share)
        if began.since().seconds > 60 * minutes:
            raise Stop

    row = {
        "part": "build",
        "documents": num_documents,
        "words": None,
        "gigabytes": None,
        "open_ms": None,
    }
    try:
        corpus = build(path, to=folder, text="text", date="date", words=EVERY_WORD, callback=note)
    except Stop:
        took = began.since()
    else:
        took = began.since()
        row["open_ms"] = 1000 * best_seconds(lambda: load_corpus(folder))
        row["words"] = corpus.vocab_size
        row["gigabytes"] = sum(file.stat().st_size for file in folder.iterdir()) / 1e9
    first, last = (0 if shares[0] < 0.1 else shares[0]), shares[-1]
    return {
        **row,
        "from": round(first * num_documents),
        "to": round(last * num_documents),
        **took._asdict(),
    }


def learn(folder, batch_size, max_topics, minutes):
    """Learn from a corpus on disk until the minutes are over, from where the last call stopped."""
    config = replace(CONFIG, batch_size=batch_size, max_topics=max_topics)
    compile_algorithm(HDP, config)
    began, corpus, path = Clock.now(), load_corpus(folder), folder.with_suffix(".npz")
    resume = checkpoint.load(path) if path.exists() else None
    prepared = prepare(HDP, config, corpus, SETTINGS)
    prepared_in = began.since().seconds
    began, first = Clock.now(), 0 if resume is None else resume.documents_seen
    updates = run(prepared, resume=resume)
    update = next(updates)
    while not update.is_last and began.since().seconds < 60 * minutes:
        update = next(updates)
    took, last = began.since(), update.stepped
    if update.is_last:
        path.unlink(missing_ok=True)
    else:
        checkpoint.save(
            path, Checkpoint("hdp", prepared.config, SETTINGS, last.state, last.documents_seen, 0.0)
        )
    nats = update.held_out.nats_per_word if update.held_out else None
    row = {"part": "learn", "documents": corpus.num_documents, "S": batch_size, "K": max_topics}
    row |= {
        "prepare_seconds": prepared_in,
        "topics": len(rank_topics(last.state.expected_tokens)),
        "nats": nats,
    }
    return {**row, "from": first, "to": last.documents_seen, **took._asdict()}


def load_in_memory(folder):
    """The first documents of a corpus on disk, in memory."""
    corpus = load_corpus(folder)
    return corpus.select(np.arange(min(IN_MEMORY, corpus.num_documents))).load()


def take_steps(folder):
    """Take the same steps from corpora in memory and on disk, in turn; a row for each corpus."""
    names = {"memory": load_in_memory(folder[0])} | {
        f"disk, {path.name}": load_corpus(path) for path in folder
    }
    return time_steps(names, NUM_STEPS)


def draw_stored(folder, vocab_size, num_documents):
    """Draw the documents of a vocabulary, and store them."""
    corpus = zipf_texts.draw_corpus(zipf_texts.learn_model(vocab_size), num_documents)
    store_corpus(corpus, folder)
    return {"documents": num_documents}


def count_words(folder, batch_size):
    """Take all steps of a pass over a stored corpus; rows by kind of step and for the pass."""
    corpus = load_corpus(folder)
    return time_steps({folder.name: corpus}, None, batch_size, corpus.num_documents)


def sum_rounds(rows):
    """The sums of all rounds, by kind of step, with the highest peak."""
    groups = pd.DataFrame(rows).groupby(["corpus", "words", "steps"], sort=False)
    sums = groups.sum().assign(peak_gb=groups["peak_gb"].max()).reset_index().to_dict("records")
    return sorted(sums, key=lambda row: ((PASS, *KINDS).index(row["steps"]), row["words"]))


def name_kind(before, after):
    """What a step belongs to, by the states before and after it."""
    if before.phase == Phase.WARM_UP:
        return KINDS[0]
    return KINDS[1] if after.decided_at == before.decided_at else KINDS[2]


def time_steps(corpora, num_steps, batch_size=None, most_documents=IN_MEMORY):
    """Seconds of reading mini-batches and learning from them, by corpus and kind of step.

    The corpora take turns.

    Without a number of steps they take those of a pass, which has a row of its own.
    """
    config = replace(CONFIG, batch_size=batch_size or CONFIG.batch_size)
    compile_algorithm(HDP, config)
    states, taken, batches = {}, [], {}

    def note(name, steps, took, **sizes):
        taken.append(
            {
                "corpus": name,
                "words": corpora[name].vocab_size,
                "steps": steps,
                **sizes,
                **took._asdict(),
            }
        )

    for name, corpus in corpora.items():
        prepared = prepare_training(HDP, config, corpus.order("chronological"), SETTINGS)
        began = Clock.now()
        states[name] = HDP.init(prepared.config, corpus.vocab_size, np.random.default_rng([0, 0]))
        note(name, FIRST, began.since(), number=0, read=0, tokens=0, entries=0)
        batches[name] = (
            prepared.config,
            prepared.train,
            prepared.train.batches(prepared.config.batch_size),
        )
    most = min(
        -(-train.num_documents // config.batch_size) for config, train, _ in batches.values()
    )
    for number in range(most if num_steps is None else NUM_WARM + num_steps):
        for name, (config, train, stream) in batches.items():
            began = Clock.now()
            batch = next(stream)._replace(corpus_size=min(most_documents, train.num_documents))
            before = states[name]
            states[name], _ = step(HDP, config, before, batch)
            took, documents = began.since(), batch.documents
            kind = FIRST if number < NUM_WARM else name_kind(before, states[name])
            sizes = {"tokens": int(documents.counts.sum()), "entries": len(documents.words)}
            note(name, kind, took, number=1, read=documents.num_documents, **sizes)
    taken = pd.DataFrame(taken)
    kinds = taken[taken["steps"] != FIRST]
    rows = kinds if num_steps else pd.concat([taken.assign(steps=PASS), kinds])
    return (
        rows.groupby(["corpus", "words", "steps"], sort=False)
        .sum()
        .reset_index()
        .to_dict("records")
    )


def learn_models(vocab_size, num_documents, batch_size, seed):
    """What one pass with default settings learns, but for S if given."""
    model = zipf_texts.learn_model(vocab_size)
    corpus, settings = (
        zipf_texts.draw_corpus(model, num_documents),
        replace(SETTINGS, order="shuffled", seed=seed),
    )
    prepared = prepare(HDP, HDP.config(batch_size=batch_size), corpus, settings)
    compile_algorithm(HDP, prepared.config)
    began = Clock.now()
    # Only the last update is kept: each has a state.
    last = deque(run(prepared), maxlen=1)[0]
    took, summary = began.since(), HDP.summarize(prepared.config, last.stepped.state)
    used = rank_topics(summary.expected_tokens)
    topics, tokens = summary.topics[used], summary.expected_tokens[used]
    quality = sum_up(measure_quality(used, topics, tokens, corpus.counts))
    return {
        "words": vocab_size,
        "true topics": len(model.cumulative),
        "topics": len(used),
        "nats": last.held_out.nats_per_word,
        "NPMI": quality.weighted_npmi,
        "distance": measure_distance(model, topics),
        **took._asdict(),
    }


def measure_distance(model, topics):
    """Mean total variation of the true topics from their best matches (K, V)."""
    true = np.diff(model.cumulative, axis=1, prepend=0.0)
    distances = np.array([[0.5 * abs(each - topic).sum() for topic in topics] for each in true])
    return distances[linear_sum_assignment(distances)].mean()


def tabulate_models(rows):
    """The means over seeds, and their deviations."""
    grouped = pd.DataFrame(rows).groupby("words")
    means, deviations = grouped.mean(), grouped[["topics", "nats", "NPMI", "distance"]].std()
    return to_markdown(means.join(deviations.add_suffix(", deviation")).round(4).reset_index())


def tabulate(rows):
    """The rows as a table. Ratios are of processor time, to the first row of these steps."""
    frame = pd.DataFrame(rows)
    read = frame["to"] - frame["from"] if "to" in frame else frame["read"]
    frame["documents/s"] = (read / frame["seconds"]).round()
    frame["µs of processor"] = (1e6 * frame["processor"] / read).round(1)
    micros = frame["µs of processor"]
    first = (
        micros.groupby(frame["steps"]).transform("first") if "steps" in frame else micros.iloc[0]
    )
    frame["ratio"] = (micros / first).round(2)
    return to_markdown(frame.round(3).astype(object).where(frame.notna(), ""))


def main():
    """Read the command line, measure, print, and write JSON where asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("part", choices=("build", "learn", "compare", "words", "models"))
    parser.add_argument(
        "--documents", type=int, nargs="+", default=[100_000], help="also 1000000 and 10000000"
    )
    parser.add_argument("--folder", type=Path, default=Path("/tmp/stickbreaker-scale"))
    parser.add_argument(
        "--minutes", type=float, default=1_000.0, help="of building or learning, for each corpus"
    )
    parser.add_argument(
        "--words", type=int, nargs="+", default=VOCAB_SIZES, help="of `words` and `models`"
    )
    parser.add_argument("--batch-size", type=int, help="of `learn`, `words` and `models`")
    parser.add_argument("--max-topics", type=int, default=CONFIG.max_topics, help="of `learn`")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    arguments.folder.mkdir(exist_ok=True)
    folders = [arguments.folder / str(number) for number in arguments.documents]
    batch_size = arguments.batch_size or CONFIG.batch_size
    rows = []
    if arguments.part == "compare":
        rows = in_process(take_steps, folders)
    elif arguments.part == "words":
        number = arguments.documents[0]
        folders = [arguments.folder / f"{number}-{size}-words" for size in arguments.words]
        for size, folder in zip(arguments.words, folders, strict=True):
            if not folder.exists():
                in_process(draw_stored, folder, size, number)
        passes = [
            in_process(count_words, folder, batch_size) for _ in range(ROUNDS) for folder in folders
        ]
        rows = sum_rounds([row for each in passes for row in each])
    elif arguments.part == "models":
        for size, seed in product(arguments.words, range(3)):
            rows += in_process(
                learn_models, size, arguments.documents[0], arguments.batch_size, seed
            )
    elif arguments.part == "learn":
        for folder in folders:
            rows += in_process(learn, folder, batch_size, arguments.max_topics, arguments.minutes)
    else:
        for number, folder in zip(arguments.documents, folders, strict=True):
            texts = arguments.folder / f"{number}.parquet"
            if not texts.exists():
                in_process(write_texts, texts, number)
            shutil.rmtree(folder, ignore_errors=True)
            rows += in_process(build_corpus, texts, folder, number, arguments.minutes)
    print(tabulate_models(rows) if arguments.part == "models" else tabulate(rows))
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
