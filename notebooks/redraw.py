"""Draw the papers' figures again from this project's corpora, with means and standard deviations over the seeds.

    python -m notebooks.redraw [--figure NAME ...] [--seeds 3] [--documents N] [--folder FOLDER] [--json FILE]

It prints the numbers of each figure, and writes a picture and a CSV file to the folder, `build/figures` by default. The
runs are stored in `build/studies`, so an interrupted command continues where it stopped; delete that folder after a
change of the engine. `--documents` is the most documents of any run, to check that the command works. Chromium or
Chrome must be installed.
"""

import argparse
import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import pandas as pd
from bokeh.embed import file_html
from bokeh.resources import INLINE

from notebooks.figure_runs import Setup
from notebooks.paper_figures import FIGURES

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
    children = getattr(drawn, "children", [drawn])
    width, height = sum(child.width for child in children), max(child.height for child in children)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_text(file_html(drawn, INLINE, template=PAGE), encoding="utf-8")
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=2"]
        flags += [f"--user-data-dir={folder}/profile", "--virtual-time-budget=10000", f"--window-size={width},{height}"]
        subprocess.run(
            [browser, *flags, f"--screenshot={path.resolve()}", page.as_uri()], check=True, capture_output=True
        )


def redraw(name: str, setup: Setup, folder: Path) -> pd.DataFrame:
    """Draw one of FIGURES, write its picture and its numbers to the folder, and return the numbers."""
    folder.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    frame, drawn = FIGURES[name](setup)
    frame = frame[[column for column in COLUMNS if column in frame]]
    frame.to_csv(folder / f"{name}.csv", index=False, float_format="%.4f")
    take_picture(drawn, folder / f"{name}.png")
    print(f"{name}: {time.perf_counter() - began:.0f} s\n\n{frame.round(4).to_string(index=False)}\n", flush=True)
    return frame


def main() -> None:
    """Read the command line and draw the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figure", nargs="+", choices=tuple(FIGURES), default=tuple(FIGURES))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--documents", type=int, help="the most documents of any run")
    parser.add_argument("--folder", type=Path, default=BUILD / "figures", help="for the pictures and tables")
    parser.add_argument("--json", type=Path, help="where to write the numbers of all figures")
    arguments = parser.parse_args()
    setup = Setup(BUILD / "studies", tuple(range(arguments.seeds)), arguments.documents)
    rows = []
    for name in arguments.figure:
        rows += redraw(name, setup, arguments.folder).assign(figure=name).to_dict("records")
        if arguments.json:
            arguments.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
