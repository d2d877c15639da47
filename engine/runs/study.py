"""Studies: declared grids of runs. Each cell runs once; later calls read its scores from a file.

    study = Study(systems=("hdp", "lda"), grid={"forgetting_rate": (0.6, 0.8, 1.0), "batch_size":
    (64, 256)}) frame = run_study(study, "cells", num_processes=2)

With a client of a Dask cluster, the workers run the cells, and this process writes their files.
An interrupted study continues where it stopped when it is called again, and a wider one runs only
its new cells.
"""

import io
import logging
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence, Sized
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from stickbreaker.engine.algorithm import Algorithm
from stickbreaker.engine.algorithms import find_algorithm
from stickbreaker.engine.declarations import check_whole, check_whole_or_none
from stickbreaker.engine.files.verified_files import Kind, read_parts, reading, write_parts
from stickbreaker.engine.files.whole_files import FileError
from stickbreaker.engine.parallel.clusters import TaskLostError, connect
from stickbreaker.engine.runs.cells import (
    FURTHER_PROTOCOLS,
    SCORES,
    Cell,
    describe_failure,
    measure,
    measure_sent,
    send_cell,
)
from stickbreaker.engine.runs.grid import GridPoint, expand_grid, settings_of
from stickbreaker.engine.runs.settings import RunSettings
from stickbreaker.engine.versions import find_environment

if TYPE_CHECKING:
    from distributed import Client

CELL = Kind(name="cell of a study", format=1, remedy="it is run again")
SCORES_PART = "scores.parquet"
SHUFFLED = RunSettings(order="shuffled", num_evaluations=1, num_moments=0, score_next_batch=False)

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Study:
    """Every combination of systems, corpora, values of settings, and seeds.

    Parameters
    ----------
    systems : sequence of str
        The names of algorithms.
    corpora : sequence of str or path
        The names or paths of corpora, as for `load_corpus`.
    grid : mapping of str to sequence
        Values of settings by name. A system that lacks a setting has fewer runs.
    seeds : sequence of int
        The seeds of the runs.
    fixed : mapping of str to object
        Settings that are the same in all runs of the systems that have them; others are at their
        defaults.
    num_documents : int, optional
        The largest number of documents of a corpus; if it has more, a random sample is drawn by the
        seed.
    run : RunSettings
        How each run reads and scores its corpus, except for the seed.
    protocols : sequence of str
        Those of FURTHER_PROTOCOLS that are scored together with `disjoint_words`.

    Raises
    ------
    ValueError
        If a system is unknown, no system has a setting, a setting has no values, or a value is
        outside its bounds.
    """

    systems: Sequence[str]
    corpora: Sequence[str | os.PathLike[str]] = ("state-of-the-union",)
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
            raise ValueError(
                f"{unknown[0]!r} is not a further protocol: choose from"
                f" {', '.join(FURTHER_PROTOCOLS)}."
            )
        asked = {"systems": self.systems, "corpora": self.corpora, "seeds": self.seeds, **self.grid}
        for name, values in asked.items():
            if isinstance(values, str) or not isinstance(values, Sized) or not len(values):
                raise ValueError(f"{name} is {values!r}: give a tuple of at least one.")
        object.__setattr__(
            self, "num_documents", check_whole_or_none("num_documents", self.num_documents, 1)
        )
        known = frozenset().union(
            *(settings_of(find_algorithm(system).config) for system in self.systems)
        )
        unknown = [name for name in self.fixed if name not in known]
        if unknown:
            raise ValueError(
                f"No system of {', '.join(self.systems)} has a setting {unknown[0]!r}."
            )
        self.cells()

    def cells(self) -> tuple[Cell, ...]:
        """The runs, each once.

        >>> study = Study(("hdp", "gibbs-hdp"), grid={"forgetting_rate": (0.6, 0.8)}, seeds=(0, 1))
        >>> [(cell.system, cell.run.seed, cell.chosen) for cell in study.cells()][1:3]
        [('hdp', 1, {'forgetting_rate': 0.6}), ('hdp', 0, {'forgetting_rate': 0.8})]
        >>> len(study.cells())
        6
        """
        points = expand_grid([self._base(name) for name in dict.fromkeys(self.systems)], self.grid)
        corpora = dict.fromkeys(os.fspath(name) for name in self.corpora)
        seeds = dict.fromkeys(self.seeds)
        return tuple(
            self._cell(corpus, point, seed)
            for corpus in corpora
            for point in points
            for seed in seeds
        )

    def _base(self, system: str) -> tuple[Algorithm, Any]:
        """A system and its settings outside the grid."""
        algorithm = find_algorithm(system)
        return algorithm, algorithm.config(**self._fixed_of(algorithm))

    def _fixed_of(self, algorithm: Algorithm) -> dict[str, Any]:
        own = settings_of(algorithm.config)
        return {name: value for name, value in self.fixed.items() if name in own}

    def _cell(self, corpus: str, point: GridPoint, seed: int) -> Cell:
        chosen = {**self._fixed_of(point.algorithm), **point.chosen}
        settings = replace(self.run, seed=seed)
        name = point.algorithm.name
        return Cell(
            corpus=corpus,
            num_documents=self.num_documents,
            system=name,
            chosen=chosen,
            run=settings,
            protocols=tuple(self.protocols),
        )


