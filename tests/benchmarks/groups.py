"""Topic shares of groups, compared with those of the structural topic model (R's stm).

    python -m tests.benchmarks.groups [--documents N] [--words V] [--topics K] [--json FILE]

Passages of State of the Union, in groups of four periods of equal length. The structural topic
model is the Python port `structural-topic-model` of R's stm (Python 3.12 or newer), with the group
as the covariate of prevalence and `estimate_effect`. It is compared in three ways:

* same topics: shares and intervals of its own topics by `estimate_effect`, and by ours;
* own topics: shares by group of our topics, of three seeds, and of those of its topics that match;
* random groups: how many of the 95 % intervals for a tenth of the addresses, drawn at random, hold
  the share in all documents. Both use the topics of the structural topic model. Exact intervals
  hold it in .96, since all documents include the tenth.

It takes about twelve minutes on one core.
"""

import argparse
import time
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from stickbreaker import engine
from stickbreaker.engine.evaluation.group_shares import find_groups, group_frame
from stickbreaker.engine.evaluation.topic_space import (
    LARGEST_DIVERGENCE,
    divergences_between,
    match_topics,
    shorten_topics,
)
from tests.benchmarks.corpora import load
from tests.benchmarks.heldout import to_markdown, write_json

NUM_PERIODS = 4
NUM_RANDOM = 50
Z = 1.96


def draw_corpus(documents, words):
    """Passages drawn at random, with their most frequent words, and the period of each."""
    corpus = load("state-of-the-union", documents)
    totals = np.asarray(corpus.counts.sum(0)).ravel()
    frequent = np.sort(np.argsort(-totals, kind="stable")[:words])
    corpus = replace(
        corpus,
        counts=corpus.counts[:, frequent],
        vocabulary=engine.Vocabulary([corpus.vocabulary[word] for word in frequent]),
    )
    corpus = corpus.select(np.flatnonzero(corpus.counts.sum(1)))
    years = corpus.dates.astype("datetime64[Y]").astype(int)
    ends = np.linspace(years.min(), years.max() + 1, NUM_PERIODS + 1)
    return corpus, np.searchsorted(ends, years, "right") - 1


def estimate(model, groups, seed):
    """Shares (G, K) of groups by `estimate_effect`, and the half lengths of 95 % intervals."""
    from stm import estimate_effect

    names = np.unique(groups)
    design = (groups[:, None] == names[1:]).astype(float)
    effects = estimate_effect(model, design, random_state=seed)
    points = np.column_stack([np.ones(len(names)), np.eye(len(names))[:, 1:]])
    shares, halves = [], []
    for topic in effects.topics:
        means = np.array([points @ coefficients for coefficients, _ in effects.parameters[topic]])
        within = np.mean(
            [
                np.diag(points @ covariance @ points.T)
                for _, covariance in effects.parameters[topic]
            ],
            0,
        )
        shares.append(means.mean(0))
        halves.append(Z * np.sqrt(within + means.var(0, ddof=1)))
    return np.array(shares).T, np.array(halves).T


def find_ours(shares, tokens, corpus, groups):
    """The frame of `group_frame` for documents (D, K), as arrays (G, K) by column."""
    found = group_frame(csr_array(shares), tokens, find_groups(corpus, groups))
    columns = ("share", "low", "high", "whole")
    return {name: found[name].to_numpy().reshape(shares.shape[1], -1).T for name in columns}


def compare_same(model, tokens, corpus, periods):
    """Our shares and intervals of the topics of another model and its own."""
    shares, halves = estimate(model, periods, 0)
    found = find_ours(model.theta_, tokens, corpus, periods)
    lengths = (found["high"] - found["low"]) / (2 * halves)
    return {
        "largest_difference": float(np.abs(found["share"] - shares).max()),
        "correlation": float(np.corrcoef(found["share"].ravel(), shares.ravel())[0, 1]),
        "interval_ratio": float(np.median(lengths)),
    }


def compare_own(model, corpus, periods, seed):
    """Differences of groups from the whole in matched topics of both models."""
    fitted = engine.OnlineHDP(random_state=seed).fit(corpus)
    summary = fitted.algorithm.summarize(fitted.config_, fitted.state_)
    distances = divergences_between(
        shorten_topics(summary.topics), shorten_topics(model.components_)
    )
    pairs = [pair for pair in match_topics(distances) if distances[pair] <= LARGEST_DIVERGENCE]
    own, other = np.array(pairs, int).reshape(-1, 2).T
    found = find_ours(
        fitted.transform(corpus)[:, own], np.asarray(corpus.counts.sum(1)).ravel(), corpus, periods
    )
    shares, halves = estimate(model, periods, 0)
    whole = model.theta_.mean(0)[other]
    apart = np.abs(found["share"] - shares[:, other])
    reach = halves[:, other] + (found["high"] - found["low"]) / 2
    return {
        "our_topics": fitted.n_topics_,
        "matched": len(pairs),
        "correlation": float(
            np.corrcoef(
                (found["share"] - found["whole"]).ravel(), (shares[:, other] - whole).ravel()
            )[0, 1]
        ),
        "overlapping": float(np.mean(apart <= reach)),
    }


def cover(model, tokens, corpus):
    """Of the intervals of a random tenth of the addresses, the part that holds the whole share."""
    rng = np.random.default_rng(0)
    _, addresses = np.unique(corpus.groups, return_inverse=True)
    held = {"estimate_effect": [], "ours": []}
    for seed in range(NUM_RANDOM):
        groups = (rng.permutation(addresses.max() + 1)[addresses] % 10 > 0).astype(int)
        shares, halves = estimate(model, groups, seed)
        held["estimate_effect"].append(np.abs(shares - model.theta_.mean(0))[0] <= halves[0])
        found = find_ours(model.theta_, tokens, corpus, groups)
        is_held = (found["low"] <= found["whole"]) & (found["whole"] <= found["high"])
        held["ours"].append(is_held[0])
    return {name: float(np.mean(each)) for name, each in held.items()}


def main():
    """Fit both models, compare, print, and write JSON where asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--documents", type=int, default=1_000)
    parser.add_argument("--words", type=int, default=2_000)
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    from stm import StructuralTopicModel

    corpus, periods = draw_corpus(arguments.documents, arguments.words)
    start = time.process_time()
    model = StructuralTopicModel(n_components=arguments.topics)
    model.fit(
        corpus.counts, prevalence=(periods[:, None] == np.arange(1, NUM_PERIODS)).astype(float)
    )
    seconds = time.process_time() - start
    tokens = np.asarray(corpus.counts.sum(1)).ravel()
    row = {
        "documents": corpus.num_documents,
        "topics": arguments.topics,
        "iterations": model.n_iter_,
        "converged": bool(model.converged_),
        "seconds": seconds,
        "same_topics": compare_same(model, tokens, corpus, periods),
        "own_topics": pd.DataFrame(
            [compare_own(model, corpus, periods, seed) for seed in range(3)]
        ).to_dict("list"),
        "coverage": cover(model, tokens, corpus),
    }
    print(
        to_markdown(
            pd.json_normalize(row, sep=" ")
            .T.rename(columns={0: "value"})
            .reset_index(names="figure")
        )
    )
    write_json(arguments.json, row)


if __name__ == "__main__":
    main()
