"""Topic models of five libraries on the same documents: prediction, coherence, stability, seconds,
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
those of `coherence`.

Each fit is a process of its own. It first fits twenty documents, so that libraries are imported and
code is compiled; memory is then the peak of the resident memory during the fit, less what the
process held before it (`machine.watch_growth`, Linux). Seconds are of the processor, in all
threads. Rows of `--join FILE` are not measured again: with the same file as `--json`, an
interrupted run goes on.
"""

import argparse
import importlib.util
import json
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from multiprocessing import get_context
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
from tests.benchmarks.machine import watch_growth

SIMULATED = "25 topics"
CORPORA = ("state-of-the-union", "rfc", SIMULATED)
SIZES, QUICK_SIZES = (25, 50, 100), (10,)
NUM_DOCUMENTS, QUICK_DOCUMENTS = 2000, 200
FIRST_DOCUMENTS, FIRST_TOPICS = 20, 5
PRIORS = (1.0, 3.0, 10.0, 30.0, 100.0)
GENSIM = "https://radimrehurek.com/gensim"
SKLEARN = "https://scikit-learn.org/stable"
TOMOTOPY = "https://github.com/bab2min/tomotopy/blob/main/examples"
TOPICA = "https://nealcaren.github.io/topica/guides/models"
MIXED = (1e-6, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5)


@dataclass(frozen=True)
class Fit:
    """What a system has learned: topics (K, V) and tokens (K,); `listed` (K, V) if its words are
    ranked by another measure than their probability.
    """

    topics: np.ndarray
    tokens: np.ndarray
    listed: np.ndarray | None = None


@dataclass(frozen=True)
class System:
    """How a library fits a corpus: fit(corpus, seed, size) gives a `Fit`; size is None for an
    HDP. settings and source: as the table states them.
    """

    library: str
    fit: Any
    settings: str
    source: str
    has_size: bool = True


def fit_ours(corpus, seed, size):
    """Our online HDP, read until documents set aside are predicted no better."""
    return Fit(*coherence.fit_hdp(corpus, seed)[:2])


def fit_gensim_lda(corpus, seed, size):
    """gensim's LDA by its tutorial."""
    model = contestants.GensimLDA(corpus, seed, size)
    model.learn_all(20, iterations=400)
    return Fit(model.topics(), model.model.state.get_lambda().sum(1))


def fit_gensim_hdp(corpus, seed, size):
    """gensim's HDP with Wang's settings; more passes than one predict better."""
    model = contestants.GensimHDP(corpus, seed)
    model.learn_all(10)
    return Fit(model.topics(), model.model.m_lambda.sum(1))


def fit_sklearn_lda(corpus, seed, size):
    """scikit-learn's online LDA, ten passes."""
    from sklearn.decomposition import LatentDirichletAllocation

    model = LatentDirichletAllocation(size, learning_method="online", random_state=seed)
    model.fit(corpus.counts)
    return Fit(normalised(model.components_), model.components_.sum(1))


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
    weights = model.fit_transform(transformer.fit_transform(corpus.counts))
    # A word's probability is without its idf.
    parts = weights * (model.components_ / transformer.idf_).sum(1)
    tokens = normalised(parts).T @ corpus.documents().sizes()
    topics = normalised(model.components_ / transformer.idf_)
    return Fit(topics, tokens, normalised(model.components_))


def fit_tomotopy(make, passes, burn_in):
    """A function that fits a sampler of tomotopy."""

    def fit(corpus, seed, size):
        sampler = make(corpus, seed, **({} if size is None else {"size": size}))
        sampler.model.burn_in = burn_in
        sampler.learn(passes)
        return Fit(sampler.topics(), sampler.tokens())

    return fit


