"""Routes to a number of topics that does not follow the limit K, compared on the same documents in one pass.

    python -m tests.benchmarks.births [--corpus NAME ...] [--routes NAME ...] [--limits K ...] [--seeds N]
                                      [--batch-size S] [--json FILE]

Real corpora are scored on validation documents, a tenth of the training documents; no test document takes part.
Simulated corpora have 10,000 documents (`topic_count`). A seed's runs alternate between the routes.

* start: `topic_creation="start"`, K topics at the start
* small start: at most 200 topics at the start and later
* warm-up: K topics, and a warm-up whose target has at most 200 topics in place of K
* births: `topic_creation="births"`, the default
"""

import argparse
from contextlib import contextmanager

import numpy as np
import pandas as pd

from stickbreaker.engine import RunSettings
from stickbreaker.engine.evaluation.coherence import measure_quality, sum_up
from stickbreaker.engine.evaluation.held_out import count_topics, rank_topics
from stickbreaker.engine.inference import warm_up
from stickbreaker.engine.inference.births import START_TOPICS
from stickbreaker.engine.inference.held_words import split_words
from stickbreaker.engine.runs.prepared import split_corpus
from tests.benchmarks import topic_count
from tests.benchmarks.contestants import Ours
from tests.benchmarks.corpora import divide
from tests.benchmarks.heldout import learn, score_both, to_markdown, to_matrix, write_json

# Corpus, order and number of documents.
REAL = {
    "state-of-the-union": ("state-of-the-union", "shuffled", None),
    "state-of-the-union, chronological": ("state-of-the-union", "chronological", None),
    "rfc": ("rfc", "shuffled", 20_000),
    "rfc-documents": ("rfc-documents", "shuffled", 4000),
    "rfc, all": ("rfc", "shuffled", None),
    "rfc, all, chronological": ("rfc", "chronological", None),
    "rfc-documents, all": ("rfc-documents", "shuffled", None),
    "rfc-documents, all, chronological": ("rfc-documents", "chronological", None),
}
CORPORA = (*REAL, "simulated-10x80", "simulated-40x80", "simulated-150x80")
ROUTES = ("start", "small start", "warm-up", "births")
LIMITS, SIMULATED_DOCUMENTS = (150, 300, 600, 1200), 10_000


@contextmanager
def warm_up_target(most):
    """The engine with a warm-up that asks for most^(1-p) topics in a document, where K is larger than `most`."""
    usual = warm_up.cool_to

    def cool_to(progress, temperature, pilot, narrow, expect_power, until_parted=False):
        size = narrow.topics.shape[1]
        # K^(1-p') = most^(1-p)
        changed = 1.0 - (1.0 - progress) * np.log(min(size, most)) / np.log(size) if size > 1 else progress
        return usual(changed, temperature, pilot, narrow, expect_power, until_parted)

    warm_up.cool_to = cool_to
    try:
        yield
    finally:
        warm_up.cool_to = usual


def divide_corpus(name, seed):
    """Training and validation documents, and the true number of topics where it is known."""
    if name not in REAL:
        corpus, simulation = topic_count.load(name, SIMULATED_DOCUMENTS, seed)
        train, validation = split_corpus(corpus, RunSettings(order="shuffled", seed=seed))
        return train, validation, count_topics(simulation.topic_words().sum(1).astype(float))
    corpus, order, documents = REAL[name]
    train, _ = divide(corpus, order, seed, documents, "document" if corpus == "rfc" else None)
    return *split_corpus(train, RunSettings(order=order, seed=0)), None


def enter(route, limit, train, seed, batch_size=None):
    """The HDP of a route, before its first mini-batch; S is that of the corpus unless given."""
    creation = "births" if route == "births" else "start"
    size = min(limit, START_TOPICS) if route == "small start" else limit
    return Ours("hdp", train, seed, max_topics=size, topic_creation=creation, batch_size=batch_size)


def measure(name, limits, routes, seed, batch_size):
    """A row for each limit and route."""
    train, validation, true_topics = divide_corpus(name, seed)
    held_out = split_words(validation.documents(), validation.doc_ids, seed)
    reference = to_matrix(train.documents(), train.vocab_size)
    rows = []
    for limit in limits:
        for route in routes:
            with warm_up_target(START_TOPICS if route == "warm-up" else np.inf):
                contestant = enter(route, limit, train, seed, batch_size)
                learn(contestant, train, seed)
            own, folded = score_both(contestant, held_out)
            tokens = contestant.state.expected_tokens
            used = rank_topics(tokens)
            quality = sum_up(measure_quality(used, contestant.topics()[used], tokens[used], reference))
            row = {"corpus": name, "seed": seed, "limit": limit, "route": route, "true_topics": true_topics}
            row |= {"topics": len(used), "own": own, "fold_in": folded, "npmi": quality.weighted_npmi}
            rows.append(row | {"seconds": contestant.seconds})
    return rows


def tabulate(rows):
    """A line for each corpus and route: topics, likelihood and time by limit, and NPMI."""
    frame = pd.DataFrame(rows)
    table = []
    for name in frame["corpus"].unique():
        of_corpus = frame[frame["corpus"] == name]
        usual = of_corpus[of_corpus["route"] == "start"].set_index(["seed", "limit"])["seconds"]
        for route in of_corpus["route"].unique():
            some = of_corpus[of_corpus["route"] == route]
            by_limit = some.groupby("limit")[["topics", "own"]].mean()
            spread = some.groupby("limit")["own"].std()
            ratios = some.set_index(["seed", "limit"])["seconds"] / usual
            median_ratios = ratios.groupby("limit").median()
            true_topics = some["true_topics"].astype(float).mean()
            table.append(
                {
                    "corpus": name,
                    "route": route,
                    "true number": "-" if np.isnan(true_topics) else round(true_topics, 1),
                    "topics": " / ".join(f"{value:.0f}" for value in by_limit["topics"]),
                    "own": " / ".join(f"{value:.3f}" for value in by_limit["own"]),
                    "deviation of own": " / ".join(f"{value:.3f}" for value in spread),
                    "NPMI, by tokens": round(some["npmi"].mean(), 3),
                    "seconds": " / ".join(f"{value:.2f}" for value in some.groupby("limit")["seconds"].median()),
                    "time": "-" if usual.empty else " / ".join(f"{value:.2f}" for value in median_ratios),
                }
            )
    return pd.DataFrame(table)


def main():
    """Read the command line, measure, print, and write JSON where asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", nargs="+", choices=CORPORA, default=CORPORA)
    parser.add_argument("--routes", nargs="+", choices=ROUTES, default=ROUTES)
    parser.add_argument("--limits", nargs="+", type=int, default=LIMITS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--batch-size", type=int, help="that of the corpus unless given")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    rows = []
    for name in arguments.corpus:
        for seed in range(arguments.seeds):
            rows += measure(name, arguments.limits, arguments.routes, seed, arguments.batch_size)
    print(to_markdown(tabulate(rows)))
    write_json(arguments.json, rows)


if __name__ == "__main__":
    main()
