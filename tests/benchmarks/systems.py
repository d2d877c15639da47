"""Every system of the papers with its paper's settings: all protocols that apply, topics, processor
time, peak memory.

    python -m tests.benchmarks.systems --corpus state-of-the-union --seeds 3 [--json FILE]
    [--systems NAME ...]

Each system is a process of its own, so that its peak memory is its own too (corpus and compiled
code are in it). `within_documents` is a second run, which learns from nine tenths of each training
document's tokens; a sampler predicts by the mean over its samples (Teh 2007 Eq. 17). Settings are
those of the papers where the name says so or the algorithm is one paper's own; what a paper leaves
open is the default. Rows are written as runs finish.
"""

import argparse
import inspect
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import numpy as np
import pandas as pd

from stickbreaker.engine import RunSettings, find_algorithm, run
from stickbreaker.engine.algorithm import InfersBy
from stickbreaker.engine.corpora.corpus import ORDERS
from stickbreaker.engine.evaluation.held_out import (
    count_topics,
    fold_in,
    importance_sampling,
    mixture_likelihood,
    perplexity_bound,
    score,
)
from stickbreaker.engine.executors import map_shards
from stickbreaker.engine.inference.gibbs import is_sample
from stickbreaker.engine.inference.held_words import split_tokens, split_words
from stickbreaker.engine.runs.compile import compile_algorithm
from stickbreaker.engine.runs.prepared import prepare_training
from tests.benchmarks.corpora import divide
from tests.benchmarks.heldout import WANG, WANG_AS_RUN, to_markdown, to_matrix, write_json

SCHEDULE = {"delay": 64.0, "batch_size": 256}
BATCH_WANG = {"start": "wang", "topic_expectation": "geometric"}
# Teh 2007 sec. 4: his β, of all words together, and his α of LDA, of all topics together.
WORD_TOTAL, TEH_LDA = 100.0, {"doc_concentration": 0.1, "max_topics": 80}
# Name here, of the registry, and settings.
SYSTEMS = {
    "hdp": ("hdp", {}),
    "hdp-wang, as printed": ("hdp", WANG | SCHEDULE),
    "hdp-wang, as its authors ran it": ("hdp", WANG_AS_RUN | SCHEDULE),
    "svi-hdp": ("svi-hdp", {}),
    "batch-hdp": ("batch-hdp", {}),
    "batch-hdp-wang, as printed": ("batch-hdp", BATCH_WANG),
    "direct-hdp": ("direct-hdp", {}),
    "lda K=100": ("lda", SCHEDULE),
    "batch-lda K=100": ("batch-lda", {}),
    "batch-lda-teh K=80": ("batch-lda", TEH_LDA),
    "free-dp-mixture": ("free-dp-mixture", {}),
    "dp-mixture": ("dp-mixture", {}),
    "batch-dp-mixture": ("batch-dp-mixture", {}),
    "free-hdp": ("free-hdp", {}),
    "cv-hdp": ("cv-hdp", {}),
    "cv-lda K=80": ("cv-lda", {}),
    "gibbs-hdp from 1": ("gibbs-hdp", {"initial_topics": 1}),
    "gibbs-hdp from 100": ("gibbs-hdp", {}),
    "gibbs-lda K=80": ("gibbs-lda", TEH_LDA),
}


def set_words(system, vocab_size):
    """Teh's weight of a word, for those of his systems that do not have it by default."""
    of_teh = system.startswith("gibbs") or "teh" in system
    return {"word_concentration": WORD_TOTAL / vocab_size} if of_teh else {}


def document_concentration(config, state):
    """α₀ in total: what the run has found, else what it was set to, else 1."""
    if hasattr(state, "alpha"):
        return state.alpha.mean()
    return getattr(state, "doc_concentration", getattr(config, "doc_concentration", 1.0))


