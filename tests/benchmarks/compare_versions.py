"""Two versions of the project, measured alternately: seconds of a run, and seconds until a page
shows something.

    python -m tests.benchmarks.compare_versions BEFORE [AFTER] [--rounds 10] [--tables run page]
    [--corpus NAME]
                                                [--json FILE]

BEFORE and AFTER are folders with clones of the project; AFTER is this one by default. Both use the
installed libraries, but each its own code. Versions before the folders of `engine/`, whose package
is called `engine`, can be compared too.

* run: a process for each version runs the online HDP at its defaults, in turn with the other
  process. Each run is made twice: with scores and word lists, as on the page, and without them. The
  seconds include the split of the corpus. Both are made again without births and removals of
  topics, whose rules differ between versions.
* page: each version has a server, and Chromium visits both in turn. In each round a new browser
  makes a first visit, and then a second one, for which it has the page's files. The seconds are
  from the request to the first text, the state of the run, the first curve, the settings and the
  first list of words. Then the run of the page is paused.

A ratio is the seconds of AFTER divided by those of BEFORE in the same round. The order changes from
round to round, and one round before the first does not count: it compiles kernels. Run it on a
quiet machine only.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlencode

import pandas as pd
from playwright.sync_api import sync_playwright

from stickbreaker.engine.corpora.library import FOLDER_VARIABLE
from tests.benchmarks.heldout import to_markdown, write_json
from tests.benchmarks.soak import PAUSE, PLACES, SEEK
from tests.browser.conftest import ROOT, TOKEN, list_paths, serving
from tests.browser.dashboard import FIRST_SECONDS, WIDE, Dashboard
from tests.conftest import BROWSER_FLAGS, find_browser

TARGET = 1.05
TABLES, VISITS = ("run", "page"), ("first visit", "second visit")
# Each kind of run has scores or not, and its topics change in number or not.
KINDS = {
    "with scores": (True, True),
    "without scores": (False, True),
    "with scores, all topics kept": (True, False),
    "without scores, all topics kept": (False, False),
}
SEEN = PLACES | {"first list of words": ["thead th:not(.rank)"]}
# Its input has a kind of run in each line; it answers with a line of JSON.
RUNS = """
import json, sys, time
from importlib import import_module
from pathlib import Path
root = Path(sys.argv[1])
engine = import_module("stickbreaker.engine" if (root / ".import").exists() else "engine")
if not Path(engine.__file__).resolve().is_relative_to(root):
    raise SystemExit(f"{engine.__file__} is imported, which is not in {root}")
algorithm, corpus = engine.REGISTRY[0], engine.load_corpus(sys.argv[2])
silent = dict(num_evaluations=0, num_moments=0, score_next_batch=False)
fixed = dict(duplicates="keep", topic_creation="start")
fixed = {name: value for name, value in fixed.items() if name in algorithm.config.__dataclass_fields__}
def start(has_scores, changes_topics):
    asked = engine.RunSettings(**({} if has_scores else silent))
    config = algorithm.config(**({} if changes_topics else fixed))
    if hasattr(engine, "prepare"):
        return engine.run(engine.prepare(algorithm, config, corpus, asked))
    return engine.run(algorithm, config, corpus, asked)
for line in sys.stdin:
    began, worked = time.perf_counter(), time.process_time()
    for _ in start(*json.loads(line)):
        pass
    print(json.dumps([time.perf_counter() - began, time.process_time() - worked]), flush=True)
