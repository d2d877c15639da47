"""Kernels write only to arguments named `out_*`, and to every argument of this name.

The check reads the code without running it. A kernel writes to an argument by an assignment to one
of its elements, an operation in place, or a call of another kernel that writes to it. Parts of an
argument belong to it: `room.e`, `rows[j]`, `array.reshape(size)`, and variables that name such a
part. The state of a random number generator is not an array, so a generator has its usual name.
"""

import ast
from pathlib import Path

from stickbreaker.engine import kernels

FOLDER = Path(kernels.__file__).parent
# Methods that return a view of an array, and those that change it.
VIEWS = {"ravel", "reshape", "view"}
CHANGES = {"fill", "partition", "put", "resize", "sort"}
# Intrinsic functions that write to their first argument.
STORES = {"store", "store_sums"}


def read_kernels(*texts):
    """The compiled functions of some files by name, as syntax trees."""
    nodes = [
        node for text in texts for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)
    ]
    return {
        node.name: node
        for node in nodes
        if any("njit" in ast.unparse(each) for each in node.decorator_list)
    }


def list_arguments(kernel):
    """The names of a kernel's arguments in their order."""
    return [each.arg for each in kernel.args.args]


def find_owners(node, owners):
    """The arguments that an expression is part of, or holds."""
    if isinstance(node, ast.Name):
        return owners.get(node.id, set())
    if isinstance(node, ast.Subscript | ast.Attribute):
        return find_owners(node.value, owners)
    if isinstance(node, ast.Tuple | ast.List):
        return set().union(*(find_owners(each, owners) for each in node.elts))
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in VIEWS
    ):
        return find_owners(node.func.value, owners)
    # A record, whose name has a capital letter, holds its arguments.
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id[0].isupper():
        return set().union(*(find_owners(each, owners) for each in node.args))
    return set()


def pair_targets(target, value):
    """Each variable of an assignment with the expression that it takes."""
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple):
        is_alike = isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts)
        values = value.elts if is_alike else [value] * len(target.elts)
        for each, part in zip(target.elts, values, strict=True):
            yield from pair_targets(each, part)


def trace_owners(kernel):
    """The arguments of which each variable of a kernel may be a part."""
    owners = {name: {name} for name in list_arguments(kernel)}
    nodes = [node for node in ast.walk(kernel) if isinstance(node, ast.Assign | ast.For)]
    before = None
    while before != owners:
        before = {name: set(found) for name, found in owners.items()}
        for node in nodes:
            if isinstance(node, ast.Assign):
                pairs = [
                    pair for target in node.targets for pair in pair_targets(target, node.value)
                ]
            else:
                pairs = list(pair_targets(node.target, node.iter))
            for name, value in pairs:
                owners.setdefault(name, set()).update(find_owners(value, owners))
    return owners


def list_changed(node, known, arrays):
    """The expressions that a statement or a call of a `known` kernel changes."""
    if isinstance(node, ast.Assign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            parts = target.elts if isinstance(target, ast.Tuple) else [target]
            yield from (each for each in parts if isinstance(each, ast.Subscript))
            if (
                isinstance(node, ast.AugAssign)
                and isinstance(target, ast.Name)
                and target.id in arrays
            ):
                yield target
    elif (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in CHANGES
    ):
        yield node.func.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        names, written = known.get(
            node.func.id, (["array"], {"array"} if node.func.id in STORES else set())
        )
        yield from (value for name, value in zip(names, node.args, strict=False) if name in written)
        yield from (each.value for each in node.keywords if each.arg in written)


def find_written(kernels):
    """The arguments to which each kernel writes."""
    owners = {name: trace_owners(kernel) for name, kernel in kernels.items()}
    arguments = {name: list_arguments(kernel) for name, kernel in kernels.items()}
    arrays = {name: list_arrays(kernel) for name, kernel in kernels.items()}
    kinds = ast.Assign | ast.AugAssign | ast.Call
    nodes = {
        name: [node for node in ast.walk(kernel) if isinstance(node, kinds)]
        for name, kernel in kernels.items()
    }
    written = {name: set() for name in kernels}
    before = None
    while before != written:
        before = {name: set(found) for name, found in written.items()}
        known = {name: (arguments[name], before[name]) for name in kernels}
        for name in kernels:
            for node in nodes[name]:
                for changed in list_changed(node, known, arrays[name]):
                    written[name] |= find_owners(changed, owners[name])
    return written


def list_arrays(kernel):
    """The arguments that are arrays by their annotation."""
    return {
        each.arg
        for each in kernel.args.args
        if each.annotation and "ndarray" in ast.unparse(each.annotation)
    }


def find_faults(kernels):
    """Arguments whose names do not say whether a kernel writes to them."""
    written = find_written(kernels)
    return sorted(
        f"{name}: {argument}"
        for name, kernel in kernels.items()
        for argument in list_arguments(kernel)
        if argument.startswith("out_") != (argument in written[name])
    )


def test_kernels_write_only_to_arguments_named_out():
    found = read_kernels(*(file.read_text("utf-8") for file in FOLDER.glob("*.py")))
    assert len(found) > 100
    assert find_faults(found) == []


def test_the_check_finds_every_kind_of_write():
    code = """
@njit(cache=True)
def element(rows: np.ndarray, k: int): rows[k, 0] += 1

@njit(cache=True)
def in_place(rows: np.ndarray, number: int):
    rows -= 1
    number -= 1

@njit(cache=True)
def part(room: Room):
    first, second = room.e[0], room
    second.g[:] = 0.0

@njit(cache=True)
def unpacked(room: Room):
    first, second = room
    for row in second:
        row.fill(0)

@njit(cache=True)
def intrinsic(rows: np.ndarray, place: int): store(rows, place, splat(0))

@njit(cache=True)
def called(room: Room, rows: np.ndarray): element(rows, k=room.g[0])

@njit(cache=True)
def record(rows: np.ndarray): part(Room(rows.reshape(4)))

@njit(cache=True)
def right(rows: np.ndarray, out_rows: np.ndarray): out_rows[:] = rows.copy()

@njit(cache=True)
def unwritten(out_rows: np.ndarray): return out_rows[0]
"""
    assert find_faults(read_kernels(code)) == [
        "called: rows",
        "element: rows",
        "in_place: rows",
        "intrinsic: rows",
        "part: room",
        "record: rows",
        "unpacked: room",
        "unwritten: out_rows",
    ]
