"""Declared grids of runs: each cell is run once, kept in a file of its own, and found there the next time.

    study = Study(systems=("hdp", "lda"), grid={"forgetting_rate": (0.6, 0.8, 1.0), "batch_size": (64, 256)})
    frame = run_study(study, "cells", num_processes=2)

A study that was interrupted goes on where it stopped when it is called again, and one that is widened runs what is new.
"""

import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from stickbreaker.engine.runs.cells import FURTHER_PROTOCOLS, SCORES, Cell, measure, settings_of
from stickbreaker.engine.runs.settings import RunSettings
from stickbreaker.engine.whole_files import replacing

SHUFFLED = RunSettings(order="shuffled", num_evaluations=1, num_snapshots=0, score_next_batch=False)


@dataclass(frozen=True)
class Study:
    """Every combination of systems, corpora, values of settings, and seeds.

    grid: values of the systems' settings by name. A system that lacks a setting has fewer runs for it.
    fixed: settings that are the same in all runs of the systems that have them; others are at their defaults.
    num_documents: at most so many of a corpus, drawn by the seed.
    run: how each run reads and scores its corpus, but for the seed.
    protocols: of FURTHER_PROTOCOLS, scored beside `disjoint_words` whenever that is.

    Raises ValueError for a system that there is not, a setting that none of the systems has, or a value out of bounds
    or none at all.
    """

    systems: Sequence[str]
    corpora: Sequence[str] = ("state-of-the-union",)
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    seeds: Sequence[int] = (0,)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    num_documents: int | None = None
    run: RunSettings = SHUFFLED
    protocols: Sequence[str] = ()

    def __post_init__(self) -> None:
        if isinstance(self.protocols, str):
            raise ValueError(f"protocols is {self.protocols!r}: give a tuple.")
        unknown = [name for name in self.protocols if name not in FURTHER_PROTOCOLS]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is no further protocol: choose of {', '.join(FURTHER_PROTOCOLS)}.")
        asked = {"systems": self.systems, "corpora": self.corpora, "seeds": self.seeds, **self.grid}
        for name, values in asked.items():
            if isinstance(values, str) or not hasattr(values, "__len__") or not len(values):
                raise ValueError(f"{name} is {values!r}: give a tuple of at least one.")
        if self.num_documents is not None and not (isinstance(self.num_documents, int) and self.num_documents >= 1):
            raise ValueError(f"num_documents is {self.num_documents!r}: give a whole number of at least 1, or None.")
        known = set().union(*(settings_of(system) for system in self.systems))
        for name in (*self.grid, *self.fixed):
            if name not in known:
                raise ValueError(f"No system of {', '.join(self.systems)} has a setting {name!r}.")
        self.cells()

    def cells(self) -> tuple[Cell, ...]:
        """The runs, each once.

        >>> study = Study(("hdp", "gibbs-hdp"), grid={"forgetting_rate": (0.6, 0.8)}, seeds=(0, 1))
        >>> [(cell.system, cell.run.seed, cell.chosen) for cell in study.cells()][1:3]
        [('hdp', 1, {'forgetting_rate': 0.6}), ('hdp', 0, {'forgetting_rate': 0.8})]
        >>> len(study.cells())
        6
        """
        found = {}
        for corpus, system, values, seed in product(
            self.corpora, self.systems, product(*self.grid.values()), self.seeds
        ):
            wished = {**self.fixed, **dict(zip(self.grid, values, strict=True))}
            chosen = {name: value for name, value in wished.items() if name in settings_of(system)}
            settings = replace(self.run, seed=seed)
            cell = Cell(corpus, self.num_documents, system, chosen, settings, tuple(self.protocols))
            found[corpus, system, cell.config, seed] = cell
        return tuple(found.values())


@dataclass(frozen=True)
class StudyProgress:
    """How far a study is.

    seconds_left: at the mean pace of the cells run so far in this call; None before the first.

    >>> print(StudyProgress(40, 12, 1, 90.0, 210.0))
    12 of 40 cells, 1 failed, about 3.5 min left
    """

    num_cells: int
    num_done: int
    num_failed: int
    seconds: float
    seconds_left: float | None

    def __str__(self) -> str:
        failed = f", {self.num_failed} failed" if self.num_failed else ""
        left = "" if self.seconds_left is None else f", about {self.seconds_left / 60:.1f} min left"
        return f"{self.num_done} of {self.num_cells} cells{failed}{left}"


def print_progress(progress: StudyProgress) -> None:
    """A line on the error output."""
    print(progress, file=sys.stderr, flush=True)


