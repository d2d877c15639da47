"""Read the text files of a folder or a zip archive, one document each.

Archives are unpacked in memory only.
"""

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from stickbreaker.engine.corpora.corpus import CorpusError
from stickbreaker.engine.corpora.encodings import name_encoding
from stickbreaker.engine.corpora.name_dates import find_name_dates
from stickbreaker.engine.corpora.packed_files import COMPRESSIONS, check_unpacked
from stickbreaker.engine.corpora.rows import (
    MAX_NAME,
    MAX_TEXT,
    TABLE_SUFFIXES,
    BadRow,
    Chunk,
    Row,
    Table,
    gather,
    repair,
    shorten,
)
from stickbreaker.engine.files.messages import explain_error

COLUMNS = ("text", "title", "folder", "date")
TEXT_SUFFIXES = ("", ".txt", ".text", ".md", ".rst", ".log", ".tex")
ARCHIVES = (*COMPRESSIONS, ".zip", ".7z", ".rar", ".tar", ".tgz", ".jar")
REMEDIES = {
    ARCHIVES: "Unpack it first",
    (".numbers",): "Save the table as CSV UTF-8",
    (".txt", ".md"): (
        "If it is a table, rename it to .csv; if each line is a document, write text above them and"
        " rename it to .csv; if it is one of several documents, choose the folder with all of them"
    ),
    (
        ".doc",
        ".docx",
        ".odt",
        ".rtf",
        ".pages",
        ".pdf",
        ".epub",
        ".html",
        ".htm",
        ".xml",
    ): "Save the text as .txt, in a folder",
}

# Longer numbers are sorted in parts: Python reads no number of more than 4,300 digits.
NUMBER_IN_NAME = re.compile(r"(\d{1,18})")


class TextFile(NamedTuple):
    """A file in a folder or archive: its path in it, and its bytes or why it is skipped."""

    name: str
    content: bytes = b""
    fault: str = ""
    date: str = ""
    encoding: str = ""


def open_folder(path: Path, encoding: str = "") -> Table:
    """Open a folder of text files, with its subfolders; raise CorpusError if it contains no file.

    Each file is a row with text, title (the file name), folder, and date (if the name contains
    one).
    """
    found = sorted(
        (file for file in path.rglob("*") if not is_hidden(file.relative_to(path))), key=_natural
    )
    files = [file for file in found if file.is_file() or file.is_symlink()]
    if not files:
        raise CorpusError(f"{path} contains no files. Choose a folder with text files.")

    names = tuple(repair(file.relative_to(path).as_posix()) for file in files)
    return _make_table(
        path,
        "folder of text files",
        names,
        lambda: (load_file(path, file) for file in files),
        encoding,
    )


def _make_table(
    path: Path,
    kind: str,
    names: tuple[str, ...],
    load: Callable[[], Iterable[TextFile]],
    encoding: str,
) -> Table:
    """The table of the files that `load` yields, in the order of their names."""
    texts = [name for name in names if is_text(PurePosixPath(name))]
    found, note = find_name_dates(texts)
    dates = dict(zip(texts, found, strict=True))

    def read(wanted: Sequence[str]) -> Iterator[Chunk]:
        done = 0

        def rows() -> Iterator[Row]:
            nonlocal done
            for done, (file, name) in enumerate(zip(load(), names, strict=True), start=1):
                file = file._replace(date=dates.get(name, ""), encoding=encoding)
                yield make_row(path, done, file, wanted)

        yield from gather(str(path), wanted, lambda: done / max(1, len(names)), rows())

    return Table(
        path=path,
        kind=kind,
        columns=tuple(name for name in COLUMNS if note or name != "date"),
        read=read,
        has=("text", "title"),
        files=names,
        date_note=note,
    )


def load_file(path: Path, file: Path) -> TextFile:
    """Read a file in a folder, or say why it is skipped."""
    name = file.relative_to(path).as_posix()
    if file.is_symlink():
        return TextFile(name, fault="it is a symbolic link: copy the file itself into the folder")
    if fault := _find_fault(name, file.stat().st_size):
        return TextFile(name, fault=fault)
    try:
        return TextFile(name=name, content=file.read_bytes())
    except OSError as error:
        return TextFile(
            name, fault=f"the file cannot be read ({explain_error(error)}): check its permissions"
        )


