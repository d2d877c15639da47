"""The HDP of Wang 2011 as printed, and with one change at a time: held-out score, topics, and the
bound of Eq. 14.

    python -m tests.benchmarks.printed [--corpus rfc] [--documents NUMBER] [--systems NAME ...]
    [--json FILE]

One pass with κ = .6, τ₀ = 64, S = 256 and K = 150, scored after 16, 32, 64, ... steps and at the
end by `tokens_90_10` with the fold-in, the metric of the paper. Eq. 14 is in nats per training
token, after one coordinate update of all factors (Eq. 15-21) from the last state over the first
20,000 training documents, with exp E[log topic]; documents start with equal slots, or with a topic
for each slot.
"""

import argparse
import time
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from stickbreaker.engine import RunSettings, find_algorithm, run
from stickbreaker.engine.algorithm import Batch, Phase
from stickbreaker.engine.algorithms import batch_hdp
from stickbreaker.engine.executors import step as take_step
from stickbreaker.engine.inference.slot_step import fit_slots, limits_of
from stickbreaker.engine.runs.cells import score_further
from stickbreaker.engine.runs.prepared import prepare_training
from tests.benchmarks.corpora import divide
from tests.benchmarks.heldout import WANG, WANG_AS_RUN, to_markdown, write_json

SCHEDULE = {"max_topics": 150, "delay": 64.0, "batch_size": 256}
PRINTED = WANG | SCHEDULE
HDP = find_algorithm("hdp")
FIRST_SCORED, MOST_BOUNDED = 16, 20_000
SEED = 0


def start_on_topics(config, expectations, documents, rng=None):
    """The local step as printed, but that each slot starts on a topic of its own."""
    limits = limits_of(config)._replace(is_uniform_start=False)
    return fit_slots(documents, expectations, limits, is_learning=True)[0]


ON_TOPICS = replace(HDP, local=start_on_topics)
SYSTEMS = {
    "as printed": (HDP, PRINTED),
    "slots start on topics": (ON_TOPICS, PRINTED),
    "without priors at first, as its authors ran it": (HDP, WANG_AS_RUN | SCHEDULE),
    "E[topic] for exp E[log topic]": (HDP, PRINTED | {"topic_expectation": "mean"}),
    "both: on topics, E[topic]": (ON_TOPICS, PRINTED | {"topic_expectation": "mean"}),
    "warm-up, and slots start on topics": (
        HDP,
        PRINTED | {"start": "warm", "later_passes": "forget"},
    ),
    "redundant topics are removed": (HDP, PRINTED | {"duplicates": "merge"}),
    "ours": (HDP, SCHEDULE),
    "LDA": (find_algorithm("lda"), {"max_topics": 150, "delay": 64.0, "batch_size": 256}),
}


def bound(state, train, start):
    """Eq. 14 in nats per token of the first documents, after one update from `start`."""
    train = train.select(np.arange(min(MOST_BOUNDED, train.num_documents)))
    known = {"max_topics": len(state.tables), "topic_expectation": "geometric", "start": start}
    config = find_algorithm("batch-hdp").config(**known)
    first = batch_hdp.init(config, train.vocab_size, np.random.default_rng(0))
    first = first._replace(
        topic_counts=state.topic_counts,
        tables=state.tables,
        order=np.argsort(-state.tables),
        phase=Phase.TWO_LEVEL,
    )
    batch = Batch(
        doc_ids=train.doc_ids, documents=train.documents(), corpus_size=train.num_documents
    )
    return take_step(find_algorithm("batch-hdp"), config, first, batch)[1].bound


def measure(name, train, test):
    """The rows of one system: after some steps, and with the bound after the last."""
    algorithm, values = SYSTEMS[name]
    settings = RunSettings(
        order="chronological", passes=1, seed=SEED, num_moments=0, score_next_batch=False
    )
    prepared = replace(
        prepare_training(algorithm, algorithm.config(**values), train, settings), test=test
    )
    rows, began, seconds = [], time.process_time(), 0.0
    for update in run(prepared):
        number = update.stepped.info.step
        if not update.is_last and (number < FIRST_SCORED or number & (number - 1)):
            continue
        seconds += time.process_time() - began
        nats = score_further("tokens_90_10", prepared, update.state)["fold_in"]
        row = {
            "system": name,
            "step": number,
            "held out": nats,
            "topics": update.stepped.num_topics,
        }
        if update.is_last and algorithm.stick is not None:
            find = partial(bound, update.state, train)
            row |= {"Eq. 14, equal slots": find("wang"), "Eq. 14, slots on topics": find("warm")}
        rows.append(row | {"seconds": round(seconds, 1)})
        began = time.process_time()
    return rows


def main(arguments=None):
    """Read the command line, measure, print, and write JSON where asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--corpus", default="rfc")
    parser.add_argument(
        "--documents", type=int, help="number of documents, drawn at random (default: all)"
    )
    parser.add_argument(
        "--systems", nargs="+", default=list(SYSTEMS), choices=SYSTEMS, metavar="NAME"
    )
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args(arguments)
    train, test = divide(arguments.corpus, "shuffled", SEED, arguments.documents)
    rows = []
    for name in arguments.systems:
        rows += measure(name, train, test)
        print(rows[-1], flush=True)
        write_json(arguments.json, rows)
    print(to_markdown(pd.DataFrame(rows).round(3).astype(object).fillna("")))


if __name__ == "__main__":
    main()
