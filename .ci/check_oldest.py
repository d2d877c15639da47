"""Checks that pyproject.toml, oldest.txt and the installed packages name the same versions."""

import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

CI = Path(__file__).parent


def read_floors() -> dict[str, Version]:
    """The lowest version of each dependency that pyproject.toml allows."""
    project = tomllib.loads((CI.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return dict(_read_bound(line, ">=") for line in project["dependencies"])


def read_oldest() -> dict[str, Version]:
    """The version of each dependency in oldest.txt."""
    lines = (CI / "oldest.txt").read_text(encoding="utf-8").splitlines()
    return dict(_read_bound(line, "==") for line in lines)


def read_installed() -> dict[str, Version]:
    """The version of each package of oldest.txt that this Python has."""
    return {name: Version(version(name)) for name in read_oldest()}


def _read_bound(line: str, operator: str) -> tuple[str, Version]:
    requirement = Requirement(line)
    (bound,) = requirement.specifier
    if bound.operator != operator:
        raise ValueError(f"{line!r} has no bound with {operator}: give it one")
    return canonicalize_name(requirement.name), Version(bound.version)


if __name__ == "__main__":
    oldest = read_oldest()
    if read_floors() != oldest:
        sys.exit("pyproject.toml and .ci/oldest.txt have different versions: make them equal")
    if read_installed() != oldest:
        sys.exit("the installed versions are not those of .ci/oldest.txt: run .ci/oldest")