class Fitted:
    """A system after its run: its topics, the Dirichlet prior of a document over them, and its own
    inference.

    known: a Split of the training documents' words, of which samplers predict those held out at
    each sample.
    """

    def __init__(self, system, train, settings, known=None):
        name, own = SYSTEMS[system]
        self.algorithm = find_algorithm(name)
        own = own | set_words(system, train.vocab_size)
        settings = replace(settings, num_moments=0)
        prepared = prepare_training(self.algorithm, self.algorithm.config(**own), train, settings)
        self.config = prepared.config
        compile_algorithm(self.algorithm, self.config)
        self.ahead, self.predictions = [], []
        predict = getattr(inspect.getmodule(self.algorithm.infer), "predict_words", None)
        began = time.process_time()
        # No update but the last is kept: each holds a state, which may be large.
        for update in run(prepared):
            if update.next_batch is not None:
                self.ahead.append(update.next_batch)
            if known and predict and is_sample(self.config, update.stepped.info.step):
                self.predictions.append(predict(self.config, update.state, known.rows, known.words))
        processor_seconds = time.process_time() - began
        self.finished = event = update.stepped
        self.facts = {
            "split": train.split_by,
            "documents": train.num_documents,
            "forgetting_rate": getattr(self.config, "forgetting_rate", None),
            "delay": getattr(self.config, "delay", None),
            "setting": getattr(self.config, "max_topics", None),
            "batch_size": getattr(self.config, "batch_size", train.num_documents),
            "passes": event.documents_seen / train.num_documents,
            "processor_seconds": processor_seconds,
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
        self.summary = self.algorithm.summarize(self.config, event.state)
        self.facts["topics"] = count_topics(self.summary.expected_tokens)

    def prior(self):
        """α₀ E[β] (K,); of LDA α, since its weights are shares of tokens."""
        weights = self.summary.weights
        if not self.algorithm.has_corpus_weights:
            weights = np.full(len(weights), 1.0 / len(weights))
        return document_concentration(self.config, self.finished.state) * weights

    def score(self, split):
        """Nats per held-out token by the system's own inference and by the common fold-in."""
        shares = np.concatenate(
            map_shards(
                lambda part: self.algorithm.infer(self.config, self.finished.state, part),
                split.observed,
            )
        )
        folded = fold_in(split.observed, self.summary.topics, self.prior())
        return tuple(score(split, each, self.summary.topics) for each in (shares, folded))

    def score_known(self, split):
        """As `score`; a sampler's own is a mean over samples, of documents that it knows."""
        own, folded = self.score(split)
        if self.predictions:
            own = float(
                (split.counts * np.log(np.mean(self.predictions, 0))).sum() / split.num_tokens
            )
        return own, folded

    def score_whole(self, documents, seed):
        """Log likelihood a token of whole documents: in closed form or by importance sampling."""
        if self.algorithm.infers_by is InfersBy.MIXTURE:
            return mixture_likelihood(documents, self.summary.topics, self.summary.weights)
        return importance_sampling(
            documents, self.summary.topics, self.prior(), np.random.default_rng([seed, 1])
        )

    def score_ahead(self):
        """Nats per held-out token of each mini-batch but the first, before it was learned."""
        later = self.ahead[1:]
        total = sum(event.num_tokens for event in later)
        return (
            sum(event.nats_per_word * event.num_tokens for event in later) / total
            if total
            else None
        )


def measure(system, corpus_name, documents, order, seed):
    """Rows of one run: every protocol but `within_documents`, with the facts of the run."""
    train, test = divide(corpus_name, order, seed, documents)
    fitted = Fitted(system, train, RunSettings(order=order, seed=seed))
    read = test.documents()
    found = {
        "disjoint_words": fitted.score(split_words(read, test.doc_ids, seed)),
        "tokens_90_10": fitted.score(split_tokens(read, test.doc_ids, seed)),
        "perplexity_bound": (None, perplexity_bound(read, fitted.summary.topics, fitted.prior())),
        "importance_sampling": (fitted.score_whole(read, seed), None),
        "next_batch": (fitted.score_ahead(), None),
    }
    return make_rows(found, (system, corpus_name, documents, order, seed), fitted.facts)


def measure_within(system, corpus_name, documents, order, seed):
    """Rows of `within_documents`: nine tenths of each document's tokens predict the rest."""
    train, _ = divide(corpus_name, order, seed, documents)
    train = train.select(train.counts.sum(1) >= 2)
    split = split_tokens(train.documents(), train.doc_ids, seed)
    kept = replace(train, counts=to_matrix(split.observed, train.vocab_size))
    fitted = Fitted(
        system, kept, RunSettings(order=order, seed=seed, score_next_batch=False), split
    )
    found = {"within_documents": fitted.score_known(split)}
    return make_rows(found, (system, corpus_name, documents, order, seed), fitted.facts)


def measure_both(*run_of):
    """Rows of both runs of a system; `peak_mb` of the second is of both."""
    return measure(*run_of) + measure_within(*run_of)


def make_rows(found, run_of, facts):
    """A row for each protocol and predictive that there is."""
    names = dict(zip(("system", "corpus", "subset", "order", "seed"), run_of, strict=True))
    return [
        {
            **names,
            "protocol": protocol,
            "predictive": predictive,
            "nats_per_word": float(nats),
            **facts,
        }
        for protocol, scores in found.items()
        for predictive, nats in zip(("own", "fold_in"), scores, strict=True)
        if nats is not None
    ]


def measure_all(arguments):
    """Yield the rows of each system and seed, each in a process of its own."""
    with ProcessPoolExecutor(arguments.jobs, max_tasks_per_child=1) as pool:
        tasks = [
            pool.submit(
                measure_both, system, arguments.corpus, arguments.documents, arguments.order, seed
            )
            for seed in range(arguments.seeds)
            for system in arguments.systems
        ]
        for task in tasks:
            yield task.result()


def tabulate(rows):
    """Mean ± standard deviation over seeds, a line a system, a column a protocol and predictive."""
    frame = pd.DataFrame(rows)
    frame["column"] = frame["protocol"] + " " + frame["predictive"]
    found = frame.groupby(["system", "column"], sort=False)["nats_per_word"].agg(["mean", "std"])
    cells = found.apply(lambda cell: f"{cell['mean']:.3f} ± {cell['std']:.3f}", axis=1).unstack(
        "column", sort=False
    )
    facts = frame[frame["protocol"] != "within_documents"].drop_duplicates(["system", "seed"])
    facts = facts.groupby("system", sort=False)
    means = facts[["passes", "topics", "processor_seconds", "peak_mb"]].mean().round(1)
    return cells.join(means).fillna("-").reset_index()


def read_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--corpus", default="state-of-the-union")
    parser.add_argument(
        "--documents", type=int, help="maximum number of documents, drawn at random"
    )
    parser.add_argument("--order", choices=ORDERS, default="shuffled")
    parser.add_argument("--systems", nargs="+", choices=tuple(SYSTEMS), default=tuple(SYSTEMS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--jobs",
        type=int,
        default=1,
        help="processes; more than one makes the seconds unfit to quote",
    )
    parser.add_argument("--json", help="where to write the rows")
    return parser.parse_args()


def main():
    """Read the command line, measure, write what there is after each run, and print."""
    arguments = read_arguments()
    rows = []
    for found in measure_all(arguments):
        rows += found
        write_json(arguments.json, rows)
    print(to_markdown(tabulate(rows)))


if __name__ == "__main__":
    main()
