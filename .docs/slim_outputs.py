"""Makes the outputs of notebooks smaller: leaves out definitions of components that an output does
not contain.

Bokeh writes the definitions of all component classes that were imported into each output, about 140
kB. A page of the site has no kernel, so no other component can appear in an output later.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCUMENTS = re.compile(r"(?<=var docs_json = )\{.*\}(?=;\n)")


def slim_pages(folder: Path) -> None:
    """Make the outputs in all pages of this folder smaller."""
    for path in sorted(folder.glob("*.html")):
        text = path.read_text("utf-8")
        path.write_text(DOCUMENTS.sub(lambda found: keep_used(found[0]), text), "utf-8")


def keep_used(documents_json: str) -> str:
    """Return Bokeh's documents (JSON) with the definitions of the components that each of them
    contains.
    """
    documents = json.loads(documents_json)
    for document in documents.values():
        used = set(_names({key: value for key, value in document.items() if key != "defs"}))
        document["defs"] = [each for each in document.get("defs", ()) if each["name"] in used]
    # As Bokeh does, so that no text can end the script.
    return json.dumps(documents, ensure_ascii=False, separators=(",", ":")).replace("</", r"<\/")


def _names(part: Any) -> Iterator[str]:
    """Names of the classes of all objects in a part of a document."""
    if isinstance(part, dict):
        if part.get("type") == "object":
            yield part["name"]
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            yield from _names(each)
