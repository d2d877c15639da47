"""The page engine/RESULTS.md: this project compared with other libraries, from the JSON files of
other benchmarks.

    python -m tests.benchmarks.results FILE ... --commit COMMIT --date DATE [--note TEXT] [--json
    FILE] [--libraries FILE ...]
    python -m tests.benchmarks.results > engine/RESULTS.md

The first command compares the rows of `speed`, `samplers`, `heldout`, `coherence` and `topic_count
--systems`, or of `libraries`, and stores what the page shows; of `libraries`, what was not measured
again stays, with its settings and commit. The second prints the page. A comparison is a row: what
is compared and where, the other library, both figures, and their difference. "better" names the
better one, if the difference is more than its uncertainty: all rounds of a ratio agree, or the
difference is more than two standard errors. Where there is no standard error, it is a tenth of the
memory or the seconds, .05 of the stability or the diversity, and one topic.
"""

import argparse
import json
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from tests.benchmarks import coherence, heldout, libraries
from tests.benchmarks.heldout import to_markdown, write_json

STORED = Path(__file__).with_suffix(".json")
OURS, OTHER, NEITHER = "Stickbreaker", "the other", "unclear"
MEMORY, STABILITY, ONE_TOPIC = 0.1, 0.05, 1.0
TITLES = {
    "lda-warm": "our LDA with the HDP's start and local step, best K",
    "sklearn-lda": "scikit-learn LDA, best K",
    "tomotopy-lda": "tomotopy LDA, best K of 25, 50, 100",
    "unigram": "word frequencies",
}
HDP = "hdp, settled"


def compare(what, where, other, shown, difference, sign):
    """A row. shown: both figures; sign: 1 if ours is better, -1 if the other, 0 if unsure."""
    ours, theirs = shown
    return {
        "what": what,
        "where": where,
        "compared with": other,
        "Stickbreaker": ours,
        "theirs": theirs,
        "difference": difference,
        "better": {1: OURS, -1: OTHER, 0: NEITHER}[int(sign)],
    }


def find_sign(difference, uncertainty):
    """1, -1, or 0 where the difference is at most the uncertainty."""
    return np.sign(difference) * (abs(difference) > uncertainty)


def compare_ratios(what, where, row, shown):
    """A row of speeds, from the ratios of all rounds."""
    sign = int(row["ratio_min"] > 1) - int(row["ratio_max"] < 1)
    ratio = (
        f"{row['ratio_median']:.3g} times as fast ({row['ratio_min']:.3g} to"
        f" {row['ratio_max']:.3g})"
    )
    return compare(what, where, row["contestant"], shown, ratio, sign)


def compare_speed(rows):
    """Seconds and memory of one pass, and gensim's held-out score after it."""
    found = []
    for row in rows:
        place = (row["corpus"], row["contestant"])
        if "ratio_median" in row:
            cores = "one core" if row["threads"] == 1 else "two cores"
            shown = show(row, "seconds", ".2f")
            found.append(compare_ratios("speed", f"{row['corpus']}, {cores}", row, shown))
        if "our_mb" in row and row["threads"] == 1:
            saved = row["their_mb"] - row["our_mb"]
            sign = find_sign(saved, MEMORY * row["their_mb"])
            found.append(compare("memory", *place, show(row, "mb", ".0f"), f"{-saved:+.0f}", sign))
        if "ahead" in row and row["threads"] == 1 and row["predictive"] == "fold_in":
            ahead = f"{row['ahead']:+.3f} ± {row['ahead_error']:.3f}"
            sign = find_sign(row["ahead"], 2 * row["ahead_error"])
            found.append(compare("held-out", *place, show(row, "nats", ".3f"), ahead, sign))
    return found


def show(row, name, form):
    """Both figures of a row, as text."""
    return tuple(format(row[f"{whose}_{name}"], form) for whose in ("our", "their"))


def compare_samplers(rows):
    """Millions of tokens a second of Gibbs samplers."""
    return [
        compare_ratios(
            "samplers",
            f"{row['corpus']}, {row['work']}",
            row,
            show(row, "megatokens_a_second", ".1f"),
        )
        for row in rows
    ]


