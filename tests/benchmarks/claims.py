"""What the papers report about their systems, claim by claim, and the results here.

    python -m tests.benchmarks.claims [--corpus NAME] [--documents N] [--seeds N] [--claims NAME ...] [--json FILE]

All scores are nats per held-out word under `disjoint_words` by a system's own inference (claims of Wang 2011: under
`tokens_90_10` by the fold-in of its sec. 4.1), the means over the seeds decide whether a claim holds. The
corpora are small and this project's; settings on which a claim depends are the paper's. So a difference can be due to
the corpus. If a claim does not hold, other settings are tried, and the row has them with their result. Rows are written
as soon as claims are judged.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor

import pandas as pd

from tests.benchmarks.heldout import to_markdown, write_json
from tests.benchmarks.reported import CLAIMS
from tests.benchmarks.trials import Outcomes, attempt


class Laboratory:
    """Runs each trial once for each seed, when it is first needed."""

    def __init__(self, pool, arguments):
        self.pool, self.arguments, self.tasks = pool, arguments, {}

    def outcomes(self, trials):
        """Outcomes of these trials by name, and of all made before."""
        given, seeds = self.arguments, range(self.arguments.seeds)
        for each in trials.values():
            if each not in self.tasks:
                self.tasks[each] = [self.pool.submit(attempt, each, given.corpus, given.documents, s) for s in seeds]
        return Outcomes({each: [task.result() for task in self.tasks[each]] for each in trials.values()})


def tell(claim, laboratory):
    """The row of a claim; `tried`: other settings that were tried because it does not hold."""
    measured, held = claim.judge(laboratory.outcomes(claim.trials), claim.trials)
    row = {"paper": claim.paper, "claim": claim.claim, "reported": claim.reported, "measured": measured}
    row |= {"held": bool(held), "tried": ""}
    if not held and claim.instead:
        trials = claim.trials | claim.instead
        measured, held = claim.judge(laboratory.outcomes(trials), trials)
        row["tried"] = f"{claim.otherwise}: {'held' if held else 'not held'}, {measured}"
    return row


def choose(papers):
    """The claims of these papers, or all."""
    return [claim for claim in CLAIMS if not papers or claim.paper.split(" Fig")[0].split(" Table")[0] in papers]


def read_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default="state-of-the-union")
    parser.add_argument("--documents", type=int, default=3000, help="most documents, the same for all seeds")
    parser.add_argument("--claims", nargs="+", help='papers: "Hoffman 2013", "Wang 2011", ...; all unless said')
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1, help="processes; more than one makes the seconds unfit to quote")
    parser.add_argument("--json", help="where to write the rows")
    return parser.parse_args()


def main():
    """Read the command line, measure, write what there is after each claim, and print."""
    arguments = read_arguments()
    rows = []
    with ProcessPoolExecutor(arguments.jobs) as pool:
        laboratory = Laboratory(pool, arguments)
        for claim in choose(arguments.claims):
            rows.append(tell(claim, laboratory))
            write_json(arguments.json, rows)
    print(to_markdown(pd.DataFrame(rows)))


if __name__ == "__main__":
    main()