def fit_topica(make, passes):
    """A function that fits a model of topica."""

    def fit(corpus, seed, size):
        words = np.array(corpus.vocabulary.words, object)
        documents = corpus.documents()
        tokens = np.repeat(words[documents.words], documents.counts)
        ends = np.cumsum(documents.sizes())[:-1]
        model = make(size, seed)
        model.fit([part.tolist() for part in np.split(tokens, ends)], iters=passes)
        found = np.asarray(model.topic_word)
        topics = np.full((len(found), corpus.vocab_size), found.min())
        topics[:, [corpus.vocabulary.index(word) for word in model.vocabulary]] = found
        return Fit(normalised(topics), np.asarray(model.doc_topic).T @ documents.sizes())

    return fit


def make_topica_lda(size, seed):
    """topica's online LDA."""
    from topica import OnlineLDA

    return OnlineLDA(size, seed=seed)


def make_topica_hdp(size, seed):
    """topica's HDP."""
    from topica import HDP

    return HDP(gamma=0.5, beta=0.3, seed=seed)


SYSTEMS = {
    "hdp": System(
        "stickbreaker",
        fit_ours,
        "OnlineHDP, defaults; it decides K and the passes",
        "[README](../README.md)",
        False,
    ),
    "gensim LdaModel": System(
        "gensim",
        fit_gensim_lda,
        "alpha and eta auto, 20 passes, 400 iterations, chunks of 2,000",
        f"[its tutorial]({GENSIM}/auto_examples/tutorials/run_lda.html)",
    ),
    "gensim HdpModel": System(
        "gensim",
        fit_gensim_hdp,
        "defaults (T 150, K 15, tau 64, batches of 256), but kappa 0.6 and ten passes",
        f"[its reference]({GENSIM}/models/hdpmodel.html); kappa of the paper",
        False,
    ),
    "scikit-learn LDA": System(
        "sklearn",
        fit_sklearn_lda,
        "online, else defaults: batches of 128, ten passes, decay 0.7, offset 10, priors 1/K",
        f"[its reference]({SKLEARN}/modules/generated/sklearn.decomposition"
        ".LatentDirichletAllocation.html)",
    ),
    "scikit-learn NMF": System(
        "sklearn",
        fit_sklearn_nmf,
        "tf-idf, Kullback-Leibler, mu, nndsvda, 1,000 iterations, penalties 0.00005",
        f"[its example]({SKLEARN}/auto_examples/applications/plot_topics_extraction_with_nmf_lda.html)",
    ),
    "tomotopy LDAModel": System(
        "tomotopy",
        fit_tomotopy(contestants.TomotopyLDA, 1000, 100),
        "1,000 passes; alpha and eta learned every ten after a burn-in of 100; all words",
        f"[its example]({TOMOTOPY}/lda_basic.py)",
    ),
    "tomotopy HDPModel": System(
        "tomotopy",
        fit_tomotopy(contestants.TomotopyHDP, 1000, 100),
        "the same, with alpha and gamma learned, from 100 topics (better than its default, 2)",
        f"[its example]({TOMOTOPY}/hdp_basic.py)",
        False,
    ),
    "topica OnlineLDA": System(
        "topica",
        fit_topica(make_topica_lda, 10),
        "batches of 256, ten passes, else defaults",
        f"[its guide]({TOPICA}/#onlinelda)",
    ),
    "topica HDP": System(
        "topica",
        fit_topica(make_topica_hdp, 300),
        "gamma 0.5, beta 0.3, 300 sweeps, alpha and gamma learned",
        f"[its guide]({TOPICA}/#hdp)",
        False,
    ),
}


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


def measure(name, parts, system, seed, size):
    """A row: one fit, its scores, and its topics. parts: those of `divide`."""
    train, chosen, test = parts
    fit, ordered = SYSTEMS[system].fit, train.order("shuffled", seed=seed)
    fit(train.select(np.arange(FIRST_DOCUMENTS)), seed, size and FIRST_TOPICS)
    began = time.process_time()
    with watch_growth() as memory:
        found = fit(ordered, seed, size)
    seconds = time.process_time() - began
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
        "seconds": seconds,
        "megabytes": memory["added"],
        "listed": listed,
    }


def in_process(*arguments):
    """A row of `measure`, of a process of its own."""
    context = get_context("forkserver")
    context.set_forkserver_preload([measure.__module__])
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(measure, *arguments).result()


