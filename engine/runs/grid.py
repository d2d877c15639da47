"""Grids of runs: every combination of systems and values of their settings, for studies and for
sweeps of the app.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any

from stickbreaker.engine.algorithm import Algorithm


@dataclass(frozen=True)
class GridPoint:
    """One combination: a system, its config, and the values that the grid has chosen for it."""

    algorithm: Algorithm
    config: Any
    chosen: Mapping[str, Any]


def expand_grid(
    bases: Sequence[tuple[Algorithm, Any]], values: Mapping[str, Sequence[Any]]
) -> tuple[GridPoint, ...]:
    """Every combination of values for each pair of a system and its config, each once, in the order
    of the values.

    A system that lacks a setting has fewer combinations. Raises ValueError for a setting that no
    system has, for a setting without values, and for a value outside its bounds.
    """
    own_names = [settings_of(config) for _, config in bases]
    for name, each in values.items():
        if isinstance(each, str) or not len(each):
            raise ValueError(f"{name} is {each!r}: give a tuple of at least one.")
        if not any(name in own for own in own_names):
            systems = ", ".join(algorithm.name for algorithm, _ in bases)
            raise ValueError(f"No system of {systems} has a setting {name!r}.")
    found: dict[tuple[str, Any], GridPoint] = {}
    for (algorithm, base), own in zip(bases, own_names, strict=True):
        names = [name for name in values if name in own]
        for combination in product(*(values[name] for name in names)):
            chosen = dict(zip(names, combination, strict=True))
            config = replace(base, **chosen)
            found.setdefault(
                (algorithm.name, config),
                GridPoint(algorithm=algorithm, config=config, chosen=chosen),
            )
    return tuple(found.values())


def settings_of(config: Any) -> frozenset[str]:
    """Names of the settings of a config, or of its class."""
    return frozenset(each.name for each in fields(config))


def name_values(config: Any, names: Sequence[str]) -> str:
    """The values of some settings by their symbols; a setting that the config lacks is left out.

    >>> from stickbreaker.engine import find_algorithm
    >>> name_values(find_algorithm("lda").config(batch_size=64), ("forgetting_rate", "batch_size",
    ...     "max_slots"))
    'κ 0.6, S 64'
    """
    by_name = {each.name: each for each in fields(config)}
    parts = []
    for name in names:
        if name in by_name:
            value = getattr(config, name)
            shown = f"{value:g}" if isinstance(value, float) else str(value)
            parts.append(f"{by_name[name].metadata['symbol'] or name} {shown}")
    return ", ".join(parts)
