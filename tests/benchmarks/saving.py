"""How much saving slows the learning of a run: the same run with and without it, alternately.

    python -m tests.benchmarks.saving [--corpus NAME] [--rounds 7] [--passes 1] [--json FILE]

The run is the online HDP at its defaults, at full pace on the runner of the page, without pages. It saves itself as on
a server: in the background, at its start, at columns of the word lists and every half minute. The seconds are those by
the clock from the first mini-batch to the end of the last one. Each round has one run of both kinds, in turn with the
other one first, and gives one ratio; a run before the first round does not count. Run it on a quiet machine only.
"""

import argparse
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path

import pandas as pd

from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.app.model.saved_runs import SavedRun, SavedRuns
from stickbreaker.app.server.compiling import Compilation
from stickbreaker.app.server.cpu_queue import CpuQueue
from stickbreaker.app.server.runner import Runner, Storage
from stickbreaker.app.server.saver import Saver
from stickbreaker.engine import REGISTRY, RunSettings, load_corpus
from stickbreaker.engine.runs.compile import compile_algorithm
from tests.benchmarks.heldout import to_markdown, write_json

TARGET = 1.02
KEY, TOKEN = "benchmark", "benchmark to watch"


class TimedRun:
    """A run of the page that notes when its first mini-batch begins and its last one ends.

    folder: where it is saved; None: nowhere. num_saved: how often it was handed over, the last time after its end.
    """

    def __init__(self, folder=None):
        self.num_saved = self.num_faults = 0
        self._folder, self._saved_runs = folder, SavedRuns(folder) if folder else None
        self._saver = Saver(self._count_fault)
        self._began = self._ended = self._runner = None
        self._is_over = threading.Event()

    def learn(self, spec, compilation):
        """Learn to the end, and return the seconds that it took."""
        storage = Storage(begin=self._save, save=self._save) if self._folder else Storage()
        self._runner = Runner(load_corpus, CpuQueue(1), compilation, notify=self._look, storage=storage)
        self._runner.set_pace(0.0)
        self._runner.restart(spec)
        self._is_over.wait()
        self._runner.close()
        self._runner.join()
        self._saver.close()
        if self._runner.progress.status == "failed":
            raise RuntimeError(self._runner.progress.message)
        if self.num_faults:
            raise RuntimeError(f"The run could not be saved in {self._folder}: free some space there.")
        return self._ended - self._began

    def _save(self, position):
        self.num_saved += 1
        self._saver.save(self._saved_runs, SavedRun(key=KEY, watch=TOKEN, user=None, position=position))

    def _count_fault(self, key, sentence):
        self.num_faults += bool(sentence)

    def _look(self):
        progress = self._runner.progress
        if progress.status == "running" and self._began is None:
            self._began = time.perf_counter()
        if progress.status in ("finished", "failed") and self._ended is None:
            self._ended = time.perf_counter()
            self._is_over.set()


def measure_round(spec, compilation, place):
    """One row: the seconds of both kinds in one round, and their ratio; the first kind changes with the place."""
    for is_saved in (False, True) if place % 2 else (True, False):
        with tempfile.TemporaryDirectory() as folder:
            run = TimedRun(folder if is_saved else None)
            seconds = run.learn(spec, compilation)
            if is_saved:
                with_saving, num_saved = seconds, run.num_saved
                megabytes = sum(path.stat().st_size for path in Path(folder).iterdir()) / 1e6
            else:
                without = seconds
    row = {"seconds_with": with_saving, "seconds_without": without, "ratio": with_saving / without}
    return row | {"num_saved": num_saved, "megabytes": megabytes}


def measure(corpus, num_rounds, passes=1):
    """One row for each round, and one with the medians; its ratio is the median of the ratios, with their range."""
    algorithm, compilation = REGISTRY[0], Compilation(compile_algorithm)
    settings = replace(RunSettings(), passes=passes)
    spec = RunSpec(corpus, algorithm, algorithm.config(), settings)
    TimedRun().learn(spec, compilation)
    rows = []
    for place in range(num_rounds):
        rows.append({"corpus": corpus, "round": str(place + 1), **measure_round(spec, compilation, place)})
        print(f"round {place + 1}: ratio {rows[-1]['ratio']:.3f}", file=sys.stderr, flush=True)
    frame = pd.DataFrame(rows)
    medians = frame.drop(columns=["corpus", "round"]).median().to_dict()
    spread = {"ratio_min": frame["ratio"].min(), "ratio_max": frame["ratio"].max(), "target": TARGET}
    return [*rows, {"corpus": corpus, "round": "median", **medians, **spread}]


def main():
    """Print the table, and write it as JSON if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--corpus", default="state-of-the-union")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--passes", type=int, default=1)
    parser.add_argument("--json", metavar="FILE")
    asked = parser.parse_args()
    rows = measure(asked.corpus, asked.rounds, asked.passes)
    table = pd.DataFrame(rows).round(3).astype(object)
    print(to_markdown(table.where(table.notna(), "-")))
    write_json(asked.json, rows)


if __name__ == "__main__":
    main()
