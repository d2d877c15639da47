"""Where the time of one run goes.

    python -m tests.benchmarks.profile [--corpus NAME] [--json FILE]

A run with all its scores goes as on the page, with the defaults except for the order, which is
shuffled. The clock is read where an algorithm's functions begin and end, and around held-out scores
and moments: expectations are `expect`, the local step is the time between it and `blend`, with
its shards on threads, and the global step is `blend`. The rest of the time is the driver's.

The parts of a compiled local step follow from differences, on batches that are learned from once
more with the learned topics. Dirichlet sweeps alone, without statistics, take `load` + one sweep,
`load` + two of the same size, and `load` + all of them, which gives `load` (gathering words) and
the sweeps. A joint iteration is half of what the whole step loses when it stops after the first of
three; the first itself is a little cheaper, which this ignores. The rest of the whole is choosing
topics and writing statistics. These shares are then applied to the seconds of the run.
"""

import argparse
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import islice
from unittest.mock import patch

import pandas as pd

from stickbreaker.engine import RunSettings, find_algorithm, load_corpus, prepare, run
from stickbreaker.engine.executors import map_shards
from stickbreaker.engine.inference import slot_step
from stickbreaker.engine.inference.dirichlet_step import fit_documents
from stickbreaker.engine.runs.compile import compile_algorithm
from stickbreaker.engine.runs.run import _Run
from tests.benchmarks.heldout import to_markdown, write_json
from tests.benchmarks.machine import best_in_turn

NUM_BATCHES, NUM_ROUNDS = 4, 30


class Clock:
    """An algorithm that measures how long its expectations, local steps and global steps take."""

    def __init__(self, algorithm):
        self.seconds, self.algorithm = Counter(), algorithm
        self.timed = replace(algorithm, expect=self.expect, blend=self.blend)

    def expect(self, config, state, batch):
        """As the algorithm's; the local step begins when it ends."""
        began = time.perf_counter()
        expectations = self.algorithm.expect(config, state, batch)
        self.local_began, self.phase = time.perf_counter(), expectations.phase
        self.seconds["expectations"] += self.local_began - began
        return expectations

    def blend(self, config, state, statistics, batch):
        """As the algorithm's; the local step has ended."""
        began = time.perf_counter()
        self.seconds[f"local step, {self.phase}"] += began - self.local_began
        found = self.algorithm.blend(config, state, statistics, batch)
        self.seconds["global step"] += time.perf_counter() - began
        return found


SCORING = {
    "_score_ahead": "held-out scores, next_batch",
    "_evaluate": "held-out scores, disjoint_words",
    "_summarize": "moments",
}


def profile_run(prepared):
    """Seconds of each part of a run, and its last state."""
    clock = Clock(prepared.algorithm)
    began = time.perf_counter()
    with ExitStack() as stack:
        for name, part in SCORING.items():
            stack.enter_context(
                patch.object(_Run, name, time_part(getattr(_Run, name), clock.seconds, part))
            )
        for update in run(replace(prepared, algorithm=clock.timed)):
            last = update
    whole = time.perf_counter() - began
    return clock.seconds + Counter({"driver": whole - sum(clock.seconds.values())}), last.state


def time_part(method, seconds, part):
    """The method of a run, with its seconds added to a part."""

    def timed(*arguments):
        began = time.perf_counter()
        found = method(*arguments)
        seconds[part] += time.perf_counter() - began
        return found

    return timed


def split_local_step(algorithm, config, state, train):
    """Shares of the parts of a local step in the state's phase."""
    batches = list(islice(train.batches(config.batch_size), NUM_BATCHES))
    tasks = [(algorithm.expect(config, state, batch), batch.documents) for batch in batches]
    num_iterations = slot_step.MAX_ITERATIONS[config.start]
    one, two, sweeps, whole, cut = best_in_turn(
        [partial(sweep, tasks, most) for most in (1, 2, slot_step.START_ITERATIONS.most)]
        + [partial(iterate, algorithm, config, tasks, number) for number in (num_iterations, 1)],
        NUM_ROUNDS,
    )
    load, joint = 2 * one - two, (whole - cut) * num_iterations / (num_iterations - 1)
    seconds = {
        "gathering words": load,
        "Dirichlet sweeps": sweeps - load,
        "joint iterations": joint,
    }
    seconds["choosing topics, statistics"] = whole - sum(seconds.values())
    # A difference of two times may be negative.
    total = sum(max(0.0, value) for value in seconds.values())
    return {part: max(0.0, value) / total for part, value in seconds.items()}


def sweep(tasks, most):
    """Take this number of sweeps over the documents of the tasks."""
    sweeps = slot_step.START_ITERATIONS._replace(most=most)
    for expectations, documents in tasks:
        map_shards(
            lambda part, read=expectations: fit_documents(part, read, sweeps, False), documents
        )


def iterate(algorithm, config, tasks, number):
    """Take the whole local step with this number of joint iterations."""
    with (
        patch.object(
            slot_step, "MAX_ITERATIONS", {**slot_step.MAX_ITERATIONS, config.start: number}
        ),
        patch.object(slot_step, "TOLERANCE", 0.0),
    ):
        for expectations, documents in tasks:
            map_shards(
                lambda part, read=expectations: algorithm.local(config, read, part, None), documents
            )


def measure(corpus_name):
    """Rows of parts with their seconds and shares of the run."""
    algorithm, settings = find_algorithm("hdp"), RunSettings(order="shuffled")
    corpus = load_corpus(corpus_name)
    prepared = prepare(algorithm, algorithm.config(), corpus, settings)
    compile_algorithm(algorithm, prepared.config)
    seconds, state = profile_run(prepared)
    shares = split_local_step(algorithm, prepared.config, state, prepared.train)
    two_level = seconds.pop(f"local step, {state.phase}")
    seconds.update({f"{state.phase}: {part}": share * two_level for part, share in shares.items()})
    whole = sum(seconds.values())
    return [
        {"corpus": corpus_name, "part": part, "seconds": value, "share": value / whole}
        for part, value in seconds.most_common()
    ]


def main():
    """Read the command line, measure, print, and write JSON where asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--corpus", default="state-of-the-union")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    rows = measure(arguments.corpus)
    frame = pd.DataFrame(rows)
    frame["seconds"], frame["share"] = (
        frame["seconds"].round(3),
        frame["share"].map("{:.1%}".format),
    )
    print(to_markdown(frame))
    write_json(arguments.json, rows)


if __name__ == "__main__":
    main()
