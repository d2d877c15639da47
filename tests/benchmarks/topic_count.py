"""How many topics the online HDP counts, and which of them are true.

    python -m tests.benchmarks.topic_count [--corpora NAME ...] [--passes P ...] [--seeds N]
    [--systems NAME ...]
                                           [--json FILE] [--constants]

Corpora: "one topic" and "N topics" are simulated, 10,000 documents of 80 words unless stated;
"power law": topic k has a weight of 1/k; "shared": half of each topic is the words of all; "weak":
nine tenths are; "Zipf": words have a Zipf law; "null of NAME": the lengths and word frequencies of
a corpus, from one topic. All others are real text, with a number of its documents drawn at random.

"counted": topics in use, the fewest that cover 99 % of the tokens. Of these, "found": matched to a
true topic within a total variation of .3; "repeated": as near to a true topic that another topic is
matched to (real text: at least five of ten top words are those of a larger topic); "mixed": near no
true topic; "echoes": Jensen-Shannon divergence from the corpus' word frequencies below .15 nats
(real text). "unigram" has the nats of the word frequencies of the training documents, plus one per
word.

--systems: also HDPs of other libraries (`coherence.py` says how they learn), without nats.

--constants: the same with each constant of the rule (`engine/inference/evidence.py` and `removals.py`) at half and at
double its value, on VARIED after one pass.
"""

import argparse
import itertools
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache
from unittest.mock import patch

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.special import rel_entr

from stickbreaker.engine import RunSettings, find_algorithm, load_corpus
from stickbreaker.engine.corpora.corpus import Corpus, Vocabulary
from stickbreaker.engine.evaluation.held_out import rank_topics
from stickbreaker.engine.inference import evidence, removals
from stickbreaker.engine.inference.held_words import split_words
from stickbreaker.engine.runs.prepared import prepare
from stickbreaker.engine.runs.run import run
from tests.benchmarks import coherence
from tests.benchmarks.heldout import to_markdown, write_json

VOCAB_SIZE, NUM_DOCUMENTS, NUM_WORDS = 1000, 10_000, 80
NEAR, ECHO, SHARED_WORDS, TOP_WORDS = 0.3, 0.15, 5, 10
NUM_REAL = 10_000


@dataclass(frozen=True)
class Truth:
    """A simulated corpus: topics, words of a document, the part of each topic that all share, and
    weights.
    """

    topics: int
    words: int = NUM_WORDS
    shared: float = 0.0
    is_power_law: bool = False
    is_zipf: bool = False
    documents: int = NUM_DOCUMENTS


SIMULATED = {
    "one topic": Truth(1),
    "3 topics": Truth(3),
    "10 topics": Truth(10),
    "25 topics": Truth(25),
    "60 topics": Truth(60),
    "120 topics, power law": Truth(120, is_power_law=True),
    "60 topics, shared": Truth(60, shared=0.5),
    "60 topics, Zipf": Truth(60, is_zipf=True),
    "60 topics, 20 words": Truth(60, words=20),
    "10 topics, weak": Truth(10, shared=0.9),
    "10 topics, 200 documents": Truth(10, documents=200),
    "10 topics, 2,000 documents": Truth(10, documents=2000),
    "one topic, 600 documents": Truth(1, documents=600),
    "one topic, Zipf, 200 documents": Truth(1, is_zipf=True, documents=200),
    "one topic, Zipf, 600 of 20 words": Truth(1, words=20, is_zipf=True, documents=600),
}
# Half and double; of LEFT, half and double the part that is removed.
CONSTANTS = {
    "SMALL_SHARE": (0.05, 0.2),
    "ENOUGH_SET_ASIDE": (50, 200),
    "SHARE": (0.025, 0.1),
    "MOST_SET_ASIDE": (512, 2048),
    "LEFT": (0.875, 0.5),
    "FIRST_SCORED": (32, 128),
    "CLEARLY_WORSE": (1.0, 4.0),
    "NEGLIGIBLE": (0.0005, 0.002),
    "COMPARED_WORDS": (2048, 8192),
    "SHARED_WORDS": (2**14, 2**16),
    "RATES_BETWEEN": (0.35, 1.39),
    "MOST_PARENTS": (3, 12),
}
OF_PATHS = ("LEFT", "COMPARED_WORDS", "MOST_PARENTS")
VARIED = (
    "60 topics",
    "10 topics, 200 documents",
    "null of state-of-the-union",
    "state-of-the-union",
)
REAL = ("state-of-the-union", "rfc")
NULLS = tuple(f"null of {name}" for name in REAL)
SMALL = {f"{number} of {name}": (name, number) for name in REAL for number in (60, 120)}
CORPORA = (*SIMULATED, *NULLS, *SMALL, *REAL)
OTHERS = ("gensim-hdp", "tomotopy-hdp")


