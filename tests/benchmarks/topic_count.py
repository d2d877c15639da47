"""How many topics the online HDP finds, for limits K, concentrations γ, corpus sizes and numbers of passes.

    python -m tests.benchmarks.topic_count [--corpora NAME ...] [--limits K ...] [--gammas γ ...] [--documents D ...]
                                           [--passes P ...] [--creation start] [--later-passes forget]
                                           [--seeds N] [--json FILE]

A simulated corpus is named by its true number of topics and the words of a document, as in `simulated-40x80`: topics
from Dirichlet(0.01) over 2,000 words, documents from the two-level HDP with α₀ = 1 and γ of half the number of topics.
Numbers of topics, the true one too, are the fewest that cover 99 % of the tokens. "Found" is the number of true topics
whose matched topic is within 1.5 times the error of known assignments.
"""

import argparse
from functools import lru_cache
from itertools import product

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from stickbreaker.engine import RunSettings, find_algorithm, load_corpus
from stickbreaker.engine.evaluation.held_out import count_topics
from stickbreaker.engine.runs.prepared import prepare
from stickbreaker.engine.runs.run import run
from stickbreaker.engine.simulate import simulate_hdp
from tests.benchmarks.heldout import to_markdown, write_json

SIMULATED = tuple(f"simulated-{topics}x{words}" for topics in (10, 40, 150) for words in (80, 300))
CORPORA = (*SIMULATED, "state-of-the-union", "rfc")
LIMITS, GAMMAS, DOCUMENTS, PASSES = (150, 300, 600, 1200), (0.1, 1.0, 10.0), (1000, 10_000, None), (1, 3, 10)
VOCAB_SIZE, WORD_CONCENTRATION, LARGEST_SIMULATION = 2000, 0.01, 20_000
FOUND = 1.5


@lru_cache(maxsize=4)
def load(name, num_documents, seed):
    """(corpus, simulation or None); a real corpus is a random sample of its documents, in their order."""
    rng = np.random.default_rng([seed, 7])
    if name in SIMULATED:
        num_topics, num_words = map(int, name.removeprefix("simulated-").split("x"))
        topics = rng.dirichlet(np.full(VOCAB_SIZE, WORD_CONCENTRATION), num_topics)
        simulation = simulate_hdp(topics, num_documents or LARGEST_SIMULATION, num_words, 1.0, num_topics / 2, rng)
        return simulation.corpus, simulation
    corpus = load_corpus(name)
    if num_documents is None or num_documents >= corpus.num_documents:
        return corpus, None
    return corpus.select(np.sort(rng.choice(corpus.num_documents, num_documents, replace=False))), None


def count_found(topics, simulation):
    """True topics whose matched topic is within 1.5 times the error of the topic from the true assignments."""
    counts = simulation.topic_words() + WORD_CONCENTRATION
    known = counts / counts.sum(1, keepdims=True)
    distances = np.array([0.5 * abs(topics - row).sum(1) for row in simulation.topics])
    rows, matched = linear_sum_assignment(distances)
    errors = 0.5 * abs(simulation.topics - known).sum(1)
    return int((distances[rows, matched] <= FOUND * errors[rows]).sum())


def measure(name, num_documents, seed, settings, passes):
    """Rows of one run, one for each number of passes."""
    corpus, simulation = load(name, num_documents, seed)
    algorithm = find_algorithm("hdp")
    limits = RunSettings(
        passes=max(passes), seed=seed, order="shuffled", num_evaluations=1, num_snapshots=0, score_next_batch=False
    )
    prepared = prepare(algorithm, algorithm.config(**settings), corpus, limits)
    rows = []
    for update in run(prepared):
        done, rest = divmod(update.stepped.documents_seen, prepared.corpus_size)
        if rest or done not in passes:
            continue
        row = {"corpus": name, "documents": num_documents or corpus.num_documents, "seed": seed, **settings}
        row |= {"passes": done, "topics": update.stepped.num_topics, "seconds": update.stepped.seconds}
        row["nats_per_word"] = update.held_out.nats_per_word if update.held_out else None
        if simulation is not None:
            summary = algorithm.summarize(prepared.config, update.stepped.state)
            row |= {
                "true_topics": count_topics(simulation.topic_words().sum(1).astype(float)),
                "found": count_found(summary.topics.astype(float), simulation),
            }
        rows.append(row)
    return rows


def tabulate(frame):
    """Number of topics by limit, as means over seeds, with their deviation over seeds, and the true topics found.

    Nats per held-out word are means over seeds and limits.
    """
    places = ["corpus", "documents", "corpus_concentration", "passes"]
    mean = frame.pivot_table(index=places, columns="max_topics", values="topics", aggfunc="mean", dropna=False)
    table = mean.dropna(how="all").round(1)
    table.columns = [f"K = {limit}" for limit in table.columns]
    table["deviation"] = frame.groupby([*places, "max_topics"])["topics"].std().groupby(places).mean().round(1)
    if "found" in frame:
        table["true number"] = frame.groupby(places)["true_topics"].mean().round(1)
        table["found"] = frame.groupby(places)["found"].mean().round(1)
    table["nats a word"] = frame.groupby(places)["nats_per_word"].mean().round(4)
    of_seeds = frame.groupby([*places, "seed"])["nats_per_word"].mean()
    table["their deviation"] = of_seeds.groupby(places).std().round(4)
    table = table.reset_index().rename(columns={"corpus_concentration": "γ"})
    return table.astype(object).where(table.notna(), "")


def main():
    """Read the command line, measure, print, and write JSON where asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, default=CORPORA)
    parser.add_argument("--limits", nargs="+", type=int, default=LIMITS)
    parser.add_argument("--gammas", nargs="+", type=float, default=GAMMAS)
    parser.add_argument("--documents", nargs="+", type=int, default=DOCUMENTS, help="0 is all documents")
    parser.add_argument("--passes", nargs="+", type=int, default=PASSES)
    parser.add_argument("--creation", choices=("births", "start"), default="births", help="topic_creation of the HDP")
    parser.add_argument("--later-passes", choices=("average", "forget"), default="average", help="setting of the HDP")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    rows = []
    for name, size, seed in product(arguments.corpora, arguments.documents, range(arguments.seeds)):
        for limit, gamma in product(arguments.limits, arguments.gammas):
            settings = {"max_topics": limit, "corpus_concentration": gamma, "topic_creation": arguments.creation}
            settings["later_passes"] = arguments.later_passes
            rows += measure(name, size or None, seed, settings, arguments.passes)
    print(to_markdown(tabulate(pd.DataFrame(rows))))
    write_json(arguments.json, rows)


if __name__ == "__main__":
    main()
