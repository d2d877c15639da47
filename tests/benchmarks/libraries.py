"""Topic models of six libraries on the same documents: prediction, coherence, stability, seconds,
memory.

    python -m tests.benchmarks.libraries [--corpora NAME ...] [--systems NAME ...] [--seeds N]
                                         [--documents D] [--quick] [--join FILE ...] [--json FILE]

The corpora are State of the Union, RFC (samples of D documents) and 25 simulated topics. A tenth of
the documents is for tests, a tenth of the rest for choices, and each system learns from the others;
the seed draws its order and its start. `SYSTEMS` says how: each as its own documentation advises.
K, where it is not learned, is that of `SIZES` with the best score on the documents for choices.

One score for all: only the word distributions of the topics and their tokens are used. A topic is
mixed with ε of the word frequencies, θ has a prior of a·(share of each topic's tokens), and the a
and ε of `PRIORS` and `MIXED` with the best score on the documents for choices are taken. Test
documents are completed by the common fold-in (`disjoint_words`). NPMI, diversity and stability are
those of `coherence`. Each fit is a process of its own, whose peak memory holds the corpus as well.
`--quick`: 200 documents, ten topics, one seed. `--join FILE` adds rows of an earlier run.
"""

import argparse
import importlib.util
import json
import time
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from stickbreaker.engine import RunSettings
from stickbreaker.engine.evaluation.coherence import measure_quality, sum_up
from stickbreaker.engine.evaluation.held_out import count_topics, fold_in, score
from stickbreaker.engine.inference.held_words import split_words
from stickbreaker.engine.runs.prepared import split_corpus
from tests.benchmarks import coherence, contestants, topic_count
from tests.benchmarks.corpora import TEST_SEED, load
from tests.benchmarks.heldout import to_markdown, write_json
from tests.benchmarks.scale import in_process

SIMULATED = "25 topics"
CORPORA = ("state-of-the-union", "rfc", SIMULATED)
SIZES, QUICK_SIZES = (25, 50, 100), (10,)
NUM_DOCUMENTS, QUICK_DOCUMENTS = 2000, 200
PRIORS = (1.0, 3.0, 10.0, 30.0, 100.0)
MIXED = (1e-6, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5)


@dataclass(frozen=True)
class Fit:
    """What a system has learned: topics (K, V), tokens (K,), seconds; `listed` (K, V) if its words
    are ranked by another measure than their probability.
    """

    topics: np.ndarray
    tokens: np.ndarray
    seconds: float
    listed: np.ndarray | None = None


@dataclass(frozen=True)
class System:
    """How a library fits a corpus: fit(corpus, seed, size) gives a `Fit`; size is None for an
    HDP. settings: as the table states them.
    """

    library: str
    fit: Any
    settings: str
    has_size: bool = True


def fit_ours(corpus, seed, size):
    """Our online HDP, read until documents set aside are predicted no better."""
    return Fit(*coherence.fit_hdp(corpus, seed))


def fit_gensim_lda(corpus, seed, size):
    """gensim's LDA by its tutorial."""
    model = contestants.GensimLDA(corpus, seed, size)
    began = time.perf_counter()
    model.learn_all(20, iterations=400)
    seconds = time.perf_counter() - began
    return Fit(model.topics(), model.model.state.get_lambda().sum(1), seconds)


def fit_gensim_hdp(corpus, seed, size):
    """gensim's HDP with Wang's settings."""
    return Fit(*coherence.fit_gensim_hdp(corpus, seed))


def fit_sklearn_lda(corpus, seed, size):
    """scikit-learn's online LDA, ten passes."""
    from sklearn.decomposition import LatentDirichletAllocation

    model = LatentDirichletAllocation(
        size, learning_method="online", total_samples=corpus.num_documents, random_state=seed
    )
    seconds = time_call(model.fit, corpus.counts)
    return Fit(normalised(model.components_), model.components_.sum(1), seconds)


def fit_sklearn_nmf(corpus, seed, size):
    """scikit-learn's NMF on tf-idf, as in its example of topic extraction."""
    from sklearn.decomposition import NMF
    from sklearn.feature_extraction.text import TfidfTransformer

    transformer = TfidfTransformer()
    model = NMF(
        size,
        init="nndsvda",
        beta_loss="kullback-leibler",
        solver="mu",
        max_iter=1000,
        alpha_W=0.00005,
        alpha_H=0.00005,
        l1_ratio=0.5,
        random_state=seed,
    )
    weighted = transformer.fit_transform(corpus.counts)
    began = time.perf_counter()
    weights = model.fit_transform(weighted)
    seconds = time.perf_counter() - began
    # A word's probability is without its idf.
    parts = weights * (model.components_ / transformer.idf_).sum(1)
    tokens = normalised(parts).T @ corpus.documents().sizes()
    topics = normalised(model.components_ / transformer.idf_)
    return Fit(topics, tokens, seconds, normalised(model.components_))


