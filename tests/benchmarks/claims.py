"""What the papers report of their systems, claim by claim, and what comes out here.

    python -m tests.benchmarks.claims [--corpus NAME] [--documents N] [--seeds N] [--claims NAME ...] [--json FILE]

All scores are nats per held-out word under `disjoint_words` by a system's own inference, the mean over the seeds; a
claim holds where the means say so. Corpora are this project's and small, settings the papers' where they bear on the
claim: what differs is a difference of corpora as well as of systems.
"""

import argparse
import json
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
import pandas as pd

from tests.benchmarks.heldout import WANG, to_markdown
from tests.benchmarks.trials import Outcomes, Trial, attempt, trial

SIZES = (25, 50, 100, 200, 300)
RATES, BATCH_SIZES = (0.5, 0.6, 0.8, 0.9, 1.0), (16, 64, 256, 1024)


@dataclass(frozen=True)
class Claim:
    """What a paper reports, the trials by name that bear on it, and `judge(outcomes, trials) -> (measured, held)`."""

    paper: str
    claim: str
    reported: str
    trials: dict[str, Trial]
    judge: Callable


def above_every(first):
    """A judge: the first name is above every other."""

    def judge(outcomes, trials):
        nats, text = outcomes.all_nats(trials)
        return text, all(nats[first] > value for name, value in nats.items() if name != first)

    return judge


def judge_sizes(outcomes, trials):
    """The HDP at its paper's K is above LDA at every K."""
    nats, text = outcomes.all_nats(trials)
    return text, all(nats[f"HDP K={SIZES[-1]}"] > nats[f"LDA K={size}"] for size in SIZES)


def rising(*names):
    """A judge: the names are in rising order of their scores."""

    def judge(outcomes, trials):
        nats, text = outcomes.all_nats(trials)
        return text, all(nats[low] < nats[high] for low, high in pairwise(names))

    return judge


def judge_overfitting(outcomes, trials):
    """LDA loses from its best K to the largest, and the HDP loses less between the same truncations."""
    nats, text = outcomes.all_nats(trials)
    loss = {kind: max(nats[f"{kind} K={size}"] for size in SIZES) - nats[f"{kind} K={SIZES[-1]}"] for kind in KINDS}
    return f"{text}; lost at K={SIZES[-1]}: LDA {loss['LDA']:.3f}, HDP {loss['HDP']:.3f}", loss["LDA"] > max(
        loss["HDP"], 0.0
    )


def judge_sizes_by_rate(outcomes, trials):
    """The best S at the smallest κ is larger than the best S at the largest."""
    nats, text = outcomes.all_nats(trials)
    low, high = RATES[0], RATES[-1]
    best = {rate: max(BATCH_SIZES, key=lambda size: nats[f"κ={rate:g} S={size}"]) for rate in (low, high)}
    return f"best S at κ={low:g} {best[low]}, at κ={high:g} {best[high]} ({text})", best[low] > best[high]


def judge_best_rate(outcomes, trials):
    """The best κ at SVI's mini-batch size is 0.8 or more."""
    nats, text = outcomes.all_nats(trials)
    best = max(nats, key=nats.get)
    return f"best {best} ({text})", float(best.partition("=")[2]) >= 0.8


def judge_growth(outcomes, trials):
    """Topics rise over the truncation-free run and fall over the truncated one."""
    counts = {name: [outcomes.topics(each, share) for share in (0.1, 0.5, 1.0)] for name, each in trials.items()}
    text = "; ".join(f"{name} {' → '.join(f'{n:.0f}' for n in told)} topics" for name, told in counts.items())
    free, truncated = counts["truncation-free"], counts["mean-field"]
    return f"{text} (after 10, 50, 100 % of the run)", free[0] < free[-1] and truncated[0] > truncated[-1]


