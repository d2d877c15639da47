"""Processes that are killed while they write: the files that they leave are complete, and the next
one continues.

    python -m tests.chaos.kill [--number 100] [--json FILE]

Kills (SIGKILL) each of these --number times, at a random moment: runs of all algorithms, which save
a checkpoint after each mini-batch, builds of corpora, studies with two processes, and a stream
whose model is saved. After each kill everything is read, and a run or stream that continues must
have the bits of an uninterrupted one. At the end the next writer must be able to remove what the
killed processes have left.
"""

import argparse
import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from stickbreaker import engine
from stickbreaker.app.model.saved_stream import SavedStream
from stickbreaker.engine.algorithms import REGISTRY
from stickbreaker.engine.corpora.library import list_own, load_own
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.files.verified_files import FileError
from stickbreaker.engine.files.whole_files import remove_leftovers
from stickbreaker.engine.runs import checkpoint
from stickbreaker.engine.runs.checkpoint import Checkpoint
from stickbreaker.engine.runs.study import read_cell, run_study
from tests.chaos.stored import digest_checkpoint, digest_state
from tests.chaos.worker import CHECKPOINT, learn_batch, make_stream, make_study, prepare_run

# From the first write to the kill, at most: as long as a few writes take.
LONGEST_SECONDS = {"run": 0.3, "build": 4.0, "study": 1.0, "stream": 0.3}
COLUMNS = ("kills", "files read", "damaged", "other bits", "left over")
BAD = COLUMNS[2:]


