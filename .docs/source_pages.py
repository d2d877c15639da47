"""Pages that a build makes: copies of the documents, and a page for each algorithm
from its record.
"""

import re
from collections.abc import Iterator
from dataclasses import fields
from importlib import import_module
from inspect import getdoc, signature
from pathlib import Path
from shutil import copy2
from typing import Any

from docstrings import to_restructured_text

from stickbreaker.engine import REGISTRY

# Modules with the equations that several algorithms use, in the order in which a step needs them.
SHARED = (
    "expectations",
    "dirichlet_step",
    "slot_step",
    "sticks",
    "global_step",
    "topic_counts",
    "warm_up",
    "evidence",
    "merging",
    "concentrations",
    "batch",
    "posteriors",
    "gibbs",
    "collapsed",
    "truncation_free",
)
KERNELS = (
    "dirichlet",
    "slots",
    "two_level",
    "bounds",
    "gibbs",
    "local_gibbs",
    "mixture",
    "tables",
    "collapsed",
)
EQUATION = re.compile(r"Eq\.|∝|[Ss]ec\.|S\.2|Source:")
INFERENCE = "stickbreaker.engine.inference"
# What the site shows, and what its pages show or offer for download.
DOCUMENTS = (
    "README.md",
    ".github/*.md",
    ".github/LICENSE",
    "app/*.md",
    "data/README.md",
    "engine/*.md",
    "engine/decisions/*.md",
    "notebooks/*.ipynb",
    "notebooks/README.md",
    "notebooks/figures/*.png",
)


def copy_documents(repository: Path, folder: Path) -> None:
    """Copy the documents to the same places below `folder`, with their times.

    Remove copies of files that are gone.
    """
    sources = {
        path.relative_to(repository): path
        for pattern in DOCUMENTS
        for path in repository.glob(pattern)
    }
    for pattern in DOCUMENTS:
        for copy in folder.glob(pattern):
            if copy.relative_to(folder) not in sources:
                copy.unlink()
    for place, path in sources.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        copy2(path, folder / place)


def write_algorithm_pages(folder: Path) -> None:
    """Write a page for each algorithm, one for the steps that they share, and one for the compiled
    updates.
    """
    folder.mkdir(exist_ok=True)
    for algorithm in REGISTRY:
        _write(folder / f"{algorithm.name}.rst", _algorithm_page(algorithm))
    _write(folder / "shared.rst", _shared_page())
    _write(folder / "kernels.rst", _kernels_page())


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
    shared = _shared_names(module)
    if shared:
        yield from _heading("Shared steps", "-")
        yield (
            "These parts of :doc:`shared` are used here. :doc:`kernels` has the updates of single"
            " quantities.\n"
        )
        yield ".. autosummary::\n   :nosignatures:\n"
        yield from (f"   ~{name}" for name in shared)
        yield ""


def _shared_names(module: str) -> list[str]:
    """Functions and classes of the inference folder that an algorithm's module imports."""
    found = [each for each in vars(import_module(module)).values() if callable(each)]
    names = {
        f"{each.__module__}.{each.__qualname__}" for each in found if hasattr(each, "__qualname__")
    }
    return sorted(
        name for name in names if name.startswith(INFERENCE) and name.split(".")[3] in SHARED
    )


def _settings_table(config: Any) -> Iterator[str]:
    """The settings with their declared symbols, defaults, help and bounds."""
    yield ".. list-table::\n   :header-rows: 1\n   :widths: 30 20 50\n"
    yield "   * - setting\n     - default\n     - what it does"
    for each in fields(config):
        about = each.metadata
        symbol = f" {about['symbol']}" if about["symbol"] else ""
        default = "follows the corpus" if each.default is None else f"``{each.default!r}``"
        yield (
            f"   * - ``{each.name}``{symbol}\n     - {default}\n     -"
            f" {about['help']}{_allowed(about)}"
        )
    yield ""


def _allowed(about: Any) -> str:
    """The allowed values of a setting, in brackets."""
    if about.get("choices"):
        return f" ({', '.join(f'``{choice}``' for choice in about['choices'])})"
    if not about.get("bounds"):
        return ""
    low, high = about["bounds"]
    return f" (at least {low:.10g})" if high == float("inf") else f" ({low:.10g} to {high:.10g})"


def _shared_page() -> Iterator[str]:
    yield from _heading("Steps that algorithms share", "=")
    for name in SHARED:
        yield from _heading(name, "-")
        yield f".. automodule:: {INFERENCE}.{name}\n   :members:\n"


def _kernels_page() -> Iterator[str]:
    """The kernels with an equation.

    Their entries are written here, because Sphinx skips compiled functions.
    """
    yield from _heading("Compiled updates", "=")
    yield (
        "The kernels that implement an equation of a paper. A test compares each with a naive"
        " version.\n"
    )
    for name in KERNELS:
        module = import_module(f"stickbreaker.engine.kernels.{name}")
        yield from _heading(name, "-")
        yield from to_restructured_text(getdoc(module).splitlines(), module)
        yield f".. py:currentmodule:: {module.__name__}\n"
        for key, kernel in vars(module).items():
            is_own = callable(kernel) and getattr(kernel, "__module__", "") == module.__name__
            if is_own and EQUATION.search(kernel.__doc__ or ""):
                yield f".. py:function:: {key}({', '.join(signature(kernel).parameters)})\n"
                lines = to_restructured_text(getdoc(kernel).splitlines(), kernel)
                yield from (f"   {line}".rstrip() for line in lines)


def _heading(title: str, line: str) -> Iterator[str]:
    yield from (title, line * len(title), "")
