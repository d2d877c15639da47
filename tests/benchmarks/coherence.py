"""Topics for people: NPMI of the top ten words, exclusivity, diversity and stability, of our HDP
and other libraries.

    python -m tests.benchmarks.coherence [--corpora NAME ...] [--documents D] [--systems NAME ...]
    [--seeds N]
                                         [--join FILE ...] [--json FILE] [--check]

Every system learns from all documents of the sample and is measured on the same counts
(`evaluation/coherence.py`). Topics of one token or more count; "below zero, counted" is of the
fewest topics that cover 99 % of the tokens. `tomotopy-lda` has 100 topics or K, 600 passes and
priors that it optimises; `tomotopy-hdp` makes 600 passes from 100 topics; the other libraries read
the corpus ten times, and gensim's HDP once. The JSON file lists each topic with its ten words, its
share and its NPMI. `hdp, settled` reads until documents set aside are predicted no better.
`--join FILE` adds rows of an earlier run to the tables; with `--systems` and no name, nothing is
measured. `--check` compares our NPMI with gensim's, of windows as long as the documents, on a small
corpus.
"""

import argparse
import json
import time
from functools import partial
from itertools import permutations, product

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csc_array

from stickbreaker.engine.evaluation.coherence import measure_quality, npmi, sum_up
from stickbreaker.engine.evaluation.held_out import count_topics
from stickbreaker.engine.runs.compile import compile_algorithm
from tests.benchmarks.contestants import (
    GensimHDP,
    GensimLDA,
    Ours,
    ScikitLearnLDA,
    TomotopyHDP,
    TomotopyLDA,
)
from tests.benchmarks.corpora import load
from tests.benchmarks.heldout import to_markdown, write_json

SIZE, SAMPLER_PASSES, PASSES = 100, 600, 10
OTHER_SIZES = (25, 50)
TOKENS_OF_A_TOPIC = 1.0
MEASURES = ("npmi", "weighted_npmi", "below_zero", "exclusivity", "diversity")


def fit_hdp(corpus, seed, passes=PASSES):
    """Topics, their tokens, and the seconds of learning, of our online HDP at its defaults."""
    ours = Ours("hdp", corpus, seed)
    compile_algorithm(ours.algorithm, ours.config)
    for number in range(passes):
        if ours.state.has_converged:
            break
        for batch in corpus.order("shuffled", seed=seed + 1000 * number).batches(ours.batch_size):
            ours.learn(batch)
    return ours.topics(), ours.state.expected_tokens, ours.seconds


def fit_tomotopy(make, corpus, seed):
    """As `fit_hdp`, of a sampler of tomotopy."""
    model = make(corpus, seed)
    model.learn(SAMPLER_PASSES)
    return model.topics(), model.tokens(), model.seconds


def fit_scikit_learn(corpus, seed):
    """As `fit_hdp`, of scikit-learn's online LDA."""
    model = ScikitLearnLDA(SIZE, corpus, seed)
    for number in range(PASSES):
        for batch in corpus.order("shuffled", seed=seed + 1000 * number).batches(model.batch_size):
            model.learn(batch)
    return model.topics(), model.model.components_.sum(1), model.seconds


def fit_gensim_lda(corpus, seed):
    """As `fit_hdp`, of gensim's online LDA."""
    model = GensimLDA(corpus, seed, SIZE)
    began = time.perf_counter()
    model.learn_all(PASSES)
    return model.topics(), model.model.state.get_lambda().sum(1), time.perf_counter() - began


def fit_gensim_hdp(corpus, seed):
    """As `fit_hdp`, of gensim's online HDP."""
    model = GensimHDP(corpus, seed)
    began = time.perf_counter()
    model.learn_all()
    return model.topics(), model.model.m_lambda.sum(1), time.perf_counter() - began


SYSTEMS = {
    "hdp, one pass": partial(fit_hdp, passes=1),
    "hdp, settled": fit_hdp,
    "tomotopy-lda": partial(fit_tomotopy, TomotopyLDA),
    **{
        f"tomotopy-lda K={size}": partial(fit_tomotopy, partial(TomotopyLDA, size=size))
        for size in OTHER_SIZES
    },
    "tomotopy-hdp": partial(fit_tomotopy, TomotopyHDP),
    "sklearn-lda": fit_scikit_learn,
    "gensim-lda": fit_gensim_lda,
    "gensim-hdp": fit_gensim_hdp,
}
DEFAULT_SIZES = {"rfc": 20_000}


def measure(name, documents, system, seed):
    """A row: the quality of one fit, its seconds, and each of its topics."""
    corpus = load(name, documents)
    topics, tokens, seconds = SYSTEMS[system](corpus, seed)
    used = np.flatnonzero(tokens >= TOKENS_OF_A_TOPIC)
    quality = measure_quality(used, topics[used], tokens[used], corpus.counts)
    listed = [
        {
            "share": share,
            "tokens": float(number),
            "npmi": float(npmi),
            "words": [corpus.vocabulary[w] for w in row],
        }
        for share, number, npmi, row in zip(
            quality.shares.tolist(),
            tokens[used],
            quality.npmi,
            quality.top_words.tolist(),
            strict=True,
        )
    ]
    facts = {"corpus": name, "documents": corpus.num_documents, "system": system, "seed": seed}
    return {
        **facts,
        "topics": len(used),
        **sum_up(quality)._asdict(),
        "seconds": seconds,
        "listed": listed,
    }


