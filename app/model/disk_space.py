"""The space that a user's data take on disk, item by item."""

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import NamedTuple

from stickbreaker.app.model.kept_runs import Size
from stickbreaker.app.model.limits import KEPT_MODELS, find_limit
from stickbreaker.app.model.topic_names import FOLDER
from stickbreaker.engine.corpora.library import find_own, list_own

OPEN_RUNS = "open-runs"
MEGABYTE = 1e6


class Item(NamedTuple):
    """Something on disk, its bytes, and what removes it."""

    name: str
    size: int
    remedy: str


def measure_folder(folder: Path) -> int:
    """The bytes of all files below a folder; 0 where there is none."""
    total = 0
    try:
        for path in folder.rglob("*"):
            total += path.stat().st_size if path.is_file() else 0
    except OSError:
        # A file that is removed during the count takes no space.
        pass
    return total


def list_items(data: Path, sizes: Mapping[str, Size]) -> list[Item]:
    """What a user has on disk, the largest first; sizes: of the kept runs. data: the user's folder."""
    items = [
        Item(
            name="Kept runs: curves and topics",
            size=sum(size.results for size in sizes.values()),
            remedy="delete runs above",
        ),
        Item(
            name="Kept runs: models",
            size=sum(size.model for size in sizes.values()),
            remedy="the oldest are removed automatically, runs without a name first",
        ),
        Item(
            name="Runs that can be continued",
            size=measure_folder(data / OPEN_RUNS),
            remedy="the oldest are removed automatically",
        ),
        Item(name="Names of topics", size=measure_folder(data / FOLDER), remedy="empty them on the page Topics"),
    ]
    for corpus in list_own(data / "corpora"):
        size = measure_folder(find_own(corpus.name, data / "corpora").place)
        items.append(Item(name=f"Corpus {corpus.name}", size=size, remedy="delete it under Bring your own text"))
    return sorted(items, key=lambda item: item.size, reverse=True)


def describe_space(items: list[Item]) -> str:
    """The items as HTML, with their sum and the limit of the models of kept runs."""
    used, allowed = sum(item.size for item in items), find_limit(KEPT_MODELS)
    rows = "".join(
        f"<li>{escape(item.name)}: {item.size / MEGABYTE:,.1f} MB ({escape(item.remedy)})</li>"
        for item in items
        if item.size
    )
    return (
        f"<p>Space on disk: {used / MEGABYTE:,.1f} MB. Models of kept runs may take {allowed / MEGABYTE:,.0f} MB.</p>"
        f"<ul>{rows}</ul>"
    )