def measure_all(name, parts, system, seeds, sizes, known=()):
    """The rows of a system, one by one: of each size the first seed, and of the best size the
    others. Rows that are known are not measured again.
    """
    place = {"corpus": name, "documents": parts[0].num_documents, "system": system}
    done = {(row["seed"], row["size"]): row for row in known if place.items() <= row.items()}
    rows = []
    for size in sizes if SYSTEMS[system].has_size else (None,):
        rows.append(done.get((0, size)) or in_process(name, parts, system, 0, size))
        yield rows[-1]
    best = max(rows, key=lambda row: row["chosen_nats"])["size"]
    for seed in range(1, seeds):
        yield done.get((seed, best)) or in_process(name, parts, system, seed, best)


def summarize(rows):
    """A row for each corpus and system with its best size, and the means over seeds as numbers."""
    frame = pd.DataFrame(sorted(rows, key=lambda row: CORPORA.index(row["corpus"])))
    found = []
    for (corpus, system), part in frame.groupby(["corpus", "system"], sort=False):
        best = part.loc[part.loc[part["seed"] == 0, "chosen_nats"].idxmax(), "size"]
        part = part[part["size"] == best] if SYSTEMS[system].has_size else part
        means = part[
            ["nats", "weighted_npmi", "diversity", "seconds", "megabytes", "topics"]
        ].mean()
        errors = part[["nats", "weighted_npmi"]].sem().fillna(0.0)
        facts = {"corpus": corpus, "system": system, "settings": SYSTEMS[system].settings}
        facts |= {"seeds": len(part), **means.to_dict()}
        facts |= {f"{name}_error": value for name, value in errors.items()}
        found.append({**facts, "stability": coherence.find_stability(part)})
    return found


def tabulate(found):
    """The table of all systems as text. found: the rows of `summarize`."""
    table = pd.DataFrame(found)
    shown = table[["corpus", "system"]].copy()
    shown["topics"] = table["topics"].round().astype(int)
    shown["nats"] = with_errors(table, "nats")
    shown["NPMI"] = with_errors(table, "weighted_npmi")
    shown["diversity"] = table["diversity"].round(2)
    shown["stability"] = [f"{share:.2f}" for share in table["stability"]]
    shown["seconds"] = [f"{seconds:.1f}" for seconds in table["seconds"]]
    shown["MB"] = [f"{added:.0f}" for added in table["megabytes"]]
    return shown.astype(str).replace("nan", "-")


def with_errors(table, name):
    """Means with their standard errors, as text."""
    pairs = zip(table[name], table[f"{name}_error"], strict=True)
    return [f"{mean:.3f} ± {error:.3f}" for mean, error in pairs]


def list_settings(found):
    """How each system has learned, as a table. found: the rows of `summarize`."""
    frame = pd.DataFrame(found).assign(commit=lambda table: table.get("commit", "this one"))
    places = ["system", "settings", "commit"]
    table = frame.groupby(places, sort=False)["corpus"].agg(", ".join).reset_index()
    table = table.sort_values("system", key=lambda names: names.map(list(SYSTEMS).index))
    systems = [SYSTEMS[name] for name in table["system"]]
    table["K"] = ["chosen" if system.has_size else "own" for system in systems]
    table["source"] = [system.source for system in systems]
    return table[["system", "settings", "K", "source", "corpus", "commit"]]


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
    parser.add_argument(
        "--quick",
        action="store_true",
        help="200 documents, ten topics, one seed: 190 s of processor, on two cores about 3 minutes",
    )
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
    for corpus in arguments.corpora:
        parts = divide(corpus, arguments.documents)
        for system in systems:
            for row in measure_all(corpus, parts, system, arguments.seeds, sizes, tuple(rows)):
                rows += [] if row in rows else [row]
                write_json(arguments.json, rows)
    found = summarize(rows)
    print(to_markdown(list_settings(found)), to_markdown(tabulate(found)), sep="\n\n")


if __name__ == "__main__":
    main()