def fit_tomotopy_lda(corpus, seed, size):
    """tomotopy's LDA, which learns α."""
    make = contestants.TomotopyLDA
    return Fit(*coherence.fit_tomotopy(lambda c, s: make(c, s, size), corpus, seed))


def fit_tomotopy_hdp(corpus, seed, size):
    """tomotopy's HDP from 100 topics."""
    return Fit(*coherence.fit_tomotopy(contestants.TomotopyHDP, corpus, seed))


def fit_topica(make, passes):
    """A function that fits a model of topica."""

    def fit(corpus, seed, size):
        words = np.array(corpus.vocabulary.words, object)
        documents = corpus.documents()
        tokens = np.repeat(words[documents.words], documents.counts)
        ends = np.cumsum(documents.sizes())[:-1]
        texts = [part.tolist() for part in np.split(tokens, ends)]
        model = make(size, seed)
        began = time.perf_counter()
        model.fit(texts, iters=passes)
        seconds = time.perf_counter() - began
        found = np.asarray(model.topic_word)
        topics = np.full((len(found), corpus.vocab_size), found.min())
        topics[:, [corpus.vocabulary.index(word) for word in model.vocabulary]] = found
        shares = np.asarray(model.doc_topic)
        return Fit(normalised(topics), shares.T @ documents.sizes(), seconds)

    return fit


def make_topica_lda(size, seed):
    """topica's online LDA."""
    from topica import OnlineLDA

    return OnlineLDA(size, seed=seed)


def make_topica_hdp(size, seed):
    """topica's HDP."""
    from topica import HDP

    return HDP(seed=seed)


SYSTEMS = {
    "hdp": System(
        "stickbreaker", fit_ours, "OnlineHDP, defaults; it decides K and the passes", False
    ),
    "gensim LdaModel": System(
        "gensim",
        fit_gensim_lda,
        "as its tutorial: alpha and eta auto, 20 passes, 400 iterations, chunks of 2,000",
    ),
    "gensim HdpModel": System(
        "gensim", fit_gensim_hdp, "T 150, K 15, kappa 0.6, tau 64, one pass (it has no more)", False
    ),
    "scikit-learn LDA": System(
        "sklearn", fit_sklearn_lda, "online, defaults: batches of 128, ten passes, priors 1/K"
    ),
    "scikit-learn NMF": System(
        "sklearn", fit_sklearn_nmf, "as its example: tf-idf, Kullback-Leibler, mu, nndsvda"
    ),
    "tomotopy LDAModel": System(
        "tomotopy", fit_tomotopy_lda, "600 passes, alpha and eta learned every ten"
    ),
    "tomotopy HDPModel": System(
        "tomotopy", fit_tomotopy_hdp, "600 passes from 100 topics, alpha and gamma learned", False
    ),
    "topica OnlineLDA": System("topica", fit_topica(make_topica_lda, 100), "defaults, 100 passes"),
    "topica HDP": System("topica", fit_topica(make_topica_hdp, 150), "defaults, 150 sweeps", False),
}


def time_call(function, *arguments):
    """The seconds of a call."""
    began = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - began


def normalised(rows):
    """Rows that sum to 1; a row of zeros has equal parts."""
    rows = rows + 1e-300
    return rows / rows.sum(1, keepdims=True)


