"""Which encoding a text file is in, and whether it is text at all."""

import codecs
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from stickbreaker.engine.corpora.corpus import CorpusError

BLOCK = 1 << 20
HEAD = 4096

MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# What a file begins with that is no text, what it is, and the remedy.
SIGNATURES = (
    (b"PK\x03\x04", "a zip archive or an Office document", "unpack it, or save it as CSV UTF-8"),
    (b"\xd0\xcf\x11\xe0", "an old Office document", "save it as CSV UTF-8"),
    (b"\x1f\x8b", "compressed with gzip", "unpack it first"),
    (b"BZh", "compressed with bzip2", "unpack it first"),
    (b"\xfd7zXZ", "compressed with xz", "unpack it first"),
    (b"7z\xbc\xaf", "a 7z archive", "unpack it first"),
    (b"Rar!", "a RAR archive", "unpack it first"),
    (b"%PDF", "a PDF", "save its text as a text file"),
    (b"PAR1", "a Parquet file", "let its name end in .parquet"),
    (b"SQLite format 3", "a database", "export the table as CSV"),
    (b"\x89PNG", "a picture", "give its text"),
    (b"\xff\xd8\xff", "a picture", "give its text"),
)


class Encoding(NamedTuple):
    """How to open a text; `note` says in a sentence what is unusual about it, or nothing."""

    name: str
    note: str = ""


def find_encoding(file: Path) -> Encoding:
    """The encoding of a file. Raises CorpusError where it is empty or no text, which names it and the remedy."""
    try:
        with file.open("rb") as stream:
            return name_encoding(iter(lambda: stream.read(BLOCK), b""), str(file))
    except FileNotFoundError as error:
        raise CorpusError(f"There is no file {file.absolute()}: check its folder and its name.") from error
    except OSError as error:
        raise CorpusError(f"{file} cannot be read ({error.strerror}): check that it may be read.") from error


def name_encoding(blocks: Iterator[bytes], place: str) -> Encoding:
    """The encoding of a text from all its bytes; see `find_encoding`."""
    first = next(blocks, b"")
    if not first.strip():
        raise CorpusError(f"{place} is empty: choose a file with text.")
    for mark, name in MARKS:
        if first.startswith(mark):
            return Encoding(name)
    for mark, what, remedy in SIGNATURES:
        if first.startswith(mark):
            raise CorpusError(f"{place} is {what}: {remedy}.")
    if wide := _find_wide(first[:HEAD]):
        return Encoding(wide, f"{place} is read as {wide.upper()}, which it does not say of itself.")
    if _is_binary(first[:HEAD]):
        raise CorpusError(f"{place} is a binary file, not text: save its text as UTF-8.")
    return _tell_utf8(first, blocks, place)


def _find_wide(head: bytes) -> str:
    """UTF-16 without a mark has a zero in every other byte of what is mostly Latin."""
    half = len(head) // 2
    if half < 2:
        return ""
    even, odd = head[0 : 2 * half : 2].count(0), head[1 : 2 * half : 2].count(0)
    if max(even, odd) > 0.7 * half and min(even, odd) < 0.05 * half:
        return "utf-16-le" if odd > even else "utf-16-be"
    return ""


def _is_binary(head: bytes) -> bool:
    controls = sum(head.count(byte) for byte in (*range(9), *range(14, 27), *range(28, 32)))
    return controls > 0.02 * len(head)


def _tell_utf8(first: bytes, blocks: Iterable[bytes], place: str) -> Encoding:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    num_wrong = num_other = 0
    for block in chain((first,), blocks):
        text = decoder.decode(block)
        if not text.isascii():
            num_wrong += text.count("�")
            num_other += len(text) - len(text.encode("ascii", "ignore"))
    num_wrong += decoder.decode(b"", final=True).count("�")
    if not num_wrong:
        return Encoding("utf-8")
    if 10 * num_wrong > num_other - num_wrong:
        return Encoding("cp1252", f"{place} is not in UTF-8 and is read as Windows-1252 (Latin-1).")
    return Encoding("utf-8", f"{place} has {num_wrong:,} places that are not UTF-8; they are read as �.")
