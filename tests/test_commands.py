"""Each command in the documents and docstrings names a module that exists, and options that this
module reads.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OWN_PACKAGES = {"stickbreaker", "tests", "data", "notebooks", "app", "engine"}
FOLDERS = (".docs", ".github", "app", "data", "engine", "notebooks", "tests")
COMMAND = re.compile(r"python -m (?P<module>[a-z_]+(?:\.[a-z_]+)+)(?P<rest>[^`\n|#]*)")


def list_sources():
    """Documents and Python files that have a command, by their path below the project."""
    found = [
        path
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".md", ".py"}
    ]
    with_commands = (
        path for path in (ROOT / "README.md", *found) if COMMAND.search(path.read_text("utf-8"))
    )
    return sorted(str(path.relative_to(ROOT)) for path in with_commands)


def find_commands(text):
    """The module and the options of each command of ours in a text."""
    ours = (
        each for each in COMMAND.finditer(text) if each["module"].partition(".")[0] in OWN_PACKAGES
    )
    return [
        (each["module"], re.findall(r"(?<![\w-])--[a-z][a-z-]*", each["rest"])) for each in ours
    ]


def find_file(module):
    """The file of a module that can be run, or None."""
    stem = ROOT.joinpath(*module.removeprefix("stickbreaker.").split("."))
    return next(
        (path for path in (stem.with_suffix(".py"), stem / "__main__.py") if path.is_file()), None
    )


@cache
def read_options(path):
    """The names of the options that the parser of a file reads."""
    calls = (
        node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)
    )
    added = (call for call in calls if getattr(call.func, "attr", "") == "add_argument")
    return {each.value for call in added for each in call.args if isinstance(each, ast.Constant)}


def test_a_command_that_does_not_exist_is_found():
    # Not written out: this file is read as well.
    run = "python -m"
    text = (
        f"`{run} tests.benchmarks.speed [--hours 2]`, `{run} tests.benchmarks.gone`, `{run}"
        " http.server`"
    )
    (speed, options), gone = find_commands(text)
    assert set(options) - read_options(find_file(speed)) == {"--hours"}
    assert find_file(gone[0]) is None


@pytest.mark.parametrize("source", list_sources())
def test_commands_in_a_file_can_be_run(source):
    for module, options in find_commands((ROOT / source).read_text("utf-8")):
        path = find_file(module)
        assert path, f"there is no module {module}"
        unknown = set(options) - read_options(path)
        assert not unknown, f"{module} has no {', '.join(unknown)}"


def test_every_benchmark_writes_json():
    folder = ROOT / "tests" / "benchmarks"
    commands = [path for path in folder.glob("*.py") if "__main__" in path.read_text("utf-8")]
    assert len(commands) > 15
    assert [path.name for path in commands if "--json" not in read_options(path)] == []
