"""What a run is made of, and the words for it on screen."""

from dataclasses import dataclass, fields, replace
from typing import Any

from engine.algorithm import Algorithm
from engine.run import due_points

NAMED_CHOICES = ("start", "topic_expectation")
CORPUS_TITLES = {"state-of-the-union": "State of the Union"}


@dataclass(frozen=True)
class Recipe:
    """Everything that decides a run: the corpus by its name, the algorithm, its config and the run's settings."""

    corpus_name: str
    algorithm: Algorithm
    config: Any
    settings: Any

    def label(self) -> str:
        """Name the recipe in one short line, for legends: "κ 0.6, τ₀ 64, S 256, K 150, start warm, mean"."""
        return describe_config(self.config)

    def with_live(self, values: dict[str, Any]) -> "Recipe":
        """Change learning settings; raises ValueError where the config refuses a value."""
        return replace(self, config=replace(self.config, **values))


def live_fields(config: Any) -> tuple[str, ...]:
    """List the settings that act from the next mini-batch."""
    return tuple(field.name for field in fields(config) if field.metadata.get("live"))


def live_values(config: Any) -> dict[str, Any]:
    """Read the settings that act from the next mini-batch."""
    return {name: getattr(config, name) for name in live_fields(config)}


def describe_config(config: Any) -> str:
    """Name the settings that tell runs apart: those that act live, the number of topics, and choices."""
    parts = []
    for field in fields(config):
        value, symbol = getattr(config, field.name), field.metadata.get("symbol", "")
        if field.metadata.get("live") or field.name == "max_topics":
            parts.append((0 if field.metadata.get("live") else 1, f"{symbol or field.name} {format_value(value)}"))
        elif field.name in NAMED_CHOICES or (field.metadata.get("choices") and value != field.default):
            parts.append((2, f"{field.name} {value}" if field.name == "start" else str(value)))
    return ", ".join(text for _, text in sorted(parts, key=lambda part: part[0]))


def describe_change(before: Any, after: Any) -> str:
    """Name what differs between two configs: "κ 0.6 → 0.8, S 256 → 512"; empty where nothing does."""
    changes = []
    for field in fields(before):
        old, new = getattr(before, field.name), getattr(after, field.name)
        if old != new:
            symbol = field.metadata.get("symbol") or field.name
            changes.append(f"{symbol} {format_value(old)} → {format_value(new)}")
    return ", ".join(changes)


def title_corpus(name: str) -> str:
    """Write a corpus' name for people."""
    return CORPUS_TITLES.get(name, name)


def format_value(value: Any) -> str:
    """Write a number without needless digits, anything else as it is."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def plan_columns(corpus_size: int, passes: int, num_columns: int, batch_size: int) -> tuple[int, ...]:
    """Say at how many documents seen the word lists will be written down: evenly, at ends of mini-batches.

    >>> plan_columns(1000, 1, 4, 100)
    (300, 500, 800, 1000)
    >>> plan_columns(1000, 1, 4, 500)
    (500, 1000)
    """
    columns = set()
    for point in due_points(corpus_size * passes, num_columns).tolist() if corpus_size else ():
        begin = (point - 1) // corpus_size * corpus_size
        size = max(1, int(batch_size))
        columns.add(begin + min(corpus_size, -(-(point - begin) // size) * size))
    return tuple(sorted(columns))
