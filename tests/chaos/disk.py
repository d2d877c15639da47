"""Disks that fail: the old content stays complete, nothing is left over, and one sentence says what
to do.

    python -m tests.chaos.disk [--number 200] [--seed 0] [--json FILE]

For each operation of the project, every n-th write, sync or rename fails: no space, input/output
error, read-only. Then each operation is recorded, and its first n operations are replayed --number
times, where what was not synced may be lost. Prints how often the operation failed with a sentence,
and every other outcome, which must be 0.
"""

import argparse
import logging
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import numpy as np
import pandas as pd

from stickbreaker.app.export.tables import write_table
from stickbreaker.app.model.kept_runs import KeptRuns
from stickbreaker.app.model.saved_readings import SavedReadings
from stickbreaker.app.model.saved_runs import SavedRun, SavedRuns
from stickbreaker.app.model.saved_sweeps import SavedSweeps
from stickbreaker.app.model.topic_names import NamedTopic, TopicNames
from stickbreaker.engine.corpora.build_stored import BuildRequest, build_own
from stickbreaker.engine.corpora.export import export_own
from stickbreaker.engine.corpora.library import load_own
from stickbreaker.engine.corpora.load import load_corpus
from stickbreaker.engine.corpora.stored import store_corpus
from stickbreaker.engine.files import verified_files
from stickbreaker.engine.runs import checkpoint
from stickbreaker.engine.runs.study import run_study
from tests.chaos import stored
from tests.chaos.disks import ERRORS, Disk, replay
from tests.chaos.stored import KINDS, Kind, Refusal

COLUMNS = (
    "failed with a sentence",
    "succeeded",
    "replays",
    "old lost",
    "debris",
    "foreign",
    "no sentence",
)
BAD = COLUMNS[3:]
KIND = {kind.name: kind for kind in KINDS}


@dataclass(frozen=True)
class Action:
    """Something that writes into a folder with two items of a kind, or removes one of them."""

    name: str
    kind: Kind
    act: Callable[[Path], object]
    removes: str = ""


def save_model(folder: Path) -> None:
    """Write another model over the first one."""
    stored.make_model(2).save(folder / "one.npz")


def name_topics(folder: Path) -> None:
    """Name another topic of the first corpus."""
    TopicNames(folder).change("one", [NamedTopic("peace", {stored.WORDS[3]: 0.5})])


def save_run(folder: Path) -> None:
    """Save the first run at a later position."""
    SavedRuns(folder).write(SavedRun("one", "watch one", None, stored.make_checkpoints()[1]))


def save_sweep(folder: Path) -> None:
    """Save the first sweep with one more run."""
    SavedSweeps(folder).write("one", stored.make_sweep(1))


def save_reading(folder: Path) -> None:
    """Save the second reading under the first model."""
    first, second = stored.make_read_models()
    shares = SavedReadings(folder).find(second)
    SavedReadings(folder).write(first, shares)


def save_stream(folder: Path) -> None:
    """Save the model of the first stream after one more mini-batch."""
    stored.save_stream(folder, "one", stored.make_stream_models()[1])


def build(folder: Path) -> None:
    """Build a third corpus."""
    build_own(BuildRequest(stored.write_notes(folder.parent, 2), "three"), folder=folder)


def store(folder: Path) -> None:
    """Store a third corpus that need not fit in memory."""
    corpus = load_corpus(stored.write_notes(folder.parent, 2), text="text", date="date")
    store_corpus(corpus, folder / "three")


def study_cells(folder: Path) -> None:
    """Run a study with two more cells."""
    declared = stored.make_cells(folder.parent)[0]
    wider = replace(declared, grid={"forgetting_rate": (0.6, 0.7, 0.8, 0.9)})
    frame = run_study(wider, folder, report=lambda progress: None)
    assert len(frame) == 4
    assert frame["error"].isna().all()


ACTIONS = (
    Action(
        "checkpoint",
        KIND["checkpoint"],
        lambda f: checkpoint.save(f / "one.npz", stored.make_checkpoints()[1]),
    ),
    Action("model", KIND["model"], save_model),
    Action("kept run", KIND["kept run"], lambda f: KeptRuns(f).rename("one", "mine")),
    Action("keeping a run", KIND["kept model"], lambda f: stored.keep_run(f, "three", 25)),
    Action("topic names", KIND["topic names"], name_topics),
    Action("saved run", KIND["saved run"], save_run),
    Action("corpus", KIND["corpus"], build),
    Action("stored corpus", KIND["stored corpus"], store),
    Action(
        "conversion of a corpus",
        Kind("old corpus", stored.write_old_corpora, stored.read_old_corpora),
        lambda f: load_own("one", f),
    ),
    Action(
        "export of a corpus",
        KIND["corpus"],
        lambda f: export_own("one", f.parent / "out.parquet", f),
    ),
    Action(
        "table",
        KIND["checkpoint"],
        lambda f: write_table(pd.DataFrame({"a": range(9)}), f / "a.csv"),
    ),
    Action("study", KIND["study cell"], study_cells),
    Action("saved sweep", KIND["saved sweep"], save_sweep),
    Action("reading", KIND["reading"], save_reading),
    Action("saved stream", KIND["saved stream"], save_stream),
)


