"""Held-out likelihood with the local step that ascends a bound, and with other local steps, on validation documents.

    python -m tests.benchmarks.local_steps --corpus state-of-the-union --seeds 3 [--documents N] [--json FILE]

One pass of the online HDP at its defaults. No test document takes part: a tenth of the training documents is held out.
B = E[topic] unless the line says otherwise; all steps start a document's slots on its own best topics.

* bound: Eq. 15-18 with log B in place of E[log topic], the step of the engine
* mixture: ζ_it ∝ exp(E log π_t) Σ_k φ_tk B_ik, and Eq. 15-17 with log B (no objective is known)
* gradient: ζ of "mixture", and φ_tk ∝ exp(E log β_k + Σ_i c_i ζ_it B_ik / Σ_l φ_tl B_il)
* printed: Eq. 15-18 with E[log topic]
* direct assignment: one Dirichlet for each document, without slots
"""

import argparse
from contextlib import contextmanager

import numba
import numpy as np
import pandas as pd

from stickbreaker.engine import RunSettings
from stickbreaker.engine.inference import two_level
from stickbreaker.engine.inference.held_words import split_words
from stickbreaker.engine.kernels.counts import next_block
from stickbreaker.engine.kernels.dirichlet import longest_document, make_room
from stickbreaker.engine.kernels.slots import (
    expected_log_sticks,
    multiply,
    normalise_rows,
    update_slot_topics,
    update_sticks,
    write_tokens,
)
from stickbreaker.engine.kernels.two_level import add_sums, fit_document, make_scratch, sum_slots
from stickbreaker.engine.runs.prepared import split_corpus
from tests.benchmarks.contestants import Ours
from tests.benchmarks.corpora import divide
from tests.benchmarks.heldout import learn, score_both, to_markdown, write_json

STEPS = {
    "bound": ("hdp", {}),
    "mixture": ("hdp", {}),
    "gradient": ("hdp", {}),
    "printed": ("hdp", {"topic_expectation": "geometric"}),
    "direct assignment": ("direct-hdp", {}),
}


@numba.njit
def mix_words(c, log_pi, weights, phi, tokens):
    """Write c_i ζ_it of "mixture" to tokens (T, N); weights: B (A, N). Returns Σ_k φ_tk B_ik (T, N)."""
    mixed = np.empty_like(tokens)
    multiply(phi, weights, mixed)
    tokens[:] = 0.0
    for t in range(len(log_pi)):
        tokens[t] = mixed[t] * np.exp(log_pi[t] - log_pi.max())
    for i in range(len(c)):
        tokens[:, i] *= c[i] / tokens[:, i].sum()
    return mixed


@numba.njit
def follow_gradient(prior, weights, mixed, tokens, phi):
    """φ of "gradient"."""
    multiply(tokens / np.maximum(mixed, np.float32(1e-30)), np.ascontiguousarray(weights.T), phi)
    normalise_rows(prior, phi.shape[0], phi.reshape(phi.size))


@numba.njit
def continue_document(c, slots, weights, scratch, limits, is_gradient):
    """The iterations after the first, which is the same in every step; weights: B (A, N)."""
    log_weights, prior = np.log(np.ascontiguousarray(weights.T)), scratch.expected_log_weights[: len(weights)]
    for _ in range(limits.num_iterations - 1):
        expected_log_sticks(slots.sticks, scratch.digammas, scratch.log_pi)
        mixed = mix_words(c, scratch.log_pi, weights, slots.phi, slots.tokens)
        slots.totals[0] = slots.tokens[: limits.num_slots].sum(1)
        update_sticks(slots.totals[0], limits.doc_concentration, slots.sticks)
        if is_gradient:
            follow_gradient(prior, weights, mixed, slots.tokens, slots.phi)
        else:
            update_slot_topics(log_weights, slots.tokens, prior, slots.phi)


