"""Held-out likelihood of the online HDP, a unigram model and online LDA, on the same splits and
batches, one pass.

    python -m tests.benchmarks.heldout --corpus state-of-the-union --seeds 5 [--json FILE] [--jobs
    N]

A corpus has the same test documents for every seed; the seeds differ in the order, the start and
the held-out words. Each plain LDA (ours and scikit-learn's, at each K) learns with the one of
`CHOICES` that scores best on validation documents, a tenth of the training documents. So no test
document takes part in a choice. The HDP, direct assignment and the LDAs with its local step use
their defaults. tomotopy's LDA makes `SAMPLER_PASSES` passes instead of one, learns its priors, and
is scored by the common fold-in. `--join FILE` adds rows of an earlier run to the tables; with
`--systems` and no name, nothing is measured.
"""

import argparse
import json
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import product, repeat

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from stickbreaker.engine import RunSettings, find_algorithm
from stickbreaker.engine.corpora.corpus import ORDERS, SPLITS
from stickbreaker.engine.evaluation.held_out import fold_in, perplexity_bound, score
from stickbreaker.engine.inference.held_words import split_tokens, split_words
from stickbreaker.engine.runs.prepared import split_corpus
from stickbreaker.engine.schedules import resolve
from tests.benchmarks.contestants import Ours, ScikitLearnLDA, TomotopyLDA, Unigram
from tests.benchmarks.corpora import divide

SIZES = (25, 50, 100, 200, 300)
PLAIN_BATCH = 256
SAMPLER_PASSES = 200
# κ and τ₀.
CHOICES = ((0.6, 64.0), (0.8, 16.0), (0.7, 10.0))
# Wang 2011 as printed, and as its authors ran it.
WANG = {"start": "wang", "topic_expectation": "geometric", "duplicates": "keep"}
WANG_AS_RUN = WANG | {"start": "wang-code"}
OURS = {
    "hdp": ("hdp", {}),
    "hdp-wang, as printed": ("hdp", WANG),
    "hdp-wang, as its authors ran it": ("hdp", WANG_AS_RUN),
    "direct-hdp": ("direct-hdp", {}),
    "hdp-fixed": ("hdp", {"concentrations": "fixed"}),
    "lda": ("lda", {}),
    "lda-learned": ("lda", {"concentrations": "learned"}),
    "lda-asymmetric": ("lda", {"concentrations": "asymmetric"}),
    "lda-warm": ("lda", {"start": "warm", "topic_expectation": "mean"}),
    "lda-mean": ("lda", {"start": "hoffman", "topic_expectation": "mean"}),
}
PLAIN = ("lda", "sklearn-lda", "lda-learned", "lda-asymmetric")
EQUIPPED = ("lda-warm", "lda-mean")
SAMPLED = ("tomotopy-lda",)
SIZES_OF = {
    **dict.fromkeys(PLAIN, SIZES),
    **dict.fromkeys(EQUIPPED, SIZES[1:]),
    **dict.fromkeys(SAMPLED, SIZES[:3]),
}
SYSTEMS = ("unigram", "sklearn-lda", *SAMPLED, *OURS)
OF_WANG = ("hdp-wang, as printed", "hdp-wang, as its authors ran it")
USUAL = ("hdp", *OF_WANG, "direct-hdp", "unigram", "lda", "sklearn-lda", *EQUIPPED)
PROTOCOLS = ("next_batch", "disjoint_words", "tokens_90_10", "perplexity_bound", "within_documents")


@dataclass(frozen=True)
class Setup:
    """What is read and how it is scored; `documents`: their maximum number, drawn at random."""

    corpus: str
    split: str | None
    documents: int | None
    protocols: tuple[str, ...]

    def divide(self, order, seed):
        """Training documents in the seed's reading order, and the test documents."""
        return divide(self.corpus, order, seed, self.documents, self.split)


@dataclass(frozen=True)
class Entry:
    """A contestant: its system, K if it needs one, and κ and τ₀ if they are chosen for it."""

    system: str
    size: int | None = None
    chosen: tuple[float, float] | None = None


def enter(entry, train, seed):
    """The contestant before its first batch; a plain LDA has S of at most 256."""
    if entry.system == "unigram":
        return Unigram(train)
    settings = {}
    if entry.chosen:
        derived = resolve(find_algorithm("hdp").config(), train.num_documents).batch_size
        rate, delay = entry.chosen
        settings = {
            "forgetting_rate": rate,
            "delay": delay,
            "batch_size": min(derived, PLAIN_BATCH),
        }
    if entry.system == "tomotopy-lda":
        return TomotopyLDA(train, seed, entry.size)
    if entry.system == "sklearn-lda":
        return ScikitLearnLDA(entry.size, train, seed, **settings)
    name, own = OURS[entry.system]
    settings |= {} if entry.size is None else {"max_topics": entry.size}
    return Ours(name, train, seed, **own, **settings)


