"""What the papers report about their systems: each claim, the runs that test it, and the condition for it to hold.

The papers' runs take hours and read their corpora many times; here online systems read theirs `PASSES` times.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise, product

import numpy as np

from tests.benchmarks.heldout import WANG, WANG_AS_RUN
from tests.benchmarks.systems import BATCH_WANG
from tests.benchmarks.trials import Trial, trial

PASSES, SWEEPS = 10, 200
SIZES, WANG_SIZES, CV_SIZES = (25, 50, 100, 200, 300), (20, 40, 80, 150), (25, 80, 130)
RATES, BATCH_SIZES, FREE_SIZES = (0.5, 0.6, 0.8, 1.0), (16, 64, 256), (1, 2, 5, 10, 50, 100, 500)


@dataclass(frozen=True)
class Claim:
    """What a paper reports, the trials by name that bear on it, and `judge(outcomes, trials) -> (measured, held)`.

    otherwise: in words, what is tried where the claim does not hold; instead: trials that then stand for some of them.
    """

    paper: str
    claim: str
    reported: str
    trials: dict[str, Trial]
    judge: Callable
    otherwise: str = ""
    instead: dict[str, Trial] = field(default_factory=dict)


def rising(*names):
    """A judge: the names are in rising order of their scores."""

    def judge(outcomes, trials):
        nats, text = outcomes.all_nats(trials)
        return text, all(nats[low] < nats[high] for low, high in pairwise(names))

    return judge


def judge_above_all(outcomes, trials):
    """The HDP is above every LDA."""
    nats, text = outcomes.all_nats(trials)
    return text, all(nats["HDP"] > value for name, value in nats.items() if name != "HDP")


def judge_sizes(outcomes, trials):
    """The HDP at its paper's K is above LDA at every K."""
    nats, text = outcomes.all_nats(trials)
    return text, all(nats[f"HDP K={SIZES[-1]}"] > nats[f"LDA K={size}"] for size in SIZES)


def judge_overfitting(outcomes, trials):
    """LDA loses from its best K to the largest, and the HDP loses less between the same truncations."""
    nats, _ = outcomes.all_nats(trials)
    best = {kind: max(nats[f"{kind} K={size}"] for size in SIZES) for kind in ("HDP", "LDA")}
    lost = {kind: best[kind] - nats[f"{kind} K={SIZES[-1]}"] for kind in best}
    text = ", ".join(f"{kind} {value:.3f}" for kind, value in lost.items())
    return f"lost from the best K to K={SIZES[-1]}: {text}", lost["LDA"] > max(lost["HDP"], 0.0)


def judge_sizes_by_rate(outcomes, trials):
    """The best S at the smallest of Wang's κ is larger than the best S at the largest."""
    nats, text = outcomes.all_nats(trials)
    low, high = WANG_RATES[0], WANG_RATES[-1]
    best = {rate: max(BATCH_SIZES, key=lambda size: nats[f"κ={rate:g} S={size}"]) for rate in (low, high)}
    return f"best S at κ={low:g} {best[low]}, at κ={high:g} {best[high]} ({text})", best[low] > best[high]


def best_rate(holds):
    """A judge: the best κ is one for which `holds` is true."""

    def judge(outcomes, trials):
        nats, text = outcomes.all_nats(trials)
        best = max(nats, key=nats.get)
        return f"best {best} ({text})", holds(float(best.partition("=")[2]))

    return judge


def judge_growth(outcomes, trials):
    """Topics rise over the truncation-free run and fall over the truncated one."""
    counts = {name: [outcomes.topics(each, share) for share in (0.0, 0.1, 0.5, 1.0)] for name, each in trials.items()}
    text = "; ".join(f"{name} {' → '.join(f'{n:.0f}' for n in told)} topics" for name, told in counts.items())
    free, truncated = counts["truncation-free"], counts["mean-field"]
    return f"{text} (after a step, 10, 50, 100 % of the run)", free[0] < free[-1] and truncated[0] > truncated[-1]


