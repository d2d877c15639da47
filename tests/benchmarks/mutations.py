"""Whether the fast tests notice mistakes in the product.

    python -m tests.benchmarks.mutations [--seed 0] [--lines 20] [--jobs 2] [--json FILE]

Each row is one mistake, in a statement chosen at random by its text. It is made in a copy of the
project, where the nearest test files run: those named after the module, those that import it, and
those of its folder.
"""

import argparse
import ast
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from tests.benchmarks.heldout import to_markdown, write_json
from tests.benchmarks.size import PRODUCT, ROOT, name_module

MAX_FILES = 10
SECONDS = 150
NOT_COPIED = shutil.ignore_patterns(".git", ".docs")
PYTEST = (sys.executable, "-m", "pytest", "-xqn0", "-rfE", "-m", "not extended")
FAILED = r"^(?:FAILED|ERROR) \S*?(\w+)(?:\.py|\[.*)?(?: - .*)?$"
FAST = ("tests/test_*.py", *(f"tests/{top}/**/test_*.py" for top in (*PRODUCT, "data")))
PAIRS = (
    *((ast.Lt, ast.GtE), (ast.Gt, ast.LtE), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot)),
    *((ast.In, ast.NotIn), (ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.And, ast.Or)),
)
SWAPS = dict(PAIRS) | {second: first for first, second in PAIRS}


def list_mistakes(node):
    """The mistakes in a statement's own expressions: each a node, its field and another value."""
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield node, "test", ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield node, "value", ast.Constant(None)
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        yield node, "ops", [SWAPS[type(node.ops[0])](), *node.ops[1:]]
    elif type(getattr(node, "op", None)) in SWAPS:
        yield node, "op", SWAPS[type(node.op)]()
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        yield node, "value", not node.value if isinstance(node.value, bool) else node.value + 1
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt):
            yield from list_mistakes(child)


def choose(seed, num_lines):
    """Rows of the table with the text of the wrong module."""
    found = {}
    for path in (path for top in PRODUCT for path in (ROOT / top).rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        tree = ast.parse(path.read_text("utf-8"))
        functions = (each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef))
        for node in (each for top in functions for body in top.body for each in ast.walk(body)):
            if isinstance(node, ast.stmt) and (mistakes := list(list_mistakes(node))):
                key = sha256(f"{seed} {name} {write_line(node)}".encode()).hexdigest()
                found[key] = name, tree, node, mistakes[int(key, 16) % len(mistakes)]
    return [make_mistake(*found[key]) for key in sorted(found)[:num_lines]]


def write_line(statement):
    """The first line of a statement."""
    return ast.unparse(statement).partition("\n")[0]


def make_mistake(name, tree, statement, mistake):
    """A row, and the text of a module with a mistake that its tree does not keep."""
    node, field, value = mistake
    right, before = getattr(node, field), write_line(statement)
    setattr(node, field, value)
    row = {"file": name, "before": before, "after": write_line(statement)}
    text = ast.unparse(tree)
    setattr(node, field, right)
    return row, text


def choose_tests(root, file):
    """The fast test files that are nearest to a module."""
    module = re.compile(rf"{re.escape(name_module(file))}\b|import .*\b{file.stem}\b")

    def measure_distance(path):
        is_other = path.name != f"test_{file.stem}.py", not module.search(path.read_text("utf-8"))
        return *is_other, path.parent != root / "tests" / file.parent, path.as_posix()

    return sorted((path for glob in FAST for path in root.glob(glob)), key=measure_distance)


def try_mistake(row, text):
    """Run the nearest tests with a mistake in a copy of the project, and say what noticed it."""
    file = Path(row["file"])
    with TemporaryDirectory() as folder:
        root = shutil.copytree(ROOT, Path(folder, "copy"), symlinks=True, ignore=NOT_COPIED)
        (root / file).write_text(text, "utf-8")
        command = [*PYTEST, *choose_tests(root, file)[:MAX_FILES]]
        settings = {"cwd": root, "capture_output": True, "text": True, "timeout": SECONDS}
        try:
            run = subprocess.run(command, check=False, **settings)
        except subprocess.TimeoutExpired:
            return row | {"noticed by": "no answer"}
    failed = re.findall(FAILED, run.stdout, re.MULTILINE)
    return row | {"noticed by": (failed or ["a crash" if run.returncode else "no"])[0]}


def main():
    """Read the command line, try the mistakes, print the table, and write JSON where asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--lines", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    mistakes = choose(arguments.seed, arguments.lines)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        rows = list(pool.map(lambda mistake: try_mistake(*mistake), mistakes))
    print(to_markdown(pd.DataFrame(rows)))
    print(f"\n{sum(row['noticed by'] != 'no' for row in rows)} of {len(rows)} were noticed.")
    write_json(arguments.json, rows)


if __name__ == "__main__":
    main()