@contextmanager
def starting() -> Iterator[Callable[[str], int]]:
    """Yield a function that starts a process for a job and returns its number."""
    command = [sys.executable, "-m", "tests.chaos.worker"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def start(job: str) -> int:
            process.stdin.write(job + "\n")
            process.stdin.flush()
            return int(process.stdout.readline())

        try:
            yield start
        finally:
            # Without more jobs the process ends, also after an error here.
            process.stdin.close()


def kill_often(
    job: str, name: str, folder: Path, number: int, start: Callable[[str], int]
) -> Counter:
    """Start a process, kill it and read what it has left, many times."""
    counted, rng = Counter(), np.random.default_rng(number)
    while counted["kills"] < number:
        before = list_times(folder)
        process = start(f"{job}\t{name}\t{folder}")
        with suppress(ProcessLookupError):
            try:
                wait_for_write(folder, before, process)
                while not has_whole_file(folder):
                    wait_for_write(folder, list_times(folder), process)
                time.sleep(rng.uniform(0, LONGEST_SECONDS[job]))
            finally:
                os.killpg(process, signal.SIGKILL)
            counted["kills"] += 1
        counted += READERS[job](folder, name)
    counted["left over"] += count_leftovers(folder)
    return counted


def count_leftovers(folder: Path) -> int:
    """Files that the next process cannot remove, at most ten seconds after the last kill."""
    for _ in range(100):
        remove_leftovers(folder)
        left = sum(path.name.endswith(".partial") for path in folder.iterdir())
        if not left:
            break
        time.sleep(0.1)
    return left


def list_times(folder: Path) -> dict[str, int]:
    """When each file and folder was last written; those that disappear meanwhile are left out."""
    found = {}
    # Unlike `Path.rglob`, `os.walk` skips a folder that disappears before it is opened.
    for parent, folders, files in os.walk(folder):
        for path in (os.path.join(parent, name) for name in (*folders, *files)):
            with suppress(FileNotFoundError):
                found[path] = os.stat(path).st_mtime_ns
    return found


def has_whole_file(folder: Path) -> bool:
    """Whether one writer or more has finished: kills before that leave nothing to read."""
    return any(
        not path.name.startswith(".") and path.suffix != ".partial" for path in folder.iterdir()
    )


def wait_for_write(folder: Path, before: dict[str, int], process: int) -> None:
    """Wait until a process writes into a folder; raises ProcessLookupError if it ends before."""
    while list_times(folder) == before:
        os.kill(process, 0)
        time.sleep(0.002)


def read_run(folder: Path, name: str) -> Counter:
    """Continue the run from its checkpoint in this process; it must end as an uninterrupted one."""
    path, prepared = folder / CHECKPOINT, prepare_run(name)
    if not path.exists():
        return Counter()
    try:
        resume = checkpoint.load(path)
    except FileError:
        return Counter({"damaged": 1})
    found = Counter({"files read": 1})
    if resume.documents_seen < prepared.documents_total:
        found["other bits"] += _finish(prepared, resume) != _finish(prepared, None)
    return found


def _finish(prepared, resume: Checkpoint | None) -> str:
    *_, last = engine.run(prepared, resume=resume)
    name, config = prepared.algorithm.name, prepared.config
    return digest_checkpoint(
        Checkpoint(name, config, prepared.settings, last.state, last.stepped.documents_seen, 0.0)
    )


def read_corpora(folder: Path, name: str) -> Counter:
    """Load every corpus; each folder that is not hidden must be one, with the same content."""
    found, contents = Counter(), set()
    for place in (each for each in folder.iterdir() if not each.name.startswith(".")):
        try:
            corpus = load_own(place.name, folder)
        except (FileError, CorpusError):
            found["damaged"] += 1
            continue
        found["files read"] += 1
        contents.add((corpus.num_documents, corpus.num_tokens, corpus.vocab_size))
    found["other bits"] += len(contents) > 1
    found["damaged"] += len(list_own(folder)) != found["files read"]
    return found


def read_cells(folder: Path, name: str) -> Counter:
    """Read every cell; a study that is complete is read as a whole and removed."""
    found = Counter()
    for path in folder.glob("*.cell"):
        found["damaged" if read_cell(path) is None else "files read"] += 1
    if found["files read"] >= len(make_study(folder).cells()):
        # The study is complete: the next process begins again.
        frame = run_study(make_study(folder), folder, report=lambda progress: None)
        found["other bits"] += int(frame["error"].notna().sum())
        for path in folder.glob("*.cell"):
            path.unlink()
    return found


@cache
def follow_whole(folder: Path) -> engine.Follower:
    """What has learned from the stream of a folder without an interruption, so far."""
    return make_stream()


def read_stream(folder: Path, name: str) -> Counter:
    """Load the model of the stream; it must be that of an uninterrupted one at its position."""
    try:
        saved = SavedStream(folder, "news").load()
    except FileError:
        return Counter({"damaged": 1})
    if saved is None:
        return Counter()
    (model, position), whole = saved, follow_whole(folder)
    seen = whole.model.documents_seen_ if whole.model.__sklearn_is_fitted__() else 0
    while seen < position["seen"]:
        seen = learn_batch(whole, seen)
    is_same = digest_state(model) == digest_state(whole.model)
    return Counter({"files read": 1, "other bits": int(not is_same)})


READERS = {"run": read_run, "build": read_corpora, "study": read_cells, "stream": read_stream}


def count_outcomes(number: int, names: tuple[str, ...]) -> pd.DataFrame:
    """A row for each algorithm, for builds, for studies and for a stream."""
    logging.disable(logging.WARNING)
    rows = []
    jobs = [*(("run", name) for name in names), ("build", ""), ("study", ""), ("stream", "")]
    with starting() as start:
        for job, name in jobs:
            with tempfile.TemporaryDirectory() as folder:
                inside = Path(folder) / "files"
                inside.mkdir()
                counted = kill_often(job, name, inside, number, start)
            rows.append(
                {"job": job, "algorithm": name} | {column: counted[column] for column in COLUMNS}
            )
    logging.disable(logging.NOTSET)
    return pd.DataFrame(rows)


def main() -> None:
    """Print the table, and end with an error if an outcome is bad."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    frame = count_outcomes(options.number, tuple(each.name for each in REGISTRY))
    print(frame.to_string(index=False))
    if options.json:
        frame.to_json(options.json, orient="records", indent=1)
    sys.exit(int(frame[list(BAD)].to_numpy().sum() > 0))


if __name__ == "__main__":
    main()
