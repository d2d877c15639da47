"""A class name means one thing in both packages."""

import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_no_two_classes_have_the_same_name():
    names = Counter()
    for path in (path for package in ("engine", "app") for path in (ROOT / package).rglob("*.py")):
        nodes = ast.walk(ast.parse(path.read_text("utf-8")))
        names.update(node.name for node in nodes if isinstance(node, ast.ClassDef))
    assert len(names) > 100
    assert [name for name, number in names.items() if number > 1] == []
