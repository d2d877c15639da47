"""Detect the encoding of a text file, and refuse files that are not text.

engine/decisions/text-reading.md says why no library does it.
"""

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
# First bytes of files that are not text, what the file is, and the remedy.
SIGNATURES = (
    (b"PK\x03\x04", "a zip archive or an Office document", "unpack it, or save it as CSV UTF-8"),
    (b"\xd0\xcf\x11\xe0", "an old Office document", "save it as CSV UTF-8"),
    (b"\x1f\x8b", "compressed with gzip", "unpack it first"),
    (b"BZh", "compressed with bzip2", "unpack it first"),
    (b"\xfd7zXZ", "compressed with xz", "unpack it first"),
    (b"7z\xbc\xaf", "a 7z archive", "unpack it first"),
    (b"Rar!", "a RAR archive", "unpack it first"),
    (b"%PDF", "a PDF", "save its text as a text file"),
    (b"PAR1", "a Parquet file", "rename it to end in .parquet"),
    (b"SQLite format 3", "a database", "export the table as CSV"),
    (b"\x89PNG", "a picture", "use a text file"),
    (b"\xff\xd8\xff", "a picture", "use a text file"),
)


class Encoding(NamedTuple):
    """The name of an encoding, and a note for the user if the file is unusual.

    Otherwise the note is empty.
    """

    name: str
    note: str = ""


def find_encoding(file: Path) -> Encoding:
    """Detect the encoding of a file from all its bytes.

    A note says if it is neither UTF-8 nor declared.

    Raises CorpusError if the file is missing, unreadable, empty or not text.
    """
    try:
        with file.open("rb") as stream:
            return name_encoding(iter(lambda: stream.read(BLOCK), b""), str(file))
    except FileNotFoundError as error:
        raise CorpusError(
            f"File not found: {file.absolute()}. Check the folder and the name."
        ) from error
    except OSError as error:
        raise CorpusError(
            f"Cannot read {file} ({error.strerror}). Check its permissions."
        ) from error


def name_encoding(blocks: Iterator[bytes], place: str) -> Encoding:
    """Detect the encoding of a text from all its bytes.

    The first block has 4,096 bytes or all of them.

    Raises CorpusError that begins with `place`, the name of the text, if it is empty or not text.
    """
    first = next(blocks, b"")
    if not first.strip():
        raise CorpusError(f"{place} is empty. Choose a file with text.")
    for mark, name in MARKS:
        if first.startswith(mark):
            return Encoding(name)
    for mark, what, remedy in SIGNATURES:
        if first.startswith(mark):
            raise CorpusError(f"{place} is {what}: {remedy}.")
    if wide := _find_wide(first[:HEAD]):
        return Encoding(
            name=wide, note=f"{place} has no byte-order mark; it is read as {wide.upper()}."
        )
    if _is_binary(first[:HEAD]):
        raise CorpusError(f"{place} is a binary file, not text. Save its text as UTF-8.")
    return _tell_utf8(first, blocks, place)


def _find_wide(head: bytes) -> str:
    """Recognise UTF-16 without a byte-order mark: in Latin text, every second byte is zero."""
    half = len(head) // 2
    if half < 2:
        return ""
    even = head[0 : 2 * half : 2].count(0)
    odd = head[1 : 2 * half : 2].count(0)
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
        return Encoding(
            name="cp1252", note=f"{place} is not UTF-8; it is read as Windows-1252 (Latin-1)."
        )
    return Encoding(
        name="utf-8", note=f"{place} has {num_wrong:,} invalid UTF-8 sequences; they are read as �."
    )
