"""The sources of the documentation site.

`.ci/run` checks that it builds without a warning or a dead link.
"""

import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from stickbreaker import engine
from stickbreaker.engine import estimators
from stickbreaker.engine.algorithms import REGISTRY

SITE = Path(__file__).parents[1] / ".docs"


@pytest.fixture(scope="module")
def reference() -> set[str]:
    """Names that the reference page describes or lists."""
    lines = (SITE / "reference.md").read_text("utf-8").splitlines()
    return {line.split()[-1] for line in lines if line.startswith(("   ", ".. py:data::"))}


def test_the_reference_has_every_public_name_of_the_engine(reference):
    assert set(engine.__all__) - reference == set()


def test_the_reference_has_every_estimator(reference):
    assert set(estimators.__all__) - reference == set()


def test_the_list_of_algorithms_has_every_algorithm():
    lines = set((SITE / "algorithms.md").read_text("utf-8").splitlines())
    assert {f"algorithms/{each.name}" for each in REGISTRY} <= lines


def load_module(name: str) -> ModuleType:
    """A module of the site, whose folder is not a package."""
    spec = spec_from_file_location(name, SITE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def check_links() -> ModuleType:
    """The command that checks a built site."""
    return load_module("check_links")


@pytest.mark.parametrize(
    ("element", "fault"),
    [
        ('<a href="other.html#there">', None),
        ('<a href="other.html#gone">', "no such anchor"),
        ('<a href="gone.html">', "no such file"),
        ('<a href="https://example.org/">', None),
        ('<script src="https://example.org/a.js">', "loaded from another host"),
        ('<link rel="stylesheet" href="//example.org/a.css">', "loaded from another host"),
        ('<img src="data:image/png;base64,AA==">', None),
    ],
)
def test_dead_links_and_other_hosts_are_found_in_a_site(check_links, tmp_path, element, fault):
    (tmp_path / "index.html").write_text(element)
    (tmp_path / "other.html").write_text('<p id="there">')
    found = [each.rpartition(": ")[2] for each in check_links.find_faults(tmp_path)]
    assert found == ([fault] if fault else [])


def test_a_style_that_loads_from_another_host_is_found(check_links, tmp_path):
    (tmp_path / "a.css").write_text(
        "@import 'https://example.org/b.css'; p { background: url(c.png) }"
    )
    assert len(list(check_links.find_faults(tmp_path))) == 1


def test_an_output_keeps_only_the_definitions_of_its_components():
    button = {"type": "object", "name": "Button1", "attributes": {"label": "</script>"}}
    roots = [{"type": "object", "name": "Column", "attributes": {"children": [button]}}]
    definitions = [{"type": "model", "name": name} for name in ("Alert1", "Button1")]
    written = json.dumps({"id": {"roots": roots, "defs": definitions}})
    kept = load_module("slim_outputs").keep_used(written)
    assert json.loads(kept)["id"] == {"roots": roots, "defs": definitions[1:]}
    assert "</" not in kept


def test_a_page_stays_the_same_outside_its_outputs(tmp_path):
    page = 'Text.\n  var docs_json = {"id":{"roots":[],"defs":[]}};\n</script>\n'
    (tmp_path / "a.html").write_text(page)
    load_module("slim_outputs").slim_pages(tmp_path)
    assert (tmp_path / "a.html").read_text() == page


def add(first: int, second: int = 1) -> int:
    """A function whose docstring is in the form of this project."""
    return first + second


def test_a_docstring_becomes_a_list_of_parameters_with_code_and_without_other_markup():
    lines = [
        "Add x_ and `y`s.",
        "",
        "first: a *number*,",
        "    or none",
        "second: more.",
        "Raises ValueError.",
    ]
    found = [line for line in load_module("docstrings").to_restructured_text(lines, add) if line]
    assert found[0] == r"Add x\_ and ``y``\ s."
    assert found[1:] == [
        r"- ``first``: a \*number\*, or none",
        "- ``second``: more.",
        "Raises ValueError.",
    ]


@pytest.mark.parametrize("line", [">>> add(1)", "Parameters", "    add(1)"])
def test_examples_code_and_sections_of_a_docstring_do_not_change(line):
    lines = [line, "----------", "first : int"] if line == "Parameters" else [line]
    found = load_module("docstrings").to_restructured_text(lines, add)
    assert set(lines) <= set(found)


def test_examples_have_no_escapes_and_symbols_begin_no_numbered_list():
    lines = [
        "Parameters",
        "----------",
        "first : int",
        "    K. A number.",
        "",
        ">>> add(batch_size=1)",
        "1",
    ]
    found = load_module("docstrings").to_restructured_text(lines, add)
    assert found == [*lines[:3], r"    \K. A number.", *lines[4:]]
