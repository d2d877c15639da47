"""A sweep: its runs, its progress and the data of its plot. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from stickbreaker.app.model.counting import only_if
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.engine.algorithm import Algorithm
from stickbreaker.engine.runs.grid import expand_grid, settings_of

MAX_RUNS = 40
# The first one with several values is the x axis of the plot, like S in Fig. 4 of Wang 2011.
SWEPT = {"batch_size": "S", "forgetting_rate": "κ", "delay": "τ₀", "max_topics": "K"}
WHOLE = ("batch_size", "max_topics")
KEPT = "Finished runs are kept; Export has them as a web page."


class SweepError(ValueError):
    """No sweep can be made from these values; the message says why and what to do."""


@dataclass(frozen=True)
class SweepPoint:
    """How one run of a sweep ended; each setting of its config has a value.

    documents_seen, nats_per_word: the held-out curve of a run that has finished.
    """

    title: str
    label: str
    config: Any
    status: str
    message: str
    heldout: float | None
    documents_seen: tuple[int, ...] = ()
    nats_per_word: tuple[float, ...] = ()

    def config_value(self, name: str) -> float | int | None:
        """The value of a setting; None if the system lacks it."""
        return getattr(self.config, name) if name in settings_of(self.config) else None


@dataclass(frozen=True)
class SweepState:
    """The progress of a sweep.

    status: "none", "running", "stopped" (by the end of the server, or because the cluster is away),
    "finished" or "cancelled". share, message: of the current run. A stopped sweep has the fault of
    the cluster as message, or none. fault: why the sweep is not on disk; empty if it is.
    """

    status: str = "none"
    plan: tuple[RunSpec, ...] = ()
    points: tuple[SweepPoint, ...] = ()
    share: float = 0.0
    message: str = ""
    fault: str = ""

    @property
    def share_done(self) -> float:
        """The share of all runs that is done, 0 to 1."""
        return (len(self.points) + self.share) / max(1, len(self.plan))


def parse_values(text: str, name: str) -> tuple[float | int, ...]:
    """Read numbers separated by commas, each once.

    Raises SweepError for anything that is not a number.

    >>> parse_values("64, 256 1024, 64", "batch_size"), parse_values(" ", "delay")
    ((64, 256, 1024), ())
    """
    found: dict[float | int, None] = {}
    for part in text.replace(",", " ").replace(";", " ").split():
        try:
            value = float(part)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or (name in WHOLE and value != int(value)):
            kind = "whole numbers" if name in WHOLE else "numbers"
            raise SweepError(
                f"{SWEPT[name]}: {part[:20]!r} is not valid: write {kind}, separated by commas."
            )
        found[int(value) if name in WHOLE else value] = None
    return tuple(found)


def describe_plan(plan: Sequence[RunSpec]) -> str:
    """Say how many runs a sweep has, and what is the same in all of them."""
    first, *others = [spec.label().split(", ") for spec in plan]
    same = [part for part in first if all(part in other for other in others)]
    fixed = only_if(same, f" The same in all: {', '.join(same)}.")
    return f"{len(plan)} runs.{fixed}"


def plan_sweep(
    base: RunSpec, algorithms: Sequence[Algorithm], values: Mapping[str, Sequence[float | int]]
) -> tuple[RunSpec, ...]:
    """Every combination of the systems and values, each once; everything else is as in `base`.

    A setting without values stays as it is, and a system that lacks a setting has fewer runs.
    Raises SweepError for one run alone, for too many runs, for a setting that no system has, and
    for a value outside its bounds.
    """
    requested = {name: tuple(each) for name, each in values.items() if each}
    count = max(1, len(algorithms)) * math.prod(len(each) for each in requested.values())
    if count > MAX_RUNS:
        raise SweepError(
            f"This sweep would have {count:,} runs, but at most {MAX_RUNS} are allowed: give fewer"
            " values."
        )
    configs = {base.algorithm.name: base.config}
    bases = [
        (each, configs.get(each.name) or each.config()) for each in algorithms or (base.algorithm,)
    ]
    try:
        points = expand_grid(bases, requested)
    except (ValueError, TypeError) as error:
        # The message begins with the name of the setting.
        name, space, rest = str(error).partition(" ")
        raise SweepError(f"{SWEPT.get(name, name)}{space}{rest}") from error
    if len(points) < 2:
        raise SweepError(
            "A sweep needs at least two runs: give two values of a setting, or select two"
            " algorithms."
        )
    return tuple(
        replace(
            base,
            algorithm=point.algorithm,
            config=point.config,
            chosen=base.chosen | point.chosen.keys(),
        )
        for point in points
    )


def end_point(spec: RunSpec, progress: Progress) -> SweepPoint:
    """Write down how a run of a sweep ended."""
    point = SweepPoint(
        title=spec.algorithm.title,
        label=progress.label,
        config=progress.config,
        status=progress.status,
        message=progress.message,
        heldout=None,
    )
    if progress.status != "finished" or not len(progress.heldout):
        return point
    scores = tuple(map(float, progress.heldout["nats_per_word"]))
    seen = tuple(map(int, progress.heldout["documents_seen"]))
    return replace(point, heldout=scores[-1], documents_seen=seen, nats_per_word=scores)


def describe_sweep(state: SweepState) -> str:
    """Describe the progress of a sweep."""
    if state.status == "none":
        return state.fault
    done = len(state.points)
    total = len(state.plan)
    if state.status == "running":
        run = f"Run {done + 1} of {total}: {state.plan[done].label()}."
        return " ".join(filter(None, (run, state.message, state.fault)))
    reason = f". {state.message.rstrip('.')}" if state.message else ", because the server stopped"
    ended = {
        "finished": f"All {total} runs have ended",
        "stopped": f"The sweep of {total} runs stopped after {done}{reason}",
    }.get(state.status, f"Cancelled after {done} of {total} runs")
    failed = "".join(
        f" {point.label} failed: {point.message}."
        for point in state.points
        if point.status == "failed"
    )
    question = only_if(state.status == "stopped", " Continue?")
    return f"{ended}. {KEPT}{failed}{question} {state.fault}".rstrip()
