"""Draw the papers' figures again from this project's corpora, with means and standard deviations
over the seeds.

    python -m notebooks.redraw [--figure NAME ...] [--seeds 3] [--documents N] [--folder FOLDER]
    [--json FILE] python -m notebooks.redraw --check [--figure NAME ...] [--folder
    notebooks/figures]

It prints the numbers of each figure, and writes a picture and a CSV file to the folder,
`build/figures` by default. The runs are stored in `build/studies`, so an interrupted command
continues where it stopped; delete that folder after a change of the engine. `--documents` is the
most documents of any run, to check that the command works. Chromium or Chrome must be installed.

With each picture it stores the numbers of the same figure from a few documents (`NAME-few.csv`).
`--check` computes these again and fails if they differ: the engine then gives other results than
when the picture was drawn.
"""

import argparse
import json
import shutil
import subprocess
import tempfile
import time
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd
from bokeh.embed import file_html
from bokeh.resources import INLINE
from pandas.testing import assert_frame_equal

from notebooks.drawings import measure
from notebooks.figure_runs import Setup
from notebooks.paper_figures import FIGURES

# Documents of the runs that tell whether a picture is of today, and by how much their numbers may
# differ elsewhere.
FEW_DOCUMENTS, CLOSE = 300, 1e-3
FEW_COLUMNS = ("panel", "topic", "line", "column", "rank", "word", "y")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BUILD = Path("build")
COLUMNS = ("panel", "topic", "line", "column", "rank", "word", "x", "y", "deviation")
PAGE = """{% from macros import embed %}<!DOCTYPE html><html><head><meta charset="utf-8">
<style>body { margin: 0; background: white; }</style>{{ bokeh_css }}{{ bokeh_js }}</head>
<body>{% for doc in docs %}{% for root in doc.roots %}{{ embed(root) }}{% endfor %}{% endfor %}
{{ plot_script | indent(8) }}</body></html>"""


def take_picture(drawn: Any, path: Path) -> None:
    """Write a Bokeh figure, or a row of figures, as PNG at double resolution.

    Raises RuntimeError if no browser is installed.
    """
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise RuntimeError(f"No browser found: install one of {', '.join(BROWSERS)}.")
    width, height = measure(drawn)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_text(file_html(drawn, INLINE, template=PAGE), encoding="utf-8")
        flags = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--force-device-scale-factor=2",
        ]
        flags += [
            f"--user-data-dir={folder}/profile",
            "--virtual-time-budget=10000",
            f"--window-size={width},{height}",
        ]
        subprocess.run(
            [browser, *flags, f"--screenshot={path.resolve()}", page.as_uri()],
            check=True,
            capture_output=True,
        )


def redraw(name: str, setup: Setup, folder: Path) -> pd.DataFrame:
    """Draw one of FIGURES, write its picture and its numbers to the folder, and
    return the numbers.
    """
    folder.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    frame, drawn = FIGURES[name](setup)
    frame = frame[[column for column in COLUMNS if column in frame]]
    frame.to_csv(folder / f"{name}.csv", index=False, float_format="%.4f")
    (folder / f"{name}-few.csv").write_text(run_few(name), encoding="utf-8")
    take_picture(drawn, folder / f"{name}.png")
    print(
        f"{name}: {time.perf_counter() - began:.0f} s\n\n{frame.round(4).to_string(index=False)}\n",
        flush=True,
    )
    return frame


def run_few(name: str) -> str:
    """Return what the engine of the day gives for a figure from few documents, as CSV: lines, and
    their y or words.
    """
    with tempfile.TemporaryDirectory() as folder:
        frame, _ = FIGURES[name](Setup(Path(folder), (0,), FEW_DOCUMENTS))
    # The x of some figures is a time.
    few: str = frame[[column for column in FEW_COLUMNS if column in frame]].to_csv(
        index=False, float_format="%.4f"
    )
    return few


def is_of_today(name: str, folder: Path) -> bool:
    """Whether the engine still gives the results that it gave when the picture in the folder was
    drawn.
    """
    path = folder / f"{name}-few.csv"
    if not path.exists():
        return False
    try:
        assert_frame_equal(
            pd.read_csv(path), pd.read_csv(StringIO(run_few(name))), rtol=CLOSE, atol=CLOSE
        )
    except AssertionError:
        return False
    return True


def main() -> None:
    """Read the command line and draw the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--figure", nargs="+", choices=tuple(FIGURES), default=tuple(FIGURES))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--documents", type=int, help="the most documents of any run")
    parser.add_argument(
        "--folder", type=Path, default=BUILD / "figures", help="for the pictures and tables"
    )
    parser.add_argument("--json", type=Path, help="where to write the numbers of all figures")
    parser.add_argument(
        "--check", action="store_true", help="only say which pictures are older than the results"
    )
    arguments = parser.parse_args()
    if arguments.check:
        old = [name for name in arguments.figure if not is_of_today(name, arguments.folder)]
        raise SystemExit(
            f"Older than the engine's results, draw them again: {', '.join(old)}" if old else None
        )
    setup = Setup(BUILD / "studies", tuple(range(arguments.seeds)), arguments.documents)
    rows = []
    for name in arguments.figure:
        rows += redraw(name, setup, arguments.folder).assign(figure=name).to_dict("records")
        if arguments.json:
            arguments.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