@dataclass(frozen=True)
class StudyProgress:
    """The progress of a study.

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
        parts = [f"{self.num_done} of {self.num_cells} cells"]
        if self.num_failed:
            parts.append(f"{self.num_failed} failed")
        if self.seconds_left is not None:
            parts.append(f"about {self.seconds_left / 60:.1f} min left")
        return ", ".join(parts)


def print_progress(progress: StudyProgress) -> None:
    """Print a line to the standard error stream."""
    print(progress, file=sys.stderr, flush=True)


def run_study(
    study: Study,
    folder: str | os.PathLike[str],
    *,
    num_processes: int = 1,
    retry_failed: bool = False,
    report: Callable[[StudyProgress], None] = print_progress,
    client: "Client | None" = None,
) -> pd.DataFrame:
    """Run the cells of a study that `folder` does not hold yet, and return the scores of all cells.

    A cell that fails has one row, with its error, and does not end the study. Cells that cannot be
    written, or are damaged on disk, are named in the log, and the next call runs them again.

    Parameters
    ----------
    study : Study
        The study.
    folder : str or path
        The folder of the cells' files; it is made if it does not exist.
    num_processes : int
        The number of cells that run at the same time. With 1, they run in this process. Otherwise
        each runs in a new process, so a script needs its `if __name__ == "__main__"`. The results
        are the same, bit for bit.
    retry_failed : bool
        Whether cells that failed in an earlier call are run again.
    report : callable
        Receives a `StudyProgress` at the start and after each cell.
    client : distributed.Client, optional
        The workers of this Dask cluster run the cells, one for each of their threads, with the same
        results, bit for bit. A cell whose worker ends is run again. Ctrl-C also stops the cells
        that are running.

    Returns
    -------
    pandas.DataFrame
        A row for each score. Columns: corpus, system, the chosen settings, order, seed,
        documents_seen, seconds (of learning; comparable only with one process on an otherwise idle
        machine), protocol, predictive ("own": the system's own inference; "fold_in": the common
        one), nats_per_word, num_topics, learning_rate, startup_share, bound, error.

    Raises
    ------
    ValueError
        If both `num_processes` and `client` are given, or `num_processes` is not a whole number of
        at least 1.
    CorpusError
        If there is no such corpus.
    ClusterError
        If Dask is not installed, or a worker has another corpus, other versions or another
        processor.
    FileError
        If the folder cannot be made.
    """
    if client is not None and num_processes != 1:
        raise ValueError(
            "Give num_processes or client, not both: the workers of the client run the cells."
        )
    num_processes = check_whole("num_processes", num_processes, 1)
    folder = Path(folder)
    cells = study.cells()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"Cannot make the folder {folder} ({error.strerror}): choose another one."
        ) from error
    paths = [folder / f"{cell.key()}.cell" for cell in cells]
    frames = {path: frame for path in paths if (frame := read_cell(path, retry_failed)) is not None}
    missing = [(cell, path) for cell, path in zip(cells, paths, strict=True) if path not in frames]
    began = time.perf_counter()
    num_found = len(frames)
    report(_progress(frames, cells, 0.0, num_found))
    with closing(_run_cells(missing, num_processes, client)) as results:
        for path, frame in results:
            frames[path] = frame
            report(_progress(frames, cells, time.perf_counter() - began, num_found))
    parts = [frames[path].assign(**cell.columns()) for cell, path in zip(cells, paths, strict=True)]
    names = list(dict.fromkeys(name for cell in cells for name in cell.columns()))
    frame = pd.concat(parts, ignore_index=True)
    return frame.reindex(columns=[*names, *SCORES])


def _progress(
    frames: Mapping[Path, Any], cells: Sequence[Cell], seconds: float, num_found: int
) -> StudyProgress:
    num_run = len(frames) - num_found
    num_left = len(cells) - len(frames)
    num_failed = sum(map(_has_failed, frames.values()))
    left = seconds / num_run * num_left if num_run else None
    return StudyProgress(
        num_cells=len(cells),
        num_done=len(frames),
        num_failed=num_failed,
        seconds=seconds,
        seconds_left=left,
    )


def _has_failed(frame: pd.DataFrame) -> bool:
    return bool(frame["error"].notna().any())


Task = tuple[Cell, Path]


def _run_cells(
    tasks: Sequence[Task], num_processes: int, client: "Client | None"
) -> Generator[tuple[Path, pd.DataFrame], None, None]:
    """Yield the path and the frame of each cell as it ends."""
    if client is None:
        yield from ((path, frame) for (_, path), frame in run_all(_attempt, tasks, num_processes))
        return
    cluster = connect(client, find_environment)
    with closing(
        cluster.map_unordered(measure_sent, [send_cell(cell, path.stem) for cell, path in tasks])
    ) as results:
        for place, found in results:
            cell, path = tasks[place]
            if isinstance(found, TaskLostError):
                found = describe_failure(found)
            yield path, _keep(cell, path, found)


def run_all(
    function: Callable[[Any], Any], tasks: Sequence[Any], num_processes: int
) -> Generator[tuple[Any, Any], None, None]:
    """Yield each task with its result, in the order in which the tasks end."""
    if num_processes == 1:
        yield from ((task, function(task)) for task in tasks)
        return
    # Not forked: this process has threads, and the locks they hold would stay locked in the child.
    context = multiprocessing.get_context("spawn")
    broken = []
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
    # One of these tasks ended its process, which ended the pool: each now gets a process of its
    # own.
    for task in broken:
        with ProcessPoolExecutor(1, mp_context=context) as alone:
            try:
                yield task, alone.submit(function, task).result()
            except BrokenProcessPool as error:
                yield task, _keep(task[0], task[1], describe_failure(error))


def _attempt(task: Task) -> pd.DataFrame:
    """Run a cell and keep its scores, or its error."""
    cell, path = task
    try:
        frame = measure(cell)
    except Exception as error:
        frame = describe_failure(error)
    return _keep(cell, path, frame)


def _keep(cell: Cell, path: Path, frame: pd.DataFrame) -> pd.DataFrame:
    """Write the frame with what it depends on, completely or not at all; return it."""
    frame = frame.astype({"error": object})
    content = io.BytesIO()
    frame.to_parquet(content, index=False)
    try:
        write_parts(
            path, CELL, {"key": path.stem, **cell.asked()}, {SCORES_PART: content.getvalue()}
        )
    except FileError as error:
        _log.warning(
            "%s The scores are in the result, and the next call runs this cell again.", error
        )
    return frame


def read_cell(path: Path, retry_failed: bool = False) -> pd.DataFrame | None:
    """The kept frame of a cell; None if it is missing or damaged, or its cell is run again."""
    if not path.exists():
        return None
    try:
        header, parts = read_parts(path, CELL)
        with reading(path, CELL):
            if header.about is None or header.about["key"] != path.stem:
                raise ValueError("the file was renamed")
            frame = pd.read_parquet(io.BytesIO(parts[SCORES_PART]))
    except FileError as error:
        _log.warning("%s", error)
        return None
    return None if retry_failed and _has_failed(frame) else frame
