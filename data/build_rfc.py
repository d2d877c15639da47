"""Build `data/rfc.npz` from Debian's packages of the RFCs.

    python -m data.build_rfc            downloads and unpacks the packages with `apt-get` and `dpkg`
    python -m data.build_rfc FOLDER     uses unpacked packages

With `--texts` it writes the texts of the passages among your own corpora instead, so that the page
shows them. Otherwise it writes the corpus and its checksum, and prints the figures of
`data/README.md`.
"""

import argparse
import gzip
import json
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from data.passages import Words, Writing, build_corpus, write

NAME = "rfc"
SERIES = [
    "std",
    "std-proposed",
    "old-std",
    "informational",
    "experimental",
    "fyi-bcp",
    "misc",
    "others",
]
VERSION = "20230121-1"
SOURCE = (
    "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian"
    " bookworm non-free"
)
PASSAGE_WORDS = 250
SHORTEST_PASSAGE = 60
WORDS = Words(min_documents=50, max_share=0.2, max_words=8000)
MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
]
MONTHS += ["November", "December"]
# A report of 1968 that was published as an RFC in February 1970.
REDATED = {31: "1970-02"}

COUNTED_WORD = re.compile(r"[A-Za-z]{3,}")
# "Rescorla     Standards Track     [Page 3]", and "Page 3" after a gap.
PAGE_NUMBER = re.compile(
    r"(\[\s*Page:?\s*[\w-]+\s*\]|(^|\s{3,})Page\s+([ivxlc]+|\d+))\s*$", re.IGNORECASE
)
# "RFC 8446          TLS          August 2018"
DATED_TITLE = re.compile(
    r"\s*(RFC|Request for"
    rf" Comments|NWG/RFC)\W*\d+\b.*\b({'|'.join(month[:3] for month in MONTHS)})[a-z]*\W+"
    r"(\d+,?\s+)?\d{2,4}\s*$",
    re.IGNORECASE,
)
EDGES = (slice(0, 3), slice(-3, None))


class Rfc(NamedTuple):
    """An RFC; its date is the month of publication ("1994-04")."""

    number: int
    title: str
    date: str
    text: str


def main() -> None:
    """Read and cut the RFCs, count their words, write the corpus and print its figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "folder", nargs="?", type=Path, help="the unpacked packages (default: download them)"
    )
    parser.add_argument(
        "--texts", action="store_true", help="write only the texts, among your own corpora"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        rfcs = read_rfcs(arguments.folder or fetch_packages(Path(scratch)))
    write(build_corpus(NAME, map(cut_rfc, rfcs), WORDS, split_by="group"), arguments.texts)


def fetch_packages(scratch: Path) -> Path:
    """Download Debian's packages and unpack them, without installing them or changing the system's
    package lists.
    """
    (scratch / "lists" / "partial").mkdir(parents=True)
    (scratch / "sources.list").write_text(SOURCE + "\n", encoding="utf-8")
    places = {
        "Etc::sourcelist": "sources.list",
        "Etc::sourceparts": "none",
        "State::lists": "lists",
        "Cache": "cache",
    }
    options = [f"--option=Dir::{option}={scratch / place}" for option, place in places.items()]
    packages = [f"doc-rfc-{series}={VERSION}" for series in SERIES]
    subprocess.run(["apt-get", *options, "update"], check=True)
    subprocess.run(["apt-get", *options, "download", *packages], check=True, cwd=scratch)
    for package in scratch.glob("*.deb"):
        subprocess.run(["dpkg", "--extract", package, scratch / "unpacked"], check=True)
    return scratch / "unpacked"


def read_rfcs(folder: Path) -> list[Rfc]:
    """Read all RFCs with a text, in order of publication and number."""
    rfcs: list[Rfc] = []
    for file in folder.rglob("rfc*.json"):
        texts = [
            file.with_suffix(suffix)
            for suffix in (".txt.gz", ".txt")
            if file.with_suffix(suffix).exists()
        ]
        # One folder contains links to all files of the others.
        if texts and not file.is_symlink():
            facts = json.loads(file.read_text(encoding="utf-8"))
            *_, month, year = facts["pub_date"].split()
            number, title = int(file.stem[3:]), " ".join(facts["title"].split())
            date = REDATED.get(number, f"{year}-{MONTHS.index(month) + 1:02}")
            rfcs.append(Rfc(number, title, date, read_text(texts[0])))
    return sorted(rfcs, key=lambda rfc: (rfc.date, rfc.number))


def read_text(file: Path) -> str:
    """Read a text, compressed or not.

    Early RFCs with bytes that are not UTF-8 are read as Latin-1.
    """
    content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def cut_rfc(rfc: Rfc) -> Writing:
    """Cut an RFC into passages; its title is the number and the title of the RFC."""
    return Writing(
        f"RFC {rfc.number} {rfc.title}", rfc.date, list(split_passages(strip_pages(rfc.text)))
    )


def strip_pages(text: str) -> str:
    """Remove the headers and footers of the pages.

    Lines with a page number in brackets, and lines with number, title and date, are removed
    everywhere. If most pages have no such line among their first (or last) three lines, those of
    the three that recur on a tenth of the pages, and on at least three, are removed as well;
    numbers are ignored in this comparison.
    """
    pages = [[line for line in page.splitlines() if line.strip()] for page in text.split("\f")]
    kept = [[line for line in page if not is_page_line(line)] for page in pages]
    for edge in EDGES:
        if sum(any(map(is_page_line, page[edge])) for page in pages) * 2 < len(pages):
            strip_recurring(kept, edge)
    return "\n".join(line for page in kept for line in page)


def strip_recurring(pages: list[list[str]], edge: slice) -> None:
    """Remove the lines that recur at this edge from the pages, in place."""
    seen = Counter(form for page in pages for form in {mask_numbers(line) for line in page[edge]})
    for page in pages:
        page[edge] = [
            line for line in page[edge] if seen[mask_numbers(line)] < max(3, len(pages) / 10)
        ]


def is_page_line(line: str) -> bool:
    """Return whether a line has a page number, or the number, title and date of the RFC."""
    return bool(PAGE_NUMBER.search(line) or DATED_TITLE.match(line))


def mask_numbers(line: str) -> str:
    """Replace the numbers in a line, so that the headers of all pages are equal.

    >>> mask_numbers("  RFC 768      page iv ")
    'RFC # page #'
    """
    return re.sub(r"\d+|\b[ivxlc]+\b", "#", " ".join(line.split()))


def split_passages(text: str) -> Iterator[str]:
    """Cut a text after every 250 words of three letters or more.

    A rest of fewer than 60 joins the last passage.

    A text with fewer than 60 such words has no passage.
    """
    ends = [word.end() for word in COUNTED_WORD.finditer(text)]
    if len(ends) >= SHORTEST_PASSAGE:
        num_passages = max(1, (len(ends) + PASSAGE_WORDS - SHORTEST_PASSAGE) // PASSAGE_WORDS)
        inner = ends[PASSAGE_WORDS - 1 : PASSAGE_WORDS * (num_passages - 1) : PASSAGE_WORDS]
        for start, end in zip([0, *inner], [*inner, len(text)], strict=True):
            yield text[start:end]


if __name__ == "__main__":
    main()