def draw_topics(truth, rng):
    """True topics (K, V)."""
    base = 1.0 / np.arange(1, VOCAB_SIZE + 1) if truth.is_zipf else np.ones(VOCAB_SIZE)
    base /= base.sum()
    own = np.maximum(rng.gamma(np.tile(0.05 * VOCAB_SIZE * base, (truth.topics, 1))), 1e-300)
    own /= own.sum(1, keepdims=True)
    return (1.0 - truth.shared) * own + truth.shared * own.mean(0)


@lru_cache(maxsize=2)
def simulate(name, seed):
    """(corpus, true topics with 100 documents or more (K, V)) of a simulated corpus."""
    truth = SIMULATED[name]
    rng = np.random.default_rng([seed, truth.topics])
    topics = draw_topics(truth, rng)
    weights = 1.0 / np.arange(1, truth.topics + 1) if truth.is_power_law else np.ones(truth.topics)
    weights /= weights.sum()
    shares = rng.dirichlet(np.maximum(weights, 1e-3), truth.documents)
    tokens = np.array([rng.multinomial(truth.words, row) for row in shares])
    counts = sum(
        np.array([rng.multinomial(n, topics[k]) for n in tokens[:, k]]) for k in range(truth.topics)
    )
    return make_corpus(csr_array(counts), Vocabulary(tuple(map(str, range(VOCAB_SIZE))))), topics


def make_corpus(counts, vocabulary):
    """A corpus without dates and titles."""
    number = counts.shape[0]
    return Corpus(
        "simulated", counts, vocabulary, np.full(number, "NaT", "datetime64[Y]"), [""] * number
    )


@lru_cache(maxsize=2)
def draw_real(name, seed, most=NUM_REAL):
    """A random sample of the documents of a corpus."""
    corpus, rng = load_corpus(name), np.random.default_rng([seed, 7])
    if corpus.num_documents <= most:
        return corpus
    return corpus.select(np.sort(rng.choice(corpus.num_documents, most, replace=False)))


def draw_null(name, seed):
    """Documents of one topic with the lengths and word frequencies of a corpus."""
    corpus, rng = draw_real(name, seed), np.random.default_rng([seed, 9])
    frequencies = np.asarray(corpus.counts.sum(0), float).ravel()
    lengths = corpus.documents().sizes()
    words = rng.choice(corpus.vocab_size, lengths.sum(), p=frequencies / frequencies.sum())
    rows = np.repeat(np.arange(len(lengths)), lengths)
    counts = csr_array((np.ones(len(words), np.int32), (rows, words)), shape=corpus.counts.shape)
    counts.sum_duplicates()
    return make_corpus(counts, corpus.vocabulary), (frequencies / frequencies.sum())[None]


def load(name, seed):
    """(corpus, true topics or None)."""
    if name in SIMULATED:
        return simulate(name, seed)
    if name in NULLS:
        return draw_null(name.removeprefix("null of "), seed)
    corpus_name, most = SMALL.get(name, (name, NUM_REAL))
    return draw_real(corpus_name, seed, most), None


def classify_topics(topics, known, frequencies):
    """Found, repeated and mixed topics in use (n, V), and echoes of the frequencies."""
    middle = (topics + frequencies) / 2
    divergences = (rel_entr(topics, middle).sum(1) + rel_entr(frequencies, middle).sum(1)) / 2
    if known is None:
        top = np.argsort(-topics, axis=1)[:, :TOP_WORDS]
        repeated = [
            max((len(set(row) & set(other)) for other in top[:place]), default=0)
            for place, row in enumerate(top)
        ]
        return {
            "repeated": int((np.array(repeated) >= SHARED_WORDS).sum()),
            "echoes": int((divergences < ECHO).sum()),
        }
    distances = np.array([0.5 * abs(topics - row).sum(1) for row in known])
    rows, matched = linear_sum_assignment(distances)
    found = int((distances[rows, matched] < NEAR).sum())
    near = int((distances.min(0) < NEAR).sum())
    return {
        "true": len(known),
        "found": found,
        "repeated": near - found,
        "mixed": len(topics) - near,
    }


def score_unigram(prepared):
    """Nats per held-out word of the training frequencies, plus one per word."""
    test = prepared.test
    split = split_words(test.documents(), test.doc_ids, prepared.settings.seed)
    counts = np.asarray(prepared.train.counts.sum(0), float).ravel() + 1.0
    logs = np.log(counts / counts.sum())
    return float((split.counts * logs[split.words]).sum() / split.num_tokens)