"""


class RunningVersion:
    """A process that makes runs of one version."""

    def __init__(self, root, corpus):
        self.process = subprocess.Popen(
            [sys.executable, "-c", RUNS, str(root), corpus],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=root,
            env=os.environ | {"PYTHONPATH": list_paths(root)},
        )

    def measure(self):
        """Seconds of one run of each kind, by the clock and of the processor."""
        found = {}
        for kind in KINDS:
            found[f"run, {kind}"], found[f"run, {kind}, processor"] = self._time(kind)
        return found

    def _time(self, kind):
        with suppress(BrokenPipeError):
            self.process.stdin.write(f"{json.dumps(KINDS[kind])}\n")
            self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError("The process that makes the runs has ended: its error is above.")
        return json.loads(answer)

    def close(self):
        """End the process."""
        self.process.communicate()


class ServedVersion:
    """The server of one version, and browsers that visit its page.

    The first visit of all, which does not count, exchanges the start-up token for the cookies of
    all later browsers.
    """

    def __init__(self, address, browser):
        self.address, self.browser, self.cookies = address, browser, None

    def measure(self):
        """Seconds until each place is seen, in both visits of a new browser."""
        context = self.browser.new_context(viewport=WIDE)
        context.add_cookies(self.cookies or [])
        context.add_init_script(f"({SEEK})({json.dumps(SEEN)}, {PAUSE})")
        address, found = self.address, {}
        if self.cookies is None:
            address += f"?{urlencode({'token': TOKEN})}"
        for visit in VISITS:
            found |= {
                f"{visit}: {name}": seconds
                for name, seconds in self._visit(context, address).items()
            }
        self.cookies = context.cookies()
        context.close()
        return found

    def _visit(self, context, address):
        page = context.new_page()
        page.goto(address, timeout=FIRST_SECONDS)
        page.wait_for_function(
            f"() => Object.keys(seenAt).length === {len(SEEN)}", timeout=FIRST_SECONDS
        )
        first = page.evaluate(
            "() => performance.getEntriesByName('first-contentful-paint')[0].startTime"
        )
        milliseconds = {"first text": first, **page.evaluate("() => seenAt")}
        Dashboard(page).leave()
        page.close()
        return {name: value / 1_000 for name, value in milliseconds.items()}


def take_turns(before, after, num_rounds):
    """Rows of what was measured in each round, after one that does not count."""
    rows = []
    for place in range(num_rounds + 1):
        seconds = {}
        for name in ("before", "after") if place % 2 else ("after", "before"):
            seconds[name] = (before if name == "before" else after).measure()
        rows += [
            {
                "what": what,
                "round": place,
                "before": seconds["before"][what],
                "after": seconds["after"][what],
            }
            for what in seconds["before"]
            if place
        ]
        print(f"round {place} of {num_rounds}", file=sys.stderr, flush=True)
    return rows


def compare_runs(roots, num_rounds, corpus):
    """Rows of the seconds of runs."""
    versions = [RunningVersion(root, corpus) for root in roots]
    try:
        return take_turns(*versions, num_rounds)
    finally:
        for version in versions:
            version.close()


def compare_pages(roots, num_rounds):
    """Rows of the seconds of visits."""
    with ExitStack() as stack:
        browser = stack.enter_context(sync_playwright()).chromium.launch(
            executable_path=find_browser(), args=list(BROWSER_FLAGS)
        )
        versions = []
        for root in roots:
            # A folder for each: what one version has saved may be of no use to the other.
            folder = os.environ[FOLDER_VARIABLE] = stack.enter_context(
                tempfile.TemporaryDirectory()
            )
            log = Path(folder) / "server.txt"
            address = stack.enter_context(serving(["-m", "panel", "serve"], log, root=root))
            versions.append(ServedVersion(address, browser))
        rows = take_turns(*versions, num_rounds)
        browser.close()
    return rows


def summarize(rows):
    """A row for each time: its medians, and the least, median and greatest ratio."""
    frame = pd.DataFrame(rows)
    groups = frame.assign(ratio=frame["after"] / frame["before"]).groupby("what", sort=False)
    table = groups[["before", "after"]].median()
    table = table.join(groups["ratio"].agg(ratio_min="min", ratio_median="median", ratio_max="max"))
    return table.assign(target=TARGET).reset_index()


def main():
    """Read the command line, measure, print, and write JSON where asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("before", type=Path, help="the folder of the older version")
    parser.add_argument(
        "after", type=Path, nargs="?", default=ROOT, help="that of the newer version; default: this"
    )
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES)
    parser.add_argument(
        "--corpus", default="state-of-the-union", help="what the runs of the first table read"
    )
    parser.add_argument("--json", metavar="FILE")
    asked = parser.parse_args()
    roots = [asked.before.resolve(), asked.after.resolve()]
    rows = []
    if "run" in asked.tables:
        rows += compare_runs(roots, asked.rounds, asked.corpus)
    if "page" in asked.tables:
        rows += compare_pages(roots, asked.rounds)
    print(to_markdown(summarize(rows).round(3)))
    write_json(asked.json, rows)


if __name__ == "__main__":
    main()