def divide(name, documents):
    """Training documents, those for choices, and test documents."""
    corpus = topic_count.simulate(name, 0)[0] if name == SIMULATED else load(name)
    if corpus.num_documents > documents:
        rng = np.random.default_rng(TEST_SEED)
        rows = rng.choice(corpus.num_documents, documents, replace=False)
        corpus = corpus.select(np.sort(rows))
    settings = RunSettings(order="chronological", seed=TEST_SEED, num_test=documents // 10)
    train, test = split_corpus(corpus, settings)
    train, chosen = split_corpus(train, settings)
    return train, chosen, test


def complete(found, train, corpus, choice):
    """Nats per held-out word of documents; choice: a and ε."""
    total, mixed = choice
    split = split_words(corpus.documents(), corpus.doc_ids, TEST_SEED)
    frequencies = np.asarray(train.counts.sum(0), float).ravel() + 0.5
    frequencies /= frequencies.sum()
    topics = ((1 - mixed) * found.topics + mixed * frequencies).astype(np.float32)
    prior = total * (found.tokens + 1e-9) / (found.tokens + 1e-9).sum()
    return score(split, fold_in(split.observed, topics, prior), topics)


def measure(name, documents, system, seed, size):
    """A row: one fit, its scores, and its topics."""
    train, chosen, test = divide(name, documents)
    ordered = train.order("shuffled", seed=seed)
    found = SYSTEMS[system].fit(ordered, seed, size)
    choices = {choice: complete(found, train, chosen, choice) for choice in product(PRIORS, MIXED)}
    best = max(choices, key=choices.get)
    used = np.flatnonzero(found.tokens >= coherence.TOKENS_OF_A_TOPIC)
    ranked = found.topics if found.listed is None else found.listed
    quality = measure_quality(used, ranked[used], found.tokens[used], train.counts)
    listed = [
        {"share": share, "words": [train.vocabulary[word] for word in row]}
        for share, row in zip(quality.shares.tolist(), quality.top_words.tolist(), strict=True)
    ]
    return {
        "corpus": name,
        "documents": train.num_documents,
        "system": system,
        "seed": seed,
        "size": size,
        "prior": best[0],
        "mixed": best[1],
        "chosen_nats": choices[best],
        "nats": complete(found, train, test, best),
        "topics": count_topics(found.tokens),
        **sum_up(quality)._asdict(),
        "seconds": found.seconds,
        "listed": listed,
    }


def measure_all(name, documents, system, seeds, sizes):
    """The rows of a system: of each size the first seed, and of the best size the others."""
    sizes = sizes if SYSTEMS[system].has_size else (None,)
    rows = [row for size in sizes for row in in_process(measure, name, documents, system, 0, size)]
    best = max(rows, key=lambda row: row["chosen_nats"])
    for row in rows:
        row["is_best"] = row is best
    for seed in range(1, seeds):
        more = in_process(measure, name, documents, system, seed, best["size"])
        rows += [{**row, "is_best": True} for row in more]
    return rows


def summarize(rows):
    """A row for each corpus and system with its best size, and the means over seeds as numbers."""
    frame = pd.DataFrame(sorted(rows, key=lambda row: CORPORA.index(row["corpus"])))
    frame = frame[frame["is_best"]]
    found = []
    for (corpus, system), part in frame.groupby(["corpus", "system"], sort=False):
        means = part[["nats", "weighted_npmi", "diversity", "seconds", "peak_gb", "topics"]].mean()
        errors = part[["nats", "weighted_npmi"]].sem().fillna(0.0)
        facts = {"corpus": corpus, "system": system, "seeds": len(part), **means.to_dict()}
        facts |= {f"{name}_error": value for name, value in errors.items()}
        found.append({**facts, "stability": coherence.find_stability(part)})
    return pd.DataFrame(found)


def tabulate(rows):
    """The table of all systems as text."""
    table = summarize(rows)
    shown = table[["corpus", "system"]].copy()
    shown["topics"] = table["topics"].round().astype(int)
    shown["nats"] = with_errors(table, "nats")
    shown["NPMI"] = with_errors(table, "weighted_npmi")
    shown["diversity"] = table["diversity"].round(2)
    shown["stability"] = [f"{share:.2f}" for share in table["stability"]]
    shown["seconds"] = table["seconds"].round(1)
    shown["peak MB"] = (1000 * table["peak_gb"]).round().astype(int)
    return shown.astype(str)


def with_errors(table, name):
    """Means with their standard errors, as text."""
    pairs = zip(table[name], table[f"{name}_error"], strict=True)
    return [f"{mean:.3f} ± {error:.3f}" for mean, error in pairs]


def list_settings():
    """How each system learns, as a table."""
    rows = [
        {"system": name, "settings": system.settings, "K": "chosen" if system.has_size else "own"}
        for name, system in SYSTEMS.items()
    ]
    return pd.DataFrame(rows)


def find_installed():
    """The systems whose library is installed."""
    return [name for name, each in SYSTEMS.items() if importlib.util.find_spec(each.library)]


def main():
    """Read the command line, measure, print, and write JSON where asked for, after each system."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, default=CORPORA)
    parser.add_argument("--systems", nargs="*", choices=SYSTEMS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--documents", type=int, default=NUM_DOCUMENTS)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--join", nargs="+", default=[], help="JSON files of earlier runs")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    rows = []
    for name in arguments.join:
        with open(name, encoding="utf-8") as file:
            rows += json.load(file)
    if arguments.quick:
        arguments.seeds, arguments.documents = 1, QUICK_DOCUMENTS
    sizes = QUICK_SIZES if arguments.quick else SIZES
    systems = find_installed() if arguments.systems is None else arguments.systems
    for corpus, system in product(arguments.corpora, systems):
        rows += measure_all(corpus, arguments.documents, system, arguments.seeds, sizes)
        write_json(arguments.json, rows)
    print(to_markdown(list_settings()), to_markdown(tabulate(rows)), sep="\n\n")


if __name__ == "__main__":
    main()
