"""Every system of the papers with its paper's settings: all protocols that apply, topics, seconds, peak memory.

    python -m tests.benchmarks.systems --corpus state-of-the-union --seeds 3 [--json FILE] [--systems NAME ...]

Each run is a process of its own, so that its peak memory is its own too (the corpus and the compiled code are in it).
`within_documents` is a second run, which learns from nine tenths of each training document's tokens. Wang's and SVI's
settings are those of their papers; what a paper leaves open is the default.
"""

import argparse
import json
import resource
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd

from engine import RunSettings, find_algorithm, load_corpus, run
from engine.compile import compile_algorithm
from engine.corpus import ORDERS
from engine.evaluation import count_topics, fold_in, perplexity_bound, score, split_tokens, split_words
from engine.events import Evaluated
from engine.executors import map_shards
from engine.run import split_corpus
from engine.schedules import settle
from tests.benchmarks.heldout import WANG, to_markdown, to_matrix

# Name here, of the registry, settings, and passes where not the algorithm's own.
SYSTEMS = {
    "hdp": ("hdp", {}, None),
    "hdp-wang": ("hdp", WANG | {"delay": 64.0, "batch_size": 256}, None),
    "svi-hdp": ("svi-hdp", {}, None),
    "batch-hdp": ("batch-hdp", {}, None),
    "direct-hdp": ("direct-hdp", {}, None),
    "lda K=100": ("lda", {"delay": 64.0, "batch_size": 256}, None),
    "batch-lda K=100": ("batch-lda", {}, None),
    "free-dp-mixture": ("free-dp-mixture", {}, None),
    "free-hdp": ("free-hdp", {}, None),
    "cv-hdp": ("cv-hdp", {}, None),
    "cv-lda K=80": ("cv-lda", {}, None),
    "gibbs-hdp from 1": ("gibbs-hdp", {"initial_topics": 1}, None),
    "gibbs-hdp from 100": ("gibbs-hdp", {}, None),
    "gibbs-lda K=100": ("gibbs-lda", {}, None),
}


@cache
def load(name, documents, seed):
    """The corpus, or at most so many of its documents, drawn by the seed."""
    corpus = load_corpus(name)
    if documents is None or documents >= corpus.num_documents:
        return corpus
    return corpus.select(np.sort(np.random.default_rng(seed).choice(corpus.num_documents, documents, replace=False)))


class Fitted:
    """A system after its run: its topics, the Dirichlet prior of a document over them, and its own inference."""

    def __init__(self, system, corpus, settings):
        name, own, passes = SYSTEMS[system]
        self.algorithm = find_algorithm(name)
        settings = replace(settings, passes=passes, num_evaluations=0, num_snapshots=0)
        train, _ = split_corpus(corpus, settings)
        self.config = settle(self.algorithm.config(**own), train.num_documents, train.num_tokens)
        compile_algorithm(self.algorithm, self.config)
        self.ahead = []
        # Of the others none is kept: each holds a state, which may be large.
        for event in run(self.algorithm, self.config, corpus, settings):
            if isinstance(event, Evaluated):
                self.ahead.append(event)
        self.finished = event
        self.passes = self.finished.documents_seen / train.num_documents
        self.summary = self.algorithm.summarize(self.config, self.finished.state)

    def prior(self):
        """α₀ E[β] (K,), α₀ = 1 where it has a posterior; of LDA α, since its weights are shares of tokens."""
        weights = self.summary.weights
        if self.algorithm.name.endswith("lda"):
            weights = np.full(len(weights), 1.0 / len(weights))
        return getattr(self.config, "doc_concentration", 1.0) * weights

    def score(self, split):
        """Nats per held-out token by the system's own inference and by the common fold-in."""
        shares = np.concatenate(
            map_shards(lambda part: self.algorithm.infer(self.config, self.finished.state, part), split.observed)
        )
        folded = fold_in(split.observed, self.summary.topics, self.prior())
        return tuple(score(split, each, self.summary.topics) for each in (shares, folded))

    def score_ahead(self):
        """Nats per held-out token of each mini-batch but the first, before it was learned from; None without any."""
        later = self.ahead[1:]
        total = sum(event.num_tokens for event in later)
        return sum(event.nats_per_word * event.num_tokens for event in later) / total if total else None


