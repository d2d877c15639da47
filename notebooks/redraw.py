"""Draw the papers' figures again from this project's corpora.

    python -m notebooks.redraw --figure wang-2011-fig-4 [--fast]

The runs of a figure are a study (`engine.runs.study`) and are stored in `build/studies`. The picture and a table with
its numbers are written to `notebooks/figures`. With `--fast` the command uses a few hundred documents and the ends of
each grid, to check that it works; these pictures are written to `build/figures`. Chromium or Chrome must be installed.
"""

import argparse
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from bokeh.embed import file_html
from bokeh.resources import INLINE

from notebooks.paper_figures import FIGURES, Setup

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FIGURES_FOLDER, BUILD = Path(__file__).parent / "figures", Path("build")
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


def redraw(name: str, is_fast: bool) -> Path:
    """Draw one of FIGURES and write its numbers as CSV to the same folder; return the path of the picture."""
    folder = BUILD / "figures" if is_fast else FIGURES_FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    frame, drawn = FIGURES[name](Setup(BUILD / "studies", is_fast))
    frame.to_csv(folder / f"{name}.csv", index=False, float_format="%.4f")
    take_picture(drawn, folder / f"{name}.png")
    print(f"{name}: {time.perf_counter() - began:.0f} s")
    return folder / f"{name}.png"


def main() -> None:
    """Read the command line and draw the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figure", nargs="+", choices=tuple(FIGURES), default=tuple(FIGURES))
    parser.add_argument("--fast", action="store_true", help="use a few documents; under a minute per figure")
    arguments = parser.parse_args()
    for name in arguments.figure:
        redraw(name, arguments.fast)


if __name__ == "__main__":
    main()
