"""Adaptive learning rates (Ranganath et al. 2013) against ρ = (τ₀ + t)^-κ: held-out likelihood and topics in use.

    python -m tests.benchmarks.adaptive_rates [--corpora NAME ...] [--seeds 0 1 2] [--json FILE]

The adaptive rate is |ḡ|² / h̄: ḡ and h̄ are moving averages of the natural gradient g = λ̂ - λ and of |g|², over a
window that grows by 1 - ρ in each step and starts at --window mini-batches, which have the rates of the schedule. It is
never larger than t^-½, the largest rate that a schedule has, nor smaller than 1/(D/S + t), and is set from outside
before each mini-batch. Each run is one pass at the defaults of its algorithm.
"""

import argparse
import sys
from itertools import product

import numpy as np
import pandas as pd

from stickbreaker import engine
from stickbreaker.engine.schedules import learning_rate
from tests.benchmarks.heldout import to_markdown, write_json

ALGORITHMS = ("hdp", "lda")


class AdaptiveRate:
    """The moving averages of Ranganath et al. 2013, Eq. 8 to 10."""

    def __init__(self, window):
        self.window, self.num_steps = float(window), 0
        self.mean, self.square = np.zeros((0, 0), np.float32), 0.0

    def take(self, gradient, rate):
        """Take the gradient of a step and its rate."""
        if self.mean.shape != gradient.shape:
            # New topics have no average yet.
            grown = np.zeros_like(gradient)
            grown[:, : self.mean.shape[1]] = self.mean if self.mean.size else 0
            self.mean = grown
        # Until the window is full, the averages are plain means.
        self.num_steps += 1
        weight = 1.0 / min(self.num_steps, self.window)
        self.mean = (1 - weight) * self.mean + weight * gradient
        self.square = (1 - weight) * self.square + weight * float(np.vdot(gradient, gradient))
        if self.num_steps >= self.window:
            self.window = self.window * (1 - rate) + 1

    def rate(self):
        """The rate of the next step."""
        return float(np.vdot(self.mean, self.mean)) / self.square


def learn(corpus, name, order, is_adaptive, seed, window):
    """One row: the last held-out score and the number of topics of a run, and the largest and the last rate."""
    algorithm = engine.find_algorithm(name)
    settings = engine.RunSettings(seed=seed, score_next_batch=False, num_snapshots=1, order=order)
    prepared = engine.prepare(algorithm, algorithm.config(), corpus, settings)
    config, updates, sent, before, rates = prepared.config, None, None, None, []
    adaptive = AdaptiveRate(window)
    updates = engine.run(prepared)
    per_pass = prepared.corpus_size / config.batch_size
    rate = learning_rate(1, config.delay, config.forgetting_rate)
    scores, topics = [], 0
    while True:
        try:
            update = updates.send(sent)
        except StopIteration:
            break
        if update.held_out is not None:
            scores.append(update.held_out.nats_per_word)
        topics = update.stepped.num_topics
        rates.append(rate)
        step, sent = len(rates), None
        now = update.state.topic_counts.dense().astype(np.float32)
        if before is not None and before.shape == now.shape and step > 1:
            adaptive.take((now - before) / rate, rate)
        before = now
        rate = learning_rate(step + 1, config.delay, config.forgetting_rate)
        if is_adaptive and adaptive.num_steps >= window:
            rate = float(np.clip(adaptive.rate(), 1 / (per_pass + step + 1), (step + 1) ** -0.5))
            sent = type(config)(**{**vars(config), "forgetting_rate": 0.5, "delay": max(0.0, rate**-2 - step - 1)})
    return {"score": scores[-1], "topics": topics, "largest rate": max(rates), "last rate": rates[-1]}


def main():
    """Read the command line, measure, print, and write JSON where asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", nargs="+", default=["state-of-the-union", "rfc-documents"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--window", type=int, default=5)
    parser.add_argument("--json")
    options = parser.parse_args()
    rows = []
    for place in options.corpora:
        corpus = engine.load_corpus(place)
        for name in ALGORITHMS:
            for order, is_adaptive, seed in product(("chronological", "shuffled"), (False, True), options.seeds):
                found = learn(corpus, name, order, is_adaptive, seed, options.window)
                kind = "adaptive" if is_adaptive else "schedule"
                rows.append(
                    {"corpus": place, "algorithm": name, "order": order, "rates": kind, "seed": seed, **found}
                )
                print(rows[-1], file=sys.stderr, flush=True)
    groups = pd.DataFrame(rows).groupby(["corpus", "algorithm", "order", "rates"], sort=False)
    frame = groups[["score", "topics", "largest rate", "last rate"]].mean().round(3)
    frame.insert(1, "std", groups["score"].std().round(3))
    print(to_markdown(frame.reset_index().astype(object).fillna("-")))
    write_json(options.json, rows)


if __name__ == "__main__":
    main()