def compare_heldout(rows):
    """Nats per held-out word, `disjoint_words`, by own inference, LDA with its best K."""
    frame = heldout.prepare(rows).query("protocol == 'disjoint_words' and predictive == 'own'")
    found = []
    for (place, order), part in frame.groupby(["place", "order"], sort=False):
        scores = part.pivot(index="seed", columns="contestant", values="nats_per_word")
        systems = part.drop_duplicates("contestant").set_index("contestant")["system"]
        for system, title in TITLES.items():
            names = systems.index[systems == system]
            if not len(names):
                continue
            best = scores[names].mean().idxmax()
            gains = scores["hdp"] - scores[best]
            title += f": {best.partition(' K=')[2]}" if "K=" in best else ""
            shown = [f"{scores[n].mean():.3f} ± {scores[n].std():.3f}" for n in ("hdp", best)]
            difference = f"{gains.mean():+.3f} ± {gains.sem():.3f}"
            sign = find_sign(gains.mean(), 2 * gains.sem())
            found.append(compare("held-out", f"{place}, {order}", title, shown, difference, sign))
    return found


def compare_coherence(rows):
    """NPMI by tokens and stability of the settled HDP, and of each library's best K."""
    found = []
    for (corpus, documents), part in pd.DataFrame(rows).groupby(
        ["corpus", "documents"], sort=False
    ):
        where = f"{documents:,} documents of {corpus}"
        groups = dict(list(part.groupby("system", sort=False)))
        ours = groups[HDP]
        for name, theirs in list_best(groups).items():
            name = f"{name} ({theirs['topics'].mean():.0f} topics)"
            scores = [group["weighted_npmi"].mean() for group in (ours, theirs)]
            errors = [group["weighted_npmi"].sem() for group in (ours, theirs)]
            shown = [
                f"{score:.3f} ± {error:.3f}" for score, error in zip(scores, errors, strict=True)
            ]
            ahead = scores[0] - scores[1]
            sign = find_sign(ahead, 2 * np.hypot(*errors))
            found.append(compare("coherence", where, name, shown, f"{ahead:+.3f}", sign))
            scores = [coherence.find_stability(group) for group in (ours, theirs)]
            ahead = scores[0] - scores[1]
            shown = [f"{score:.2f}" for score in scores]
            sign = find_sign(ahead, STABILITY)
            found.append(compare("stability", where, name, shown, f"{ahead:+.2f}", sign))
    return found


def list_best(groups):
    """The rows of each other library, with the K whose topics are the most coherent."""
    best = {}
    for system, group in groups.items():
        library = system.partition(" K=")[0]
        if system.startswith("hdp"):
            continue
        if (
            library not in best
            or group["weighted_npmi"].mean() > best[library]["weighted_npmi"].mean()
        ):
            best[library] = group
    return best


def compare_counts(rows):
    """Topics in use of simulated corpora, after one pass of ours, against the true number."""
    frame = pd.DataFrame(rows)
    found = []
    for corpus, part in frame.groupby("corpus", sort=False):
        groups = {
            system: group for system, group in part.groupby("system", sort=False) if system != "hdp"
        }
        ours = part[(part["system"] == "hdp") & (part["passes"] == 1)]
        for system, theirs in groups.items():
            errors = [abs(group["counted"] - group["true"]).mean() for group in (ours, theirs)]
            shown = [
                f"{g['counted'].mean():.1f}, {g['found'].mean():.1f} true" for g in (ours, theirs)
            ]
            where = f"{corpus}: {theirs['true'].iloc[0]:.0f} true"
            sign = find_sign(errors[1] - errors[0], ONE_TOPIC)
            difference = f"{errors[0] - errors[1]:+.1f}"
            found.append(compare("number of topics", where, system, shown, difference, sign))
    return found


# Of `libraries`: the title, the format, and 1 if more is better.
MEASURES = {
    "nats": ("nats per held-out word", ".3f", 1),
    "weighted_npmi": ("NPMI", ".3f", 1),
    "diversity": ("diversity", ".2f", 1),
    "stability": ("stability", ".2f", 1),
    "seconds": ("seconds", ".1f", -1),
    "megabytes": ("added memory (MB)", ".0f", -1),
}
SHARED = "libraries"