def judge_robustness(outcomes, trials):
    """The spread of scores over S is smaller for the truncation-free system."""
    nats, text = outcomes.all_nats(trials)
    kinds = ("truncation-free", "mean-field")
    spread = {kind: np.ptp([value for name, value in nats.items() if name.startswith(kind)]) for kind in kinds}
    told = ", ".join(f"{kind} {value:.3f}" for kind, value in spread.items())
    return f"range over S: {told} ({text})", spread["truncation-free"] < spread["mean-field"]


def judge_mostly_better(outcomes, trials):
    """The truncation-free system is ahead at most S."""
    nats, _ = outcomes.all_nats(trials)
    ahead = {size: nats[f"truncation-free S={size}"] - nats[f"mean-field S={size}"] for size in FREE_SIZES}
    text = ", ".join(f"S={size} {value:+.3f}" for size, value in ahead.items())
    return f"ahead by {text}", sum(value > 0 for value in ahead.values()) > len(ahead) / 2


def judge_bounds(outcomes, trials):
    """CV-HDP is above every CV-LDA in bound and in held-out likelihood."""
    nats, told = outcomes.all_nats(trials)
    bounds, of_bounds = outcomes.all_bounds(trials)
    held = all(each["CV-HDP"] > max(each[name] for name in trials if name != "CV-HDP") for each in (nats, bounds))
    return f"{told}; bounds a token: {of_bounds}", held


def judge_better_start(outcomes, trials):
    """Each system is above itself, in bound and in held-out likelihood, where it went on from the sampler."""
    nats, told = outcomes.all_nats(trials)
    bounds, of_bounds = outcomes.all_bounds(trials)
    held = all(each[f"{name} from Gibbs"] > each[name] for each in (nats, bounds) for name in ("CV-HDP", "CV-LDA"))
    return f"{told}; bounds a token: {of_bounds}", held


def judge_below_both(outcomes, trials):
    """CV-HDP is below the sampler from either start."""
    nats, text = outcomes.all_nats(trials)
    return text, nats["CV-HDP"] < min(value for name, value in nats.items() if name != "CV-HDP")


def judge_fraction(outcomes, trials):
    """Online LDA within .01 of batch LDA or above it, in less than half the time."""
    nats, text = outcomes.all_nats(trials)
    spent = {name: outcomes.seconds(each) for name, each in trials.items()}
    told = ", ".join(f"{name} {value:.1f} s" for name, value in spent.items())
    return f"{text}; {told}", nats["online"] > nats["batch"] - 0.01 and spent["online"] < 0.5 * spent["batch"]


WANG_RATES = RATES[1:]
# Hoffman's τ₀ and S, which Wang took over; and those of Hoffman 2013.
AT_64 = {"delay": 64.0, "batch_size": 256}
AT_SVI = {"forgetting_rate": 0.9, "delay": 1.0, "batch_size": 500}
OURS = "hdp with its own start, local step and schedule"
BY_SIZE = {f"HDP K={size}": trial("svi-hdp", {"max_topics": size}, PASSES) for size in SIZES} | {
    f"LDA K={size}": trial("lda", AT_SVI | {"max_topics": size}, PASSES) for size in SIZES
}
OURS_BY_SIZE = {f"HDP K={size}": trial("hdp", {"max_topics": size}, PASSES) for size in SIZES}
GIBBS = {f"Gibbs from {size}": trial("gibbs-hdp", {"initial_topics": size}, SWEEPS) for size in (1, 100)}
LONGER = {f"Gibbs from {size}": trial("gibbs-hdp", {"initial_topics": size}, 2 * SWEEPS) for size in (1, 100)}
CV_HDP, SOFT = trial("cv-hdp"), trial("cv-hdp", {"first_sweeps": "soft"})
CV_LDA = {f"CV-LDA K={size}": trial("cv-lda", {"max_topics": size}) for size in CV_SIZES}
FROM_GIBBS = {
    f"{kind.upper()}{tail}": trial(kind, {"max_topics": 130}, after_sweeps=after)
    for kind in ("cv-hdp", "cv-lda")
    for tail, after in (("", 0), (" from Gibbs", SWEEPS))
}

