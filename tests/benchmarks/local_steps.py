"""Held-out likelihood with the local step that ascends a bound, and with other local steps, on validation documents.

    python -m tests.benchmarks.local_steps --corpus state-of-the-union --seeds 3 [--documents N] [--json FILE]

One pass of the online HDP at its defaults. No test document takes part: a tenth of the training documents is held out.
B = E[topic] unless the line says otherwise; all steps start a document's slots on its own best topics.

* bound: Eq. 15-18 with log B in place of E[log topic], the step of the engine
* mixture: ζ_it ∝ exp(E log π_t) Σ_k φ_tk B_ik, and Eq. 15-17 with log B (no objective is known)
* gradient: ζ of "mixture", and φ_tk ∝ exp(E log β_k + Σ_i c_i ζ_it B_ik / Σ_l φ_tl B_il)
* printed: Eq. 15-18 with E[log topic]
* direct assignment: one Dirichlet for each document, without slots
* sampled: the topic of each token is drawn from α₀ E[β_k] + N_k times B_ik, with the tokens N_k of the document's other
  tokens, and the counts of the sweeps after the burn-in are averaged (Mimno, Hoffman & Blei 2012). A draw visits the
  topics that the document has, and all topics only for the part of α₀ E[β]

The seconds are the processor time of the whole pass, with its warm-up.
"""

import argparse
import time
from contextlib import contextmanager

import numba
import numpy as np
import pandas as pd
from scipy import special

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
from stickbreaker.engine.kernels.special import digamma
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
    "sampled": ("hdp", {}),
}
# Sweeps over a document's tokens: those before the first sample, and those whose counts are averaged.
BURN_IN, NUM_SAMPLES = 10, 10
# Documents of the pass that compiles.
FEW = 1_000


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


@numba.njit
def draw_topic(rng, kept, weights, held, alpha, rest):
    """Draw a topic in proportion to (α_k + N_k) B_k; held: the ids of topics with N_k > 0, rest: Σ_k α_k B_k."""
    total = rest
    for k in held:
        total += kept[k] * weights[k]
    left = rng.random() * total
    for k in held:
        left -= kept[k] * weights[k]
        if left < 0:
            return k
    for k in range(len(alpha)):
        left -= alpha[k] * weights[k]
        if left < 0:
            return k
    return np.argmax(alpha)


@numba.njit
def sample_document(rng, counts, rows, alpha, rests, out_mean):
    """Write the mean number of each word's tokens in each topic (N, K); rows: B of the words (N, K)."""
    words = np.repeat(np.arange(len(counts)), counts)
    topics = np.full(len(words), -1)
    tokens = np.zeros(len(alpha), np.int64)
    held, num_held = np.empty(len(alpha), np.int64), 0
    for sweep in range(BURN_IN + NUM_SAMPLES):
        for n in range(len(words)):
            i, old = words[n], topics[n]
            if old >= 0:
                tokens[old] -= 1
                if tokens[old] == 0:
                    place = np.flatnonzero(held[:num_held] == old)[0]
                    num_held -= 1
                    held[place] = held[num_held]
            new = draw_topic(rng, tokens, rows[i], held[:num_held], alpha, rests[i])
            if tokens[new] == 0:
                held[num_held] = new
                num_held += 1
            tokens[new] += 1
            topics[n] = new
            if sweep >= BURN_IN:
                out_mean[i, new] += 1.0 / NUM_SAMPLES


@numba.njit(nogil=True)
def fit_by_sampling(rng, problem, digamma_prior, out):
    """`fit_two_level` with the step "sampled", arguments as in `fit_by`; digamma_prior: ψ(α₀ E[β]) (K,)."""
    documents, topics, prior, _, limits = problem
    counts, tables, tokens, shares = out
    alpha, place = prior.concentrations, 0
    for j in range(documents.starts.shape[0] - 1):
        first, last = documents.starts[j], documents.starts[j + 1]
        rows = np.empty((last - first, len(alpha)), topics.dtype)
        rests = np.zeros(last - first)
        for i in range(last - first):
            rows[i] = topics[documents.words[first + i]]
            for k in range(len(alpha)):
                rests[i] += alpha[k] * rows[i, k]
        mean = np.zeros((last - first, len(alpha)))
        sample_document(rng, documents.counts[first:last], rows, alpha, rests, mean)
        sums = mean.sum(0)
        own = np.argsort(-sums)[: min(limits.max_active, (sums > 0).sum())]
        shares[j] = (alpha + sums) / (alpha.sum() + sums.sum())
        for k in own:
            # The expected number of tables of N tokens is α (ψ(α + N) - ψ(α)).
            tables[k] += alpha[k] * (digamma(alpha[k] + sums[k]) - digamma_prior[k])
        if counts.tokens.shape[0] > 0:
            block, place = next_block(counts, j, own, place)
            for m in range(len(own)):
                tokens[own[m]] += sums[own[m]]
                for i in range(last - first):
                    block[i, m] = mean[i, own[m]]


@contextmanager
def local_step(name):
    """The engine with one of the STEPS."""
    engines = two_level.fit_two_level
    if name in ("mixture", "gradient"):

        def fit(*arguments):
            first = arguments[4]._replace(num_iterations=1)
            fit_by(name == "gradient", first, arguments[:5], arguments[5:9])

        two_level.fit_two_level = fit
    elif name == "sampled":

        def sample(*arguments):
            rng = np.random.default_rng(len(arguments[0].words))
            fit_by_sampling(rng, arguments[:5], special.digamma(arguments[2].concentrations), arguments[5:9])

        two_level.fit_two_level = sample
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
            few = train.select(np.arange(min(FEW, train.num_documents)))
            # The first pass compiles.
            learn(Ours(algorithm, few, seed, **settings), few, seed)
            contestant = Ours(algorithm, train, seed, **settings)
            began = time.process_time()
            learn(contestant, train, seed)
            seconds = time.process_time() - began
            own, folded = score_both(contestant, held_out)
        found = {"own": own, "fold_in": folded, "topics": contestant.num_topics(), "seconds": seconds}
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
    table["seconds"] = frame["seconds"].groupby("step").mean().round(2)[list(STEPS)].tolist()
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