def compare_libraries(rows):
    """A row for each corpus and measure in which other systems are ahead, with all of these: more
    than the uncertainty, or less. rows: those of `libraries.summarize`.
    """
    found = []
    for corpus, part in pd.DataFrame(rows).groupby("corpus", sort=False):
        (ours,) = part[part["system"] == "hdp"].to_dict("records")
        others = part[part["system"] != "hdp"].to_dict("records")
        for name, (title, form, direction) in MEASURES.items():
            ahead = {-1: [], 0: []}
            for other in others:
                gain = direction * (ours[name] - other[name])
                if gain < 0:
                    sign = int(find_sign(gain, find_uncertainty(name, ours, other)))
                    ahead[sign].append((gain, f"{other['system']} {other[name]:{form}}"))
            for sign, named in ahead.items():
                if named:
                    *listed, last = [text for _, text in sorted(named)]
                    other, _, theirs = last.rpartition(" ")
                    shown = (format(ours[name], form), theirs)
                    where = f"{corpus}, {title}"
                    named = ", ".join([*listed, other])
                    found.append(compare(SHARED, where, named, shown, "-", sign))
    return found


def replace(stored, rows, facts):
    """Summaries of `libraries`, in which corpora and systems that were measured again are new.
    facts: commit and date of the new ones.
    """
    found = {(row["corpus"], row["system"]): row for row in stored}
    for row in libraries.summarize(rows):
        found[row["corpus"], row["system"]] = row | facts
    places = tuple(product(libraries.CORPORA, libraries.SYSTEMS))
    return sorted(found.values(), key=lambda row: places.index((row["corpus"], row["system"])))


def find_uncertainty(name, ours, other):
    """The difference of a measure from which on one of two systems is better."""
    if f"{name}_error" in ours:
        return 2 * np.hypot(ours[f"{name}_error"], other[f"{name}_error"])
    return STABILITY if name in ("diversity", "stability") else MEMORY * ours[name]


# What tells whose rows a file has.
READERS = {
    "our_seconds": compare_speed,
    "our_megatokens_a_second": compare_samplers,
    "nats_per_word": compare_heldout,
    "listed": compare_coherence,
    "counted": compare_counts,
}


def compare_files(paths):
    """The rows of all comparisons; files of one benchmark are joined."""
    rows = {key: [] for key in READERS}
    for path in paths:
        read = json.loads(Path(path).read_text("utf-8"))
        rows[next(key for key in READERS if key in read[0])] += read
    return [row for key, read in READERS.items() if rows[key] for row in read(rows[key])]


HEADINGS = {
    SHARED: ("Models of several libraries", ""),
    "speed": (
        "Speed",
        (
            "Seconds of one pass, in turn. The HDP and gensim have K = 150, both LDAs K = 100."
            " gensim and scikit-learn use one core. Command: `speed`."
        ),
    ),
    "samplers": (
        "Speed of the Gibbs samplers",
        "Millions of tokens a second on one thread. Command: `samplers`.",
    ),
    "memory": (
        "Memory",
        "Megabytes that one pass adds to a process that has read the corpus. Command: `speed`.",
    ),
    "held-out": (
        "Prediction of held-out words",
        (
            "Nats per held-out word (`disjoint_words`); higher is better. tomotopy makes 200"
            " passes, the others one. The best K of each LDA is chosen on the test documents."
            " gensim is from `speed`, the rest from `heldout --protocols disjoint_words --systems"
            " hdp unigram lda-warm`, with `sklearn-lda` and `tomotopy-lda` where they are in a row,"
            " `--orders`, `--corpus` and `--documents`."
        ),
    ),
    "coherence": (
        "Coherence",
        (
            "NPMI of the ten top words, weighted by tokens; higher is better. The HDP reads until"
            " documents set aside are predicted no better, tomotopy makes 600 passes, scikit-learn"
            " ten, gensim one. tomotopy's K is the best of 25, 50 and 100. Command: `coherence"
            " --corpora NAME --documents N`."
        ),
    ),
    "stability": (
        "Stability",
        "Share of the tokens whose topics come back with another seed, of the same fits.",
    ),
    "number of topics": (
        "Number of topics",
        (
            "Topics in use, and how many of them match a true topic, in simulated corpora. The"
            " difference is that of the distances to the true number. gensim's HDP and ours read"
            " the corpus once, tomotopy's makes 600 passes. Command: `topic_count --corpora \"10"
            ' topics, 200 documents" --systems gensim-hdp tomotopy-hdp`.'
        ),
    ),
}
LIBRARIES = (
    "All models learn from the same 1,620 documents, with settings of their own documentation. K,"
    " where a model does not decide it, is the best of 25, 50 and 100 on documents for choices. Nats"
    " are of one fold-in for all, which uses only the topics and their tokens. Seconds are of the"
    " processor, of all threads, for one fit. MB is the peak of the resident memory during the fit,"
    " less what the process held before it; by then it has read the corpus, imported the library and"
    ' fitted twenty documents; "-" was not measured so. bnpy is missing: it does not run with a NumPy or Python that this'
    " project supports ([what was tried](decisions/other-libraries.md)). Command:"
    " `libraries`; the second table has the commit of each row."
)
OPENING = (
    "Stickbreaker compared with other libraries. `python -m tests.benchmarks.results` prints this"
    " page, and its docstring says when a difference counts. Figures are of commit {commit},"
    " {date}, with three seeds, on two cores that other programs shared. ± is the standard error of"
    " a difference or of an NPMI, and else the standard deviation over seeds."
    " [BENCHMARKS](BENCHMARKS.md) measures Stickbreaker alone."
)


