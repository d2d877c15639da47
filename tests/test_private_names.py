"""Tests use what other code may use: no test reads, replaces or imports a private name of engine or app."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Python and libraries define these too: named tuples, IPython, Panel and Tornado.
LIBRARIES = {
    *("_asdict", "_replace", "_repr_html_", "_repr_mimebundle_"),
    *("_esm", "_handle_msg", "_process_property_change", "_views"),
    *("_login_template", "_request_summary", "_validate", "_validate_next_url"),
}
# It measures the private parts of a run.
EXEMPT = {"tests/benchmarks/profile.py"}


def is_private(name):
    """Whether a name begins with one underscore."""
    return isinstance(name, str) and name.startswith("_") and not name.startswith("__") and name != "_"


def list_defined(node):
    """The names that a node of the syntax tree defines in its module or class, or as an attribute."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
        yield node.id if isinstance(node, ast.Name) else node.attr


@cache
def find_private():
    """The private names that engine and app define."""
    files = (path for package in ("engine", "app") for path in (ROOT / package).rglob("*.py"))
    nodes = (node for path in files for node in ast.walk(ast.parse(path.read_text("utf-8"))))
    return {name for node in nodes for name in list_defined(node) if is_private(name)} - LIBRARIES


def list_used(node):
    """The names that a node of a test uses: an attribute of another object, an import, or a text for `setattr`."""
    if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") not in ("self", "cls"):
        yield node.attr
    elif isinstance(node, ast.ImportFrom):
        yield from (each.name for each in node.names)
    elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")).endswith("attr"):
        texts = (each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str))
        yield from (text.rpartition(".")[2] for text in texts)


def find_uses(code):
    """Line and name of each private name of engine and app that code of a test uses."""
    uses = [(node.lineno, name) for node in ast.walk(ast.parse(code)) for name in list_used(node)]
    return [f"{line} {name}" for line, name in sorted(uses) if name in find_private()]


def test_no_test_uses_a_private_name_of_engine_or_app():
    paths = {path.relative_to(ROOT).as_posix(): path for path in (ROOT / "tests").rglob("*.py")}
    assert paths.keys() >= EXEMPT
    found = {place: find_uses(path.read_text("utf-8")) for place, path in paths.items() if place not in EXEMPT}
    assert {place: uses for place, uses in found.items() if uses} == {}


def test_uses_are_found_as_attributes_imports_and_texts():
    code = """
from stickbreaker.engine.runs.run import _Run
session._run.step()
monkeypatch.setattr(session, "_run", None)
monkeypatch.setattr("stickbreaker.app.session.session._run", None)
self._run = pn.state._views
"""
    assert find_uses(code) == ["2 _Run", "3 _run", "4 _run", "5 _run"]
