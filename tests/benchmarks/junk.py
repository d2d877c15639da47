"""How many topics words of scanning errors and of markup spread over, on a corpus to which such words are added.

    python -m tests.benchmarks.junk [--documents N] [--seeds 3] [--json FILE]

* scanning: in a tenth of the documents each token becomes a misread form of its word with probability .15. A word has
  two such forms, and the 1,000 most frequent words have some.
* markup: a tenth of the documents contain Poisson(20) tokens more, drawn from 30 markup words.

A topic of junk has more than half of its probability on added words. "in them" is the share of the expected junk tokens
that are in topics of junk. "others" are the other topics in use with an added word among their top ten words. All
figures are of the topics in use.
"""

import argparse

import numpy as np
import pandas as pd

from stickbreaker.engine import Corpus, RunSettings, Vocabulary, find_algorithm, prepare, run
from stickbreaker.engine.evaluation.held_out import rank_topics
from stickbreaker.engine.evaluation.topic_frames import find_top_words
from tests.benchmarks.corpora import load
from tests.benchmarks.heldout import to_markdown, write_json

AFFECTED, MISREAD, FORMS, MISREAD_WORDS = 0.1, 0.15, 2, 1000
MARKUP_WORDS, MARKUP_TOKENS = 30, 20
PASSES, TOP_WORDS = (1, 10), 10
KINDS = ("scanning", "markup", "both")


def add_junk(corpus, kind, seed):
    """The corpus with junk, and which words (V,) were added."""
    rng = np.random.default_rng([seed, 11])
    counts = corpus.counts.toarray().astype(np.int64)
    misread, markup = np.zeros((2, len(counts), 0), np.int64)
    if kind != "markup":
        frequent = np.argsort(-counts.sum(0), kind="stable")[:MISREAD_WORDS]
        scanned = np.flatnonzero(rng.random(len(counts)) < AFFECTED)
        lost = rng.binomial(counts[np.ix_(scanned, frequent)], MISREAD)
        counts[np.ix_(scanned, frequent)] -= lost
        misread = np.zeros((len(counts), FORMS * len(frequent)), np.int64)
        misread[scanned] = rng.multinomial(lost, np.full(FORMS, 1.0 / FORMS)).reshape(len(scanned), -1)
    if kind != "scanning":
        marked = rng.random(len(counts)) < AFFECTED
        tokens = np.where(marked, rng.poisson(MARKUP_TOKENS, len(counts)), 0)
        markup = rng.multinomial(tokens, rng.dirichlet(np.ones(MARKUP_WORDS)))
    added = np.hstack([misread, markup])
    words = Vocabulary((*corpus.vocabulary.words, *(f"junk{place}" for place in range(added.shape[1]))))
    with_junk = Corpus(corpus.name, np.hstack([counts, added]), words, corpus.dates, corpus.titles)
    return with_junk, np.arange(len(words)) >= corpus.vocab_size


def measure(corpus, kind, seed):
    """A row for each number of passes."""
    with_junk, is_junk = add_junk(corpus, kind, seed)
    algorithm = find_algorithm("hdp")
    rows = []
    for passes in PASSES:
        settings = RunSettings(passes=passes, num_evaluations=0, num_snapshots=0, score_next_batch=False, seed=seed)
        *_, last = run(prepare(algorithm, algorithm.config(), with_junk, settings))
        summary = algorithm.summarize(None, last.state)
        used = rank_topics(summary.expected_tokens)
        junk_share = summary.topics[used][:, is_junk].sum(1)
        junk_tokens = summary.expected_tokens[used] * junk_share
        is_topic_of_junk = junk_share > 0.5
        has_junk = is_junk[find_top_words(summary.topics[used], TOP_WORDS)].any(1)
        rows.append(
            {
                "junk": kind,
                "passes": passes,
                "seed": seed,
                "junk tokens": with_junk.counts[:, is_junk].sum() / with_junk.num_tokens,
                "topics": len(used),
                "topics of junk": int(is_topic_of_junk.sum()),
                "in them": junk_tokens[is_topic_of_junk].sum() / junk_tokens.sum(),
                "others": int((has_junk & ~is_topic_of_junk).sum()),
            }
        )
    return rows


def tabulate(rows):
    """Means over seeds."""
    table = pd.DataFrame(rows).groupby(["junk", "passes"], sort=False).mean().drop(columns="seed").reset_index()
    shares = {name: table[name].map("{:.1%}".format) for name in ("junk tokens", "in them")}
    return table.assign(**shares).round(1)


def main():
    """Read the command line, measure, print, and write JSON where asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default="state-of-the-union")
    parser.add_argument("--documents", type=int, help="maximum number of documents, drawn at random")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    corpus = load(arguments.corpus, arguments.documents)
    rows = [row for kind in KINDS for seed in range(arguments.seeds) for row in measure(corpus, kind, seed)]
    print(to_markdown(tabulate(rows)))
    write_json(arguments.json, rows)


if __name__ == "__main__":
    main()