@numba.njit(nogil=True)
def fit_by(is_gradient, first, problem, out):
    """`fit_two_level` with the step "mixture" or "gradient"; first: the limits, with one iteration.

    problem and out: the first five and the next four arguments of `fit_two_level`.
    """
    documents, topics, prior, sweeps, limits = problem
    counts, tables, tokens, shares = out
    longest, num_topics = longest_document(documents), topics.shape[1]
    room, scratch = make_room(longest, topics), make_scratch(limits, longest, topics)
    active, is_taken = np.arange(num_topics), np.empty(num_topics, np.bool_)
    place = 0
    for j in range(documents.starts.shape[0] - 1):
        c, own, slots = fit_document(documents, j, topics, prior, sweeps, first, room, scratch, active, is_taken)
        words = documents.words[documents.starts[j] : documents.starts[j + 1]]
        weights = np.ones((slots.phi.shape[1], c.shape[0]), topics.dtype)
        for m in range(len(own)):
            for i in range(len(words)):
                weights[m, i] = topics[words[i], own[m]]
        continue_document(c, slots, weights, scratch, limits, is_gradient)
        sums, is_learning = scratch.sums[:, : slots.phi.shape[1]], counts.tokens.shape[0] > 0
        sum_slots(slots, limits.num_slots, sums)
        add_sums(sums, own, is_learning, tables, tokens, shares[j])
        if is_learning:
            block, place = next_block(counts, j, own, place)
            write_tokens(slots.phi, slots.tokens, block)


@contextmanager
def local_step(name):
    """The engine with one of the STEPS."""
    engines = two_level.fit_two_level
    if name in ("mixture", "gradient"):

        def fit(*arguments):
            first = arguments[4]._replace(num_iterations=1)
            fit_by(name == "gradient", first, arguments[:5], arguments[5:9])

        two_level.fit_two_level = fit
    try:
        yield
    finally:
        two_level.fit_two_level = engines


def measure(corpus, documents, seed):
    """A row for each step."""
    train, _ = divide(corpus, "shuffled", seed, documents)
    train, validation = split_corpus(train, RunSettings(order="shuffled", seed=0))
    held_out, rows = split_words(validation.documents(), validation.doc_ids, seed), []
    for name, (algorithm, settings) in STEPS.items():
        with local_step(name):
            contestant = Ours(algorithm, train, seed, **settings)
            learn(contestant, train, seed)
            own, folded = score_both(contestant, held_out)
        found = {"own": own, "fold_in": folded, "topics": contestant.num_topics()}
        rows.append({"corpus": corpus, "documents": train.num_documents, "seed": seed, "step": name, **found})
    return rows


def tabulate(rows):
    """A line for each step: nats per held-out token, mean ± spread over seeds, and the difference from "bound"."""
    frame = pd.DataFrame(rows).set_index(["seed", "step"])
    table = {}
    for protocol in ("own", "fold_in"):
        scores = frame[protocol].unstack("step")[list(STEPS)]
        gaps = scores.sub(scores["bound"], axis=0)
        table[protocol] = [f"{scores[step].mean():.4f} ± {scores[step].std():.4f}" for step in STEPS]
        table[f"{protocol}, ahead of bound"] = [f"{gaps[step].mean():.4f} ± {gaps[step].sem():.4f}" for step in STEPS]
    table["topics"] = frame["topics"].groupby("step").mean().round(1)[list(STEPS)].tolist()
    return pd.DataFrame(table, index=pd.Index(list(STEPS), name="step")).reset_index()


def main():
    """Read the command line, measure, print, and write JSON where asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default="state-of-the-union")
    parser.add_argument("--documents", type=int, help="maximum number of documents, drawn at random")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    rows = []
    for seed in range(arguments.seeds):
        rows += measure(arguments.corpus, arguments.documents, seed)
    print(to_markdown(tabulate(rows)))
    write_json(arguments.json, rows)


if __name__ == "__main__":
    main()
