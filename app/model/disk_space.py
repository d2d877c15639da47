"""What one user has on disk: the stores, and the space that they and the corpora take."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import NamedTuple

from stickbreaker.app.model.kept_runs import MODEL_SUFFIX, KeptRuns, Size
from stickbreaker.app.model.limits import (
    ALL_CORPORA,
    ALL_KEPT_MODELS,
    ALL_SAVED_READINGS,
    ALL_SAVED_RUNS,
    CORPORA,
    KEPT_MODELS,
    MEGABYTE,
    SAVED_RUNS,
    Limit,
    LimitReachedError,
    find_limit,
    write_bytes,
)
from stickbreaker.app.model.saved_readings import SavedReadings
from stickbreaker.app.model.saved_runs import SavedRuns
from stickbreaker.app.model.saved_sweeps import SavedSweeps
from stickbreaker.app.model.shelf import fit_all, list_newest, measure
from stickbreaker.app.model.topic_names import TopicNames
from stickbreaker.engine.corpora.library import find_folder, find_own, list_own

OWN_CORPORA = "corpora"
KEPT_RUNS = "runs"
OPEN_RUNS = "open-runs"
READINGS = "readings"
NAMES = "topic-names"
STREAMS = "streams"
FULL = (
    "This corpus needs about {}, but the limit for each user is {} (STICKBREAKER_CORPORA), and your"
    " corpora already take {}: delete one under Bring your own text, or take a sample."
)
ALL_FULL = (
    "This corpus needs about {}, but the limit for all users together is {} (10 times"
    " STICKBREAKER_CORPORA), and {} is already used: delete a corpus, or ask the administrator of"
    " the server."
)
OLDEST = "the oldest are removed automatically"
FOLDERS = {
    OPEN_RUNS: ("Saved runs", OLDEST),
    READINGS: ("Readings: topic shares of documents", OLDEST),
    STREAMS: ("Models of streams", "delete the folder streams to begin with new models"),
    NAMES: ("Topic names", "remove names on the Topics page"),
}


class UserFiles:
    """The stores of a user, which all runs of the user share. folder: of the user's data."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.kept = KeptRuns(folder / KEPT_RUNS)
        self.runs = SavedRuns(folder / OPEN_RUNS)
        self.sweeps = SavedSweeps(folder / OPEN_RUNS)
        self.readings = SavedReadings(folder / READINGS)
        self.names = TopicNames(folder / NAMES)


class Item(NamedTuple):
    """Something on disk, its bytes, and what removes it."""

    name: str
    size: int
    remedy: str


def measure_folder(folder: Path) -> int:
    """The bytes of all files below a folder; 0 if there is none."""
    total = 0
    # A file that is removed during the count takes no space.
    with suppress(OSError):
        for path in folder.rglob("*"):
            if path.is_file():
                total += path.stat().st_size
    return total


def check_corpora(folder: Path | None, source: Path) -> None:
    """Raise LimitReachedError if a corpus of this file or folder would exceed a limit of space.

    folder: of the user's corpora. A corpus takes about as much space as its text.
    """
    needed = measure_folder(source) if source.is_dir() else measure(source)
    own = measure_folder(find_folder(folder))
    shared = find_folder().parent
    folders = {find_folder(folder), find_folder(), *shared.glob("users/*/corpora")}
    everything = sum(measure_folder(each) for each in folders)
    for limit, used, message in ((CORPORA, own, FULL), (ALL_CORPORA, everything, ALL_FULL)):
        if used + needed > (allowed := find_limit(limit)):
            numbers = map(write_bytes, (needed, allowed, used))
            raise LimitReachedError(limit, message.format(*numbers))


def limit_saved_runs(folders: Iterable[Path]) -> None:
    """Remove saved runs until those of all users fit. folders: of the data of each user."""
    _limit_files(folders, OPEN_RUNS, ALL_SAVED_RUNS)


def limit_saved_readings(folders: Iterable[Path]) -> None:
    """Remove readings until those of all users fit. folders: of the data of each user."""
    _limit_files(folders, READINGS, ALL_SAVED_READINGS)


def _limit_files(folders: Iterable[Path], name: str, limit: Limit) -> None:
    fit_all([list_newest(folder / name, ".npz")[::-1] for folder in folders], find_limit(limit))


def limit_kept_models(folders: Iterable[Path]) -> None:
    """Remove models of kept runs until those in all users' folders fit."""
    places = [folder / KEPT_RUNS for folder in folders]
    allowed = find_limit(ALL_KEPT_MODELS)
    if sum(measure(path) for place in places for path in place.glob(f"*{MODEL_SUFFIX}")) > allowed:
        fit_all([KeptRuns(place).list_models() for place in places], allowed)


def list_items(data: Path, sizes: Mapping[str, Size]) -> list[Item]:
    """What a user has on disk, the largest first. sizes: of the kept runs."""
    results = sum(size.results for size in sizes.values())
    models = sum(size.model for size in sizes.values())
    items = [
        Item("Kept runs: curves and topics", results, "delete runs above"),
        Item(
            "Kept runs: models",
            models,
            "the oldest are removed automatically, runs without a name first",
        ),
        *(
            Item(name, measure_folder(data / folder), remedy)
            for folder, (name, remedy) in FOLDERS.items()
        ),
    ]
    for corpus in list_own(data / OWN_CORPORA):
        size = measure_folder(find_own(corpus.name, data / OWN_CORPORA).place)
        items.append(Item(f"Corpus {corpus.name}", size, "delete it under Bring your own text"))
    return sorted(items, key=lambda item: item.size, reverse=True)


def describe_space(items: list[Item]) -> str:
    """The items as HTML, with their sum and the limits."""
    used = sum(item.size for item in items)
    limits = (KEPT_MODELS, SAVED_RUNS, CORPORA)
    models, saved, corpora = (write_bytes(find_limit(limit)) for limit in limits)
    rows = "".join(
        f"<li>{escape(item.name)}: {item.size / MEGABYTE:,.1f} MB ({escape(item.remedy)})</li>"
        for item in items
        if item.size
    )
    return (
        f"<p>Space on disk: {used / MEGABYTE:,.1f} MB. Models of kept runs may take {models}, saved"
        f" runs {saved}, and corpora {corpora}.</p><ul>{rows}</ul>"
    )
