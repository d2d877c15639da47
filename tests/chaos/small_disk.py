"""A small disk of this machine that is full or read-only: the same as `tests.chaos.disk`, without a
substitute for it.

    python -m tests.chaos.small_disk [--json FILE]

Mounts a tmpfs of a few megabytes (Linux, as root), fills it except for some kilobytes, or makes it
read-only, and does each operation of `tests.chaos.disk` on it, and those that do not write through
`whole_files`: uploads, new folders and removals. Prints the outcomes as `tests.chaos.disk` does.
"""

import argparse
import base64
import gc
import logging
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from stickbreaker.app.model.kept_runs import KeptRuns
from stickbreaker.app.model.saved_runs import SavedRun, SavedRuns
from stickbreaker.app.model.topic_names import NamedTopic, TopicNames
from stickbreaker.app.widgets.file_transfer import FileTransfer
from stickbreaker.app.widgets.uploads import SPACE
from stickbreaker.engine.corpora.library import delete_own
from stickbreaker.engine.corpora.rows import CorpusError
from tests.app.browser_messages import answer_with, send
from tests.chaos import stored
from tests.chaos.disk import (
    ACTIONS,
    BAD,
    COLUMNS,
    KIND,
    Action,
    attempt,
    has_debris,
    has_lost,
    restore,
)

DISK_KILOBYTES = 8_192
# What is free, in kilobytes; None: the disk is read-only.
STATES = (0, 4, 8, 16, 32, 64, 128, None)
FILLER = "filler"
PART = base64.b64encode(b"war and peace" * 4_000).decode()
NOTHING = stored.Kind("nothing", lambda folder: None, lambda folder: {})


def upload(folder: Path) -> None:
    """Upload a file of 52 kilobytes as a browser does; what is refused leaves nothing."""
    refused, taken = [], []
    used = SPACE.used.total()
    before, tempfile.tempdir = tempfile.tempdir, str(folder.parent)
    transfer = FileTransfer(taken.append, refused.append)
    answer_with(transfer, lambda message: None)
    try:
        for message in (
            {"kind": "begin"},
            {"kind": "open", "name": "a.csv", "size": 1, "folders": ["notes"]},
            {"kind": "part", "content": PART},
            {"kind": "end"},
        ):
            if not refused:
                send(transfer, message)
        if refused:
            assert not list(folder.parent.glob("stickbreaker-*")), "a refused upload is still there"
        transfer.upload.clear()
        assert SPACE.used.total() == used, "an upload that is gone counts"
    finally:
        tempfile.tempdir = before
    if refused:
        raise CorpusError(refused[0])
    assert taken


def save_first_run(folder: Path) -> None:
    """Save a run in a new folder."""
    SavedRuns(folder / "user" / "open-runs").write(
        SavedRun("three", "watch", None, stored.make_checkpoints()[0])
    )


def name_first_topic(folder: Path) -> None:
    """Name a topic in a new folder."""
    TopicNames(folder / "user" / "names").change("one", [NamedTopic("war", {stored.WORDS[0]: 0.5})])


def claim_run(folder: Path) -> None:
    """Claim a run in a new folder; a disk that cannot note it is no fault."""
    SavedRuns(folder / "user" / "open-runs").claim("three").close()


FURTHER = (
    Action("upload", NOTHING, upload),
    Action("first saved run", KIND["saved run"], save_first_run),
    Action("first topic name", KIND["topic names"], name_first_topic),
    Action("claim of a run", KIND["saved run"], claim_run),
    Action(
        "deletion of a kept run",
        KIND["kept model"],
        lambda f: KeptRuns(f).delete("one"),
        removes="one",
    ),
    Action("deletion of topic names", KIND["topic names"], lambda f: TopicNames(f).remove("one")),
    Action("deletion of a corpus", KIND["corpus"], lambda f: delete_own("one", f), removes="one"),
)


def find_obstacle() -> str:
    """Why no small disk can be mounted here; "" if one can."""
    if sys.platform != "linux":
        return "a small disk is mounted on Linux only"
    with tempfile.TemporaryDirectory() as folder:
        try:
            with mounted(Path(folder)):
                return ""
        except (OSError, subprocess.CalledProcessError) as error:
            return f"a small disk cannot be mounted here ({error}): run it as root"


@contextmanager
def mounted(folder: Path) -> Iterator[Path]:
    """Mount a new small disk on a folder."""
    options = f"size={DISK_KILOBYTES}k"
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], check=True, capture_output=True
    )
    try:
        yield folder
    finally:
        # Files of the disk may still be mapped into memory.
        subprocess.run(["umount", "--lazy", folder], check=True, capture_output=True)


@contextmanager
def spoiled(disk: Path, free: int | None) -> Iterator[None]:
    """Fill a disk except for some kilobytes, or make it read-only."""
    if free is None:
        remount(disk, "ro")
    else:
        found = os.statvfs(disk)
        with (disk / FILLER).open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, found.f_bavail * found.f_frsize - free * 1_024)
    try:
        yield
    finally:
        remount(disk, "rw")
        (disk / FILLER).unlink(missing_ok=True)


def remount(disk: Path, state: str) -> None:
    """Make a disk read-only, or writable."""
    # A disk with a file that is mapped into memory and was removed cannot become read-only.
    gc.collect()
    subprocess.run(["mount", "-o", f"remount,{state}", disk], check=True, capture_output=True)


def fail_in_each_state(action: Action, start: Path, disk: Path) -> Counter:
    """Do something on a disk in each state; count the outcomes."""
    counted, folder = Counter(), disk / "now" / "files"
    before = action.kind.read(start / "files")
    for free in STATES:
        restore(start, folder.parent)
        # The sources of what is built are there before.
        stored.write_notes(folder.parent, 2)
        stored.make_checkpoints()
        with spoiled(disk, free):
            outcome = attempt(action, folder)
            counted[outcome] += 1
            counted["debris"] += has_debris(folder.parent)
            gone = action.removes if outcome == "succeeded" else ""
            now = action.kind.read(folder)
            stays = {name: content for name, content in before.items() if name != gone}
            counted["old lost"] += has_lost(
                stays, {name: now[name] for name in now if name != gone}, None
            )
    return counted


def count_outcomes() -> pd.DataFrame:
    """A row for each action. Raises CalledProcessError if no disk can be mounted."""
    logging.disable(logging.WARNING)
    rows = []
    for action in (*ACTIONS, *FURTHER):
        with tempfile.TemporaryDirectory() as folder:
            start, disk = (Path(folder).resolve() / name for name in ("start", "disk"))
            (start / "files").mkdir(parents=True)
            disk.mkdir()
            action.kind.write(start / "files")
            with mounted(disk):
                counted = fail_in_each_state(action, start, disk)
        rows.append({"operation": action.name} | {column: counted[column] for column in COLUMNS})
    logging.disable(logging.NOTSET)
    return pd.DataFrame(rows).drop(columns="replays")


def main() -> None:
    """Print the table, and end with an error if an outcome is bad."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if obstacle := find_obstacle():
        print(f"Skipped: {obstacle}.")
        return
    frame = count_outcomes()
    print(frame.to_string(index=False))
    if options.json:
        frame.to_json(options.json, orient="records", indent=1)
    sys.exit(int(frame[list(BAD)].to_numpy().sum() > 0))


if __name__ == "__main__":
    main()