def open_archive(path: Path, encoding: str = "") -> Table:
    """Open a zip archive of text files, as `open_folder` does.

    Raises CorpusError if it is missing, damaged, empty, or too large when unpacked.
    """
    members = _list_members(path)
    if not members:
        raise CorpusError(f"{path} contains no files. Create an archive of text files.")
    unpacked = sum(member.file_size for member in members)
    check_unpacked(path, unpacked, max(1, path.stat().st_size))
    members.sort(key=lambda member: _natural(member.filename))

    def load() -> Iterator[TextFile]:
        with zipfile.ZipFile(path) as archive:
            yield from (_unpack(archive, member) for member in members)

    names = tuple(repair(member.filename) for member in members)
    return _make_table(path, "zip of text files", names, load, encoding)


def _list_members(path: Path) -> list[zipfile.ZipInfo]:
    try:
        with zipfile.ZipFile(path) as archive:
            return [
                member
                for member in archive.infolist()
                if not member.is_dir() and not is_hidden(PurePosixPath(member.filename))
            ]
    except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError) as error:
        raise CorpusError(
            f"Cannot open {path} as a zip archive ({explain_error(error)}). Create it again."
        ) from error


def find_remedy(suffix: str) -> str:
    """Say what to do with a file of an unsupported type; "" if the type is not known."""
    found = (remedy for suffixes, remedy in REMEDIES.items() if suffix.lower() in suffixes)
    return next(found, "")


def list_members(path: Path) -> list[tuple[str, int]]:
    """List the names and sizes of the files in an archive.

    Raise CorpusError if it is missing or damaged.
    """
    return [(member.filename, member.file_size) for member in _list_members(path)]


def is_text(name: PurePosixPath | Path) -> bool:
    """Whether a file is read as a text, by its name."""
    suffix = name.suffix.lower()
    return suffix in TEXT_SUFFIXES or suffix[1:].isdigit()


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> TextFile:
    name = member.filename
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if ".." in parts or name.startswith(("/", "\\")) or ":" in name.partition("/")[0]:
        return TextFile(
            name, fault="its path is outside the archive: create the archive with relative paths"
        )
    if member.flag_bits & 1:
        return TextFile(name, fault="it is encrypted: create the archive without a password")
    if fault := _find_fault(name, member.file_size):
        return TextFile(name, fault=fault)
    try:
        with archive.open(member) as stream:
            # The size in the header may be wrong.
            content = stream.read(MAX_TEXT + 1)
    # ValueError: a name or a size that is damaged.
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        fault = f"it is damaged ({explain_error(error)}): create the archive again"
        return TextFile(name, fault=fault)
    return TextFile(name=name, content=content, fault=_find_fault(name, len(content)))


def _find_fault(name: str, size: int) -> str:
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in ARCHIVES:
        return "archives inside a folder or archive are not opened: unpack it first"
    if suffix in TABLE_SUFFIXES:
        return "tables are read one at a time: choose this file on its own, unpacked"
    if not is_text(PurePosixPath(name)):
        remedy = find_remedy(suffix) or "Use .txt, .md, .rst, .tex or .log"
        return f"unsupported file type {shorten(suffix)}: {remedy[0].lower()}{remedy[1:]}"
    return f"it is larger than {MAX_TEXT:,} bytes: split it" * (size > MAX_TEXT)


def make_row(path: Path, number: int, file: TextFile, wanted: Sequence[str]) -> Row:
    """Make the row of a text file in a folder or archive, or say why it is skipped."""
    place = f"{path.name}/{shorten(file.name, MAX_NAME)}"
    if file.fault:
        return BadRow(file=place, row=None, reason=file.fault)
    try:
        encoding = name_encoding(iter([file.content]), place, file.encoding)
    except CorpusError as error:
        reason = str(error).removeprefix(f"{place} is ").rstrip(".")
        return BadRow(file=place, row=None, reason=reason)
    name = PurePosixPath(file.name)
    title = name
    if name.suffix in TEXT_SUFFIXES:
        title = name.with_suffix("")
    cells = {
        "text": io.IncrementalNewlineDecoder(None, True).decode(
            file.content.decode(encoding.name, errors="replace")
        ),
        "title": title.as_posix(),
        "folder": name.parent.as_posix().removeprefix("."),
        "date": file.date,
    }
    return number, [cells[column] for column in wanted]


def is_hidden(name: Path | PurePosixPath) -> bool:
    """Whether a file, named by its path in a folder, is hidden or in a hidden folder."""
    return any(part.startswith((".", "__MACOSX", "~$")) and part != ".." for part in name.parts)


def _natural(name: Path | str) -> list[tuple[int, str]]:
    """Return a sort key that puts chapter 2 before chapter 10."""
    parts = NUMBER_IN_NAME.split(str(name))
    return [(int(part), "") if number % 2 else (0, part) for number, part in enumerate(parts)]