def fail_everywhere(action: Action, start: Path, errors: Sequence[str]) -> Counter:
    """Let each write, sync and rename of an action fail, with these errors in turn; count the
    outcomes.
    """
    counted = Counter()
    before = action.kind.read(start / "files")
    folder = start.parent / "now" / "files"
    for number in count(1):
        restore(start, folder.parent)
        disk = Disk(fails_at=number, error=errors[number % len(errors)])
        with disk.between():
            counted[attempt(action, folder)] += 1
        counted["debris"] += has_debris(folder.parent)
        counted["old lost"] += has_lost(before, action.kind.read(folder), None)
        if disk.num_done < number:
            return counted


def attempt(action: Action, folder: Path) -> str:
    """Do something, and return the outcome: one of COLUMNS."""
    try:
        action.act(folder)
    except stored.ERRORS as raised:
        return COLUMNS[0] if is_sentence(str(raised)) else "no sentence"
    except Exception as raised:
        logging.getLogger(__name__).exception("%s", raised)
        return "foreign"
    return "succeeded"


def has_debris(folder: Path) -> bool:
    """Whether an unfinished file or folder is left."""
    return any(".partial" in path.name for path in folder.rglob("*"))


def stop_everywhere(action: Action, start: Path, number: int, seed: int) -> Counter:
    """Stop the machine after a random operation of an action, many times; count what is lost."""
    counted = Counter()
    before = action.kind.read(start / "files")
    folder = start.parent / "now" / "files"
    restore(start, folder.parent)
    contents = {str(path): path.read_bytes() for path in folder.parent.rglob("*") if path.is_file()}
    with Disk().between() as disk:
        action.act(folder)
    after, rng = action.kind.read(folder), np.random.default_rng(seed)
    for _ in range(number):
        shutil.rmtree(folder.parent)
        place = int(rng.integers(len(disk.operations) + 1))
        with tempfile.TemporaryDirectory() as machine:
            replay(disk.operations[:place], contents, Path(machine), rng)
            shutil.move(machine + str(folder.parent), folder.parent)
        counted["replays"] += 1
        counted["old lost"] += has_lost(before, action.kind.read(folder), after)
    return counted


def has_lost(before: stored.Found, now: stored.Found, after: stored.Found | None) -> bool:
    """Whether an item has neither its old nor its new content, or cannot be read."""
    verified_files.digest_once.cache_clear()
    for name in before.keys() | now.keys():
        found = now.get(name)
        if found == before.get(name):
            continue
        if isinstance(found, Refusal) or (after is not None and found != after.get(name)):
            return True
    return False


def is_sentence(text: str) -> bool:
    """Whether a message is one short line that ends with a stop."""
    return text.endswith(".") and "\n" not in text and len(text) <= 500


def restore(start: Path, now: Path) -> None:
    shutil.rmtree(now, ignore_errors=True)
    shutil.copytree(start, now)
    verified_files.digest_once.cache_clear()


def count_outcomes(number: int, seed: int, tries_all: bool = True) -> pd.DataFrame:
    """A row for each action. tries_all: whether each of its operations fails with every error."""
    tried = [[error] for error in ERRORS] if tries_all else [list(ERRORS)]
    logging.disable(logging.WARNING)
    rows = []
    for action in ACTIONS:
        with tempfile.TemporaryDirectory() as folder:
            start = Path(folder).resolve() / "start"
            (start / "files").mkdir(parents=True)
            action.kind.write(start / "files")
            counted = sum((fail_everywhere(action, start, errors) for errors in tried), Counter())
            counted += stop_everywhere(action, start, number, seed)
        rows.append({"operation": action.name} | {column: counted[column] for column in COLUMNS})
    logging.disable(logging.NOTSET)
    return pd.DataFrame(rows)


def main() -> None:
    """Print the table, and end with an error if an outcome is bad."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--number", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    frame = count_outcomes(options.number, options.seed)
    print(frame.to_string(index=False))
    if options.json:
        frame.to_json(options.json, orient="records", indent=1)
    sys.exit(int(frame[list(BAD)].to_numpy().sum() > 0))


if __name__ == "__main__":
    main()
