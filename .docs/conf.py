"""Sphinx configuration of the documentation site.

    sphinx-build -W --keep-going .docs build/site && python .docs/check_links.py build/site

Each text exists once: a build first copies the repository's documents and notebooks into this
folder; git ignores the copies. Set STICKBREAKER_RUN_NOTEBOOKS=1 to run the notebooks and show their
outputs.
"""

import os
import re
import sys
from pathlib import Path
from typing import Any

SITE = Path(__file__).parent
sys.path[:0] = [str(SITE), str(SITE.parent / ".import"), str(SITE.parent)]

from docstrings import to_restructured_text  # noqa: E402
from slim_outputs import slim_pages  # noqa: E402
from source_pages import copy_documents, write_algorithm_pages  # noqa: E402
from sphinx.application import Sphinx  # noqa: E402

from stickbreaker.app.export.explorable import learn_study, write_explorable  # noqa: E402

project = "Stickbreaker"
author = copyright = "the Stickbreaker authors"
language = "en"

# Outputs of notebooks load the scripts of their plots from a network, once for all pages.
os.environ.setdefault("PANEL_INLINE", "false")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_design",
]
# Parts of it are in index.md and quick_start.md.
exclude_patterns = ["README.md", ".github/ISSUE_TEMPLATE"]

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
nb_execution_mode = "force" if os.environ.get("STICKBREAKER_RUN_NOTEBOOKS") == "1" else "off"
nb_execution_timeout = 600
nb_execution_raise_on_error = True
# Outputs of HoloViews that only a notebook can use; the figures themselves are shown. Words such as
# "shape" in the type of a parameter that several classes have as a field.
suppress_warnings = ["mystnb.unknown_mime_type", "ref.python"]

add_module_names = False
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
maximum_signature_line_length = 80
napoleon_google_docstring = False
# The fields of a named tuple are documented once, in the list of its attributes.
napoleon_use_ivar = True
python_use_unqualified_type_names = True

html_theme = "pydata_sphinx_theme"
html_title = "Stickbreaker"
templates_path = ["_templates"]
html_static_path = ["_static"]
html_favicon = "_static/favicon.svg"
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
# Pages without pages below them.
html_sidebars = {
    name: [] for name in ("index", "quick_start", "engine/BENCHMARKS", "engine/RESULTS")
}

# Lists of pages that the texts themselves need not have.
TOCTREES = {
    "app/README": "CLASS\nSERVER",
    "engine/decisions/README": ":glob:\n\n[a-z]*",
    "notebooks/README": ":glob:\n\n[0-9]*",
}
ARRAY_LIKE = re.compile(r"(~?[\w.]*_?Buffer) \| .*?_NestedSequence\[[^\[\]]*\]")


def prepare_text(app: Sphinx, docname: str, source: list[str]) -> None:
    """Let links to the first page and to folders lead to pages, and add the list of pages below an
    index.
    """
    text = source[0]
    if docname.endswith("README") or docname.startswith(
        (".github/", "engine/", "index", "quick_start")
    ):
        text = text.replace("](../README.md", "](../index.md")
        text = text.replace("decisions/)", "decisions/README.md)").replace("](.docs/", "](")
    if docname in TOCTREES:
        text += f"\n\n```{{toctree}}\n:hidden:\n{TOCTREES[docname]}\n```\n"
    source[0] = text


def prepare_include(app: Sphinx, path: Path, docname: str, source: list[str]) -> None:
    """Prepare the text of an included file like that of a page."""
    prepare_text(app, docname, source)


def mark_up_docstring(
    app: Sphinx, kind: str, name: str, item: object, options: Any, lines: list[str]
) -> None:
    """Turn a docstring of this project into reStructuredText, in place."""
    lines[:] = to_restructured_text(lines, item)


def shorten_signature(
    app: Sphinx, kind: str, name: str, item: object, *rest: Any
) -> tuple[str, str] | None:
    """Write NumPy's `ArrayLike` by its name, not as the union that it stands for."""
    signature, returned = rest[-2:]
    return None if signature is None else (ARRAY_LIKE.sub("ArrayLike", signature), returned)


def finish_site(app: Sphinx, exception: Exception | None) -> None:
    """Make the outputs of the notebooks smaller, and learn the runs of the first page once."""
    if exception is not None:
        return
    slim_pages(Path(app.outdir) / "notebooks")
    page = Path(app.outdir) / "explorable.html"
    if not page.exists():
        write_explorable(page, learn_study())


def setup(app: Sphinx) -> None:
    """Write the pages that are not in this folder, and connect what prepares texts."""
    copy_documents(SITE.parent, SITE)
    write_algorithm_pages(SITE / "algorithms")
    app.connect("source-read", prepare_text)
    app.connect("include-read", prepare_include)
    app.connect("autodoc-process-signature", shorten_signature)
    app.connect("autodoc-process-docstring", mark_up_docstring, priority=400)
    app.connect("build-finished", finish_site)