def claims_of_wang(name, settings):
    """The claims of Wang 2011 about its system in one form, scored as in its sec. 4.1."""
    online = trial("hdp", settings | AT_64, PASSES, has_fold_in=True)
    ours, paper = trial("hdp", {}, PASSES, has_fold_in=True), f"Wang 2011 ({name})"

    def by_rate(own):
        grid = {"forgetting_rate": WANG_RATES, "batch_size": BATCH_SIZES}
        rates = {f"κ={rate:g} S={size}": (rate, size) for rate, size in product(*grid.values())}
        return {
            line: trial("hdp", own | dict(zip(grid, pair, strict=True)) | {"delay": 64.0}, PASSES, has_fold_in=True)
            for line, pair in rates.items()
        }

    return (
        Claim(
            f"{paper} Fig. 4",
            "online HDP above online LDA overall",
            "the best of all is an HDP",
            {"HDP": online}
            | {
                f"LDA K={size}": trial("lda", AT_64 | {"max_topics": size}, PASSES, has_fold_in=True)
                for size in WANG_SIZES
            },
            judge_above_all,
            OURS,
            {"HDP": ours},
        ),
        Claim(
            f"{paper} Fig. 4, 6",
            "small κ favours large S",
            "κ of .6, .8 and 1",
            by_rate(settings),
            judge_sizes_by_rate,
            "hdp with its own start and local step",
            by_rate({}),
        ),
        Claim(
            f"{paper} Fig. 3",
            "batch HDP (as printed) on a part of the corpus below the online HDP on all of it",
            "20,000 of 350,000 documents; here a tenth",
            {"batch on a tenth": trial("batch-hdp", BATCH_WANG, share=0.1, has_fold_in=True), "online": online},
            rising("batch on a tenth", "online"),
            "both with their own starts and local steps",
            {"batch on a tenth": trial("batch-hdp", share=0.1, has_fold_in=True), "online": ours},
        ),
        Claim(
            f"{paper} Fig. 5",
            "batch HDP (as printed) on all of the corpus a little above the online HDP",
            "on PNAS",
            {"online": online, "batch": trial("batch-hdp", BATCH_WANG, has_fold_in=True)},
            rising("online", "batch"),
            "both with their own starts and local steps",
            {"online": ours, "batch": trial("batch-hdp", has_fold_in=True)},
        ),
    )


def claims_of_wang_blei(figure, free, mean_field, otherwise, instead):
    """The claims of a figure of Wang & Blei 2012: the truncation-free system against the mean-field one.

    free, mean_field: names and settings; instead: settings of the mean-field system that are tried otherwise.
    """
    paper, named = f"Wang & Blei 2012 Fig. {figure}", {"truncation-free": free, "mean-field": mean_field}
    tried = {"truncation-free": (free[0], {"burn_in": 25}), "mean-field": (mean_field[0], instead)}

    def by_size(systems):
        return {
            f"{line} S={size}": trial(name, settings | {"batch_size": size})
            for line, (name, settings) in systems.items()
            for size in FREE_SIZES
        }

    def over_time(systems):
        return {
            line: trial(name, settings | {"batch_size": 100}, PASSES) for line, (name, settings) in systems.items()
        }

    return (
        Claim(
            paper,
            "truncation-free robust to S where mean-field collapses",
            "S = 1 to 500",
            by_size(named),
            judge_robustness,
            otherwise,
            by_size(tried),
        ),
        Claim(
            paper,
            "truncation-free better most of the time",
            "at most S",
            by_size(named),
            judge_mostly_better,
            otherwise,
            by_size(tried),
        ),
        Claim(
            paper,
            "truncation-free grows its topics where mean-field shrinks them",
            "both",
            over_time(named),
            judge_growth,
            otherwise,
            over_time(tried),
        ),
    )