def learn(contestant, train, seed, next_batch=False):
    """One pass, and on request nats per held-out token of each batch before it is learned."""
    if contestant.batch_size is None:
        contestant.learn(SAMPLER_PASSES)
        return None, None
    totals = np.zeros(3)
    for number, batch in enumerate(train.batches(contestant.batch_size)):
        if next_batch and number > 0:
            split = split_words(batch.documents, batch.doc_ids, seed)
            own, folded = score_both(contestant, split)
            totals += split.num_tokens * np.array([own, folded, 1.0])
        contestant.learn(batch)
    return totals[:2] / totals[2] if next_batch else None


def score_both(contestant, split):
    """Nats per held-out token by the system's own inference and by the common fold-in."""
    topics = contestant.topics()
    own = score(split, contestant.infer(split.observed), topics)
    return own, score(split, fold_in(split.observed, topics, contestant.prior()), topics)


def choose(setup, order, entry):
    """The entry; a plain LDA with the κ and τ₀ that are best on validation documents."""
    if entry.system not in PLAIN:
        return entry
    train, validation = split_corpus(setup.divide(order, 0)[0], RunSettings(order=order, seed=0))
    held_out = split_words(validation.documents(), validation.doc_ids, 0)
    scores = {}
    for chosen in CHOICES:
        contestant = enter(replace(entry, chosen=chosen), train, 0)
        learn(contestant, train, 0)
        scores[chosen] = score(held_out, contestant.infer(held_out.observed), contestant.topics())
    return replace(entry, chosen=max(scores, key=scores.get))


def measure(setup, order, entry, seed):
    """Rows of one contestant, order and seed: one for each requested protocol."""
    train, test = setup.divide(order, seed)
    contestant = enter(entry, train, seed)
    ahead = learn(contestant, train, seed, next_batch="next_batch" in setup.protocols)
    documents = test.documents()
    scores = {
        "next_batch": lambda: ahead,
        "disjoint_words": lambda: score_both(
            contestant, split_words(documents, test.doc_ids, seed)
        ),
        "tokens_90_10": lambda: score_both(contestant, split_tokens(documents, test.doc_ids, seed)),
        "perplexity_bound": lambda: (
            None,
            perplexity_bound(documents, contestant.topics(), contestant.prior()),
        ),
        "within_documents": lambda: measure_within(train, entry, seed),
    }
    facts = describe(setup, order, entry, seed, train)
    facts |= {"setting": contestant.size, "batch_size": contestant.batch_size}
    last = {"topics": contestant.num_topics(), "seconds": contestant.seconds}
    return [
        {
            **facts,
            "protocol": protocol,
            "predictive": predictive,
            "nats_per_word": float(nats),
            **last,
        }
        for protocol in setup.protocols
        for predictive, nats in zip(("own", "fold_in"), scores[protocol](), strict=True)
        if nats is not None
    ]


def describe(setup, order, entry, seed, train):
    """The part of a row that describes its run."""
    rate, delay = entry.chosen or (None, None)
    return {
        "corpus": setup.corpus,
        "split": setup.split or train.split_by,
        "subset": setup.documents,
        "documents": train.num_documents,
        "order": order,
        "system": entry.system,
        "seed": seed,
        "forgetting_rate": rate,
        "delay": delay,
    }


def measure_within(train, entry, seed):
    """Learn from nine tenths of each training document's tokens and predict the last tenth."""
    # A document of one token has none left to learn from.
    train = train.select(train.documents().sizes() > 1)
    split = split_tokens(train.documents(), train.doc_ids, seed)
    kept = replace(train, counts=to_matrix(split.observed, train.vocab_size))
    contestant = enter(entry, kept, seed)
    learn(contestant, kept, seed)
    return score_both(contestant, split)


def to_matrix(documents, vocab_size):
    """Documents as a sparse matrix (S, V)."""
    shape = (documents.num_documents, vocab_size)
    return csr_array((documents.counts, documents.words, documents.starts), shape=shape)


def measure_all(pool, setup, orders, systems, seeds):
    """Rows of every contestant; settings that are chosen are chosen first."""
    entries = [Entry(system, size) for system in systems for size in SIZES_OF.get(system, (None,))]
    pairs = list(product(orders, entries))
    chosen = pool.map(choose, repeat(setup), *zip(*pairs, strict=True))
    tasks = [
        pool.submit(measure, setup, order, entry, seed)
        for (order, _), entry in zip(pairs, chosen, strict=True)
        for seed in range(seeds)
    ]
    return [row for task in tasks for row in task.result()]


# The tables.


def prepare(rows):
    """A data frame of rows with contestants' names. `place` has a table of its own."""
    frame = pd.DataFrame(rows)
    is_lda = frame["system"].isin(SIZES_OF)
    frame["contestant"] = frame["system"].where(
        ~is_lda, frame["system"] + " K=" + frame["setting"].map("{:.0f}".format)
    )
    subset = (
        frame["subset"].astype(float).map("{:.0f} of ".format).where(frame["subset"].notna(), "")
    )
    frame["place"] = subset + frame["corpus"] + ", by " + frame["split"]
    return frame


