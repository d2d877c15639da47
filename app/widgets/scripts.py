"""The scripts of components, with the functions that they share.

Panel makes a module of the text of each script, and such a module cannot import our files.
"""

from pathlib import Path

SHARED = Path(__file__).with_name("dom.js").read_text(encoding="utf-8")


def read_script(path: Path) -> str:
    """Read the script of a component, after the functions that all share."""
    return f"{SHARED}\n{path.read_text(encoding='utf-8')}"
