"""Sweeps on disk: what is planned and what has ended, so that a stopped one can be continued."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from os import PathLike
from pathlib import Path
from typing import Any

from stickbreaker import engine
from stickbreaker.app.model.kept_runs import KeptRun, KeptRunError, KeptRuns
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.recorded_run import read_run
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.app.model.shelf import Shelf, hash_name
from stickbreaker.app.model.sweep_plan import SweepPoint, SweepState
from stickbreaker.engine.files.verified_files import Kind
from stickbreaker.engine.files.whole_files import FileError
from stickbreaker.engine.runs.checkpoint import with_new_names
from stickbreaker.engine.runs.settings import RunSettings

LEFT_OUT = "The saved sweep of this run cannot be read and is left out: start it again."

_log = logging.getLogger(__name__)


class SavedSweepError(FileError):
    """A sweep cannot be read or written; the message names the file and the remedy."""


SAVED_SWEEP = Kind(name="sweep", format=1, remedy="start the sweep again", error=SavedSweepError)


class SavedSweeps:
    """The sweeps of one user, one for each run whose page has begun one; as many stay as of runs.

    The name of a file has a digest of the key of the run, and so has its content.
    """

    def __init__(self, folder: str | PathLike[str]):
        self._shelf = Shelf(folder, SAVED_SWEEP, ".sweep", "A sweep cannot be saved")

    def write(self, key: str, state: SweepState) -> None:
        """Save the sweep of the run with this key; SavedSweepError if it cannot be written."""
        name = hash_name(key)
        about = {
            "name": name,
            "status": state.status,
            "message": state.message,
            "plan": [_write_spec(spec) for spec in state.plan],
            "points": [asdict(point) for point in state.points],
        }
        self._shelf.write(name, about)
        self._shelf.keep_newest()

    def load(self, key: str) -> SweepState:
        """Read the sweep of a run; SavedSweepError if there is none or it is damaged."""
        return self.read(hash_name(key))

    def list_newest(self) -> list[Path]:
        """The files of the sweeps, newest first."""
        return self._shelf.list_newest()

    def read(self, name: str) -> SweepState:
        """Read the sweep of this file name; SavedSweepError if there is none or it is damaged."""
        with self._shelf.reading(name, expected={"name": name}) as (about, _):
            plan = tuple(_read_spec(spec) for spec in about["plan"])
            points = tuple(
                _read_point(point, spec) for point, spec in zip(about["points"], plan, strict=False)
            )
            return SweepState(about["status"], plan, points, message=about["message"])

    def find(self, key: str) -> SweepState:
        """The sweep of a run, stopped if it was running; an empty one if there is none."""
        if not self._shelf.has(hash_name(key)):
            return SweepState()
        try:
            state = self.load(key)
        except SavedSweepError as error:
            _log.warning("A saved sweep cannot be read and is left out: %s", error)
            return SweepState(fault=LEFT_OUT)
        if state.status == "running":
            return replace(state, status="stopped", message="")
        return state


def read_runs(
    state: SweepState, kept: KeptRuns, find_corpus: Callable[[str], engine.Corpus]
) -> tuple[list[Progress], int]:
    """Read the runs of a sweep that are on disk with their models; and how many have been removed.

    Raises KeptRunError if there is none.
    """
    listing = kept.listing()
    with_models = [run for run in listing.runs if listing.sizes[run.key].model]
    found = [
        read_run(kept.load_checkpoint(run.key), find_corpus(spec.corpus_name))
        for spec, point in zip(state.plan, state.points, strict=False)
        for run in [run for run in with_models if _is_run_of(run, spec, point)][:1]
    ]
    if not found:
        raise KeptRunError("The models of this sweep are not on disk: run the sweep again.")
    num_ended = sum(point.heldout is not None for point in state.points)
    return found, num_ended - len(found)


def _is_run_of(run: KeptRun, spec: RunSpec, point: SweepPoint) -> bool:
    """Whether a kept run is this run of a sweep, or one with the same settings and results."""
    return (
        run.status == "finished"
        and not run.changes
        and (run.corpus_name, run.algorithm) == (spec.corpus_name, spec.algorithm.name)
        and (run.config, run.settings) == (asdict(point.config), asdict(spec.settings))
    )


def _write_spec(spec: RunSpec) -> dict[str, Any]:
    return {
        "corpus": spec.corpus_name,
        "algorithm": spec.algorithm.name,
        "config": asdict(spec.config),
        "settings": asdict(spec.settings),
        "chosen": sorted(spec.chosen),
    }


def _read_spec(written: Mapping[str, Any]) -> RunSpec:
    algorithm = engine.find_algorithm(written["algorithm"])
    return RunSpec(
        corpus_name=written["corpus"],
        algorithm=algorithm,
        config=algorithm.config(**with_new_names(written["config"])),
        settings=RunSettings(**with_new_names(written["settings"])),
        chosen=frozenset(written["chosen"]),
    )


def _read_point(written: Mapping[str, Any], spec: RunSpec) -> SweepPoint:
    curve = {name: tuple(written[name]) for name in ("documents_seen", "nats_per_word")}
    config = spec.algorithm.config(**with_new_names(written["config"]))
    return SweepPoint(**{**written, **curve, "config": config})