CLAIMS = (
    *claims_of_wang("as printed", WANG),
    *claims_of_wang("as its authors ran it", WANG_AS_RUN),
    Claim(
        "Hoffman 2013 Fig. 11",
        "HDP above LDA for every K",
        "-6.97 on Nature, LDA -7.23 to -7.86",
        BY_SIZE,
        judge_sizes,
        OURS,
        OURS_BY_SIZE,
    ),
    Claim(
        "Hoffman 2013 Fig. 11",
        "LDA overfits at large K where the HDP does not",
        "LDA -7.23 at its best, -7.86 at K = 300",
        BY_SIZE,
        judge_overfitting,
        OURS,
        OURS_BY_SIZE,
    ),
    Claim(
        "Hoffman 2013 Fig. 12",
        "κ near 1 is preferred",
        ".9",
        {f"κ={rate:g}": trial("svi-hdp", {"forgetting_rate": rate}, PASSES) for rate in (*RATES[:3], 0.9, 1.0)},
        best_rate(lambda rate: rate >= 0.8),
        "S = 100",
        {
            f"κ={rate:g}": trial("svi-hdp", {"forgetting_rate": rate, "batch_size": 100}, PASSES)
            for rate in (*RATES[:3], 0.9, 1.0)
        },
    ),
    Claim(
        "Hoffman 2010 Table 1",
        "κ of .5 to .6 is preferred where S is 256 or more",
        ".6 at S = 256, .5 beyond",
        {f"κ={rate:g}": trial("lda", AT_64 | {"forgetting_rate": rate}, PASSES) for rate in RATES},
        best_rate(lambda rate: rate <= 0.6),
        "τ₀ = 1024, the paper's at S = 256",
        {f"κ={rate:g}": trial("lda", AT_64 | {"forgetting_rate": rate, "delay": 1024.0}, PASSES) for rate in RATES},
    ),
    *claims_of_wang_blei(
        3,
        ("free-dp-mixture", {}),
        ("dp-mixture", {}),
        "25 sweeps of burn-in; mean-field with the start of Wang 2011",
        {"start": "wang"},
    ),
    *claims_of_wang_blei(
        4,
        ("free-hdp", {}),
        ("hdp", WANG | {"max_topics": 300, "delay": 1.0}),
        "25 sweeps of burn-in; mean-field with the project's start and local step at K = 300",
        {"max_topics": 300},
    ),
    Claim(
        "Teh 2007 Fig. 2",
        "CV-HDP above CV-LDA in bound and test likelihood",
        "on three corpora",
        {"CV-HDP": CV_HDP} | CV_LDA,
        judge_bounds,
        "CV-HDP's soft start",
        {"CV-HDP": SOFT},
    ),
    Claim(
        "Teh 2007 Fig. 2",
        "CV-HDP slightly below Gibbs HDP",
        "both starts",
        {"CV-HDP": CV_HDP} | GIBBS,
        judge_below_both,
        "twice as many sweeps",
        LONGER,
    ),
    Claim(
        "Teh 2007 Fig. 2",
        "Gibbs HDP started at 100 topics above started at 1",
        "local modes",
        GIBBS,
        rising("Gibbs from 1", "Gibbs from 100"),
        "twice as many sweeps",
        LONGER,
    ),
    Claim(
        "Teh 2007 Fig. 3",
        "variational started from Gibbs above its own start",
        "at K = 130",
        FROM_GIBBS,
        judge_better_start,
        "CV-HDP's soft start as its own",
        {"CV-HDP": trial("cv-hdp", {"max_topics": 130, "first_sweeps": "soft"})},
    ),
    Claim(
        "Hoffman 2010 Fig. 1, 2",
        "online LDA as good as batch LDA in a fraction of the time",
        "on two corpora",
        {"online": trial("lda", AT_64, PASSES), "batch": trial("batch-lda")},
        judge_fraction,
        "τ₀ = 1",
        {"online": trial("lda", AT_64 | {"delay": 1.0}, PASSES)},
    ),
)