def judge_robustness(outcomes, trials):
    """The spread of scores over S is smaller for the truncation-free system."""
    nats, text = outcomes.all_nats(trials)
    spread = {
        kind: np.ptp([value for name, value in nats.items() if name.startswith(kind)])
        for kind in ("truncation-free", "mean-field")
    }
    told = ", ".join(f"{kind} {value:.3f}" for kind, value in spread.items())
    return f"range over S: {told} ({text})", spread["truncation-free"] < spread["mean-field"]


def judge_mostly_better(outcomes, trials):
    """The truncation-free system is ahead at most S."""
    nats, _ = outcomes.all_nats(trials)
    ahead = {size: nats[f"truncation-free S={size}"] - nats[f"mean-field S={size}"] for size in FREE_SIZES}
    text = ", ".join(f"S={size} {value:+.3f}" for size, value in ahead.items())
    return text, sum(value > 0 for value in ahead.values()) > len(ahead) / 2


def judge_bounds(outcomes, trials):
    """CV-HDP is above CV-LDA in bound and in held-out likelihood."""
    nats, text = outcomes.all_nats(trials)
    bounds = {name: outcomes.bound(each) for name, each in trials.items()}
    told = ", ".join(f"{name} {value:.3f}" for name, value in bounds.items())
    lda = [name for name in trials if name != "CV-HDP"]
    held = all(each["CV-HDP"] > max(each[name] for name in lda) for each in (nats, bounds))
    return f"{text}; bounds a token {told}", held


def judge_fraction(outcomes, trials):
    """Online LDA within .01 of batch LDA or above it, in less than half the time."""
    nats, text = outcomes.all_nats(trials)
    spent = {name: outcomes.seconds(each) for name, each in trials.items()}
    told = ", ".join(f"{name} {value:.1f} s" for name, value in spent.items())
    return f"{text}; {told}", nats["online"] > nats["batch"] - 0.01 and spent["online"] < 0.5 * spent["batch"]


