"""Tokens per second of our Gibbs samplers and tomotopy's, on one thread.

    python -m tests.benchmarks.samplers [--corpus NAME] [--passes 10] [--rounds 5] [--json FILE]

Contestants alternate, round by round, so that other work on the machine affects both; a ratio is of
two times measured one after the other. A round continues each sampler for some passes, so the first
round is at the start and the last one with learned topics. tomotopy runs with workers=1; its table
weight is not the HDP's, so it has more topics and only speed is compared; both numbers of topics
are given.
"""

import argparse
import time

import numpy as np
import pandas as pd

from stickbreaker.engine import find_algorithm, load_corpus
from stickbreaker.engine.runs.compile import compile_algorithm
from tests.benchmarks.heldout import to_markdown, write_json

WORD_CONCENTRATION, NUM_TOPICS, LEAST_RATIO = 0.01, 100, 1.0
# LDA at Teh's α, 0.1 in total; at the HDP's first α; and at tomotopy's own default, 0.1 a topic.
RACES = {
    "LDA, α = 0.1 in total": ("gibbs-lda", {"doc_concentration": 0.1}),
    "LDA, α = 1 in total": ("gibbs-lda", {"doc_concentration": 1.0}),
    "LDA, α = 10 in total": ("gibbs-lda", {"doc_concentration": 10.0}),
    "HDP from 100 topics": ("gibbs-hdp", {"initial_topics": NUM_TOPICS}),
}


class Ours:
    """A sampler of ours and its current state."""

    def __init__(self, name, settings, corpus):
        self.algorithm = find_algorithm(name)
        self.config = self.algorithm.config(**settings)
        compile_algorithm(self.algorithm, self.config)
        self.batch = next(corpus.batches(corpus.num_documents))
        self.state = self.algorithm.init(self.config, corpus.vocab_size, np.random.default_rng(0))

    def make_passes(self, number):
        """Make this number of passes."""
        for _ in range(number):
            rng = np.random.default_rng([0, self.state.step + 1])
            self.state, _ = self.algorithm.step(self.config, self.state, self.batch, rng)

    def num_topics(self):
        """Topics at present."""
        return len(self.state.expected_tokens)


class Tomotopy:
    """tomotopy's sampler of the same model.

    Its LDA is told α of a topic, and both keep α as it is.
    """

    def __init__(self, name, settings, corpus):
        import tomotopy

        if name == "gibbs-lda":
            alpha = settings["doc_concentration"] / NUM_TOPICS
            self.model = tomotopy.LDAModel(
                k=NUM_TOPICS, alpha=alpha, eta=WORD_CONCENTRATION, seed=0
            )
        else:
            self.model = tomotopy.HDPModel(
                initial_k=settings["initial_topics"],
                alpha=1.0,
                gamma=1.0,
                eta=WORD_CONCENTRATION,
                seed=0,
            )
        self.model.optim_interval = 0
        documents = corpus.documents()
        words, ends = (
            np.repeat(documents.words, documents.counts).astype(str),
            np.cumsum(documents.counts),
        )
        for document in np.split(words, ends[documents.starts[1:-1] - 1]):
            self.model.add_doc(document.tolist())
        self.model.train(0)

    def make_passes(self, number):
        """Make this number of passes on one thread."""
        self.model.train(number, workers=1)

    def num_topics(self):
        """Topics at present."""
        return getattr(self.model, "live_k", self.model.k)


def measure(race, corpus, num_passes, num_rounds):
    """A row of one race: ratios of our tokens a second to theirs, round by round."""
    ours, theirs = (contestant(*RACES[race], corpus) for contestant in (Ours, Tomotopy))
    seconds = np.array(
        [[time_call(each, num_passes) for each in (ours, theirs)] for _ in range(num_rounds)]
    )
    rates = corpus.num_tokens * num_passes / seconds / 1e6
    ratios = seconds[:, 1] / seconds[:, 0]
    return {
        "contestant": "tomotopy",
        "work": race,
        "threads": 1,
        "target": LEAST_RATIO,
        "ratio_min": ratios.min(),
        "ratio_median": np.median(ratios),
        "ratio_max": ratios.max(),
        "our_megatokens_a_second": np.median(rates[:, 0]),
        "their_megatokens_a_second": np.median(rates[:, 1]),
        "our_topics": ours.num_topics(),
        "their_topics": theirs.num_topics(),
    }


def time_call(contestant, num_passes):
    """Seconds of some passes."""
    began = time.perf_counter()
    contestant.make_passes(num_passes)
    return time.perf_counter() - began


def main():
    """Read the command line, measure, print, and write JSON where asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--corpus", default="state-of-the-union")
    parser.add_argument("--passes", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    corpus = load_corpus(arguments.corpus)
    rows = [
        {"corpus": arguments.corpus, **measure(race, corpus, arguments.passes, arguments.rounds)}
        for race in RACES
    ]
    print(to_markdown(pd.DataFrame(rows).round(2)))
    write_json(arguments.json, rows)


if __name__ == "__main__":
    main()