def tabulate(frame):
    """Mean ± deviation over seeds by order and contestant, a column for each protocol."""
    frame = frame.assign(column=frame["protocol"] + " " + frame["predictive"])
    places = ["order", "contestant"]
    found = frame.groupby([*places, "column"], sort=False)["nats_per_word"].agg(["mean", "std"])
    cells = found.apply(lambda cell: f"{cell['mean']:.3f} ± {cell['std']:.3f}", axis=1).unstack(
        "column", sort=False
    )
    once = frame.drop_duplicates([*places, "seed"]).groupby(places, sort=False)
    cells = cells.join(once[["topics", "seconds"]].mean().round(1))
    rates = once[["forgetting_rate", "delay"]].first().astype(float)
    named = rates.apply(lambda row: f"{row['forgetting_rate']:g}, {row['delay']:g}", axis=1)
    cells["κ, τ₀"] = named.where(rates["delay"].notna(), "default")
    return cells.fillna("-").reset_index()


def compare(frame):
    """HDP minus each contestant (`disjoint_words`): mean over seeds ± standard error."""
    frame = frame.query("protocol == 'disjoint_words'")
    return (
        pd.DataFrame(
            {
                f"{order} {predictive}": margins(part)
                for (order, predictive), part in frame.groupby(["order", "predictive"], sort=False)
            }
        )
        .rename_axis("HDP ahead of")
        .reset_index()
    )


def margins(frame):
    """Margins over each contestant, and above them over the best LDA of each kind."""
    scores = frame.pivot(index="seed", columns="contestant", values="nats_per_word")
    gains = scores[["hdp"]].to_numpy() - scores.drop(columns="hdp")
    cells = {name: f"{gain.mean():.3f} ± {gain.sem():.3f}" for name, gain in gains.items()}
    systems = frame.drop_duplicates("contestant").set_index("contestant")["system"]
    best = {}
    kinds = {
        "best plain LDA": PLAIN,
        "best LDA with the HDP's local step": EQUIPPED,
        "best sampled LDA": SAMPLED,
    }
    for title, kind in kinds.items():
        names = systems.index[systems.isin(kind)]
        if len(names):
            name = scores[names].mean().idxmax()
            best[title] = f"{cells[name]} ({name})"
    return pd.Series(best | {name: cells[name] for name in systems.index if name != "hdp"})


def summarize(frame):
    """A line a corpus, split, order and predictive: the HDP's nats, and its margins."""
    lines = []
    frame = frame.query("protocol == 'disjoint_words'")
    for (place, order, predictive), part in frame.groupby(
        ["place", "order", "predictive"], sort=False
    ):
        ours = part.loc[part["system"] == "hdp", "nats_per_word"]
        sizes = {"training documents": part["documents"].max(), "seeds": len(ours)}
        found = {"HDP": f"{ours.mean():.3f} ± {ours.std():.3f}"}
        ahead = margins(part).drop([name for name in part["contestant"] if " K=" in name])
        lines.append(
            {"corpus": place, "order": order, "predictive": predictive, **sizes, **found, **ahead}
        )
    return pd.DataFrame(lines).fillna("-")


def to_markdown(frame):
    """A data frame as a Markdown table."""
    lines = [list(frame.columns), ["---"] * frame.shape[1], *frame.astype(str).to_numpy().tolist()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write_json(path, rows):
    """Write what a benchmark has measured to a file, where one is asked for."""
    if path:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


def report(rows):
    """Every table as text."""
    frame, parts = prepare(rows), []
    for place, part in frame.groupby("place", sort=False):
        parts += [place, to_markdown(tabulate(part))]
        parts += [to_markdown(compare(part))] if (part["system"] == "hdp").any() else []
    if (frame["system"] == "hdp").any():
        parts += ["HDP ahead of", to_markdown(summarize(frame))]
    return "\n\n".join(parts)


def read_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--corpus", default="state-of-the-union")
    parser.add_argument(
        "--split", choices=SPLITS, help="what is held out at a time; default: the corpus' own"
    )
    parser.add_argument(
        "--documents", type=int, help="maximum number of documents, drawn at random"
    )
    parser.add_argument("--orders", nargs="+", choices=ORDERS, default=tuple(reversed(ORDERS)))
    parser.add_argument("--systems", nargs="*", choices=SYSTEMS, default=USUAL)
    parser.add_argument("--protocols", nargs="+", choices=PROTOCOLS, default=PROTOCOLS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--join", nargs="+", default=[], help="JSON files whose rows join the tables"
    )
    parser.add_argument("--json", help="where to write the rows")
    parser.add_argument(
        "--jobs",
        type=int,
        default=1,
        help="processes; more than one makes the seconds unfit to quote",
    )
    return parser.parse_args()


def main():
    """Read the command line, measure, print, and write JSON where asked for."""
    arguments = read_arguments()
    setup = Setup(
        arguments.corpus, arguments.split, arguments.documents, tuple(arguments.protocols)
    )
    rows = []
    if arguments.systems:
        with ProcessPoolExecutor(arguments.jobs) as pool:
            rows = measure_all(pool, setup, arguments.orders, arguments.systems, arguments.seeds)
    for name in arguments.join:
        with open(name, encoding="utf-8") as file:
            rows += json.load(file)
    write_json(arguments.json, rows)
    print(report(rows))


if __name__ == "__main__":
    main()