def run_study(
    study: Study,
    folder: str | os.PathLike[str],
    *,
    num_processes: int = 1,
    retry_failed: bool = False,
    report: Callable[[StudyProgress], None] = print_progress,
) -> pd.DataFrame:
    """Run the cells of a study that `folder` does not hold yet, and return all as one data frame.

    A row for each score: the cell's corpus, system, chosen settings, order and seed, then documents_seen, seconds (of
    learning; fit to be quoted only with one process on a quiet machine), protocol, predictive ("own": the system's own
    inference; "fold_in": the common one), nats_per_word, num_topics, learning_rate, startup_share, bound, and error. A
    cell that fails has one row, with its error; it does not end the study, and is run again only with `retry_failed`.
    Raises CorpusError where there is no such corpus, before any cell is run.

    num_processes: cells run at once, each in a process started afresh, so a script needs its
    `if __name__ == "__main__"`. 1: in this process. The results are the same, bit for bit.
    """
    folder, cells = Path(folder), study.cells()
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{cell.key()}.parquet" for cell in cells]
    frames = {path: frame for path in paths if (frame := _read(path)) is not None}
    if retry_failed:
        frames = {path: frame for path, frame in frames.items() if not _has_failed(frame)}
    missing = [(cell, path) for cell, path in zip(cells, paths, strict=True) if path not in frames]
    began, num_found = time.perf_counter(), len(frames)
    report(_progress(frames, cells, 0.0, num_found))
    for (_, path), frame in _run_all(_attempt, missing, num_processes):
        frames[path] = frame
        report(_progress(frames, cells, time.perf_counter() - began, num_found))
    parts = [frames[path].assign(**cell.columns()) for cell, path in zip(cells, paths, strict=True)]
    names = list(dict.fromkeys(name for cell in cells for name in cell.columns()))
    frame = pd.concat(parts, ignore_index=True)
    return frame.reindex(columns=[*names, *SCORES])


def _progress(frames: Mapping[Path, Any], cells: Sequence[Cell], seconds: float, num_found: int) -> StudyProgress:
    num_run, num_left = len(frames) - num_found, len(cells) - len(frames)
    num_failed = sum(map(_has_failed, frames.values()))
    left = seconds / num_run * num_left if num_run else None
    return StudyProgress(len(cells), len(frames), num_failed, seconds, left)


def _has_failed(frame: pd.DataFrame) -> bool:
    return bool(frame["error"].notna().any())


def _run_all(function: Callable[[Any], Any], tasks: Sequence[Any], num_processes: int) -> Iterator[tuple[Any, Any]]:
    """Pairs of a task and function's result, as they come."""
    if num_processes == 1:
        yield from ((task, function(task)) for task in tasks)
        return
    # Never forked: this process has threads, and what they held would stay locked in the child.
    context, broken = multiprocessing.get_context("spawn"), []
    pool = ProcessPoolExecutor(num_processes, mp_context=context)
    try:
        futures = {pool.submit(function, task): task for task in tasks}
        for future in as_completed(futures):
            try:
                yield futures[future], future.result()
            except BrokenProcessPool:
                broken.append(futures[future])
    finally:
        pool.shutdown(cancel_futures=True)
    # One of these ended its process, and the pool with it: each gets a process of its own, so that no other suffers.
    for task in broken:
        with ProcessPoolExecutor(1, mp_context=context) as alone:
            try:
                yield task, alone.submit(function, task).result()
            except BrokenProcessPool as error:
                yield task, _keep(task[0], task[1], _failure(error))


def _attempt(task: tuple[Cell, Path]) -> pd.DataFrame:
    """Run a cell and keep what came of it, an error too."""
    cell, path = task
    try:
        frame = measure(cell)
    except Exception as error:
        frame = _failure(error)
    return _keep(cell, path, frame)


def _failure(error: Exception) -> pd.DataFrame:
    return pd.DataFrame([{"error": f"{type(error).__name__}: {error}"}])


def _keep(cell: Cell, path: Path, frame: pd.DataFrame) -> pd.DataFrame:
    """Write the frame whole or not at all, with what was asked beside it, and return it."""
    frame = frame.astype({"error": object})
    # pandas stores these in the file.
    frame.attrs = {"cell": cell.asked()}
    with replacing(path) as work:
        frame.to_parquet(work, index=False)
    return frame


def _read(path: Path) -> pd.DataFrame | None:
    """What is kept of a cell; None where there is nothing, or nothing whole."""
    try:
        return pd.read_parquet(path)
    except (OSError, ValueError):
        return None
