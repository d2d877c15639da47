"""Check a built site: every internal link and its anchor exists, and no page loads anything from
another host.

python .docs/check_links.py build/site
"""

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

# Elements that a browser loads by itself, with the attributes that name it.
LOADED = {"audio", "embed", "iframe", "img", "link", "script", "source", "track", "video"}
# `link` elements with these relations are not loaded.
NOT_LOADED = {"author", "canonical", "index", "next", "prev", "search"}
STYLE_URL = re.compile(r"url\(\s*['\"]?(?P<url>[^'\")]+)|@import\s+['\"](?P<imported>[^'\"]+)")


class Link(NamedTuple):
    """A link of a page, and whether a browser loads it without a click."""

    url: str
    is_loaded: bool


class Page(HTMLParser):
    """The links and anchors of one page."""

    def __init__(self, text: str) -> None:
        """Read the whole text."""
        super().__init__()
        self.links: list[Link] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the element's id and what it leads to."""
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        is_loaded = tag in LOADED and not (
            tag == "link" and set(values.get("rel", "").split()) & NOT_LOADED
        )
        self.links += [
            Link(values[name], is_loaded) for name in ("href", "src", "data-src") if name in values
        ]


def find_faults(site: Path) -> Iterator[str]:
    """Describe each dead internal link, and each file that is loaded from another host."""
    # The theme keeps a template among its static files.
    paths = [
        path.resolve() for path in sorted(site.rglob("*.html")) if path.parent.name != "_static"
    ]
    pages = {path: Page(path.read_text("utf-8")) for path in paths}
    for path, page in pages.items():
        for link in page.links:
            fault = _find_fault(path, link, pages)
            if fault:
                yield f"{path.relative_to(site.resolve())}: {link.url}: {fault}"
    for path in sorted(site.rglob("*.css")):
        for found in STYLE_URL.finditer(path.read_text("utf-8")):
            if urlsplit(found["url"] or found["imported"]).netloc:
                yield f"{path.relative_to(site)}: {found[0]}: loaded from another host"


def _find_fault(path: Path, link: Link, pages: dict[Path, Page]) -> str:
    """What is wrong with a link of the page at `path`; empty if nothing is."""
    url = urlsplit(link.url)
    if url.scheme == "data":
        return ""
    if url.scheme or url.netloc:
        return "loaded from another host" if link.is_loaded else ""
    target = (path.parent / unquote(url.path)).resolve() if url.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return "no such file"
    # Styles and scripts read the fragment of their own address; an empty one and "top" mean the
    # start of a page.
    if url.fragment in {"", "top"} or target not in pages or link.is_loaded:
        return ""
    return "" if unquote(url.fragment) in pages[target].anchors else "no such anchor"


def main() -> int:
    """Print the faults of the site that the command line names; 1 if there are any."""
    faults = list(find_faults(Path(sys.argv[1])))
    print(
        "\n".join(faults)
        or "Every internal link leads somewhere, and nothing is loaded from another host."
    )
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
