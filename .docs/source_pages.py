"""Pages that a build makes: copies of the documents, and a page for each algorithm from its record."""

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from shutil import copy2
from typing import Any

from stickbreaker.engine import REGISTRY

# The modules whose equations several algorithms use, in the order in which a step needs them.
SHARED = (
    "expectations",
    "dirichlet",
    "two_level",
    "sticks",
    "global_step",
    "topic_counts",
    "warm_up",
    "merging",
    "concentrations",
    "batch",
    "posteriors",
    "gibbs",
    "collapsed",
    "truncation_free",
)

# What the site shows, and what its pages show or offer for download.
DOCUMENTS = (
    "README.md",
    ".github/*.md",
    ".github/LICENSE",
    "app/README.md",
    "app/*.gif",
    "data/README.md",
    "engine/*.md",
    "engine/decisions/*.md",
    "notebooks/*.ipynb",
    "notebooks/README.md",
    "notebooks/figures/*.png",
)


def copy_documents(repository: Path, folder: Path) -> None:
    """Copy the documents to the same places below `folder`, with their times; remove copies of files that are gone."""
    sources = {path.relative_to(repository): path for pattern in DOCUMENTS for path in repository.glob(pattern)}
    for pattern in DOCUMENTS:
        for copy in folder.glob(pattern):
            if copy.relative_to(folder) not in sources:
                copy.unlink()
    for place, path in sources.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        copy2(path, folder / place)


def write_algorithm_pages(folder: Path) -> None:
    """Write a page for each algorithm, and one for what they share, unless it is there already."""
    folder.mkdir(exist_ok=True)
    for algorithm in REGISTRY:
        _write(folder / f"{algorithm.name}.rst", _algorithm_page(algorithm))
    _write(folder / "shared.rst", _shared_page())


def _write(path: Path, lines: Iterator[str]) -> None:
    """An unchanged file keeps its time, so that Sphinx does not read it again."""
    text = "\n".join(lines) + "\n"
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")


def _algorithm_page(algorithm: Any) -> Iterator[str]:
    module = algorithm.config.__module__
    yield from _heading(algorithm.title, "=")
    yield f'``engine.find_algorithm("{algorithm.name}")``, in ``{module}``.'
    yield ""
    yield f".. automodule:: {module}\n   :no-members:\n   :no-index:\n"
    yield from _heading("Settings", "-")
    yield from _settings_table(algorithm.config)
    yield from _heading("Steps", "-")
    yield f".. currentmodule:: {module}\n"
    for name in ("init", "expect", "local", "blend", "step", "infer", "summarize"):
        function = getattr(algorithm, name, None)
        if function is not None and function.__module__ == module:
            yield f".. autofunction:: {function.__name__}\n   :no-index:\n"


def _settings_table(config: Any) -> Iterator[str]:
    """The settings with their declared symbols, defaults, bounds and help."""
    yield ".. list-table::\n   :header-rows: 1\n   :class: settings\n"
    yield "   * - setting\n     - symbol\n     - default\n     - allowed\n     - what it does"
    for each in fields(config):
        about = each.metadata
        default = "follows the corpus" if each.default is None else f"``{each.default!r}``"
        yield f"   * - ``{each.name}``\n     - {about['symbol']}\n     - {default}\n     - {_allowed(about)}"
        yield f"     - {about['help']}"
    yield ""


def _allowed(about: Any) -> str:
    if about.get("choices"):
        return ", ".join(f"``{choice}``" for choice in about["choices"])
    if not about.get("bounds"):
        return ""
    low, high = about["bounds"]
    return f"at least {low:.10g}" if high == float("inf") else f"{low:.10g} to {high:.10g}"


def _shared_page() -> Iterator[str]:
    yield from _heading("What the algorithms share", "=")
    for name in SHARED:
        yield from _heading(name, "-")
        yield f".. automodule:: stickbreaker.engine.inference.{name}\n   :members:\n   :no-index:\n"


def _heading(title: str, line: str) -> Iterator[str]:
    yield from (title, line * len(title), "")
