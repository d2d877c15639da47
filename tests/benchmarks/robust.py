"""Whether the online HDP learns at all positions of its sliders, and with any truncation: one pass, held-out words.

    python -m tests.benchmarks.robust [--corpus NAME] [--seeds 1] [--json FILE] [--jobs N]

Every cell of the grid must end with finite numbers. Cells with less than `LITTLE_LEFT` of the start-up mass left must
be within `TOLERANCE` of the best of them; the others took too few or too small steps to learn. Own inference,
`disjoint_words`, shuffled; no setting is chosen by these scores.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from itertools import product

import numpy as np
import pandas as pd

from stickbreaker.engine.inference.held_words import split_words
from tests.benchmarks.contestants import Ours
from tests.benchmarks.corpora import divide
from tests.benchmarks.heldout import learn, score_both, to_markdown, write_json

GRID = {
    "forgetting_rate": (0.51, 0.6, 0.8, 1.0),
    "delay": (0.0, 1.0, 64.0, 1024.0),
    "batch_size": (16, 64, 256, 1024, 4096),
}
TRUNCATIONS = (150, 300)
LITTLE_LEFT, TOLERANCE = 0.05, 0.15


def measure(corpus_name, seed, settings):
    """The row of one run with these settings, all others at their defaults."""
    train, test = divide(corpus_name, "shuffled", seed)
    contestant = Ours("hdp", train, seed, **settings)
    learn(contestant, train, seed)
    own, folded = score_both(contestant, split_words(test.documents(), test.doc_ids, seed))
    return {
        "corpus": corpus_name,
        "seed": seed,
        **settings,
        "own": own,
        "fold_in": folded,
        "topics": contestant.num_topics(),
        "startup_share": contestant.state.startup_share,
        "seconds": contestant.seconds,
    }


def judge(rows):
    """The grid, mean over seeds, with how far each cell is from the best that learned, and whether it learned."""
    cells = pd.DataFrame(rows).groupby(list(GRID))[["own", "fold_in", "topics", "startup_share"]].mean()
    cells["learned"] = cells["startup_share"] < LITTLE_LEFT
    cells["behind"] = cells.loc[cells["learned"], "own"].max() - cells["own"]
    return cells


def tabulate(cells):
    """A column for each S; nats with the share of start-up mass left, † where that is too much, ! where too far off."""

    def show(cell):
        mark = "" if cell["learned"] and cell["behind"] <= TOLERANCE else "!" if cell["learned"] else "†"
        return f"{cell['own']:.3f} ({cell['startup_share']:.2f}){mark}"

    wide = cells.apply(show, axis=1).unstack("batch_size").reset_index()
    return wide.rename(columns={"forgetting_rate": "κ", "delay": "τ₀", **{s: f"S={s}" for s in GRID["batch_size"]}})


def summarize(cells):
    """What must be true of the grid, in words."""
    finite = np.isfinite(cells[["own", "fold_in", "topics"]]).all(axis=1)
    learned = cells[cells["learned"]]
    off = learned[learned["behind"] > TOLERANCE]
    return (
        f"{finite.sum()} of {len(cells)} cells are finite. {len(learned)} end with less than {LITTLE_LEFT:.0%} of the "
        f"start-up mass, {len(off)} of them more than {TOLERANCE} behind their best, {learned['own'].max():.3f} (!); "
        f"the farthest is {learned['behind'].max():.3f} behind. "
        "In brackets the share of start-up mass left; †: too few or too small steps to learn."
    )


def compare_truncations(rows):
    """Mean ± spread of nats and topics at each K."""
    found = pd.DataFrame(rows).groupby("max_topics")[["own", "fold_in", "topics"]].agg(["mean", "std"])
    found = found.map("{:.3f}".format)
    cells = {name: found[name, "mean"] + " ± " + found[name, "std"] for name in ("own", "fold_in", "topics")}
    return pd.DataFrame(cells).rename_axis("K").reset_index()


def main():
    """Read the command line, measure, print, and write JSON where asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default="state-of-the-union")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--json")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    cells = [dict(zip(GRID, values, strict=True)) for values in product(*GRID.values())]
    sizes = [{"max_topics": size} for size in TRUNCATIONS]
    with ProcessPoolExecutor(arguments.jobs) as pool:
        tasks = [
            pool.submit(measure, arguments.corpus, seed, settings)
            for settings, seed in product(sizes + cells, range(arguments.seeds))
        ]
        rows = [task.result() for task in tasks]
    num_truncations = len(sizes) * arguments.seeds
    grid = judge(rows[num_truncations:])
    parts = [to_markdown(tabulate(grid)), summarize(grid), to_markdown(compare_truncations(rows[:num_truncations]))]
    print("\n\n".join(parts))
    write_json(arguments.json, rows)


if __name__ == "__main__":
    main()