def measure(system, corpus_name, documents, order, seed):
    """Rows of one run: every protocol, with the facts of the run."""
    corpus, settings = load(corpus_name, documents, seed), RunSettings(order=order, seed=seed)
    train, test = split_corpus(corpus, settings)
    fitted = Fitted(system, corpus, settings)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    read = test.documents()
    found = {
        "disjoint_words": fitted.score(split_words(read, test.doc_ids, seed)),
        "tokens_90_10": fitted.score(split_tokens(read, test.doc_ids, seed)),
        "perplexity_bound": (None, perplexity_bound(read, fitted.summary.topics, fitted.prior())),
        "next_batch": (fitted.score_ahead(), None),
    }
    facts = {
        "corpus": corpus_name,
        "documents": train.num_documents,
        "order": order,
        "system": system,
        "seed": seed,
        "setting": getattr(fitted.config, "max_topics", None),
        "batch_size": getattr(fitted.config, "batch_size", train.num_documents),
        "passes": fitted.passes,
        "topics": count_topics(fitted.summary.expected_tokens),
        "seconds": fitted.finished.seconds,
        "peak_mb": peak,
    }
    return tell(found, facts)


def measure_within(system, corpus_name, documents, order, seed):
    """Rows of `within_documents`: learn from nine tenths of each training document's tokens, predict the last tenth."""
    corpus, settings = load(corpus_name, documents, seed), RunSettings(order=order, seed=seed, score_next_batch=False)
    corpus = corpus.select(corpus.counts.sum(1) >= 2)
    kept = split_tokens(corpus.documents(), corpus.doc_ids, seed).observed
    fitted = Fitted(system, replace(corpus, counts=to_matrix(kept, corpus.vocab_size)), settings)
    train, _ = split_corpus(corpus, settings)
    found = {"within_documents": fitted.score(split_tokens(train.documents(), train.doc_ids, seed))}
    return tell(found, {"corpus": corpus_name, "order": order, "system": system, "seed": seed})


def tell(found, facts):
    """A row for each protocol and predictive that there is."""
    return [
        {**facts, "protocol": protocol, "predictive": predictive, "nats_per_word": float(nats)}
        for protocol, scores in found.items()
        for predictive, nats in zip(("own", "fold_in"), scores, strict=True)
        if nats is not None
    ]


def measure_all(arguments):
    """Rows of every system and seed, each run in a process of its own."""
    tasks = []
    with ProcessPoolExecutor(arguments.jobs, max_tasks_per_child=1) as pool:
        for seed in range(arguments.seeds):
            for system in arguments.systems:
                run_of = (system, arguments.corpus, arguments.documents, arguments.order, seed)
                tasks += [pool.submit(each, *run_of) for each in (measure, measure_within)]
        return [row for task in tasks for row in task.result()]


def tabulate(rows):
    """Mean ± standard deviation over seeds, a line a system, a column a protocol and predictive."""
    frame = pd.DataFrame(rows)
    frame["column"] = frame["protocol"] + " " + frame["predictive"]
    found = frame.groupby(["system", "column"], sort=False)["nats_per_word"].agg(["mean", "std"])
    cells = found.apply(lambda cell: f"{cell['mean']:.3f} ± {cell['std']:.3f}", axis=1).unstack("column", sort=False)
    facts = frame.dropna(subset="topics").drop_duplicates(["system", "seed"]).groupby("system", sort=False)
    return cells.join(facts[["passes", "topics", "seconds", "peak_mb"]].mean().round(1)).fillna("-").reset_index()


def read_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default="state-of-the-union")
    parser.add_argument("--documents", type=int, help="at most so many of the corpus, drawn by the seed")
    parser.add_argument("--order", choices=ORDERS, default="shuffled")
    parser.add_argument("--systems", nargs="+", choices=tuple(SYSTEMS), default=tuple(SYSTEMS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1, help="processes; more than one makes the seconds unfit to quote")
    parser.add_argument("--json", help="where to write the rows")
    return parser.parse_args()


def main():
    """Read the command line, measure, print, and write JSON where asked for."""
    arguments = read_arguments()
    rows = measure_all(arguments)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    print(to_markdown(tabulate(rows)))


if __name__ == "__main__":
    main()
