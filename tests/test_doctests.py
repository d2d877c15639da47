"""The examples in docstrings, run through the packages so that no module is imported twice by its
path.
"""

import doctest
import sys
from importlib import import_module
from pkgutil import walk_packages

import pytest

from stickbreaker import app, engine

# Importing these serves a page, or changes the server of this process, which other tests need as it
# is.
SERVING = ("stickbreaker.app.main", "stickbreaker.app.__main__", "stickbreaker.app.app_hooks")


def list_modules() -> list[str]:
    """Names of all modules of both packages."""
    found = [
        each.name
        for package in (engine, app)
        for each in walk_packages(package.__path__, f"{package.__name__}.")
    ]
    return [name for name in found if name not in SERVING]


@pytest.mark.parametrize("name", list_modules())
def test_examples_in_docstrings_give_what_they_show(name):
    assert doctest.testmod(import_module(name)).failed == 0


def test_the_packages_are_only_imported_as_parts_of_stickbreaker():
    own = {name.partition(".")[0] for name in sys.modules}
    assert not own & {"app", "engine"}