def measure(name, seed, passes, **chosen):
    """Rows of one run, one for each number of passes."""
    corpus, known = load(name, seed)
    algorithm = find_algorithm("hdp")
    settings = RunSettings(
        passes=max(passes),
        seed=seed,
        order="shuffled",
        num_evaluations=1,
        num_moments=0,
        score_next_batch=False,
    )
    prepared = prepare(algorithm, algorithm.config(**chosen), corpus, settings)
    frequencies = np.asarray(prepared.train.counts.sum(0), float).ravel()
    unigram, rows = score_unigram(prepared), []
    for update in run(prepared):
        done, rest = divmod(update.stepped.documents_seen, prepared.corpus_size)
        if rest or done not in passes:
            continue
        summary = algorithm.summarize(prepared.config, update.stepped.state)
        in_use = rank_topics(summary.expected_tokens)
        topics = summary.topics[in_use].astype(float)
        row = {"corpus": name, "system": "hdp", "seed": seed, "passes": done, **chosen}
        row["counted"] = update.stepped.num_topics
        row |= classify_topics(topics, known, frequencies / frequencies.sum())
        row |= {
            "nats": update.held_out.nats_per_word,
            "unigram": unigram,
            "seconds": update.stepped.seconds,
        }
        rows.append(row)
    return rows


def measure_other(name, system, seed):
    """A row of another library's HDP."""
    corpus, known = load(name, seed)
    topics, tokens, seconds = coherence.SYSTEMS[system](corpus, seed)
    in_use = rank_topics(tokens)
    frequencies = np.asarray(corpus.counts.sum(0), float).ravel()
    found = classify_topics(topics[in_use], known, frequencies / frequencies.sum())
    return {
        "corpus": name,
        "system": system,
        "seed": seed,
        "counted": len(in_use),
        **found,
        "seconds": seconds,
    }


def tabulate(rows):
    """Means over seeds, and the range of the counts."""
    frame = pd.DataFrame(rows).drop(columns="seed")
    places = [
        name
        for name in ("corpus", "system", "max_topics", "corpus_concentration", "passes")
        if name in frame
    ]
    grouped = frame.groupby(places, sort=False, dropna=False)
    table = grouped.mean().round({"nats": 4, "unigram": 4}).round(1)
    table.insert(
        1, "range", grouped["counted"].agg(lambda counts: f"{counts.min()} to {counts.max()}")
    )
    for name in ("nats", "unigram"):
        table[name] = grouped[name].mean().round(4)
    return table.reset_index().astype(object).where(table.reset_index().notna(), "")


def list_runs(corpora):
    """Corpora with settings: the defaults, values of K for 60 topics, of γ for real text."""
    runs = [(name, {}) for name in corpora]
    runs += [
        ("60 topics", {"max_topics": limit}) for limit in (120, 300, 600) if "60 topics" in corpora
    ]
    runs += [
        (name, {"corpus_concentration": gamma})
        for name in REAL[:1]
        if name in corpora
        for gamma in (0.1, 10.0)
    ]
    return runs


def vary(seeds):
    """Rows of VARIED with each constant changed, none in the first; means over seeds."""
    changes = [("", ""), *((name, value) for name, values in CONSTANTS.items() for value in values)]
    rows = []
    for name, value in changes:
        row = {"constant": name, "value": value}
        for corpus in VARIED:
            place = removals if name in OF_PATHS else evidence
            with patch.object(place, name, value) if name else nullcontext():
                found = pd.DataFrame(
                    [row for seed in range(seeds) for row in measure(corpus, seed, (1,))]
                )
            row[f"{corpus}: counted"] = found["counted"].mean().round(1)
            row[f"{corpus}: nats"] = found["nats"].mean().round(4)
        rows.append(row)
    return rows


def main():
    """Read the command line, measure, print, and write JSON where asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, default=CORPORA)
    parser.add_argument(
        "--systems", nargs="+", choices=OTHERS, default=(), help="HDPs of other libraries"
    )
    parser.add_argument("--passes", nargs="+", type=int, default=(1, 3))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--constants", action="store_true", help="vary the constants of the rule")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    if arguments.constants:
        rows = vary(arguments.seeds)
        print(to_markdown(pd.DataFrame(rows)))
        write_json(arguments.json, rows)
        return
    runs = list_runs(arguments.corpora)
    rows = [
        row
        for name, chosen in runs
        for seed in range(arguments.seeds)
        for row in measure(name, seed, arguments.passes, **chosen)
    ]
    others = itertools.product(arguments.corpora, arguments.systems, range(arguments.seeds))
    rows += [measure_other(*other) for other in others]
    print(to_markdown(tabulate(rows)))
    write_json(arguments.json, rows)


if __name__ == "__main__":
    main()
