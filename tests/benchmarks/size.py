"""How large and how dense the code is.

    python -m tests.benchmarks.size [--root FOLDER] [--json FILE]

"Lines" counts all lines of Python files. The densities are of lines that are not empty: "parallel"
assignments assign a tuple that is written out to several names, "conditional" are conditional
expressions, and "comments" is the share of lines with a comment. "Functions" is the median number
of lines of a function. The variables of the environment are those whose names are written in the
product. "Layers" are the modules in the longest chain of imports within engine/corpora. How far a
setting goes from its slider to the step, and what is edited for a new page, are not computed: find
them by reading.
"""

import argparse
import ast
import re
import tokenize
from functools import cache
from pathlib import Path
from statistics import median

import pandas as pd

from tests.benchmarks.heldout import to_markdown, write_json

ROOT = Path(__file__).parents[2]
PRODUCT = ("engine", "app")
LAYERED = "engine/corpora"
VARIABLE = re.compile(r"(?:STICKBREAKER|BOKEH|PANEL|NUMBA)_[A-Z_]+")
NUM_LARGEST = 10
MAX_LENGTH = 100


@cache
def measure_file(path):
    """The counts of one Python file."""
    text = path.read_text("utf-8")
    lines, nodes = text.splitlines(), list(ast.walk(ast.parse(text)))
    with path.open("rb") as file:
        comments = {
            token.start[0]
            for token in tokenize.tokenize(file.readline)
            if token.type == tokenize.COMMENT
        }
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {
        "lines": len(lines),
        "written": sum(bool(line.strip()) for line in lines),
        "parallel": sum(map(is_parallel, nodes)),
        "conditional": sum(isinstance(node, ast.IfExp) for node in nodes),
        "long": sum(len(line) > MAX_LENGTH for line in lines),
        "comments": len(comments),
        "functions": [node.end_lineno - node.lineno + 1 for node in functions],
        "variables": {node.value for node in nodes if is_variable(node)},
    }


def is_parallel(node):
    """Whether a node assigns a tuple that is written out to several names."""
    return (
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Tuple)
        and any(isinstance(target, ast.Tuple) for target in node.targets)
    )


def is_variable(node):
    """Whether a node is the name of a variable of the environment."""
    return isinstance(node, ast.Constant) and bool(VARIABLE.fullmatch(str(node.value)))


def measure_folders(root, name, folders):
    """A row of the table: all Python files below some folders."""
    files = [measure_file(path) for folder in folders for path in (root / folder).rglob("*.py")]
    written = max(sum(file["written"] for file in files), 1)
    functions = [number for file in files for number in file["functions"]]
    row = {"folder": name, "files": len(files), "lines": sum(file["lines"] for file in files)}
    for key in ("parallel", "conditional"):
        row[f"{key}, per 1,000"] = round(1000 * sum(file[key] for file in files) / written, 1)
    row[f"lines over {MAX_LENGTH}"] = sum(file["long"] for file in files)
    row["comments, %"] = round(100 * sum(file["comments"] for file in files) / written, 1)
    row["functions, median"] = median(functions) if functions else 0
    return row


def list_folders(root):
    """The two packages of the product and the tests, each followed by its folders."""
    return [
        name
        for top in (*PRODUCT, "tests")
        for name in (
            top,
            *sorted({f"{top}/{path.parent.name}" for path in (root / top).glob("*/*.py")}),
        )
    ]


def count_layers(root, folder):
    """The number of modules in the longest chain of imports within a folder."""
    paths = {name_module(path.relative_to(root)): path for path in (root / folder).rglob("*.py")}

    @cache
    def measure_depth(name):
        inside = list_imports(paths[name]) & paths.keys() - {name}
        return 1 + max(map(measure_depth, inside), default=0)

    return max(
        (measure_depth(name) for name, path in paths.items() if path.stem != "__init__"), default=0
    )


def name_module(path):
    """The name by which a file of the product is imported."""
    return ".".join(("stickbreaker", *path.with_suffix("").parts))


def list_imports(path):
    """The names of all that a file imports, except for types alone."""
    found = set()
    for node in skip_types(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
        elif isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
    return found


def skip_types(node):
    """All nodes below one, except those under `if TYPE_CHECKING:`."""
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield child
            yield from skip_types(child)


def measure(root):
    """All figures: folders, variables, layers, and the largest files of the product."""
    paths = [path for name in PRODUCT for path in (root / name).rglob("*.py")]
    product = {str(path.relative_to(root)): measure_file(path) for path in paths}
    largest = sorted(product, key=lambda name: -product[name]["lines"])[:NUM_LARGEST]
    return {
        "folders": [
            measure_folders(root, "product", PRODUCT),
            *(measure_folders(root, name, [name]) for name in list_folders(root)),
        ],
        "variables": sorted(set().union(*(file["variables"] for file in product.values()))),
        "layers": count_layers(root, LAYERED),
        "largest": {name: product[name]["lines"] for name in largest},
    }


def report(found):
    """The figures as text."""
    folders = pd.DataFrame(found["folders"])
    largest = pd.DataFrame(found["largest"].items(), columns=["largest files", "lines"])
    return "\n\n".join(
        [
            to_markdown(folders),
            f"Layers of imports in {LAYERED}: {found['layers']}",
            (
                f"{len(found['variables'])} variables of the environment:"
                f" {', '.join(found['variables'])}"
            ),
            to_markdown(largest),
        ]
    )


def main():
    """Read the command line, measure, print, and write JSON where asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--root", type=Path, default=ROOT, help="a clone; default: this one")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    found = measure(arguments.root)
    print(report(found))
    write_json(arguments.json, found)


if __name__ == "__main__":
    main()
