"""Records are constructed with keyword arguments, so that a reader sees which value is which field.

A record is a NamedTuple or a dataclass of `engine` or `app`. The rule: a construction passes at most one argument by
position, and no `*values`. The bodies of compiled kernels are exempt.
"""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("engine", "app")
MAX_POSITIONAL = 1


@cache
def read_modules():
    """The syntax tree of each file of both packages."""
    files = sorted(file for package in PACKAGES for file in (ROOT / package).rglob("*.py"))
    return {file.relative_to(ROOT): ast.parse(file.read_text("utf-8")) for file in files}


def name_last(node):
    """The last name of `name`, `module.name` and a call of either; otherwise None."""
    if isinstance(node, ast.Call):
        return name_last(node.func)
    return getattr(node, "id", None) or getattr(node, "attr", None)


def is_record(node):
    """Whether a node of the syntax tree defines a NamedTuple or a dataclass."""
    if not isinstance(node, ast.ClassDef):
        return False
    return "NamedTuple" in map(name_last, node.bases) or "dataclass" in map(name_last, node.decorator_list)


def is_compiled(node):
    """Whether a node of the syntax tree defines a compiled kernel."""
    return isinstance(node, ast.FunctionDef) and "njit" in map(name_last, node.decorator_list)


def list_records(trees):
    """The names of all records."""
    return {node.name for tree in trees for node in ast.walk(tree) if is_record(node)}


def list_ordinary(tree):
    """The names of a module's classes that are not records."""
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and not is_record(node)}


def list_imported(tree, ordinary):
    """The names of classes that a module imports from another one and that are not records."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module in ordinary]
    return {each.name for node in imports for each in node.names if each.name in ordinary[node.module]}


def list_constructions(node, records, owner=None):
    """Calls of records below a node, each with the record's name; `cls` stands for the record that it is in."""
    for child in ast.iter_child_nodes(node):
        if is_compiled(child):
            continue
        inner = child.name if is_record(child) else owner
        if isinstance(child, ast.Call):
            called = name_last(child.func)
            name = owner if called == "cls" else called
            if name in records:
                yield child, name
        yield from list_constructions(child, records, inner)


def find_positional(modules):
    """File, line and record of each construction that breaks the rule."""
    records = list_records(modules.values())
    ordinary = {
        f"stickbreaker.{'.'.join(path.with_suffix('').parts)}": list_ordinary(modules[path]) for path in modules
    }
    return [
        f"{path}:{call.lineno} {name}"
        for (path, tree), own in zip(modules.items(), ordinary.values(), strict=True)
        for call, name in list_constructions(tree, records - own - list_imported(tree, ordinary))
        if len(call.args) > MAX_POSITIONAL or any(isinstance(each, ast.Starred) for each in call.args)
    ]


def test_records_are_constructed_with_keyword_arguments():
    assert find_positional(read_modules()) == []


def test_the_check_finds_the_records_of_both_packages():
    records = list_records(read_modules().values())
    assert records >= {"StepInfo", "Batch", "Sticks", "SlotExpectations", "Stepped", "RunSpec", "Progress"}


def test_the_check_finds_positional_arguments():
    code = """
class Pair(NamedTuple):
    first: int
    second: int

    @classmethod
    def make(cls):
        return cls(1, 2)

def use():
    Pair(1, second=2)
    Pair(first=1, second=2)
    module.Pair(1, 2)
    Pair(*values)
    Pair(1, *values)

@njit(cache=True)
def kernel():
    return Pair(1, 2)
"""
    assert find_positional({Path("code.py"): ast.parse(code)}) == [
        "code.py:8 Pair",
        "code.py:13 Pair",
        "code.py:14 Pair",
        "code.py:15 Pair",
    ]