KINDS = ("HDP", "LDA")
FREE_SIZES = (1, 2, 5, 10, 50, 100, 500)
ONLINE_LDA = {"forgetting_rate": 0.9, "delay": 1.0, "batch_size": 500}
BY_SIZE = {f"HDP K={size}": trial("svi-hdp", {"max_topics": size}) for size in SIZES} | {
    f"LDA K={size}": trial("lda", ONLINE_LDA | {"max_topics": size}) for size in SIZES
}
BY_RATE = {
    f"κ={rate:g} S={size}": trial("hdp", {"forgetting_rate": rate, "delay": 64.0, "batch_size": size})
    for rate, size in product(RATES, BATCH_SIZES)
}
BY_SIZE_OF_STEP = {f"truncation-free S={size}": trial("free-hdp", {"batch_size": size}) for size in FREE_SIZES} | {
    f"mean-field S={size}": trial("hdp", WANG | {"delay": 64.0, "batch_size": size}) for size in FREE_SIZES
}
CLAIMS = (
    Claim("SVI 2013 Fig. 11", "HDP above LDA for every K", "held on three corpora", BY_SIZE, judge_sizes),
    Claim("SVI 2013 Fig. 11", "LDA overfits at large K, the HDP does not", "held", BY_SIZE, judge_overfitting),
    Claim(
        "Wang 2011 Fig. 4",
        "online HDP above online LDA overall",
        "held for most κ and S",
        {"HDP": trial("hdp")} | {f"LDA K={size}": trial("lda", {"max_topics": size}) for size in SIZES},
        above_every("HDP"),
    ),
    Claim("Wang 2011 Fig. 4, 6", "small κ favours large S", "held", BY_RATE, judge_sizes_by_rate),
    Claim(
        "SVI 2013 Fig. 12",
        "κ near 1 is preferred",
        "0.9 chosen",
        {f"κ={rate:g}": trial("svi-hdp", {"forgetting_rate": rate}) for rate in RATES},
        judge_best_rate,
    ),
    Claim(
        "Wang 2011 Fig. 3",
        "batch HDP on a tenth of the corpus below the online HDP on all of it",
        "held",
        {"batch on a tenth": trial("batch-hdp", share=0.1), "online": trial("hdp")},
        rising("batch on a tenth", "online"),
    ),
    Claim(
        "Wang 2011 Fig. 5",
        "batch HDP on all of the corpus a little above the online HDP",
        "held",
        {"online": trial("hdp"), "batch": trial("batch-hdp")},
        rising("online", "batch"),
    ),
    Claim(
        "Wang & Blei 2012 Fig. 3",
        "truncation-free robust to S where mean-field collapses",
        "held",
        BY_SIZE_OF_STEP,
        judge_robustness,
    ),
    Claim(
        "Wang & Blei 2012 Fig. 3",
        "truncation-free better most of the time",
        "held",
        BY_SIZE_OF_STEP,
        judge_mostly_better,
    ),
    Claim(
        "Wang & Blei 2012 Fig. 4",
        "truncation-free grows its topics where mean-field shrinks them",
        "held",
        {"truncation-free": trial("free-hdp"), "mean-field": trial("hdp")},
        judge_growth,
    ),
    Claim(
        "Teh 2007 Fig. 2",
        "CV-HDP above CV-LDA in bound and test likelihood",
        "held",
        {"CV-HDP": trial("cv-hdp")} | {f"CV-LDA K={size}": trial("cv-lda", {"max_topics": size}) for size in (25, 100)},
        judge_bounds,
    ),
    Claim(
        "Teh 2007 Fig. 3",
        "CV-HDP slightly below Gibbs HDP; Gibbs from 100 topics above Gibbs from 1",
        "held",
        {
            "CV-HDP": trial("cv-hdp"),
            "Gibbs from 1": trial("gibbs-hdp", {"initial_topics": 1}),
            "Gibbs from 100": trial("gibbs-hdp", {"initial_topics": 100}),
        },
        rising("CV-HDP", "Gibbs from 1", "Gibbs from 100"),
    ),
    Claim(
        "Hoffman 2010 Fig. 1, 2",
        "online LDA as good as batch LDA in a fraction of the time",
        "held",
        {"online": trial("lda"), "batch": trial("batch-lda")},
        judge_fraction,
    ),
)


def measure(arguments):
    """Outcomes of every trial that the claims need, each made once a seed."""
    chosen = [claim for claim in CLAIMS if not arguments.claims or claim.paper.split(" Fig")[0] in arguments.claims]
    trials = dict.fromkeys(each for claim in chosen for each in claim.trials.values())
    with ProcessPoolExecutor(arguments.jobs) as pool:
        tasks = {
            each: [
                pool.submit(attempt, each, arguments.corpus, arguments.documents, seed)
                for seed in range(arguments.seeds)
            ]
            for each in trials
        }
        return chosen, Outcomes({each: [task.result() for task in own] for each, own in tasks.items()})


def tell(chosen, outcomes):
    """A row a claim."""
    rows = []
    for claim in chosen:
        measured, held = claim.judge(outcomes, claim.trials)
        rows.append(
            {
                "paper": claim.paper,
                "claim": claim.claim,
                "reported": claim.reported,
                "measured": measured,
                "held": bool(held),
            }
        )
    return rows


def read_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default="state-of-the-union")
    parser.add_argument("--documents", type=int, default=3000, help="at most so many of the corpus, drawn by the seed")
    parser.add_argument("--claims", nargs="+", help='papers: "SVI 2013", "Wang 2011", ...; all unless said')
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1, help="processes; more than one makes the seconds unfit to quote")
    parser.add_argument("--json", help="where to write the rows")
    return parser.parse_args()


def main():
    """Read the command line, measure, print, and write JSON where asked for."""
    arguments = read_arguments()
    rows = tell(*measure(arguments))
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    print(to_markdown(pd.DataFrame(rows)))


if __name__ == "__main__":
    main()