def has_partner(ours, theirs):
    """Which topics of a fit come back in another one (K,), from the top words (K, N) and (L, N) of
    each.

    Topics are matched one to one so that matched topics share as many words as possible. A topic
    comes back if its partner shares at least half of its words.
    """
    found = np.zeros(len(ours), bool)
    if not len(ours) or not len(theirs):
        return found
    num_words = 1 + max(int(ours.max()), int(theirs.max()))
    one, other = (_membership(words, num_words) for words in (ours, theirs))
    common = (one @ other.T).toarray()
    rows, columns = linear_sum_assignment(-common)
    found[rows] = 2 * common[rows, columns] >= ours.shape[1]
    return found


def _membership(words, num_words):
    """Which words (K, W) are in each list (K, N)."""
    rows = np.repeat(np.arange(len(words)), words.shape[1])
    return csc_array((np.ones(words.size), (rows, words.ravel())), shape=(len(words), num_words))


def find_stability(part):
    """Share of the tokens whose topics come back, mean of all pairs of seeds."""
    lists = [[topic["words"] for topic in listed] for listed in part["listed"]]
    places = {
        word: place
        for place, word in enumerate(sorted({w for one in lists for row in one for w in row}))
    }
    words = [np.array([[places[word] for word in row] for row in one]) for one in lists]
    shares = [np.array([topic["share"] for topic in listed]) for listed in part["listed"]]
    pairs = permutations(zip(words, shares, strict=True), 2)
    found = [
        share @ has_partner(ours, theirs) / share.sum() for (ours, share), (theirs, _) in pairs
    ]
    return float(np.mean(found)) if found else float("nan")


def find_low(listed):
    """Share of topics below zero among the topics in use."""
    npmi = [topic["npmi"] for topic in sorted(listed, key=lambda topic: -topic["tokens"])]
    counted = npmi[: count_topics(np.array([topic["tokens"] for topic in listed]))]
    return sum(value < 0 for value in counted) / len(counted)


def tabulate(frame):
    """A row for each corpus and system: means over seeds, and the deviation of the NPMI."""
    places = ["corpus", "documents", "system"]
    grouped = frame.groupby(places, sort=False)
    table = grouped[["topics", *MEASURES, "seconds"]].mean()
    deviation = grouped["weighted_npmi"].std()
    pairs = zip(table["weighted_npmi"], deviation, strict=True)
    weighted = [f"{a:.3f}" + ("" if np.isnan(b) else f" ± {b:.3f}") for a, b in pairs]
    shown = pd.DataFrame({"seeds": grouped.size(), "topics": table["topics"].round(1)})
    shown["NPMI, by tokens"] = weighted
    shown["NPMI, by topic"] = table["npmi"].round(3)
    shown["below zero"] = [f"{100 * share:.1f} %" for share in table["below_zero"]]
    counted = (
        frame["listed"].map(find_low).groupby([frame[place] for place in places], sort=False).mean()
    )
    shown["below zero, counted"] = [f"{100 * share:.1f} %" for share in counted]
    tokens = [
        np.mean([sum(t["share"] for t in one if t["npmi"] < 0) for one in part["listed"]])
        for _, part in grouped
    ]
    shown["tokens below zero"] = [f"{100 * share:.1f} %" for share in tokens]
    shown["exclusivity"] = table["exclusivity"].round(3)
    shown["diversity"] = table["diversity"].round(2)
    shown["stability"] = [round(find_stability(part), 2) for _, part in grouped]
    shown["seconds"] = table["seconds"].round(1)
    return shown.reset_index().astype(object).where(lambda each: each.notna(), "-")


def find_difference():
    """The largest difference between our NPMI and gensim's on a small corpus."""
    from gensim.corpora import Dictionary
    from gensim.models.coherencemodel import CoherenceModel

    counts = (np.random.default_rng(0).random((40, 10)) < 0.6).astype(int)
    top = np.arange(10).reshape(2, 5)
    texts = [np.flatnonzero(row).astype(str).tolist() for row in counts]
    theirs = CoherenceModel(
        topics=top.astype(str).tolist(),
        texts=texts,
        dictionary=Dictionary(texts),
        coherence="c_npmi",
        window_size=counts.shape[1],
        processes=1,
    )
    return float(np.abs(npmi(top, counts) - theirs.get_coherence_per_topic()).max())


def main():
    """Read the command line, measure, print, and write JSON where asked for, after each fit."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--corpora", nargs="+", default=["state-of-the-union", "rfc"])
    parser.add_argument(
        "--documents", type=int, help="maximum number of documents; default: all, of rfc 20,000"
    )
    parser.add_argument("--systems", nargs="*", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--join", nargs="+", default=[], help="JSON files whose rows join the tables"
    )
    parser.add_argument("--check", action="store_true", help="compare our NPMI with gensim's")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    if arguments.check:
        print(f"Largest difference from gensim's NPMI: {find_difference():.1e}")
        return
    rows = []
    for name in arguments.join:
        with open(name, encoding="utf-8") as file:
            rows += json.load(file)
    for corpus, system, seed in product(
        arguments.corpora, arguments.systems, range(arguments.seeds)
    ):
        rows.append(measure(corpus, arguments.documents or DEFAULT_SIZES.get(corpus), system, seed))
        write_json(arguments.json, rows)
    print(to_markdown(tabulate(pd.DataFrame(rows))))


if __name__ == "__main__":
    main()