def list_rows(rows):
    """Rows as a list of the page."""
    return "\n".join(
        f"* {HEADINGS[row['what']][0]}, {row['where']}: {row['compared with']} {row['theirs']}, "
        f"Stickbreaker {row['Stickbreaker']}"
        for row in rows
    )


def make_page(stored):
    """The page as text."""
    frame = pd.DataFrame(stored["comparisons"])
    opening = OPENING.format(commit=stored["commit"], date=stored["date"])
    shared = stored.get(SHARED)
    ahead = compare_libraries(shared["rows"]) if shared else []
    compared = [*ahead, *stored["comparisons"]]
    unclear = [row for row in compared if row["better"] == NEITHER]
    parts = [
        "# Results",
        opening,
        stored["note"],
        "## Where the other is better",
        list_rows(row for row in compared if row["better"] == OTHER),
        "Behind, but by less than the uncertainty:",
        list_rows(row for row in unclear if row["difference"].startswith("-")),
    ]
    if shared:
        parts += [f"## {HEADINGS[SHARED][0]}", LIBRARIES]
        parts += [to_markdown(libraries.tabulate(shared["rows"]))]
        parts += [to_markdown(libraries.list_settings(shared["rows"]))]
    for what, (title, text) in HEADINGS.items():
        table = frame[frame["what"] == what].drop(columns="what")
        if len(table):
            parts += [f"## {title}", text, to_markdown(table)]
    return "\n\n".join(part for part in parts if part)


def main():
    """Read the command line; compare and store, or print the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("files", nargs="*", help="JSON files of other benchmarks")
    parser.add_argument("--commit", help="the commit that they were measured at")
    parser.add_argument("--date", help="the day of the measurement")
    parser.add_argument("--note", default="", help="what else the reader must know of the figures")
    parser.add_argument("--libraries", nargs="+", default=[], help="JSON files of `libraries`")
    parser.add_argument("--json", default=STORED)
    arguments = parser.parse_args()
    facts = {"commit": arguments.commit, "date": arguments.date}
    path = Path(arguments.json)
    stored = json.loads(path.read_text("utf-8")) if path.exists() else {}
    if arguments.files:
        rows = compare_files(arguments.files)
        stored |= facts | {"note": arguments.note, "comparisons": rows}
    if arguments.libraries:
        rows = [row for file in arguments.libraries for row in json.loads(Path(file).read_text())]
        stored[SHARED] = {"rows": replace(stored.get(SHARED, {}).get("rows", []), rows, facts)}
    if arguments.files or arguments.libraries:
        write_json(path, stored)
    print(make_page(stored))


if __name__ == "__main__":
    main()
