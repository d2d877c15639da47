"""The packages that engine and app import are those that pyproject.toml declares."""

import ast
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

# Type checkers have this module, and Python does not.
TYPES_ONLY = "_typeshed"
CHECKOUT = Path(__file__).parents[1]
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def read_names(lines):
    return {canonicalize_name(Requirement(line).name) for line in lines}


def list_imports(code):
    """The top-level modules that a file imports, also inside functions."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield str(node.module).partition(".")[0]


def find_imported():
    """The distributions of all imported modules that are not Python's or ours."""
    files = [file for folder in ("engine", "app") for file in (CHECKOUT / folder).rglob("*.py")]
    modules = {
        module for file in files for module in list_imports(file.read_text(encoding="utf-8"))
    }
    known, own = packages_distributions(), {"stickbreaker", TYPES_ONLY}
    return {
        canonicalize_name(known[module][0]) for module in modules - own - sys.stdlib_module_names
    }


def test_every_imported_package_is_declared_and_every_declared_one_is_imported():
    extras = read_names(
        line for lines in PROJECT["optional-dependencies"].values() for line in lines
    )
    assert find_imported() - extras == read_names(PROJECT["dependencies"])


def test_imports_inside_functions_count():
    code = "import os.path\ndef f():\n    from PIL.Image import open\n    from . import g"
    assert [*list_imports(code)] == ["os", "PIL"]
