"""A sweep: which runs it is made of, how far it is, and what its plot shows. Pure."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import pandas as pd

from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.run_spec import RunSpec, format_value
from stickbreaker.app.theme import topic_color
from stickbreaker.engine.algorithm import Algorithm

MAX_RUNS = 40
# The first of them that takes several values is the x axis of the plot, as S is in Fig. 4 of Wang 2011.
SWEPT = {"batch_size": "S", "forgetting_rate": "κ", "delay": "τ₀", "max_topics": "K"}
WHOLE = ("batch_size", "max_topics")


class SweepError(ValueError):
    """No sweep can be made of these values; the message says why and what to do."""


@dataclass(frozen=True)
class SweepPoint:
    """How one run of a sweep ended: its spec with numbers in place of what was left to the corpus' size."""

    title: str
    label: str
    config: Any
    status: str
    message: str
    heldout: float | None


@dataclass(frozen=True)
class SweepState:
    """Where a sweep stands.

    status: "none", "running", "finished" or "cancelled". share, message: of the present run.
    """

    status: str = "none"
    plan: tuple[RunSpec, ...] = ()
    points: tuple[SweepPoint, ...] = ()
    share: float = 0.0
    message: str = ""

    @property
    def share_done(self) -> float:
        """The part of all runs that is done, 0 to 1."""
        return (len(self.points) + self.share) / len(self.plan) if self.plan else 0.0


def parse_values(text: str, name: str) -> tuple[float | int, ...]:
    """Read numbers with commas between them, each once. Raises SweepError where one is none.

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
            raise SweepError(f"{SWEPT[name]}: {part[:20]!r} is none: write {kind} with commas between them.")
        found[int(value) if name in WHOLE else value] = None
    return tuple(found)


def plan_sweep(
    base: RunSpec, algorithms: Sequence[Algorithm], values: Mapping[str, Sequence[float | int]]
) -> tuple[RunSpec, ...]:
    """Every combination of the systems and values, each once; all else is as in `base`.

    A setting without values stays as it is; one that a system lacks is left out, so that such a system has fewer runs.
    Raises SweepError where there is only one run, too many, or a config refuses a value.
    """
    requested = {name: tuple(each) for name, each in values.items() if each}
    count = max(1, len(algorithms)) * math.prod(len(each) for each in requested.values())
    if count > MAX_RUNS:
        raise SweepError(f"These are {count:,} runs, but at most {MAX_RUNS} are made: take fewer values.")
    plan = {}
    for algorithm in algorithms or (base.algorithm,):
        is_base = algorithm.name == base.algorithm.name
        config = base.config if is_base else algorithm.config()
        for spec in _combine(replace(base, algorithm=algorithm, config=config), requested):
            plan[algorithm.name, spec.config] = spec
    if len(plan) < 2:
        raise SweepError("This is one run: write two values or more of a setting, or tick two systems.")
    return tuple(plan.values())


def _combine(spec: RunSpec, requested: Mapping[str, Sequence[float | int]]) -> list[RunSpec]:
    own = {field.name for field in fields(spec.config)}
    names = [name for name in requested if name in own]
    found = []
    for combination in itertools.product(*(requested[name] for name in names)):
        chosen = dict(zip(names, combination, strict=True))
        try:
            config = replace(spec.config, **chosen)
        except (ValueError, TypeError) as error:
            raise SweepError(str(error)) from error
        found.append(replace(spec, config=config, chosen=spec.chosen | chosen.keys()))
    return found


def end_point(spec: RunSpec, progress: Progress) -> SweepPoint:
    """Write down how a run of a sweep ended."""
    nats = progress.heldout["nats_per_word"]
    heldout = float(nats[-1]) if len(nats) and progress.status == "finished" else None
    return SweepPoint(
        spec.algorithm.title, progress.label, progress.config, progress.status, progress.message, heldout
    )


def x_setting(points: Sequence[SweepPoint]) -> str:
    """The setting to draw the scores over: the first of `SWEPT` with several values, else S."""
    for name in SWEPT:
        if len({_value(point, name) for point in points} - {None}) > 1:
            return name
    return "batch_size"


def sweep_frame(points: Sequence[SweepPoint], x: str) -> pd.DataFrame:
    """Final scores: columns line, color, x, y, label; a line for each choice of what varies beside `x`."""
    drawn = [point for point in points if point.heldout is not None and _value(point, x) is not None]
    varied = [name for name in SWEPT if name != x and len({_value(point, name) for point in points}) > 1]
    has_systems = len({point.title for point in points}) > 1
    lines = [_name_line(point, varied, has_systems) for point in drawn]
    places = {line: place for place, line in enumerate(dict.fromkeys(lines))}
    rows = [
        (line, topic_color(3 * places[line]), float(_value(point, x)), point.heldout, point.label)
        for line, point in zip(lines, drawn, strict=True)
    ]
    return pd.DataFrame(rows, columns=["line", "color", "x", "y", "label"])


def _name_line(point: SweepPoint, varied: Sequence[str], has_systems: bool) -> str:
    parts = [point.title] if has_systems else []
    parts += [
        f"{SWEPT[name]} {format_value(_value(point, name))}" for name in varied if _value(point, name) is not None
    ]
    return ", ".join(parts) or point.title


def _value(point: SweepPoint, name: str) -> float | int | None:
    return getattr(point.config, name, None)


def describe_sweep(state: SweepState) -> str:
    """Say where a sweep stands."""
    if state.status == "none":
        return ""
    done, total = len(state.points), len(state.plan)
    if state.status == "running":
        waits = f" {state.message}" if state.message else ""
        return f"Run {done + 1} of {total}: {state.plan[done].label()}.{waits}"
    ended = "All" if state.status == "finished" else f"Cancelled after {done} of"
    failed = "".join(f" {point.label} failed: {point.message}." for point in state.points if point.status == "failed")
    return f"{ended} {total} runs. Each that finished is kept.{failed}"
